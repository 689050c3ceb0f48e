//! What is known of the pages and URLs of one template.

use serde::{Deserialize, Serialize};

use super::EXAMPLES_MAX;
use super::dates::{self, Month};
use super::text::Text;
use crate::url::CrawlUrl;

/// Pages that are looked back at.
pub(super) const WINDOW: u32 = 64;
/// Pages before what they say is remembered: most templates of most hosts have fewer.
const PAGES_QUIET: u32 = 8;
/// New features of a page from which on it says something new.
const NEW_MIN: u32 = 4;
const SKETCHES_MAX: usize = 16;
const SIEVE_BITS: u32 = 8192;
const SIEVE_WORDS: usize = 128;
/// Bits that are set when a sieve is begun anew.
const SIEVE_FULL: u32 = SIEVE_BITS / 4;
/// Longer URLs are no examples.
const EXAMPLE_BYTES_MAX: usize = 300;

/// The pages and URLs of a template.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Track {
    /// URLs found.
    pub(super) found: u32,
    /// Those found lately: halved now and then, for all templates of the host at once.
    pub(super) recent: u32,
    /// Pages with text that were harvested.
    pub(super) pages: u32,
    /// Of the last pages, the last first: stale, and alike.
    stale: u64,
    alike: u64,
    /// How many of them are known, at most [`WINDOW`].
    pub(super) seen: u32,
    /// URLs of the template that a page of it brings, in hundredths, over about as many pages.
    pub(super) brings: u32,
    sketches: Vec<u64>,
    /// The first and the last date in its URLs, and how many have one.
    pub(super) dates: Option<(Month, Month)>,
    pub(super) dated: u32,
    examples: Vec<String>,
    /// What was found when a suspicion was last told.
    pub(super) told: u32,
    /// What its pages have said. Not stored: it is learned again from a few pages.
    #[serde(skip)]
    sieve: Option<Box<Sieve>>,
}

/// A page that was harvested for the first time.
pub(super) struct Said<'a> {
    pub(super) text: &'a Text,
    /// Whether what it shows counts.
    pub(super) shows: bool,
    /// It leads to a URL that was not known, and of a template worth its harvest.
    pub(super) leads: bool,
}

impl Track {
    pub(super) fn find(&mut self, url: &CrawlUrl) {
        self.found = self.found.saturating_add(1);
        self.recent = self.recent.saturating_add(1);
        if let Some(month) = dates::month_in(url) {
            let (first, last) = self.dates.unwrap_or((month, month));
            self.dates = Some((first.min(month), last.max(month)));
            self.dated = self.dated.saturating_add(1);
        }
        self.example(url.as_str());
    }

    /// The first half stays, so that examples are not only the last.
    fn example(&mut self, url: &str) {
        if url.len() > EXAMPLE_BYTES_MAX {
            return;
        }
        if self.examples.len() == EXAMPLES_MAX {
            self.examples.remove(EXAMPLES_MAX / 2);
        }
        self.examples.push(url.to_owned());
    }

    /// True: the page was stale.
    pub(super) fn page(&mut self, said: &Said<'_>) -> bool {
        self.pages = self.pages.saturating_add(1);
        if self.pages <= PAGES_QUIET {
            return false;
        }
        let sieve = self.sieve.get_or_insert_default();
        let new = said.text.features.iter().filter(|feature| sieve.is_new(**feature)).count();
        let shown = said.text.shows.iter().filter(|shown| sieve.is_new(**shown)).count();
        sieve.renew();
        let stale = u32::try_from(new).is_ok_and(|new| new < NEW_MIN)
            && (shown == 0 || !said.shows)
            && !said.leads
            && !said.text.cut;
        let sketch = said.text.sketch;
        let next_to = |other: &u64| sketch.is_next_to(super::text::Sketch(*other));
        let alike = stale && self.sketches.iter().any(next_to);
        if self.sketches.len() == SKETCHES_MAX {
            self.sketches.remove(0);
        }
        self.sketches.push(sketch.0);
        self.stale = self.stale << 1 | u64::from(stale);
        self.alike = self.alike << 1 | u64::from(alike);
        self.seen = (self.seen + 1).min(WINDOW);
        stale
    }

    pub(super) fn forget_pages(&mut self) {
        (self.stale, self.alike, self.seen) = (0, 0, 0);
        self.sketches.clear();
        self.sieve = None;
    }

    /// A page of the template brought so many URLs of it.
    pub(super) fn bred(&mut self, urls: u32) {
        const PAGES: u32 = 16;
        let brought = urls.min(100) * 100;
        self.brings = (self.brings * (PAGES - 1) + brought) / PAGES;
    }

    pub(super) fn stale(&self) -> u8 {
        super::percent(self.stale.count_ones(), self.seen)
    }

    pub(super) fn alike(&self) -> u8 {
        super::percent(self.alike.count_ones(), self.seen)
    }

    /// Not worth a harvest, as far as is known.
    pub(super) fn is_stale(&self) -> bool {
        self.seen >= WINDOW / 4 && self.stale() >= 80
    }

    pub(super) fn examples(&self) -> &[String] {
        &self.examples
    }

    /// Two templates are one from now on.
    pub(super) fn merge(&mut self, other: Track) {
        self.found = self.found.saturating_add(other.found);
        self.recent = self.recent.saturating_add(other.recent);
        self.pages = self.pages.saturating_add(other.pages);
        self.dated = self.dated.saturating_add(other.dated);
        self.dates = match (self.dates, other.dates) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (own, other) => own.or(other),
        };
        self.brings = self.brings.max(other.brings);
        for example in other.examples {
            self.example(&example);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let examples: usize = self.examples.iter().map(|example| example.len() + size_of::<String>()).sum();
        size_of::<Track>()
            + examples
            + self.sketches.len() * 8
            + self.sieve.as_ref().map_or(0, |_| size_of::<Sieve>())
    }
}

/// Which features there were.
#[derive(Clone, Debug, PartialEq)]
struct Sieve {
    bits: [u64; SIEVE_WORDS],
    set: u32,
}

impl Default for Sieve {
    fn default() -> Sieve {
        Sieve { bits: [0; SIEVE_WORDS], set: 0 }
    }
}

impl Sieve {
    /// Whether it was not there; from now on it is.
    fn is_new(&mut self, feature: u32) -> bool {
        let at = feature.wrapping_mul(0x9E37_79B1) >> 19;
        let word = &mut self.bits[usize::try_from(at / 64).unwrap_or(0) % SIEVE_WORDS];
        let bit = 1 << (at % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        self.set += u32::from(is_new);
        is_new
    }

    fn renew(&mut self) {
        if self.set > SIEVE_FULL {
            *self = Sieve::default();
        }
    }
}
