//! From the steps of a file to batches of pages, on a thread of its own: reading and unpacking go
//! on while pages are loaded.

use anyhow::Result;
use declare::excerpt;
use frontier::ports::Clock;
use harvest::clock::SystemClock;
use index::{Load, Page, PageBuilder, Uri};
use policy::time::Time;
use tokio::sync::mpsc::Sender;

use super::tally::Tally;
use crate::pages::{self, Mark, Problem, Source, Step};

/// A batch ends at whichever comes first.
const BATCH_PAGES_MAX: usize = 1000;
const BATCH_BYTES_MAX: usize = 4 << 20;
/// Steps without a page are passed on too, so that progress is seen.
const BATCH_STEPS_MAX: usize = 10_000;
/// Of one batch; more are counted.
const BATCH_PROBLEMS_MAX: usize = 1000;

/// Pages that are loaded in one transaction, and where the file is gone on with after them.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) items: Vec<Item>,
    pub(super) tally: Tally,
    pub(super) problems: Vec<Problem>,
    pub(super) mark: Mark,
    pub(super) is_last: bool,
    steps: usize,
    bytes: usize,
}

/// A page as it is now; none if it is deleted.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) uri: Uri,
    pub(super) page: Option<Page>,
    pub(super) at: Time,
}

impl Item {
    pub(super) fn load(&self) -> Load<'_> {
        Load { uri: &self.uri, page: self.page.as_ref(), at: self.at }
    }
}

/// Reads a file to its end, or until nobody wants more of it.
pub(super) fn feed(source: &mut dyn Source, batches: &Sender<Result<Batch>>) {
    loop {
        let batch = next(source);
        let is_over = batch.as_ref().map_or(true, |batch| batch.is_last);
        if batches.blocking_send(batch).is_err() || is_over {
            return;
        }
    }
}

fn next(source: &mut dyn Source) -> Result<Batch> {
    let mut batch = Batch::default();
    let now = SystemClock.now();
    while !batch.is_full() {
        let Some(step) = source.next()? else {
            batch.is_last = true;
            break;
        };
        batch.steps += 1;
        match step {
            Step::Put(page) => batch.put(&page, source, now),
            Step::Delete { url, time } => batch.delete(&url, time.unwrap_or(now), source),
            Step::Revisit { .. } => batch.tally.revisits += 1,
            Step::Other => {}
            Step::Broken(problem) => batch.broken(problem),
            Step::Damaged(problem) => {
                batch.tally.damaged += 1;
                batch.tell(problem);
            }
        }
    }
    batch.mark = source.mark();
    Ok(batch)
}

impl Batch {
    pub(super) fn is_full(&self) -> bool {
        self.items.len() >= BATCH_PAGES_MAX || self.bytes >= BATCH_BYTES_MAX || self.steps >= BATCH_STEPS_MAX
    }

    pub(super) fn put(&mut self, page: &pages::Page, source: &dyn Source, now: Time) {
        let Some(uri) = self.uri(&page.url, source) else { return };
        let mut builder = PageBuilder::default();
        for link in &page.links {
            builder.link(&link.url, &link.anchor);
            self.bytes += link.url.len() + link.anchor.len();
        }
        let (links, skipped) = builder.finish();
        self.tally.pages += 1;
        self.tally.links += links.len() as u64;
        self.tally.skipped += skipped;
        self.tally.skipped.over_limit += page.dropped;
        self.tally.unusable += page.unusable;
        self.items.push(Item { uri, page: Some(links), at: page.time.unwrap_or(now) });
    }

    fn delete(&mut self, url: &str, at: Time, source: &dyn Source) {
        let Some(uri) = self.uri(url, source) else { return };
        self.tally.deletes += 1;
        self.items.push(Item { uri, page: None, at });
    }

    /// The page itself must be one the index can know.
    fn uri(&mut self, url: &str, source: &dyn Source) -> Option<Uri> {
        match Uri::of_url(url) {
            Ok(uri) => {
                self.bytes += uri.as_str().len();
                Some(uri)
            }
            Err(skip) => {
                let reason = format!("the URL {} of the page: {skip}", excerpt(url));
                self.broken(Problem { at: source.place(), reason });
                None
            }
        }
    }

    fn broken(&mut self, problem: Problem) {
        self.tally.broken += 1;
        self.tell(problem);
    }

    fn tell(&mut self, problem: Problem) {
        if self.problems.len() < BATCH_PROBLEMS_MAX {
            self.problems.push(problem);
        }
    }
}
