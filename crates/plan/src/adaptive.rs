//! F41: what an adaptive frequency brings, beside a fixed one: harvests that are spent, and changes that
//! are seen or missed. A change is missed where another follows before the next harvest.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use policy::catalog::Change;
use policy::time::Span;
use policy::unit::print_duration;
use sim::Harvest;

use crate::Grid;
use crate::text::number;

/// Of one profile, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub harvests: u64,
    pub seen: u64,
    pub missed: u64,
}

/// What is counted on the way.
#[derive(Debug, Default)]
pub struct Observed {
    /// By collection and URL: the last version that was seen.
    versions: HashMap<(String, String), usize>,
    grid: Grid,
    pub by_profile: BTreeMap<String, Course>,
}

/// Of one profile: in all, and in each column of the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
    pub sum: Spent,
    pub columns: Vec<Spent>,
}

/// Both ways of one profile.
#[derive(Clone, Debug)]
pub struct Compared {
    pub profile: String,
    pub range: (Span, Span),
    /// The frequency that it is held against: the middle of the range.
    pub fixed_every: Span,
    pub adaptive: Course,
    pub fixed: Course,
}

impl Spent {
    fn add(&mut self, changes: u64) {
        self.harvests += 1;
        self.seen += changes.min(1);
        self.missed += changes.saturating_sub(1);
    }
}

impl Course {
    /// A figure from column to column, as it grows.
    pub(crate) fn growing(&self, figure: impl Fn(&Spent) -> u64) -> Vec<u64> {
        let grow = |sum: &mut u64, own: &Spent| {
            *sum += figure(own);
            Some(*sum)
        };
        self.columns.iter().scan(0, grow).collect()
    }
}

impl Observed {
    pub fn on(grid: Grid) -> Observed {
        Observed { grid, ..Observed::default() }
    }

    pub fn harvested(&mut self, harvest: &Harvest) {
        let answered = matches!(harvest.status, Some(200..=299));
        let before = answered.then(|| {
            self.versions.insert((harvest.collection.clone(), harvest.url.clone()), harvest.version)
        });
        let changes = match before.flatten() {
            Some(before) => u64::try_from(harvest.version.saturating_sub(before)).unwrap_or(0),
            None => 0,
        };
        for profile in &harvest.profiles {
            let course = self.by_profile.entry(profile.clone()).or_default();
            course.columns.resize(self.grid.columns(), Spent::default());
            course.sum.add(changes);
            course.columns[self.grid.column(harvest.began)].add(changes);
        }
    }
}

/// The same with each range replaced by its middle; none where no profile adapts.
pub fn fixed(changes: &[Change]) -> Option<(Vec<Change>, Vec<Compared>)> {
    let mut compared = Vec::new();
    let mut other = changes.to_vec();
    for change in &mut other {
        let Change::PutProfile(profile) = change else { continue };
        let Some(range) = profile.range() else { continue };
        (profile.every, profile.slowest) = (range.middle(), None);
        compared.push(Compared {
            profile: profile.name.clone(),
            range: (range.fast, range.slow),
            fixed_every: range.middle(),
            adaptive: Course::default(),
            fixed: Course::default(),
        });
    }
    (!compared.is_empty()).then_some((other, compared))
}

/// Each profile in one sentence.
pub fn sentences(compared: &[Compared]) -> Vec<String> {
    let spent = |spent: &Spent| {
        let Spent { harvests, seen, missed } = *spent;
        format!("{} harvests, {} changes seen, {} missed", number(harvests), number(seen), number(missed))
    };
    let one = |own: &Compared| {
        let [fast, slow, every] = [own.range.0, own.range.1, own.fixed_every].map(rounded);
        format!(
            "{} {fast}..{slow}: {}; fixed at {every}: {}",
            own.profile,
            spent(&own.adaptive.sum),
            spent(&own.fixed.sum)
        )
    };
    compared.iter().map(one).collect()
}

/// The middle of a range is no round number.
fn rounded(span: Span) -> String {
    let minute = Span::minutes(1).0;
    if span.0 < 10 * minute { print_duration(span) } else { print_duration(Span(span.0 / minute * minute)) }
}

pub fn write(out: &mut impl Write, compared: &[Compared]) -> io::Result<()> {
    writeln!(out, "Adaptive frequency, beside the fixed one in the middle of its range\n")?;
    sentences(compared).iter().try_for_each(|line| writeln!(out, "  {line}"))
}
