//! Notes in the store: sending them, taking them, and where their queues begin.

use std::sync::atomic::Ordering::Relaxed;

use store::{Bytes, Order, Result, Store, Tx};

use super::board::Board;
use super::{Outbox, Queue};
use crate::codec::Reader;
use crate::schema::{FLOORS, GUARDS, NOTES};

/// Senders that do not get into each other's way, nearly always.
const GUARDS_PER_QUEUE: u32 = 64;
/// Notes read at a time.
const NOTES_PER_SCAN: usize = 64;
/// Notes one batch takes, however light they are.
const NOTES_PER_BATCH_MAX: usize = 2048;
/// Consumed notes after which a floor is raised: as many tombstones a scan may walk over.
const FLOOR_AFTER_NOTES: u64 = 256;
/// A note's number is a count, and below it which handle counted.
const HANDLE_BITS: u32 = 16;

/// Something to be worked in.
#[derive(Debug)]
pub(crate) struct Note {
    key: Bytes,
    pub(crate) weight: usize,
    value: Bytes,
    /// Where the body begins.
    body: usize,
}

impl Note {
    fn read(key: Bytes, value: Bytes) -> Result<Note> {
        let mut reader = Reader::new(NOTES.raw(Some(&value))?, "a note");
        let weight = reader.length()?;
        let body = value.len() - reader.remaining();
        Ok(Note { key, weight, value, body })
    }

    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader::new(&self.value[self.body..], "a note")
    }
}

impl Board {
    /// Puts the notes into the transaction, with numbers above `after`, and gives the highest of
    /// them.
    pub(crate) async fn send(&self, tx: &Tx, outbox: Outbox, after: u64) -> Result<u64> {
        if outbox.shards.is_empty() {
            return Ok(after);
        }
        let queue = outbox.queue.id();
        let floor = FLOORS.get(tx, (self.index, queue)).await?.unwrap_or(0);
        let rounds = outbox.shards.values().map(Vec::len).max().unwrap_or(0) as u64;
        let first = self.draw(rounds, floor.max(after));
        let guard = u32::try_from(first % u64::from(GUARDS_PER_QUEUE)).unwrap_or(0);
        GUARDS.lock_unread(tx, (self.index, queue, guard))?;
        for (shard, drafts) in outbox.shards {
            for (draft, count) in drafts.into_iter().zip(first..) {
                self.sent(outbox.queue, shard, draft.weight);
                let key = NOTES.key((self.index, queue, shard, self.numbered(count)));
                tx.put(key, draft.stored())?;
            }
        }
        Ok(self.numbered(first + rounds - 1))
    }

    /// The first of `rounds` counts that nobody has had, above all of `after`'s.
    fn draw(&self, rounds: u64, after: u64) -> u64 {
        self.clock.fetch_max((after >> HANDLE_BITS) + 1, Relaxed);
        self.clock.fetch_add(rounds, Relaxed)
    }

    fn numbered(&self, count: u64) -> u64 {
        count << HANDLE_BITS | (self.handle & ((1 << HANDLE_BITS) - 1))
    }

    /// Takes notes of a shard, oldest first, up to the weight of a batch. They are gone when the
    /// transaction is committed.
    pub(crate) async fn take(&self, tx: &Tx, queue: Queue, shard: u32) -> Result<Vec<Note>> {
        let floor = FLOORS.get(tx, (self.index, queue.id())).await?.unwrap_or(0);
        let start = self.desk(queue, shard).start.load(Relaxed);
        let mut rest =
            Some(NOTES.range_from((self.index, queue.id(), shard), (self.index, queue.id(), shard, start)));
        let mut notes: Vec<Note> = Vec::new();
        let mut weight = 0;
        while let Some(range) = rest
            && weight < queue.batch_weight(tx.capacity())
            && notes.len() < NOTES_PER_BATCH_MAX
        {
            let page = tx.scan(&range, NOTES_PER_SCAN, Order::Forward).await?;
            if notes.is_empty() {
                let first = page.items.first().map(|(key, _)| number_of(key)).transpose()?;
                // What this snapshot does not have at or below the floor, none will.
                self.desk(queue, shard)
                    .start
                    .fetch_max(first.unwrap_or(u64::MAX).min(floor.saturating_add(1)), Relaxed);
            }
            for (key, value) in page.items {
                let note = Note::read(key, value)?;
                if !notes.is_empty() && weight + note.weight > queue.batch_weight(tx.capacity()) {
                    break;
                }
                weight += note.weight;
                tx.delete(note.key.clone())?;
                notes.push(note);
            }
            rest = page.rest;
        }
        if let Some(last) = notes.last() {
            self.clock.fetch_max((number_of(&last.key)? >> HANDLE_BITS) + 1, Relaxed);
        }
        Ok(notes)
    }

    /// Notes that wait in a shard, as far as counted.
    pub(crate) async fn waiting(&self, tx: &Tx, queue: Queue, shard: u32, limit: usize) -> Result<u64> {
        let start = self.desk(queue, shard).start.load(Relaxed);
        let prefix = (self.index, queue.id(), shard);
        let range = NOTES.range_from(prefix, (self.index, queue.id(), shard, start));
        Ok(tx.scan(&range, limit, Order::Forward).await?.items.len() as u64)
    }

    /// The first note that waits in a shard.
    pub(super) async fn first(&self, tx: &Tx, queue: Queue, shard: u32) -> Result<Option<Note>> {
        let start = self.desk(queue, shard).start.load(Relaxed);
        let prefix = (self.index, queue.id(), shard);
        let range = NOTES.range_from(prefix, (self.index, queue.id(), shard, start));
        let first = tx.scan(&range, 1, Order::Forward).await?.items.pop();
        first.map(|(key, value)| Note::read(key, value)).transpose()
    }

    /// After enough notes are gone, scans need not walk over where they were.
    pub(crate) async fn maybe_raise_floor(&self, store: &Store, queue: Queue, consumed: usize) -> Result<()> {
        let gone = &self.gone[usize::from(queue.id())];
        if gone.fetch_add(consumed as u64, Relaxed) + (consumed as u64) < FLOOR_AFTER_NOTES {
            return Ok(());
        }
        gone.store(0, Relaxed);
        store
            .transact_idempotent(|tx| async move {
                let floor = FLOORS.get(&tx, (self.index, queue.id())).await?.unwrap_or(0);
                let raised = self.clock.load(Relaxed) << HANDLE_BITS;
                if raised > floor {
                    for guard in 0..GUARDS_PER_QUEUE {
                        GUARDS.lock_unread(&tx, (self.index, queue.id(), guard))?;
                    }
                    FLOORS.put(&tx, (self.index, queue.id()), &raised)?;
                }
                Ok(())
            })
            .await
    }
}

fn number_of(key: &[u8]) -> Result<u64> {
    Ok(NOTES.key_from(key)?.3)
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: Queue = Queue::Pages;

    async fn send(board: &Board, tx: &Tx, text: &str, after: u64) -> u64 {
        let mut outbox = Outbox::new(QUEUE);
        outbox.add(0, 1, |bytes| crate::codec::put_text(bytes, text));
        board.send(tx, outbox, after).await.unwrap()
    }

    async fn send_now(store: &Store, board: &Board, text: &str) {
        store.transact(|tx| async move { Ok(send(board, &tx, text, 0).await) }).await.unwrap();
    }

    async fn take(store: &Store, board: &Board) -> Vec<String> {
        let take = store.transact(|tx| async move {
            let notes = board.take(&tx, QUEUE, 0).await?;
            notes.iter().map(|note| Ok(note.reader().text()?.to_owned())).collect()
        });
        take.await.unwrap()
    }

    async fn raise(store: &Store, board: &Board) {
        let enough = usize::try_from(FLOOR_AFTER_NOTES).unwrap();
        board.maybe_raise_floor(store, QUEUE, enough).await.unwrap();
    }

    #[tokio::test]
    async fn a_scan_starts_above_what_is_gone() {
        let (store, board) = (Store::in_memory(0), Board::new(1, 0));
        let start = || board.desk(QUEUE, 0).start.load(Relaxed);
        send_now(&store, &board, "one").await;
        assert_eq!(take(&store, &board).await, ["one"]);
        assert_eq!(start(), 1, "without a floor nothing is known");
        raise(&store, &board).await;
        send_now(&store, &board, "two").await;
        assert_eq!(take(&store, &board).await, ["two"]);
        assert!(start() > 1 << HANDLE_BITS);
        let floor = FLOORS.get(&store.begin().await.unwrap(), (1, QUEUE.id())).await.unwrap();
        assert_eq!(Some(start()), floor.map(|floor| floor + 1));
    }

    #[tokio::test]
    async fn what_waits_below_the_floor_is_still_found() {
        let (store, board) = (Store::in_memory(0), Board::new(1, 0));
        send_now(&store, &board, "before").await;
        raise(&store, &board).await;
        send_now(&store, &board, "after").await;
        assert_eq!(take(&store, &board).await, ["before", "after"]);
    }

    #[tokio::test]
    async fn a_sender_that_did_not_see_the_floor_is_refused() {
        let (store, slow, quick) = (Store::in_memory(0), Board::new(1, 0), Board::new(1, 1));
        let tx = store.begin().await.unwrap();
        send(&slow, &tx, "slow", 0).await;
        send_now(&store, &quick, "quick").await;
        raise(&store, &quick).await;
        assert_eq!(take(&store, &quick).await, ["quick"]);
        assert!(matches!(store.commit(&tx).await, Err(store::Error::Conflict { .. })));
        send_now(&store, &slow, "slow").await;
        assert_eq!(take(&store, &quick).await, ["slow"], "its number is above the floor now");
    }

    #[tokio::test]
    async fn numbers_follow_what_they_come_after() {
        let (store, one, other) = (Store::in_memory(0), Board::new(1, 0), Board::new(1, 1));
        let tx = store.begin().await.unwrap();
        let mut last = 0;
        for round in 0..100 {
            let board = if round % 3 == 0 { &one } else { &other };
            let next = send(board, &tx, "x", last).await;
            assert!(next > last);
            last = next;
        }
    }
}
