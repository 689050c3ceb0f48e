//! `skurd index page`: what is known of one page.

use anyhow::{Context, Result};
use app::index::{IndexInlink, IndexOutlink, PageFacts};
use policy::time::Time;
use serde_json::Value;

use super::Asked;
use super::list::List;
use super::text::{self, json_line};
use crate::args::index::PageArgs;
use crate::commands::listing::given;
use crate::output::{Column, left, line, shown};

const INLINKS: [Column<IndexInlink>; 4] = [
    left("first seen", |link| shown(&link.first_seen)),
    left("last seen", |link| shown(&link.last_seen)),
    left("from", |link| shown(&link.url)),
    left("anchor", |link| text::cell(&link.anchor)),
];

const OUTLINKS: [Column<IndexOutlink>; 2] =
    [left("to", |link| shown(&link.url)), left("anchor", |link| text::cell(&link.anchor))];

pub(super) fn run(args: &PageArgs) -> Result<()> {
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
