//! A small world that changes all the time: a few sites, two collections, profiles and seeds that
//! come and go.

use std::collections::{BTreeMap, BTreeSet};

use frontier::{ErrorKind, Pause, Target};
use policy::catalog::Change;
use policy::model::{
    Collection, DeclaredWalk, HostGroup, Limits, LinkKind, Politeness, Profile, Seed, Settings,
};
use policy::scope::Scope;
use policy::time::Span;
use policy::walk::{Draft, Retry, WalkSettings};
use sim::web::{Page, Response, Web};
use testkit::catalog::{self, collection, put};

const SITES: [&str; 5] = ["a.no", "b.no", "c.no", "sub.a.no", "d.com"];
const PAGES: usize = 8;

pub(crate) fn some_url(rng: &mut fastrand::Rng) -> String {
    let site = SITES[rng.usize(0..SITES.len())];
    match rng.usize(0..PAGES) {
        0 => format!("https://{site}/"),
        n => format!("https://{site}/{n}"),
    }
}

pub(crate) fn small_web(rng: &mut fastrand::Rng) -> Web {
    Web::new(small_pages(rng))
}

fn small_pages(rng: &mut fastrand::Rng) -> Vec<Page> {
    let mut pages = Vec::new();
    for site in SITES {
        for n in 0..PAGES {
            let url = if n == 0 { format!("https://{site}/") } else { format!("https://{site}/{n}") };
            let responses = (0..rng.usize(1..4)).map(|_| response(rng)).collect();
            pages.push(Page { url, responses });
        }
    }
    pages
}

/// The ids that each walk can find: some at once, some only when asked again.
pub(crate) type Ids = BTreeMap<String, BTreeSet<u64>>;

/// A web with ids to count, and answers that take longer than a lease.
pub(crate) fn web_with_ids(world: &World, rng: &mut fastrand::Rng) -> (Web, Ids) {
    let mut pages = small_pages(rng);
    for response in pages.iter_mut().flat_map(|page| &mut page.responses) {
        if rng.u32(0..40) == 0 {
            response.delay = Span(world.settings.lease.0 * rng.u64(1..4) + rng.u64(0..60_000));
        }
    }
    let mut ids = Ids::new();
    for walk in &world.walks {
        let there = ids.entry(walk.name.clone()).or_default();
        for id in 1..=30 {
            let delay = Span(rng.u64(0..3_000));
            let found = Response { delay, ..Response::default() };
            let responses = match rng.u32(0..10) {
                0..2 => vec![Response { status: 404, ..found }],
                2 => vec![Response { status: 503, ..found.clone() }, found],
                3 => vec![Response { error: Some(ErrorKind::Timeout), ..found.clone() }, found],
                _ => vec![found],
            };
            if responses.last().is_some_and(|last| last.status == 200) {
                there.insert(id);
            }
            pages.push(Page { url: walk.settings.template().url(id), responses });
        }
    }
    (Web::new(pages), ids)
}

fn response(rng: &mut fastrand::Rng) -> Response {
    let kinds = [LinkKind::Link, LinkKind::Link, LinkKind::Requisite, LinkKind::Redirect];
    let outlinks = (0..rng.usize(0..6)).map(|_| (some_url(rng), kinds[rng.usize(0..4)])).collect();
    let errors = [ErrorKind::Dns, ErrorKind::Connect, ErrorKind::Timeout, ErrorKind::Robots];
    Response {
        status: [200, 200, 200, 200, 404, 503, 301][rng.usize(0..7)],
        count: rng.u64(1..4),
        outlinks,
        delay: Span(rng.u64(0..5_000)),
        error: (rng.u32(0..8) == 0).then(|| errors[rng.usize(0..4)]),
    }
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    collections: Vec<Collection>,
    profiles: Vec<Profile>,
    seeds: Vec<Seed>,
    group: Option<HostGroup>,
    pub(crate) walks: Vec<DeclaredWalk>,
    pub(crate) settings: Settings,
    /// A change was made in this step.
    pub(crate) just_changed: bool,
}

impl World {
    pub(crate) fn draw(rng: &mut fastrand::Rng) -> World {
        let collections = ["news", "shop"].map(collection).to_vec();
        let profiles = (0..4).map(|n| profile(n, rng)).collect();
        let seeds = SITES.iter().take(4).enumerate().map(|(n, site)| seed(n, site, rng)).collect();
        let politeness = Politeness {
            factor: 1.0,
            min: Span::seconds(1),
            max: Span::seconds(5),
            parallel: rng.u32(1..3),
            ..Politeness::default()
        };
        let group = rng.bool().then(|| HostGroup {
            name: "group:one".into(),
            hosts: vec!["b.no".into(), "c.no".into()],
            politeness: politeness.clone(),
            ..HostGroup::default()
        });
        let settings = Settings {
            politeness,
            recheck: Span::minutes(10),
            lease: Span::minutes(5),
            ..Settings::default()
        };
        World { collections, profiles, seeds, group, walks: Vec::new(), settings, just_changed: false }
    }

    /// The same with walks: one up to its margin, one both ways between bounds.
    pub(crate) fn draw_with_walks(rng: &mut fastrand::Rng) -> World {
        let mut world = World::draw(rng);
        world.profiles.push(Profile { name: "ids".into(), ..profile(rng.usize(0..2), rng) });
        let round = rng.bool().then(|| "together".to_owned());
        let up = Draft {
            template: "https://a.no/id/{id}".into(),
            min: Some(1),
            margin: Some(rng.u32(2..5)),
            ..Draft::default()
        };
        let both = Draft {
            template: "https://d.com/n/{id:03}".into(),
            from: Some(rng.u64(5..25)),
            min: Some(2),
            max: Some(28),
            margin: rng.bool().then(|| rng.u32(2..5)),
            retry: Some(Retry::Failed),
            ..Draft::default()
        };
        for (name, draft) in [("up", up), ("both", both)] {
            let draft =
                Draft { attempts: Some(rng.u32(2..4)), cooldown: Some(Span(rng.u64(0..300_000))), ..draft };
            world.walks.push(DeclaredWalk {
                name: name.into(),
                active: true,
                profile: "ids".into(),
                seed: None,
                round: round.clone(),
                place: 0,
                settings: WalkSettings::new(draft).unwrap(),
            });
        }
        world
    }

    /// Everything is there, and switched on.
    pub(crate) fn all_on(&mut self) -> Vec<Change> {
        self.collections.iter_mut().for_each(|collection| collection.active = true);
        self.profiles.iter_mut().for_each(|profile| profile.active = true);
        self.seeds.iter_mut().for_each(|seed| seed.active = true);
        self.walks.iter_mut().for_each(|walk| walk.active = true);
        self.declared()
    }

    pub(crate) fn declared(&self) -> Vec<Change> {
        let mut changes = vec![put(self.settings.clone())];
        changes.extend(self.collections.iter().cloned().map(put));
        changes.extend(self.profiles.iter().cloned().map(put));
        changes.extend(self.seeds.iter().cloned().map(put));
        changes.extend(self.group.iter().cloned().map(Change::PutGroup));
        changes.extend(self.walks.iter().cloned().map(put));
        changes
    }

    /// Switches something off or on, deletes it, or brings it back.
    pub(crate) fn change(&mut self, rng: &mut fastrand::Rng) -> Change {
        self.just_changed = true;
        if !self.walks.is_empty() && rng.u32(0..8) == 0 {
            let at = rng.usize(0..self.walks.len());
            self.walks[at].active = !self.walks[at].active;
            return Change::PutWalk(Box::new(self.walks[at].clone()));
        }
        match rng.u32(0..10) {
            0..3 => {
                let at = rng.usize(0..self.seeds.len());
                self.seeds[at].active = !self.seeds[at].active;
                Change::PutSeed(self.seeds[at].clone())
            }
            3..5 => {
                let at = rng.usize(0..self.profiles.len());
                self.profiles[at].active = !self.profiles[at].active;
                Change::PutProfile(Box::new(self.profiles[at].clone()))
            }
            5 => {
                let at = rng.usize(0..self.collections.len());
                self.collections[at].active = !self.collections[at].active;
                Change::PutCollection(Box::new(self.collections[at].clone()))
            }
            6 => Change::DeleteSeed(self.seeds[rng.usize(0..self.seeds.len())].name.clone()),
            // Not the one of the walks, which could not be put back before they are looked at.
            7 => Change::DeleteProfile(self.profiles[rng.usize(0..4)].name.clone()),
            8 => {
                let at = rng.usize(0..4);
                self.profiles[at] = profile(at, rng);
                Change::PutProfile(Box::new(self.profiles[at].clone()))
            }
            _ => match &self.group {
                Some(group) if rng.bool() => Change::DeleteGroup(group.name.clone()),
                Some(group) => Change::PutGroup(group.clone()),
                None => Change::PutSeed(self.seeds[0].clone()),
            },
        }
    }

    pub(crate) fn pause(&self, rng: &mut fastrand::Rng) -> Pause {
        match rng.u32(0..6) {
            0 => Pause::Everything,
            1 => Pause::Collection(self.collections[rng.usize(0..2)].name.clone()),
            2 if !self.walks.is_empty() => {
                Pause::Walk(self.walks[rng.usize(0..self.walks.len())].name.clone())
            }
            _ => Pause::Host(SITES[rng.usize(0..SITES.len())].to_owned()),
        }
    }

    pub(crate) fn target(&self, rng: &mut fastrand::Rng) -> Target {
        match rng.u32(0..3) {
            0 => {
                Target::Seed { name: self.seeds[rng.usize(0..self.seeds.len())].name.clone(), profiles: None }
            }
            1 => Target::Profile(self.profiles[rng.usize(0..self.profiles.len())].name.clone()),
            _ => Target::Collection(self.collections[rng.usize(0..2)].name.clone()),
        }
    }
}

fn profile(n: usize, rng: &mut fastrand::Rng) -> Profile {
    Profile {
        scope: Scope {
            off_domain_hops: rng.u32(0..3),
            max_depth: rng.bool().then(|| rng.u32(1..5)),
            ..Scope::default()
        },
        every: Span::minutes(rng.u64(10..200)),
        length: (rng.u32(0..3) == 0).then(|| rng.u32(1..4)),
        ttl: (rng.u32(0..4) == 0).then(|| Span::hours(rng.u64(1..5))),
        limits: Limits {
            max_errors: 3,
            max_not_found: 2,
            total_timeout: Span::minutes(20),
            blacklist_for: rng.bool().then(|| Span::hours(1)),
            backoff_base: Span::seconds(30),
            backoff_cap: Span::hours(1),
            ..Limits::default()
        },
        ..catalog::profile(&format!("profile {n}"), ["news", "shop"][n % 2])
    }
}

fn seed(n: usize, site: &str, rng: &mut fastrand::Rng) -> Seed {
    let mut profiles: Vec<String> =
        (0..rng.usize(1..4)).map(|_| format!("profile {}", rng.usize(0..4))).collect();
    profiles.sort();
    profiles.dedup();
    Seed {
        name: format!("seed {n}"),
        url: format!("https://{site}/"),
        active: true,
        profiles,
        ..Seed::default()
    }
}
