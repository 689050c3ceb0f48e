//! Gathering the links of a page: as texts while it is read, as URLs at its end.
//!
//! A `<base>` holds for the whole page, wherever it stands, so nothing is resolved before the end.
//! What is said twice is kept once, with the first anchor text that says something. `nofollow` is a
//! word to search engines and not obeyed: an archive keeps what there is.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use encoding_rs::Encoding;
use policy::hint::Said;
use policy::model::LinkKind;
use policy::url::{Base, CrawlUrl, UrlRules, normalise_against};

use super::Found;

/// Longest text that is taken for a link; a URL that comes out of it is shorter still.
const RAW_BYTES_MAX: usize = 8 << 10;

/// Parts of a page with a base of their own that are told apart; in further ones the base around
/// them holds.
const PARTS_MAX: usize = 1000;

/// What a relative link is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Against {
    /// The page, by its `<base>`.
    Page,
    /// The address the answer came from.
    Address,
    /// A part of the page, by its own base.
    Part(usize),
}

/// An element with `xml:base`, or a document within the page.
struct Part {
    within: Against,
    href: String,
}

/// A part that was gone into, to be left again.
pub(super) struct Entered {
    around: Against,
    /// None where there were too many.
    part: Option<usize>,
}

struct Candidate {
    raw: Box<str>,
    kind: LinkKind,
    how: &'static str,
    against: Against,
    anchor: String,
    said: Option<Said>,
}

/// What became of the links of a page.
pub(super) struct Collected {
    pub(super) links: Vec<Found>,
    pub(super) dropped: u64,
    pub(super) unusable: u64,
}

pub(super) struct Collector {
    candidates: Vec<Candidate>,
    /// By hash of text and kind; two that share 64 random bits are taken for one.
    seen: HashMap<u64, usize>,
    hasher: RandomState,
    parts: Vec<Part>,
    /// The part that is being read.
    within: Against,
    links_max: usize,
    dropped: u64,
    unusable: u64,
}

impl Collector {
    pub(super) fn new(links_max: usize) -> Collector {
        Collector {
            candidates: Vec::new(),
            seen: HashMap::new(),
            hasher: RandomState::new(),
            parts: Vec::new(),
            within: Against::Page,
            links_max,
            dropped: 0,
            unusable: 0,
        }
    }

    /// Takes a link on the page; where it has its place, if it has one.
    pub(super) fn add(&mut self, raw: &str, kind: LinkKind, how: &'static str) -> Option<usize> {
        self.add_against(raw, kind, how, self.within)
    }

    /// Goes into a part whose base is `href`, relative to that of the part around it.
    pub(super) fn enter(&mut self, href: &str) -> Entered {
        let around = self.within;
        let has_room = self.parts.len() < PARTS_MAX && href.len() <= RAW_BYTES_MAX;
        let part = has_room.then_some(self.parts.len());
        if let Some(part) = part {
            self.parts.push(Part { within: around, href: href.to_owned() });
            self.within = Against::Part(part);
        }
        Entered { around, part }
    }

    pub(super) fn leave(&mut self, entered: &Entered) {
        self.within = entered.around;
    }

    /// The base of a part where it is known only after its links.
    pub(super) fn rebase(&mut self, entered: &Entered, href: &str) {
        if let Some(part) = entered.part.and_then(|part| self.parts.get_mut(part))
            && href.len() <= RAW_BYTES_MAX
        {
            href.clone_into(&mut part.href);
        }
    }

    pub(super) fn add_against(
        &mut self,
        raw: &str,
        kind: LinkKind,
        how: &'static str,
        against: Against,
    ) -> Option<usize> {
        let raw = raw.trim_ascii();
        if raw.is_empty() || raw.starts_with('#') {
            return None;
        }
        if raw.len() > RAW_BYTES_MAX || has_foreign_scheme(raw) {
            self.unusable += 1;
            return None;
        }
        let key = self.hasher.hash_one((raw, kind, against));
        if let Some(at) = self.seen.get(&key) {
            return Some(*at);
        }
        if self.candidates.len() >= self.links_max {
            self.dropped += 1;
            return None;
        }
        self.seen.insert(key, self.candidates.len());
        self.candidates.push(Candidate {
            raw: raw.into(),
            kind,
            how,
            against,
            anchor: String::new(),
            said: None,
        });
        Some(self.candidates.len() - 1)
    }

    pub(super) fn len(&self) -> usize {
        self.candidates.len()
    }

    pub(super) fn has_anchor(&self, at: usize) -> bool {
        self.candidates.get(at).is_some_and(|candidate| !candidate.anchor.is_empty())
    }

    /// When the link changed, as the page says; of what is said of it, the latest.
    pub(super) fn said(&mut self, at: usize, said: Said) {
        if let Some(candidate) = self.candidates.get_mut(at) {
            candidate.said = candidate.said.max(Some(said));
        }
    }

    /// The anchor text of a link that has none yet.
    pub(super) fn anchor(&mut self, at: usize, text: &str) {
        if let Some(candidate) = self.candidates.get_mut(at).filter(|candidate| candidate.anchor.is_empty()) {
            text.clone_into(&mut candidate.anchor);
        }
    }

    /// Turns texts into URLs; those that cannot be harvested are counted.
    pub(super) fn finish(
        self,
        page: &CrawlUrl,
        base: Option<&str>,
        encoding: &'static Encoding,
        rules: &UrlRules,
    ) -> Collected {
        let Collector { candidates, hasher, parts, dropped, mut unusable, .. } = self;
        let Ok(address) = Base::new(page) else {
            return Collected { links: Vec::new(), dropped, unusable: unusable + candidates.len() as u64 };
        };
        let bases = Bases::new(address, base, &parts);
        let mut links: Vec<Found> = Vec::with_capacity(candidates.len());
        let mut seen: HashMap<u64, usize> = HashMap::with_capacity(candidates.len());
        for Candidate { raw, kind, how, against, anchor, said } in candidates {
            let base = bases.of(against);
            let Ok(url) = normalise_against(&with_legacy_query(&raw, encoding), base, rules) else {
                unusable += 1;
                continue;
            };
            let key = hasher.hash_one((url.as_str(), kind));
            match seen.get(&key).and_then(|at| links.get_mut(*at)) {
                Some(same) => {
                    same.said = same.said.max(said);
                    if same.anchor.is_empty() {
                        same.anchor = anchor;
                    }
                }
                None => {
                    seen.insert(key, links.len());
                    links.push(Found { url, kind, anchor, how, user_info: has_user_info(&raw), said });
                }
            }
        }
        Collected { links, dropped, unusable }
    }
}

/// What links are resolved against.
struct Bases {
    address: Base,
    page: Base,
    parts: Vec<Base>,
}

impl Bases {
    fn new(address: Base, declared: Option<&str>, parts: &[Part]) -> Bases {
        let page = declared.map_or_else(|| address.clone(), |href| address.clone().declared(href));
        let mut bases = Bases { address, page, parts: Vec::with_capacity(parts.len()) };
        for part in parts {
            let base = bases.of(part.within).clone().declared(&part.href);
            bases.parts.push(base);
        }
        bases
    }

    fn of(&self, against: Against) -> &Base {
        match against {
            Against::Address => &self.address,
            Against::Page => &self.page,
            Against::Part(at) => self.parts.get(at).unwrap_or(&self.page),
        }
    }
}

/// Whether a link names a user, which its URL does not. Browsers take any number of slashes, and
/// backslashes, before the authority.
fn has_user_info(raw: &str) -> bool {
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let from = if raw.starts_with(is_slash) { Some(0) } else { raw.find(':').map(|colon| colon + 1) };
    let after = from.map_or("", |from| &raw[from..]);
    let authority = after.trim_start_matches(is_slash);
    let slashes = after.len() - authority.len();
    slashes >= 2 && authority.split(['/', '?', '#', '\\']).next().unwrap_or_default().contains('@')
}

/// `mailto:`, `javascript:`, `data:` and all the others that are not fetched by HTTP.
fn has_foreign_scheme(raw: &str) -> bool {
    let Some(end) = raw.find([':', '/', '?', '#']).filter(|at| raw.as_bytes()[*at] == b':') else {
        return false;
    };
    let scheme = &raw[..end];
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        && !scheme.eq_ignore_ascii_case("http")
        && !scheme.eq_ignore_ascii_case("https")
}

/// On a page in an old encoding the query of a link is sent in that encoding, the rest of it in
/// UTF-8 (WHATWG URL, 4.4).
pub fn with_legacy_query<'r>(raw: &'r str, encoding: &'static Encoding) -> std::borrow::Cow<'r, str> {
    let encoding = encoding.output_encoding();
    let Some(from) = raw.find('?').filter(|_| encoding != encoding_rs::UTF_8 && !raw.is_ascii()) else {
        return raw.into();
    };
    let (path, query) = raw.split_at(from);
    let (query, fragment) = query.split_at(query.find('#').unwrap_or(query.len()));
    if path.contains('#') || query.is_ascii() {
        return raw.into();
    }
    let mut text = path.to_owned();
    for c in query.chars() {
        if c.is_ascii() {
            text.push(c);
            continue;
        }
        let mut utf8 = [0; 4];
        let (bytes, _, unmappable) = encoding.encode(c.encode_utf8(&mut utf8));
        let bare = |byte: u8| unmappable && byte.is_ascii_digit();
        text.extend(
            bytes
                .iter()
                .map(|byte| if bare(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") }),
        );
    }
    text.push_str(fragment);
    text.into()
}
