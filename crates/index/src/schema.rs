//! Every table of the index, and what their rows hold.
//!
//! The seed's cells are what queries and the dump show; these are the rows they are kept in. Every
//! key begins with the number of its index (X13).
//!
//! | table | key | value | written by |
//! |---|---|---|---|
//! | `INDEXES` | name | number, how often opened | `Index::open` |
//! | `HEADS` | uri | digests of `page:cur` and `page:new`, when the page was seen | loader, page observer |
//! | `LINKS` | uri, slot | the links of `page:cur` or `page:new` | loader |
//! | `INLINKS` | target, source | when the link was first seen, anchor text | inlinks observer |
//! | `COUNTS` | uri | incount, loaded; while ranks are behind, what they say | inlinks, rank observer |
//! | `RANK` | loaded, incount ↓, uri | – | rank observer |
//! | `DOMAIN_RANK` | domain, loaded, incount ↓, rest of the uri | – | rank observer |
//! | `DOMAINS` | domain | pagecount | domain observer |
//! | `DOMAINS_RANK` | pagecount ↓, domain | – | domain observer |
//! | `TOTALS` | queue, shard | what the shard has counted | both |
//! | `NOTES`, `FLOORS`, `GUARDS` | see [`crate::observe`] | notifications | whoever notifies |
//!
//! A rank entry holds incount and *loaded* apart: order by incount, order by score (X6) and "never
//! captured" (X15) are merged from the same two ranges, so a change moves one entry a scope and not
//! three.

use policy::time::Time;
use serde::{Deserialize, Serialize};
use store::key::Desc;
use store::table::{self, Raw, Table};

use crate::handle::Entry;
use crate::page::Digest;

pub const INDEXES: Table<(String,), Entry> = Table::new(0x40, "indexes");
pub const HEADS: Table<(u32, String), Head> = Table::new(0x41, "index heads");
/// Raw bytes, see `page`.
pub const LINKS: Table<(u32, String, u8), Raw> = Table::new(0x42, "index links");
/// Raw bytes, see `inlinks`.
pub const INLINKS: Table<(u32, String, String), Raw> = Table::new(0x43, "index inlinks");
/// Up to version 1 no rank was ever behind.
pub const COUNTS: Table<(u32, String), Counted> =
    Table::new(0x44, "index counts").version(3, &[(1, |row| table::read::<Count>(row).map(Counted::from))]);
pub const RANK: Table<(u32, u8, Desc<u64>, String), ()> = Table::new(0x45, "index rank");
pub const DOMAIN_RANK: Table<(u32, String, u8, Desc<u64>, String), ()> =
    Table::new(0x46, "index domain rank");
pub const DOMAINS: Table<(u32, String), i64> = Table::new(0x47, "index domains");
pub const DOMAINS_RANK: Table<(u32, Desc<u64>, String), ()> = Table::new(0x48, "index domains rank");
pub const TOTALS: Table<(u32, u8, u32), Tally> = Table::new(0x49, "index totals");
/// Raw bytes; index, queue, shard, number.
pub const NOTES: Table<(u32, u8, u32, u64), Raw> = Table::new(0x4A, "index notes");
pub const FLOORS: Table<(u32, u8), u64> = Table::new(0x4B, "index floors");
/// Never written, only locked.
pub const GUARDS: Table<(u32, u8, u32), ()> = Table::new(0x4C, "index guards");

/// All of them: number, name, version.
pub const TABLES: &[(u8, &str, u8)] = &[
    INDEXES.facts(),
    HEADS.facts(),
    LINKS.facts(),
    INLINKS.facts(),
    COUNTS.facts(),
    RANK.facts(),
    DOMAIN_RANK.facts(),
    DOMAINS.facts(),
    DOMAINS_RANK.facts(),
    TOTALS.facts(),
    NOTES.facts(),
    FLOORS.facts(),
    GUARDS.facts(),
];

/// A page that is or was loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// `page:cur`; its links are in slot `slot`.
    pub cur: Option<Content>,
    pub slot: u8,
    /// `page:new`; its links are in the other slot.
    pub new: Option<Waiting>,
    pub first_seen: Time,
    pub last_seen: Time,
    /// The note in which the page's links last went out; the next one has a higher number.
    pub sent: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    pub digest: Digest,
    /// Bytes of its links written out.
    pub weight: u32,
    pub links: u32,
    /// When it was first seen like this.
    pub since: Time,
}

/// What a page is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Waiting {
    Page(Content),
    Nothing,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    pub incount: u64,
    pub loaded: bool,
}

impl Count {
    /// X6.
    pub fn score(&self) -> u64 {
        self.incount + u64::from(self.loaded)
    }
}

/// A row of `COUNTS`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    pub now: Count,
    /// By which count the URI stands in the ranks, none by the default one; `None`: by the count it
    /// has now. A note to the rank observer names every URI that has something here.
    pub ranked: Option<Count>,
}

impl From<Count> for Counted {
    fn from(now: Count) -> Counted {
        Counted { now, ranked: None }
    }
}

impl Counted {
    /// The count of a URI that is known; a row may outlive it until the ranks have caught up.
    pub fn known(self) -> Option<Count> {
        (self.now != Count::default()).then_some(self.now)
    }
}

/// What a shard has counted so far. One shard's numbers may be below zero, their sums are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub uris: i64,
    pub loaded: i64,
    pub links: i64,
    pub domains: i64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.uris += other.uris;
        self.loaded += other.loaded;
        self.links += other.links;
        self.domains += other.domains;
    }
}

impl std::ops::SubAssign for Tally {
    fn sub_assign(&mut self, other: Tally) {
        self.uris -= other.uris;
        self.loaded -= other.loaded;
        self.links -= other.links;
        self.domains -= other.domains;
    }
}

/// What an index holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Known: loaded or linked to.
    pub uris: u64,
    pub loaded: u64,
    pub links: u64,
    pub domains: u64,
}

impl From<Tally> for Totals {
    fn from(tally: Tally) -> Totals {
        let shown = |n: i64| u64::try_from(n).unwrap_or(0);
        Totals {
            uris: shown(tally.uris),
            loaded: shown(tally.loaded),
            links: shown(tally.links),
            domains: shown(tally.domains),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_tables_share_a_number() {
        let mut ids: Vec<u8> = TABLES.iter().map(|(id, ..)| *id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }

    #[test]
    fn x1_a_key_of_two_uris_is_within_the_stores_limit() {
        let longest = "x".repeat(crate::URI_BYTES_MAX);
        assert!(INLINKS.key((0, &longest, &longest)).len() <= store::limits::KEY_BYTES_MAX);
        let (domain, rest) = longest.split_at(200);
        assert!(DOMAIN_RANK.key((0, domain, 1, Desc(0), rest)).len() <= store::limits::KEY_BYTES_MAX);
    }
}
