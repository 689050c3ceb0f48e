//! Walks as JSON lines: a `fetch` for each request, a `walk` for where each stands.
//!
//! Ranges may be many, so they are written as they are found; of the API, which tells so many at a
//! time, as they come.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context, Result};
use app::event::harvest_json;
use app::walks::{IdRange, MoreRanges, RANGES_MAX, WalkDetail};
use frontier::Harvested;
use frontier::WalkRun;
use harvest::walk::Standing;
use policy::walk::{Kind, Walk};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use server::client::{Call, Client, NOT_UNDERSTOOD, segment};

/// What only the harvest of a page has to tell.
const OF_PAGES: [&str; 10] =
    ["added", "change", "collection", "depth", "left_out", "links", "next", "rendered", "seed", "unchanged"];

/// What a request to an id came to.
pub(crate) fn fetch(harvested: &Harvested<'_>) -> Value {
    let Harvested { order, captures, .. } = harvested;
    let capture = captures.iter().rev().find(|(_, capture)| capture.url == order.url.as_str());
    let mut event = harvest_json(harvested);
    event["event"] = json!("fetch");
    event["digest"] = json!(capture.map(|(_, capture)| &capture.digest));
    if let Some(fields) = event.as_object_mut() {
        fields.retain(|name, _| !OF_PAGES.contains(&name.as_str()));
    }
    event
}

/// Where a walk stands: its split, and why it stopped.
pub(crate) fn walk(out: &mut impl Write, name: &str, walk: &Walk, run: &WalkRun) -> Result<()> {
    write!(out, "{{\"event\":\"walk\",\"walk\":{}", Value::from(name))?;
    for (field, kind) in [("content", Kind::Content), ("holes", Kind::Hole), ("remaining", Kind::Unknown)] {
        write!(out, ",\"{field}\":[")?;
        let mut between = "";
        for range in walk.ranges(kind, 0) {
            write!(out, "{between}[{},{}]", range.start(), range.end())?;
            between = ",";
        }
        write!(out, "]")?;
    }
    let rest = serde_json::to_string(&Standing::of(walk, run))?;
    Ok(writeln!(out, ",{}", rest.trim_start_matches('{'))?)
}

/// Stretches that found and missing are told for.
pub(super) const STRETCHES: usize = 16;

/// A list of ranges, and where it goes on.
type Part = (Vec<IdRange>, Option<MoreRanges>);

/// How a list is called, and where it is in an answer.
type List = (&'static str, fn(WalkDetail) -> Part);

const LISTS: [List; 3] = [
    ("content", |walk| (walk.content, walk.more.content)),
    ("holes", |walk| (walk.holes, walk.more.holes)),
    ("remaining", |walk| (walk.remaining, walk.more.remaining)),
];

/// What is told in another place, or only by the API.
const TOLD_APART: [&str; 7] = ["content", "holes", "more", "name", "paused", "remaining", "state"];

/// A question about one walk.
pub(super) fn question<'a>(name: &str, query: &[(&'a str, String)]) -> Call<'a> {
    Call::get(&format!("walks/{}", segment(name)), query.to_vec())
}

/// A walk as `skurd linear show --json` prints it, with all that is known of its ids.
pub(super) fn shown(out: &mut impl Write, ask: &Client, name: &str) -> Result<()> {
    let sizes = [("cells", STRETCHES.to_string()), ("ranges", RANGES_MAX.to_string())];
    let bytes = ask.raw(&question(name, &sizes))?;
    let walk: WalkDetail = serde_json::from_slice(&bytes).context(NOT_UNDERSTOOD)?;
    // As they came: numbers are not read and written anew.
    let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(&bytes).context(NOT_UNDERSTOOD)?;
    write!(out, "{{\"event\":\"walk\",\"walk\":{}", Value::from(name))?;
    for (list, part) in LISTS {
        write!(out, ",\"{list}\":[")?;
        print_ranges(out, part(walk.clone()), |from| {
            let narrow = [("cells", "0".to_owned()), sizes[1].clone(), ("from", from.to_string())];
            ask.ask(&question(name, &narrow)).map(part)
        })?;
        write!(out, "]")?;
    }
    for (field, value) in fields.iter().filter(|(field, _)| !TOLD_APART.contains(&field.as_str())) {
        write!(out, ",\"{field}\":{value}")?;
    }
    Ok(writeln!(out, "}}")?)
}

fn print_ranges(out: &mut impl Write, first: Part, go_on: impl Fn(u64) -> Result<Part>) -> Result<()> {
    let (mut between, mut next) = ("", Some(first));
    while let Some((ranges, more)) = next.take() {
        for IdRange(from, to) in ranges {
            write!(out, "{between}[{from},{to}]")?;
            between = ",";
        }
        next = more.map(|more| go_on(more.from)).transpose()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l11_ranges_of_several_answers_are_one_list() {
        let mut out = Vec::new();
        let more = |from| Some(MoreRanges { from, ranges: 1 });
        let go_on = |from| {
            Ok(match from {
                7 => (vec![IdRange(7, 8)], more(20)),
                20 => (vec![IdRange(20, 20)], None),
                from => panic!("{from}"),
            })
        };
        print_ranges(&mut out, (vec![IdRange(1, 2), IdRange(4, 4)], more(7)), go_on).unwrap();
        assert_eq!(out, b"[1,2],[4,4],[7,8],[20,20]");
    }
}
