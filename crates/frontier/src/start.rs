//! Starting (F1–F4): a seed, all seeds of a profile, or all profiles of a collection, as a new run.

use std::collections::BTreeSet;

use policy::catalog::Catalog;
use store::Result;

use crate::Frontier;
use crate::schema::{COUNTERS, RUNS, RunOf, RunRow, URLS};
use crate::transaction::{Arrivals, Transaction};

pub(crate) const RUN: &str = "run";
/// The run of a start of new seeds that is under way.
const STARTING: &str = "starting";
/// Seeds started in one transaction.
const BATCH: usize = 100;

/// What to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// In the context of all its profiles, or of those named.
    Seed {
        name: String,
        profiles: Option<Vec<String>>,
    },
    Profile(String),
    Collection(String),
}

impl Target {
    fn run_of(&self) -> RunOf {
        match self {
            Target::Seed { name, profiles } => {
                RunOf::Seed { name: name.clone(), profiles: profiles.clone().unwrap_or_default() }
            }
            Target::Profile(name) => RunOf::Profile(name.clone()),
            Target::Collection(name) => RunOf::Collection(name.clone()),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Started {
    pub run: u64,
    /// Seeds and collections looked at; a seed counts once per collection (F3).
    pub seeds: usize,
    /// Those that were added or changed something; the others are queued already, or blacklisted.
    pub changed: usize,
}

impl Frontier {
    #[crate::boxed]
    pub async fn start(&self, target: &Target) -> Result<Started> {
        let pairs = self.with_catalog(|catalog| pairs(catalog, target)).await?;
        self.start_pairs(pairs.into_iter().collect(), Which::All, target.run_of()).await
    }

    /// Starts every seed that was never started in a collection it belongs to; the others go on as
    /// they are.
    #[crate::boxed]
    pub async fn start_new(&self) -> Result<Started> {
        let all = self
            .with_catalog(|catalog| -> BTreeSet<(String, String, String)> {
                let targets = catalog.collections().map(|c| Target::Collection(c.name.clone()));
                let found: BTreeSet<_> = targets.flat_map(|target| pairs(catalog, &target)).collect();
                let with_url = found.into_iter().filter_map(|(seed, collection)| {
                    let url = catalog.seed(&seed)?.url.as_str().to_owned();
                    Some((seed, collection, url))
                });
                with_url.collect()
            })
            .await?;
        let tx = self.store.begin().await?;
        let mut new = Vec::new();
        for (seed, collection, url) in all {
            if URLS.get(&tx, (&collection, &url)).await?.is_none() {
                new.push((seed, collection));
            }
        }
        self.start_pairs(new, Which::New, RunOf::New).await
    }

    async fn start_pairs(&self, pairs: Vec<(String, String)>, which: Which, of: RunOf) -> Result<Started> {
        if pairs.is_empty() {
            // Who was killed before it could say that all are started leaves that to the next.
            if which == Which::New {
                self.end_start(None).await?;
            }
            return Ok(Started::default());
        }
        let row = RunRow { started: self.now(), of, seeds: pairs.len() as u64 };
        let run = self.begin_start(which, &row).await?;
        // F36: walks may have more from the budgets of a new run.
        self.walks.release();
        let mut changed = 0;
        for batch in pairs.chunks(BATCH) {
            let stripe = self.draw();
            let writer = &self.writer();
            let start = self.store.transact_idempotent(|tx| async move {
                let transaction = self.transaction(&tx, writer, stripe).await?;
                let mut arrivals = Arrivals::new();
                let mut changed = 0;
                for (seed, collection) in batch {
                    // Looked at again: another node may have started it since.
                    if which == Which::New && transaction.is_started(seed, collection).await? {
                        continue;
                    }
                    changed +=
                        usize::from(transaction.start_seed(seed, collection, run, &mut arrivals).await?);
                }
                transaction.arrive_all(&arrivals).await?;
                transaction.close().await?;
                Ok(changed)
            });
            changed += start.await?;
        }
        if which == Which::New {
            self.end_start(Some(run)).await?;
        }
        Ok(Started { run, seeds: pairs.len(), changed })
    }

    /// The run of what is started now. Seeds that are new are one run, however many begin to start them:
    /// nodes that come up together, or one that was killed on the way and its successor. In a run of its
    /// own, a page would have what it links to harvested anew (F2).
    async fn begin_start(&self, which: Which, row: &RunRow) -> Result<u64> {
        let begin = self.store.transact_idempotent(|tx| async move {
            if which == Which::New
                && let Some(run) = COUNTERS.lock(&tx, (STARTING,)).await?
            {
                return Ok(run);
            }
            let run = COUNTERS.lock(&tx, (RUN,)).await?.unwrap_or(0) + 1;
            COUNTERS.put(&tx, (RUN,), &run)?;
            RUNS.put(&tx, (run,), row)?;
            if which == Which::New {
                COUNTERS.put(&tx, (STARTING,), &run)?;
            }
            Ok(run)
        });
        begin.await
    }

    /// All of them are started, in this run or whichever it was: what is new from now on is another
    /// run.
    async fn end_start(&self, run: Option<u64>) -> Result<()> {
        let end = self.store.transact_idempotent(|tx| async move {
            match COUNTERS.get(&tx, (STARTING,)).await? {
                Some(under_way) if run.is_none_or(|run| run == under_way) => {
                    COUNTERS.delete(&tx, (STARTING,))
                }
                _ => Ok(()),
            }
        });
        end.await
    }
}

/// What of the seeds that were found is started.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    /// Those that nobody has started yet.
    New,
}

impl Transaction<'_> {
    /// Whether the seed's URL is known in the collection.
    async fn is_started(&self, seed: &str, collection: &str) -> Result<bool> {
        let url = self.catalog().seed(seed).map(|entry| entry.url.as_str().to_owned());
        match url {
            Some(url) => Ok(URLS.get(self.tx, (collection, &url)).await?.is_some()),
            None => Ok(false),
        }
    }
}

/// Each seed with each collection it is started in.
pub(crate) fn pairs(catalog: &Catalog, target: &Target) -> BTreeSet<(String, String)> {
    let with = |seeds: Vec<&str>, collection: &str| -> Vec<(String, String)> {
        seeds.into_iter().map(|seed| (seed.to_owned(), collection.to_owned())).collect()
    };
    let of_profile = |name: &str| -> Vec<(String, String)> {
        let Some(profile) = catalog.profile(name) else { return Vec::new() };
        let seeds = catalog.seeds_of_profile(name).map(|entry| entry.seed.name.as_str()).collect();
        with(seeds, &profile.collection)
    };
    match target {
        Target::Seed { name, profiles: None } => catalog
            .collections_of(name)
            .into_iter()
            .flat_map(|collection| with(vec![name], collection))
            .collect(),
        Target::Seed { name, profiles: Some(profiles) } => {
            let Some(entry) = catalog.seed(name) else { return BTreeSet::new() };
            let own = profiles.iter().filter(|profile| entry.seed.profiles.contains(profile));
            let found = own.filter_map(|profile| catalog.profile(profile));
            found.flat_map(|profile| with(vec![name], &profile.collection)).collect()
        }
        Target::Profile(name) => of_profile(name).into_iter().collect(),
        Target::Collection(name) => {
            catalog.profiles_of_collection(name).flat_map(|profile| of_profile(&profile.name)).collect()
        }
    }
}
