//! Lists of the index, page by page: `top`, `domain`, `missing`, and what `page` lists.
//!
//! A list that is cut off says how to go on: a table with a command on standard error, JSON with `next` in its last object.

use std::io::Write;

use anyhow::Result;
use index::{By, Error, Listing, RankedDomain, RankedPage, Uri};
use serde_json::{Value, json};

use super::Opened;
use super::text::{self, json_line};
use crate::args::{DomainArgs, IndexBy, ListArgs, TopArgs};
use crate::config::excerpt;
use crate::hint::hinted;
use crate::output::{Column, Table, left, right};
use crate::session::{PAGE_ROWS, note, stdout};

/// Rows of a table if nobody says how many.
const TABLE_ROWS: u64 = 50;

const PAGE_COLUMNS: [Column; 4] = [right("incount"), right("score"), left("loaded"), left("url")];
const DOMAIN_COLUMNS: [Column; 2] = [right("pages"), left("domain")];

/// How rows of a kind are shown.
pub(super) struct View<T> {
    pub(super) columns: &'static [Column],
    pub(super) cells: fn(&T) -> Vec<String>,
    pub(super) object: fn(&T) -> Value,
    /// What is said where there are none.
    pub(super) nothing: &'static str,
}

pub(super) fn top(args: &TopArgs) -> Result<()> {
    let opened = Opened::new(&args.list.which)?;
    opened.tell_waiting()?;
    let index = &opened.index;
    if args.domains {
        let view = View {
            columns: &DOMAIN_COLUMNS,
            cells: |row: &RankedDomain| vec![row.pagecount.to_string(), text::domain(&row.domain)],
            object: domain_object,
            nothing: "no domain is known",
        };
        return print(&opened, &args.list, &view, "top --domains", &async |after, limit| {
            index.top_domains(after, limit).await
        });
    }
    let (by, again) = match args.by {
        IndexBy::Incount => (By::Incount, "top"),
        IndexBy::Score => (By::Score, "top --by score"),
    };
    print(&opened, &args.list, &pages("no page is linked to"), again, &async |after, limit| {
        index.top(by, after, limit).await
    })
}

pub(super) fn missing(args: &ListArgs) -> Result<()> {
    let opened = Opened::new(&args.which)?;
    opened.tell_waiting()?;
    let index = &opened.index;
    let view = pages("nothing is missing: all that is linked to was loaded");
    print(&opened, args, &view, "missing", &async |after, limit| index.missing(after, limit).await)
}

pub(super) fn domain(args: &DomainArgs) -> Result<()> {
    let opened = Opened::new(&args.list.which)?;
    let name = reversed(&args.domain)?;
    let index = &opened.index;
    if opened.session.wait(index.domain(&name))? == 0 {
        return Err(hinted(
            format!("nothing is known of the domain {}", excerpt(&text::domain(&name))),
            "`skurd index top --domains` lists those there are",
        ));
    }
    opened.tell_waiting()?;
    let again = format!("domain {}", text::domain(&name));
    print(&opened, &args.list, &pages("the domain has no pages"), &again, &async |after, limit| {
        index.domain_pages(&name, after, limit).await
    })
}

/// A domain as the index spells it; of a host, its registrable domain.
fn reversed(domain: &str) -> Result<String> {
    let uri = Uri::of_url(&format!("http://{domain}/"));
    match uri {
        Ok(uri) if !domain.contains(['/', '?', '#', ':']) || domain.starts_with('[') => {
            Ok(uri.domain().to_owned())
        }
        _ => Err(hinted(format!("{} is not a domain", excerpt(domain)), "write it like `example.com`")),
    }
}

/// Prints a list up to its limit.
pub(super) fn print<T>(
    opened: &Opened,
    args: &ListArgs,
    view: &View<T>,
    again: &str,
    fetch: &impl AsyncFn(Option<&str>, usize) -> Result<Listing<T>, Error>,
) -> Result<()> {
    let as_json = args.which.json;
    let mut left = args.limit.unwrap_or(if as_json { u64::MAX } else { TABLE_ROWS });
    let mut after = args.after.clone();
    let mut out = stdout();
    let mut table = Table::new(view.columns);
    let mut found = false;
    while left > 0 {
        let wanted = usize::try_from(left).unwrap_or(PAGE_ROWS).min(PAGE_ROWS);
        let listing = opened.session.wait(fetch(after.as_deref(), wanted)).map_err(explain)?;
        left = left.saturating_sub(listing.items.len() as u64);
        found |= !listing.items.is_empty();
        after = listing.next;
        match as_json {
            true => {
                let cut = after.as_deref().filter(|_| left == 0);
                write_objects(&mut out, &listing.items, view, cut)?;
            }
            false => table.page(&mut out, &listing.items.iter().map(view.cells).collect::<Vec<_>>())?,
        }
        if after.is_none() {
            break;
        }
    }
    out.flush()?;
    match &after {
        _ if as_json => Ok(()),
        Some(after) if found => note(&format!("more: skurd index {again}{}", options(args, after))),
        _ if !found => note(view.nothing),
        _ => Ok(()),
    }
}

fn write_objects<T>(out: &mut impl Write, rows: &[T], view: &View<T>, cut: Option<&str>) -> Result<()> {
    for (at, row) in rows.iter().enumerate() {
        let mut object = (view.object)(row);
        if let (Some(next), true) = (cut, at + 1 == rows.len()) {
            object["next"] = next.into();
        }
        writeln!(out, "{}", json_line(&object))?;
    }
    Ok(())
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

fn explain(error: Error) -> anyhow::Error {
    match error {
        Error::BadCursor => hinted(
            "--after is not from this list",
            "take it from the note under a table, or `next` of the last JSON object",
        ),
        error => error.into(),
    }
}

fn pages(nothing: &'static str) -> View<RankedPage> {
    View {
        columns: &PAGE_COLUMNS,
        cells: |row| {
            let loaded = if row.loaded { "yes" } else { "no" };
            vec![row.incount.to_string(), row.score.to_string(), loaded.to_owned(), row.uri.to_url()]
        },
        object: |row| {
            json!({
                "url": row.uri.to_url(),
                "uri": row.uri.as_str(),
                "incount": row.incount,
                "score": row.score,
                "loaded": row.loaded,
            })
        },
        nothing,
    }
}

fn domain_object(row: &RankedDomain) -> Value {
    json!({ "domain": text::domain(&row.domain), "uri": row.domain, "pagecount": row.pagecount })
}
