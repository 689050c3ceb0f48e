//! Which seed a URL belongs to (page 2 of the specification, O1–O10).
//!
//! A link is judged in the scope of one seed, its **context** (O1–O5): the seed of the page it
//! stood on, unless the URL is out of that one's scope and another seed matches it best. A URL that
//! is already queued with another seed than its context is **contested** (O6–O8): the best match
//! wins, and where neither is it, the better [`Claim`], then the key that sorts first. That is one
//! total order of all seeds that ever claim a URL, so whoever is least in it ends up as owner
//! whatever the order of the links (O9).
//!
//! A claim is the page's that made it (O10). A page passes from one seed to another when a better
//! claim to *it* comes along, and what it claimed before for its former seed must not outlive that:
//! else the former seed keeps what it would never have got had the better claim come first. So a
//! record remembers by whose claim it has its owner ([`Via`]). When that page names the URL again
//! for another seed, its new claim replaces the old one without competing with it; when it no
//! longer has a claim to make, nobody has one until another page makes its own. A URL that nobody
//! claims is harvested once more, which takes back what it claimed itself, and goes. Claims that
//! lost are not remembered: whoever lost makes its claim again when its page is next harvested.

use serde::{Deserialize, Serialize};

use crate::rule::Rule;
use crate::time::Span;

/// Where a link comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    /// It is no link: this seed is being started (F2).
    Start(&'a str),
    /// A page that belongs to this seed.
    Page(&'a str),
    /// A page that nobody claims any more ([`Via::Nobody`]): it claims nothing.
    Unclaimed,
}

/// The seed in whose scope a link is judged, and why that one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context<'a> {
    pub seed: &'a str,
    pub rule: Rule,
}

/// By whose claim a URL has its owner (O10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Via {
    /// Its seed was started; or the claim is from before pages were remembered.
    #[default]
    Start,
    /// A page named it. Both are fingerprints: they are compared, never read back.
    Page {
        page: u32,
        /// The seed the page belonged to.
        seed: u32,
    },
    /// The page that claimed it belongs to another seed by now, in whose scope it is not. It is
    /// harvested once more, so that it takes back what it claimed itself, and goes, unless
    /// another page claims it before.
    Nobody,
}

impl Via {
    /// A page that belongs to this seed.
    pub fn page(url: &str, seed: &str) -> Via {
        Via::Page { page: fingerprint(url), seed: fingerprint(seed) }
    }

    /// The page; none if it was no page.
    pub fn page_fingerprint(self) -> Option<u32> {
        match self {
            Via::Page { page, .. } => Some(page),
            Via::Start | Via::Nobody => None,
        }
    }
}

/// FNV-1a of 64 bits, folded: the same in every build, since records keep it. Two pages that share
/// one and name the same URL would be taken for one: that costs one of them its claim until its
/// next harvest.
fn fingerprint(text: &str) -> u32 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let folded = (hash >> 32) ^ (hash & u64::from(u32::MAX));
    u32::try_from(folded).unwrap_or(u32::MAX)
}

/// What a seed can offer a URL; the better claim is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// In scope of active profiles, the fastest of which harvests this often.
    Every(Span),
    /// In scope of inactive profiles only, or of an inactive seed.
    Inactive,
    /// Not in scope, or the seed is gone.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner<'a> {
    pub seed: &'a str,
    pub rule: Rule,
}

/// O1–O5; none for a page that nobody claims. `best` is the best match; `in_scope_of_parent` is
/// about the seed of the page.
pub fn context<'a>(
    origin: Origin<'a>,
    best: Option<&'a str>,
    in_scope_of_parent: bool,
) -> Option<Context<'a>> {
    let parent = match origin {
        Origin::Start(own) => return Some(Context { seed: own, rule: Rule::O1 }),
        Origin::Page(parent) => parent,
        Origin::Unclaimed => return None,
    };
    Some(match best {
        None => Context { seed: parent, rule: Rule::O2 },
        Some(best) if best == parent => Context { seed: parent, rule: Rule::O3 },
        Some(_) if in_scope_of_parent => Context { seed: parent, rule: Rule::O4 },
        Some(best) => Context { seed: best, rule: Rule::O5 },
    })
}

/// O6–O8: who owns a URL that is in scope of `context` and queued with `queued`, another seed.
pub fn owner<'a>(context: (&'a str, Claim), queued: (&'a str, Claim), best: Option<&str>) -> Owner<'a> {
    if best == Some(context.0) {
        return Owner { seed: context.0, rule: Rule::O6 };
    }
    if best == Some(queued.0) {
        return Owner { seed: queued.0, rule: Rule::O7 };
    }
    let context_is_better = (context.1, context.0) < (queued.1, queued.0);
    Owner { seed: if context_is_better { context.0 } else { queued.0 }, rule: Rule::O8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(cell: &str) -> Option<&str> {
        (cell != "-").then_some(cell)
    }

    #[test]
    fn o1_to_o5_the_scope_context() {
        let table = "
            P | own | B | in scope of P | C | rule
            - | a   | a | yes           | a | O1
            - | a   | b | no            | a | O1
            p | -   | - | yes           | p | O2
            p | -   | - | no            | p | O2
            p | -   | p | yes           | p | O3
            p | -   | p | no            | p | O3
            p | -   | b | yes           | p | O4
            p | -   | b | no            | b | O5";
        for line in table.lines().filter(|line| line.contains('|')).skip(1) {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let origin = named(cells[0]).map_or(Origin::Start(cells[1]), Origin::Page);
            let found = context(origin, named(cells[2]), cells[3] == "yes").unwrap();
            assert_eq!((found.seed, found.rule.as_str()), (cells[4], cells[5]), "{line}");
        }
    }

    #[test]
    fn o6_to_o8_the_owner_of_a_contested_url() {
        let table = "
            C, every | S, every | B | owner | rule
            c 9      | s 1      | c | c     | O6
            c 1      | s 9      | s | s     | O7
            c 1      | s 9      | - | c     | O8
            c 9      | s 1      | - | s     | O8
            c 1      | s 9      | x | c     | O8
            c 5      | s 5      | - | c     | O8
            s 5      | c 5      | - | c     | O8
            c off    | s 9      | - | s     | O8
            s off    | c off    | - | c     | O8
            s off    | c gone   | - | s     | O8";
        let claim = |cell: &'static str| {
            let (seed, every) = cell.split_once(' ').unwrap();
            let claim = match every {
                "off" => Claim::Inactive,
                "gone" => Claim::None,
                days => Claim::Every(Span::days(days.parse().unwrap())),
            };
            (seed, claim)
        };
        for line in table.lines().filter(|line| line.contains('|')).skip(1) {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let found = owner(claim(cells[0]), claim(cells[1]), named(cells[2]));
            assert_eq!((found.seed, found.rule.as_str()), (cells[3], cells[4]), "{line}");
        }
    }
}
