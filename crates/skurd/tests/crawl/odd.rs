//! Values from the web that cannot be sent back, or do not fit where they are to be kept: a page
//! may fail over them, the harvest does not.

use std::sync::Arc;

use frontier::schema::URLS;
use frontier::{Frontier, UrlState};
use policy::catalog::Change;
use policy::time::Time;
use store::{Options, Store};
use testkit::clock::ManualClock;
use testkit::web::{Answer, Ask};
use testkit::world::{World, json_lines};

/// Everything is asked for twice: the second time with what the first answer gave.
const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 1s, length: 2, scope: {within: any}, limits: {max_errors: 0}}]
";

/// What the seed of a host answers with: more headers, and a body.
fn cases() -> Vec<(&'static str, String, String)> {
    let percents = "%".repeat(2900);
    let long_host = format!("http://{}test/", "abcdefghi.".repeat(270));
    vec![
        ("good", "ETag: \"v1\"\r\n".into(), String::new()),
        ("etag-cr", "ETag: \"a\rb\"\r\n".into(), String::new()),
        ("etag-nul", "ETag: \"a\0b\"\r\n".into(), String::new()),
        ("etag-escape", "ETag: \x1b[2J\r\n".into(), String::new()),
        ("etag-long", format!("ETag: {}\r\n", "x".repeat(8000)), String::new()),
        ("date-cr", "Last-Modified: Tue, 02 Jan\r2024 03:04:05 GMT\r\n".into(), String::new()),
        ("date-nul", "Last-Modified: \0\r\n".into(), String::new()),
        ("cookie-cr", "Set-Cookie: a=b\rc; Path=/\r\nSet-Cookie: d\0=e\r\n".into(), String::new()),
        ("mime-long", format!("Content-Type: text/{}\r\n", "x".repeat(20_000)), String::new()),
        // A sort-friendly key has three bytes for each of these.
        ("percent", String::new(), format!("<a href='/{percents}'>x</a><a href='/?{percents}'>y</a>")),
        ("far", String::new(), format!("<a href='{long_host}'>x</a><img src='{long_host}i'>")),
        ("location", format!("Location: {long_host}\r\nLink: <\0>; rel=next\r\n"), String::new()),
    ]
}

fn site(ask: &Ask) -> Answer {
    let case = cases().into_iter().find(|(host, ..)| ask.host == format!("{host}.test"));
    let Some((_, headers, body)) = case.filter(|_| ask.path != "/robots.txt") else {
        return Answer::not_found();
    };
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    Answer::raw(format!("{ok}{headers}Content-Length: {}\r\n\r\n{body}", body.len()))
}

fn config() -> String {
    let seeds =
        cases().into_iter().map(|(host, ..)| format!("  - {{url: 'http://{host}.test/', profiles: [p]}}\n"));
    format!("{CONFIG}seeds:\n{}", seeds.collect::<String>())
}

#[test]
fn a12_nothing_an_answer_says_ends_the_harvest() {
    let world = World::new(crate::SKURD, site);
    world.write("c.yaml", &config());
    let told = world.crawl(&["c.yaml", "--until-done", "--json"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(!told.err.contains("panicked"), "{}", told.err);
    let events = json_lines(&told.out);
    for (host, ..) in cases() {
        let url = format!("http://{host}.test/");
        let harvests =
            events.iter().filter(|event| event["event"] == "harvest" && event["url"] == url.as_str());
        assert!(harvests.clone().all(|event| event["status"] == 200), "{host}");
        assert_eq!((harvests.count(), world.web().times(&url)), (2, 2), "{host}");
        assert_eq!(world.captures_of(&url).len(), 2, "{host}");
    }
    // What could be sent back was, and nothing else.
    for seen in world.web().seen() {
        let conditional = seen.ask.header("if-none-match").or(seen.ask.header("if-modified-since"));
        let expected =
            (seen.ask.host == "good.test" && seen.ask.path == "/" && seen.ask.nth == 1).then_some("\"v1\"");
        assert_eq!(conditional, expected, "{seen:?}");
        assert_eq!(seen.ask.header("cookie"), None, "{seen:?}");
    }
    let percents = world.captures().iter().filter(|c| c["url"].as_str().unwrap().contains("%%")).count();
    assert_eq!(percents, 4, "two URLs, twice");
    let mime = world.captures_of("http://mime-long.test/")[0]["mime"].as_str().unwrap().len();
    assert!(mime < 300, "{mime} bytes of a media type");
    world.check();
}

/// A store may hold what an earlier version took.
#[test]
fn a12_a_validator_from_before_that_cannot_be_sent_is_not_sent() {
    let world = World::new(crate::SKURD, site);
    world.write("c.yaml", &format!("{CONFIG}seeds: [{{url: 'http://good.test/', profiles: [p]}}]\n"));
    world.crawl_json(&["c.yaml", "--max-urls", "1"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let store = Store::open_existing(&world.data(), &Options::default()).unwrap();
        let tx = store.begin().await.unwrap();
        let url = ("c", "http://good.test/");
        let Some(UrlState::Queued(mut record)) = URLS.get(&tx, url).await.unwrap() else {
            panic!("it waits for its second time")
        };
        assert_eq!(record.etag.as_deref(), Some("\"v1\""));
        record.etag = Some("\"a\rb\"".into());
        record.last_modified = Some("\0".into());
        let changed = &UrlState::Queued(record);
        store.transact(|tx| async move { URLS.put(&tx, url, changed) }).await.unwrap();
    });
    world.crawl_json(&["c.yaml", "--until-done"]);
    assert_eq!(world.captures_of("http://good.test/").len(), 2);
    world.check();
}

/// So may a header that nobody can declare any more.
#[test]
fn a12_a_header_from_before_that_cannot_be_sent_is_not_sent() {
    let world = World::new(crate::SKURD, site);
    world.write("c.yaml", &format!("{CONFIG}seeds: [{{url: 'http://good.test/', profiles: [p]}}]\n"));
    world.good(&["config", "apply", "c.yaml"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let store = Store::open_existing(&world.data(), &Options::default()).unwrap();
        let frontier = Frontier::new(store, Arc::new(ManualClock::at(Time(0))), 1);
        let mut collection =
            frontier.with_catalog(|catalog| catalog.collection("c").cloned()).await.unwrap().unwrap();
        collection.headers = vec![("Connection".into(), "close".into()), ("X-Key".into(), "seven".into())];
        frontier.declare(&[Change::PutCollection(Box::new(collection))]).await.unwrap();
    });
    let way = world.way();
    let way: Vec<&str> = way.iter().map(String::as_str).collect();
    let run = world.run(&[&["serve", "--listen", "127.0.0.1:0"], &way[..]].concat());
    world.web().wait_for(3);
    run.interrupt();
    let told = run.end();
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(
        told.err.contains("the header `Connection` is the client's own business, and is not sent"),
        "{told:?}"
    );
    let pages: Vec<_> = world.web().seen().into_iter().filter(|seen| seen.ask.path == "/").collect();
    assert_eq!(pages.len(), 2);
    for seen in pages {
        assert_eq!((seen.ask.header("connection"), seen.ask.header("x-key")), (None, Some("seven")));
    }
}

/// What a record remembers of a problem is a sentence, however much of it a server wrote.
#[test]
fn a12_a_problem_is_kept_in_short() {
    let world = World::new(crate::SKURD, |ask| match ask.path.as_str() {
        "/robots.txt" => Answer::text(&format!("User-agent: *\nDisallow: /{}\n", "*".repeat(400 << 10))),
        _ => Answer::html("never seen"),
    });
    world.write("c.yaml", &format!("{CONFIG}seeds: [{{url: 'http://long.test/', profiles: [p]}}]\n"));
    let told = world.crawl(&["c.yaml", "--until-done", "--json"]);
    assert!(told.out.len() < 10_000, "{} bytes", told.out.len());
    let why = world.why("http://long.test/");
    assert_eq!(why["situation"], "blacklisted", "{why}");
    assert!(why.to_string().contains("Disallow: /**") && why.to_string().len() < 10_000, "{why}");
}
