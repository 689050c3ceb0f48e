//! O9: once all links have been seen, the owner is the same whatever the order in which they were found.
//!
//! A small random web is harvested from its seeds in a random order, over and over until nothing changes; that
//! it comes to rest at all is the half of O9 that says no two seeds take a URL from each other in turns. Every
//! link seen on the way (the page's seed and position at that time, the target) is noted down. The other half:
//! the same notes, read in any other order, give every URL the same owner and position.
//!
//! The notes, not the bare web, because who owns a page decides what its links say: a page that passes from one
//! seed to another shows its links for both in one order of harvests, and for one of them only in another.

use std::collections::BTreeMap;

use policy::catalog::Catalog;
use policy::model::{LinkKind, Position, Record};
use policy::outlink::{Action, Known, Link, Parent, decide};
use policy::owner::Origin;
use policy::url::CrawlUrl;
use proptest::prelude::*;

use crate::world::{day, url, world};

const PAGES: [&str; 9] =
    ["a.no/", "a.no/x", "a.no/x/y", "b.no/", "b.no/x", "www.b.no/x", "c.no/", "tv.a.no/", "d.no/z"];

/// Rounds after which a web this small must have come to rest.
const ROUNDS_MAX: usize = 60;

type Queue = BTreeMap<CrawlUrl, Record>;

/// One link as it was seen.
#[derive(Clone, Debug)]
struct Note {
    start: bool,
    seed: String,
    position: Position,
    link: Link,
}

fn see(catalog: &Catalog, queue: &mut Queue, note: &Note) -> bool {
    let origin = if note.start { Origin::Start(&note.seed) } else { Origin::Page(&note.seed) };
    let parent = Parent { origin, position: note.position, run: 1, collection: "k" };
    let queued = queue.get(&note.link.url).cloned();
    let known = queued.as_ref().map_or(Known::Absent, Known::Queued);
    match decide(catalog, &parent, &note.link, known, day(0)).action {
        Action::Add(record) | Action::Update(record) => {
            queue.insert(note.link.url.clone(), record);
            true
        }
        Action::Remove => queue.remove(&note.link.url).is_some(),
        Action::Ignore | Action::Keep => false,
    }
}

/// Harvests until nothing changes; the notes of everything seen.
fn harvest(catalog: &Catalog, links: &[(usize, usize, LinkKind)], picks: &[usize]) -> (Queue, Vec<Note>) {
    let mut queue = Queue::new();
    let mut notes = Vec::new();
    let mut starts: Vec<_> =
        catalog.seeds().map(|entry| (entry.seed.name.clone(), entry.url.clone())).collect();
    starts.sort();
    let mut events: Vec<Result<usize, (String, CrawlUrl)>> =
        starts.into_iter().map(Err).chain((0..links.len()).map(Ok)).collect();
    for round in 0..=ROUNDS_MAX {
        assert!(round < ROUNDS_MAX, "it does not come to rest: {queue:#?}");
        shuffle(&mut events, &picks[round % picks.len()..]);
        let mut changed = false;
        for event in &events {
            if let Some(note) = note(&queue, links, event) {
                changed |= see(catalog, &mut queue, &note);
                notes.push(note);
            }
        }
        if !changed {
            break;
        }
    }
    (queue, notes)
}

/// A start, or a link of a page that is in the queue.
fn note(
    queue: &Queue,
    links: &[(usize, usize, LinkKind)],
    event: &Result<usize, (String, CrawlUrl)>,
) -> Option<Note> {
    match event {
        Err((seed, target)) => Some(Note {
            start: true,
            seed: seed.clone(),
            position: Position::SEED,
            link: Link { url: target.clone(), kind: LinkKind::Link },
        }),
        Ok(index) => {
            let (from, to, kind) = links[*index];
            let page = queue.get(&url(PAGES[from]))?;
            let link = Link { url: url(PAGES[to]), kind };
            Some(Note { start: false, seed: page.seed.clone(), position: page.position, link })
        }
    }
}

fn shuffle<T>(items: &mut [T], picks: &[usize]) {
    for i in (1..items.len()).rev() {
        let pick = picks[i % picks.len()].wrapping_mul(31).wrapping_add(i * 7);
        items.swap(i, pick % (i + 1));
    }
}

fn owners(queue: &Queue) -> Vec<(String, String, Position)> {
    queue.iter().map(|(url, record)| (url.to_string(), record.seed.clone(), record.position)).collect()
}

fn any_world() -> impl Strategy<Value = String> {
    let within = prop::sample::select(vec!["path", "host", "domain", "any"]);
    let profile = (within, 1..4u32, prop::option::of(0..4u32), 0..3u32, any::<bool>());
    let profile = profile.prop_map(|(within, every, depth, hops, active)| {
        let depth = depth.map_or(String::new(), |depth| format!("depth={depth}"));
        let off = if active { "" } else { "off" };
        format!("k every={every}d within={within} {depth} hops={hops} {off}")
    });
    let seed = (0..PAGES.len(), prop::collection::vec(0..5usize, 1..3), prop::bool::weighted(0.9));
    let parts = (prop::collection::vec(profile, 5), prop::collection::vec(seed, 1..6));
    parts.prop_map(|(profiles, seeds)| {
        let profiles = profiles.iter().enumerate().map(|(n, text)| format!("profile p{n} {text}\n"));
        let seeds = seeds.iter().enumerate().map(|(n, (page, of, active))| {
            let of: Vec<String> = of.iter().map(|p| format!("p{p}")).collect();
            let off = if *active { "" } else { "off" };
            format!("seed s{n} http://{} {} {off}\n", PAGES[*page], of.join(","))
        });
        profiles.chain(seeds).collect()
    })
}

fn any_links() -> impl Strategy<Value = Vec<(usize, usize, LinkKind)>> {
    let kind =
        prop::sample::select(vec![LinkKind::Link, LinkKind::Link, LinkKind::Redirect, LinkKind::Requisite]);
    prop::collection::vec((0..PAGES.len(), 0..PAGES.len(), kind), 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn o9_the_owner_does_not_depend_on_the_order(
        text in any_world(),
        links in any_links(),
        picks in prop::collection::vec(any::<usize>(), 64),
        other_picks in prop::collection::vec(any::<usize>(), 64),
    ) {
        let catalog = world(&text);
        let (queue, notes) = harvest(&catalog, &links, &picks);
        let mut shuffled = notes.clone();
        shuffle(&mut shuffled, &other_picks);
        let mut replayed = Queue::new();
        for note in &shuffled {
            see(&catalog, &mut replayed, note);
        }
        prop_assert_eq!(owners(&replayed), owners(&queue));
        for note in &shuffled {
            prop_assert!(!see(&catalog, &mut replayed, note), "nobody takes it back: {:?}", note);
        }
    }
}

/// Why F23 must not mix positions: from one seed the URL is one link deep but two hops away, or two deep and one
/// hop away. A mixture would be in scope of a fast profile that neither path reaches, if both were seen before
/// the other seed's link, and not otherwise.
#[test]
fn o9_positions_are_not_mixed() {
    let catalog = world(
        "profile fast k every=1d depth=2 hops=1
         profile slow k every=9d hops=9
         profile mid  k every=5d hops=9
         seed one http://one.no/ fast,slow
         seed two http://two.no/ mid",
    );
    let note = |seed: &str, depth, hops| Note {
        start: false,
        seed: seed.into(),
        position: Position { depth, hops, ..Position::SEED },
        link: Link { url: url("x.no/"), kind: LinkKind::Link },
    };
    let notes = [note("one", 1, 1), note("one", 2, 0), note("two", 0, 0)];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut queue = Queue::new();
        for index in order {
            see(&catalog, &mut queue, &notes[index]);
        }
        assert_eq!(queue[&url("x.no/")].seed, "two", "{order:?}");
    }
}
