//! The rows of every table as they are written, against the bytes that are kept in
//! `tests/data/golden_rows.txt` (see [`store::table`]).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::path::Path;

use frontier::schema::*;
use policy::blacklist::Barred;
use policy::browser::*;
use policy::budget::{Budget, Charges, Holder, Spent};
use policy::catalog::Change;
use policy::changes::Changes;
use policy::contract::{Owed, Terms};
use policy::cookies;
use policy::hint::{Claim, Hint, Trust};
use policy::hours::{Weekday, Window};
use policy::model::*;
use policy::owner::Via;
use policy::scope::{Pattern, Scope, Within};
use policy::time::{Span, Time};
use policy::trap::text::{Moved, Sketch, Sketcher};
use policy::trap::{Decision, Figures, Kind, Observed, Remedy, Sense, Suspicion, Traps};
use policy::url::Scheme;
use policy::walk::{
    Direction, Draft, Existence, ExistenceDraft, Expression, Leg, Outcome, Resume, Retry, Walk, WalkSettings,
};
use policy::way::{Through, Way};
use policy::zone::Zone;
use store::contract::golden::{Sample, check};

fn record() -> Record {
    Record {
        seed: "seed".into(),
        position: Position { depth: 1, hops: 2, chain: 3, requisite: true },
        via: Via::Page { page: 82, seed: 83 },
        due: Time(1_000_001),
        run: 4,
        cycles: 5,
        linked: Time(1_000_002),
        last: Some(LastFetch { at: Time(1_000_003), due: Time(1_000_004) }),
        errors: 6,
        not_found: 7,
        digest: Some("sha1:d".into()),
        etag: Some("\"e\"".into()),
        last_modified: Some("lm".into()),
        problem: Some("a problem".into()),
        owed: Owed::Promise(Time(1_000_020)),
        terms: Some(Terms { every: Span(65), profiles: vec!["p".into()], adaptive: true }),
        changes: Changes::default().after(Span::hours(3), true).after(Span::hours(5), false),
        charges: Charges {
            known_to: vec![Holder::Seed("s".into()), Holder::Host("a.test".into())],
            held_by: Some(Holder::Group("g g".into())),
        },
        sketch: Some(Sketch(84)),
        hint: Some(Hint { said: Time(1_000_034), claim: Some(Claim { belief: 85, due: Time(1_000_035) }) }),
        moved: Some(Moved(9)),
    }
}

fn promises() -> Promises {
    let (late_s_log2, wait_s_log2) = (vec![73, 74], vec![75, 76]);
    Promises { on_time: 77, late: 78, missed: 79, late_s_log2, first: 80, wait_s_log2 }
}

fn latest() -> Latest {
    let (status, error) = (Some(200), Some(ErrorKind::Timeout));
    Latest { collection: "c".into(), url: "http://a.test/".into(), status, error, bytes: 81 }
}

fn slots() -> Slots {
    let slot = Slot {
        lease: 11,
        until: Time(1_000_005),
        host: "a.test".into(),
        collection: "c".into(),
        url: "http://a.test/".into(),
        due: Time(1_000_006),
    };
    Slots {
        taken: vec![slot],
        next_free: Time(1_000_007),
        queued_at: Some(Time(1_000_008)),
        response_time: Span(12),
    }
}

fn host() -> Host {
    Host {
        slots: slots(),
        group: Some(("group:g".into(), Time(1_000_009))),
        head: Time(1_000_010),
        head_age: 13,
        backoff_until: Some(Time(1_000_011)),
        deferred_until: Some(Time(1_000_014)),
        crawl_delay: Some(Span(14)),
        failures: 15,
        walked: true,
        trust: Trust::default().after(true).after(true).after(false),
    }
}

fn budget() -> Budget {
    Budget { max_urls: Some(84), max_harvests: Some(85), max_bytes: Some(86), max_duration: Some(Span(87)) }
}

fn politeness() -> Politeness {
    let (windows, timezone) = (vec![window()], Zone::named("Europe/Oslo"));
    Politeness {
        factor: 1.5,
        min: Span(16),
        max: Span(17),
        parallel: 18,
        windows,
        timezone,
        budget: budget(),
    }
}

fn window() -> Window {
    let (from, to) = ("22:30".parse().unwrap(), "06:15".parse().unwrap());
    Window { from, to, weekdays: vec![Weekday::Mon, Weekday::Sun] }
}

fn way() -> Way {
    Way {
        proxy: Some("socks5://u:p@h.test:1080".parse().unwrap()),
        resolver: Some("192.0.2.1:53".parse().unwrap()),
        source_address: Some("2001:db8::1".parse().unwrap()),
    }
}

fn collection() -> Collection {
    let cookie =
        GivenCookie { host: "h.test".into(), name: "n".into(), value: "v".into(), path: Some("/p".into()) };
    Collection {
        name: "c".into(),
        active: true,
        user_agent: Some("agent".into()),
        headers: vec![("A".into(), "b".into())],
        cookies: vec![cookie],
        warc_prefix: Some("P".into()),
        index: true,
        engine: Engine::Browser,
        browser: browser(),
        dedup: Dedup::Payload,
        way: Way { proxy: Some(Through::Direct), ..way() },
        budget: budget(),
    }
}

fn browser() -> BrowserSettings {
    BrowserSettings {
        user_agent: Some("agent".into()),
        language: Some("nb,en".into()),
        timezone: Some("Europe/Oslo".into()),
        viewport: Viewport { width: 84, height: 85 },
        device: Device { touch: true, scale: 2.5 },
        color_scheme: ColorScheme::Dark,
        behaviours: Behaviours { scroll: true, click: Some("a.more".into()) },
        screenshot: Screenshot::Full,
        dom: true,
        when_unchanged: WhenUnchanged::Skip,
        robots_requisites: RobotsRequisites::Ignore,
        fresh: Span(86),
        limits: BrowserLimits {
            load: Span(87),
            quiet: Span(88),
            behave: Span(89),
            collect: Span(90),
            total: Span(91),
            requests: 92,
            bytes: 93,
            media_bytes: 94,
        },
    }
}

/// The words that the browser of [`collection`] does not have.
fn other_collections() -> [Collection; 2] {
    let view = BrowserSettings {
        color_scheme: ColorScheme::Light,
        screenshot: Screenshot::View,
        when_unchanged: WhenUnchanged::Render,
        robots_requisites: RobotsRequisites::Obey,
        ..browser()
    };
    let none = BrowserSettings { screenshot: Screenshot::None, ..browser() };
    [
        Collection { engine: Engine::Http, browser: view, ..collection() },
        Collection { browser: none, ..collection() },
    ]
}

fn rendering(ending: Ending) -> Rendering {
    Rendering {
        at: Time(1_000_022),
        ending,
        digest: Some("sha1:d".into()),
        crashes: 95,
        load: Span(96),
        behave: Span(97),
        collect: Span(98),
        total: Span(99),
        requests: 100,
        from_archive: 101,
        failed: 102,
        refused: 103,
        refusals: vec![Refusal { url: "http://a.test/b".into(), reason: "robots".into() }],
        truncated: Some("bytes".into()),
        note: Some("a note".into()),
    }
}

fn cookies() -> cookies::Row {
    let cookie = cookies::Cookie {
        name: "n".into(),
        value: "v".into(),
        domain: "d.test".into(),
        host_only: true,
        path: "/p".into(),
        secure: true,
        http_only: true,
        same_site: Some(cookies::SameSite::None),
        expires: Some(Time(1_000_020)),
        created: Time(1_000_021),
    };
    let given = cookies::Given { name: "m".into(), value: "w".into(), path: "/q".into() };
    cookies::Row { given: vec![given], cookies: vec![cookie] }
}

fn profile() -> Profile {
    Profile {
        name: "p".into(),
        active: true,
        collection: "c".into(),
        scope: Scope {
            within: Within::Any,
            max_depth: Some(19),
            off_domain_hops: 20,
            requisites: true,
            include: vec![Pattern::Prefix("a.test/".into()), Pattern::Host("*.b.test".into())],
            exclude: vec![Pattern::regex("x+").unwrap()],
            max_url_length: 21,
            max_repeats: 22,
            schemes: vec![Scheme::Https, Scheme::Http],
        },
        every: Span(23),
        length: Some(24),
        ttl: Some(Span(25)),
        robots: RobotsPolicy::ObeyAs("bot".into()),
        limits: Limits {
            max_errors: 26,
            max_not_found: 27,
            blacklist_for: Some(Span(28)),
            backoff_base: Span(29),
            backoff_cap: Span(30),
            max_bytes: 31,
            max_decoded_bytes: 32,
            max_header_bytes: 33,
            connect_timeout: Span(34),
            first_byte_timeout: Span(35),
            total_timeout: Span(36),
            max_outlinks: 37,
            max_redirects: 38,
        },
        slowest: Some(Span(90)),
        at: "03:00".parse().ok(),
        weekdays: vec![Weekday::Tue],
        timezone: Zone::named("Asia/Tokyo"),
        windows: vec![window()],
        budget: budget(),
        traps: Traps::Hold,
    }
}

fn settings() -> Settings {
    Settings {
        politeness: politeness(),
        recheck: Span(39),
        lease: Span(40),
        on_time: Span(41),
        session_ids: vec!["sid".into()],
        user_agent: Some("agent".into()),
        contact: Some("contact".into()),
        certificates: BadCertificates::Refuse,
        index_across: true,
        robots_cache: Span(42),
        browser: BrowserProgram { path: Some("/b".into()), sandbox: true, tabs: 104 },
        share_hosts: true,
    }
}

fn walk_settings() -> WalkSettings {
    let exists = ExistenceDraft {
        exists: vec!["200".parse().unwrap()],
        absent: vec!["404".parse().unwrap()],
        failed: vec!["500-599".parse().unwrap()],
        redirect_exists: vec![Expression::new("a").unwrap()],
        redirect_absent: vec![Expression::new("b").unwrap()],
        body_has: vec![Expression::new("c").unwrap()],
        body_lacks: vec![Expression::new("d").unwrap()],
    };
    WalkSettings::new(Draft {
        template: "http://a.test/{id:04}".into(),
        min: Some(10),
        max: Some(90),
        from: Some(50),
        direction: Some(Direction::Both),
        step: Some(1),
        margin: Some(42),
        attempts: Some(43),
        cooldown: Some(Span(44)),
        retry: Some(Retry::Failed),
        rate: Some(45),
        exists: Existence::new(exists).unwrap(),
    })
    .unwrap()
}

fn declared_walk() -> DeclaredWalk {
    DeclaredWalk {
        name: "w".into(),
        active: true,
        profile: "p".into(),
        seed: Some("s".into()),
        round: Some("r".into()),
        place: 46,
        settings: walk_settings(),
    }
}

/// One of each, so that no variant changes its number.
fn changes() -> Vec<Change> {
    let group = HostGroup {
        name: "group:g".into(),
        hosts: vec!["a.test".into()],
        politeness: politeness(),
        way: way(),
    };
    let seed = Seed {
        name: "s".into(),
        url: "http://a.test/".into(),
        active: true,
        profiles: vec!["p".into()],
        budget: budget(),
    };
    let barred = Barred {
        pattern: Pattern::Host("a.test".into()),
        collection: Some("c".into()),
        reason: "why".into(),
        since: Time(1_000_030),
        until: Some(Time(1_000_031)),
    };
    let others = other_collections().map(|own| Change::PutCollection(Box::new(own)));
    let mut changes = vec![
        Change::PutCollection(Box::new(collection())),
        Change::DeleteCollection("c".into()),
        Change::PutProfile(Box::new(profile())),
        Change::DeleteProfile("p".into()),
        Change::PutSeed(seed),
        Change::DeleteSeed("s".into()),
        Change::PutGroup(group),
        Change::DeleteGroup("g".into()),
        Change::PutHostPoliteness { host: "a.test".into(), politeness: politeness(), way: way() },
        Change::DeleteHostPoliteness("a.test".into()),
        Change::PutSettings(Box::new(settings())),
        Change::PutWalk(Box::new(declared_walk())),
        Change::DeleteWalk("w".into()),
        Change::PutBarred(Box::new(barred)),
        Change::DeleteBarred("host:a.test in c".into()),
    ];
    changes.extend(others);
    changes
}

/// A walk that has met everything there is to meet.
fn walked() -> (WalkRow, Vec<Sample>) {
    let mut walk = Walk::new(walk_settings());
    let ids = [(50, Outcome::Exists), (51, Outcome::Absent), (52, Outcome::Failed)];
    for (id, outcome) in ids {
        walk.next(Leg::Up, Time(1_000_012));
        walk.result(id, outcome, Time(1_000_013));
    }
    let changes = walk.dirty().unwrap();
    let stretches = changes.stretches.iter().map(|(_, row)| Sample::of(&WALK_IDS, row)).collect();
    let run = WalkRun { requests: 47, first: Some(Time(1_000_014)), last: Some(Time(1_000_015)) };
    (WalkRow { head: changes.head, resume: Resume::Both, ended: true, run }, stretches)
}

fn samples() -> Vec<Sample> {
    let (walk, mut samples) = walked();
    assert!(!samples.is_empty());
    for owed in [Owed::Nothing, Owed::First(Time(1_000_021))] {
        samples.push(Sample::of(&URLS, &UrlState::Queued(Record { owed, ..record() })));
    }
    for state in [
        UrlState::Queued(record()),
        UrlState::Done { run: 1, known_to: vec![Holder::Profile("p".into())] },
        UrlState::Blacklisted(record()),
    ] {
        samples.push(Sample::of(&URLS, &state));
    }
    let reasons = [
        BlacklistReason::Robots,
        BlacklistReason::NotFound,
        BlacklistReason::Errors,
        BlacklistReason::Operator("why".into()),
        BlacklistReason::Pattern("host:a.test".into()),
    ];
    for reason in reasons {
        let entry = BlacklistEntry { reason, since: Time(1_000_016), until: Some(Time(1_000_017)) };
        samples.push(Sample::of(&BLACKLIST, &entry));
    }
    for change in changes() {
        samples.push(Sample::of(&DECLARED, &change));
        samples.push(Sample::of(&DECLARED_LOG, &change));
    }
    let exclude = Remedy::Exclude("x+".into());
    let session = Remedy::SessionId { name: "sid".into(), pattern: "y+".into() };
    let decisions =
        [Decision::Open, Decision::Released(Time(1_000_024)), Decision::Excluded(Time(1_000_025))];
    for (n, kind) in Kind::ALL.into_iter().enumerate() {
        let remedy = if kind == Kind::Sessions { session.clone() } else { exclude.clone() };
        samples.push(Sample::of(&TRAPS, &suspicion(kind, remedy, decisions[n % 3].clone())));
    }
    for ending in Ending::ALL {
        samples.push(Sample::of(&RENDERINGS, &rendering(ending)));
    }
    let capture = Capture {
        url: "http://a.test/".into(),
        file: "f.warc.gz".into(),
        offset: 48,
        length: 49,
        status: 200,
        mime: Some("text/html".into()),
        digest: "sha1:d".into(),
        revisit: true,
        refers: Some(Refers { url: Some("http://b.test/".into()), time: Time(1_000_036) }),
        moved: Some(Moved(10)),
        cut: true,
    };
    let refused = Refused {
        links: 92,
        path: "/a".into(),
        examples: vec!["http://a.test/a/b".into()],
        last: Time(1_000_033),
    };
    let errors =
        [ErrorKind::Dns, ErrorKind::Connect, ErrorKind::Timeout, ErrorKind::Broken, ErrorKind::Robots];
    let traffic = Traffic {
        requests: 50,
        statuses: vec![(200, 51)],
        errors: errors.iter().map(|kind| (*kind, 52)).collect(),
        bytes: 53,
        new: 54,
        changed: 55,
        unchanged: 56,
        response_ms_log2: vec![57, 58],
        saved_bytes: 59,
        changed_little: 97,
    };
    let payload = Payload {
        digest: "sha1:d".into(),
        chunked: true,
        surt: "test,a)/".into(),
        time: Time(1_000_022),
        offset: 95,
    };
    samples.extend([
        Sample::of(&QUEUE, &()),
        Sample::of(&HOSTS, &host()),
        Sample::of(&HOST_QUEUE, &()),
        Sample::of(&SILENT_QUEUE, &()),
        Sample::of(&GROUPS, &Group { slots: slots(), head: Time(1_000_018) }),
        Sample::of(&GROUP_QUEUE, &()),
        Sample::of(&ARRIVALS, &()),
        Sample::of(&LEASES, &Lease { unit: "group g".into(), host: "a.test".into(), node: "n".into() }),
        Sample::of(&NODES, &node()),
        Sample::of(&SHARD_OWNERS, &ShardRow { owner: "n".into(), process: 80, epoch: 81 }),
        Sample::of(&BELLS, &vec![82, 83]),
        Sample::of(&BLACKLIST_ENDS, &()),
        Sample::of(&DENIED, &()),
        Sample::of(&COOKIES, &cookies()),
        Sample::of(&CAPTURES, &capture),
        Sample::of(&TRAFFIC, &traffic),
        Sample::of(&COUNTERS, &63),
        Sample::of(
            &FILES,
            &ArchiveFile { collection: Some("c".into()), end: 64, captures: 65, batch: 66, node: "n".into() },
        ),
        Sample::of(&WALKS, &walk),
        Sample::of(&PAUSES, &Time(1_000_019)),
        Sample::of(&OPEN, &66),
        Sample::of(&CONTRACT, &promises()),
        Sample::of(&HOURS, &traffic),
        Sample::of(&TOTALS, &Totals { traffic: traffic.clone(), promises: promises() }),
        Sample::of(
            &URL_COUNTS,
            &UrlCounts { queued: 67, unharvested: 68, done: 69, blacklisted: 70, captures: 71 },
        ),
        Sample::of(&DEMAND, &72),
        Sample::of(&LATEST, &latest()),
        Sample::of(&PAYLOADS, &vec![payload]),
        Sample::of(&BARRED_URLS, &()),
        Sample::of(&LIFTED, &"host:a.test".to_owned()),
        Sample::of(
            &RUNS,
            &RunRow {
                started: Time(1_000_040),
                of: RunOf::Seed { name: "s".into(), profiles: vec!["p".into()] },
                seeds: 101,
            },
        ),
        Sample::of(&RUNS, &RunRow { started: Time(1_000_041), of: RunOf::New, seeds: 102 }),
        Sample::of(&RUNS, &RunRow { started: Time(1_000_042), of: RunOf::Profile("p".into()), seeds: 103 }),
        Sample::of(
            &RUNS,
            &RunRow { started: Time(1_000_043), of: RunOf::Collection("c".into()), seeds: 104 },
        ),
        Sample::of(&RUN_URLS, &RunUrls { queued: 105, waiting: 106, done: 107, blacklisted: 108 }),
        Sample::of(
            &RUN_TRAFFIC,
            &RunTraffic {
                traffic: traffic.clone(),
                first: Some(Time(1_000_044)),
                last: Some(Time(1_000_045)),
            },
        ),
        Sample::of(&SPENT, &Spent { harvests: 88, bytes: 89, since: Some(Time(1_000_032)) }),
        Sample::of(&CHARGED, &Charged { known: 90, held: 91 }),
        Sample::of(&REFUSED, &refused),
        Sample::of(&HELD_BACK, &()),
        Sample::of(&USED_UP, &Exhausted { at: Time(1_000_034), used: 93, max: 94 }),
        Sample::of(&HELD, &()),
        Sample::of(&SENSES, &sense()),
    ]);
    samples
}

fn suspicion(kind: Kind, remedy: Remedy, decision: Decision) -> Suspicion {
    Suspicion {
        kind,
        template: "/{n}".into(),
        remedy,
        score: 90,
        figures: Figures {
            found: 91,
            pages: 92,
            stale: 93,
            alike: 94,
            brings: 95,
            of_new: 96,
            dates: Some(("2026-01".into(), "2031-04".into())),
            deepest: 97,
            reordered: 98,
            combinations: 99,
            values: 100,
            same: 101,
        },
        examples: vec!["https://a.test/1".into()],
        since: Time(1_000_022),
        seen: Time(1_000_023),
        decision,
    }
}

/// A bit of everything that is known of a host.
fn sense() -> Sense {
    let mut sense = Sense::default();
    let url = |text: String| policy::url::CrawlUrl::from_normal(text).unwrap();
    for n in 0..20u64 {
        let own = url(format!("https://a.test/s?sid=0123456789abcde{}&b={}", n % 10, n / 10));
        let text = Sketcher::of("the same every time");
        let found = ["/a/b/a/b/x", "/2031/04/01", "/f?a=1&b=2&c=3", "/f?b=2&c=3&a=1"];
        let found: Vec<_> = found.iter().map(|path| url(format!("https://a.test{path}"))).collect();
        let seen = Observed { url: &own, text: text.as_ref(), found: &found, run: 1, at: Time(1) };
        sense.observe(&seen);
    }
    sense
}

fn node() -> NodeRow {
    NodeRow {
        process: 73,
        home: 74,
        since: Time(1_000_020),
        until: Time(1_000_021),
        address: Some("http://a.test:8000".into()),
        shards: 75,
        figures: NodeFigures { in_flight: 76, harvests: 77, bytes: 78 },
    }
}

#[test]
fn i9_golden_rows_are_written_as_they_were_and_older_ones_still_read() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden_rows.txt");
    for row in check(&file, TABLES, &samples()) {
        let read = match row.table.as_str() {
            "urls" => URLS.value_from(&row.stored).map(drop),
            "hosts" => HOSTS.value_from(&row.stored).map(drop),
            "groups" => GROUPS.value_from(&row.stored).map(drop),
            "blacklist" => BLACKLIST.value_from(&row.stored).map(drop),
            "captures" => CAPTURES.value_from(&row.stored).map(drop),
            "traffic" => TRAFFIC.value_from(&row.stored).map(drop),
            "declared" | "declared log" => DECLARED.value_from(&row.stored).map(drop),
            "files" => FILES.value_from(&row.stored).map(drop),
            "leases" => LEASES.value_from(&row.stored).map(drop),
            "hours" => HOURS.value_from(&row.stored).map(drop),
            "totals" => TOTALS.value_from(&row.stored).map(drop),
            "cookies" => COOKIES.value_from(&row.stored).map(drop),
            other => panic!("how are old rows of {other} read?"),
        };
        read.unwrap_or_else(|error| panic!("{} of version {}: {error}", row.table, row.version));
    }
}

/// At any time, and without a budget.
fn plain(politeness: &Politeness) -> Politeness {
    Politeness { windows: Vec::new(), timezone: None, budget: Budget::default(), ..politeness.clone() }
}

/// B1, B2: what was declared before there were browsers is harvested without one, and means what it
/// meant.
#[test]
fn b1_what_format_2_declared_means_the_same_without_a_browser() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden_rows.txt");
    let older = check(&file, TABLES, &samples());
    let expected: Vec<Change> = changes()
        .into_iter()
        .map(|change| match change {
            Change::PutCollection(own) => Change::PutCollection(Box::new(Collection {
                engine: Engine::Http,
                browser: BrowserSettings::default(),
                dedup: Dedup::Url,
                way: Way::default(),
                budget: Budget::default(),
                ..*own
            })),
            Change::PutSettings(own) => Change::PutSettings(Box::new(Settings {
                browser: BrowserProgram::default(),
                share_hosts: false,
                politeness: plain(&own.politeness),
                ..*own
            })),
            Change::PutProfile(own) => Change::PutProfile(Box::new(Profile {
                slowest: None,
                at: None,
                weekdays: Vec::new(),
                timezone: None,
                windows: Vec::new(),
                budget: Budget::default(),
                traps: Traps::Warn,
                ..*own
            })),
            Change::PutSeed(own) => Change::PutSeed(Seed { budget: Budget::default(), ..own }),
            Change::PutGroup(own) => {
                Change::PutGroup(HostGroup { politeness: plain(&own.politeness), way: Way::default(), ..own })
            }
            Change::PutHostPoliteness { host, politeness, .. } => {
                Change::PutHostPoliteness { host, politeness: plain(&politeness), way: Way::default() }
            }
            change => change,
        })
        .collect();
    for table in ["declared", "declared log"] {
        let rows: Vec<_> = older.iter().filter(|row| row.table == table && row.version == 2).collect();
        assert_eq!(rows.len(), 13, "one of each kind");
        for row in rows {
            let read = DECLARED_LOG.value_from(&row.stored).unwrap();
            assert!(expected.contains(&read), "{read:?}");
            // Nothing is made of a row that is cut off, or has something behind it.
            let more = [&row.stored[..], &[0]].concat();
            for broken in [&row.stored[..row.stored.len() - 1], &more[..]] {
                assert!(DECLARED_LOG.value_from(broken).is_err(), "{read:?}");
            }
        }
    }
}
