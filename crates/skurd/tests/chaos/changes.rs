//! People at work while processes come and go: what they were told is done is done, in this process
//! and in the next.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::random::Random;

use crate::lives::ask;

/// Seeds that come and go.
const EXTRA: u64 = 8;

/// A seed, or that there is none.
type Seed = Option<bool>;

/// What was said, and what may be so since nobody answered.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// By name: what each seed may be.
    seeds: BTreeMap<String, BTreeSet<Seed>>,
    pub(crate) acknowledged: usize,
    pub(crate) unanswered: usize,
}

fn extra(number: u64) -> (String, Value) {
    let name = format!("e{number}");
    let body = json!({ "url": format!("http://{name}.test/"), "profiles": ["news"] });
    (name, body)
}

fn pausable(which: u64) -> Value {
    match which {
        0 => json!({ "what": "everything" }),
        1 => json!({ "what": "collection", "name": "news" }),
        2 => json!({ "what": "walk", "name": "near" }),
        _ => json!({ "what": "host", "name": "shared.test" }),
    }
}

impl Changes {
    pub(crate) fn new() -> Changes {
        let seeds = ["shared", "slow"].map(|name| (name.to_owned(), BTreeSet::from([Some(true)])));
        Changes { seeds: seeds.into_iter().collect(), ..Changes::default() }
    }

    /// One change, if the process lives long enough.
    pub(crate) fn make(&mut self, address: SocketAddr, random: &mut Random) {
        match random.below(10) {
            0..3 => {
                let (name, body) = extra(random.below(EXTRA));
                let done = ask(address, "PUT", &format!("seeds/{name}"), Some(&body));
                assert!(done.as_ref().is_none_or(|(status, _)| [200, 201].contains(status)), "{done:?}");
                if self.seed(&name, Some(true), done.is_some()) {
                    let _ = ask(address, "POST", "start", Some(&json!({ "seed": name })));
                }
            }
            3 => {
                let (name, _) = extra(random.below(EXTRA));
                let done = ask(address, "DELETE", &format!("seeds/{name}"), None);
                self.seed(&name, None, done.is_some());
            }
            4..6 => {
                let name = ["shared", "slow"][random.place(2)];
                let active = random.below(2) == 0;
                let verb = if active { "enable" } else { "disable" };
                let done = ask(address, "POST", &format!("seeds/{name}/{verb}"), None);
                self.seed(name, Some(active), done.is_some());
            }
            6..8 => {
                let every = ["1s", "2s", "4s"][random.place(3)];
                let body = json!({ "collection": "news", "every": every });
                let done = ask(address, "PUT", "profiles/news", Some(&body));
                self.count(done.is_some());
                if let Some((status, told)) = done {
                    assert_eq!(status, 200, "{told}");
                }
            }
            what => {
                let body = pausable(random.below(4));
                // Seldom, and not for long: a harvest that stands still shows nothing.
                let pauses = what == 8 && random.below(2) == 0;
                let done = ask(address, "POST", if pauses { "pause" } else { "resume" }, Some(&body));
                // A host or walk may not be known yet.
                let done = done.is_some_and(|(status, _)| status == 200 || status == 404);
                self.count(done);
            }
        }
    }

    fn count(&mut self, answered: bool) {
        *(if answered { &mut self.acknowledged } else { &mut self.unanswered }) += 1;
    }

    /// It is so, or may be so by now.
    fn seed(&mut self, name: &str, now: Seed, answered: bool) -> bool {
        self.count(answered);
        let states = self.seeds.entry(name.to_owned()).or_insert_with(|| BTreeSet::from([None]));
        if answered {
            states.clear();
        }
        states.insert(now);
        answered
    }

    /// I4: what was acknowledged is there after the kill, and what was not is there or is not.
    pub(crate) fn survived(&mut self, address: SocketAddr) {
        let Some((200, listed)) = ask(address, "GET", "seeds?limit=1000", None) else { return };
        let items = listed["items"].as_array().unwrap();
        let found: BTreeMap<&str, bool> = items
            .iter()
            .map(|item| (item["name"].as_str().unwrap(), item["active"].as_bool().unwrap()))
            .collect();
        for (name, states) in &mut self.seeds {
            let is = found.get(name.as_str()).copied();
            assert!(states.contains(&is), "seed {name} is {is:?} and may be {states:?}");
            *states = BTreeSet::from([is]);
        }
    }

    /// Everything is on, and nothing is paused. Gives the extra seeds that are there.
    pub(crate) fn all_on(&mut self, address: SocketAddr) -> Vec<String> {
        self.survived(address);
        for name in ["shared", "slow"] {
            assert_eq!(ask(address, "POST", &format!("seeds/{name}/enable"), None).unwrap().0, 200);
        }
        for which in 0..4 {
            let _ = ask(address, "POST", "resume", Some(&pausable(which)));
        }
        assert_eq!(ask(address, "GET", "pauses", None).unwrap().1, json!([]));
        let body = json!({ "collection": "news", "every": "2s" });
        assert_eq!(ask(address, "PUT", "profiles/news", Some(&body)).unwrap().0, 200);
        let there = self.seeds.iter().filter(|(_, states)| states.contains(&Some(true)));
        there.map(|(name, _)| name.clone()).filter(|name| name.starts_with('e')).collect()
    }
}

/// How long somebody waits before the next change.
pub(crate) fn breath(random: &mut Random) -> Duration {
    Duration::from_millis(random.below(120))
}
