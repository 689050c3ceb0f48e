//! `skurd linear show`: what is known of the ids of a walk (L12).

use std::io::Write;

use anyhow::Result;
use frontier::WalkSight;
use policy::walk::{Cell, Direction, Kind, Retry, WalkSettings};
use serde_json::{Value, json};

use crate::args::ShowArgs;
use crate::config::{counted, print_duration};
use crate::hint::{hinted, unknown};
use crate::linear::map::{CELLS, Map, has_colours};
use crate::linear::{events, words};
use crate::output::{Column, Table, left, number_or_dash, rate_text, right, time_json};
use crate::session::{Session, note, stdout};

const COLUMNS: [Column; 7] = [
    left("walk"),
    right("found"),
    right("missing"),
    right("to go"),
    right("requests"),
    left("last"),
    left("stopped"),
];
const STRETCH_COLUMNS: [Column; 5] =
    [right("from"), right("to"), right("found"), right("missing"), right("unknown")];
/// Stretches that found and missing are told for.
const STRETCHES: usize = 16;
/// Ranges of holes that a person reads.
const HOLES_SHOWN_MAX: usize = 50;

pub(crate) fn run(args: &ShowArgs) -> Result<()> {
    let session = Session::open(&args.data.dir)?;
    let names: Vec<String> =
        session.look(|catalog| catalog.walks().map(|walk| walk.name.clone()).collect())?;
    let mut out = stdout();
    match &args.walk {
        Some(name) => {
            let sight = sight(&session, name, &names)?;
            match args.json {
                true => print_json(&mut out, &sight)?,
                false => print(&mut out, &sight)?,
            }
        }
        None => {
            let mut table = Table::new(&COLUMNS);
            for name in &names {
                let sight = sight(&session, name, &names)?;
                match args.json {
                    true => print_json(&mut out, &sight)?,
                    false => table.page(&mut out, &[row(&sight)])?,
                }
            }
        }
    }
    out.flush()?;
    match names.is_empty() && !args.json {
        true => {
            note("there are no walks: `skurd linear TEMPLATE` begins one, and so does `walks` in a config")
        }
        false => Ok(()),
    }
}

fn sight(session: &Session, name: &str, names: &[String]) -> Result<WalkSight> {
    if names.is_empty() {
        let hint = "`skurd linear TEMPLATE` begins one, and so does `walks` in a config";
        return Err(hinted(format!("there is no walk `{name}`"), hint));
    }
    if !names.iter().any(|known| known == name) {
        return Err(unknown("walk", name, names.iter().map(String::as_str)));
    }
    Ok(session.wait(session.frontier.walk(name))?)
}

fn row(sight: &WalkSight) -> Vec<String> {
    let counts = sight.walk.counts();
    vec![
        sight.declared.name.clone(),
        counts.content.to_string(),
        counts.holes.to_string(),
        number_or_dash(counts.remaining),
        sight.run.requests.to_string(),
        number_or_dash(sight.run.last),
        standing(sight).to_owned(),
    ]
}

/// Why it stands, or that it was never begun.
fn standing(sight: &WalkSight) -> &'static str {
    if sight.is_new { "not begun" } else { words::stopped_all(&sight.walk) }
}

fn print(out: &mut impl Write, sight: &WalkSight) -> Result<()> {
    let WalkSight { declared, walk, run, .. } = sight;
    writeln!(out, "{}", declared.name)?;
    writeln!(out, "  {}", settings_text(walk.settings()))?;
    for line in Map::of(walk, CELLS).lines("  ", has_colours(&std::io::stdout())) {
        writeln!(out, "{}", line.trim_end())?;
    }
    let counts = walk.counts();
    let to_go = counts.remaining.map_or(String::new(), |ids| format!(", {ids} to go"));
    writeln!(out, "  {} found, {} missing{to_go}; {}", counts.content, counts.holes, standing(sight))?;
    for head in walk.heads() {
        let at = number_or_dash(head.at);
        let misses = counted(usize::try_from(head.misses).unwrap_or(usize::MAX), "id");
        let (leg, stopped) = (words::leg(head.leg), words::stopped(&head));
        writeln!(out, "  head {leg} at {at}, {misses} in a row not known to exist; {stopped}")?;
    }
    if let Some(rate) = words::rate(run) {
        let forecast = words::forecast(walk, run);
        let left =
            forecast.map_or(String::new(), |span| format!("; at this rate done in {}", print_duration(span)));
        writeln!(out, "  {} requests in the last run, {}/s{left}", run.requests, rate_text(rate))?;
    }
    print_holes(out, sight)?;
    let stretches = Map::of(walk, STRETCHES);
    let rows: Vec<Vec<String>> = stretches.cells().iter().map(stretch).collect();
    writeln!(out)?;
    Ok(Table::new(&STRETCH_COLUMNS).page(out, &rows)?)
}

fn print_holes(out: &mut impl Write, sight: &WalkSight) -> Result<()> {
    let mut holes = sight.walk.ranges(Kind::Hole, 0);
    let shown: Vec<String> = holes
        .by_ref()
        .take(HOLES_SHOWN_MAX)
        .map(|range| match range.start() == range.end() {
            true => range.start().to_string(),
            false => format!("{}–{}", range.start(), range.end()),
        })
        .collect();
    let more = match holes.count() {
        0 => String::new(),
        more => format!(" … and {more} more ranges; --json has all"),
    };
    let holes = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
    Ok(writeln!(out, "  holes {holes}{more}")?)
}

fn stretch(cell: &Cell) -> Vec<String> {
    [cell.from, cell.to, cell.content, cell.holes, cell.unknown].map(|number| number.to_string()).to_vec()
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

fn print_json(out: &mut impl Write, sight: &WalkSight) -> Result<()> {
    let WalkSight { declared, walk, run, .. } = sight;
    let cells = Map::of(walk, STRETCHES);
    let stretches: Vec<Value> = cells
        .cells()
        .iter()
        .map(|cell| {
            let Cell { from, to, content, holes, unknown } = cell;
            json!({ "from": from, "to": to, "content": content, "holes": holes, "unknown": unknown })
        })
        .collect();
    let [map, _] = Map::of(walk, CELLS).lines("", false);
    let more = json!({
        "active": declared.active,
        "profile": declared.profile,
        "begun": !sight.is_new,
        "last": time_json(run.last),
        "settings": walk.settings(),
        "stretches": stretches,
        "map": map,
    });
    Ok(events::walk(out, &declared.name, walk, run, more)?)
}
