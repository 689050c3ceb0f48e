//! Whether an index is what a batch job would make of its pages, and making it so.
//!
//! The index is rebuilt from a snapshot into rows of its own, both are compared row by row, and
//! what was rebuilt is removed again. One at a time for an index: two would clear away each other's
//! rows.

use store::table::KeyRange;
use store::{Bytes, Result, Tx};

use crate::error::Error;
use crate::handle::Index;
use crate::inlinks::Cell;
use crate::observe::Queue;
use crate::rebuild::{Rebuild, derived};
use crate::scan::Scan;
use crate::schema::{COUNTS, INLINKS, TOTALS, Tally, Totals};

/// Differences that are described; the others are counted.
const DESCRIBED_MAX: usize = 100;
/// Bytes of a key before what both sides share: the table and the index.
const OWN_BYTES: usize = 5;

/// What to do about differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    Report,
    Write,
}

/// A row that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    Missing { table: &'static str, key: String },
    Superfluous { table: &'static str, key: String },
    Wrong { table: &'static str, key: String },
}

/// What comparing found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// As recomputed.
    pub totals: Totals,
    pub differences: u64,
    /// The first of them.
    pub first: Vec<Difference>,
    pub repaired: u64,
}

impl Index {
    /// Recomputes everything from the pages and compares. The index must be at rest.
    #[crate::boxed]
    pub async fn verify(&self, repair: Repair) -> Result<Report, Error> {
        let tx = self.store().begin().await?;
        let notes = self.waiting_in(&tx, 1).await?;
        if notes > 0 {
            return Err(Error::NotAtRest { notes });
        }
        let scratch = u32::MAX - self.number();
        let rebuild = Rebuild { store: self.store(), index: self.number(), scratch };
        let tally = rebuild.run(&tx).await?;
        let rebuilt = self.store().begin().await?;
        let mut report = Report { totals: tally.into(), ..Report::default() };
        for ((table, is), (_, should)) in derived(self.number()).into_iter().zip(derived(scratch)) {
            let sides = Sides { table, is: (&tx, is), should: (&rebuilt, should) };
            self.compare(&sides, repair, &mut report).await?;
        }
        self.compare_totals(&tx, tally, repair, &mut report).await?;
        rebuild.clear().await?;
        Ok(report)
    }

    async fn compare(&self, sides: &Sides<'_>, repair: Repair, report: &mut Report) -> Result<()> {
        let (mut is_rows, mut should_rows) =
            (Scan::new(sides.is.1.clone()), Scan::new(sides.should.1.clone()));
        let (mut is, mut should) = (is_rows.next(sides.is.0).await?, should_rows.next(sides.should.0).await?);
        loop {
            let order = match (&is, &should) {
                (None, None) => return Ok(()),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some((is, _)), Some((should, _))) => is[OWN_BYTES..].cmp(&should[OWN_BYTES..]),
            };
            let pair = match order {
                std::cmp::Ordering::Less => (is.take(), None),
                std::cmp::Ordering::Greater => (None, should.take()),
                std::cmp::Ordering::Equal => (is.take(), should.take()),
            };
            if let Some(difference) = sides.difference(&pair)? {
                report.differences += 1;
                if report.first.len() < DESCRIBED_MAX {
                    report.first.push(difference);
                }
                if repair == Repair::Write {
                    report.repaired += u64::from(self.mend(&sides.is.1, &pair).await?);
                }
            }
            if is.is_none() {
                is = is_rows.next(sides.is.0).await?;
            }
            if should.is_none() {
                should = should_rows.next(sides.should.0).await?;
            }
        }
    }

    /// Writes one row as it should be, unless it is not any more what was compared.
    async fn mend(&self, is_range: &KeyRange, (is, should): &Pair) -> Result<bool> {
        let Some((key, _)) = is.as_ref().or(should.as_ref()) else { return Ok(false) };
        let own = [&is_range.from[..OWN_BYTES], &key[OWN_BYTES..]].concat();
        let own = &own;
        self.store()
            .transact_idempotent(|tx| async move {
                let now = tx.get(own).await?;
                if now.as_ref() != is.as_ref().map(|(_, value)| value) {
                    return Ok(false);
                }
                match should {
                    Some((_, value)) => tx.put(own.as_slice(), value.clone())?,
                    None => tx.delete(own.as_slice())?,
                }
                Ok(true)
            })
            .await
    }

    async fn compare_totals(
        &self,
        tx: &Tx,
        should: Tally,
        repair: Repair,
        report: &mut Report,
    ) -> Result<()> {
        let is = self.tally(tx).await?;
        if is == should {
            return Ok(());
        }
        report.differences += 1;
        report.first.truncate(DESCRIBED_MAX - 1);
        report.first.push(Difference::Wrong { table: TOTALS.name(), key: "all shards".into() });
        if repair == Repair::Report {
            return Ok(());
        }
        let key = (self.number(), Queue::Links.id(), 0);
        let mend = self.store().transact(|tx| async move {
            let mut first = TOTALS.get(&tx, key).await?.unwrap_or_default();
            first += should;
            first -= is;
            TOTALS.put(&tx, key, &first)
        });
        mend.await?;
        report.repaired += 1;
        Ok(())
    }
}

type Pair = (Option<(Bytes, Bytes)>, Option<(Bytes, Bytes)>);

/// A table as it is and as it should be, each in its snapshot.
struct Sides<'a> {
    table: &'static str,
    is: (&'a Tx, KeyRange),
    should: (&'a Tx, KeyRange),
}

impl Sides<'_> {
    fn difference(&self, pair: &Pair) -> Result<Option<Difference>> {
        let table = self.table;
        Ok(match pair {
            (Some((key, _)), None) => Some(Difference::Superfluous { table, key: readable(key) }),
            (None, Some((key, _))) => Some(Difference::Missing { table, key: readable(key) }),
            (Some((key, is)), Some((_, should))) if !self.same(is, should)? => {
                Some(Difference::Wrong { table, key: readable(key) })
            }
            _ => None,
        })
    }

    /// When a link was first seen does not follow from the pages as they are now, and a count may
    /// have been written by an older version.
    fn same(&self, is: &Bytes, should: &Bytes) -> Result<bool> {
        if self.table == INLINKS.name() {
            return Ok(Cell::read(is).is_ok_and(|cell| Some(cell.anchor) == anchor_of(should)));
        }
        if self.table == COUNTS.name() {
            return Ok(COUNTS.value_from(is).is_ok_and(|is| COUNTS.value_from(should).ok() == Some(is)));
        }
        Ok(is == should)
    }
}

fn anchor_of(bytes: &Bytes) -> Option<&str> {
    Some(Cell::read(bytes).ok()?.anchor)
}

fn readable(key: &Bytes) -> String {
    let text = String::from_utf8_lossy(&key[OWN_BYTES..]);
    text.chars().map(|c| if c.is_control() || c == '\u{FFFD}' { '.' } else { c }).collect()
}
