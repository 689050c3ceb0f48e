//! `skurd serve` killed at any moment, again and again, with everything under way that it can do:
//! three collections, two of them on one host and one with cookies, walks, pages that answer 304,
//! answers slower than others, links that come later, and people who change what is declared. At
//! the end what the web saw, what is in the files, what is in the captures and what is reported are
//! held against each other.
//!
//! `SKURD_CHAOS_KILLS=n` kills that often, `SKURD_CHAOS_SEED=n` at other moments.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod books;
mod changes;
mod contract;
mod lives;
mod records;
mod site;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use books::Books;
use changes::{Changes, breath};
use contract::{Moment, Terms};
use lives::{Life, Lived, ask, pause};
use site::Log;
use testkit::random::Random;
use testkit::world::World;
use tokio::time::Instant;

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");

const KILLS: u64 = 20;
const DELAY: Duration = Duration::from_millis(40);
/// Of the profile that nobody changes.
const EVERY: Duration = Duration::from_secs(3);
const ON_TIME: Duration = Duration::from_secs(1);
/// Longer than the last process takes to come round twice.
const PATIENCE: Duration = Duration::from_secs(150);
const ATTEMPTS: usize = 2;
/// Of the walk that ends by itself, and where it begins.
const MARGIN: u64 = 4;
const MIDDLE: u64 = 50;

fn config(ids: u64) -> String {
    format!(
        "
settings: {{on_time: 1s, recheck: 1s, politeness: {{factor: 0, min: 40ms, max: 40ms, parallel: 1}}}}
collections:
  - {{name: news, user_agent: 'news/1 (+http://archive.test/)'}}
  - name: members
    user_agent: 'members/1 (+http://archive.test/)'
    cookies: [{{host: shared.test, name: member, value: kari}}]
  - {{name: ids, user_agent: 'ids/1 (+http://archive.test/)'}}
profiles:
  - {{name: news, collection: news, every: 2s}}
  - {{name: steady, collection: members, every: 3s}}
  - {{name: ids, collection: ids, every: 1d}}
seeds:
  - {{name: shared, url: 'http://shared.test/', profiles: [news]}}
  - {{name: slow, url: 'http://slow.test/', profiles: [news]}}
  - {{name: inside, url: 'http://shared.test/', profiles: [steady]}}
  - {{name: pages, url: 'http://pages.test/', profiles: [steady]}}
walks:
  - {{template: 'http://walk.test/w/{{id}}', name: bounded, profile: ids, min: 1, max: {ids}, attempts: 2, cooldown: 300ms}}
  - {{template: 'http://shared.test/n/{{id}}', name: near, profile: ids, from: {MIDDLE}, min: 1, max: 500, margin: {MARGIN}, attempts: 2, cooldown: 300ms}}
"
    )
}

fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

struct Chaos {
    world: World,
    log: Log,
    changes: Changes,
    random: Random,
    lives: Vec<Lived>,
    kills: u64,
}

impl Chaos {
    fn begin(&mut self, args: &[&str]) -> Life {
        self.lives.push(Lived { begin: Instant::now(), end: None, killed: false });
        Life::begin(&self.world, args)
    }

    fn ended(&mut self, killed: bool) {
        self.kills += u64::from(killed);
        let lived = self.lives.last_mut().unwrap();
        (lived.end, lived.killed) = (Some(Instant::now()), killed);
    }

    /// One process, and its end.
    fn live(&mut self) {
        let life = self.begin(&[]);
        let span = |random: &mut Random, below: u64| Duration::from_millis(random.below(below));
        match self.random.below(12) {
            // While it starts.
            0 => {
                pause(span(&mut self.random, 120) + Duration::from_millis(1));
                let was = life.kill();
                self.ended(was);
            }
            1 => {
                life.serves();
                let was = life.kill();
                self.ended(was);
            }
            // While it stops.
            2 => {
                life.serves();
                pause(span(&mut self.random, 400) + Duration::from_millis(1));
                life.terminate();
                pause(span(&mut self.random, 60) + Duration::from_millis(1));
                let was = life.kill();
                self.ended(was);
            }
            // Now and then one ends well.
            3 => {
                life.serves();
                pause(span(&mut self.random, 600) + Duration::from_millis(1));
                life.stop();
                self.ended(false);
            }
            // With changes under way.
            _ => {
                let address = life.serves();
                let until = Instant::now() + span(&mut self.random, 900);
                let mut others = Random(self.random.0 ^ 0xC0FFEE);
                let changes = &mut self.changes;
                let was = std::thread::scope(|scope| {
                    scope.spawn(|| {
                        changes.survived(address);
                        while Instant::now() < until {
                            changes.make(address, &mut others);
                            pause(breath(&mut others) + Duration::from_millis(1));
                        }
                    });
                    pause(until.saturating_duration_since(Instant::now()) + Duration::from_millis(1));
                    life.kill()
                });
                self.ended(was);
            }
        }
    }

    /// The last process, which may live until everything has come round.
    fn come_home(&mut self, ids: u64) -> Vec<String> {
        let begin = Instant::now();
        let life = self.begin(&[]);
        let address = life.serves();
        let extra = self.changes.all_on(address);
        let deadline = begin + PATIENCE;
        loop {
            pause(Duration::from_millis(200));
            let waiting = self.waiting(begin, address, &extra);
            if waiting.is_empty() {
                break;
            }
            let look = || {
                let asked = ["shared", "slow"].map(|name| {
                    ask(address, "GET", &format!("why?collection=news&url=http://{name}.test/"), None)
                });
                format!("{asked:#?}")
            };
            assert!(Instant::now() < deadline, "never came: {waiting:?} ({ids} ids): {}", look());
        }
        life.stop();
        self.ended(false);
        extra
    }

    /// What has not been answered often enough since then.
    fn waiting(&self, begin: Instant, address: std::net::SocketAddr, extra: &[String]) -> Vec<String> {
        let mut times: BTreeMap<(String, String), usize> = BTreeMap::new();
        let log = self.log.lock().clone();
        let mut wanted = BTreeSet::from([
            ("news".to_owned(), "http://slow.test/".to_owned()),
            ("news".to_owned(), "http://shared.test/".to_owned()),
            ("members".to_owned(), "http://shared.test/".to_owned()),
            ("members".to_owned(), "http://pages.test/".to_owned()),
        ]);
        wanted.extend(extra.iter().map(|name| ("news".to_owned(), format!("http://{name}.test/"))));
        for seen in self.world.web().seen().iter().filter(|seen| seen.begin >= begin && seen.whole) {
            let collection = site::collection(&seen.ask);
            *times.entry((collection.clone(), seen.ask.url())).or_default() += 1;
            let links = log.get(&seen.ask.number).map(|answered| answered.links.clone()).unwrap_or_default();
            wanted.extend(links.into_iter().map(|link| (collection.clone(), link)));
        }
        let late = wanted.iter().filter(|key| times.get(*key).copied().unwrap_or(0) < 3);
        let mut waiting: Vec<String> = late.map(|(collection, url)| format!("{collection}: {url}")).collect();
        for walk in ["bounded", "near"] {
            let state = ask(address, "GET", &format!("walks/{walk}?ranges=0"), None).map(|(_, walk)| walk);
            if state.as_ref().is_none_or(|walk| walk["state"] != "ended") {
                waiting.push(format!("walk {walk}"));
            }
        }
        waiting
    }
}

/// L4: both ways from the middle, until the margin.
fn near_expected() -> BTreeMap<u64, bool> {
    let mut expected = BTreeMap::new();
    let ways: [Box<dyn Iterator<Item = u64>>; 2] = [Box::new(MIDDLE..=500), Box::new((1..MIDDLE).rev())];
    for way in ways {
        let mut misses = 0;
        for id in way {
            if misses == MARGIN {
                break;
            }
            misses = if site::near(id) { 0 } else { misses + 1 };
            expected.insert(id, site::near(id));
        }
    }
    expected
}

#[test]
fn f5_f6_f7_f8_f31_l10_a7_a13_serve_is_killed_again_and_again_and_keeps_everything() {
    let kills = given("SKURD_CHAOS_KILLS").unwrap_or(KILLS);
    let seed = given("SKURD_CHAOS_SEED").unwrap_or(1);
    let ids = 40 + kills;
    let log = Log::default();
    let world = World::new(crate::SKURD, site::site(log.clone()));
    world.write("c.yaml", &config(ids));
    let began = Instant::now();
    let mut chaos =
        Chaos { world, log, changes: Changes::new(), random: Random(seed), lives: Vec::new(), kills: 0 };
    // What is in the file is declared once: from then on people say what is.
    let first = chaos.begin(&["c.yaml"]);
    first.serves();
    let was = first.kill();
    chaos.ended(was);
    while chaos.kills < kills {
        chaos.live();
    }
    let killed_after = began.elapsed();
    let extra = chaos.come_home(ids);

    let Chaos { world, log, changes, lives, kills, .. } = chaos;
    let books = Books::open(world.web().seen(), &log, lives.clone(), &world.data().join("warc"));
    let captures = world.json(&["captures"]);
    books.captures_are_records(&captures);
    let missing = books.what_is_missing_was_in_flight();
    books.polite(DELAY);
    books.cookies_are_kept();
    let walks = world.json(&["linear", "show"]);
    let walk = |name: &str| walks.iter().find(|walk| walk["walk"] == name).unwrap();
    let bounded = (1..=ids).map(|id| (id, site::exists(id))).collect();
    books.walk_is_right(walk("bounded"), "http://walk.test/w/", &bounded, ATTEMPTS);
    books.walk_is_right(walk("near"), "http://shared.test/n/", &near_expected(), ATTEMPTS);

    let roots = |names: &[&str]| names.iter().map(|name| format!("http://{name}.test/")).collect::<Vec<_>>();
    let extra: Vec<&str> = extra.iter().map(String::as_str).collect();
    let gone = |url: &str| {
        let host = url.trim_start_matches("http://").split('.').next().unwrap();
        host.starts_with('e') && !extra.contains(&host)
    };
    let news = books.nothing_is_lost("news", &roots(&[&["shared", "slow"], &extra[..]].concat()), gone);
    let members = books.nothing_is_lost("members", &roots(&["shared", "pages"]), |_| false);
    let cycles = books.cycles_least("members");
    assert!(cycles >= 3, "second and third cycles: {cycles}");
    let unchanged = books.archived_with(304);
    assert!(unchanged > 0, "no page was found unchanged");
    promises(&world, &books);
    sound(&world);
    println!(
        "{kills} kills in {:.0} s, {} processes; {} requests, {} captures of {} URLs, {unchanged} not modified, \
         {missing} answers lost in flight and asked for again; {} changes acknowledged and {} interrupted; \
         at least {cycles} cycles; {:.0} s in all",
        killed_after.as_secs_f64(),
        lives.len(),
        books.seen.len(),
        captures.len(),
        news + members + bounded.len() + near_expected().len(),
        changes.acknowledged,
        changes.unanswered,
        began.elapsed().as_secs_f64(),
    );
}

/// F31: what is reported is what the web's own log says.
fn promises(world: &World, books: &Books) {
    let before = Instant::now();
    let rows = world.json(&["report", "contract"]);
    let now = Moment(before, Instant::now());
    let steady = rows.iter().find(|row| row["profile"] == "steady").unwrap();
    let count = |name: &str| steady[name].as_u64().unwrap();
    let terms = Terms { every: EVERY, on_time: ON_TIME };
    let expected = books.contract("members", &terms, DELAY, now);
    println!("reported {steady}, expected {expected:?}");
    assert_eq!((count("first"), count("on_time") + count("late")), (expected.first, expected.kept));
    assert!(expected.on_time.holds(count("on_time")), "on time: {steady}, {expected:?}");
    assert!(expected.missed.holds(count("missed")), "missed: {steady}, {expected:?}");
    assert!(expected.promised.holds(count("promised")), "promised: {steady}, {expected:?}");
    // A range that holds everything would say nothing.
    let width = expected.missed.most - expected.missed.least;
    assert!(width * 4 < expected.promised.most, "{expected:?}");
}

/// Everything that checks itself finds nothing.
fn sound(world: &World) {
    world.check();
    world.good(&["archive", "check"]);
    for collection in ["news", "members", "ids"] {
        world.good(&["index", "verify", "--collection", collection]);
    }
}
