//! Ranges of HTTP statuses as a walk's rules name them: `404`, `500-599`, `5xx`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::problem::{Problem, shown};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StatusRange {
    first: u16,
    last: u16,
}

impl StatusRange {
    pub fn contains(self, status: u16) -> bool {
        (self.first..=self.last).contains(&status)
    }
}

/// A status that is in both lists.
pub(super) fn overlap(one: &[StatusRange], other: &[StatusRange]) -> Option<u16> {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a, b)));
    pairs
        .map(|(a, b)| (a.first.max(b.first), a.last.min(b.last)))
        .find(|(from, to)| from <= to)
        .map(|pair| pair.0)
}

impl FromStr for StatusRange {
    type Err = Problem;

    fn from_str(text: &str) -> Result<StatusRange, Problem> {
        range_of(text.trim()).ok_or_else(|| {
            let what = format!(
                "`{}` is no status; it takes one from 100 to 599, a range (`500-599`) or a class (`5xx`)",
                shown(text)
            );
            Problem::new("status", what)
        })
    }
}

fn range_of(text: &str) -> Option<StatusRange> {
    if let Some(class) = text.strip_suffix("xx") {
        let first = status(&format!("{class}00"))?;
        return Some(StatusRange { first, last: first + 99 });
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (status(first)?, status(last)?);
    (first <= last).then_some(StatusRange { first, last })
}

fn status(text: &str) -> Option<u16> {
    let three_digits = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|status| three_digits && (100..600).contains(status))
}

impl fmt::Display for StatusRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            return write!(f, "{}", self.first);
        }
        write!(f, "{}-{}", self.first, self.last)
    }
}

impl TryFrom<String> for StatusRange {
    type Error = Problem;

    fn try_from(text: String) -> Result<StatusRange, Problem> {
        text.parse()
    }
}

impl From<StatusRange> for String {
    fn from(range: StatusRange) -> String {
        range.to_string()
    }
}
