//! What the frontier knows at the end: where every URL is, what is overdue, what no host can bear.

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use frontier::{BudgetRow, Contract, Ending, FeasibilityRow, QueueRow, State};
use policy::catalog::Catalog;
use policy::contract::Owed;
use policy::model::Record;
use policy::standing::Subject;
use policy::time::Time;
use policy::url::CrawlUrl;
use sim::Simulation;

use crate::Grid;
use crate::ledger::Ledger;
use crate::mark::Mark;
use crate::rows::UrlRow;

const PAGE: usize = 5000;

/// A URL at the end.
#[derive(Debug)]
pub struct UrlFact {
    pub collection: String,
    pub url: String,
    /// None: it was removed.
    pub state: Option<State>,
    pub record: Option<Record>,
    /// It is the URL of a seed.
    pub is_seed: bool,
    pub row: UrlRow,
}

impl UrlFact {
    /// S: the seed stored with the URL in the queue.
    pub fn queued_for(&self) -> Option<&str> {
        match self.state {
            Some(State::Queued | State::InFlight) => self.record.as_ref().map(|record| record.seed.as_str()),
            _ => None,
        }
    }
}

/// What is in the queue for a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub queued: u64,
    pub never_harvested: u64,
}

#[derive(Debug)]
pub struct Forecast {
    pub end: Time,
    /// In the order of collection and URL.
    pub urls: Vec<UrlFact>,
    pub waiting: BTreeMap<String, Waiting>,
    /// F31 by profile, as the reports of a harvest have it.
    pub contract: BTreeMap<String, Contract>,
    /// F33, the most loaded first.
    pub feasibility: Vec<FeasibilityRow>,
    /// F36: what is used of every budget, and the runs that ended by one.
    pub budgets: Vec<BudgetRow>,
    pub endings: Vec<Ending>,
}

impl Forecast {
    /// Takes the rows of the URLs out of the ledger.
    pub async fn read(simulation: &Simulation, catalog: &Catalog, ledger: &mut Ledger) -> Result<Forecast> {
        let mut forecast = Forecast {
            end: simulation.now(),
            urls: Vec::with_capacity(ledger.urls.len()),
            waiting: BTreeMap::new(),
            contract: contract(simulation, catalog, ledger.grid.start).await?,
            feasibility: simulation.frontier.feasibility().await?,
            budgets: simulation.frontier.budgets().await?,
            endings: simulation.frontier.budget_endings(ledger.grid.start).await?,
        };
        let mut rest = None;
        loop {
            let (rows, more) = simulation.frontier.urls(None, rest, PAGE).await?;
            for row in rows {
                forecast.take(row, catalog, &ledger.grid, &mut ledger.urls)?;
            }
            rest = more;
            if rest.is_none() {
                break;
            }
        }
        for ((collection, url), mut row) in ledger.urls.drain() {
            row.ended(Mark::Out);
            let is_seed = is_seed(catalog, &collection, &CrawlUrl::from_normal(url.as_str())?);
            forecast.urls.push(UrlFact { collection, url, state: None, record: None, is_seed, row });
        }
        forecast.urls.sort_by(|a, b| (&a.collection, &a.url).cmp(&(&b.collection, &b.url)));
        Ok(forecast)
    }

    pub fn count(&self, wanted: State) -> usize {
        self.urls.iter().filter(|fact| fact.state == Some(wanted)).count()
    }

    fn take(
        &mut self,
        found: QueueRow,
        catalog: &Catalog,
        grid: &Grid,
        rows: &mut HashMap<(String, String), UrlRow>,
    ) -> Result<()> {
        let QueueRow { collection, url, host, state, record } = found;
        let key = (collection, url);
        let mut row = rows.remove(&key).unwrap_or_else(|| UrlRow::new(grid, &host));
        let (collection, url) = key;
        let parsed = CrawlUrl::from_normal(url.as_str())?;
        if let (Some(record), State::Queued | State::InFlight) = (&record, state) {
            self.wait_for(catalog, &collection, &parsed, record);
            if record.due < self.end {
                row.waited(grid, record.due);
            }
        }
        let has_waited = row.harvests > 0 || record.as_ref().is_some_and(|record| record.due < self.end);
        let ended = match state {
            State::Queued | State::InFlight if !has_waited => Mark::Absent,
            State::Queued | State::InFlight => Mark::Waiting,
            State::Done => Mark::Out,
            State::Blacklisted => Mark::Blacklisted,
        };
        row.ended(ended);
        let is_seed = is_seed(catalog, &collection, &parsed);
        self.urls.push(UrlFact { collection, url, state: Some(state), record, is_seed, row });
        Ok(())
    }

    /// Counts the URL for every profile that wants it harvested.
    fn wait_for(&mut self, catalog: &Catalog, collection: &str, url: &CrawlUrl, record: &Record) {
        let Some(entry) = catalog.seed(&record.seed) else { return };
        for given in (Subject { catalog, collection, url }).verdicts(entry, record.position) {
            let profile = given.profile;
            let unfinished = profile.length.is_none_or(|length| record.cycles < length);
            if given.verdict.in_scope && profile.active && entry.seed.active && unfinished {
                let waiting = self.waiting.entry(profile.name.clone()).or_default();
                waiting.queued += 1;
                waiting.never_harvested += u64::from(matches!(record.owed, Owed::First(_)));
            }
        }
    }
}

/// Also of profiles of which nothing fell due.
async fn contract(
    simulation: &Simulation,
    catalog: &Catalog,
    since: Time,
) -> Result<BTreeMap<String, Contract>> {
    let active = catalog.profiles().filter(|profile| profile.active);
    let mut sums: BTreeMap<String, Contract> =
        active.map(|profile| (profile.name.clone(), Contract::default())).collect();
    for row in simulation.frontier.contract_by_hour(since).await? {
        sums.entry(row.profile).or_default().merge(&row.contract);
    }
    Ok(sums)
}

fn is_seed(catalog: &Catalog, collection: &str, url: &CrawlUrl) -> bool {
    let best = catalog.best_match(collection, url).and_then(|key| catalog.seed(key));
    best.is_some_and(|entry| entry.url == *url)
}
