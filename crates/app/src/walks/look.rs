//! What is known of the ids of a walk: ranges, and a map.

use std::ops::RangeInclusive;

use harvest::walk::WalkCell;
use harvest::walk::map::{CELLS, Map, shown};
use policy::walk::{Kind, Walk};
use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use super::WalkItem;
use crate::{Answer, Problem};

/// The most ranges of each kind in an answer, and how many there are if nobody says.
pub const RANGES_MAX: usize = 10_000;

const RANGES_USUAL: usize = 1000;

/// The same for cells.
const CELLS_MAX: usize = 1000;

const CELLS_USUAL: usize = 16;

/// Which ids are looked at, and how finely.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Only ids from this one on.
    pub from: Option<u64>,
    /// Only ids up to this one.
    pub to: Option<u64>,
    /// How many ranges of each kind at most; 1000 if not given.
    #[param(minimum = 0, maximum = 10000)]
    pub ranges: Option<usize>,
    /// Into how many stretches the ids are divided at most; 16 if not given.
    #[param(minimum = 0, maximum = 1000)]
    pub cells: Option<usize>,
}

impl Look {
    pub(super) fn check(&self) -> Answer<()> {
        let bounded = |name: &str, given: Option<usize>, most: usize| match given {
            Some(given) if given > most => {
                Err(Problem::bad_request(format!("`{name}` is out of range")).hint(format!("up to {most}")))
            }
            _ => Ok(()),
        };
        bounded("ranges", self.ranges, RANGES_MAX)?;
        bounded("cells", self.cells, CELLS_MAX)?;
        match self.from.zip(self.to) {
            Some((from, to)) if from > to => {
                Err(Problem::bad_request("`from` lies behind `to`").hint("give the lower id as `from`"))
            }
            _ => Ok(()),
        }
    }
}

/// The first and the last id of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdRange(pub u64, pub u64);

impl PartialSchema for IdRange {
    fn schema() -> RefOr<Schema> {
        let two = ArrayBuilder::new().items(u64::schema()).min_items(Some(2)).max_items(Some(2));
        two.description(Some("The first and the last id of a range.")).into()
    }
}

impl ToSchema for IdRange {}

/// A walk, with what is known of its ids.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WalkDetail {
    #[serde(flatten)]
    pub item: WalkItem,
    /// Ids that exist.
    pub content: Vec<IdRange>,
    /// Ids that were not found.
    pub holes: Vec<IdRange>,
    /// Ids that are still to be tried.
    pub remaining: Vec<IdRange>,
    pub more: WalkMore,
    /// All of it in a line: `o` where ids exist, `x` where most do not, `·` where nothing is known.
    pub map: String,
    /// The same in numbers, of the ids that were asked for.
    pub stretches: Vec<WalkCell>,
}

/// What was left out of each list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WalkMore {
    pub content: Option<MoreRanges>,
    pub holes: Option<MoreRanges>,
    pub remaining: Option<MoreRanges>,
}

/// Where a list goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MoreRanges {
    /// Ask for the same `from` this id.
    pub from: u64,
    /// How many ranges that is.
    pub ranges: u64,
}

pub fn detail(item: WalkItem, walk: &Walk, look: &Look) -> WalkDetail {
    let [map, _] = Map::of(walk, CELLS).lines("", false);
    let (content, more_content) = ranges(walk, Kind::Content, look);
    let (holes, more_holes) = ranges(walk, Kind::Hole, look);
    let (remaining, more_remaining) = ranges(walk, Kind::Unknown, look);
    let more = WalkMore { content: more_content, holes: more_holes, remaining: more_remaining };
    WalkDetail { item, content, holes, remaining, more, map, stretches: stretches(walk, look) }
}

fn ranges(walk: &Walk, kind: Kind, look: &Look) -> (Vec<IdRange>, Option<MoreRanges>) {
    let (step, to) = (walk.settings().step(), look.to.unwrap_or(u64::MAX));
    // As far as the last id of the walk that is wanted.
    let cut = |range: RangeInclusive<u64>| {
        let first = *range.start();
        IdRange(first, (*range.end()).min(to - (to - first) % step))
    };
    let within = walk.ranges(kind, look.from.unwrap_or(0)).take_while(|range| *range.start() <= to);
    let mut found = within.map(cut);
    let told = found.by_ref().take(look.ranges.unwrap_or(RANGES_USUAL)).collect();
    let more = found.next().map(|IdRange(from, _)| MoreRanges { from, ranges: 1 });
    let rest = found.count() as u64;
    (told, more.map(|more| MoreRanges { ranges: more.ranges + rest, ..more }))
}

fn stretches(walk: &Walk, look: &Look) -> Vec<WalkCell> {
    let shown = shown(walk);
    let (from, to) = (look.from.unwrap_or(*shown.start()), look.to.unwrap_or(*shown.end()));
    walk.cells(from, to, look.cells.unwrap_or(CELLS_USUAL)).iter().map(WalkCell::from).collect()
}

#[cfg(test)]
mod tests {
    use policy::time::Time;
    use policy::walk::{Draft, Leg, Outcome, Step, WalkSettings};

    use super::*;

    /// In steps of three from 1 to 100; every other id exists.
    fn walked() -> Walk {
        let template = "http://a.test/{id}".to_owned();
        let draft = Draft { template, min: Some(1), max: Some(200), step: Some(3), ..Draft::default() };
        let mut walk = Walk::new(WalkSettings::new(draft).unwrap());
        while let Step::Fetch { id, .. } = walk.next(Leg::Up, Time(0)) {
            let outcome = if id % 2 == 0 { Outcome::Exists } else { Outcome::Absent };
            walk.result(id, outcome, Time(0));
            if id >= 100 {
                break;
            }
        }
        walk
    }

    #[test]
    fn l11_lists_that_are_cut_off_go_on_where_they_say() {
        let walk = walked();
        for kind in [Kind::Content, Kind::Hole, Kind::Unknown] {
            let (whole, none) = ranges(&walk, kind, &Look::default());
            assert!(none.is_none() && whole.len() == if kind == Kind::Unknown { 1 } else { 17 });
            for most in [1, 4, 16, 17] {
                let (mut all, mut from) = (Vec::new(), Some(0));
                while from.is_some() {
                    let look = Look { from, ranges: Some(most), ..Look::default() };
                    let (some, more) = ranges(&walk, kind, &look);
                    all.extend(some);
                    assert_eq!(more.map_or(0, |more| more.ranges), (whole.len() - all.len()) as u64);
                    from = more.map(|more| more.from);
                }
                assert_eq!(all, whole, "{kind:?} {most}");
            }
        }
    }

    #[test]
    fn l12_narrowed_ranges_end_at_ids_of_the_walk() {
        let walk = walked();
        let told = |kind, from, to| ranges(&walk, kind, &Look { from, to, ..Look::default() }).0;
        assert_eq!(told(Kind::Content, Some(5), Some(16)), [IdRange(10, 10), IdRange(16, 16)]);
        assert_eq!(told(Kind::Unknown, Some(150), Some(162)), [IdRange(151, 160)]);
        assert_eq!(told(Kind::Unknown, None, Some(102)), []);
        assert_eq!(told(Kind::Unknown, Some(199), None), [IdRange(199, 199)]);
        assert_eq!(told(Kind::Hole, Some(u64::MAX), None), []);
        let cells = |from, to, cells| stretches(&walk, &Look { from, to, cells, ..Look::default() });
        assert_eq!(cells(None, None, None).len(), 16);
        let cell = WalkCell { content: 1, from: 7, holes: 2, to: 13, unknown: 0 };
        assert_eq!(cells(Some(5), Some(15), Some(1)), [cell]);
        assert_eq!(cells(None, None, Some(0)), []);
    }
}
