//! Walks as `skurd linear show --json` prints them: a `walk` event each, with all that is known of
//! its ids.
//!
//! The API tells so many ranges at a time, and they are written as they come.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context, Result};
use app::walks::{IdRange, MoreRanges, RANGES_MAX, WalkDetail};
use serde_json::Value;
use serde_json::value::RawValue;
use server::client::{Call, Client, NOT_UNDERSTOOD, segment};

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

/// What stands beside the lists.
const FIELDS: [&str; 15] = [
    "active",
    "begun",
    "counts",
    "heads",
    "last",
    "map",
    "profile",
    "requests",
    "requests_per_second",
    "seconds_left",
    "settings",
    "step",
    "stopped",
    "stretches",
    "template",
];

/// A question about one walk.
pub(super) fn question<'a>(name: &str, query: &[(&'a str, String)]) -> Call<'a> {
    Call::get(&format!("walks/{}", segment(name)), query.to_vec())
}

pub(super) fn print(out: &mut impl Write, ask: &Client, name: &str) -> Result<()> {
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
    for field in FIELDS {
        let value = fields.get(field).context(NOT_UNDERSTOOD)?;
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
