//! Limits of time and size, and that each says so.

use std::time::Duration;

use net::exchange::Truncated;
use net::http::{Client, FetchErrorKind, FetchLimits};
use policy::time::Span;
use policy::url::CrawlUrl;
use testkit::web::{Answer, Step, Then};
use tokio::net::TcpListener;

use crate::server::{LIMITS, Server, body, client, get, recorded, setup};

/// Answers with `start`, and then with `again` forever, each after a `pause` if there is one.
async fn endless(start: &'static [u8], again: &'static [u8], pause: Duration) -> Server {
    Server::playing(Answer::raw(start).then_for_ever(again, pause)).await
}

#[tokio::test]
async fn a5_no_first_byte_in_time_is_an_error() {
    let server = Server::answering(b"", Then::Hang).await;
    for limits in [FetchLimits { first_byte: Span(60), ..LIMITS }, FetchLimits { total: Span(60), ..LIMITS }]
    {
        let error = get(&client(), &server.url("/"), &limits).await.unwrap_err();
        assert_eq!(
            (error.kind, error.reason.as_str()),
            (FetchErrorKind::Timeout, "no first byte within 60ms")
        );
        assert!((60..3_000).contains(&error.elapsed.0), "{}", error.elapsed);
    }
}

#[tokio::test]
async fn a5_headers_that_do_not_end_in_time_are_an_error() {
    let server = Server::answering(b"HTTP/1.1 200 OK\r\nA: b\r\n", Then::Hang).await;
    let limits = FetchLimits { first_byte: Span(40), total: Span(80), ..LIMITS };
    let error = get(&client(), &server.url("/"), &limits).await.unwrap_err();
    assert_eq!(
        (error.kind, error.reason.as_str()),
        (FetchErrorKind::Timeout, "no complete headers within 80ms")
    );
}

#[tokio::test]
async fn a5_a_slow_drip_is_cut_by_the_total_and_kept() {
    let drip = Duration::from_millis(5);
    for (start, again) in [
        (&b"HTTP/1.1 200 OK\r\n\r\n"[..], &b"x"[..]),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    ] {
        let server = endless(start, again, drip).await;
        let limits = FetchLimits { total: Span(100), ..LIMITS };
        let exchange = get(&client(), &server.url("/"), &limits).await.unwrap();
        assert_eq!(exchange.truncated, Some(Truncated::Time));
        assert!(recorded(&exchange).starts_with(start));
        assert!(body(&exchange).len() >= 2 && body(&exchange).iter().all(|b| *b == b'x'));
        assert!((90..3_000).contains(&exchange.total.0), "{}", exchange.total);
    }
}

#[tokio::test]
async fn a5_a_body_beyond_the_limit_is_cut_to_it() {
    const BLOCK: &[u8] = &[b'x'; 1000];
    for start in [
        &b"HTTP/1.1 200 OK\r\n\r\n"[..],
        b"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n",
    ] {
        let server = endless(start, BLOCK, Duration::ZERO).await;
        for bytes in [0, 1, 12_345, 300_000] {
            let limits = FetchLimits { bytes, ..LIMITS };
            let exchange = get(&client(), &server.url("/"), &limits).await.unwrap();
            assert_eq!(exchange.truncated, Some(Truncated::Length));
            assert_eq!(exchange.response.len(), exchange.head.bytes as u64 + bytes);
        }
    }
}

#[tokio::test]
async fn a5_a_body_of_just_the_limit_is_whole() {
    for (sent, then) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Then::Stay),
        ("HTTP/1.1 200 OK\r\n\r\nhello", Then::Close),
    ] {
        let server = Server::answering(sent.as_bytes(), then).await;
        for (bytes, truncated) in [(5, None), (4, Some(Truncated::Length))] {
            let exchange = get(&client(), &server.url("/"), &FetchLimits { bytes, ..LIMITS }).await.unwrap();
            assert_eq!((exchange.truncated, body(&exchange).len() as u64), (truncated, bytes));
        }
    }
}

#[tokio::test]
async fn a5_headers_beyond_the_limit_are_an_error() {
    for (start, again) in [
        (&b"HTTP/1.1 200 OK\r\n"[..], &b"X-Header: and so on\r\n"[..]),
        (b"HTTP/1.1 200 OK\r\nX: ", b"xxxxxxxxxxxxxxxxxxxxxxxxxxx"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"", b"\r\n"),
    ] {
        let server = endless(start, again, Duration::ZERO).await;
        let error = get(&client(), &server.url("/"), &LIMITS).await.unwrap_err();
        assert_eq!(
            (error.kind, error.reason.as_str()),
            (FetchErrorKind::Limit, "the headers are longer than allowed")
        );
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let server = Server::answering(head.as_bytes(), Then::Stay).await;
    let just = u32::try_from(head.len()).unwrap();
    for (header_bytes, passes) in [(just, true), (just - 1, false)] {
        let answer = get(&client(), &server.url("/"), &FetchLimits { header_bytes, ..LIMITS }).await;
        assert_eq!(answer.is_ok(), passes);
    }
}

#[tokio::test]
async fn a5_no_connection_in_time_is_an_error() {
    // A listener whose queue is full answers no more: neither accepted nor refused.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    for _ in 0..8 {
        let attempt = tokio::net::TcpStream::connect(address);
        if let Ok(Ok(stream)) = tokio::time::timeout(Duration::from_millis(20), attempt).await {
            queued.push(stream);
        }
    }
    let url = CrawlUrl::from_normal(format!("http://{address}/")).unwrap();
    let limits = FetchLimits { connect: Span(60), ..LIMITS };
    let error = get(&client(), &url, &limits).await.unwrap_err();
    assert_eq!((error.kind, error.reason.as_str()), (FetchErrorKind::Connect, "no connection within 60ms"));
}

#[tokio::test]
async fn a5_encryption_counts_as_connecting() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let silent = tokio::spawn(async move {
        let _held = listener.accept().await;
        std::future::pending::<()>().await;
    });
    let limits = FetchLimits { connect: Span(60), ..LIMITS };
    let error = get(&client(), &CrawlUrl::from_normal(url).unwrap(), &limits).await.unwrap_err();
    assert_eq!((error.kind, error.reason.as_str()), (FetchErrorKind::Connect, "no connection within 60ms"));
    silent.abort();
}

#[tokio::test]
async fn a11_a_disk_that_takes_nothing_is_an_error_of_our_own() {
    let sent = format!("HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n{}", "x".repeat(50_000));
    let server = Server::answering(sent.as_bytes(), Then::Stay).await;
    let mut setup = setup(&[]);
    (setup.memory_bytes_max, setup.spill_dir) = (1000, "/nowhere/to/be/found".into());
    let error = get(&Client::new(setup).unwrap(), &server.url("/"), &LIMITS).await.unwrap_err();
    assert_eq!(error.kind, FetchErrorKind::Local);
    assert!(error.reason.starts_with("the answer could not be kept: "), "{error}");
}

fn peak_memory_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[tokio::test]
async fn a11_memory_stays_bounded_while_200_megabytes_come_in() {
    const BODY: u64 = 200 << 20;
    let mut answer = Answer::raw(format!("HTTP/1.1 200 OK\r\nContent-Length: {BODY}\r\n\r\n"));
    let block = Step::Repeat { bytes: vec![b'x'; 1 << 16], pause: Duration::ZERO, times: Some(BODY >> 16) };
    answer.steps.push(block);
    let server = Server::playing(answer).await;
    let Some(before) = peak_memory_kb() else {
        println!("skipped: there is no /proc/self/status here");
        return;
    };
    let limits = FetchLimits { total: Span::minutes(2), bytes: u64::MAX, ..LIMITS };
    let exchange = get(&client(), &server.url("/"), &limits).await.unwrap();
    let grown = peak_memory_kb().unwrap() - before;
    assert!(exchange.response.in_memory().is_none());
    assert_eq!(exchange.response.len(), exchange.head.bytes as u64 + BODY);
    assert_eq!(exchange.truncated, None);
    assert!(grown < 64 * 1024, "{grown} KiB");
}
