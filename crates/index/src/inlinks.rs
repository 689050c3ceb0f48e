//! InlinksObserver (X5, X6): keeps inlink cells and counts.
//!
//! A batch is all updates of a shard that wait, up to a bound, sorted by target and source. Of
//! several updates of one link the last one counts. What it changes is worked out from whether the
//! cell is there. Nobody looks for it where it cannot be: where nobody linked to the target so far,
//! and where the source never said anything before. However many updates a target has, its count is
//! written once. Its ranks are moved by an [observer](crate::ranks) of their own, which a note tells
//! when they first fall behind.
//!
//! An inlink cell holds when the link was first seen and its anchor text. When it was last seen is
//! when its page was: that stands with the page, so that an unchanged page needs no look at its
//! links (X15).

use policy::time::Time;
use store::{Bytes, Result, Tx};

use crate::codec::{Reader, put_signed};
use crate::handle::Index;
use crate::observe::{Note, Outbox, Queue};
use crate::pages::{FIRST, GONE, LOADED, SET, SOURCE, UNLOADED};
use crate::schema::{COUNTS, Count, Counted, INLINKS, TOTALS, Tally};

/// One update. A page's own coming and going has no source, and so sorts before the links to it.
#[derive(Clone, Copy, Debug)]
struct Update<'a> {
    target: &'a str,
    source: &'a str,
    at: Time,
    what: What<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What<'a> {
    Set(&'a str),
    /// As `Set`, by a page that never sent anything before.
    First(&'a str),
    Gone,
    Loaded(bool),
}

/// What an inlink cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell<'a> {
    pub(crate) first_seen: Time,
    pub(crate) anchor: &'a str,
}

impl<'a> Cell<'a> {
    pub(crate) fn read(stored: &'a Bytes) -> Result<Cell<'a>> {
        let mut reader = Reader::new(INLINKS.raw(Some(stored))?, "an inlink");
        Ok(Cell { first_seen: Time(reader.signed()?), anchor: reader.tail()? })
    }

    pub(crate) fn stored(&self) -> Vec<u8> {
        let mut bytes = INLINKS.begin_raw(self.anchor.len() + 10);
        put_signed(&mut bytes, self.first_seen.0);
        bytes.extend_from_slice(self.anchor.as_bytes());
        bytes
    }
}

impl Index {
    pub(crate) async fn observe_links(&self, tx: &Tx, shard: u32, notes: &[Note]) -> Result<usize> {
        let mut updates = Vec::new();
        for note in notes {
            read_updates(note.reader(), &mut updates)?;
        }
        // Stable: updates of one link stay in the order of their pages.
        updates.sort_by(|a, b| (a.target, a.source).cmp(&(b.target, b.source)));
        let targets: Vec<&[Update<'_>]> = updates.chunk_by(|a, b| a.target == b.target).collect();
        let keys = targets.iter().map(|updates| (self.number(), updates[0].target));
        let counts: Vec<Counted> =
            COUNTS.multi_get(tx, keys).await?.into_iter().map(Option::unwrap_or_default).collect();
        let mut cells = self.cells(tx, &targets, &counts).await?.into_iter();
        let mut tally = Tally::default();
        let mut behind = Outbox::new(Queue::Ranks);
        for (updates, known) in targets.iter().zip(counts) {
            let (target, before) = (updates[0].target, known.now);
            let after = self.apply(tx, updates, before, &mut cells)?;
            if before == after {
                continue;
            }
            tally += difference(before, after);
            if known.ranked.is_none() {
                crate::ranks::push_note(&mut behind, shard, target);
            }
            let ranked = Some(known.ranked.unwrap_or(before));
            COUNTS.put(tx, (self.number(), target), &Counted { now: after, ranked })?;
        }
        self.settle_totals(tx, shard, tally).await?;
        self.board().send(tx, behind, 0).await?;
        Ok(updates.len())
    }

    /// The cells of all links of targets that have inlinks, in the order of the updates.
    async fn cells(
        &self,
        tx: &Tx,
        targets: &[&[Update<'_>]],
        counts: &[Counted],
    ) -> Result<Vec<Option<Bytes>>> {
        let linked = targets.iter().zip(counts).filter(|(_, count)| count.now.incount > 0);
        let links = linked.flat_map(|(updates, _)| links_of(updates).filter(|link| may_be_there(link)));
        let keys: Vec<Vec<u8>> =
            links.map(|link| INLINKS.key((self.number(), link[0].target, link[0].source))).collect();
        tx.multi_get(&keys).await
    }

    /// Applies all updates of one target; its count comes out.
    fn apply(
        &self,
        tx: &Tx,
        updates: &[Update<'_>],
        before: Count,
        cells: &mut impl Iterator<Item = Option<Bytes>>,
    ) -> Result<Count> {
        let mut count = before;
        for link in updates.chunk_by(|a, b| a.source == b.source) {
            let last = link[link.len() - 1];
            let key = || INLINKS.key((self.number(), last.target, last.source));
            let cell = match last.what {
                What::Loaded(loaded) => {
                    count.loaded = loaded;
                    continue;
                }
                _ if before.incount > 0 && may_be_there(link) => cells.next().flatten(),
                _ => None,
            };
            match (last.what, cell) {
                (What::Set(anchor) | What::First(anchor), None) => {
                    count.incount += 1;
                    tx.put(key(), Cell { first_seen: first_seen(link), anchor }.stored())?;
                }
                (What::Set(anchor) | What::First(anchor), Some(bytes)) => {
                    let cell = Cell::read(&bytes)?;
                    if cell.anchor != anchor {
                        tx.put(key(), Cell { anchor, ..cell }.stored())?;
                    }
                }
                (What::Gone | What::Loaded(_), Some(_)) => {
                    count.incount = count.incount.saturating_sub(1);
                    tx.delete(key())?;
                }
                (What::Gone | What::Loaded(_), None) => {}
            }
        }
        Ok(count)
    }

    async fn settle_totals(&self, tx: &Tx, shard: u32, change: Tally) -> Result<()> {
        if change == Tally::default() {
            return Ok(());
        }
        let key = (self.number(), Queue::Links.id(), shard);
        let mut tally = TOTALS.get(tx, key).await?.unwrap_or_default();
        tally += change;
        TOTALS.put(tx, key, &tally)
    }
}

/// What a count that changes does to the totals of its shard.
fn difference(before: Count, after: Count) -> Tally {
    let known = |count: Count| i64::from(count != Count::default());
    Tally {
        uris: known(after) - known(before),
        loaded: i64::from(after.loaded) - i64::from(before.loaded),
        links: after.incount.cast_signed() - before.incount.cast_signed(),
        domains: 0,
    }
}

/// The updates of one target without its own coming and going, by source.
fn links_of<'u, 'a>(updates: &'u [Update<'a>]) -> impl Iterator<Item = &'u [Update<'a>]> {
    updates.chunk_by(|a, b| a.source == b.source).filter(|link| !link[0].source.is_empty())
}

/// Whether the link can have a cell from before this batch.
fn may_be_there(link: &[Update<'_>]) -> bool {
    !matches!(link[0].what, What::First(_))
}

/// A link that comes, and perhaps changes its text, in one batch was first seen when it came.
fn first_seen(link: &[Update<'_>]) -> Time {
    let since = link.iter().rposition(|update| update.what == What::Gone).map_or(0, |gone| gone + 1);
    link[since..].iter().map(|update| update.at).min().unwrap_or_default()
}

/// When the first page of a note was seen.
pub(crate) fn first_time(note: &Note) -> Result<Time> {
    let mut reader = note.reader();
    let (_source, _page) = (reader.byte()?, reader.text()?);
    Ok(Time(reader.signed()?))
}

fn read_updates<'a>(mut reader: Reader<'a>, updates: &mut Vec<Update<'a>>) -> Result<()> {
    let (mut page, mut at) = ("", Time(0));
    while !reader.is_empty() {
        let (target, source, what) = match reader.byte()? {
            SOURCE => {
                page = reader.text()?;
                at = Time(reader.signed()?);
                continue;
            }
            SET => (reader.text()?, page, What::Set(reader.text()?)),
            FIRST => (reader.text()?, page, What::First(reader.text()?)),
            GONE => (reader.text()?, page, What::Gone),
            LOADED => (page, "", What::Loaded(true)),
            UNLOADED => (page, "", What::Loaded(false)),
            _ => return Err(reader.corrupt()),
        };
        updates.push(Update { target, source, at, what });
    }
    Ok(())
}
