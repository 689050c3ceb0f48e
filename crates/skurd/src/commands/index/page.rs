//! `skurd index page`: what is known of one page.

use std::io::Write;

use anyhow::{Context, Result};
use app::index::{IndexInlink, IndexOutlink, PageFacts};
use harvest::session::stdout;
use policy::time::Time;
use serde_json::Value;

use super::Asked;
use super::list::List;
use super::text::{self, json_line};
use crate::args::PageArgs;
use crate::output::{Column, left, number_or_dash, text_or_dash};

const INLINK_COLUMNS: [Column; 4] = [left("first seen"), left("last seen"), left("from"), left("anchor")];
const OUTLINK_COLUMNS: [Column; 2] = [left("to"), left("anchor")];

pub(super) fn run(args: &PageArgs) -> Result<()> {
    let asked = Asked::new(&args.list.which)?;
    let object: Value = asked.ask.ask(&asked.question("index/page", &[("url", args.url.clone())]))?;
    asked.tell_waiting()?;
    let facts =
        serde_json::from_value(object.clone()).context("the answer of the server is not understood")?;
    match (args.inlinks, args.outlinks) {
        (true, _) => inlinks(&asked, args, &facts),
        (_, true) => outlinks(&asked, args, &facts),
        _ if args.list.which.json => {
            let mut out = stdout();
            writeln!(out, "{}", json_line(&object))?;
            Ok(out.flush()?)
        }
        _ => show(&facts),
    }
}

fn show(facts: &PageFacts) -> Result<()> {
    let mut out = stdout();
    let loaded = if facts.loaded { "yes" } else { "no, only linked to" };
    writeln!(out, "{}", facts.url)?;
    writeln!(out, "  loaded      {loaded}")?;
    writeln!(out, "  inlinks     {}", facts.incount)?;
    writeln!(out, "  outlinks    {}", number_or_dash(facts.outlinks))?;
    writeln!(out, "  score       {}", facts.score)?;
    writeln!(out, "  domain      {}", facts.domain)?;
    writeln!(out, "  first seen  {}", text_or_dash(facts.first_seen.as_deref()))?;
    writeln!(out, "  last seen   {}", text_or_dash(facts.last_seen.as_deref()))?;
    writeln!(out, "next: --inlinks lists the links to it, --outlinks those from it")?;
    Ok(out.flush()?)
}

fn inlinks(asked: &Asked, args: &PageArgs, facts: &PageFacts) -> Result<()> {
    let bounds: Vec<(&str, String)> =
        [("since", args.since), ("until", args.until)].into_iter().filter_map(bound).collect();
    let between: String = bounds.iter().map(|(option, time)| format!(" --{option} {time}")).collect();
    let list = List {
        path: "index/inlinks",
        query: [vec![("url", args.url.clone())], bounds].concat(),
        columns: &INLINK_COLUMNS,
        cells: |link: &IndexInlink| {
            vec![link.first_seen.clone(), link.last_seen.clone(), link.url.clone(), text::cell(&link.anchor)]
        },
        nothing: "nothing links to it",
        again: &format!("page {} --inlinks{between}", text::quoted(&facts.url)),
    };
    list.print(asked, &args.list)
}

/// An end of a stretch of time, to the millisecond.
fn bound((name, time): (&'static str, Option<Time>)) -> Option<(&'static str, String)> {
    time.map(|time| (name, net::warc::date::iso(time)))
}

fn outlinks(asked: &Asked, args: &PageArgs, facts: &PageFacts) -> Result<()> {
    let list = List {
        path: "index/outlinks",
        query: vec![("url", args.url.clone())],
        columns: &OUTLINK_COLUMNS,
        cells: |link: &IndexOutlink| vec![link.url.clone(), text::cell(&link.anchor)],
        nothing: "it links to nothing",
        again: &format!("page {} --outlinks", text::quoted(&facts.url)),
    };
    list.print(asked, &args.list)
}
