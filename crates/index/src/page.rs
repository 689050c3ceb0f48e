//! A page as the index sees it: the set of its links (X7).
//!
//! One link a target, sorted, the first anchor text counts. It is kept as the bytes the store
//! holds: each target without what it shares with the one before, and its anchor text. The digest
//! is over these bytes, so two pages with the same links and texts are equal whatever the order
//! they were found in.

use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};
use store::Result;

use crate::codec::{Reader, put_number, put_text};
use crate::uri::{Skip, Uri};

/// Links beyond these are dropped and counted. The bytes are those of targets and texts written
/// out, however well they pack.
pub const PAGE_LINKS_MAX: usize = 20_000;
pub const PAGE_BYTES_MAX: usize = 1 << 20;
/// What a link takes beside its texts.
const LINK_BYTES_EXTRA: usize = 8;
/// An anchor text ends here, at the last whole character.
pub const ANCHOR_BYTES_MAX: usize = 512;

pub(crate) type Digest = [u8; 16];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    bytes: Vec<u8>,
    digest: Digest,
    links: usize,
    /// Bytes of its links written out.
    weight: usize,
    dropped: usize,
}

/// A link of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub target: Uri,
    pub anchor: String,
}

impl Page {
    pub fn new(links: impl IntoIterator<Item = (Uri, String)>) -> Page {
        let mut links: Vec<(Uri, String)> = links.into_iter().collect();
        // Stable, so that the first text of a target comes first.
        links.sort_by(|a, b| a.0.cmp(&b.0));
        links.dedup_by(|later, first| later.0 == first.0);
        let found = links.len();
        let mut page = Page { bytes: Vec::new(), digest: Digest::default(), links: 0, weight: 0, dropped: 0 };
        let mut before = "";
        for (target, anchor) in links.iter().take(PAGE_LINKS_MAX) {
            let anchor = shortened(anchor);
            let weight = target.as_str().len() + anchor.len() + LINK_BYTES_EXTRA;
            if page.weight + weight > PAGE_BYTES_MAX {
                break;
            }
            push_link(&mut page.bytes, before, target.as_str(), anchor);
            before = target.as_str();
            page.weight += weight;
            page.links += 1;
        }
        page.dropped = found - page.links;
        page.digest = digest(&page.bytes);
        page
    }

    pub fn len(&self) -> usize {
        self.links
    }

    pub fn is_empty(&self) -> bool {
        self.links == 0
    }

    /// Links that were over the limits and are not in it.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    pub(crate) fn digest(&self) -> Digest {
        self.digest
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of its links written out: what it takes in the store at most.
    pub fn weight(&self) -> usize {
        self.weight
    }
}

fn digest(bytes: &[u8]) -> Digest {
    let mut digest = Digest::default();
    let whole = Sha1::digest(bytes);
    let length = digest.len();
    digest.copy_from_slice(&whole[..length]);
    digest
}

fn push_link(out: &mut Vec<u8>, before: &str, target: &str, anchor: &str) {
    let shared = before.bytes().zip(target.bytes()).take_while(|(a, b)| a == b).count();
    put_number(out, shared as u64);
    // URIs are ASCII, so any byte is a boundary.
    put_text(out, target.get(shared..).unwrap_or_default());
    put_text(out, anchor);
}

fn shortened(anchor: &str) -> &str {
    &anchor[..anchor.floor_char_boundary(ANCHOR_BYTES_MAX)]
}

/// The links in the bytes of a page, in order of target.
pub(crate) fn read_links(bytes: &[u8]) -> Result<Vec<(String, &str)>> {
    let mut reader = Reader::new(bytes, "a page of the index");
    let mut links: Vec<(String, &str)> = Vec::new();
    while !reader.is_empty() {
        let shared = reader.length()?;
        let rest = reader.text()?;
        let anchor = reader.text()?;
        let before = links.last().map_or("", |(target, _)| target);
        let head = before.get(..shared).ok_or_else(|| reader.corrupt())?;
        links.push((format!("{head}{rest}"), anchor));
    }
    Ok(links)
}

/// Links that did not become part of a page, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    pub not_http: u64,
    pub user_info: u64,
    pub unparsable: u64,
    pub too_long: u64,
    /// Beyond what one page may have.
    pub over_limit: u64,
}

impl Skipped {
    pub fn count(&mut self, skip: Skip) {
        match skip {
            Skip::NotHttp => self.not_http += 1,
            Skip::UserInfo => self.user_info += 1,
            Skip::Unparsable => self.unparsable += 1,
            Skip::TooLong => self.too_long += 1,
        }
    }

    pub fn total(&self) -> u64 {
        self.not_http + self.user_info + self.unparsable + self.too_long + self.over_limit
    }
}

impl std::ops::AddAssign for Skipped {
    fn add_assign(&mut self, other: Skipped) {
        self.not_http += other.not_http;
        self.user_info += other.user_info;
        self.unparsable += other.unparsable;
        self.too_long += other.too_long;
        self.over_limit += other.over_limit;
    }
}

/// Collects the links of a page as they stand there.
#[derive(Debug, Default)]
pub struct PageBuilder {
    links: Vec<(Uri, String)>,
    skipped: Skipped,
}

impl PageBuilder {
    /// An absolute URL and the text of its link.
    pub fn link(&mut self, url: &str, anchor: &str) {
        match Uri::of_url(url) {
            Ok(target) => self.uri(target, anchor),
            Err(skip) => self.skipped.count(skip),
        }
    }

    pub fn uri(&mut self, target: Uri, anchor: &str) {
        // Repetitions are not links of their own, so there may be more of them than the page keeps.
        if self.links.len() < 4 * PAGE_LINKS_MAX {
            self.links.push((target, shortened(anchor).to_owned()));
        } else {
            self.skipped.over_limit += 1;
        }
    }

    pub fn finish(self) -> (Page, Skipped) {
        let page = Page::new(self.links);
        let mut skipped = self.skipped;
        skipped.over_limit += page.dropped() as u64;
        (page, skipped)
    }
}
