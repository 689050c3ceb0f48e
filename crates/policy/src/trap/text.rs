//! What a page says, as numbers: the features of its text and a sketch of them.
//!
//! Features are single words and pairs of neighbours, hashed. The sketch is one-permutation min-wise
//! hashing with one bit a bucket: two pages that share the fraction `j` of their features differ in
//! about `32 × (1 − j)` of its 64 bits. Words are what lies between blanks and marks, as bytes: no
//! encoding is asked for, since a page is compared with pages of its own site. Numbers up to 31 and
//! numbers that are years count for nothing: they are what a calendar changes.
//!
//! Every page is read so, and where words end nobody can foresee: what costs time is a processor that
//! guesses wrong. So words are found eight bytes at a time, and what is kept or left out is counted
//! rather than decided: less than half the time of reading byte by byte, for the same numbers.

use serde::{Deserialize, Serialize};

use super::hash;
use crate::model::LinkKind;
use crate::url::CrawlUrl;

/// Text beyond this is not looked at.
pub const TEXT_BYTES_MAX: usize = 64 << 10;
/// Beyond this, only some pieces of it are.
const DENSE_BYTES_MAX: usize = 8 << 10;
const PIECES_SKIPPED: u32 = 4;
const PIECE_BYTES_MAX: usize = 1 << 10;
/// Features that are kept of a page; beyond them, only every second hash counts, every fourth, …
const FEATURES_MAX: usize = 1024;
const BUCKETS: usize = 64;
/// What a page shows is looked at up to here.
const SHOWN_MAX: usize = 64;
/// Numbers and codes of an address.
const OWN_MAX: usize = 8;
/// Pages whose sketches differ in no more bits say the same.
const SAME_BITS_MAX: u32 = 3;
/// Where they differ in no more, a page has changed a little.
const LITTLE_BITS_MAX: u8 = 8;

/// What is known of a page's text. Nothing where there was none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    pub sketch: Sketch,
    /// Without an order; some may be twice.
    pub features: Vec<u32>,
    /// There was more than was looked at: then nobody knows what else it says.
    pub cut: bool,
    /// Addresses of the pictures and frames it shows, hashed.
    pub shows: Vec<u32>,
}

impl Text {
    /// What the page shows, of its links.
    pub fn show<'a>(&mut self, links: impl IntoIterator<Item = (&'a CrawlUrl, LinkKind)>) {
        let shown = links.into_iter().filter(|(_, kind)| *kind == LinkKind::Requisite);
        self.shows = shown.take(SHOWN_MAX).map(|(url, _)| address(url)).collect();
    }
}

/// Without its query, since what follows is often a version.
fn address(url: &CrawlUrl) -> u32 {
    let end = url.as_str().find('?').unwrap_or(url.as_str().len());
    hash(&url.as_str().as_bytes()[..end])
}

/// 64 bits that are nearly the same for texts that are nearly the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sketch(pub u64);

impl Sketch {
    /// Bits in which they differ.
    pub fn distance(self, other: Sketch) -> u32 {
        (self.0 ^ other.0).count_ones()
    }

    pub fn is_next_to(self, other: Sketch) -> bool {
        self.distance(other) <= SAME_BITS_MAX
    }

    /// Whether the page that was the one and is the other has changed a little only.
    pub fn changed_little(self, other: Sketch) -> bool {
        self.distance(other) <= u32::from(LITTLE_BITS_MAX)
    }
}

/// How far the text of a page moved from one harvest to the next: bits of its sketch, of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moved(pub u8);

impl Moved {
    /// Up to here it is a little.
    pub const LITTLE_MAX: Moved = Moved(LITTLE_BITS_MAX);

    pub fn between(before: Sketch, now: Sketch) -> Option<Moved> {
        u8::try_from(before.distance(now)).ok().map(Moved)
    }

    /// A little only: a date, a counter, a headline among many. Beyond it is another text.
    pub fn is_little(self) -> bool {
        self.0 <= LITTLE_BITS_MAX
    }
}

impl std::fmt::Display for Moved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bits = self.0;
        match self.is_little() {
            true => write!(f, "changed a little ({bits} of 64 bits of its sketch; up to {LITTLE_BITS_MAX})"),
            false => {
                write!(f, "changed ({bits} of 64 bits of its sketch; a little is up to {LITTLE_BITS_MAX})")
            }
        }
    }
}

/// Takes the text of a page, piece by piece.
#[derive(Clone, Debug)]
pub struct Sketcher {
    /// The first of them are kept, one more has room; empty before the first word.
    features: Vec<u32>,
    kept: usize,
    /// Hashes that have these bits are left out.
    sieve: u32,
    least: [u32; BUCKETS],
    before: u32,
    bytes: usize,
    pieces: u32,
    words: u32,
    /// Numbers and codes that stand in the page's own address.
    own: Vec<u32>,
}

impl Default for Sketcher {
    fn default() -> Sketcher {
        Sketcher {
            features: Vec::new(),
            kept: 0,
            sieve: 0,
            least: [u32::MAX; BUCKETS],
            before: 0,
            bytes: 0,
            pieces: 0,
            words: 0,
            own: Vec::new(),
        }
    }
}

impl Sketcher {
    /// Of the page at this address: what is numbered in it says nothing on the page.
    pub fn at(url: &CrawlUrl) -> Sketcher {
        let runs = url.path_and_query().split(|c: char| !c.is_ascii_alphanumeric());
        let numbered = runs.filter(|run| run.bytes().any(|byte| byte.is_ascii_digit()));
        let own = numbered.take(OWN_MAX).map(|run| hash_of(run.as_bytes())).collect();
        Sketcher { own, ..Sketcher::default() }
    }

    pub fn has_room(&self) -> bool {
        self.bytes < TEXT_BYTES_MAX
    }

    /// A piece of text between two tags: words do not go on beyond it.
    pub fn text(&mut self, text: &[u8]) {
        let dense = DENSE_BYTES_MAX.saturating_sub(self.bytes);
        self.bytes = self.bytes.saturating_add(text.len());
        self.pieces += u32::from(dense == 0);
        if !self.pieces.is_multiple_of(PIECES_SKIPPED) {
            return;
        }
        let text = &text[..text.len().min(if dense == 0 { PIECE_BYTES_MAX } else { dense })];
        let (mut start, mut inside) = (0, false);
        for (at, block) in text.chunks(BLOCK_BYTES).enumerate() {
            let words = word_bytes(block);
            // Where a byte is of a word and the one before it is not, or the other way round.
            let mut edges = words ^ (words << 1 | u64::from(inside));
            inside = words >> (BLOCK_BYTES - 1) == 1;
            while let Some(edge) = lowest(&mut edges) {
                let is_start = words >> edge & 1 == 1;
                // Beyond a short block nothing is of a word: one that reaches its end ends there.
                let edge = at * BLOCK_BYTES + edge;
                if is_start {
                    start = edge;
                } else {
                    self.word(text, start, edge);
                }
            }
        }
        if inside {
            self.word(text, start, text.len());
        }
    }

    #[inline]
    fn word(&mut self, text: &[u8], start: usize, end: usize) {
        let hash = hash_at(text, start, end);
        if text[start].is_ascii_digit() && is_of_calendars(&text[start..end])
            || !self.own.is_empty() && self.own.contains(&hash)
        {
            return;
        }
        self.words += 1;
        self.feature(mixed(hash));
        if self.before != 0 {
            self.feature(mixed(self.before.rotate_left(5) ^ hash));
        }
        self.before = hash | 1;
    }

    #[inline]
    fn feature(&mut self, feature: u32) {
        let bucket = &mut self.least[usize::try_from(feature >> 26).unwrap_or(0) % BUCKETS];
        *bucket = (*bucket).min(feature);
        if self.features.is_empty() {
            self.features.resize(FEATURES_MAX + 1, 0);
        }
        self.features[self.kept] = feature;
        self.kept += usize::from(feature & self.sieve == 0);
        if self.kept > FEATURES_MAX {
            self.sift();
        }
    }

    /// Leaves out every second one, until there is room. Where that leaves nearly all of them, a page
    /// says the same few words again and again: each stays once, for no sieve would part them.
    fn sift(&mut self) {
        while self.kept > FEATURES_MAX {
            self.sieve = self.sieve << 1 | 1;
            let mut kept = 0;
            for at in 0..self.kept {
                let feature = self.features[at];
                self.features[kept] = feature;
                kept += usize::from(feature & self.sieve == 0);
            }
            self.kept = kept;
            if kept > FEATURES_MAX / 4 * 3 {
                self.features[..kept].sort_unstable();
                self.features.truncate(kept);
                self.features.dedup();
                self.kept = self.features.len();
                self.features.resize(FEATURES_MAX + 1, 0);
            }
        }
    }

    /// None: there was no word.
    pub fn finish(mut self) -> Option<Text> {
        if self.words == 0 {
            return None;
        }
        self.features.truncate(self.kept);
        let bit = |(at, least): (usize, &u32)| u64::from((least >> 3) & 1) << at;
        let sketch = self.least.iter().enumerate().map(bit).sum();
        Some(Text {
            sketch: Sketch(sketch),
            features: self.features,
            cut: self.bytes >= TEXT_BYTES_MAX,
            shows: Vec::new(),
        })
    }

    /// Of a whole text at once.
    pub fn of(text: &str) -> Option<Text> {
        let mut sketcher = Sketcher::default();
        sketcher.text(text.as_bytes());
        sketcher.finish()
    }
}

/// Eight bytes more of a word.
fn folded(hash: u64, piece: u64) -> u64 {
    (hash.rotate_left(29) ^ piece).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn high(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or(0)
}

fn hash_of(word: &[u8]) -> u32 {
    let (pieces, rest) = word.as_chunks::<8>();
    let hash = pieces.iter().fold(0, |hash, piece| folded(hash, u64::from_be_bytes(*piece)));
    high(folded(hash, rest.iter().fold(0, |piece, byte| piece << 8 | u64::from(*byte))))
}

/// [`hash_of`] a word where it stands: nearly all are short, and have text behind them that can be read
/// along.
#[inline]
fn hash_at(text: &[u8], start: usize, end: usize) -> u32 {
    let len = end - start;
    let Some((both, _)) = text[start..].split_first_chunk::<16>().filter(|_| len < 16) else {
        return hash_of(&text[start..end]);
    };
    let (eights, _) = both.as_chunks::<8>();
    let (first, second) = (u64::from_be_bytes(eights[0]), u64::from_be_bytes(eights[1]));
    let (hash, rest) = if len >= 8 { (folded(0, first), second) } else { (0, first) };
    high(folded(hash, rest >> 8 >> (56 - 8 * (len % 8))))
}

/// Bytes whose marks fit in a word of the machine.
const BLOCK_BYTES: usize = 64;

/// Which bytes of a block are of words (letters, digits, and whatever is not ASCII), the first in the
/// lowest bit.
fn word_bytes(block: &[u8]) -> u64 {
    let (eights, rest) = block.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let eights = eights.iter().chain((!rest.is_empty()).then_some(&last));
    let marks = eights.enumerate().map(|(at, eight)| packed(marks(u64::from_le_bytes(*eight))) << (8 * at));
    marks.fold(0, |all, marks| all | marks)
}

/// The highest bit of each byte that is of a word. Sums stay within their bytes, as they are at most
/// 0x7F + 0x7F.
fn marks(eight: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    let ascii = eight & !HIGH;
    let small = ascii | (0x20 * EACH);
    let from = |bytes: u64, first: u8| bytes + u64::from(0x80 - first) * EACH;
    let is_digit = from(ascii, b'0') & !from(ascii, b'9' + 1);
    // 0x40 and up: what is below has become something else in small letters, but no letter.
    let is_letter = from(small, b'a') & !from(small, b'z' + 1) & from(ascii, 0x40);
    (is_digit | is_letter | eight) & HIGH
}

/// The highest bits of eight bytes, side by side.
fn packed(marks: u64) -> u64 {
    (marks >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Takes the lowest bit that is set.
fn lowest(bits: &mut u64) -> Option<usize> {
    let at = (*bits != 0).then(|| bits.trailing_zeros() as usize);
    *bits &= bits.wrapping_sub(1);
    at
}

/// A number that is a day, an hour, a month or a year.
fn is_of_calendars(word: &[u8]) -> bool {
    let number = str::from_utf8(word).ok().and_then(|text| text.parse::<u32>().ok());
    word.len() <= 4 && number.is_some_and(|number| number <= 31 || (1000..10_000).contains(&number))
}

/// Spreads a hash over all its bits (the end of MurmurHash3).
fn mixed(mut hash: u32) -> u32 {
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85EB_CA6B);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xC2B2_AE35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Words byte by byte.
    fn words(text: &[u8]) -> Vec<&[u8]> {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
        text.split(|byte| !is_word(byte)).filter(|word| !word.is_empty()).collect()
    }

    proptest! {
        #[test]
        fn f37_words_are_found_wherever_they_stand(
            text in prop::collection::vec(prop_oneof![Just(b' '), Just(b'x'), 0x2Fu8..=0x3B, any::<u8>()], 0..300),
        ) {
            let mut sketcher = Sketcher::default();
            sketcher.text(&text);
            let counted: Vec<u32> = words(&text).into_iter().filter(|word| !is_of_calendars(word)).map(hash_of).collect();
            let pairs = counted.windows(2).map(|two| mixed((two[0] | 1).rotate_left(5) ^ two[1]));
            let expected: BTreeSet<u32> = counted.iter().map(|hash| mixed(*hash)).chain(pairs).collect();
            let found = sketcher.finish().map(|text| text.features).unwrap_or_default();
            prop_assert_eq!(found.into_iter().collect::<BTreeSet<u32>>(), expected);
        }
    }

    fn page(n: u32) -> String {
        (0..300).map(|word| format!("word{} ", word + if word % 300 < n { 1000 } else { 0 })).collect()
    }

    #[test]
    fn f37_sketches_of_like_texts_are_alike() {
        let of = |text: &str| Sketcher::of(text).unwrap().sketch;
        assert!(of(&page(0)).is_next_to(of(&page(0))));
        assert!(of(&page(0)).is_next_to(of(&page(4))));
        assert!(of(&page(0)).changed_little(of(&page(20))));
        assert!(!of(&page(0)).changed_little(of(&page(200))));
        assert_eq!(of("Nothing on 3 May 2031"), of("Nothing on 14 May 2099"));
        assert_eq!(Sketcher::of(" 12 - 31 "), None, "nothing is left of the numbers of a calendar");
    }

    /// A page of `l>` a thousand times over was out of bounds: the sieve let its one word through.
    #[test]
    fn f37_a11_the_same_words_again_and_again_are_kept_within_bounds() {
        for word in 0..200 {
            let text =
                Sketcher::of(&format!("first w{word} {}last", format!("w{word} ").repeat(4000))).unwrap();
            assert!(text.features.len() <= FEATURES_MAX, "w{word}: {}", text.features.len());
        }
        let mut sketcher = Sketcher::default();
        for n in 0..10 * u32::try_from(FEATURES_MAX).unwrap() {
            // No sieve leaves out the one, and all but the last leave in what the others are.
            sketcher.feature(if n % 3 == 0 { 0 } else { 1 << 31 | n << 16 });
            assert!(sketcher.kept <= FEATURES_MAX);
        }
    }

    #[test]
    fn f37_what_is_kept_of_a_text_is_bounded() {
        let long: String = (0..100_000).map(|n| format!("w{n} ")).collect();
        let text = Sketcher::of(&long).unwrap();
        assert!(text.cut);
        assert!(text.features.len() <= FEATURES_MAX, "{}", text.features.len());
        assert!(text.features.len() >= FEATURES_MAX / 4);
    }
}
