//! Pages that are what another record has: their links, from the record that has them.
//!
//! A revisit has no content, and the record it refers to may lie in any of the files, before it or after
//! it. So they are looked up when all files are loaded: once more over the files that have any, to learn
//! which records are wanted, and once over all of them, to read those. Nothing is remembered of this: who
//! is interrupted does it again, and a page that is put twice is put once.
//!
//! Only the latest revisit of a URL counts, since the index has a page as it is now; a page that was loaded
//! later than that stays as it is. Memory is bounded: of so many URLs the revisits are looked up, and no
//! more.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use anyhow::Result;
use frontier::ports::Clock;
use harvest::clock::SystemClock;
use policy::time::Time;
use policy::url::UrlRules;
use tokio::sync::mpsc::Sender;

use super::feed::Batch;
use super::place::LoadFile;
use crate::pages::{self, Mark, Referred, Step};

/// URLs whose revisits are looked up.
const URLS_MAX: usize = 200_000;

/// By the URL of the revisit: the latest.
#[derive(Debug, Default)]
struct Revisits {
    latest: HashMap<String, (Time, Referred)>,
    /// Those that say nothing of it, or for which there is no room.
    lost: u64,
}

impl Revisits {
    fn note(&mut self, url: String, time: Option<Time>, of: Option<Referred>) {
        let Some((time, of)) = time.zip(of) else {
            self.lost += 1;
            return;
        };
        let has_room = self.latest.len() < URLS_MAX;
        match self.latest.get_mut(&url) {
            Some(latest) if latest.0 < time => *latest = (time, of),
            Some(_) => {}
            None if has_room => drop(self.latest.insert(url, (time, of))),
            None => self.lost += 1,
        }
    }
}

/// What is to be looked up, and where.
pub(super) struct Search {
    /// The files that have revisits.
    pub(super) with: Vec<LoadFile>,
    pub(super) all: Vec<LoadFile>,
    pub(super) rules: UrlRules,
}

/// Reads what revisits refer to; gives batches of pages as [`super::feed`] does, the last of which says how
/// many were found nowhere.
pub(super) fn follow(search: &Search, batches: &Sender<Result<Batch>>) {
    let failed = match search.run(batches) {
        Ok(()) => return,
        Err(failed) => failed,
    };
    // Whoever does not wait for it any more does not miss it.
    drop(batches.blocking_send(Err(failed)));
}

impl Search {
    fn run(&self, batches: &Sender<Result<Batch>>) -> Result<()> {
        let mut revisits = Revisits::default();
        for file in self.with.iter().filter(|file| !file.is_stream) {
            let mut source = pages::open(&file.path, Mark::default(), &self.rules, &Arc::default())?;
            // Answers are passed over, revisits are not.
            source.only(Arc::default());
            while let Some(step) = source.next()? {
                if let Step::Revisit { url, time, of } = step {
                    revisits.note(url, time, of);
                }
            }
        }
        let mut by_record: HashMap<Referred, Vec<(String, Time)>> = HashMap::new();
        for (url, (time, of)) in revisits.latest {
            by_record.entry(of).or_default().push((url, time));
        }
        let wanted: Arc<HashSet<Referred>> = Arc::new(by_record.keys().cloned().collect());
        let now = SystemClock.now();
        let mut batch = Batch::default();
        for file in self.all.iter().filter(|file| !file.is_stream) {
            if by_record.is_empty() {
                break;
            }
            let mut source = pages::open(&file.path, Mark::default(), &self.rules, &Arc::default())?;
            source.only(Arc::clone(&wanted));
            while let Some(step) = source.next()? {
                let pages = source.wanted().and_then(|record| by_record.remove(record));
                let (Some(pages), Step::Put(page)) = (pages, step) else { continue };
                let mut page = page;
                for (url, time) in pages {
                    (page.url, page.time) = (url, Some(time));
                    batch.put(&page, &*source, now);
                    if batch.is_full() && batches.blocking_send(Ok(std::mem::take(&mut batch))).is_err() {
                        return Ok(());
                    }
                }
            }
        }
        batch.tally.unfollowed =
            revisits.lost + by_record.values().map(|pages| pages.len() as u64).sum::<u64>();
        batch.is_last = true;
        // As above.
        drop(batches.blocking_send(Ok(batch)));
        Ok(())
    }
}
