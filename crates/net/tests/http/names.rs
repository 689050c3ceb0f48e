//! Names, asked of a name server of our own.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use hickory_resolver::proto::op::{Message, MessageType, ResponseCode};
use hickory_resolver::proto::rr::rdata::{CNAME, SOA};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use net::address::Guard;
use net::dns::{Clock, DnsError, Overrides, Resolver, TTL_MAX, TTL_MIN};
use net::http::{Client, FetchErrorKind, Request};
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use policy::way::{ResolverAddress, Way};
use tokio::net::UdpSocket;

use crate::server::{LIMITS, Server, setup};
use testkit::web::Then;

/// 2026-11-15 12:30:00.
const START: Time = Time(1_794_745_800_000);

enum Reply {
    /// Records of the type that was asked for, by TTL.
    Addresses(Vec<(u32, IpAddr)>),
    /// By way of another name.
    Alias(u32, &'static str, u32, IpAddr),
    Code(ResponseCode),
    Silence,
}

struct NameServer {
    address: SocketAddr,
    /// Questions for IPv4 addresses.
    asked: Arc<AtomicUsize>,
    now: Arc<AtomicI64>,
}

impl NameServer {
    /// Answers the n-th question of a type with `reply(name, n)`.
    async fn start(reply: impl Fn(&str, usize) -> Reply + Send + 'static) -> NameServer {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let (v4, v6) = (asked.clone(), AtomicUsize::new(0));
        tokio::spawn(async move {
            let mut packet = [0; 2048];
            while let Ok((bytes, from)) = socket.recv_from(&mut packet).await {
                let question = Message::from_vec(&packet[..bytes]).unwrap();
                let query = question.queries()[0].clone();
                let count = if query.query_type() == RecordType::A { &*v4 } else { &v6 };
                let n = count.fetch_add(1, Ordering::SeqCst);
                let name = query.name().to_string();
                if let Some(answer) = answer(&question, reply(&name, n)) {
                    socket.send_to(&answer.to_vec().unwrap(), from).await.unwrap();
                }
            }
        });
        NameServer { address, asked, now: Arc::new(AtomicI64::new(START.0)) }
    }

    fn clock(&self) -> Clock {
        let now = self.now.clone();
        Arc::new(move || Time(now.load(Ordering::SeqCst)))
    }

    fn advance(&self, span: Span) {
        self.now.fetch_add(i64::try_from(span.0).unwrap(), Ordering::SeqCst);
    }

    fn resolver(&self) -> Resolver {
        let overrides = Overrides::parse(["given.test=127.0.0.9:99"]).unwrap();
        Resolver::with_servers(&[self.address], Span(100), 1, overrides, self.clock())
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn answer(question: &Message, reply: Reply) -> Option<Message> {
    let query = question.queries()[0].clone();
    let mut message = Message::new();
    message.set_id(question.id()).set_message_type(MessageType::Response).set_recursion_available(true);
    let (name, kind) = (query.name().clone(), query.query_type());
    message.add_query(query);
    let right = |address: &IpAddr| address.is_ipv4() == (kind == RecordType::A);
    match reply {
        Reply::Silence => return None,
        Reply::Code(code) => {
            message.set_response_code(code);
        }
        Reply::Addresses(addresses) => {
            for (ttl, address) in addresses.into_iter().filter(|(_, address)| right(address)) {
                message.add_answer(Record::from_rdata(name.clone(), ttl, address.into()));
            }
        }
        Reply::Alias(ttl, other, other_ttl, address) => {
            let other = Name::from_ascii(other).unwrap();
            message.add_answer(Record::from_rdata(name.clone(), ttl, RData::CNAME(CNAME(other.clone()))));
            if right(&address) {
                message.add_answer(Record::from_rdata(other, other_ttl, address.into()));
            }
        }
    }
    let soa = SOA::new(name.clone(), name.clone(), 1, 60, 60, 60, 60);
    message.add_name_server(Record::from_rdata(name, 60, RData::SOA(soa)));
    Some(message)
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn addresses(resolved: &net::dns::Resolved) -> String {
    resolved.addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn a2_a_look_up_is_kept_for_its_ttl_and_recorded_once() {
    let server = NameServer::start(|_, n| match n {
        0 => Reply::Addresses(vec![(600, ip("2001:db8::1")), (300, ip("192.0.2.1")), (300, ip("192.0.2.2"))]),
        _ => Reply::Addresses(vec![(300, ip("192.0.2.3"))]),
    })
    .await;
    let resolver = server.resolver();
    let first = resolver.resolve("www.example.org", 80).await.unwrap();
    assert_eq!(addresses(&first), "192.0.2.1:80 192.0.2.2:80 [2001:db8::1]:80");
    let record = first.record.unwrap();
    assert_eq!(
        (record.host.as_str(), record.at, record.server),
        ("www.example.org", START, Some(ip("127.0.0.1")))
    );
    let expected = "20261115123000\nwww.example.org.\t300\tIN\tA\t192.0.2.1\nwww.example.org.\t300\tIN\tA\t192.0.2.2\n\
        www.example.org.\t600\tIN\tAAAA\t2001:db8::1\n";
    assert_eq!(record.text, expected);

    server.advance(Span(299_999));
    let again = resolver.resolve("www.example.org.", 8080).await.unwrap();
    assert_eq!(addresses(&again), "192.0.2.1:8080 192.0.2.2:8080 [2001:db8::1]:8080");
    assert_eq!((again.record, server.asked()), (None, 1));

    server.advance(Span(1));
    let anew = resolver.resolve("www.example.org", 80).await.unwrap();
    assert_eq!((addresses(&anew).as_str(), server.asked()), ("192.0.2.3:80", 2));
    assert!(anew.record.unwrap().text.starts_with("20261115123500\n"));
}

#[tokio::test]
async fn a2_ttls_are_kept_within_bounds() {
    for (ttl, kept) in [(0, TTL_MIN), (1_000_000, TTL_MAX), (u32::MAX >> 1, TTL_MAX)] {
        let server = NameServer::start(move |_, _| Reply::Addresses(vec![(ttl, ip("192.0.2.1"))])).await;
        let resolver = server.resolver();
        resolver.resolve("a.example", 80).await.unwrap();
        server.advance(Span(kept.0 - 1));
        resolver.resolve("a.example", 80).await.unwrap();
        assert_eq!(server.asked(), 1, "{ttl}");
        server.advance(Span(1));
        resolver.resolve("a.example", 80).await.unwrap();
        assert_eq!(server.asked(), 2, "{ttl}");
    }
}

#[tokio::test]
async fn a2_aliases_are_recorded_and_their_ttl_counts() {
    let server = NameServer::start(|_, _| Reply::Alias(20, "cdn.example.", 500, ip("192.0.2.1"))).await;
    let resolver = server.resolver();
    let found = resolver.resolve("a.example", 80).await.unwrap();
    assert_eq!(addresses(&found), "192.0.2.1:80");
    let text = found.record.unwrap().text;
    assert!(text.contains("a.example.\t20\tIN\tCNAME\tcdn.example.\n"), "{text}");
    assert!(text.contains("cdn.example.\t500\tIN\tA\t192.0.2.1\n"), "{text}");
    server.advance(Span::seconds(20));
    resolver.resolve("a.example", 80).await.unwrap();
    assert_eq!(server.asked(), 2);
}

#[tokio::test]
async fn a2_failures_are_told_apart_and_kept_briefly() {
    let server = NameServer::start(|name, _| match name {
        "gone.example." => Reply::Code(ResponseCode::NXDomain),
        "empty.example." => Reply::Addresses(Vec::new()),
        "broken.example." => Reply::Code(ResponseCode::ServFail),
        "refused.example." => Reply::Code(ResponseCode::Refused),
        _ => Reply::Silence,
    })
    .await;
    let resolver = server.resolver();
    for (host, expected, kept) in [
        ("gone.example", DnsError::NoSuchName, Span::seconds(60)),
        ("empty.example", DnsError::NoSuchName, Span::seconds(60)),
        (
            "broken.example",
            DnsError::Failed("the name server says \"Server Failure\"".to_owned()),
            Span::seconds(10),
        ),
        (
            "refused.example",
            DnsError::Failed("the name server says \"Query Refused\"".to_owned()),
            Span::seconds(10),
        ),
        ("silent.example", DnsError::Timeout, Span::seconds(10)),
    ] {
        assert_eq!(resolver.resolve(host, 80).await.unwrap_err(), expected);
        let asked = server.asked();
        server.advance(Span(kept.0 - 1));
        assert_eq!(resolver.resolve(host, 80).await.unwrap_err(), expected);
        assert_eq!(server.asked(), asked, "{host}");
        server.advance(Span(1));
        assert_eq!(resolver.resolve(host, 80).await.unwrap_err(), expected);
        assert!(server.asked() > asked, "{host}");
    }
    let long = format!("{}.example", "x".repeat(64));
    assert_eq!(resolver.resolve(&long, 80).await.unwrap_err(), DnsError::NoSuchName);
}

#[tokio::test]
async fn a2_who_asks_at_the_same_time_shares_one_look_up() {
    let server = NameServer::start(|_, _| Reply::Addresses(vec![(300, ip("192.0.2.1"))])).await;
    let resolver = Arc::new(server.resolver());
    let askers: Vec<_> = (0..50)
        .map(|_| {
            let resolver = resolver.clone();
            tokio::spawn(async move { resolver.resolve("a.example", 80).await.unwrap().record.is_some() })
        })
        .collect();
    let mut recorded = 0;
    for asker in askers {
        recorded += usize::from(asker.await.unwrap());
    }
    assert_eq!((server.asked(), recorded), (1, 1));
}

#[tokio::test]
async fn a2_an_asker_that_gives_up_takes_nobody_along() {
    let server = NameServer::start(|_, n| match n {
        0 => Reply::Silence,
        _ => Reply::Addresses(vec![(300, ip("192.0.2.1"))]),
    })
    .await;
    let resolver = Arc::new(server.resolver());
    let first = tokio::spawn({
        let resolver = resolver.clone();
        async move { resolver.resolve("a.example", 80).await.is_ok() }
    });
    while server.asked() == 0 {
        tokio::task::yield_now().await;
    }
    let second = tokio::spawn({
        let resolver = resolver.clone();
        async move { resolver.resolve("a.example", 80).await.unwrap().record.is_some() }
    });
    tokio::task::yield_now().await;
    first.abort();
    assert!(second.await.unwrap(), "the look-up is now the second's own");
}

#[tokio::test]
async fn a2_what_is_given_is_not_looked_up() {
    let server = NameServer::start(|_, _| Reply::Silence).await;
    let resolver = server.resolver();
    for (host, expected) in [
        ("given.test", "127.0.0.9:99"),
        ("given.test.", "127.0.0.9:99"),
        ("192.0.2.7", "192.0.2.7:80"),
        ("[2001:db8::7]", "[2001:db8::7]:80"),
    ] {
        let found = resolver.resolve(host, 80).await.unwrap();
        assert_eq!((addresses(&found).as_str(), found.record), (expected, None));
    }
    assert_eq!(server.asked(), 0);
}

#[tokio::test]
async fn a6_a_name_that_changes_its_mind_is_refused() {
    // In place of a public address: one that is allowed, next to one that is not.
    let names = NameServer::start(|_, n| match n {
        0 => Reply::Addresses(vec![(30, ip("127.0.0.2"))]),
        _ => Reply::Addresses(vec![(30, ip("127.0.0.1"))]),
    })
    .await;
    let answer =
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok".to_vec(), Then::Close);
    let web = Server::start("127.0.0.2:0", move |_, _| Some(answer.clone())).await;
    let mut setup = setup(&[]);
    setup.resolver = Arc::new(names.resolver());
    setup.guard = Guard::allowing(["127.0.0.2/32".parse().unwrap()]);
    let client = Client::new(setup).unwrap();
    let url = CrawlUrl::from_normal(format!("http://rebind.example:{}/", web.port())).unwrap();
    let request = Request::get(&url, &[], &LIMITS);
    let first = client.fetch(&request).await;
    assert_eq!(first.result.unwrap().head.status, 200);
    assert!(first.dns.is_some());
    assert!(client.fetch(&request).await.dns.is_none(), "still known");
    names.advance(Span::seconds(30));
    let second = client.fetch(&request).await;
    let error = second.result.unwrap_err();
    assert_eq!(error.kind, FetchErrorKind::Refused);
    assert!(error.reason.starts_with("127.0.0.1 is a loopback address, "), "{error}");
    assert!(second.dns.is_some(), "made all the same");
}

/// Two servers at one port; the name moves from the first to the second when its TTL has passed.
#[tokio::test]
async fn a2_a_connection_is_not_kept_at_an_address_the_name_has_left() {
    let names = NameServer::start(|_, n| match n {
        0..2 => Reply::Addresses(vec![(30, ip("127.0.0.2"))]),
        2 => Reply::Addresses(vec![(30, ip("127.0.0.3")), (30, ip("127.0.0.2"))]),
        3 => Reply::Addresses(vec![(30, ip("127.0.0.3"))]),
        _ => Reply::Code(ResponseCode::NXDomain),
    })
    .await;
    let answer = |text: &str| {
        let bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len()).into_bytes();
        move |_, _| Some((bytes.clone(), Then::Stay))
    };
    let old = Server::start("127.0.0.2:0", answer("old")).await;
    let port = old.port();
    let new = Server::start(&format!("127.0.0.3:{port}"), answer("new")).await;
    let mut setup = setup(&[]);
    setup.resolver = Arc::new(names.resolver());
    setup.guard = Guard::allowing(["127.0.0.2/31".parse().unwrap()]);
    let client = Client::new(setup).unwrap();
    let url = CrawlUrl::from_normal(format!("http://moves.example:{port}/")).unwrap();
    let request = Request::get(&url, &[], &LIMITS);
    let fetched = async |after: u64| {
        names.advance(Span::seconds(after));
        let fetched = client.fetch(&request).await;
        let told = match fetched.result {
            Ok(exchange) => String::from_utf8(crate::server::body(&exchange)).unwrap(),
            Err(error) => format!("{:?}", error.kind),
        };
        (told, fetched.dns.is_some(), old.connections(), new.connections())
    };
    let expected = |told: &str, looked_up, old, new| (told.to_owned(), looked_up, old, new);
    assert_eq!(fetched(0).await, expected("old", true, 1, 0));
    assert_eq!(fetched(29).await, expected("old", false, 1, 0), "while the answer holds, nobody is asked");
    assert_eq!(fetched(1).await, expected("old", true, 1, 0), "asked again, and it is still there");
    assert_eq!(fetched(30).await, expected("old", true, 1, 0), "one of two addresses now");
    assert_eq!(fetched(30).await, expected("new", true, 1, 1));
    assert_eq!(fetched(1).await, expected("new", false, 1, 1));
    assert_eq!(fetched(30).await, expected("Dns", false, 1, 1), "a name that is gone leads nowhere");
}

/// The guard judges each request, also one that a connection is resting for.
#[tokio::test]
async fn a6_a_connection_that_rests_does_not_get_around_the_guard() {
    let names = NameServer::start(|_, n| match n {
        0 => Reply::Addresses(vec![(30, ip("127.0.0.2"))]),
        _ => Reply::Addresses(vec![(30, ip("127.0.0.1"))]),
    })
    .await;
    let answer = (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec(), Then::Stay);
    let web = Server::start("127.0.0.2:0", move |_, _| Some(answer.clone())).await;
    let mut setup = setup(&[]);
    setup.resolver = Arc::new(names.resolver());
    setup.guard = Guard::allowing(["127.0.0.2/32".parse().unwrap()]);
    let client = Client::new(setup).unwrap();
    let url = CrawlUrl::from_normal(format!("http://rebind.example:{}/", web.port())).unwrap();
    let request = Request::get(&url, &[], &LIMITS);
    assert_eq!(client.fetch(&request).await.result.unwrap().head.status, 200);
    assert_eq!(client.close_idle(), 1);
    names.advance(Span::seconds(30));
    assert_eq!(client.fetch(&request).await.result.unwrap_err().kind, FetchErrorKind::Refused);
}

#[tokio::test]
async fn a2_a_name_without_address_is_an_error_of_the_fetch() {
    let names = NameServer::start(|_, _| Reply::Code(ResponseCode::NXDomain)).await;
    let mut setup = setup(&[]);
    setup.resolver = Arc::new(names.resolver());
    let url = CrawlUrl::from_normal("http://gone.example/").unwrap();
    let request = Request::get(&url, &[], &LIMITS);
    let error = Client::new(setup).unwrap().fetch(&request).await.result.unwrap_err();
    assert_eq!(error.kind, FetchErrorKind::Dns);
    assert_eq!(error.reason, "`gone.example`: the name does not exist or has no address");
}

#[tokio::test]
async fn a17_a_way_asks_its_own_name_server_and_each_remembers_what_it_was_told() {
    let one = NameServer::start(|_, _| Reply::Addresses(vec![(300, ip("127.0.0.2"))])).await;
    let other = NameServer::start(|_, _| Reply::Addresses(vec![(300, ip("10.0.0.1"))])).await;
    let answer = (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec(), Then::Close);
    let web = Server::start("127.0.0.2:0", move |_, _| Some(answer.clone())).await;
    let mut setup = setup(&[]);
    setup.guard = Guard::allowing(["127.0.0.2/32".parse().unwrap()]);
    let client = Client::new(setup).unwrap();
    let by = |server: &NameServer| Way { resolver: Some(ResolverAddress(server.address)), ..Way::default() };
    let (by_one, by_other) = (by(&one), by(&other));
    let url = CrawlUrl::from_normal(format!("http://a.example:{}/", web.port())).unwrap();
    for first in [true, false] {
        let fetched = client.fetch(&Request { way: &by_one, ..Request::get(&url, &[], &LIMITS) }).await;
        assert_eq!(fetched.result.unwrap().head.status, 200);
        let record = fetched.dns.map(|record| (record.host, record.server));
        assert_eq!(record, first.then(|| ("a.example".to_owned(), Some(ip("127.0.0.1")))), "A2");
    }
    let fetched = client.fetch(&Request { way: &by_other, ..Request::get(&url, &[], &LIMITS) }).await;
    assert_eq!(fetched.result.unwrap_err().kind, FetchErrorKind::Refused, "what it tells is judged, too");
    assert!(client.look_up(&url, &by_one).await.unwrap().is_none());
    assert_eq!((one.asked(), other.asked()), (1, 1));
}
