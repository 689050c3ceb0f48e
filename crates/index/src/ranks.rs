//! Rank observer (X8, X9): moves URIs to where their counts belong in the ranks.
//!
//! A popular URI is counted anew in nearly every batch of links, and to move it each time would be
//! most of the work there is: two entries written and two taken away for a row of counts. So the row
//! says by which count the URI stands in the ranks for as long as that is another one, and the ranks
//! are moved when nothing else is to be done, when very many are behind, or after a few seconds. A
//! note goes out when a URI falls behind and not again before it has caught up.

use std::collections::HashMap;

use store::key::Desc;
use store::{Result, Tx};

use crate::codec::{put_signed, put_text};
use crate::handle::Index;
use crate::observe::{Note, Outbox, Queue, shard_of};
use crate::schema::{COUNTS, Count, Counted, DOMAIN_RANK, RANK};
use crate::uri::domain_of;

/// Weighs a fifth of what moving it writes: its count, and two rank entries there and two gone. So
/// there are few notes, each of many URIs.
pub(crate) fn push_note(outbox: &mut Outbox, shard: u32, uri: &str) {
    outbox.add(shard, uri.len() + 24, |bytes| put_text(bytes, uri));
}

/// How many URIs appeared in a domain.
type Appeared<'a> = HashMap<&'a str, i64, foldhash::fast::FixedState>;

impl Index {
    pub(crate) async fn observe_ranks(&self, tx: &Tx, shard: u32, notes: &[Note]) -> Result<()> {
        let mut uris: Vec<&str> = Vec::new();
        for note in notes {
            let mut reader = note.reader();
            while !reader.is_empty() {
                uris.push(reader.text()?);
            }
        }
        uris.sort_unstable();
        uris.dedup();
        let counts = COUNTS.multi_get(tx, uris.iter().map(|uri| (self.number(), *uri))).await?;
        let mut appeared = Appeared::default();
        let mut later = Outbox::new(Queue::Ranks);
        let reserve = tx.capacity() / 4;
        for (uri, known) in uris.into_iter().zip(counts) {
            let Some(Counted { now, ranked: Some(before) }) = known else { continue };
            // An engine that counts much for a key holds fewer rows than follow from a note.
            if tx.room() < reserve {
                push_note(&mut later, shard, uri);
                continue;
            }
            let domain = domain_of(uri);
            self.move_ranks(tx, uri, domain, before, now)?;
            let known = |count: Count| i64::from(count != Count::default());
            *appeared.entry(domain).or_default() += known(now) - known(before);
        }
        self.board().send(tx, later, 0).await?;
        self.tell_domains(tx, &appeared).await
    }

    fn move_ranks(&self, tx: &Tx, uri: &str, domain: &str, before: Count, after: Count) -> Result<()> {
        let number = self.number();
        let rest = &uri[domain.len()..];
        if before != Count::default() && before != after {
            let (loaded, incount) = (u8::from(before.loaded), Desc(before.incount));
            RANK.delete(tx, (number, loaded, incount, uri))?;
            DOMAIN_RANK.delete(tx, (number, domain, loaded, incount, rest))?;
        }
        if after == Count::default() {
            return COUNTS.delete(tx, (number, uri));
        }
        if before != after {
            let (loaded, incount) = (u8::from(after.loaded), Desc(after.incount));
            RANK.put(tx, (number, loaded, incount, uri), &())?;
            DOMAIN_RANK.put(tx, (number, domain, loaded, incount, rest), &())?;
        }
        COUNTS.put(tx, (number, uri), &after.into())
    }

    /// X10: a domain's row is written by its own observer; here only the differences are sent.
    async fn tell_domains(&self, tx: &Tx, appeared: &Appeared<'_>) -> Result<()> {
        let mut outbox = Outbox::new(Queue::Domains);
        let mut domains: Vec<_> = appeared.iter().filter(|(_, change)| **change != 0).collect();
        domains.sort_unstable();
        for (domain, change) in domains {
            outbox.add(shard_of(domain), 4 * (domain.len() + 16), |bytes| {
                put_text(bytes, domain);
                put_signed(bytes, *change);
            });
        }
        self.board().send(tx, outbox, 0).await.map(drop)
    }
}
