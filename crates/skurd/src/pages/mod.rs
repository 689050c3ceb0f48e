//! Pages with their links, read from files: WARC, WAT and JSON lines.
//!
//! The life of a file here: its first bytes say what it is ([`open`]); then it is walked step by
//! step ([`Source::next`]), a record or a line at a time, and each step gives a page that was put
//! or deleted, or nothing of interest, or what is wrong with it. After each step [`Source::mark`]
//! says where to go on: whoever keeps the mark together with what the steps gave loses nothing and
//! takes nothing twice.
//!
//! The invariant: a step gives a whole page or none. Whatever is cut off, does not decode or is not
//! as it should be is told and left out; what stands before and after it counts.
//!
//! What a link is: `a/@href` and `area/@href`, as in WebIndex; neither images nor redirects. A
//! reference to a place on the page itself (`#top`) is none. Of answers only those with status 200
//! that are HTML are pages: an answer 404 says nothing about what the page linked to when it was
//! there, so it deletes nothing. A revisit says that its page is what another record has: which one is
//! told, and its links are read from there by whoever has the files ([`Source::only`]).
//!
//! Memory is bounded by one step: a line, or a record's JSON, or the links of a page.

mod html;
mod input;
mod lines;
mod warc;
mod wat;

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::Result;
use index::ANCHOR_BYTES_MAX;
pub(crate) use input::{STDIN, open};
pub(crate) use policy::civil::rfc3339;
use policy::time::Time;
use serde::{Deserialize, Serialize};

/// Longest line, and longest JSON of a WAT record, that is read.
const JSON_BYTES_MAX: usize = 16 << 20;
/// Links of a page beyond it are counted and dropped.
const LINKS_MAX: usize = 10_000;
/// Links of a page are taken up to this, with their anchors.
const LINK_BYTES_MAX: usize = 2 << 20;

/// What a step of a file gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Put(Page),
    Delete {
        url: String,
        time: Option<Time>,
    },
    /// A page that is what another record has; none: it does not say which.
    Revisit {
        url: String,
        time: Option<Time>,
        of: Option<Referred>,
    },
    /// Something that is no page.
    Other,
    /// A line or record that is not as it should be, and is left out.
    Broken(Problem),
    /// Part of the file cannot be read.
    Damaged(Problem),
}

/// A page and where it links to, as the file spells it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// Absolute, if it is a URL at all.
    pub(crate) url: String,
    pub(crate) time: Option<Time>,
    /// Absolute, in the order of the page; not yet a set.
    pub(crate) links: Vec<Link>,
    /// Links beyond the limits.
    pub(crate) dropped: u64,
    /// Links the extraction could make no URL of.
    pub(crate) unusable: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) url: String,
    pub(crate) anchor: String,
}

/// A record as a revisit names it: its URL, and its time to the second, which is as far as archives agree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Referred {
    url: String,
    second: i64,
}

impl Referred {
    pub(crate) fn new(url: &str, time: Time) -> Referred {
        Referred { url: url.to_owned(), second: time.0.div_euclid(1000) }
    }
}

/// What is wrong in a file, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) at: At,
    pub(crate) reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Line(u64),
    /// In bytes of the file as it is, compressed or not.
    Offset(u64),
}

/// Where to go on in a file: begin at a byte, pass over some steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// Where reading can begin: a line, a record, or the beginning.
    pub(crate) offset: u64,
    /// Lines before `offset`.
    lines: u64,
    /// Steps from `offset` on that have been taken.
    steps: u64,
}

/// A file that is being read.
pub(crate) trait Source {
    /// The next step; none at the end of the file. An error is one of reading, not of what is read.
    fn next(&mut self) -> Result<Option<Step>>;

    /// Lets it read these records only; everything else is passed over.
    fn only(&mut self, _wanted: Arc<HashSet<Referred>>) {}

    /// The record that the last step read because it is wanted.
    fn wanted(&self) -> Option<&Referred> {
        None
    }

    /// Where the last step was.
    fn place(&self) -> At;

    /// Where to go on after the steps taken so far.
    fn mark(&self) -> Mark;
}

impl Page {
    /// Takes a link, unless the page has too many of them or it is a place on the page itself.
    fn add(&mut self, url: String, anchor: &str, bytes: &mut usize) {
        if url.is_empty() || url.starts_with('#') {
            return;
        }
        let anchor = cut(anchor, ANCHOR_BYTES_MAX);
        *bytes += url.len() + anchor.len();
        if self.links.len() >= LINKS_MAX || *bytes > LINK_BYTES_MAX {
            self.dropped += 1;
            return;
        }
        self.links.push(Link { url, anchor: anchor.to_owned() });
    }
}

/// The beginning of a text, whole characters only.
fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests;
