//! Collections and hosts that go another way (A17).

use testkit::proxy::{Does, Proxy, Setup, Speaks};
use testkit::web::{Answer, Ask};
use testkit::world::{Run, World, json_lines};

use crate::again::heads;

/// Nobody's address (RFC 5737): only the proxies lead from it to the web. They themselves stand at
/// loopback addresses, which are not allowed.
const WAY: [&str; 6] =
    ["--resolve", "inside.test=10.0.0.1", "--resolve", "*.test=192.0.2.10", "--allow-net", "192.0.2.0/24"];
const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: c, proxy: 'http://kari:s3cret@HTTP'}]
profiles: [{name: p, collection: c, every: 1d, length: 1, limits: {max_errors: 1}, scope: {within: any}}]
seeds:
  - {url: 'http://a.test/', profiles: [p]}
  - {url: 'http://b.test/', profiles: [p]}
hosts: [{host: b.test, proxy: 'socks5://ola:s3cret@SOCKS'}]
";

fn site(ask: &Ask) -> Answer {
    match (ask.host.as_str(), ask.path.as_str()) {
        ("a.test", "/") => Answer::html(
            "<a href=/x>x</a> <a href=http://inside.test/>in</a> <a href=http://127.0.0.1/>me</a>",
        ),
        ("a.test", "/x") | ("b.test", "/") => Answer::html(format!("page of {}", ask.host)),
        _ => Answer::not_found(),
    }
}

fn proxy(world: &World, speaks: Speaks, login: &str) -> Proxy {
    let web = world.web().address();
    Proxy::start(Setup { speaks, login: Some(login.to_owned()), does: Does::Connect, web }).unwrap()
}

fn world(http_login: &str) -> (World, Proxy, Proxy) {
    let world = World::new(crate::SKURD, site);
    let (http, socks) =
        (proxy(&world, Speaks::Http, http_login), proxy(&world, Speaks::Socks5, "ola:s3cret"));
    let config = CONFIG.replace("HTTP", &http.address().to_string());
    world.write("c.yaml", &config.replace("SOCKS", &socks.address().to_string()));
    (world, http, socks)
}

fn crawl(world: &World, more: &[&str]) -> Run {
    world.run(&[&["crawl", "c.yaml", "--json", "-vv"], more, &WAY].concat())
}

#[test]
fn a17_a_collection_and_a_host_are_asked_by_their_ways() {
    let (world, http, socks) = world("kari:s3cret");
    let told = crawl(&world, &["--until-done"]).end();
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(!format!("{}{}", told.out, told.err).contains("s3cret"), "{}{}", told.out, told.err);
    let by = |proxy: &Proxy| {
        let mut asked = proxy.asked();
        asked.dedup();
        asked
    };
    assert_eq!(by(&http), ["192.0.2.10:80 from 127.0.0.1"]);
    assert_eq!(by(&socks), ["192.0.2.10:80 from 127.0.0.1"]);
    let mut seen: Vec<String> = world.web().seen().iter().map(|seen| seen.ask.url()).collect();
    seen.sort();
    let expected = ["a.test/", "a.test/robots.txt", "a.test/x", "b.test/", "b.test/robots.txt"];
    assert_eq!(seen, expected.map(|url| format!("http://{url}")), "robots.txt goes the same way");
    for url in ["http://a.test/", "http://a.test/x", "http://b.test/"] {
        assert_eq!(world.captures_of(url)[0]["status"], 200, "{url}");
    }
    let heads = heads(&world);
    let answers: Vec<_> = heads.iter().filter(|head| head.kind() == "response").collect();
    assert!(!answers.is_empty());
    assert!(answers.iter().all(|head| head.get("WARC-IP-Address") == Some("192.0.2.10")));
    // What is asked for is judged all the same.
    for (url, refused) in
        [("http://inside.test/", "10.0.0.1 is a private"), ("http://127.0.0.1/", "127.0.0.1 is a loopback")]
    {
        let why = world.why(url);
        assert!(why["problem"].as_str().unwrap().starts_with(refused), "{why}");
    }
    let why = world.good(&["why", "http://b.test/"]);
    assert!(
        why.contains(&format!("through the proxy socks5://{}", socks.address())) && !why.contains("s3cret"),
        "{why}"
    );
    assert_eq!(world.why("http://a.test/")["way"], format!("through the proxy http://{}", http.address()));
    let shown = world.good(&["collection", "show", "c", "--json"]);
    assert!(shown.contains(&format!("http://kari:•••@{}", http.address())), "{shown}");
    world.check();
}

#[test]
fn a17_a_proxy_that_refuses_is_told_and_nobody_goes_around_it() {
    let (world, http, _socks) = world("kari:another");
    let told = crawl(&world, &["--max-urls", "2"]).end();
    assert_eq!(told.code, Some(0), "{}", told.err);
    let events = json_lines(&told.out);
    assert!(!events.is_empty() && !format!("{}{}", told.out, told.err).contains("s3cret"));
    let problem = world.why("http://a.test/")["problem"].as_str().unwrap().to_owned();
    assert_eq!(problem, format!("the proxy http://{} does not take the user and password", http.address()));
    assert!(world.web().seen().iter().all(|seen| seen.ask.host != "a.test"), "nobody goes around it");
}

/// What was shown masked can be applied again, and the way is as it was.
#[test]
fn i7_a17_a_masked_password_is_put_back() {
    let (world, http, _socks) = world("kari:s3cret");
    world.good(&["config", "apply", "c.yaml"]);
    let config = std::fs::read_to_string(world.dir.path().join("c.yaml")).unwrap();
    world.apply(&config.replace("s3cret", "•••"));
    let wrong = config.replace("s3cret", "•••").replace("kari", "per");
    world.write("d.yaml", &wrong);
    let told = world.skurd(&["config", "apply", "d.yaml"]);
    assert!(told.code != Some(0) && told.err.contains("there is no password behind it"), "{told:?}");
    world.write("c.yaml", &config.replace("s3cret", "•••"));
    let told = crawl(&world, &["--until-done"]).end();
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(http.asked().iter().all(|asked| asked.starts_with("192.0.2.10:80 ")), "{:?}", http.asked());
    assert_eq!(world.captures_of("http://a.test/")[0]["status"], 200);
}
