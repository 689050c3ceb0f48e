//! Starting (F1–F4): a seed, all seeds of a profile, or all profiles of a collection, as a new run.

use std::collections::BTreeSet;

use policy::catalog::Catalog;
use store::Result;

use crate::Frontier;
use crate::desk::Arrivals;
use crate::schema::COUNTERS;

const RUN: &str = "run";
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Started {
    pub run: u64,
    /// Seeds and collections looked at; a seed counts once per collection (F3).
    pub seeds: usize,
    /// Those that were added or changed something; the others are queued already, or blacklisted.
    pub changed: usize,
}

impl Frontier {
    pub async fn start(&self, target: &Target) -> Result<Started> {
        let pairs = self.with_catalog(|catalog| pairs(catalog, target)).await?;
        if pairs.is_empty() {
            return Ok(Started::default());
        }
        let pairs: Vec<(String, String)> = pairs.into_iter().collect();
        let run = self
            .store
            .transact_idempotent(|tx| async move {
                let run = COUNTERS.lock(&tx, (RUN,)).await?.unwrap_or(0) + 1;
                COUNTERS.put(&tx, (RUN,), &run)?;
                Ok(run)
            })
            .await?;
        let mut changed = 0;
        for batch in pairs.chunks(BATCH) {
            let stripe = self.draw();
            let writer = &self.cursor.writer();
            let start = self.store.transact_idempotent(|tx| async move {
                let desk = self.desk(&tx, writer, stripe).await?;
                let mut arrivals = Arrivals::new();
                let mut changed = 0;
                for (seed, collection) in batch {
                    changed += usize::from(desk.start_seed(seed, collection, run, &mut arrivals).await?);
                }
                desk.arrive_all(&arrivals).await?;
                Ok(changed)
            });
            changed += start.await?;
        }
        Ok(Started { run, seeds: pairs.len(), changed })
    }
}

/// Each seed with each collection it is started in.
fn pairs(catalog: &Catalog, target: &Target) -> BTreeSet<(String, String)> {
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
