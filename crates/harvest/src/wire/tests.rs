//! The fourteen rows of F30, and what robots deny (F17), over a real wire: a server and a name
//! server on loopback, the real fetcher, frontier and archive between them. Whatever is found by
//! now is brought about while the answer is under way.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use frontier::ports::{Archive, Clock, Fetch, Fetcher, Held, Order};
use frontier::{CompletedAll, Frontier, Harvest, Host, Situation, Summary, Target};
use net::dns::{Overrides, Resolver};
use parking_lot::Mutex;
use policy::catalog::Change;
use policy::model::{
    BlacklistEntry, BlacklistReason, Collection, Politeness, Profile, Record, RobotsPolicy, Seed, Settings,
};
use policy::scope::Scope;
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use store::Store;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Introduction, WarcArchive, WireFetcher, WireSettings, open_with};
use crate::clock::SystemClock;

const EVERY: Span = Span(1500);
const DELAY: Span = Span(120);
const ALLOW: &str = "User-agent: *\nAllow: /\n";
const DENY: &str = "User-agent: *\nDisallow: /\n";

/// What the server does and has seen.
#[derive(Default)]
struct Site {
    robots: Mutex<String>,
    /// It hangs up where a page is asked for.
    hangs_up: AtomicBool,
    /// A page is asked for, and its answer waits.
    holds: AtomicBool,
    asked: Notify,
    go: Notify,
    /// Host and path, when it was asked for and when it was answered.
    log: Mutex<Vec<(String, Instant, Instant)>>,
    /// The name of the server is gone.
    nameless: AtomicBool,
    /// What the resolver's clock is ahead.
    ahead: AtomicI64,
}

impl Site {
    fn times(&self, what: &str) -> usize {
        self.log.lock().iter().filter(|(asked, ..)| asked.ends_with(what)).count()
    }

    async fn converse(self: Arc<Site>, mut stream: tokio::net::TcpStream) {
        let mut buffer = Vec::new();
        loop {
            let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") else {
                match stream.read_buf(&mut buffer).await {
                    Ok(bytes) if bytes > 0 => continue,
                    _ => return,
                }
            };
            let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
            buffer.drain(..end + 4);
            let path = head.split(' ').nth(1).unwrap().to_owned();
            let begun = Instant::now();
            let body = if path == "/robots.txt" {
                self.robots.lock().clone()
            } else {
                if self.holds.load(Ordering::SeqCst) {
                    self.asked.notify_one();
                    self.go.notified().await;
                }
                if self.hangs_up.load(Ordering::SeqCst) {
                    return;
                }
                format!("<a href='/from{}'>a page</a>", path.replace('/', "-"))
            };
            let status = if path == "/hop" { "302 Found\r\nLocation: /from-" } else { "200 OK" };
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            self.log.lock().push((path, begun, Instant::now()));
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    /// Every name is here for a minute, or nowhere.
    async fn name(self: Arc<Site>, socket: UdpSocket) {
        let mut packet = [0; 512];
        while let Ok((bytes, from)) = socket.recv_from(&mut packet).await {
            let question = &packet[..bytes];
            let end = 12 + question[12..].iter().position(|byte| *byte == 0).unwrap() + 5;
            let is_v4 = question[end - 3] == 1;
            let gone = self.nameless.load(Ordering::SeqCst);
            let answers = u8::from(is_v4 && !gone);
            let mut answer = question[..2].to_vec();
            answer.extend([0x81, if gone { 0x83 } else { 0x80 }, 0, 1, 0, answers, 0, 0, 0, 0]);
            answer.extend(&question[12..end]);
            if answers == 1 {
                answer.extend([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
                answer.extend(Ipv4Addr::LOCALHOST.octets());
            }
            socket.send_to(&answer, from).await.unwrap();
        }
    }
}

struct World {
    site: Arc<Site>,
    frontier: Arc<Frontier>,
    fetcher: Arc<WireFetcher>,
    archive: Arc<WarcArchive>,
    port: u16,
    _dir: TempDir,
}

/// What is done while an answer is under way.
type Meanwhile<'a> = std::pin::Pin<Box<dyn Future<Output = ()> + 'a>>;

impl World {
    async fn new() -> World {
        let site = Arc::new(Site::default());
        *site.robots.lock() = ALLOW.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let answering = Arc::clone(&site);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&answering).converse(stream));
            }
        });
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let names: SocketAddr = socket.local_addr().unwrap();
        tokio::spawn(Arc::clone(&site).name(socket));
        let dir = TempDir::new().unwrap();
        let frontier = Arc::new(Frontier::new(Store::in_memory(1), Arc::new(SystemClock), 1));
        let settings = WireSettings {
            node: None,
            dir: dir.path().to_owned(),
            overrides: Overrides::default(),
            allowed: vec!["127.0.0.0/8".parse().unwrap()],
            introduction: Introduction {
                user_agent: Some("skurd".to_owned()),
                contact: Some("a@b.no".to_owned()),
            },
            certificates: policy::model::BadCertificates::Accept,
            compression: Some(net::warc::Compression::default()),
            workers: 4,
        };
        let ahead = Arc::clone(&site);
        let clock: net::dns::Clock =
            Arc::new(move || Time(SystemClock.now().0 + ahead.ahead.load(Ordering::SeqCst)));
        let resolver = Resolver::with_servers(&[names], Span::seconds(1), 1, Overrides::default(), clock);
        let (fetcher, archive) = open_with(&settings, &frontier, resolver).unwrap();
        let world = World { site, frontier, fetcher, archive, port, _dir: dir };
        world.declare(vec![settings_with(Span::days(1)), collection("c", None), profile("p", "c")]).await;
        world.seed("/", "p").await;
        world
    }

    fn url(&self, path: &str) -> CrawlUrl {
        CrawlUrl::from_normal(format!("http://a.test:{}{path}", self.port)).unwrap()
    }

    async fn declare(&self, changes: Vec<Change>) {
        self.frontier.declare(&changes).await.unwrap();
    }

    async fn seed(&self, path: &str, profile: &str) {
        let name = format!("{path} in {profile}");
        let (url, profiles) = (self.url(path).as_str().to_owned(), vec![profile.to_owned()]);
        self.declare(vec![Change::PutSeed(Seed {
            name: name.clone(),
            url,
            active: true,
            profiles,
            ..Seed::default()
        })])
        .await;
        self.frontier.start(&Target::Seed { name, profiles: None }).await.unwrap();
    }

    /// The next try at a URL, whatever has to be read before it.
    async fn harvest(&self, meanwhile: Option<Meanwhile<'_>>) -> (Order, Summary) {
        let mut meanwhile = meanwhile;
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            assert!(Instant::now() < deadline, "nothing is due");
            let Some(order) = self.frontier.reserve(1).await.unwrap().orders.pop() else {
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            };
            self.site.holds.store(meanwhile.is_some(), Ordering::SeqCst);
            let fetch = self.fetcher.fetch(&order);
            let (report, haul) = match meanwhile.take() {
                None => fetch.await,
                Some(done) => {
                    tokio::pin!(fetch);
                    tokio::select! {
                        fetched = &mut fetch => {
                            meanwhile = Some(done);
                            fetched
                        }
                        () = self.site.asked.notified() => {
                            done.await;
                            self.site.go.notify_one();
                            fetch.await
                        }
                    }
                }
            };
            let batch: Vec<_> = haul.iter().map(|haul| (&order, haul)).collect();
            let mut kept = self.archive.keep(&batch).await.unwrap();
            let captures = kept.captures.pop().unwrap_or_default();
            let harvest = Harvest { order: &order, report: &report, captures: &captures };
            let completed = self.frontier.complete_all(&[harvest], &kept.files).await.unwrap();
            self.archive.settled();
            let CompletedAll::Done(mut summaries) = completed else { panic!("{completed:?}") };
            let findings = self.frontier.audit().await.unwrap().findings;
            assert!(findings.is_empty(), "{findings:?}");
            if report.result.is_harvest() {
                return (order, summaries.pop().unwrap());
            }
        }
    }

    async fn situation(&self, path: &str) -> Place {
        let why = self.frontier.why(&self.url(path), Some("c")).await.unwrap();
        match why.into_iter().next().map(|why| why.situation) {
            Some(Situation::Queued(record) | Situation::InFlight(record)) => Place::Queued(Box::new(record)),
            Some(Situation::Blacklisted(entry)) => Place::Blacklisted(entry),
            _ => Place::Unknown,
        }
    }

    async fn captures(&self, path: &str) -> usize {
        let (rows, _) = self.frontier.captures("c", None, 1000).await.unwrap();
        rows.iter().filter(|(_, _, row)| row.url == self.url(path).as_str()).count()
    }

    async fn host(&self) -> Host {
        self.frontier.audit().await.unwrap().hosts.get("a.test").cloned().unwrap_or_default()
    }

    fn names_are_gone(&self) {
        self.site.nameless.store(true, Ordering::SeqCst);
        // What was looked up has run out.
        self.site.ahead.fetch_add(61_000, Ordering::SeqCst);
    }
}

#[derive(Debug)]
enum Place {
    Queued(Box<Record>),
    Blacklisted(BlacklistEntry),
    Unknown,
}

fn settings_with(robots_cache: Span) -> Change {
    let politeness = Politeness { factor: 0.0, min: DELAY, max: DELAY, parallel: 1, ..Politeness::default() };
    Change::PutSettings(Box::new(Settings { politeness, robots_cache, ..Settings::default() }))
}

fn collection(name: &str, user_agent: Option<&str>) -> Change {
    Change::PutCollection(Box::new(Collection {
        name: name.to_owned(),
        user_agent: user_agent.map(str::to_owned),
        index: false,
        ..Collection::default()
    }))
}

fn profile(name: &str, collection: &str) -> Change {
    Change::PutProfile(Box::new(Profile {
        name: name.to_owned(),
        active: true,
        collection: collection.to_owned(),
        scope: Scope { max_depth: Some(1), ..Scope::default() },
        every: EVERY,
        length: None,
        ttl: None,
        robots: RobotsPolicy::Obey,
        limits: policy::model::Limits::default(),
        ..Profile::default()
    }))
}

fn block_on(scenario: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap().block_on(scenario);
}

/// A process that was stopped wakes up with orders that are others' by now: it asks nobody for them,
/// neither for robots.txt nor for the page.
#[test]
fn m5_an_order_whose_lease_has_ended_asks_nobody() {
    block_on(async {
        let world = World::new().await;
        let order = world.frontier.reserve(1).await.unwrap().orders.pop().unwrap();
        let late = Order { held: Held::until(world.frontier.now()), ..order.clone() };
        for path in ["/robots.txt", "/"] {
            let before = world.site.log.lock().len();
            let (report, haul) = world.fetcher.fetch(&late).await;
            assert!(matches!(report.result, Fetch::Deferred { .. }) && haul.is_none(), "{report:?}");
            assert_eq!(world.site.log.lock().len(), before, "{path} was asked for");
            world.fetcher.fetch(&order).await;
            let log = world.site.log.lock();
            assert_eq!((log.len(), log.last().map(|(asked, ..)| asked.as_str())), (before + 1, Some(path)));
        }
    });
}

/// The columns of F30, and what is expected: what becomes of the URL, whether its host backs off,
/// and captures in all.
const ROWS: &str = "
     1 | first | response |         |     |        |     | next due    |          | 1
     2 | first | response |         | oos |        |     | removed     |          | 1
     3 | first | response |         |     | robots |     | blacklisted |          | 1
     4 | first |          |         |     |        |     | retried     | backs off | 0
     5 | first |          |         |     |        | dns | stays       | backs off | 0
     6 |       | response | earlier |     |        |     | next due    |          | 2
     7 |       | response | earlier | oos |        |     | removed     |          | 2
     8 |       | response | earlier |     | robots |     | blacklisted |          | 2
     9 |       | response | earlier |     |        | dns | backed off  | backs off | 2
    10 |       | response |         |     |        |     | next due    |          | 2
    11 |       | response |         | oos |        |     | removed     |          | 2
    12 |       | response |         |     | robots |     | blacklisted |          | 2
    13 |       |          |         |     |        |     | retried     |          | 1
    14 |       |          |         |     |        | dns | stays       | backs off | 1";

async fn row(cells: &[&str]) {
    let is = |cell: usize| !cells[cell].is_empty();
    let (first, response, earlier, oos, robots, dns) = (is(1), is(2), is(3), is(4), is(5), is(6));
    let world = World::new().await;
    let url = world.url("/");
    if !first {
        let (order, summary) = world.harvest(None).await;
        assert_eq!((order.url.as_str(), summary.variant), (url.as_str(), Some(1)));
        // Only this one is to come.
        world
            .declare(vec![Change::PutProfile(Box::new(Profile {
                scope: Scope { max_depth: Some(0), ..Scope::default() },
                ..of(profile("p", "c"))
            }))])
            .await;
    }
    world.site.hangs_up.store(!response && !dns, Ordering::SeqCst);
    if dns && !response {
        world.names_are_gone();
    }
    let meanwhile: Meanwhile<'_> = Box::pin(async {
        if earlier {
            let later = SystemClock.now().plus(Span::days(1));
            assert!(world.frontier.move_due("c", &url, later).await.unwrap());
        }
        if oos {
            world.declare(vec![Change::DeleteProfile("p".to_owned())]).await;
        }
        if robots {
            *world.site.robots.lock() = DENY.to_owned();
            world.declare(vec![settings_with(Span(1))]).await;
        }
        if dns {
            world.names_are_gone();
        }
    });
    let (order, summary) = world.harvest(response.then_some(meanwhile)).await;
    let what = format!("{cells:?}: {summary:?}");
    assert_eq!((&order.url, order.last_fetch.is_none()), (&url, first), "{what}");
    assert_eq!(summary.variant, Some(cells[0].parse().unwrap()), "{what}");
    let now = SystemClock.now();
    let place = world.situation("/").await;
    let what = format!("{what}: {place:?}");
    match (cells[7], place) {
        ("next due", Place::Queued(record)) => {
            let last = record.last.unwrap();
            let next = policy::schedule::next_due(last, EVERY);
            assert_eq!((record.due, last.due, record.errors), (next, order.due, 0), "{what}");
        }
        ("removed", Place::Unknown) => {}
        ("blacklisted", Place::Blacklisted(entry)) => {
            assert_eq!(entry.reason, BlacklistReason::Robots, "{what}");
            // Not cached for longer than a moment: it is read next at once, or in an hour at most.
            assert!(entry.until.unwrap() <= now.plus(Span::hours(1)), "{what}");
        }
        ("retried", Place::Queued(record)) => {
            assert_eq!(record.errors, 1, "{what}");
            let longest = if first { Span::seconds(75) } else { Span::days(1).plus(EVERY) };
            assert!(record.due > order.due && record.due <= now.plus(longest), "{what}");
        }
        ("backed off", Place::Queued(record)) => {
            assert!(record.due >= now.plus(Span::seconds(30)), "{what}");
            assert!(record.due <= now.plus(Span::seconds(76)), "the earlier time has gone by: {what}");
        }
        ("stays", Place::Queued(record)) => assert_eq!((record.due, record.errors), (order.due, 1), "{what}"),
        _ => panic!("{what}"),
    }
    let backs_off = world.host().await.backoff_until.is_some_and(|until| until > now);
    assert_eq!(backs_off, is(8), "{what}");
    assert_eq!(world.captures("/").await, cells[9].parse::<usize>().unwrap(), "{what}");
    assert_eq!(
        world.site.times("/"),
        world.captures("/").await,
        "each answer is captured, and asked for once"
    );
    // Links count where the URL stays in scope, and is allowed.
    let follows = matches!(world.situation("/from-").await, Place::Queued(_));
    assert_eq!(follows, first && cells[7] == "next due", "{what}");
    if robots {
        let log = world.site.log.lock().clone();
        let [.., (page, _, answered), (again, asked, _)] = &log[..] else { panic!("{log:?}") };
        assert_eq!((page.as_str(), again.as_str()), ("/", "/robots.txt"), "read anew, after the answer");
        assert!(*asked >= *answered + Duration::from_millis(DELAY.0), "A15: after the delay");
        assert_eq!(world.captures("/robots.txt").await, 2, "and archived");
    }
}

fn of(change: Change) -> Profile {
    match change {
        Change::PutProfile(profile) => *profile,
        other => panic!("{other:?}"),
    }
}

#[test]
fn f30_all_fourteen_rows_over_the_wire() {
    let mut seen = BTreeMap::new();
    for line in ROWS.lines().filter(|line| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        block_on(row(&cells));
        seen.insert(cells[0].parse::<u8>().unwrap(), ());
    }
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), (1..=14).collect::<Vec<_>>());
}

/// A URL that robots deny, and then do not any more.
async fn denied() -> World {
    let world = World::new().await;
    *world.site.robots.lock() = DENY.to_owned();
    let (order, summary) = world.harvest(None).await;
    assert_eq!((order.url, summary.variant), (world.url("/"), None));
    let Place::Blacklisted(entry) = world.situation("/").await else { panic!("it is denied") };
    assert_eq!(entry.reason, BlacklistReason::Robots);
    let lasts = entry.until.unwrap().since(entry.since);
    assert!(lasts <= Span::days(1) && lasts > Span::hours(23), "as long as it is cached: {entry:?}");
    world
}

#[test]
fn f17_what_robots_denied_is_back_as_soon_as_anybody_reads_that_they_allow_it() {
    // What robots.txt says by then, whether it is read under another name, and whether the URL is back.
    let partly = "User-agent: *\nDisallow: /\nAllow: /b\n";
    let other_only = "User-agent: *\nDisallow: /\n\nUser-agent: other\nAllow: /\n";
    for (robots, other, back) in [
        (ALLOW, false, true),
        (ALLOW, true, true),
        (partly, false, false),
        (partly, true, false),
        (other_only, true, false),
    ] {
        block_on(async {
            let world = denied().await;
            *world.site.robots.lock() = robots.to_owned();
            world.declare(vec![collection("d", Some("other")), profile("q", "d")]).await;
            if other {
                world.seed("/b", "q").await;
            } else {
                // The same name: it is read again since it is not cached for so long any more.
                world.declare(vec![settings_with(Span(1))]).await;
                world.seed("/b", "p").await;
            }
            let (order, _) = world.harvest(None).await;
            let what = format!("{robots:?} {other}");
            assert_eq!(order.url, world.url("/b"), "{what}");
            world.declare(vec![settings_with(Span::days(1))]).await;
            match world.situation("/").await {
                Place::Queued(record) => {
                    assert!(back && record.due <= SystemClock.now(), "{what}: {record:?}");
                    let asked = world.site.times("/robots.txt");
                    while world.harvest(None).await.0.url != world.url("/") {}
                    assert_eq!(world.captures("/").await, 1, "{what}");
                    // Where it is not cached for a moment only, what was read is known to all.
                    assert!(!other || world.site.times("/robots.txt") == asked, "{what}");
                }
                Place::Blacklisted(entry) => assert!(!back && entry.until.is_some(), "{what}: {entry:?}"),
                Place::Unknown => panic!("{what}: it is lost"),
            }
        });
    }
}

#[test]
fn f17_what_robots_denied_is_back_at_the_latest_when_their_cache_runs_out() {
    block_on(async {
        let world = World::new().await;
        world.declare(vec![settings_with(Span(400))]).await;
        *world.site.robots.lock() = DENY.to_owned();
        world.harvest(None).await;
        let Place::Blacklisted(entry) = world.situation("/").await else { panic!("it is denied") };
        assert!(entry.until.unwrap() <= entry.since.plus(Span(400)), "{entry:?}");
        *world.site.robots.lock() = ALLOW.to_owned();
        while world.frontier.sweep().await.unwrap().blacklistings == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let (order, summary) = world.harvest(None).await;
        assert_eq!((order.url, summary.variant), (world.url("/"), Some(1)));
        assert_eq!(world.site.times("/robots.txt"), 2);
    });
}

#[test]
fn f30_the_target_of_a_redirect_does_not_change_the_fate_of_the_redirecting_url() {
    block_on(async {
        let world = World::new().await;
        // Where it leads is denied.
        *world.site.robots.lock() = "User-agent: *\nDisallow: /from\n".to_owned();
        world.seed("/hop", "p").await;
        let mut variants = BTreeMap::new();
        while ["/hop", "/from-"].iter().any(|path| !variants.contains_key(&world.url(path))) {
            let (order, summary) = world.harvest(None).await;
            variants.entry(order.url).or_insert(summary.variant);
        }
        assert_eq!(variants.get(&world.url("/hop")), Some(&Some(1)), "{variants:?}");
        assert_eq!(variants.get(&world.url("/from-")), Some(&None), "{variants:?}");
        assert!(matches!(world.situation("/from-").await, Place::Blacklisted(_)));
        assert!(matches!(world.situation("/hop").await, Place::Queued(_)));
        assert!(world.captures("/hop").await > 0);
    });
}
