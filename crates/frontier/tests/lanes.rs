//! Hosts that answer keep their workers, however many do not (A15). The real loop on paused time;
//! the web's own log says what came of it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod rig;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use frontier::ports::{Fetch, Order, Report};
use frontier::{ErrorKind, waiting_max};
use parking_lot::Mutex;
use policy::model::Limits;
use policy::time::{Span, Time};
use rig::{Asked, Reply, World, answered, is_sound, run};

const WORKERS: usize = 64;
const LIVE: usize = 5;
/// Of each live host.
const PAGES: usize = 41;
/// Between two requests to a host, and how long an answer takes.
const DELAY: Span = Span(100);
const ANSWER: Span = Span(10);

/// How a host keeps silent.
#[derive(Clone, Copy, Debug)]
enum Dead {
    /// Nobody knows its name, and nobody says so.
    Name,
    /// It takes connections and says nothing.
    Answer,
    /// It says nothing when asked for robots.txt, and so denies everything.
    Robots,
    /// It has a robots.txt, and then says nothing any more.
    AfterRobots,
    /// It wants to be left alone for ten minutes between any two requests.
    CrawlDelay,
}

impl Dead {
    fn takes(self) -> Span {
        match self {
            Dead::Name => Span::seconds(15),
            Dead::Answer | Dead::Robots | Dead::AfterRobots => Span::seconds(60),
            Dead::CrawlDelay => ANSWER,
        }
    }

    /// What comes of asking it, for the first time or later.
    fn reply(self, first: bool) -> Reply {
        let silent = |result| {
            let mut report = Report::bare(Time(0), result);
            report.response_time = self.takes();
            Reply { after: Duration::from_millis(self.takes().0), report }
        };
        let robots_read = |crawl_delay| {
            let mut report = Report::bare(Time(0), Fetch::HostAsked);
            (report.response_time, report.answered, report.crawl_delay) = (ANSWER, true, crawl_delay);
            Reply { after: Duration::from_millis(ANSWER.0), report }
        };
        match self {
            Dead::Name => silent(Fetch::DnsFailed),
            Dead::Answer => silent(Fetch::NoAnswer(ErrorKind::Timeout)),
            Dead::Robots => silent(Fetch::RobotsDenied { until: Time(i64::MAX / 2) }),
            Dead::AfterRobots if first => robots_read(None),
            Dead::AfterRobots => silent(Fetch::NoAnswer(ErrorKind::Timeout)),
            Dead::CrawlDelay if first => robots_read(Some(Span::minutes(10))),
            Dead::CrawlDelay => answered(200, []),
        }
    }
}

/// Of the live hosts: when each had its first answer, and its last, since the beginning.
struct Served {
    first: Span,
    last: Span,
}

async fn serve_beside(dead: Dead, count: usize, live: &str) -> Vec<Served> {
    let mut seeds: Vec<String> = (0..count).map(|n| format!("http://m{n:05}.dead.test/")).collect();
    seeds.extend((0..LIVE).map(|n| format!("http://{live}{n}.live.test/")));
    let known = Mutex::new(BTreeSet::new());
    let answers = move |order: &Order, _: Time| match order.host.ends_with(".live.test") {
        true if order.url.path_and_query() == "/" => {
            answered(200, (1..PAGES).map(|n| format!("http://{}/{n}", order.host)))
        }
        true => answered(200, []),
        false => dead.reply(known.lock().insert(order.host.clone())),
    };
    let mut settings = World::default().settings;
    (settings.politeness.min, settings.politeness.max) = (DELAY, DELAY);
    let limits = Limits { backoff_base: Span::hours(1), ..Limits::default() };
    let rig = World { settings, limits, seeds, workers: WORKERS, ..World::default() }.rig(answers).await;
    let began = rig.frontier.now();
    run(&rig).await.unwrap();
    is_sound(&rig).await;
    let mut hosts: BTreeMap<String, Vec<Asked>> = BTreeMap::new();
    for asked in rig.fetcher.log.lock().iter().filter(|asked| asked.host.ends_with(".live.test")) {
        hosts.entry(asked.host.clone()).or_default().push(asked.clone());
    }
    assert_eq!(hosts.len(), LIVE, "{dead:?}: all live hosts were asked");
    let served = |log: Vec<Asked>| {
        assert_eq!(log.len(), PAGES, "{dead:?}: every page once");
        let ended = || log.iter().map(|asked| asked.ended.since(began));
        Served { first: ended().min().unwrap(), last: ended().max().unwrap() }
    };
    hosts.into_values().map(served).collect()
}

#[tokio::test(start_paused = true)]
async fn a15_hosts_that_answer_keep_their_workers_however_many_do_not() {
    // Once it has answered, a host has its pages one delay after the other, as if it were alone; a lane
    // that is not yet full, or a fetch that is not yet known to take long, may cost it a few
    // seconds.
    let alone = Span((DELAY.0 + ANSWER.0) * PAGES as u64 + 1000);
    let patience = Span::seconds(5);
    for (dead, count, live, slack) in [
        (Dead::Name, 0, "z", Span::ZERO),
        (Dead::Name, 1000, "z", Span::ZERO),
        (Dead::Name, 5000, "a", Span::ZERO),
        (Dead::Answer, 200, "z", Span::ZERO),
        (Dead::Answer, 3000, "a", Span::ZERO),
        (Dead::Robots, 200, "z", Span::ZERO),
        (Dead::Robots, 3000, "a", Span::ZERO),
        // These were heard of: each may hold a worker for as long as it is not known that it fell silent.
        (Dead::AfterRobots, 300, "z", Span(patience.0 * 300 / WORKERS as u64 + patience.0)),
        (Dead::CrawlDelay, 64, "z", Span::ZERO),
        (Dead::CrawlDelay, 1000, "a", Span::ZERO),
    ] {
        let rounds = if live == "a" { 0 } else { (count / waiting_max(WORKERS)) as u64 };
        for Served { first, last } in serve_beside(dead, count, live).await {
            let in_time = Span(rounds * dead.takes().0 + 1000 + slack.0);
            assert!(first <= in_time, "{count} × {dead:?}: first answer after {first}, not {in_time}");
            let took = Span(last.0 - first.0);
            assert!(took <= alone.plus(slack), "{count} × {dead:?}: {took} for its pages, not {alone}");
        }
    }
}
