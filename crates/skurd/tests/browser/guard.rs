//! B4, A6: a page reaches nothing that is not public, whatever it tries and however it spells it.
//!
//! Everything happens in a [namespace](crate::namespace) in which the test listens on every address.
//! The web of the pages has an address that is allowed, alone. The same pages are harvested once
//! more with everything allowed, and then the test does hear of them: what is silent is silent for
//! the guard's sake.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::process::Command;
use std::time::Duration;

use testkit::web::{Answer, Ask, Setup, Web};
use testkit::world::World;

use crate::namespace::{Catcher, Heard, Names, datagrams, inside};
use crate::{config, has_browser, page_info};

/// Where the web of the pages is: the one address that is allowed.
const WEB: &str = "127.77.0.1:8080";
/// Where a name moves to that was at the web's address before.
const MOVED: &str = "10.9.9.9:8080";
const UDP_PORTS: [u16; 4] = [443, 3478, 5353, 19302];

/// As they stand in a URL, and whether something can be heard there: an address of a link says
/// nothing without the link's name.
const SPELLINGS: &[(&str, bool)] = &[
    ("127.0.0.1", true),
    ("127.1", true),
    ("2130706433", true),
    ("0x7f000001", true),
    ("0177.0.0.1", true),
    ("127.0.0.1.", true),
    ("127.255.255.254", true),
    ("0.0.0.0", true),
    ("0", true),
    ("localhost", true),
    ("LOCALHOST", true),
    ("localhost.", true),
    ("foo.localhost", true),
    ("[::1]", true),
    ("[0:0:0:0:0:0:0:1]", true),
    ("[::ffff:127.0.0.1]", true),
    ("[::ffff:7f00:1]", true),
    ("[::]", true),
    ("[::127.0.0.1]", true),
    ("169.254.1.1", true),
    ("169.254.169.254", true),
    ("0xa9fea9fe", true),
    ("168.63.129.16", true),
    ("[fd00:ec2::254]", true),
    ("[fe80::1]", false),
    ("10.1.2.3", true),
    ("172.16.0.1", true),
    ("172.31.255.254", true),
    ("192.168.0.1", true),
    ("100.64.0.1", true),
    ("198.18.0.1", true),
    ("[fc00::1]", true),
    ("[fd12:3456::1]", true),
    ("[64:ff9b::7f00:1]", true),
    ("[64:ff9b::a9fe:a9fe]", true),
    ("[64:ff9b:1::a00:1]", true),
    ("[2002:7f00:1::]", true),
    ("[2002:a9fe:a9fe::1]", true),
    ("[::ffff:0:7f00:1]", true),
    ("224.0.0.251", false),
    ("255.255.255.255", false),
    ("local.evil", true),
    ("metadata.evil", true),
    ("six.evil", true),
    ("nat64.evil", true),
];

/// Names that lead where they should not.
fn find(name: &str, nth: usize) -> Option<IpAddr> {
    let address = match name {
        "local.evil" | "localhost" | "foo.localhost" => "127.0.0.1",
        "metadata.evil" => "169.254.169.254",
        "six.evil" => "::1",
        "nat64.evil" => "64:ff9b::a9fe:a9fe",
        "moving.evil" if nth == 0 => "127.77.0.1",
        "moving.evil" => "10.9.9.9",
        _ => return None,
    };
    Some(address.parse().unwrap())
}

/// Ways of a page to make a browser connect, to `A` (a host as in a URL). Those in the second list
/// leave no trace with the guard off either: they are not asked with (B5), or not by this browser.
const WAYS: &[(&str, &str)] = &[
    ("img", "new Image().src = 'http://A/img'"),
    ("script", "add('script', {src: 'http://A/script'})"),
    ("module", "import('http://A/module').catch(no)"),
    ("style", "add('link', {rel: 'stylesheet', href: 'http://A/style'})"),
    ("css-import", "add('style', {textContent: '@import url(http://A/css-import)'})"),
    ("css-url", "document.body.style.background = 'url(http://A/css-url)'"),
    ("iframe", "add('iframe', {src: 'http://A/iframe'})"),
    ("object", "add('object', {data: 'http://A/object', type: 'image/png'})"),
    ("embed", "add('embed', {src: 'http://A/embed'})"),
    ("video", "add('video', {src: 'http://A/video', preload: 'auto'})"),
    ("fetch", "fetch('http://A/fetch', {mode: 'no-cors'}).catch(no)"),
    ("post", "fetch('http://A/post', {method: 'POST', body: 'x'}).catch(no)"),
    ("xhr", "(x => { x.open('GET', 'http://A/xhr'); x.send() })(new XMLHttpRequest())"),
    ("events", "new EventSource('http://A/events')"),
    ("socket", "new WebSocket('ws://A/socket')"),
    ("form", "form('get', 'http://A/form')"),
    ("form-post", "form('post', 'http://A/form-post')"),
    ("preload", "add('link', {rel: 'preload', as: 'image', href: 'http://A/preload'})"),
    ("worker", "work('http://A/worker')"),
    ("worker-socket", "work('ws://A/worker-socket')"),
    ("shared", "new SharedWorker('/shared.js?http://A/shared')"),
    ("moved-img", "new Image().src = '/to?http://A/moved-img'"),
    ("moved-fetch", "fetch('/to?http://A/moved-fetch', {mode: 'no-cors'}).catch(no)"),
    ("moved-frame", "add('iframe', {src: '/to?http://A/moved-frame'})"),
    (
        "meta-frame",
        "add('iframe', {srcdoc: '<meta http-equiv=refresh content=\"0;url=http://A/meta-frame\">'})",
    ),
    ("location-frame", "add('iframe', {}).contentWindow.location = 'http://A/location-frame'"),
    ("frame-img", "add('iframe', {srcdoc: '<img src=http://A/frame-img>'})"),
];
const SILENT_WAYS: &[(&str, &str)] = &[
    ("beacon", "navigator.sendBeacon('http://A/beacon', 'x')"),
    ("ping", "(a => { a.ping = 'http://A/ping'; a.href = '#x'; a.click() })(add('a', {}))"),
    ("icon", "add('link', {rel: 'icon', href: 'http://A/icon'})"),
    ("manifest", "add('link', {rel: 'manifest', href: 'http://A/manifest'})"),
    ("prefetch", "add('link', {rel: 'prefetch', href: 'http://A/prefetch'})"),
    ("preconnect", "add('link', {rel: 'preconnect', href: 'http://A/preconnect'})"),
    ("dns", "add('link', {rel: 'dns-prefetch', href: '//only-named.evil/'})"),
    (
        "prerender",
        "add('script', {type: 'speculationrules', textContent: JSON.stringify({prerender: [{urls: ['http://A/prerender']}], prefetch: [{urls: ['http://A/speculate']}]})})",
    ),
    ("window", "window.open('http://A/window')"),
    ("tls", "fetch('https://A/tls', {mode: 'no-cors'}).catch(no)"),
    ("transport", "try { new WebTransport('https://A/transport').ready.catch(no) } catch (_) {}"),
    (
        "rtc",
        "rtc(['stun:A:3478', 'stun:A:19302', 'turn:A:3478?transport=udp', 'turn:A:3478?transport=tcp', 'turns:A:443'], 'A')",
    ),
    ("top", "setTimeout(() => { location.href = 'http://A/top' }, 500)"),
];
/// What the ways are tried on.
const TARGETS: [&str; 3] = ["127.0.0.1", "169.254.169.254", "[fc00::1]"];

const TOOLS: &str = r#"
const no = () => {};
const add = (name, what) => { const e = Object.assign(document.createElement(name), what); document.body.append(e); return e; };
const form = (method, action) => {
  const name = 'f' + Math.random(); add('iframe', {name});
  const e = add('form', {method, action, target: name}); e.append(Object.assign(document.createElement('input'), {name: 'q'})); e.submit(); };
const work = url => new Worker(URL.createObjectURL(new Blob([
  url.startsWith('ws') ? `new WebSocket('${url}')` : `fetch('${url}', {mode: 'no-cors'}).catch(() => {}); try { importScripts('${url}') } catch (_) {}`])));
const rtc = async (urls, host) => {
  const [one, other] = [0, 0].map(() => new RTCPeerConnection({iceServers: [{urls, username: 'u', credential: 'c'}]}));
  one.createDataChannel('x');
  await one.setLocalDescription(await one.createOffer()); await other.setRemoteDescription(one.localDescription);
  await other.setLocalDescription(await other.createAnswer()); await one.setRemoteDescription(other.localDescription);
  for (const port of [3478, 19302]) await one.addIceCandidate({sdpMid: '0', sdpMLineIndex: 0,
    candidate: `candidate:1 1 udp 2122260223 ${host.replace(/[\[\]]/g, '')} ${port} typ host`}).catch(no);
};
"#;

fn page(body: &str) -> Answer {
    Answer::html(format!("<!doctype html><body><img src=/slow><script>{TOOLS}\n{body}</script>"))
}

fn site(ask: &Ask) -> Answer {
    let script = |text: &str| Answer::of(200, &[("Content-Type", "text/javascript")], text);
    match (ask.host.as_str(), ask.path.as_str()) {
        (_, "/robots.txt") => Answer::not_found(),
        (_, "/to") => Answer::redirect(&ask.query),
        (_, "/slow") => Answer::text("slow").after(Duration::from_secs(2)),
        (_, "/shared.js") => {
            script(&format!("fetch('{}', {{mode: 'no-cors'}}).catch(() => {{}})", ask.query))
        }
        ("spelled.test", "/") => {
            let each = SPELLINGS.iter().enumerate().map(|(number, (host, _))| {
                format!(
                    "new Image().src = 'http://{host}/img/{number}'; fetch('http://{host}/fetch/{number}', {{mode: 'no-cors'}}).catch(no); \
                     work('http://{host}/worker/{number}'); add('iframe', {{src: 'http://{host}/iframe/{number}'}}); \
                     new Image().src = '/to?http://{host}/moved/{number}'; try {{ new WebSocket('ws://{host}/socket/{number}') }} catch (_) {{}}\n"
                )
            });
            page(&each.collect::<String>())
        }
        ("ways.test", "/") => {
            let all = WAYS.iter().chain(SILENT_WAYS);
            let each = all.flat_map(|(_, way)| {
                TARGETS.map(|target| format!("try {{ {} }} catch (_) {{}}\n", way.replace('A', target)))
            });
            page(&each.collect::<String>())
        }
        ("app.localhost", "/") => page(
            "navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready).then(() => add('iframe', {src: '/inside'}))",
        ),
        ("app.localhost", "/inside") => Answer::html("<img src=http://127.0.0.1/never><img src=/service>"),
        ("app.localhost", "/service.js") => {
            let each = TARGETS.map(|target| {
                format!("fetch('http://{target}/service', {{mode: 'no-cors'}}).catch(() => {{}});")
            });
            script(&format!("self.onactivate = e => {{ e.waitUntil(clients.claim()); {} }}", each.concat()))
        }
        ("moving.test", "/") => Answer::html(format!(
            "<img src=/long><script>{TOOLS} fetch('http://moving.evil:8080/first', {{mode: 'no-cors'}}).catch(no); \
             setTimeout(() => fetch('http://moving.evil:8080/second', {{mode: 'no-cors'}}).catch(no), 12000)</script>"
        )),
        ("moving.test", "/long") => Answer::text("long").after(Duration::from_secs(14)),
        ("away.test", "/") => Answer::redirect("http://10.1.2.3/away"),
        ("rtc.test" | "127.77.0.1", "/rtc") => page(
            &TARGETS
                .map(|target| {
                    let (_, way) = SILENT_WAYS.iter().find(|(name, _)| *name == "rtc").unwrap();
                    way.replace('A', target) + ";"
                })
                .concat(),
        ),
        _ => Answer::text("x"),
    }
}

const SEEDS: [&str; 5] = [
    "http://spelled.test/",
    "http://ways.test/",
    "http://app.localhost/",
    "http://moving.test/",
    "http://away.test/",
];

/// Harvests the pages, in one collection that obeys robots.txt (which cannot be asked for there) and
/// one that does not ask.
fn harvest(world: &World, allowed: &[&str]) {
    let collection = |name: &str, robots: &str| {
        format!(
            "  - {{name: {name}, engine: browser, browser: {{fresh: 0s, robots_requisites: {robots}, limits: {{load: 16s, quiet: 500ms, behave: 2s, total: 60s, requests: 3000}}}}}}\n"
        )
    };
    let collections = collection("obeys", "obey") + &collection("ignores", "ignore");
    let seeds: Vec<(&str, &str)> =
        ["obeys", "ignores"].iter().flat_map(|name| SEEDS.map(|url| (*name, url))).collect();
    world.write("c.yaml", &config(&collections, &seeds));
    let resolve = [format!("*.test={WEB}"), format!("app.localhost={WEB}")];
    let mut args = vec!["crawl", "c.yaml", "--until-done"];
    resolve.iter().for_each(|one| args.extend(["--resolve", one]));
    allowed.iter().for_each(|net| args.extend(["--allow-net", net]));
    let told = world.run(&args).end();
    assert_eq!(told.code, Some(0), "{}", told.err);
}

#[test]
fn b4_a6_no_page_reaches_an_address_that_is_not_public() {
    if has_browser() {
        inside("guard::b4_a6_no_page_reaches_an_address_that_is_not_public", guarded);
    }
}

fn guarded() {
    let everywhere = |port| SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port);
    let tcp = [everywhere(80), everywhere(443), everywhere(3478), MOVED.parse().unwrap()];
    let catcher = Catcher::listen(&tcp, &UDP_PORTS);
    let names = Names::serve(find);
    let web = Web::start(WEB.parse().unwrap(), Setup::default(), site).unwrap();
    control(&catcher);

    let sent = datagrams();
    let world = World::empty(crate::SKURD);
    harvest(&world, &["127.77.0.1/32"]);
    assert_eq!(catcher.take(), [], "connections that the guard should have refused");
    // Every datagram is a question of ours, or the answer to it.
    assert_eq!(datagrams() - sent, 2 * names.count() as u64, "datagrams that are no look-up of ours");
    assert_eq!(names.times("only-named.evil"), 0);
    tried(&world);
    let asked: Vec<String> = web.seen().iter().map(|seen| seen.ask.target()).collect();
    assert!(asked.contains(&"/first".to_owned()) && !asked.contains(&"/second".to_owned()), "{asked:?}");
    assert!(asked.contains(&"/service.js".to_owned()), "{asked:?}");
    world.check();

    let open = World::empty(crate::SKURD);
    harvest(&open, &["0.0.0.0/0", "::/0"]);
    unguarded(&catcher.take());
    unguarded_datagrams(&catcher);
}

/// Every address that is spelled can be heard at.
fn control(catcher: &Catcher) {
    let mut connected = 0;
    for (host, _) in SPELLINGS {
        let bare = host.trim_matches(['[', ']']);
        let Ok(address) = bare.parse::<IpAddr>() else { continue };
        let to = match address {
            IpAddr::V6(v6) if v6.segments()[0] == 0xfe80 => {
                SocketAddr::V6(std::net::SocketAddrV6::new(v6, 80, 0, 1))
            }
            address if address.is_multicast() || bare == "255.255.255.255" => continue,
            address => SocketAddr::new(address, 80),
        };
        std::net::TcpStream::connect(to).unwrap_or_else(|problem| panic!("{host}: {problem}"));
        connected += 1;
    }
    catcher.wait_for(connected);
    assert_eq!(catcher.take().len(), connected);
}

/// The pages did try: each attempt came to the proxy, and was refused there.
fn tried(world: &World) {
    let info = page_info(world, "http://spelled.test/");
    let requests = info["requests"].as_array().unwrap();
    for (number, (host, _)) in SPELLINGS.iter().enumerate() {
        for way in ["img", "fetch", "iframe", "moved", "worker", "socket"] {
            let end = format!("/{way}/{number}");
            let is_it = |url: &str| url.ends_with(&end) && !url.contains("/to?");
            let asked = requests.iter().find(|request| is_it(request["url"].as_str().unwrap()));
            let Some(asked) = asked else { panic!("{host} {end} was not tried") };
            assert!(asked["from"] == "failed" || asked["from"] == "refused", "{asked}");
            assert!(asked["record"].is_null() && asked["status"].is_null(), "{asked}");
        }
    }
    let info = page_info(world, "http://app.localhost/");
    let requests = info["requests"].as_array().unwrap();
    for target in TARGETS {
        let url = format!("http://{target}/service");
        assert!(requests.iter().any(|request| request["url"] == url.as_str()), "{url}: {info:#}");
    }
}

/// With everything allowed the same pages are heard, by every address and every way.
fn unguarded(heard: &[Heard]) {
    let paths: BTreeSet<&str> = heard.iter().map(|heard| heard.path.as_str()).collect();
    let mut missing = Vec::new();
    for (number, (host, can_be_heard)) in SPELLINGS.iter().enumerate() {
        let silent = ["img", "fetch", "iframe", "moved", "worker", "socket"]
            .iter()
            .filter(|way| !paths.contains(format!("/{way}/{number}").as_str()));
        if *can_be_heard {
            missing.extend(silent.map(|way| format!("{way} to {host}")));
        }
    }
    for (way, _) in WAYS {
        let (path, with_query) = (format!("/{way}"), format!("/{way}?"));
        if !paths.iter().any(|have| **have == path || have.starts_with(&with_query)) {
            missing.push((*way).to_owned());
        }
    }
    missing.extend(["/service"].iter().filter(|path| !paths.contains(**path)).map(|path| (*path).to_owned()));
    let moved: SocketAddr = MOVED.parse().unwrap();
    if !heard.iter().any(|heard| heard.at == moved && heard.path == "/second") {
        missing.push("a name that moved".to_owned());
    }
    assert!(missing.is_empty(), "not heard, though nothing was refused: {missing:#?}\n{paths:?}");
}

/// A browser that is left to itself sends datagrams from such a page.
fn unguarded_datagrams(catcher: &Catcher) {
    let program = policy::browser::BrowserProgram { sandbox: false, ..Default::default() };
    let program = harvest::wire::check_browser(&program).unwrap();
    let profile = tempfile::TempDir::new().unwrap();
    let mut alone = Command::new(program);
    alone
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--timeout=6000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("http://{WEB}/rtc"));
    let ended = alone.output().unwrap();
    let heard = catcher.take();
    assert!(
        heard.iter().any(|heard| heard.by == "udp"),
        "{heard:?}\n{}",
        String::from_utf8_lossy(&ended.stderr)
    );
}
