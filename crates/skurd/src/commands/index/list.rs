//! Lists of the index, page by page: `top`, `domain`, `missing`; and `page` with what it lists.
//!
//! A list that is cut off says how to go on: a table with a command on standard error, JSON with
//! `next` in its last object.

use std::io::Write;

use anyhow::{Context, Result};
use app::Problem;
use app::index::{IndexDomain, IndexInlink, IndexOutlink, IndexPage, PageFacts};
use app::page::is_wrong_cursor;
use declare::hint::hinted;
use harvest::session::note;
use policy::time::Time;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use server::client::segment;

use super::Asked;
use super::text::{self, json_line};
use crate::args::index::{ListArgs, PageArgs};
use crate::commands::listing::{Printer, given, print_pages};
use crate::output::{Column, left, line, right, shown};

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

const INLINKS: [Column<IndexInlink>; 4] = [
    left("first seen", |link| shown(&link.first_seen)),
    left("last seen", |link| shown(&link.last_seen)),
    left("from", |link| shown(&link.url)),
    left("anchor", |link| text::cell(&link.anchor)),
];

const OUTLINKS: [Column<IndexOutlink>; 2] =
    [left("to", |link| shown(&link.url)), left("anchor", |link| text::cell(&link.anchor))];

/// What is listed, and how its rows are shown.
struct List<'a, T> {
    path: &'a str,
    query: Vec<(&'a str, String)>,
    columns: &'a [Column<T>],
    /// What is said where there are none.
    nothing: &'static str,
    /// The command that lists it.
    again: &'a str,
}

pub(super) fn top(by: &str, domains: bool, args: &ListArgs) -> Result<()> {
    let asked = Asked::new(&args.which)?;
    asked.tell_waiting()?;
    if domains {
        let (path, query) = ("index/domains", Vec::new());
        let (nothing, again) = ("no domain is known", "top --domains");
        return List { path, query, columns: &DOMAINS, nothing, again }.print(&asked, args);
    }
    let again = if by == "score" { "top --by score" } else { "top" };
    let query = vec![("by", by.to_owned())];
    List { query, ..pages("index/pages", again, "no page is linked to") }.print(&asked, args)
}

pub(super) fn missing(args: &ListArgs) -> Result<()> {
    let asked = Asked::new(&args.which)?;
    asked.tell_waiting()?;
    let nothing = "nothing is missing: all that is linked to was loaded";
    pages("index/missing", "missing", nothing).print(&asked, args)
}

pub(super) fn domain(domain: &str, args: &ListArgs) -> Result<()> {
    let asked = Asked::new(&args.which)?;
    let path = format!("index/domains/{}", segment(domain));
    let found: IndexDomain = asked.ask.ask(&asked.question(&path, &[]))?;
    asked.tell_waiting()?;
    let again = format!("domain {}", found.domain);
    pages(&format!("{path}/pages"), &again, "the domain has no pages").print(&asked, args)
}

fn pages<'a>(path: &'a str, again: &'a str, nothing: &'static str) -> List<'a, IndexPage> {
    List { path, query: Vec::new(), columns: &PAGES, nothing, again }
}

/// What is known of one page.
pub(super) fn page(args: &PageArgs) -> Result<()> {
    let asked = Asked::new(&args.list.which)?;
    let object: Value = asked.ask.ask(&asked.question("index/page", &[("url", args.url.clone())]))?;
    asked.tell_waiting()?;
    let facts =
        serde_json::from_value(object.clone()).context("the answer of the server is not understood")?;
    match (args.inlinks, args.outlinks) {
        (true, _) => inlinks(&asked, args, &facts),
        (_, true) => outlinks(&asked, args, &facts),
        _ if args.list.which.json => line(json_line(&object)),
        _ => show(&facts),
    }
}

fn show(facts: &PageFacts) -> Result<()> {
    line(&facts.url)?;
    for (name, fact) in [
        ("loaded", if facts.loaded { "yes" } else { "no, only linked to" }.to_owned()),
        ("inlinks", shown(facts.incount)),
        ("outlinks", shown(facts.outlinks)),
        ("score", shown(facts.score)),
        ("domain", shown(&facts.domain)),
        ("first seen", shown(&facts.first_seen)),
        ("last seen", shown(&facts.last_seen)),
    ] {
        line(format!("  {name:<11} {fact}"))?;
    }
    line("next: --inlinks lists the links to it, --outlinks those from it")
}

fn inlinks(asked: &Asked, args: &PageArgs, facts: &PageFacts) -> Result<()> {
    // To the millisecond.
    let iso = |time: Option<Time>| time.map(net::warc::date::iso);
    let bounds = given([("since", iso(args.since)), ("until", iso(args.until))]);
    let between: String = bounds.iter().map(|(option, time)| format!(" --{option} {time}")).collect();
    let list = List {
        path: "index/inlinks",
        query: [vec![("url", args.url.clone())], bounds].concat(),
        columns: &INLINKS,
        nothing: "nothing links to it",
        again: &format!("page {} --inlinks{between}", text::quoted(&facts.url)),
    };
    list.print(asked, &args.list)
}

fn outlinks(asked: &Asked, args: &PageArgs, facts: &PageFacts) -> Result<()> {
    let list = List {
        path: "index/outlinks",
        query: vec![("url", args.url.clone())],
        columns: &OUTLINKS,
        nothing: "it links to nothing",
        again: &format!("page {} --outlinks", text::quoted(&facts.url)),
    };
    list.print(asked, &args.list)
}

impl<T: DeserializeOwned> List<'_, T> {
    /// Prints it up to its limit.
    fn print(&self, asked: &Asked, args: &ListArgs) -> Result<()> {
        let as_json = args.which.json;
        let limit = args.limit.unwrap_or(if as_json { u64::MAX } else { TABLE_ROWS });
        let query = [asked.which.as_slice(), &self.query].concat();
        let mut printer = Printer::new(self.columns, false);
        let print = |items: &[Box<RawValue>], cut: Option<&str>| match as_json {
            true => write_objects(&mut printer.out, items, cut),
            false => printer.page(items, |row: T| row),
        };
        let printed = print_pages(&asked.ask, self.path, &query, limit, args.after.clone(), print);
        let (found, next) = printed.map_err(explain)?;
        printer.out.flush()?;
        match &next {
            _ if as_json => Ok(()),
            Some(next) if found => note(&format!("more: skurd index {}{}", self.again, options(args, next))),
            _ if !found => note(self.nothing),
            _ => Ok(()),
        }
    }
}

fn write_objects(out: &mut impl Write, items: &[Box<RawValue>], cut: Option<&str>) -> Result<()> {
    let rows: serde_json::Result<Vec<Value>> =
        items.iter().map(|item| serde_json::from_str(item.get())).collect();
    let mut rows = rows?;
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
