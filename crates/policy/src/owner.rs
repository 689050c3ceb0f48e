//! Which seed a URL belongs to (page 2 of the specification, O1–O9).
//!
//! A link is judged in the scope of one seed, its **context** (O1–O5): the seed of the page it stood on, unless
//! the URL is out of that one's scope and another seed matches it best. A URL that is already queued with
//! another seed than its context is **contested** (O6–O8): the best match wins, and where neither is it, the
//! better [`Claim`], then the key that sorts first. That is one total order of all seeds that ever claim a URL,
//! so whoever is least in it ends up as owner whatever the order of the links (O9).

use crate::rule::Rule;
use crate::time::Span;

/// Where a link comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    /// It is no link: this seed is being started (F2).
    Start(&'a str),
    /// A page that belongs to this seed.
    Page(&'a str),
}

/// The seed in whose scope a link is judged, and why that one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context<'a> {
    pub seed: &'a str,
    pub rule: Rule,
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

/// O1–O5. `best` is the best match; `in_scope_of_parent` is about the seed of the page.
pub fn context<'a>(origin: Origin<'a>, best: Option<&'a str>, in_scope_of_parent: bool) -> Context<'a> {
    let parent = match origin {
        Origin::Start(own) => return Context { seed: own, rule: Rule::O1 },
        Origin::Page(parent) => parent,
    };
    match best {
        None => Context { seed: parent, rule: Rule::O2 },
        Some(best) if best == parent => Context { seed: parent, rule: Rule::O3 },
        Some(_) if in_scope_of_parent => Context { seed: parent, rule: Rule::O4 },
        Some(best) => Context { seed: best, rule: Rule::O5 },
    }
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
            let found = context(origin, named(cells[2]), cells[3] == "yes");
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
