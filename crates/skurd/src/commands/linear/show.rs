//! `skurd linear show`: what is known of the ids of a walk (L12).

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use app::walks::{IdRange, WalkDetail, WalkItem};
use declare::counted;
use declare::text::rate_text;
use harvest::session::{note, stdout};
use harvest::walk::WalkCell;
use harvest::walk::map::{CELLS, Map, has_colours};
use policy::time::Span;
use policy::unit::print_duration;
use policy::walk::{Direction, Retry, WalkSettings};
use server::client::{Client, NOT_UNDERSTOOD};

use super::events::{self, STRETCHES, question};
use crate::output::{Column, Table, left, right, shown};

const WALKS: [Column<WalkItem>; 7] = [
    left("walk", |walk| shown(&walk.name)),
    right("found", |walk| shown(walk.standing.counts.content)),
    right("missing", |walk| shown(walk.standing.counts.holes)),
    right("to go", |walk| shown(walk.standing.counts.remaining)),
    right("requests", |walk| shown(walk.standing.requests)),
    left("last", |walk| shown(&walk.last)),
    left("stopped", |walk| why(walk).to_owned()),
];

const STRETCH: [Column<WalkCell>; 5] = [
    right("from", |cell| shown(cell.from)),
    right("to", |cell| shown(cell.to)),
    right("found", |cell| shown(cell.content)),
    right("missing", |cell| shown(cell.holes)),
    right("unknown", |cell| shown(cell.unknown)),
];

/// Ranges of holes that a person reads.
const HOLES_SHOWN_MAX: usize = 50;

pub(crate) fn run(walk: Option<&str>, dir: &Path, json: bool) -> Result<()> {
    let ask = Client::open(dir)?;
    let mut out = stdout();
    let mut table = Table::new(&WALKS);
    let mut found = false;
    match walk {
        Some(name) => {
            found = true;
            match json {
                true => events::shown(&mut out, &ask, name)?,
                false => print(&mut out, &ask, name)?,
            }
        }
        None => ask.pages("walks", Vec::new(), |items| {
            found |= !items.is_empty();
            for item in items {
                let item: WalkItem = serde_json::from_str(item.get()).context(NOT_UNDERSTOOD)?;
                match json {
                    true => events::shown(&mut out, &ask, &item.name)?,
                    false => table.page(&mut out, &[item])?,
                }
            }
            Ok(true)
        })?,
    }
    out.flush()?;
    match found || json {
        true => Ok(()),
        false => {
            note("there are no walks: `skurd linear TEMPLATE` begins one, and so does `walks` in a config")
        }
    }
}

/// Why it stands, or that it was never begun.
fn why(item: &WalkItem) -> &'static str {
    if item.begun { item.standing.stopped.as_str() } else { "not begun" }
}

fn print(out: &mut impl Write, ask: &Client, name: &str) -> Result<()> {
    let sizes = |cells: usize, ranges: usize| [("cells", cells.to_string()), ("ranges", ranges.to_string())];
    let walk: WalkDetail = ask.ask(&question(name, &sizes(CELLS, HOLES_SHOWN_MAX)))?;
    let coarse: WalkDetail = ask.ask(&question(name, &sizes(STRETCHES, 0)))?;
    let standing = &walk.item.standing;
    let settings: WalkSettings =
        serde_json::from_value(walk.item.settings.clone()).context(NOT_UNDERSTOOD)?;
    writeln!(out, "{}", walk.item.name)?;
    writeln!(out, "  {}", settings_text(&settings))?;
    let map = Map::drawn(walk.stretches.clone(), &standing.heads, settings.max().is_none());
    for line in map.lines("  ", has_colours(&std::io::stdout())) {
        writeln!(out, "{}", line.trim_end())?;
    }
    let counts = &standing.counts;
    let to_go = counts.remaining.map_or(String::new(), |ids| format!(", {ids} to go"));
    writeln!(out, "  {} found, {} missing{to_go}; {}", counts.content, counts.holes, why(&walk.item))?;
    for head in &standing.heads {
        let at = shown(head.at);
        let misses = counted(head.misses, "id");
        let (leg, stopped) = (head.leg.as_str(), head.stopped.as_str());
        writeln!(out, "  head {leg} at {at}, {misses} in a row not known to exist; {stopped}")?;
    }
    if let Some(rate) = standing.requests_per_second {
        let done_in = |left| format!("; at this rate done in {}", print_duration(Span::seconds(left)));
        let left = standing.seconds_left.map_or(String::new(), done_in);
        writeln!(out, "  {} requests in the last run, {}/s{left}", standing.requests, rate_text(rate))?;
    }
    print_holes(out, &walk)?;
    writeln!(out)?;
    Ok(Table::new(&STRETCH).page(out, &coarse.stretches)?)
}

fn print_holes(out: &mut impl Write, walk: &WalkDetail) -> Result<()> {
    let text = |IdRange(first, last): &IdRange| match first == last {
        true => first.to_string(),
        false => format!("{first}–{last}"),
    };
    let shown: Vec<String> = walk.holes.iter().map(text).collect();
    let more = match walk.more.holes {
        None => String::new(),
        Some(more) => format!(" … and {} more ranges; --json has all", more.ranges),
    };
    let holes = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
    Ok(writeln!(out, "  holes {holes}{more}")?)
}

fn settings_text(settings: &WalkSettings) -> String {
    let mut words = vec![match settings.direction() {
        Direction::Up => "up".to_owned(),
        Direction::Down => "down".to_owned(),
        Direction::Both => format!("both ways from {}", settings.start()),
    }];
    let max = settings.max().map_or("no bound".to_owned(), |max| max.to_string());
    words.push(format!("ids {} to {max}", settings.min()));
    if settings.step() > 1 {
        words.push(format!("in steps of {}", settings.step()));
    }
    words.extend(settings.margin().map(|margin| format!("margin {margin}")));
    if settings.attempts() > 1 {
        let which = if settings.retry() == Retry::All { "every miss" } else { "what failed" };
        let cooldown = print_duration(settings.cooldown());
        words.push(format!("{} attempts at {which}, {cooldown} apart", settings.attempts()));
    }
    if settings.rate() > 1 {
        words.push(format!("rate {}", settings.rate()));
    }
    words.join(", ")
}
