//! `skurd index page`: what is known of one page.

use std::io::Write;

use anyhow::Result;
use index::{Inlink, Link, PageFacts, Seen, Skip, Uri};
use serde_json::{Value, json};

use super::Opened;
use super::list::{View, print};
use super::text::{self, json_line};
use crate::args::PageArgs;
use crate::config::excerpt;
use crate::hint::hinted;
use crate::output::{Column, left, number_or_dash, time_json};
use crate::session::stdout;

const INLINK_COLUMNS: [Column; 4] = [left("first seen"), left("last seen"), left("from"), left("anchor")];
const OUTLINK_COLUMNS: [Column; 2] = [left("to"), left("anchor")];

pub(super) fn run(args: &PageArgs) -> Result<()> {
    let opened = Opened::new(&args.list.which)?;
    let uri = uri_of(&args.url)?;
    let Some(facts) = opened.session.wait(opened.index.page(&uri))? else {
        let hint =
            format!("`skurd index domain {}` lists what is known of its domain", text::domain(uri.domain()));
        return Err(hinted(format!("{} is neither loaded nor linked to", excerpt(&args.url)), hint));
    };
    opened.tell_waiting()?;
    match (args.inlinks, args.outlinks) {
        (true, _) => inlinks(&opened, args, &uri),
        (_, true) => outlinks(&opened, args, &uri),
        _ => show(args, &uri, &facts),
    }
}

fn uri_of(url: &str) -> Result<Uri> {
    Uri::of_url(url).map_err(|skip| {
        let hint = match skip {
            Skip::Unparsable if !url.contains("://") => format!("write `https://{}`", url.trim()),
            _ => "a URL like `https://example.com/`".to_owned(),
        };
        let hint: String = hint.chars().filter(|c| !text::is_harmful(*c)).collect();
        hinted(format!("{} is no URL of the index: {skip}", excerpt(url)), hint)
    })
}

fn show(args: &PageArgs, uri: &Uri, facts: &PageFacts) -> Result<()> {
    let mut out = stdout();
    if args.list.which.json {
        writeln!(out, "{}", json_line(&object(uri, facts)))?;
        return Ok(out.flush()?);
    }
    let loaded = if facts.loaded { "yes" } else { "no, only linked to" };
    writeln!(out, "{}", uri.to_url())?;
    writeln!(out, "  loaded      {loaded}")?;
    writeln!(out, "  inlinks     {}", facts.incount)?;
    writeln!(out, "  outlinks    {}", number_or_dash(facts.outlinks))?;
    writeln!(out, "  score       {}", facts.score)?;
    writeln!(out, "  domain      {}", text::domain(uri.domain()))?;
    writeln!(out, "  first seen  {}", number_or_dash(facts.first_seen))?;
    writeln!(out, "  last seen   {}", number_or_dash(facts.last_seen))?;
    writeln!(out, "next: --inlinks lists the links to it, --outlinks those from it")?;
    Ok(out.flush()?)
}

fn object(uri: &Uri, facts: &PageFacts) -> Value {
    json!({
        "url": uri.to_url(),
        "uri": uri.as_str(),
        "domain": text::domain(uri.domain()),
        "loaded": facts.loaded,
        "incount": facts.incount,
        "score": facts.score,
        "outlinks": facts.outlinks,
        "first_seen": time_json(facts.first_seen),
        "last_seen": time_json(facts.last_seen),
    })
}

fn inlinks(opened: &Opened, args: &PageArgs, uri: &Uri) -> Result<()> {
    let view = View {
        columns: &INLINK_COLUMNS,
        cells: |link: &Inlink| {
            vec![
                link.first_seen.to_string(),
                link.last_seen.to_string(),
                link.source.to_url(),
                text::cell(&link.anchor),
            ]
        },
        object: |link| {
            json!({
                "url": link.source.to_url(),
                "uri": link.source.as_str(),
                "anchor": link.anchor,
                "first_seen": time_json(Some(link.first_seen)),
                "last_seen": time_json(Some(link.last_seen)),
            })
        },
        nothing: "nothing links to it",
    };
    let seen = Seen { from: args.since, to: args.until };
    let between = |option: &str, time: Option<_>| {
        time.map_or_else(String::new, |time| format!(" --{option} {}", net::warc::date::iso(time)))
    };
    let (since, until) = (between("since", args.since), between("until", args.until));
    let again = format!("page {} --inlinks{since}{until}", text::quoted(&uri.to_url()));
    print(opened, &args.list, &view, &again, &async |after, limit| {
        opened.index.inlinks(uri, seen, after, limit).await
    })
}

fn outlinks(opened: &Opened, args: &PageArgs, uri: &Uri) -> Result<()> {
    let view = View {
        columns: &OUTLINK_COLUMNS,
        cells: |link: &Link| vec![link.target.to_url(), text::cell(&link.anchor)],
        object: |link| json!({ "url": link.target.to_url(), "uri": link.target.as_str(), "anchor": link.anchor }),
        nothing: "it links to nothing",
    };
    let again = format!("page {} --outlinks", text::quoted(&uri.to_url()));
    print(opened, &args.list, &view, &again, &async |after, limit| {
        opened.index.outlinks(uri, after, limit).await
    })
}
