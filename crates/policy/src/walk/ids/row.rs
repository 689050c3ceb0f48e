//! A stretch as it is stored: for every run its length and its state, as variable-length numbers.
//!
//! A stretch of nothing but content is three bytes. What comes back from a store is checked to the
//! last bit, since a wrong length would move every id behind it.

use serde::{Deserialize, Serialize};

use super::State;
use super::stretch::{LENGTH, Run, Stretch};
use crate::time::Time;

/// A stretch of ids as it is stored under its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StretchRow {
    /// The pass its attempts were counted in.
    pub(super) pass: u32,
    pub(super) last_attempt: Time,
    /// Without the unknown positions at its end.
    pub(super) runs: Vec<u8>,
}

/// Why stored state is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored state of the walk is corrupt: {0}")]
pub struct CorruptRow(pub(in super::super) &'static str);

pub(super) fn encode(stretch: &Stretch, pass: u32) -> StretchRow {
    let mut runs = Vec::new();
    for piece in stretch.pieces(0) {
        if piece.positions.end == u64::from(LENGTH) && piece.state == State::Unknown {
            break;
        }
        put(&mut runs, piece.len());
        put(&mut runs, code(piece.state));
    }
    StretchRow { pass, last_attempt: stretch.last_attempt, runs }
}

pub(super) fn decode(row: &StretchRow, pass: u32) -> Result<Stretch, CorruptRow> {
    if row.pass > pass {
        return Err(CorruptRow("a stretch is of a pass that has not begun"));
    }
    let mut bytes = row.runs.as_slice();
    let mut runs: Vec<Run> = Vec::new();
    let mut start = 0u16;
    while !bytes.is_empty() {
        let length = take(&mut bytes)?;
        let state = state(take(&mut bytes)?)?;
        if length == 0 || length > u64::from(LENGTH - start) {
            return Err(CorruptRow("a run of ids is empty or longer than its stretch"));
        }
        if runs.last().is_some_and(|before| before.state == state) {
            return Err(CorruptRow("two runs of ids should be one"));
        }
        runs.push(Run { start, state });
        start += u16::try_from(length).unwrap_or_default();
    }
    if runs.last().is_none_or(|last| last.state == State::Unknown) {
        return Err(CorruptRow("a stretch ends in ids that nothing is known of"));
    }
    if start < LENGTH {
        runs.push(Run { start, state: State::Unknown });
    }
    Ok(Stretch::new(runs, row.last_attempt))
}

fn code(state: State) -> u64 {
    match state {
        State::Unknown => 0,
        State::Content => 1,
        State::Absent(attempts) => 2 + 2 * u64::from(attempts),
        State::Failed(attempts) => 3 + 2 * u64::from(attempts),
    }
}

fn state(code: u64) -> Result<State, CorruptRow> {
    let attempts = |first| u16::try_from((code - first) / 2).map_err(|_| CorruptRow("too many attempts"));
    match code {
        0 => Ok(State::Unknown),
        1 => Ok(State::Content),
        even if even.is_multiple_of(2) => attempts(2).map(State::Absent),
        _ => attempts(3).map(State::Failed),
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = (number & 0x7f).to_le_bytes();
        number >>= 7;
        if number == 0 {
            return bytes.push(low);
        }
        bytes.push(low | 0x80);
    }
}

/// Numbers here have at most three bytes.
fn take(bytes: &mut &[u8]) -> Result<u64, CorruptRow> {
    let mut number = 0;
    for shift in [0, 7, 14] {
        let (&byte, rest) = bytes.split_first().ok_or(CorruptRow("a stretch is cut short"))?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte == 0 && shift > 0 {
            return Err(CorruptRow("a number has more bytes than it needs"));
        }
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(CorruptRow("a number is too long"))
}
