//! Where a URL stands relative to a seed, and how following a link moves it.
//!
//! A seed stands at zero. A link goes one deeper; a redirect and a page requisite stay at the depth
//! of the page that named them, at most [`CHAIN_MAX`] in a row, after which each further one counts
//! as a link. Off-domain hops start to count when the path leaves the seed's registrable domain and
//! are forgotten when it comes back.
//!
//! Of two positions of one URL under one seed, F23 keeps one: the smaller where neither of its
//! numbers is larger ([`Position::dominates`]), for such a position is in scope of whatever the
//! other is in scope of. Where each is smaller in something, [`crate::outlink`] keeps the one that
//! is harvested more often, and only then the one that sorts first. Mixing the two into a position
//! no path ever had would make the owner depend on the order of the links (O9).

use std::cmp::Ordering;

use crate::model::{CHAIN_MAX, LinkKind, Position};
use crate::url::CrawlUrl;

impl Position {
    /// The seed's own page.
    pub const SEED: Position = Position { depth: 0, hops: 0, chain: 0, requisite: false };

    /// Linked from the seed's own page (O5).
    pub const LINKED_FROM_SEED: Position = Position { depth: 1, ..Position::SEED };

    /// Where `url` stands when a page at `parent` names it.
    #[must_use]
    pub fn follow(parent: &Position, kind: LinkKind, seed_domain: &str, url: &CrawlUrl) -> Position {
        let chain = match kind {
            LinkKind::Link => 0,
            LinkKind::Redirect | LinkKind::Requisite => parent.chain.saturating_add(1),
        };
        let counts_as_link = kind == LinkKind::Link || chain > CHAIN_MAX;
        let hops = match url.is_in_domain(seed_domain) {
            true => 0,
            false if counts_as_link => parent.hops.saturating_add(1),
            false => parent.hops.max(1),
        };
        Position {
            depth: parent.depth.saturating_add(u32::from(counts_as_link)),
            hops,
            chain,
            requisite: kind == LinkKind::Requisite || (kind == LinkKind::Redirect && parent.requisite),
        }
    }

    /// In nothing worse than the other, so in scope wherever the other is.
    pub fn dominates(&self, other: &Position) -> bool {
        self.depth <= other.depth
            && self.hops <= other.hops
            && self.chain <= other.chain
            && self.requisite >= other.requisite
    }

    /// A total order that agrees with [`Position::dominates`]: the better one is less.
    pub fn order(&self, other: &Position) -> Ordering {
        let key = |p: &Position| (p.depth, p.hops, p.chain, !p.requisite);
        key(self).cmp(&key(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::{UrlRules, normalise};

    fn url(text: &str) -> CrawlUrl {
        normalise(text, None, &UrlRules::default()).unwrap()
    }

    /// Walks a path `kind url, kind url, …` from the seed and writes depth/hops/chain, `r` for a
    /// requisite.
    fn walk(path: &str) -> String {
        let mut position = Position::SEED;
        for step in path.split(',') {
            let (kind, host) = step.trim().split_once(' ').unwrap();
            let kind = match kind {
                "link" => LinkKind::Link,
                "img" => LinkKind::Requisite,
                "3xx" => LinkKind::Redirect,
                other => panic!("{other}"),
            };
            position = Position::follow(&position, kind, "vg.no", &url(&format!("http://{host}/")));
        }
        let requisite = if position.requisite { "r" } else { "" };
        format!("{}/{}/{}{requisite}", position.depth, position.hops, position.chain)
    }

    #[test]
    fn f34_depth_and_hops_along_a_path() {
        let table = "
            link vg.no                                      | 1/0/0
            link vg.no, link www.vg.no                      | 2/0/0
            link a.no                                       | 1/1/0
            link a.no, link b.no                            | 2/2/0
            link a.no, link vg.no                           | 2/0/0
            link a.no, link vg.no, link a.no                | 3/1/0
            3xx a.no                                        | 0/1/1
            3xx a.no, 3xx b.no                              | 0/1/2
            link a.no, 3xx b.no                             | 1/1/1
            img cdn.no                                      | 0/1/1r
            img cdn.no, 3xx cdn2.no                         | 0/1/2r
            img cdn.no, link x.no                           | 1/2/0
            3xx vg.no, 3xx vg.no, 3xx vg.no, 3xx vg.no, 3xx vg.no            | 0/0/5
            3xx vg.no, 3xx vg.no, 3xx vg.no, 3xx vg.no, 3xx vg.no, 3xx vg.no | 1/0/6
            img a.no, img a.no, img a.no, img a.no, img a.no, img a.no       | 1/2/6r
            3xx vg.no, 3xx vg.no, link vg.no, 3xx vg.no     | 1/0/1";
        for line in table.lines().filter(|line| line.contains('|')) {
            let (path, expected) = line.split_once('|').unwrap();
            assert_eq!(walk(path), expected.trim(), "{path}");
        }
    }

    #[test]
    fn f23_the_order_of_positions_agrees_with_dominance() {
        let some =
            |n: u32| Position { depth: n & 1, hops: n >> 1 & 1, chain: n >> 2 & 1, requisite: n & 8 != 0 };
        for (a, b) in (0..16).flat_map(|a| (0..16).map(move |b| (some(a), some(b)))) {
            if a != b && a.dominates(&b) {
                assert_eq!(a.order(&b), Ordering::Less, "{a:?} {b:?}");
            }
        }
    }
}
