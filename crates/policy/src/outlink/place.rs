//! The seed a link is judged for, and where the URL stands from it (O1–O5).

use crate::catalog::{Catalog, SeedEntry};
use crate::model::Position;
use crate::outlink::{Outlink, Parent};
use crate::owner::{Context, Origin, context};
use crate::standing::{Past, Standing, Subject};

#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) context: Context<'a>,
    pub(super) position: Position,
    pub(super) standing: Standing,
}

/// Judges for the parent's seed first, and for the best match where O5 asks for it. None: the page
/// claims nothing.
pub(super) fn place<'a>(
    catalog: &'a Catalog,
    parent: &Parent<'a>,
    link: &Outlink,
    best: Option<&'a str>,
    past: &Past,
) -> Option<Place<'a>> {
    let subject = Subject { catalog, collection: parent.collection, url: &link.url };
    let judged = |key: &str, position: &dyn Fn(&SeedEntry) -> Position| {
        let Some(entry) = catalog.seed(key) else { return (Position::default(), Standing::NONE) };
        let position = if entry.url == link.url { Position::SEED } else { position(entry) };
        (position, subject.standing(entry, position, past))
    };
    let (position, standing) = match parent.origin {
        Origin::Start(own) => judged(own, &|_| Position::SEED),
        Origin::Page(seed) => judged(seed, &|entry| follow(parent, link, entry)),
        Origin::Unclaimed => return None,
    };
    let context = context(parent.origin, best, standing.is_in_scope())?;
    let by_parent = matches!(parent.origin, Origin::Start(seed) | Origin::Page(seed) if seed == context.seed);
    let (position, standing) = match by_parent {
        true => (position, standing),
        false => judged(context.seed, &|_| Position::LINKED_FROM_SEED),
    };
    Some(Place { context, position, standing })
}

fn follow(parent: &Parent<'_>, link: &Outlink, entry: &SeedEntry) -> Position {
    Position::follow(&parent.position, link.kind, entry.domain(), &link.url)
}
