//! Queues for contended keys, so that everybody who wants to write one gets a turn.
//!
//! Who lost a key to another writer queues for it, first come first served, and keeps the first
//! place until its transaction is through. While somebody queues for a key, newcomers that want to
//! commit it queue as well: without that, whoever just won would be back with a fresh snapshot
//! before the loser has run again, and win for ever. A transaction holds one place at a time, so
//! nobody waits in a circle.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tokio::sync::OwnedMutexGuard;

type Queue = Arc<tokio::sync::Mutex<()>>;

#[derive(Default)]
pub(crate) struct Turns {
    /// By key hash; only keys that somebody queues for.
    queues: parking_lot::Mutex<HashMap<u64, Queue>>,
    /// How many those are, to know without a lock that there is none, which is nearly always so.
    contended: AtomicUsize,
}

/// The first place in the queue of a key.
pub(crate) struct Turn {
    turns: Arc<Turns>,
    key_hash: u64,
    place: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    /// One of these keys that somebody queues for.
    pub(crate) fn contended(&self, hashes: &[u64]) -> Option<u64> {
        if self.contended.load(Relaxed) == 0 {
            return None;
        }
        let queues = self.queues.lock();
        hashes.iter().copied().find(|hash| queues.contains_key(hash))
    }

    /// Waits for the first place in the key's queue; who holds it already keeps it, any other is
    /// given up.
    pub(crate) async fn take(self: &Arc<Self>, key_hash: u64, held: Option<Turn>) -> Turn {
        match held {
            Some(turn) if turn.key_hash == key_hash => return turn,
            other => drop(other),
        }
        let queue = {
            let mut queues = self.queues.lock();
            let queue = Arc::clone(queues.entry(key_hash).or_default());
            self.contended.store(queues.len(), Relaxed);
            queue
        };
        // Made before waiting, so that the queue is cleared away even if the waiting is given up.
        let mut turn = Turn { turns: Arc::clone(self), key_hash, place: None };
        turn.place = Some(queue.lock_owned().await);
        turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut queues = self.turns.queues.lock();
        drop(self.place.take());
        // Waiting needs a handle of the queue, and new ones are made under this lock only.
        if queues.get(&self.key_hash).is_some_and(|queue| Arc::strong_count(queue) == 1) {
            queues.remove(&self.key_hash);
        }
        self.turns.contended.store(queues.len(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn queues_exist_only_while_somebody_stands_in_them() {
        let turns = Arc::new(Turns::default());
        assert_eq!(turns.contended(&[1, 2]), None);
        let first = turns.take(2, None).await;
        assert_eq!(turns.contended(&[1, 2]), Some(2));
        let mut second = Box::pin(turns.take(2, None));
        assert!(futures_poll(&mut second).await.is_none(), "one at a time");
        let first = turns.take(2, Some(first)).await;
        assert!(futures_poll(&mut second).await.is_none(), "the first place is kept");
        drop(first);
        let second = second.await;
        drop(second);
        assert_eq!(turns.contended(&[1, 2]), None);
    }

    #[tokio::test]
    async fn who_gives_up_waiting_leaves_no_queue_behind() {
        let turns = Arc::new(Turns::default());
        let first = turns.take(2, None).await;
        let mut waiting = Box::pin(turns.take(2, None));
        assert!(futures_poll(&mut waiting).await.is_none());
        drop(first);
        drop(waiting);
        assert_eq!(turns.contended(&[2]), None);
    }

    async fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        std::future::poll_fn(|cx| match std::pin::Pin::new(&mut *future).poll(cx) {
            std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
            std::task::Poll::Pending => std::task::Poll::Ready(None),
        })
        .await
    }
}
