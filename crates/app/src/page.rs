//! Pages of lists. A page says where the next one begins: an opaque cursor, good for the same
//! question.
//!
//! Where a question leaves many rows out, a page can be short, or even empty, and there is a next
//! one all the same: a request reads a bounded number of rows. A cursor is nobody's to trust: the
//! place it names must lie in the range that the question has anyway.

use std::collections::BinaryHeap;

use data_encoding::BASE64URL_NOPAD;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use store::table::KeyRange;
use utoipa::{IntoParams, ToSchema};

use crate::{Answer, Problem};

/// The most rows of a page, and how many there are if nobody says.
pub const LIMIT_MAX: usize = 1000;
const LIMIT_USUAL: usize = 100;
/// Rows a request looks at for one page.
pub const ROWS_READ_MAX: usize = 10_000;

/// A page of a list.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// The `cursor` of the next page; none at the end. A page may be short and yet not the last.
    pub next: Option<String>,
}

/// Which page is wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Paging {
    /// The `next` of the page before.
    pub cursor: Option<String>,
    /// How many items at most; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
}

impl Paging {
    /// The names of the page, of all there are in whatever order; and the cursor of the next.
    pub(crate) fn names<N: AsRef<str> + Ord>(&self, all: Vec<N>) -> Answer<(Vec<N>, Option<String>)> {
        let limit = limit(self.limit)?;
        let after = self.cursor.as_deref().map(cursor_name).transpose()?;
        let mut names = first_names(all, after.as_deref(), limit + 1);
        let more = names.len() > limit;
        names.truncate(limit);
        let next = names.last().filter(|_| more).map(|last| name_cursor(last.as_ref()));
        Ok((names, next))
    }
}

/// The first names in order behind `after`, without sorting all of them.
pub fn first_names<N: AsRef<str> + Ord>(names: Vec<N>, after: Option<&str>, count: usize) -> Vec<N> {
    let mut first: BinaryHeap<N> = BinaryHeap::with_capacity(count + 1);
    for name in names.into_iter().filter(|name| after.is_none_or(|after| name.as_ref() > after)) {
        if first.len() < count {
            first.push(name);
        } else if first.peek().is_some_and(|last| name < *last) {
            first.pop();
            first.push(name);
        }
    }
    first.into_sorted_vec()
}

/// How many items are wanted.
pub fn limit(given: Option<usize>) -> Answer<usize> {
    within(given.unwrap_or(LIMIT_USUAL), LIMIT_MAX)
}

pub(crate) fn within(limit: usize, most: usize) -> Answer<usize> {
    match (1..=most).contains(&limit) {
        true => Ok(limit),
        false => Err(Problem::bad_request("this limit is out of range").hint(format!("from 1 to {most}"))),
    }
}

/// A place in a list that comes from several ranges, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub range: usize,
    pub key: Vec<u8>,
}

impl Place {
    pub fn to_cursor(&self) -> String {
        BASE64URL_NOPAD.encode(
            format!("{}:", self.range).bytes().chain(self.key.iter().copied()).collect::<Vec<_>>().as_slice(),
        )
    }

    pub fn of_cursor(cursor: &str) -> Answer<Place> {
        let read = || {
            let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).ok()?;
            let colon = bytes.iter().position(|byte| *byte == b':')?;
            let range = str::from_utf8(&bytes[..colon]).ok()?.parse().ok()?;
            Some(Place { range, key: bytes[colon + 1..].to_vec() })
        };
        read().ok_or_else(wrong_cursor)
    }

    /// What is left of the range this place is in; an empty key is its beginning.
    pub fn rest_of(&self, whole: &KeyRange) -> Answer<KeyRange> {
        match self.key.is_empty() {
            true => Ok(whole.clone()),
            false if whole.contains(&self.key) => {
                Ok(KeyRange { from: self.key.clone(), to: whole.to.clone() })
            }
            false => Err(wrong_cursor()),
        }
    }
}

/// A page in the making, of a list that comes from several ranges, one after the other.
pub(crate) struct Listing<T> {
    ranges: Vec<KeyRange>,
    place: Place,
    limit: usize,
    read: usize,
    items: Vec<T>,
}

impl<T> Listing<T> {
    pub(crate) fn begin(cursor: Option<&str>, limit: usize, ranges: Vec<KeyRange>) -> Answer<Listing<T>> {
        let place = cursor.map_or(Ok(Place::default()), Place::of_cursor)?;
        Ok(Listing { ranges, place, limit, read: 0, items: Vec::new() })
    }

    /// What to read next: which range it is, what is left of that, and how many rows there is room
    /// for. None when the page is full, or the list at its end.
    pub(crate) fn next(&self) -> Answer<Option<(usize, KeyRange, usize)>> {
        let is_full = self.items.len() == self.limit || self.read >= ROWS_READ_MAX;
        match self.ranges.get(self.place.range).filter(|_| !is_full) {
            Some(whole) => {
                Ok(Some((self.place.range, self.place.rest_of(whole)?, self.limit - self.items.len())))
            }
            None => Ok(None),
        }
    }

    /// So many rows were read; these items are wanted of them, and this is left of the range.
    pub(crate) fn take(&mut self, rows: usize, wanted: impl Iterator<Item = T>, rest: Option<KeyRange>) {
        self.read += rows;
        self.items.extend(wanted);
        match rest {
            Some(rest) => self.place.key = rest.from,
            None => self.place = Place { range: self.place.range + 1, key: Vec::new() },
        }
    }

    pub(crate) fn page(self) -> Page<T> {
        let next = (self.place.range < self.ranges.len()).then(|| self.place.to_cursor());
        Page { items: self.items, next }
    }
}

/// What is left of a list that lies in one range.
pub(crate) fn rest(cursor: Option<&str>, whole: &KeyRange) -> Answer<KeyRange> {
    cursor.map_or(Ok(Place::default()), Place::of_cursor)?.rest_of(whole)
}

/// The cursor of what is left of it.
pub(crate) fn next(rest: Option<KeyRange>) -> Option<String> {
    rest.map(|rest| Place { range: 0, key: rest.from }.to_cursor())
}

/// A name as a cursor.
pub(crate) fn name_cursor(name: &str) -> String {
    BASE64URL_NOPAD.encode(name.as_bytes())
}

/// The cursor of what has this number.
pub(crate) fn number_cursor(number: u64) -> String {
    name_cursor(&number.to_string())
}

pub(crate) fn cursor_number(cursor: &str) -> Answer<u64> {
    cursor_name(cursor)?.parse().map_err(|_| wrong_cursor())
}

pub(crate) fn cursor_name(cursor: &str) -> Answer<String> {
    let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).map_err(|_| wrong_cursor())?;
    String::from_utf8(bytes).map_err(|_| wrong_cursor())
}

const WRONG_CURSOR: &str = "this cursor does not belong to this question";

/// Whether a question failed because of its cursor.
pub fn is_wrong_cursor(problem: &Problem) -> bool {
    *problem.detail == *WRONG_CURSOR
}

pub fn wrong_cursor() -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, WRONG_CURSOR)
        .hint("take `next` of the page before, and change nothing else")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i4_pages_of_names_are_in_order_and_complete() {
        let names = ["b", "", "c", "a", "å", "ab"];
        assert_eq!(first_names(names.to_vec(), None, 3), ["", "a", "ab"]);
        assert_eq!(first_names(names.to_vec(), Some("ab"), 3), ["b", "c", "å"]);
        assert_eq!(first_names(names.to_vec(), Some("å"), 3), [""; 0]);
    }

    #[test]
    fn i4_cursors_come_back_and_strange_ones_are_refused() {
        let whole = KeyRange { from: vec![5, 1], to: vec![5, 9] };
        for (range, key, is_inside) in
            [(0, vec![5, 1], true), (7, vec![5, 3, 255, 0], true), (1, vec![6], false), (1, vec![5], false)]
        {
            let place = Place { range, key };
            assert_eq!(Place::of_cursor(&place.to_cursor()).unwrap(), place);
            assert_eq!(place.rest_of(&whole).is_ok(), is_inside, "{place:?}");
        }
        for strange in ["", "x", "!!", "eDox", "OjE=", &BASE64URL_NOPAD.encode(b"-1:a")] {
            assert!(Place::of_cursor(strange).is_err(), "{strange}");
        }
        assert_eq!(cursor_name(&name_cursor("å/b")).unwrap(), "å/b");
    }
}
