//! F40: a clock that is set forward and back again leaves nothing behind that stands still.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod rig;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use frontier::ports::{Clock, Fetch, Order, Report};
use frontier::{End, ErrorKind, Frontier, Harvester, Pause, UrlState};
use policy::model::Limits;
use policy::time::{Span, Time};
use rig::{Ears, Loop, Reply, World, answered};
use tokio::sync::watch;

const EVERY: Span = Span::hours(1);
const BACKOFF: Span = Span::minutes(20);
const BLACKLISTED_FOR: Span = Span::hours(2);
/// Of the answers and of the turns of a host.
const SLACK: Span = Span::minutes(2);

const OFTEN: &str = "https://often.no/";
const SLOW: &str = "https://slow.no/";
const DEAD: &str = "https://dead.no/";
const GONE: &str = "https://gone.no/";
const BUSY: &str = "https://busy.no/";
const PAUSED: &str = "https://paused.no/";

fn web(order: &Order, now: Time) -> Reply {
    match order.url.as_str() {
        // In flight whenever something happens to the clock.
        SLOW => Reply { after: Duration::from_secs(40 * 60), ..answered(200, []) },
        DEAD => Reply {
            after: Duration::from_millis(10),
            report: Report::bare(Time(0), Fetch::NoAnswer(ErrorKind::Connect)),
        },
        GONE => answered(404, []),
        BUSY => {
            let mut reply = answered(503, []);
            reply.report.retry_after = Some(Span::minutes(5));
            reply
        }
        // Each harvest finds a page that is new.
        OFTEN => answered(200, [format!("https://often.no/{}", now.0), format!("https://new.no/{}", now.0)]),
        _ => answered(200, []),
    }
}

fn world() -> World {
    World {
        limits: Limits {
            backoff_cap: BACKOFF,
            max_errors: u32::MAX,
            max_not_found: 0,
            blacklist_for: Some(BLACKLISTED_FOR),
            ..Limits::default()
        },
        every: EVERY,
        length: None,
        seeds: [OFTEN, SLOW, DEAD, GONE, BUSY, PAUSED].map(str::to_owned).to_vec(),
        end: End::default(),
        ..World::default()
    }
}

async fn run_for(rig: &Loop, span: Span) {
    let (stop, stopped) = watch::channel(false);
    let run = rig.run(stopped);
    tokio::pin!(run);
    tokio::select! {
        ended = &mut run => panic!("{ended:?}"),
        () = tokio::time::sleep(Duration::from_millis(span.0)) => {}
    }
    stop.send(true).unwrap();
    run.await.unwrap();
}

/// Another process on the same store.
async fn restarted(rig: &Loop) -> Arc<Loop> {
    let clock = Arc::clone(&rig.fetcher.clock) as Arc<dyn Clock>;
    let frontier = Arc::new(Frontier::new(rig.frontier.store().clone(), clock, 8));
    frontier.recover().await.unwrap();
    Arc::new(Harvester {
        frontier,
        fetcher: Arc::clone(&rig.fetcher),
        archive: Arc::clone(&rig.archive),
        witness: Arc::new(Ears::default()),
        workers: rig.workers,
        idle_max: rig.idle_max,
        end: rig.end,
    })
}

/// When each URL was asked for since the log had so many lines.
fn asked_since(rig: &Loop, line: usize) -> BTreeMap<String, Vec<Time>> {
    let mut asked: BTreeMap<String, Vec<Time>> = BTreeMap::new();
    for entry in &rig.fetcher.log.lock()[line..] {
        asked.entry(entry.url.clone()).or_default().push(entry.began);
    }
    asked
}

/// Nothing lies further ahead than it may.
async fn nothing_is_too_far_ahead(rig: &Loop, what: &str) {
    let now = rig.frontier.now();
    let ledger = rig.frontier.audit().await.unwrap();
    assert_eq!(ledger.findings, Vec::<String>::new(), "{what}");
    for ((_, url), state) in &ledger.urls {
        let (UrlState::Queued(record) | UrlState::Blacklisted(record)) = state else { continue };
        let told = format!("{what}: {url} at {now}: {record:?}");
        assert!(record.due <= now.plus(EVERY).plus(BACKOFF), "{told}");
        assert!(record.linked <= now && record.last.is_none_or(|last| last.at <= now), "{told}");
    }
    for (name, host) in &ledger.hosts {
        let told = format!("{what}: {name} at {now}: {host:?}");
        let ahead = [Some(host.slots.next_free), host.deferred_until].into_iter().flatten();
        assert!(ahead.into_iter().all(|at| at <= now.plus(Span::minutes(5))), "{told}");
        assert!(host.backoff_until.is_none_or(|at| at <= now.plus(BACKOFF)), "{told}");
        assert!(host.slots.taken.iter().all(|slot| slot.until <= now.plus(Span::minutes(30))), "{told}");
    }
    let (rows, _) = rig.frontier.blacklist(None, None, 1000).await.unwrap();
    for row in rows {
        let entry = &row.entry;
        assert!(entry.since <= now && entry.until.unwrap() <= now.plus(BLACKLISTED_FOR), "{what}: {row:?}");
    }
    assert!(rig.frontier.paused().await.unwrap().iter().all(|(_, since)| *since <= now), "{what}");
    let latest = rig.frontier.latest(100).await.unwrap();
    assert!(latest.iter().all(|(at, _)| *at <= now), "{what}: {latest:?}");
}

async fn comes_back(ahead: Span, stayed: Span, restart: bool) {
    let what = format!("{ahead} ahead for {stayed}, restart {restart}");
    let mut rig = world().rig(web).await;
    let clock = Arc::clone(&rig.fetcher.clock);
    let by = i64::try_from(ahead.0).unwrap();
    run_for(&rig, Span::minutes(30)).await;
    clock.jump(by);
    let paused = Pause::Host("paused.no".into());
    rig.frontier.pause(&paused).await.unwrap();
    run_for(&rig, stayed).await;
    assert!(!asked_since(&rig, 0).is_empty());
    let line = rig.fetcher.log.lock().len();
    clock.jump(-by);
    if restart {
        rig = restarted(&rig).await;
    }
    rig.frontier.resume(&paused).await.unwrap();
    let back = rig.frontier.now();
    run_for(&rig, SLACK).await;
    nothing_is_too_far_ahead(&rig, &what).await;
    run_for(&rig, Span::hours(6)).await;
    nothing_is_too_far_ahead(&rig, &what).await;
    let end = rig.frontier.now();
    let asked = asked_since(&rig, line);
    // Its URL, and the longest that it may be left alone: the answer itself, its frequency, or what
    // its errors cost it.
    let slow = Span::minutes(40);
    for (url, longest) in [
        (OFTEN, EVERY),
        (PAUSED, EVERY),
        (SLOW, EVERY.plus(slow)),
        (DEAD, BACKOFF),
        (BUSY, EVERY),
        (GONE, BLACKLISTED_FOR),
    ] {
        let times = asked.get(url).unwrap_or_else(|| panic!("{what}: {url} is frozen"));
        let times = times.iter().copied().filter(|at| *at <= end);
        let mut before = back;
        for at in times.chain([end]) {
            assert!(
                at.since(before) <= longest.plus(SLACK),
                "{what}: {url} is left alone from {before} to {at}"
            );
            before = at;
        }
    }
    // What was found while the clock was ahead, and not asked for yet, was asked for as well.
    let found = asked.keys().filter(|url| url.starts_with("https://new.no/")).count();
    assert!(found > 5, "{what}: {found}");
    polite(&rig, line, &what);
}

/// The web's own log: no host is asked again before its delay has passed.
fn polite(rig: &Loop, line: usize, what: &str) {
    let log = rig.fetcher.log.lock();
    let mut last: BTreeMap<&str, Time> = BTreeMap::new();
    let mut since: Vec<_> = log[line..].iter().collect();
    since.sort_by_key(|asked| asked.began);
    for asked in since {
        if let Some(before) = last.insert(&asked.host, asked.ended) {
            let least = if asked.url == BUSY { Span::minutes(5) } else { Span(100) };
            assert!(asked.began >= before.plus(least), "{what}: {asked:?} after {before}");
        }
    }
}

#[test]
fn f21_a_blacklisting_that_ends_is_noticed_at_once() {
    on_paused_time(async {
        let lasts = Span(90_500);
        let limits = Limits { max_not_found: 0, blacklist_for: Some(lasts), ..Limits::default() };
        let every = Span::minutes(1);
        let world = World { limits, every, seeds: vec![GONE.into()], ..world() };
        let mut rig = world.rig(web).await;
        // Nothing else wakes it.
        Arc::get_mut(&mut rig).unwrap().idle_max = Span::minutes(10);
        run_for(&rig, Span::minutes(10)).await;
        let asked = asked_since(&rig, 0).remove(GONE).unwrap();
        assert!(asked.len() >= 6, "{asked:?}");
        for pair in asked.windows(2) {
            let pause = pair[1].since(pair[0]);
            assert!(pause >= lasts && pause <= lasts.plus(Span(50)), "{asked:?}");
        }
    });
}

/// Every way to come back, on paused time.
fn on_paused_time(scenario: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(scenario);
}

#[test]
fn f40_a_clock_that_was_ahead_and_came_back_leaves_nothing_frozen() {
    let jumps = [Span::minutes(7), Span::hours(3), Span::days(2), Span::days(366)];
    for ahead in jumps {
        for (stayed, restart) in
            [(Span::minutes(3), false), (Span::minutes(3), true), (Span::hours(5), false)]
        {
            on_paused_time(comes_back(ahead, stayed, restart));
        }
    }
}
