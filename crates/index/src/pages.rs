//! PageObserver (X3, X4): from what a page was and is to what its targets must be told.
//!
//! A batch is many pages. Their updates are bundled by the shard of the target: one note a shard,
//! whatever the number of links, so that a page everybody links to is no row everybody writes
//! (X10). An entry of such a note is
//!
//! | first byte | then | says |
//! |---|---|---|
//! | `SOURCE` | uri, time | whose links follow, and since when they are as they are |
//! | `SET` | target, anchor text | the source links to it with this text |
//! | `FIRST` | target, anchor text | the same, and the source never said anything before: nobody need look for the link |
//! | `GONE` | target | the source no longer links to it |
//! | `LOADED`, `UNLOADED` | – | the source itself is a page, or no longer (X6) |

use std::collections::BTreeSet;

use policy::time::Time;
use store::{Bytes, Error, Result, Tx};

use crate::codec::{put_signed, put_text};
use crate::handle::Index;
use crate::load::read_note;
use crate::observe::{Note, Outbox, Queue, SHARDS, shard_of};
use crate::page::read_links;
use crate::schema::{Content, HEADS, Head, LINKS, Waiting};

pub(crate) const SOURCE: u8 = 0;
pub(crate) const SET: u8 = 1;
pub(crate) const GONE: u8 = 2;
pub(crate) const LOADED: u8 = 3;
pub(crate) const UNLOADED: u8 = 4;
pub(crate) const FIRST: u8 = 5;

/// A page that changes, with the links it had and is to have.
struct Turn<'a> {
    uri: &'a str,
    head: Head,
    new: Waiting,
    had: Option<Bytes>,
    has: Option<Bytes>,
}

impl Index {
    pub(crate) async fn observe_pages(&self, tx: &Tx, notes: &[Note]) -> Result<usize> {
        let mut uris = BTreeSet::new();
        for note in notes {
            let mut reader = note.reader();
            while !reader.is_empty() {
                uris.insert(read_note(&mut reader)?.1);
            }
        }
        let turns = self.turns(tx, uris).await?;
        let mut outbox = Updates::new();
        for turn in &turns {
            turn.send(&mut outbox)?;
        }
        let before = turns.iter().map(|turn| turn.head.sent).max().unwrap_or(0);
        let sent = self.board().send(tx, outbox.outbox, before).await?;
        for turn in &turns {
            self.settle(tx, turn, sent)?;
        }
        Ok(turns.len())
    }

    /// Reads what is known of the pages; those where nothing waits any more are left out.
    async fn turns<'a>(&self, tx: &Tx, uris: BTreeSet<&'a str>) -> Result<Vec<Turn<'a>>> {
        let heads = HEADS.multi_get(tx, uris.iter().map(|uri| (self.number(), *uri))).await?;
        let mut turns = Vec::with_capacity(uris.len());
        let mut keys = Vec::with_capacity(2 * uris.len());
        for (uri, head) in uris.into_iter().zip(heads) {
            let Some(head) = head else { continue };
            let Some(new) = head.new else { continue };
            keys.extend(head.cur.map(|_| LINKS.key((self.number(), uri, head.slot))));
            keys.extend(new.content().map(|_| LINKS.key((self.number(), uri, 1 - head.slot))));
            turns.push(Turn { uri, head, new, had: None, has: None });
        }
        let mut found = tx.multi_get(&keys).await?.into_iter();
        let mut next =
            || found.next().flatten().ok_or_else(|| Error::Corrupt("links of a page are missing".into()));
        for turn in &mut turns {
            turn.had = turn.head.cur.map(|_| next()).transpose()?;
            turn.has = turn.new.content().map(|_| next()).transpose()?;
        }
        Ok(turns)
    }

    /// `page:cur` := `page:new`. A page that is gone leaves the number of its last note behind:
    /// should it come back, its next note has to come after that one.
    fn settle(&self, tx: &Tx, turn: &Turn<'_>, sent: u64) -> Result<()> {
        let key = (self.number(), turn.uri);
        if turn.head.cur.is_some() {
            LINKS.delete(tx, (self.number(), turn.uri, turn.head.slot))?;
        }
        let cur = turn.new.content().copied();
        if cur.is_none() && turn.head.cur.is_none() && turn.head.sent == 0 {
            return HEADS.delete(tx, key);
        }
        HEADS.put(tx, key, &Head { cur, slot: 1 - turn.head.slot, new: None, sent, ..turn.head.clone() })
    }
}

impl Waiting {
    fn content(&self) -> Option<&Content> {
        match self {
            Waiting::Page(content) => Some(content),
            Waiting::Nothing => None,
        }
    }
}

impl Turn<'_> {
    /// Both lists are sorted by target, so one walk finds what came, went and changed.
    fn send(&self, updates: &mut Updates) -> Result<()> {
        let since = self.new.content().map_or(self.head.last_seen, |content| content.since);
        updates.source(self.uri, since, if self.head.sent == 0 { FIRST } else { SET });
        match (&self.head.cur, self.new.content()) {
            (None, Some(_)) => updates.loaded(LOADED),
            (Some(_), None) => updates.loaded(UNLOADED),
            _ => {}
        }
        let had = read_links(LINKS.raw(self.had.as_ref())?)?;
        let has = read_links(LINKS.raw(self.has.as_ref())?)?;
        let mut had = had.iter().peekable();
        for (target, anchor) in &has {
            while let Some((gone, _)) = had.next_if(|(old, _)| old < target) {
                updates.gone(gone);
            }
            match had.next_if(|(old, _)| old == target) {
                Some((_, same)) if same == anchor => {}
                _ => updates.set(target, anchor),
            }
        }
        had.for_each(|(gone, _)| updates.gone(gone));
        Ok(())
    }
}

/// The updates of a batch, bundled by shard.
struct Updates {
    outbox: Outbox,
    source: String,
    since: Time,
    /// How its links are written.
    set: u8,
    /// Which page of the batch the source is, and which one each shard's note last named.
    turn: usize,
    named: Vec<usize>,
}

impl Updates {
    fn new() -> Updates {
        let named = vec![0; SHARDS as usize];
        let outbox = Outbox::new(Queue::Links);
        Updates { outbox, source: String::new(), since: Time(0), set: SET, turn: 0, named }
    }

    fn source(&mut self, uri: &str, since: Time, set: u8) {
        uri.clone_into(&mut self.source);
        self.since = since;
        self.set = set;
        self.turn += 1;
    }

    fn loaded(&mut self, kind: u8) {
        let target = std::mem::take(&mut self.source);
        self.source.clone_from(&target);
        self.push(&target, 0, |bytes| bytes.push(kind));
    }

    fn set(&mut self, target: &str, anchor: &str) {
        let set = self.set;
        self.push(target, anchor.len(), |bytes| {
            bytes.push(set);
            put_text(bytes, target);
            put_text(bytes, anchor);
        });
    }

    fn gone(&mut self, target: &str) {
        self.push(target, 0, |bytes| {
            bytes.push(GONE);
            put_text(bytes, target);
        });
    }

    /// Weighs what applying it writes: the inlink, the count and a note for the ranks.
    fn push(&mut self, target: &str, more: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let shard = shard_of(target);
        let weight = 3 * (target.len() + 16) + self.source.len() + more;
        let (source, since) = (&self.source, self.since);
        let named = &mut self.named[shard as usize];
        let turn = self.turn;
        self.outbox.add(shard, weight, |bytes| {
            if *named != turn || bytes.is_empty() {
                *named = turn;
                bytes.push(SOURCE);
                put_text(bytes, source);
                put_signed(bytes, since.0);
            }
            write(bytes);
        });
    }
}
