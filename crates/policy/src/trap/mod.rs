//! Traps are noticed (F37): a host that brings ever more URLs and nothing new.
//!
//! # What tells a trap from a large site
//!
//! Not the number of its URLs: a forum has 100,000 threads of one template, and each says something
//! that no other says. Not a date in the path: an archive has a page for every day. Not even that
//! pages look alike: the pages of a shop share nine tenths of their words. What a trap lacks is
//! **new information**, page after page. So the evidence is what a page says that no page of its
//! template said before it:
//!
//! - its words, single and in pairs, without those numbers that name days and years or stand in the
//!   page's own address, which a calendar changes on every page and which tell nothing. A new price,
//!   a new name or a new date of birth is something new; four such pieces are asked for, so that a
//!   clock or a counter in the page's foot does not pass for news;
//! - what it shows: a picture at an address nobody named before (a gallery has no words);
//! - where it leads: a URL that was not known, of a template that is not stale itself. The page of a
//!   day that leads to an article is worth its harvest though all it says is "one article"; one that
//!   leads to nothing but other days is not.
//!
//! A page without any of these is **stale**. It is **alike** if it is stale and its [sketch](text)
//! is also next to that of one of the last pages, so that a list that shows known things in another
//! order is stale but not alike. Suspicions count the last 64 pages of a template, never all, so
//! that a calendar whose past was full of events is found when its future is empty.
//!
//! | kind | is suspected when |
//! |---|---|
//! | [`Kind::Calendar`] | pages of a template with dates are alike, and it grows *outwards*: dates lie more than two years ahead or before 1900, or every page brings another |
//! | [`Kind::Alike`] | nearly all pages of a template are alike, and there are hundreds of its URLs, or each brings the next |
//! | [`Kind::Growing`] | paths say the same segments again and again, ever deeper, and their pages are stale; without pages, only when the paths are very deep |
//! | [`Kind::Sessions`] | pages of the same address but for one value that looks drawn are the same, for several addresses; pages that differ prove the value to be an id |
//! | [`Kind::Facets`] | the same parameters come in many orders (which needs no pages: a site that orders its parameters has one address a page), or in many combinations whose pages are stale |
//!
//! That **one template produces most of a host's new URLs** is a figure of each suspicion and part of
//! its score, and none by itself: it holds for every honest forum.
//!
//! What is suspected is said as the expression that would end it, a line for `exclude`; what a
//! profile with `traps: hold` keeps back is exactly what that line would exclude. Examples are only
//! URLs that it does exclude.
//!
//! # Bounds
//!
//! All of a host is at most [`TEMPLATES_MAX`] templates and a few small tables. Templates whose
//! neighbours differ in one segment only become one, with a wildcard; where there are too many, the
//! quietest are forgotten. What was said before is a sieve of 8,192 bits a template, begun anew when
//! a quarter is full: so what is new is mistaken for old at most every fourth time, and a site that
//! brings news keeps forgetting and is never stale, while what a trap says fits in it for ever.

mod dates;
mod facets;
mod growing;
mod remedy;
mod sense;
mod sessions;
mod shape;
mod suspicion;
pub mod text;
mod track;

pub use sense::{FOUND_MAX, Observed, Sense, TEMPLATES_MAX};
pub use suspicion::{Decision, Figures, Kind, Remedy, Suspicion};

use serde::{Deserialize, Serialize};

use crate::model::Profile;

/// URLs that a suspicion shows.
pub const EXAMPLES_MAX: usize = 10;
/// Suspicions of one host in one collection.
pub const SUSPICIONS_MAX: usize = 16;

/// What a profile does about suspicions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Traps {
    /// They are shown.
    #[default]
    Warn,
    /// What they cover also stays in the queue, not due, until somebody decides.
    Hold,
}

impl Traps {
    pub const ALL: [Traps; 2] = [Traps::Warn, Traps::Hold];

    pub fn as_str(self) -> &'static str {
        match self {
            Traps::Warn => "warn",
            Traps::Hold => "hold",
        }
    }
}

/// Whether a suspected URL is held for these profiles, which would harvest it: only if all say so,
/// since one harvest serves all of them.
pub fn is_held<'a>(profiles: impl IntoIterator<Item = &'a Profile>) -> bool {
    let mut profiles = profiles.into_iter().peekable();
    profiles.peek().is_some() && profiles.all(|profile| profile.traps == Traps::Hold)
}

/// FNV-1a over 32 bits, the same in every process: some of it is stored.
pub(crate) fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// A share in hundredths.
fn percent(part: u32, of: u32) -> u8 {
    let share = u64::from(part) * 100 / u64::from(of.max(1));
    u8::try_from(share.min(100)).unwrap_or(100)
}
