//! A small world that changes all the time: a few sites, two collections, profiles and seeds that come and go.

use frontier::Target;
use frontier::schema::ErrorKind;
use policy::catalog::Change;
use policy::model::{
    Collection, HostGroup, Limits, LinkKind, Politeness, Profile, RobotsPolicy, Seed, Settings,
};
use policy::scope::Scope;
use policy::time::Span;
use sim::web::{Page, Response, Web};

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
    let mut pages = Vec::new();
    for site in SITES {
        for n in 0..PAGES {
            let url = if n == 0 { format!("https://{site}/") } else { format!("https://{site}/{n}") };
            let responses = (0..rng.usize(1..4)).map(|_| response(rng)).collect();
            pages.push(Page { url, responses });
        }
    }
    Web::new(pages)
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

pub(crate) struct World {
    collections: Vec<Collection>,
    profiles: Vec<Profile>,
    seeds: Vec<Seed>,
    group: Option<HostGroup>,
    settings: Settings,
    /// A change was made in this step.
    pub(crate) just_changed: bool,
}

impl World {
    pub(crate) fn draw(rng: &mut fastrand::Rng) -> World {
        let collections = ["news", "shop"].map(collection).to_vec();
        let profiles = (0..4).map(|n| profile(n, rng)).collect();
        let seeds = SITES.iter().take(4).enumerate().map(|(n, site)| seed(n, site, rng)).collect();
        let politeness =
            Politeness { factor: 1.0, min: Span::seconds(1), max: Span::seconds(5), parallel: rng.u32(1..3) };
        let group = rng.bool().then(|| HostGroup {
            name: "group:one".into(),
            hosts: vec!["b.no".into(), "c.no".into()],
            politeness: politeness.clone(),
        });
        let settings = Settings {
            politeness,
            recheck: Span::minutes(10),
            lease: Span::minutes(5),
            ..Settings::default()
        };
        World { collections, profiles, seeds, group, settings, just_changed: false }
    }

    pub(crate) fn declared(&self) -> Vec<Change> {
        let mut changes = vec![Change::PutSettings(Box::new(self.settings.clone()))];
        changes.extend(self.collections.iter().cloned().map(Change::PutCollection));
        changes.extend(self.profiles.iter().cloned().map(|profile| Change::PutProfile(Box::new(profile))));
        changes.extend(self.seeds.iter().cloned().map(Change::PutSeed));
        changes.extend(self.group.iter().cloned().map(Change::PutGroup));
        changes
    }

    /// Switches something off or on, deletes it, or brings it back.
    pub(crate) fn change(&mut self, rng: &mut fastrand::Rng) -> Change {
        self.just_changed = true;
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
                Change::PutCollection(self.collections[at].clone())
            }
            6 => Change::DeleteSeed(self.seeds[rng.usize(0..self.seeds.len())].name.clone()),
            7 => Change::DeleteProfile(self.profiles[rng.usize(0..self.profiles.len())].name.clone()),
            8 => {
                let at = rng.usize(0..self.profiles.len());
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

fn collection(name: &str) -> Collection {
    Collection {
        name: name.into(),
        active: true,
        user_agent: None,
        headers: Vec::new(),
        cookies: Vec::new(),
        warc_prefix: None,
        index: false,
    }
}

fn profile(n: usize, rng: &mut fastrand::Rng) -> Profile {
    Profile {
        name: format!("profile {n}"),
        active: true,
        collection: ["news", "shop"][n % 2].into(),
        scope: Scope {
            off_domain_hops: rng.u32(0..3),
            max_depth: rng.bool().then(|| rng.u32(1..5)),
            ..Scope::default()
        },
        every: Span::minutes(rng.u64(10..200)),
        length: (rng.u32(0..3) == 0).then(|| rng.u32(1..4)),
        ttl: (rng.u32(0..4) == 0).then(|| Span::hours(rng.u64(1..5))),
        robots: RobotsPolicy::Obey,
        limits: Limits {
            max_errors: 3,
            max_not_found: 2,
            blacklist_for: rng.bool().then(|| Span::hours(1)),
            backoff_base: Span::seconds(30),
            backoff_cap: Span::hours(1),
            ..Limits::default()
        },
    }
}

fn seed(n: usize, site: &str, rng: &mut fastrand::Rng) -> Seed {
    let mut profiles: Vec<String> =
        (0..rng.usize(1..4)).map(|_| format!("profile {}", rng.usize(0..4))).collect();
    profiles.sort();
    profiles.dedup();
    Seed { name: format!("seed {n}"), url: format!("https://{site}/"), active: true, profiles }
}
