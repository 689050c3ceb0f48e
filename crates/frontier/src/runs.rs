//! Runs (F1, F2): what was started when, and what came of it.
//!
//! Every start gets the next number, and a row that says of what it is (`RUNS`). A URL belongs to
//! the run that brought it last, so how many there are, by state, is a function of their records and
//! counted as such (`RUN_URLS`): out of the old run and into the new one. What was asked is counted
//! with each harvest (`RUN_TRAFFIC`), and stays with the run.

use std::collections::BTreeMap;

use store::{Order, Result, Tx};

use crate::Frontier;
use crate::schema::{COUNTERS, RUN_TRAFFIC, RUN_URLS, RUNS, RunOf, RunRow, RunTraffic, RunUrls};
use crate::start::RUN;

/// Rows of one run that are read together.
const PAGE: usize = 1000;

/// A run and its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSight {
    pub run: u64,
    /// None: it was started before this was kept.
    pub row: Option<RunRow>,
    /// By collection.
    pub counts: BTreeMap<String, RunCounts>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunCounts {
    pub urls: RunUrls,
    pub traffic: RunTraffic,
}

impl RunSight {
    /// Over all collections.
    pub fn all(&self) -> RunCounts {
        let mut sum = RunCounts::default();
        for counts in self.counts.values() {
            sum.urls.merge(&counts.urls);
            sum.traffic.merge(&counts.traffic);
        }
        sum
    }
}

impl Frontier {
    /// Runs below this number, or all, the latest first.
    #[crate::boxed]
    pub async fn runs(&self, below: Option<u64>, limit: usize) -> Result<Vec<RunSight>> {
        let tx = self.store.begin().await?;
        let last = COUNTERS.get(&tx, (RUN,)).await?.unwrap_or(0);
        let below = below.map_or(last + 1, |below| below.min(last + 1));
        let mut runs = Vec::new();
        for run in (1..below).rev().take(limit) {
            runs.push(sight(&tx, run).await?);
        }
        Ok(runs)
    }

    /// None: nothing was ever started under this number.
    #[crate::boxed]
    pub async fn run(&self, run: u64) -> Result<Option<RunSight>> {
        let tx = self.store.begin().await?;
        let last = COUNTERS.get(&tx, (RUN,)).await?.unwrap_or(0);
        if !(1..=last).contains(&run) {
            return Ok(None);
        }
        sight(&tx, run).await.map(Some)
    }

    /// The run before it of the same thing, as far back as so many runs.
    #[crate::boxed]
    pub async fn run_before(&self, run: u64, of: &RunOf, runs_max: usize) -> Result<Option<RunSight>> {
        let tx = self.store.begin().await?;
        let range = RUNS.range_before((), (run,));
        let page = RUNS.scan(&tx, &range, runs_max, Order::Backward).await?;
        let before = page.rows.into_iter().find(|(_, row)| row.of == *of);
        match before {
            Some(((before,), _)) => sight(&tx, before).await.map(Some),
            None => Ok(None),
        }
    }
}

async fn sight(tx: &Tx, run: u64) -> Result<RunSight> {
    let mut counts: BTreeMap<String, RunCounts> = BTreeMap::new();
    let mut rest = Some(RUN_URLS.range((run,)));
    while let Some(range) = rest {
        let page = RUN_URLS.scan(tx, &range, PAGE, Order::Forward).await?;
        for ((_, collection, _), urls) in page.rows {
            counts.entry(collection).or_default().urls.merge(&urls);
        }
        rest = page.rest;
    }
    let mut rest = Some(RUN_TRAFFIC.range((run,)));
    while let Some(range) = rest {
        let page = RUN_TRAFFIC.scan(tx, &range, PAGE, Order::Forward).await?;
        for ((_, collection, _), traffic) in page.rows {
            counts.entry(collection).or_default().traffic.merge(&traffic);
        }
        rest = page.rest;
    }
    // Stripes that others have since taken back come to nothing together.
    counts.retain(|_, counts| *counts != RunCounts::default());
    Ok(RunSight { run, row: RUNS.get(tx, (run,)).await?, counts })
}
