//! O9 and O10: once every page has been harvested again under its final owner, the owner of each
//! URL is the same whatever the order in which links were found and seeds were started.
//!
//! A small random web is harvested from its seeds in a random order, round after round: in each,
//! every page that is in the queue is evaluated and its links are seen, in an order of its own.
//! That it comes to rest at all is the half of O9 that says no two seeds take a URL from each other
//! in turns.
//!
//! What it must come to rest at is worked out by [`Claims`], from the tables of page 2 alone: each
//! URL belongs to the best of the claims that pages make *under the owners they have*. Where no
//! page can be reached from itself, that is one outcome, and every order must come to
//! it. Where pages link to each other in circles the tables may allow several (two pages that name
//! each other may both belong to either of two seeds, each because the other does): then every
//! order must come to rest at one of them. With circles *and* limits of depth the tables may allow
//! none at all (a page that its best match gets only through a page that exists only while it does
//! not), so those webs are left out: about one in twenty thousand of them.
//!
//! F25 keeps a URL whose stored position is in scope though the page that names it is not as near
//! as it was, and a best match keeps what came to it by O5. There the order of harvests shows, by
//! the letter of the rules: webs in which it does are not compared.

use std::collections::{BTreeMap, BTreeSet};

use policy::catalog::{Catalog, SeedEntry};
use policy::evaluate::{Verdict, evaluate};
use policy::model::{LinkKind, Position, Record};
use policy::outlink::{Action, Known, Outlink, Parent, decide};
use policy::owner::{Origin, Via};
use policy::time::Span;
use policy::url::CrawlUrl;
use proptest::prelude::*;

use crate::world::{day, url, world};

const PAGES: [&str; 9] =
    ["a.no/", "a.no/x", "a.no/x/y", "b.no/", "b.no/x", "www.b.no/x", "c.no/", "tv.a.no/", "d.no/z"];

/// Rounds after which a web this small must have come to rest.
const ROUNDS_MAX: usize = 60;

type Queue = BTreeMap<CrawlUrl, Record>;

/// From, to, how. No page names another twice.
type Links = Vec<(usize, usize, LinkKind)>;

/// A step of a harvest.
#[derive(Clone, Debug)]
enum Event {
    Start(String, CrawlUrl),
    /// A page is harvested, if it is in the queue.
    Page(usize),
}

fn see(catalog: &Catalog, queue: &mut Queue, parent: &Parent<'_>, link: &Outlink) -> bool {
    let queued = queue.get(&link.url).cloned();
    let known = queued.as_ref().map_or(Known::Absent, Known::Queued);
    match decide(catalog, parent, link, known, day(0)).action {
        Action::Add(record) | Action::Update(record) => {
            queue.insert(link.url.clone(), record);
            true
        }
        Action::Remove => queue.remove(&link.url).is_some(),
        Action::Ignore | Action::Keep => false,
    }
}

/// True if it changed anything.
fn happen(catalog: &Catalog, links: &Links, queue: &mut Queue, event: &Event) -> bool {
    let page = match event {
        Event::Start(seed, target) => {
            let (origin, via) = (Origin::Start(seed), Via::Start);
            let parent = Parent { origin, via, position: Position::SEED, run: 1, collection: "k" };
            return see(catalog, queue, &parent, &Outlink::new(target.clone(), LinkKind::Link));
        }
        Event::Page(page) => *page,
    };
    let own = url(PAGES[page]);
    let Some(record) = queue.get(&own).cloned() else { return false };
    if evaluate(catalog, "k", &own, &record, None, day(0)).verdict == Verdict::Remove {
        queue.remove(&own);
        return true;
    }
    let via = Via::page(own.as_str(), &record.seed);
    let last = record.via == Via::Nobody;
    let origin = if last { Origin::Unclaimed } else { Origin::Page(&record.seed) };
    let parent = Parent { origin, via, position: record.position, run: 1, collection: "k" };
    let named = links.iter().filter(|(from, to, _)| *from == page && to != from);
    let changed = named.fold(false, |changed, (_, to, kind)| {
        see(catalog, queue, &parent, &Outlink::new(url(PAGES[*to]), *kind)) | changed
    });
    if last {
        queue.remove(&own);
    }
    last || changed
}

/// Starts and harvests in the order of the picks, then round after round until nothing changes.
fn harvest(catalog: &Catalog, links: &Links, picks: &[usize]) -> Queue {
    let mut queue = Queue::new();
    let mut events: Vec<Event> = (0..PAGES.len()).map(Event::Page).collect();
    events.extend(starts(catalog).into_iter().map(|(seed, url)| Event::Start(seed, url)));
    for round in 0.. {
        assert!(round < ROUNDS_MAX, "it does not come to rest: {queue:#?}");
        shuffle(&mut events, &picks[round % picks.len()..]);
        let changed =
            events.iter().fold(false, |changed, event| happen(catalog, links, &mut queue, event) | changed);
        if round == 0 {
            // Seeds are started once.
            events.retain(|event| matches!(event, Event::Page(_)));
        } else if !changed {
            break;
        }
    }
    queue
}

fn starts(catalog: &Catalog) -> Vec<(String, CrawlUrl)> {
    let mut starts: Vec<_> =
        catalog.seeds().map(|entry| (entry.seed.name.clone(), entry.url.clone())).collect();
    starts.sort();
    starts
}

fn shuffle<T>(items: &mut [T], picks: &[usize]) {
    for i in (1..items.len()).rev() {
        let pick = picks[i % picks.len()].wrapping_mul(31).wrapping_add(i * 7);
        items.swap(i, pick % (i + 1));
    }
}

fn owners(queue: &Queue) -> BTreeMap<String, String> {
    queue.iter().map(|(url, record)| (url.to_string(), record.seed.clone())).collect()
}

/// The tables of page 2, written down a second time.
struct Claims<'a> {
    catalog: &'a Catalog,
    links: &'a Links,
    queue: &'a Queue,
}

#[derive(Debug, PartialEq, Eq)]
enum Objection {
    /// It has no claim, or not the best: it stays by F25, or because it is the best match's.
    Kept,
    Wrong(String),
}

/// A seed's claim; the best is the least.
type Claim = (bool, Option<u8>, Span, String);

impl Claims<'_> {
    /// What is wrong with the owner of a URL.
    fn objection(&self, target: usize) -> Option<Objection> {
        let target_url = url(PAGES[target]);
        let mut claims: Vec<Claim> = Vec::new();
        for (seed, start) in starts(self.catalog) {
            if start == target_url {
                let entry = self.catalog.seed(&seed).unwrap();
                claims.extend(self.claim(entry, &target_url, Position::SEED));
            }
        }
        for (from, _, kind) in self.links.iter().filter(|(from, to, _)| *to == target && from != to) {
            let Some(page) = self.queue.get(&url(PAGES[*from])) else { continue };
            claims.extend(self.of_page(page, &target_url, *kind));
        }
        let best = claims.iter().min().map(|claim| claim.3.as_str());
        let owner = self.queue.get(&target_url).map(|record| record.seed.as_str());
        match (owner, best) {
            _ if owner == best => None,
            (Some(owner), None) if self.is_kept(owner, &target_url) => Some(Objection::Kept),
            (Some(owner), Some(_)) if self.is_best(owner, &target_url) => Some(Objection::Kept),
            _ => Some(Objection::Wrong(format!("{target_url}: {owner:?} instead of {best:?}"))),
        }
    }

    fn is_best(&self, seed: &str, target: &CrawlUrl) -> bool {
        self.catalog.best_match("k", target).is_some_and(|best| best == seed)
    }

    /// F25: its stored position is in scope of its owner.
    fn is_kept(&self, owner: &str, target: &CrawlUrl) -> bool {
        let (entry, record) = (self.catalog.seed(owner).unwrap(), &self.queue[target]);
        record.via != Via::Nobody && self.claim(entry, target, record.position).is_some()
    }

    /// O2–O5.
    fn of_page(&self, page: &Record, target: &CrawlUrl, kind: LinkKind) -> Option<Claim> {
        let parent = self.catalog.seed(&page.seed)?;
        let position = if parent.url == *target {
            Position::SEED
        } else {
            Position::follow(&page.position, kind, parent.domain(), target)
        };
        let own = self.claim(parent, target, position);
        match self.catalog.best_match("k", target) {
            Some(best) if *best != page.seed && own.is_none() => {
                let entry = self.catalog.seed(best)?;
                let own = entry.url == *target;
                self.claim(entry, target, if own { Position::SEED } else { Position::LINKED_FROM_SEED })
            }
            _ => own,
        }
    }

    /// O6–O8: the best match first, then who harvests it more often, then who sorts first. None if
    /// it is out of scope.
    fn claim(&self, entry: &SeedEntry, target: &CrawlUrl, position: Position) -> Option<Claim> {
        let is_best = self.is_best(&entry.seed.name, target);
        let profiles = self.catalog.profiles_in(entry, "k");
        let in_scope: Vec<_> =
            profiles.filter(|profile| profile.scope.check(&entry.url, target, &position).in_scope).collect();
        let active = in_scope.iter().filter(|profile| profile.active && entry.seed.active);
        let every = active.map(|profile| profile.every).min();
        let idle = if every.is_some() { None } else { Some(1) };
        let claim = (!is_best, idle, every.unwrap_or(Span::ZERO), entry.seed.name.clone());
        (!in_scope.is_empty()).then_some(claim)
    }
}

/// Where depth and hops matter, or only which URL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scopes {
    All,
    ByUrlAlone,
}

fn any_world(scopes: Scopes) -> impl Strategy<Value = String> {
    let within = prop::sample::select(vec!["path", "host", "domain", "any"]);
    let profile = (within, 1..4u32, prop::option::of(0..4u32), 0..3u32);
    let profile = profile.prop_map(move |(within, every, depth, hops)| match scopes {
        Scopes::ByUrlAlone => format!("k every={every}d within={within} hops=0 requisites=no"),
        Scopes::All => {
            let depth = depth.map_or(String::new(), |depth| format!("depth={depth}"));
            format!("k every={every}d within={within} {depth} hops={hops}")
        }
    });
    let seed = (0..PAGES.len(), prop::collection::vec(0..5usize, 1..3));
    let parts = (prop::collection::vec(profile, 5), prop::collection::vec(seed, 1..6));
    parts.prop_map(|(profiles, seeds)| {
        let profiles = profiles.iter().enumerate().map(|(n, text)| format!("profile p{n} {text}\n"));
        let seeds = seeds.iter().enumerate().map(|(n, (page, of))| {
            let of: Vec<String> = of.iter().map(|p| format!("p{p}")).collect();
            format!("seed s{n} http://{} {}\n", PAGES[*page], of.join(","))
        });
        std::iter::once("collection k\n".to_owned()).chain(profiles).chain(seeds).collect()
    })
}

fn any_links() -> impl Strategy<Value = Links> {
    let kind =
        prop::sample::select(vec![LinkKind::Link, LinkKind::Link, LinkKind::Redirect, LinkKind::Requisite]);
    prop::collection::vec((0..PAGES.len(), 0..PAGES.len(), kind), 1..20).prop_map(|mut links| {
        let mut seen = BTreeSet::new();
        links.retain(|(from, to, _)| from != to && seen.insert((*from, *to)));
        links
    })
}

/// Links that only lead from earlier to later pages of some order.
fn links_without_circles() -> impl Strategy<Value = Links> {
    let order = Just((0..PAGES.len()).collect::<Vec<_>>()).prop_shuffle();
    (any_links(), order).prop_map(|(mut links, order)| {
        links.retain(|(from, to, _)| order[*from] < order[*to]);
        links
    })
}

fn any_orders() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(any::<usize>(), 64), 4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn o9_the_owner_does_not_depend_on_the_order_of_starts_and_harvests(
        text in any_world(Scopes::All),
        links in links_without_circles(),
        orders in any_orders(),
    ) {
        let catalog = world(&text);
        let mut outcomes = Vec::new();
        for picks in &orders {
            let queue = harvest(&catalog, &links, picks);
            let claims = Claims { catalog: &catalog, links: &links, queue: &queue };
            let objections: Vec<Objection> = (0..PAGES.len()).filter_map(|page| claims.objection(page)).collect();
            for objection in &objections {
                prop_assert_eq!(objection, &Objection::Kept);
            }
            outcomes.extend(objections.is_empty().then(|| owners(&queue)));
        }
        for outcome in &outcomes {
            prop_assert_eq!(outcome, &outcomes[0]);
        }
    }

    #[test]
    fn o9_nobody_takes_a_url_from_each_other_in_turns(
        text in any_world(Scopes::ByUrlAlone),
        links in any_links(),
        orders in any_orders(),
    ) {
        let catalog = world(&text);
        for picks in &orders {
            let queue = harvest(&catalog, &links, picks);
            let claims = Claims { catalog: &catalog, links: &links, queue: &queue };
            for objection in (0..PAGES.len()).filter_map(|page| claims.objection(page)) {
                prop_assert_eq!(objection, Objection::Kept);
            }
        }
    }
}

/// The example of O10, and what follows from it: every seed takes anything, a.no more often than
/// b.no.
#[test]
fn o10_a_former_owner_keeps_nothing_through_pages_that_are_no_longer_its_own() {
    let catalog = world(
        "collection k
         profile often k every=1d within=any
         profile daily k every=4d within=any
         seed a http://a.no/ often
         seed b http://b.no/ daily",
    );
    // a.no → b.no/x → c.no; b.no → b.no/x
    let links = vec![(0, 4, LinkKind::Link), (3, 4, LinkKind::Link), (4, 6, LinkKind::Link)];
    let start = |seed: &str, page: usize| Event::Start(seed.into(), url(PAGES[page]));
    let orders = [[start("a", 0), start("b", 3)], [start("b", 3), start("a", 0)]];
    for starts in &orders {
        let mut queue = Queue::new();
        for start in starts {
            happen(&catalog, &links, &mut queue, start);
            for page in [0, 3, 4, 6] {
                happen(&catalog, &links, &mut queue, &Event::Page(page));
            }
        }
        let owner = |page: usize| queue[&url(PAGES[page])].seed.as_str();
        assert_eq!([owner(0), owner(3), owner(4), owner(6)], ["a", "b", "b", "b"], "{starts:?}");
    }
}

/// The same where b.no wants nothing beyond its own host: c.no was a.no's through a page that is
/// b.no's now. It is harvested once more, and what it claimed itself goes after it.
#[test]
fn o10_what_nobody_claims_any_more_goes_with_all_it_claimed() {
    let catalog = world(
        "collection k
         profile any  k every=1d within=any
         profile host k every=1d within=host
         seed a http://a.no/ any
         seed b http://b.no/ host",
    );
    // a.no → b.no/x → c.no → d.no/z; b.no → b.no/x
    let links =
        vec![(0, 4, LinkKind::Link), (3, 4, LinkKind::Link), (4, 6, LinkKind::Link), (6, 8, LinkKind::Link)];
    let mut queue = Queue::new();
    let mut known = |event: Event| {
        happen(&catalog, &links, &mut queue, &event);
        let known = |page: usize| queue.get(&url(PAGES[page])).map_or("-", |record| record.seed.as_str());
        format!("{} {} {}", known(4), known(6), known(8))
    };
    let page = Event::Page;
    known(Event::Start("a".into(), url("a.no/")));
    known(page(0));
    known(page(4));
    assert_eq!(known(page(6)), "a a a");
    known(Event::Start("b".into(), url("b.no/")));
    assert_eq!(known(page(3)), "b a a", "the best match");
    assert_eq!(known(page(4)), "b a a", "nobody claims c.no, which is still to be harvested");
    assert_eq!(known(page(6)), "b - a", "for the last time");
    assert_eq!(known(page(8)), "b - -");
}

/// Why F23 must not mix positions: from one seed the URL is one link deep but two hops away, or two
/// deep and one hop away. A mixture would be in scope of a fast profile that neither path reaches,
/// if both were seen before the other seed's link, and not otherwise.
#[test]
fn o9_positions_are_not_mixed() {
    let catalog = world(
        "profile fast k every=1d depth=2 hops=1
         profile slow k every=9d hops=9
         profile mid  k every=5d hops=9
         seed one http://one.no/ fast,slow
         seed two http://two.no/ mid",
    );
    let pages = [("one", 1, 1), ("one", 2, 0), ("two", 0, 0)];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut queue = Queue::new();
        for index in order {
            let (seed, depth, hops) = pages[index];
            let position = Position { depth, hops, ..Position::SEED };
            let via = Via::page(PAGES[index], seed);
            let parent = Parent { origin: Origin::Page(seed), via, position, run: 1, collection: "k" };
            see(&catalog, &mut queue, &parent, &Outlink::new(url("x.no/"), LinkKind::Link));
        }
        assert_eq!(queue[&url("x.no/")].seed, "two", "{order:?}");
    }
}
