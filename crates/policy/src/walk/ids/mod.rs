//! What is known of every id (L10).
//!
//! Positions are kept in stretches of [`STRETCH`], each a list of runs of the same state, so that
//! ten million ids in a row that all exist cost kilobytes, and an id that joins its neighbours
//! changes a number. A stretch is what is written when one of its ids changes; it also carries the
//! time of its last attempt, from which a restarted walk counts its cool-downs.

mod pieces;
mod row;
mod stretch;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub(super) use pieces::Piece;
pub use row::{CorruptRow, StretchRow};
use stretch::Stretch;

use crate::time::Time;

/// Positions in a stretch. A row of the worst kind has two bytes for each.
pub const STRETCH: u64 = 8192;

/// What is known of one id, with the attempts that have missed it. Holes of a fresh pass begin
/// again at none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Unknown,
    Content,
    Absent(u16),
    Failed(u16),
}

/// The three sets an id space is split into (L11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Unknown,
    Content,
    Hole,
}

impl State {
    pub(super) fn kind(self) -> Kind {
        match self {
            State::Unknown => Kind::Unknown,
            State::Content => Kind::Content,
            State::Absent(_) | State::Failed(_) => Kind::Hole,
        }
    }

    /// Attempts that have missed it.
    pub(super) fn attempts(self) -> u16 {
        match self {
            State::Unknown | State::Content => 0,
            State::Absent(attempts) | State::Failed(attempts) => attempts,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ids {
    stretches: BTreeMap<u64, Stretch>,
    content: u64,
    holes: u64,
}

impl Ids {
    pub(super) fn content(&self) -> u64 {
        self.content
    }

    pub(super) fn holes(&self) -> u64 {
        self.holes
    }

    /// Writes down what an attempt made of a position; the stretch that changed.
    pub(super) fn set(&mut self, position: u64, state: State, at: Time) -> u64 {
        let stretch = self.stretches.entry(position / STRETCH).or_default();
        let before = stretch.set(offset(position), state);
        stretch.last_attempt = stretch.last_attempt.max(at);
        self.count(before, -1);
        self.count(state, 1);
        position / STRETCH
    }

    /// When an id of this position's stretch was last tried.
    pub(super) fn last_attempt(&self, position: u64) -> Option<Time> {
        self.stretches.get(&(position / STRETCH)).map(|stretch| stretch.last_attempt)
    }

    /// All of the range in order, those nothing is known of too. No piece crosses into a stretch
    /// that is kept.
    pub(super) fn pieces(&self, range: Range<u64>) -> impl Iterator<Item = Piece> + '_ {
        pieces::pieces(&self.stretches, range)
    }

    /// The same with neighbours of one kind put together.
    pub(super) fn kinds(&self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, Kind)> + '_ {
        pieces::kinds(self.pieces(range))
    }

    /// A kept stretch as it is stored.
    pub(super) fn row(&self, stretch: u64, pass: u32) -> Option<StretchRow> {
        self.stretches.get(&stretch).map(|kept| row::encode(kept, pass))
    }

    /// Takes in a stored stretch, whose known positions must all be in `covered`. Holes that were
    /// last tried in an earlier pass than this one count as not tried yet.
    pub(super) fn load(
        &mut self,
        index: u64,
        row: &StretchRow,
        covered: &Range<u64>,
        pass: u32,
    ) -> Result<(), CorruptRow> {
        let begin = index.saturating_mul(STRETCH);
        let mut stretch = row::decode(row, pass)?;
        let outside = stretch.pieces(begin).any(|piece| {
            let inside = piece.positions.start >= covered.start && piece.positions.end <= covered.end;
            piece.state != State::Unknown && !inside
        });
        if outside || self.stretches.contains_key(&index) {
            return Err(CorruptRow("a stretch that the walk has not come to, or twice the same"));
        }
        if row.pass < pass {
            stretch.forget_attempts();
        }
        for piece in stretch.pieces(begin) {
            self.count(piece.state, i64::try_from(piece.len()).unwrap_or(0));
        }
        self.stretches.insert(index, stretch);
        Ok(())
    }

    fn count(&mut self, state: State, change: i64) {
        let counter = match state.kind() {
            Kind::Unknown => return,
            Kind::Content => &mut self.content,
            Kind::Hole => &mut self.holes,
        };
        *counter = counter.saturating_add_signed(change);
    }
}

fn offset(position: u64) -> u16 {
    u16::try_from(position % STRETCH).unwrap_or_default()
}
