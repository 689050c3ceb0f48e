//! What a transaction reads ahead: many rows in one round trip, instead of one after the other.
//!
//! Where a store is far away, round trips are what costs (M11). Whoever knows what it will read says
//! so first; then the reads find it here. What is kept is of the transaction's own snapshot, and so
//! it is never out of date; where a store is near, nothing is read ahead at all.

use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::ops::Bound;
use std::pin::Pin;
use std::task::Poll;

use crate::engine::Found;
use crate::table::KeyRange;
use crate::txn::Bytes;

#[derive(Default)]
pub(crate) struct Ahead {
    rows: HashMap<Bytes, Option<Bytes>>,
    /// By where they begin.
    pages: BTreeMap<Vec<u8>, Page>,
}

struct Page {
    to: Vec<u8>,
    found: Found,
}

impl Ahead {
    #[allow(clippy::option_option, reason = "not read, read and not there, read and there")]
    pub(crate) fn row(&self, key: &[u8]) -> Option<Option<Bytes>> {
        self.rows.get(key).cloned()
    }

    pub(crate) fn put_row(&mut self, key: Bytes, value: Option<Bytes>) {
        self.rows.insert(key, value);
    }

    pub(crate) fn put_page(&mut self, range: KeyRange, found: Found) {
        self.pages.insert(range.from, Page { to: range.to, found });
    }

    /// The first rows of a range, forward, if they were read.
    pub(crate) fn page(&self, range: &KeyRange, limit: usize) -> Option<Found> {
        let up_to = (Bound::Unbounded, Bound::Included(range.from.as_slice()));
        let (_, page) = self.pages.range::<[u8], _>(up_to).next_back()?;
        if page.to != range.to {
            return None;
        }
        let items = &page.found.items;
        let first = items.partition_point(|(key, _)| **key < *range.from.as_slice());
        let left = &items[first..];
        if left.is_empty() && !page.found.complete {
            return None;
        }
        let taken = left.len().min(limit);
        Some(Found { items: left[..taken].to_vec(), complete: page.found.complete && taken == left.len() })
    }
}

/// All of them at once, and their results in their order.
pub(crate) async fn all<T>(mut futures: Vec<Pin<Box<dyn Future<Output = T> + Send + '_>>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut waits = false;
        for (future, done) in futures.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            match future.as_mut().poll(context) {
                Poll::Ready(value) => *done = Some(value),
                Poll::Pending => waits = true,
            }
        }
        if waits { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    done.into_iter().flatten().collect()
}
