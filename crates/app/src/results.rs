//! What came of a seed, a profile or a collection, by its URLs: counted where counters are kept, and
//! otherwise by sample.
//!
//! A sample is the first URLs of the sites of some of its seeds that belong to them, or of the
//! collection. Where that is all there is, it says so.

use std::collections::BTreeSet;

use frontier::{QueueRow, State, ranges};
use policy::catalog::Catalog;
use policy::time::Time;
use store::table::KeyRange;

use super::runs::{RunItem, items_of};
use super::status::CollectionCounts;
use super::{Answer, App, Kind};

const SEEDS_MAX: usize = 10;
/// Of one range.
const ROWS_MAX: usize = 500;
const EXAMPLES_MAX: usize = 5;
const RUNS_MAX: usize = 5;

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// URLs that were looked at, and whether those are all of its own sites.
    pub looked_at: usize,
    pub is_whole: bool,
    pub queued: usize,
    pub in_flight: usize,
    pub blacklisted: usize,
    pub never_harvested: usize,
    pub last: Option<String>,
    /// When the next of them is due.
    pub next: Option<String>,
    /// URLs whose last harvests failed, and some of them with what was wrong.
    pub failing: usize,
    pub examples: Vec<(String, String)>,
    /// The runs that they belong to now, the latest first.
    pub runs: Vec<RunItem>,
    /// All of a collection, from counters.
    pub counts: Option<CollectionCounts>,
}

/// What came of this.
#[crate::boxed]
pub async fn results(app: &App, kind: Kind, name: &str) -> Answer<Results> {
    let (ranges, seeds) = app.look(|catalog| places(catalog, kind, name)).await?;
    let mut results = Results { is_whole: true, ..Results::default() };
    let mut runs = BTreeSet::new();
    let (mut last, mut next): (Option<Time>, Option<Time>) = (None, None);
    for range in ranges {
        let (rows, rest) = app.frontier.urls(None, Some(range), ROWS_MAX).await?;
        results.is_whole &= rest.is_none();
        for row in &rows {
            let is_own = |row: &QueueRow| match (&seeds, &row.record) {
                (None, _) => true,
                (Some(seeds), Some(record)) => seeds.contains(&record.seed),
                (Some(_), None) => false,
            };
            if !is_own(row) {
                continue;
            }
            results.looked_at += 1;
            results.count(row);
            let Some(record) = &row.record else { continue };
            runs.insert(record.run);
            last = last.max(record.last.map(|last| last.at));
            if row.state == State::Queued {
                next = Some(next.map_or(record.due, |next| next.min(record.due)));
            }
        }
    }
    let text = |time: Option<Time>| time.map(|time| time.to_string());
    (results.last, results.next) = (text(last), text(next));
    results.runs = items_of(app, runs.into_iter().rev().take(RUNS_MAX)).await?;
    if kind == Kind::Collection {
        results.counts = app.frontier.url_counts().await?.remove(name).map(CollectionCounts::from);
    }
    Ok(results)
}

impl Results {
    fn count(&mut self, row: &QueueRow) {
        match row.state {
            State::Queued => self.queued += 1,
            State::InFlight => self.in_flight += 1,
            State::Blacklisted => self.blacklisted += 1,
            State::Done => {}
        }
        let Some(record) = &row.record else { return };
        self.never_harvested += usize::from(record.last.is_none());
        if record.errors > 0 || record.not_found > 0 {
            self.failing += 1;
            if self.examples.len() < EXAMPLES_MAX {
                let told = match (&record.problem, record.not_found) {
                    (Some(problem), _) => problem.clone(),
                    (None, 1..) => format!("not found {}", times(record.not_found)),
                    (None, 0) => format!("failed {}", times(record.errors)),
                };
                self.examples.push((row.url.clone(), told));
            }
        }
    }
}

fn times(number: u32) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times in a row") }
}

/// Where its URLs are, and of which seeds they must be; none: of any.
fn places(catalog: &Catalog, kind: Kind, name: &str) -> (Vec<KeyRange>, Option<BTreeSet<String>>) {
    let seeds: Vec<&str> = match kind {
        Kind::Collection => return (vec![ranges::urls(Some(name))], None),
        Kind::Group | Kind::Host => return (Vec::new(), None),
        Kind::Seed => vec![name],
        Kind::Profile => {
            let mut names: Vec<&str> =
                catalog.seeds_of_profile(name).map(|entry| entry.seed.name.as_str()).collect();
            names.sort_unstable();
            let step = names.len().div_ceil(SEEDS_MAX).max(1);
            names.into_iter().step_by(step).collect()
        }
    };
    let only = catalog.profile(name).filter(|_| kind == Kind::Profile).map(|own| own.collection.as_str());
    let mut sites = BTreeSet::new();
    for entry in seeds.iter().filter_map(|seed| catalog.seed(seed)) {
        for collection in catalog.collections_of(&entry.seed.name) {
            if only.is_none_or(|only| only == collection) {
                sites.insert((collection, entry.url.site()));
            }
        }
    }
    let ranges = sites.into_iter().flat_map(|(collection, site)| ranges::urls_of_site(collection, site));
    (ranges.collect(), Some(seeds.into_iter().map(str::to_owned).collect()))
}
