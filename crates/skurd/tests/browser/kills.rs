//! B12, B18: harvester and browser are killed in mid-page, again and again: each page is there with
//! everything that belongs to it, or not at all.
//!
//! `SKURD_BROWSER_KILLS=n` kills that often, `SKURD_BROWSER_KILLS_SEED=n` at other moments.

use std::cell::Cell;
use std::time::Duration;

use testkit::random::Random;
use testkit::world::{Run, World, breathe};
use tokio::time::Instant;

use crate::has_browser;
use crate::parts::{self, Pages};

const KILLS: u64 = 8;
/// Longer than a browser takes to see that nobody listens any more.
const BROWSER_ENDS_WITHIN: Duration = Duration::from_secs(10);

fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

struct Siege {
    pages: Pages,
    random: Random,
    browsers_killed: u64,
    harvesters_killed: u64,
}

#[test]
fn b12_b18_browser_and_harvester_are_killed_in_mid_page_and_nothing_is_half_there() {
    if !has_browser() {
        return;
    }
    let kills = given("SKURD_BROWSER_KILLS").unwrap_or(KILLS);
    let hosts = usize::try_from(kills).unwrap() / 2 + 2;
    let pages = Pages::new(World::new(crate::SKURD, parts::site), hosts);
    let random = Random(given("SKURD_BROWSER_KILLS_SEED").unwrap_or(1));
    let mut siege = Siege { pages, random, browsers_killed: 0, harvesters_killed: 0 };
    for kill in 0..kills {
        siege.live(kill % 2 == 1);
        siege.pages.check();
    }
    let told = siege.pages.world.crawl(&["c.yaml", "--until-done"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    siege.pages.end();
    eprintln!("{} browsers and {} harvesters killed", siege.browsers_killed, siege.harvesters_killed);
}

impl Siege {
    /// One process, and its end; if so its browser goes first.
    fn live(&mut self, browser_first: bool) {
        let before = self.pages.world.web().count();
        let run = self.pages.world.start(&["c.yaml", "--until-done", "--json"]);
        self.moment(&run, before);
        if browser_first {
            let browser = children(run.id());
            self.browsers_killed += u64::from(!browser.is_empty());
            browser.iter().for_each(|process| kill(*process));
            // It goes on by itself.
            let more = self.pages.world.web().count() + self.random.place(6);
            until(Duration::from_secs(5), || self.pages.world.web().count() >= more);
        }
        let browser = children(run.id());
        if browser_first && self.random.chance(50) {
            run.interrupt();
            let told = run.end();
            assert_eq!(told.code, Some(0), "{}", told.err);
            assert!(!told.err.contains("panicked"), "{}", told.err);
        } else {
            let told = run.put_down();
            self.harvesters_killed += u64::from(told.code.is_none());
            assert!(!told.err.contains("panicked"), "{}", told.err);
        }
        let gone = until(BROWSER_ENDS_WITHIN, || browser.iter().all(|process| !is_alive(*process)));
        assert!(gone, "its browser outlives it: {browser:?}");
        self.pages.cookies_sent(before);
    }

    /// Waits for any moment of a page.
    fn moment(&mut self, run: &Run, before: usize) {
        let pause = |run: &Run, ms: u64| {
            let _nothing = run.line(Duration::from_millis(ms + 1), |_| None::<()>);
        };
        let requests = before + self.random.place(30);
        let came = |own: &Siege| until(Duration::from_secs(20), || own.pages.world.web().count() >= requests);
        match self.random.below(8) {
            // While it starts.
            0 => pause(run, self.random.below(1500)),
            // While something is under way.
            1..=3 => {
                came(self);
            }
            // Something later: quiet, behaviours, collecting.
            4 | 5 => {
                came(self);
                pause(run, self.random.below(900));
            }
            // Around a commit.
            _ => {
                let (nth, seen) = (self.random.place(6), Cell::new(0));
                run.line(Duration::from_secs(20), |line| {
                    seen.set(seen.get() + usize::from(line.contains("\"event\":\"harvest\"")));
                    (seen.get() > nth).then_some(())
                });
                pause(run, self.random.below(400));
            }
        }
    }
}

fn until(within: Duration, is_so: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + within;
    while !is_so() {
        if Instant::now() >= deadline {
            return false;
        }
        breathe();
    }
    true
}

/// Processes that this one started.
fn children(parent: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let all = tasks.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
    all.collect::<String>().split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, after)| !after.starts_with('Z'))
}

fn kill(process: u32) {
    let _ = std::process::Command::new("kill").args(["-9", &process.to_string()]).status();
}
