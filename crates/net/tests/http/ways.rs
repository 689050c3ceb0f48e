//! Ways out (A17): proxies, resolvers and source addresses, and that the guard has its say.

use std::net::SocketAddr;

use net::address::Guard;
use net::http::{Client, FetchErrorKind, FetchLimits, Fetched, Request};
use policy::time::Span;
use policy::url::CrawlUrl;
use policy::way::Way;
use testkit::proxy::{Does, Proxy, Setup, Speaks};
use testkit::web::{Answer, Then};

use crate::server::{LIMITS, Server, body, recorded, setup};

/// Nobody's address (RFC 5737): only a proxy that leads elsewhere gets an answer from there.
const TARGET: &str = "192.0.2.10";
const LOGIN: &str = "us%3Aer:pa%40ss";

/// Knows `*.test` at [`TARGET`], and may go there and nowhere else: not to this machine either,
/// where the proxies are.
fn client() -> Client {
    let mut setup = setup(&["inside.test=10.1.2.3", &format!("*.test={TARGET}")]);
    setup.guard = Guard::allowing(["192.0.2.0/24".parse().unwrap()]);
    Client::new(setup).unwrap()
}

/// A web whose every answer says which connection and turn it is of.
async fn web() -> Server {
    let answer =
        |connection, turn| format!("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{connection}.{turn}");
    Server::start("127.0.0.1:0", move |c, t| Some((answer(c, t).into_bytes(), Then::Stay))).await
}

fn proxy(speaks: Speaks, login: Option<&str>, does: Does, web: SocketAddr) -> Proxy {
    Proxy::start(Setup { speaks, login: login.map(str::to_owned), does, web }).unwrap()
}

fn way(speaks: Speaks, login: &str, address: SocketAddr) -> Way {
    let scheme = if speaks == Speaks::Http { "http" } else { "socks5" };
    Way { proxy: Some(format!("{scheme}://{login}{address}").parse().unwrap()), ..Way::default() }
}

fn url(text: &str) -> CrawlUrl {
    CrawlUrl::from_normal(text).unwrap()
}

async fn get(client: &Client, text: &str, way: &Way, limits: &FetchLimits) -> Fetched {
    client.fetch(&Request { way, ..Request::get(&url(text), &[], limits) }).await
}

async fn told(client: &Client, text: &str, way: &Way) -> String {
    match get(client, text, way, &LIMITS).await.result {
        Ok(exchange) => String::from_utf8(body(&exchange)).unwrap(),
        Err(error) => format!("{:?}: {error}", error.kind),
    }
}

#[tokio::test]
async fn a17_a_proxy_is_told_an_address_and_the_bytes_are_those_of_the_server() {
    let web = web().await;
    for (speaks, login, wanted) in [
        (Speaks::Http, "", None),
        (Speaks::Http, "user:pa%40ss@", Some("user:pa@ss")),
        (Speaks::Socks5, "", None),
        (Speaks::Socks5, &*format!("{LOGIN}@"), Some("us:er:pa@ss")),
    ] {
        let proxy = proxy(speaks, wanted, Does::Connect, web.address());
        let way = way(speaks, login, proxy.address());
        let client = client();
        let exchange = get(&client, "http://a.test/x", &way, &LIMITS).await.result.unwrap();
        assert_eq!(exchange.remote.to_string(), format!("{TARGET}:80"), "what is archived as the address");
        let sent = String::from_utf8(exchange.request.clone()).unwrap();
        assert!(sent.starts_with("GET /x HTTP/1.1\r\nHost: a.test\r\n"), "{sent}");
        assert!(
            !sent.contains("Proxy") && recorded(&exchange).starts_with(b"HTTP/1.1 200 OK\r\nContent-Length")
        );
        told(&client, "http://a.test/again", &way).await;
        assert_eq!(proxy.asked(), [format!("{TARGET}:80 from 127.0.0.1")], "the tunnel is kept");
    }
}

#[tokio::test]
async fn a17_encrypted_hosts_are_reached_through_proxies() {
    let web = Server::encrypted(|_| {
        Answer::bytes(200, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Then::Close)
    })
    .await;
    for speaks in [Speaks::Http, Speaks::Socks5] {
        let proxy = proxy(speaks, None, Does::Connect, web.address());
        let way = way(speaks, "", proxy.address());
        assert_eq!(told(&client(), "https://a.test/", &way).await, "ok");
        assert_eq!(proxy.asked(), [format!("{TARGET}:443 from 127.0.0.1")]);
    }
}

#[tokio::test]
async fn a17_connections_of_one_way_are_not_taken_by_another() {
    let web = web().await;
    let first = proxy(Speaks::Http, None, Does::Connect, web.address());
    let second = proxy(Speaks::Socks5, None, Does::Connect, web.address());
    let straight = Server::start("127.0.0.1:0", |_, _| {
        Some((b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nstraight".to_vec(), Then::Stay))
    })
    .await;
    // The same URL and address by each way: only the straight one leads to the other web.
    let mut setup = setup(&[&format!("*.test=127.0.0.1:{}", straight.port())]);
    setup.guard = Guard::allowing(["127.0.0.1/32".parse().unwrap()]);
    let client = Client::new(setup).unwrap();
    let ways = [
        way(Speaks::Http, "", first.address()),
        way(Speaks::Http, "u:one@", first.address()),
        way(Speaks::Http, "u:two@", first.address()),
        way(Speaks::Socks5, "", second.address()),
        Way { source_address: Some("127.0.0.1".parse().unwrap()), ..Way::default() },
        Way::default(),
    ];
    let mut seen = Vec::new();
    for _ in 0..2 {
        for way in &ways {
            seen.push(told(&client, "http://a.test/", way).await);
        }
    }
    // A proxy that wants no login turns those away who bring one, in this kit.
    let turned_away = "Connect: the proxy";
    let plain: Vec<&str> = seen.iter().map(|told| &told[..told.len().min(turned_away.len())]).collect();
    let round = |turn: &'static str, other: &'static str| {
        [turn, turned_away, turned_away, other, "straight", "straight"]
    };
    assert_eq!(plain[..6], round("0.0", "1.0"));
    assert_eq!(plain[6..], round("0.1", "1.1"), "each on its own connection");
    assert_eq!(straight.connections(), 2, "and one for each of the straight ways");
}

#[tokio::test]
async fn a6_a17_the_guard_judges_what_is_asked_for_behind_a_proxy() {
    let web = web().await;
    for speaks in [Speaks::Http, Speaks::Socks5] {
        let proxy = proxy(speaks, None, Does::Connect, web.address());
        let way = way(speaks, "", proxy.address());
        for (target, address) in [
            ("http://127.0.0.1/", "127.0.0.1 is a loopback address"),
            ("http://[::1]:8080/", "::1 is a loopback address"),
            ("http://169.254.169.254/latest/", "169.254.169.254 is "),
            ("http://10.0.0.1/", "10.0.0.1 is a private address"),
            ("http://inside.test/", "10.1.2.3 is a private address"),
        ] {
            let refused = told(&client(), target, &way).await;
            assert!(refused.starts_with(&format!("Refused: {address}")), "{target}: {refused}");
        }
        let unknown = told(&client(), "http://unknown.example/", &way).await;
        assert!(unknown.starts_with("Dns: "), "no name is left for the proxy to look up: {unknown}");
        assert_eq!(proxy.asked(), [""; 0], "nobody was asked");
    }
}

#[tokio::test]
async fn a17_a_proxy_that_fails_is_a_connection_that_fails_and_says_so_without_credentials() {
    let web = web().await;
    let at = |status: &str| Does::Answer(format!("HTTP/1.1 {status}\r\nX: s3cret\r\n\r\n").into_bytes());
    let verdict = |code: u8| Does::Answer(vec![5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
    let many = Does::Answer([&b"HTTP/1.1 200 OK\r\n"[..], &b"X: y\r\n".repeat(10_000)].concat());
    let (http, socks) = (Speaks::Http, Speaks::Socks5);
    for (speaks, wants, does, reason) in [
        (http, Some("u:other"), Does::Connect, "does not take the user and password"),
        (socks, Some("u:other"), Does::Connect, "does not take the user and password"),
        (http, None, Does::Connect, "does not take the user and password"),
        (
            http,
            Some("u:s3cret"),
            at("403 Forbidden"),
            "does not allow this connection: CONNECT must be allowed to this port too (192.0.2.10:80)",
        ),
        (
            http,
            Some("u:s3cret"),
            at("502 Bad Gateway"),
            "made no connection and answered 502 (192.0.2.10:80)",
        ),
        (
            http,
            Some("u:s3cret"),
            Does::Answer(b"SSH-2.0-x\r\n\r\n".to_vec()),
            "gave an answer that is none of HTTP",
        ),
        (http, Some("u:s3cret"), Does::Answer(Vec::new()), "closed the connection without an answer"),
        (http, Some("u:s3cret"), many, "answered with more than 16384 bytes of headers"),
        (
            http,
            Some("u:s3cret"),
            Does::Interrupt(b"HTTP/1.1 200 OK\r\n\r\nforged".to_vec()),
            "sent something of its own into the connection",
        ),
        (socks, Some("u:s3cret"), verdict(2), "does not allow this connection (192.0.2.10:80)"),
        (socks, Some("u:s3cret"), verdict(5), "was refused the connection (192.0.2.10:80)"),
        (socks, Some("u:s3cret"), verdict(8), "makes no connections to addresses"),
        (socks, Some("u:s3cret"), Does::Answer(b"HTTP/1.1 400".to_vec()), "does not speak SOCKS5"),
        (socks, Some("u:s3cret"), Does::Answer(vec![5, 0]), "broke the connection off"),
    ] {
        let proxy = proxy(speaks, wants, does.clone(), web.address());
        let way = way(speaks, "u:s3cret@", proxy.address());
        let error = get(&client(), "http://a.test/", &way, &LIMITS).await.result.unwrap_err();
        assert_eq!(error.kind, FetchErrorKind::Connect, "{error}");
        let scheme = if speaks == http { "http" } else { "socks5" };
        let named = format!("the proxy {scheme}://{} {reason}", proxy.address());
        assert!(error.reason.starts_with(&named), "{error}; and not {named}");
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }
    assert_eq!(web.requests(), 0);
    let wants_one = proxy(socks, Some("u:p"), Does::Connect, web.address());
    let without = told(&client(), "http://a.test/", &way(socks, "", wants_one.address())).await;
    assert!(without.ends_with("wants a user and a password"), "{without}");
}

#[tokio::test]
async fn a17_a_proxy_that_hangs_or_is_not_there_holds_nobody() {
    let web = web().await;
    let limits = FetchLimits { connect: Span(300), ..LIMITS };
    for speaks in [Speaks::Http, Speaks::Socks5] {
        let proxy = proxy(speaks, None, Does::Hang, web.address());
        let way = way(speaks, "", proxy.address());
        let error = get(&client(), "http://a.test/", &way, &limits).await.result.unwrap_err();
        let expected = format!("no connection within {} ({})", limits.connect, way.told().unwrap());
        assert_eq!((error.kind, error.reason.as_str()), (FetchErrorKind::Connect, expected.as_str()));
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let way = self::way(speaks, "u:s3cret@", address);
        let gone = told(&client(), "http://a.test/", &way).await;
        let named = format!("Connect: no connection to the proxy {}: ", way.through().unwrap());
        assert!(gone.starts_with(&named) && !gone.contains("s3cret"), "{gone}");
    }
}

#[tokio::test]
async fn a17_connections_come_from_the_source_address() {
    let web = web().await;
    let mut setup = setup(&[&format!("*.test=127.0.0.1:{}", web.port())]);
    setup.guard = Guard::allowing(["127.0.0.0/8".parse().unwrap()]);
    let client = Client::new(setup).unwrap();
    let from = |address: &str| Way { source_address: Some(address.parse().unwrap()), ..Way::default() };
    let proxy = proxy(Speaks::Socks5, None, Does::Connect, web.address());
    let through = Way { proxy: way(Speaks::Socks5, "", proxy.address()).proxy, ..from("127.0.0.7") };
    assert_eq!(told(&client, "http://a.test/", &from("127.0.0.7")).await, "0.0");
    assert_eq!(told(&client, "http://a.test/", &through).await, "1.0");
    assert_eq!(proxy.asked(), [format!("127.0.0.1:{} from 127.0.0.7", web.port())]);
    let other = told(&client, "http://a.test/", &from("192.0.2.1")).await;
    assert!(other.starts_with("Connect: no connection from the source address 192.0.2.1: "), "{other}");
    let family = told(&client, "http://a.test/", &from("::1")).await;
    assert_eq!(family, "Connect: it has no IPv6 address, and no other is reached from ::1");
}
