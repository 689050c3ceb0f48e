//! Lists of the index, page by page: `top`, `domain`, `missing`, and what `page` lists.
//!
//! A list that is cut off says how to go on: a table with a command on standard error, JSON with
//! `next` in its last object.

use std::io::Write;

use anyhow::{Context, Result};
use app::index::{IndexDomain, IndexPage};
use app::page::{LIMIT_MAX, is_wrong_cursor};
use app::{Page, Problem};
use declare::hint::hinted;
use harvest::session::{note, stdout};
use serde::de::DeserializeOwned;
use serde_json::Value;
use server::client::segment;

use super::Asked;
use super::text::{self, json_line};
use crate::args::index::{DomainArgs, ListArgs, TopArgs};
use crate::output::{Column, Table, left, right, shown};

/// Rows of a table if nobody says how many.
const TABLE_ROWS: u64 = 50;

const PAGES: [Column<IndexPage>; 4] = [
    right("incount", |page| shown(page.incount)),
    right("score", |page| shown(page.score)),
    left("loaded", |page| shown(page.loaded)),
    left("url", |page| shown(&page.url)),
];

const DOMAINS: [Column<IndexDomain>; 2] =
    [right("pages", |found| shown(found.pagecount)), left("domain", |found| shown(&found.domain))];

/// What is listed, and how its rows are shown.
pub(super) struct List<'a, T> {
    pub(super) path: &'a str,
    pub(super) query: Vec<(&'a str, String)>,
    pub(super) columns: &'a [Column<T>],
    /// What is said where there are none.
    pub(super) nothing: &'static str,
    /// The command that lists it.
    pub(super) again: &'a str,
}

pub(super) fn top(args: &TopArgs) -> Result<()> {
    let asked = Asked::new(&args.list.which)?;
    asked.tell_waiting()?;
    if args.domains {
        let (path, query) = ("index/domains", Vec::new());
        let (nothing, again) = ("no domain is known", "top --domains");
        return List { path, query, columns: &DOMAINS, nothing, again }.print(&asked, &args.list);
    }
    let again = if args.by == "score" { "top --by score" } else { "top" };
    let query = vec![("by", args.by.to_owned())];
    List { query, ..pages("index/pages", again, "no page is linked to") }.print(&asked, &args.list)
}

pub(super) fn missing(args: &ListArgs) -> Result<()> {
    let asked = Asked::new(&args.which)?;
    asked.tell_waiting()?;
    let nothing = "nothing is missing: all that is linked to was loaded";
    pages("index/missing", "missing", nothing).print(&asked, args)
}

pub(super) fn domain(args: &DomainArgs) -> Result<()> {
    let asked = Asked::new(&args.list.which)?;
    let path = format!("index/domains/{}", segment(&args.domain));
    let found: IndexDomain = asked.ask.ask(&asked.question(&path, &[]))?;
    asked.tell_waiting()?;
    let again = format!("domain {}", found.domain);
    pages(&format!("{path}/pages"), &again, "the domain has no pages").print(&asked, &args.list)
}

fn pages<'a>(path: &'a str, again: &'a str, nothing: &'static str) -> List<'a, IndexPage> {
    List { path, query: Vec::new(), columns: &PAGES, nothing, again }
}

impl<T: DeserializeOwned> List<'_, T> {
    /// Prints it up to its limit.
    pub(super) fn print(&self, asked: &Asked, args: &ListArgs) -> Result<()> {
        let as_json = args.which.json;
        let mut left = args.limit.unwrap_or(if as_json { u64::MAX } else { TABLE_ROWS });
        let mut after = args.after.clone();
        let mut out = stdout();
        let mut table = Table::new(self.columns);
        let mut found = false;
        while left > 0 {
            let page = self.fetch(asked, after.as_ref(), left).map_err(explain)?;
            left = left.saturating_sub(page.items.len() as u64);
            found |= !page.items.is_empty();
            after = page.next;
            match as_json {
                true => write_objects(&mut out, page.items, after.as_deref().filter(|_| left == 0))?,
                false => table.page(&mut out, &rows(page.items)?)?,
            }
            if after.is_none() {
                break;
            }
        }
        out.flush()?;
        match &after {
            _ if as_json => Ok(()),
            Some(after) if found => {
                note(&format!("more: skurd index {}{}", self.again, options(args, after)))
            }
            _ if !found => note(self.nothing),
            _ => Ok(()),
        }
    }

    fn fetch(&self, asked: &Asked, after: Option<&String>, left: u64) -> Result<Page<Value>> {
        let limit = usize::try_from(left).unwrap_or(LIMIT_MAX).min(LIMIT_MAX);
        let mut query = self.query.clone();
        query.push(("limit", limit.to_string()));
        query.extend(after.map(|after| ("cursor", after.clone())));
        asked.ask.ask(&asked.question(self.path, &query))
    }
}

fn rows<T: DeserializeOwned>(items: Vec<Value>) -> Result<Vec<T>> {
    let rows: serde_json::Result<_> = items.into_iter().map(serde_json::from_value).collect();
    rows.context("the answer of the server is not understood")
}

fn write_objects(out: &mut impl Write, mut rows: Vec<Value>, cut: Option<&str>) -> Result<()> {
    if let (Some(next), Some(last)) = (cut, rows.last_mut()) {
        last["next"] = next.into();
    }
    Ok(rows.iter().try_for_each(|row| writeln!(out, "{}", json_line(row)))?)
}

/// What was said on the command line, with the place to go on.
fn options(args: &ListArgs, after: &str) -> String {
    let mut options = String::new();
    let dir = args.which.data.dir.display().to_string();
    if dir != "./skurd-data" {
        options.push_str(&format!(" --data {}", text::quoted(&dir)));
    }
    match &args.which.collection {
        Some(name) => options.push_str(&format!(" --collection {}", text::quoted(name))),
        None if args.which.all => options.push_str(" --all"),
        None => {}
    }
    if let Some(limit) = args.limit {
        options.push_str(&format!(" --limit {limit}"));
    }
    format!("{options} --after {after}")
}

fn explain(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<Problem>() {
        Some(problem) if is_wrong_cursor(problem) => hinted(
            "--after is not from this list",
            "take it from the note under a table, or `next` of the last JSON object",
        ),
        _ => error,
    }
}
