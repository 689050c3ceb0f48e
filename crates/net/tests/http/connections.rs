//! Connections: used again, given up, retried, bounded.

use std::sync::Arc;
use std::time::Duration;

use net::http::{Client, FetchErrorKind, FetchLimits, PoolLimits, Request};
use policy::url::CrawlUrl;

use crate::server::{LIMITS, Server, body, client, get, setup};
use testkit::web::{Answer, Step, Then};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn with_pool(pool: PoolLimits) -> Client {
    let mut setup = setup(&[]);
    setup.pool = pool;
    Client::new(setup).unwrap()
}

#[tokio::test]
async fn a4_one_connection_carries_many_exchanges() {
    let server = Server::answering(OK, Then::Stay).await;
    let client = client();
    for n in 0..50 {
        let exchange = get(&client, &server.url(&format!("/{n}")), &LIMITS).await.unwrap();
        assert_eq!(exchange.url, server.url(&format!("/{n}")).as_str());
    }
    assert_eq!((server.connections(), server.requests(), client.close_idle()), (1, 50, 1));
}

#[tokio::test]
async fn a4_origins_do_not_share_connections() {
    let server = Server::answering(OK, Then::Stay).await;
    let port = server.port();
    let client = Client::new(setup(&[&format!("*.test=127.0.0.1:{port}")])).unwrap();
    for host in ["a.test", "b.test", "a.test:81", "a.test"] {
        let url = CrawlUrl::from_normal(format!("http://{host}/")).unwrap();
        let exchange = get(&client, &url, &LIMITS).await.unwrap();
        let request = String::from_utf8(exchange.request).unwrap();
        assert!(request.starts_with(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n")), "{request}");
        assert_eq!(exchange.remote.port(), port);
    }
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn a4_a_connection_closed_while_it_rested_is_no_error() {
    // Each connection serves one request and then closes: with the answer, at the next request, or
    // by a reset then.
    for (answer, at_next) in
        [(Then::Close, None), (Then::Stay, None), (Then::Stay, Some((vec![], Then::Reset)))]
    {
        let server = Server::start("127.0.0.1:0", move |_, request| match request {
            0 => Some((OK.to_vec(), answer)),
            _ => at_next.clone(),
        })
        .await;
        let client = client();
        for _ in 0..4 {
            let exchange = get(&client, &server.url("/"), &LIMITS).await.unwrap();
            assert_eq!(body(&exchange), b"hello");
        }
        assert_eq!(server.connections(), 4);
    }
}

#[tokio::test]
async fn a4_a_fetch_is_retried_once_and_only_on_a_used_connection() {
    // A server that never answers twice, and never answers on later connections at all.
    let server = Server::start("127.0.0.1:0", |connection, request| {
        (connection == 0 && request == 0).then(|| (OK.to_vec(), Then::Stay))
    })
    .await;
    let client = client();
    get(&client, &server.url("/"), &LIMITS).await.unwrap();
    let error = get(&client, &server.url("/"), &LIMITS).await.unwrap_err();
    assert_eq!(error.kind, FetchErrorKind::Broken);
    assert_eq!(error.reason, "the server closed the connection without an answer");
    assert_eq!((server.connections(), server.requests()), (2, 3));
    get(&client, &server.url("/"), &LIMITS).await.unwrap_err();
    assert_eq!((server.connections(), server.requests()), (3, 4));
}

#[tokio::test]
async fn a4_bytes_that_come_while_a_connection_rests_are_not_taken_for_the_next_answer() {
    let late = b"HTTP/1.1 408 Too Slow\r\nContent-Length: 0\r\n\r\n";
    let mut answer = Answer::bytes(200, OK, Then::Hang);
    answer.steps.extend([Step::Wait(Duration::from_millis(20)), Step::Send(late.to_vec())]);
    let server = Server::playing(answer).await;
    let client = client();
    for played in 1..=2 {
        assert_eq!(get(&client, &server.url("/"), &LIMITS).await.unwrap().head.status, 200);
        while server.played() < played {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a4_the_pool_keeps_its_bounds() {
    let server = Arc::new(Server::answering(OK, Then::Stay).await);
    let pool = PoolLimits { per_origin_max: 2, total_max: 3, idle: Duration::from_secs(30) };
    let port = server.port();
    let mut setup = setup(&[&format!("*.test=127.0.0.1:{port}")]);
    setup.pool = pool;
    let client = Arc::new(Client::new(setup).unwrap());
    let mut resting = Vec::new();
    for hosts in [&["a"; 5][..], &["b", "c"], &["d", "e"]] {
        let fetches: Vec<_> = hosts
            .iter()
            .map(|host| {
                let (client, url) = (client.clone(), format!("http://{host}.test/"));
                tokio::spawn(async move {
                    let url = CrawlUrl::from_normal(url).unwrap();
                    get(&client, &url, &LIMITS).await.unwrap();
                })
            })
            .collect();
        for fetch in fetches {
            fetch.await.unwrap();
        }
        resting.push(client.close_idle());
    }
    assert_eq!(resting[1..], [3, 3]);
    assert!((1..=2).contains(&resting[0]), "{resting:?}");
}

#[tokio::test]
async fn a4_a_connection_rests_only_so_long() {
    let server = Server::answering(OK, Then::Stay).await;
    let client = with_pool(PoolLimits { idle: Duration::from_millis(30), ..PoolLimits::default() });
    get(&client, &server.url("/"), &LIMITS).await.unwrap();
    assert_eq!(client.close_idle(), 1);
    tokio::time::sleep(Duration::from_millis(40)).await;
    get(&client, &server.url("/"), &LIMITS).await.unwrap();
    assert_eq!(server.connections(), 2);
    tokio::time::sleep(Duration::from_millis(40)).await;
    assert_eq!(client.close_idle(), 0);
}

#[tokio::test]
async fn a4_the_next_address_is_tried_when_one_is_dead() {
    let server = Server::answering(OK, Then::Stay).await;
    let port = server.port();
    let dead = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let given = [format!("a.test=127.0.0.1:{dead}"), format!("a.test=127.0.0.1:{port}")];
    let url = CrawlUrl::from_normal("http://a.test/").unwrap();
    let client = Client::new(setup(&[&given[0], &given[1]])).unwrap();
    assert_eq!(get(&client, &url, &LIMITS).await.unwrap().remote.port(), port);

    let client = Client::new(setup(&[&given[0], &given[0]])).unwrap();
    let error = get(&client, &url, &LIMITS).await.unwrap_err();
    assert_eq!(error.kind, FetchErrorKind::Connect);
    assert!(
        error.reason.starts_with(&format!("no connection to 127.0.0.1:{dead}: Connection refused")),
        "{error}"
    );
}

#[tokio::test]
async fn a11_a12_a_header_that_would_break_the_request_is_not_sent() {
    let server = Server::answering(OK, Then::Stay).await;
    let (client, url, limits) = (client(), server.url("/"), LIMITS);
    let headers = [("Cookie", "a=b\r\nHost: evil")];
    let error = client.fetch(&Request::get(&url, &headers, &limits)).await.result.unwrap_err();
    // Whoever gave it, this URL fails over it and nothing else does.
    assert_eq!(error.kind, FetchErrorKind::Broken);
    let reason = "it cannot be asked for: the value of the header `Cookie` has a control character in it";
    assert_eq!(error.reason, reason);
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a6_an_address_in_the_url_is_refused_like_any_other() {
    let limits = FetchLimits::default();
    for (url, reason) in [
        ("http://10.0.0.1/", "10.0.0.1 is a private address, which is refused unless --allow-net names it"),
        ("https://[::1]:8443/", "::1 is a loopback address, which is refused unless --allow-net names it"),
        (
            "http://169.254.169.254/latest/meta-data/",
            "169.254.169.254 is the address of a cloud's metadata service, which is refused unless --allow-net names it",
        ),
        (
            "http://[::ffff:10.0.0.1]/",
            "::ffff:10.0.0.1 carries 10.0.0.1, a private address, which is refused unless --allow-net names it",
        ),
    ] {
        let error = get(&client(), &CrawlUrl::from_normal(url).unwrap(), &limits).await.unwrap_err();
        assert_eq!((error.kind, error.reason.as_str()), (FetchErrorKind::Refused, reason));
    }
}

#[tokio::test]
async fn a6_of_several_addresses_only_the_public_ones_are_tried() {
    let server = Server::answering(OK, Then::Stay).await;
    let port = server.port();
    let given = [format!("a.test=127.0.0.2:{port}"), format!("a.test=127.0.0.1:{port}")];
    let client = Client::new(setup(&[&given[0], &given[1]])).unwrap();
    let url = CrawlUrl::from_normal("http://a.test/").unwrap();
    assert_eq!(get(&client, &url, &LIMITS).await.unwrap().remote.to_string(), format!("127.0.0.1:{port}"));
}
