//! A walk as rows: one for its heads, one for every stretch of ids, written when they change.
//!
//! What is in flight is in no row: ids behind a stored head that nothing is known of were in flight
//! when the walk died, and are found again by that.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::ids::{CorruptRow, StretchRow};
use super::state::{Ends, Walk};

/// The row of the heads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadRow {
    pub(super) template: String,
    pub(super) step: u64,
    pub(super) residue: u64,
    pub(super) pivot: u64,
    pub(super) covered: Range<u64>,
    pub(super) reached: Range<u64>,
    pub(super) settled: Range<u64>,
    pub(super) pass: u32,
    pub(super) pass_open: bool,
    pub(super) ends: Option<Ends>,
}

/// Rows that changed since they were last asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    pub head: HeadRow,
    /// By the number of the stretch.
    pub stretches: Vec<(u64, StretchRow)>,
}

impl HeadRow {
    pub(super) fn check(&self) -> Result<(), CorruptRow> {
        let within = |inner: &Range<u64>, outer: &Range<u64>| {
            outer.start <= inner.start && inner.start <= inner.end && inner.end <= outer.end
        };
        let pivot = self.pivot..self.pivot;
        let sound = within(&self.reached, &self.covered)
            && within(&pivot, &self.reached)
            && within(&self.settled, &self.covered);
        if sound { Ok(()) } else { Err(CorruptRow("its heads are out of order")) }
    }
}

impl Walk {
    /// The rows that changed since the last call, or since the walk was made or resumed; none if
    /// none did. They are to be written in the order they were given, or given to
    /// [`Walk::not_written`].
    pub fn dirty(&mut self) -> Option<Changes> {
        if !self.head_dirty && self.dirty.is_empty() {
            return None;
        }
        self.head_dirty = false;
        let changed = std::mem::take(&mut self.dirty);
        let row = |stretch| self.ids.row(stretch, self.pass).map(|row| (stretch, row));
        Some(Changes { head: self.head_row(), stretches: changed.into_iter().filter_map(row).collect() })
    }

    /// Rows that could not be written count as changed again.
    pub fn not_written(&mut self, changes: &Changes) {
        self.head_dirty = true;
        self.dirty.extend(changes.stretches.iter().map(|(stretch, _)| *stretch));
    }

    pub(super) fn head_row(&self) -> HeadRow {
        HeadRow {
            template: self.settings.template().as_str().to_owned(),
            step: self.course.step,
            residue: self.course.residue,
            pivot: self.course.pivot,
            covered: self.covered.clone(),
            reached: self.reached.clone(),
            settled: self.settled.clone(),
            pass: self.pass,
            pass_open: self.pass_open,
            ends: self.ends,
        }
    }
}
