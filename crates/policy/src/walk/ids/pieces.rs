//! Going through positions piece by piece, in order, with what no stretch is kept for filled in.

use std::collections::BTreeMap;
use std::iter;
use std::ops::Range;

use super::stretch::Stretch;
use super::{Kind, STRETCH, State};

/// Neighbouring positions of the same state; never none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Piece {
    pub(in super::super) positions: Range<u64>,
    pub(in super::super) state: State,
}

impl Piece {
    pub(in super::super) fn len(&self) -> u64 {
        self.positions.end - self.positions.start
    }
}

pub(super) fn pieces(
    stretches: &BTreeMap<u64, Stretch>,
    range: Range<u64>,
) -> impl Iterator<Item = Piece> + '_ {
    let end = range.end.max(range.start);
    let first = range.start / STRETCH;
    let kept = stretches.range(first..end.div_ceil(STRETCH).max(first));
    let known = kept.flat_map(|(index, stretch)| stretch.pieces(index * STRETCH));
    let clipped = known.filter_map(move |piece| {
        let positions = piece.positions.start.max(range.start)..piece.positions.end.min(end);
        (!positions.is_empty()).then_some(Piece { positions, ..piece })
    });
    filled(clipped, range.start..end)
}

fn filled(known: impl Iterator<Item = Piece>, range: Range<u64>) -> impl Iterator<Item = Piece> {
    let mut known = known.peekable();
    let mut at = range.start;
    iter::from_fn(move || {
        let next = known.peek().map_or(range.end, |piece| piece.positions.start);
        let piece =
            if at < next { Piece { positions: at..next, state: State::Unknown } } else { known.next()? };
        at = piece.positions.end;
        Some(piece)
    })
}

pub(super) fn kinds(pieces: impl Iterator<Item = Piece>) -> impl Iterator<Item = (Range<u64>, Kind)> {
    let mut pieces = pieces.peekable();
    iter::from_fn(move || {
        let first = pieces.next()?;
        let kind = first.state.kind();
        let mut positions = first.positions;
        while let Some(more) = pieces.next_if(|piece| piece.state.kind() == kind) {
            positions.end = more.positions.end;
        }
        Some((positions, kind))
    })
}
