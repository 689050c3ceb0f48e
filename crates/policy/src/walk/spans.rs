//! A set of positions as ranges that neither touch nor overlap.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Leg;

/// Start and end (exclusive) of every range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spans(BTreeMap<u64, u64>);

impl Spans {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds positions, none of which may be in the set yet.
    pub(super) fn insert(&mut self, added: Range<u64>) {
        if added.is_empty() {
            return;
        }
        let (mut start, mut end) = (added.start, added.end);
        if let Some(joined) = self.0.remove(&end) {
            end = joined;
        }
        if let Some((&before, &before_end)) = self.0.range(..start).next_back()
            && before_end == start
        {
            start = before;
        }
        self.0.insert(start, end);
    }

    pub(super) fn insert_all(&mut self, other: Spans) {
        for (start, end) in other.0 {
            self.insert(start..end);
        }
    }

    /// Takes the first position along the leg's way.
    pub(super) fn take_first(&mut self, leg: Leg) -> Option<u64> {
        match leg {
            Leg::Up => {
                let (start, end) = self.0.pop_first()?;
                self.insert(start + 1..end);
                Some(start)
            }
            Leg::Down => {
                let (start, end) = self.0.pop_last()?;
                self.insert(start..end - 1);
                Some(end - 1)
            }
        }
    }
}
