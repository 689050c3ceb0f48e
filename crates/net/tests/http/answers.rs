//! Answers of every shape: what is recorded, what is read out of it, and whether the connection
//! lives on.

use std::time::Duration;

use net::exchange::{Framing, Truncated};
use net::http::FetchErrorKind;
use policy::time::Span;

use testkit::web::{Answer, Step, Then};

use crate::server::{LIMITS, Server, body, client, get, recorded};

struct Case {
    name: &'static str,
    /// What the server sends; a `¦` stands where the recording ends if it is not the end.
    sent: &'static str,
    then: Then,
    body: &'static str,
    truncated: Option<Truncated>,
    reused: bool,
}

const fn case(name: &'static str, sent: &'static str, then: Then, body: &'static str) -> Case {
    Case { name, sent, then, body, truncated: None, reused: matches!(then, Then::Stay) }
}

impl Case {
    const fn not_reused(self) -> Case {
        Case { reused: false, ..self }
    }

    const fn cut(self) -> Case {
        Case { truncated: Some(Truncated::Disconnect), reused: false, ..self }
    }
}

const CASES: &[Case] = &[
    case("length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Then::Stay, "hello"),
    case("no body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Then::Stay, ""),
    case(
        "odd spelling",
        "HTTP/1.1  200   Fine  \r\nsErVeR:x\r\nCONTENT-length :  \t5 \r\nB: 2\r\nA: 1\r\nb:3\r\n\r\nhello",
        Then::Stay,
        "hello",
    ),
    case(
        "chunks, extensions, trailers",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"b\"\r\nhello\r\n1 \r\n!\r\n0\r\nDigest: x\r\nY: z\r\n\r\n",
        Then::Stay,
        "hello!",
    ),
    case("until close", "HTTP/1.1 200 OK\r\nA: b\r\n\r\nhello", Then::Close, "hello"),
    case("1.0 until close", "HTTP/1.0 200 OK\r\n\r\nhello", Then::Close, "hello"),
    case("1.0 with length", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", Then::Stay, "hello").not_reused(),
    case(
        "1.0 keep-alive",
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello",
        Then::Stay,
        "hello",
    ),
    case(
        "close announced",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
        Then::Stay,
        "hello",
    )
    .not_reused(),
    case("LF only", "HTTP/1.1 200 OK\nContent-Length: 5\nA: b\n\nhello", Then::Stay, "hello"),
    case("LF chunks", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nhello\n0\n\n", Then::Stay, "hello"),
    case(
        "folded header",
        "HTTP/1.1 200 OK\r\nX: a\r\n  b\r\n\tc\r\nContent-Length:\r\n 5\r\n\r\nhello",
        Then::Stay,
        "hello",
    ),
    case("no reason", "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", Then::Stay, "hello"),
    case("NUL in header", "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 5\r\n\r\nhello", Then::Stay, "hello"),
    case("NUL in body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nh\0l\0o", Then::Stay, "h\0l\0o"),
    case("junk line", "HTTP/1.1 200 OK\r\njunk\r\nContent-Length: 5\r\n\r\nhello", Then::Stay, "hello"),
    case("204", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", Then::Stay, ""),
    case("304", "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 5\r\n\r\n", Then::Stay, ""),
    case("204 with body", "HTTP/1.1 204 No Content\r\n\r\n¦hello", Then::Stay, "").not_reused(),
    case("more than length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello¦ world", Then::Stay, "hello")
        .not_reused(),
    case(
        "more than chunks",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n¦HTTP/1.1 200 OK\r\n\r\n",
        Then::Stay,
        "hello",
    )
    .not_reused(),
    case("less than length", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", Then::Close, "hello").cut(),
    case("reset within length", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", Then::Reset, "hello").cut(),
    case("reset before close", "HTTP/1.1 200 OK\r\n\r\nhello", Then::Reset, "hello").cut(),
    case(
        "cut chunk",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nwo",
        Then::Close,
        "hellowo",
    )
    .cut(),
    case(
        "no last line",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        Then::Close,
        "hello",
    ),
    case(
        "chunk size overflows",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n¦10000000000000005\r\nworld\r\n0\r\n\r\n",
        Then::Stay,
        "hello",
    )
    .cut(),
    case(
        "chunk size huge",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhello",
        Then::Close,
        "hello",
    )
    .cut(),
    case(
        "no line end after chunk",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello¦5\r\nworld\r\n0\r\n\r\n",
        Then::Stay,
        "hello",
    )
    .cut(),
    case("not chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n<p>hello", Then::Close, "<p>hello"),
    case(
        "chunks and length",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        Then::Stay,
        "hello",
    )
    .not_reused(),
    case(
        "two lengths",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nhello",
        Then::Close,
        "hello",
    ),
    case("length is no number", "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello", Then::Close, "hello"),
    case("error page", "HTTP/1.1 500 Oh\r\nContent-Length: 5\r\n\r\nhello", Then::Stay, "hello"),
];

#[tokio::test]
async fn a4_the_recording_is_what_came_over_the_wire_and_nothing_more() {
    for case in CASES {
        let name = case.name;
        let sent = case.sent.replacen('¦', "", 1);
        let expected = case.sent.split('¦').next().unwrap();
        let server = Server::answering(sent.as_bytes(), case.then).await;
        let client = client();
        for _ in 0..2 {
            let exchange = get(&client, &server.url("/p?q"), &LIMITS).await.unwrap();
            assert_eq!(String::from_utf8_lossy(&recorded(&exchange)), expected, "{name}");
            assert_eq!(String::from_utf8_lossy(&body(&exchange)), case.body, "{name}");
            assert_eq!(exchange.truncated, case.truncated, "{name}");
            assert!(exchange.request.starts_with(b"GET /p?q HTTP/1.1\r\nHost: 127.0.0.1:"), "{name}");
            assert_eq!(exchange.remote, server.address());
        }
        assert_eq!(server.connections(), if case.reused { 1 } else { 2 }, "{name}");
    }
}

#[tokio::test]
async fn a4_an_answer_is_the_same_however_it_is_cut_into_packets() {
    let sent = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        5\r\nhello\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n";
    // Each byte is a packet: the server does not wait for more, and lets the client read in
    // between.
    let pieces = sent.bytes().flat_map(|byte| [Step::Send(vec![byte]), Step::Wait(Duration::from_micros(1))]);
    let server = Server::playing(Answer { status: 200, steps: pieces.collect(), then: Then::Stay }).await;
    let (client, url) = (client(), server.url("/"));
    for _ in 0..3 {
        let exchange = get(&client, &url, &LIMITS).await.unwrap();
        assert_eq!(recorded(&exchange), &sent.as_bytes()[sent.find("HTTP/1.1 200").unwrap()..]);
        assert_eq!((body(&exchange), exchange.framing), (b"hello!".to_vec(), Framing::Chunked));
    }
}

#[tokio::test]
async fn a4_headers_are_read_as_sent_and_bytes_that_are_no_text_kept() {
    let sent =
        b"HTTP/1.1 200 OK\r\nX-b: caf\xe9\r\nx-A: 1\r\nX-B:\r\n\xff\xfe: y\r\nContent-Length: 0\r\n\r\n";
    let server = Server::answering(sent, Then::Stay).await;
    let exchange = get(&client(), &server.url("/"), &LIMITS).await.unwrap();
    assert_eq!(recorded(&exchange), sent);
    assert_eq!(exchange.head.bytes, sent.len());
    let names: Vec<_> = exchange.head.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["X-b", "x-A", "X-B", "\u{fffd}\u{fffd}", "Content-Length"]);
    assert_eq!(exchange.head.all("x-b").collect::<Vec<_>>(), [&b"caf\xe9"[..], b""]);
}

#[tokio::test]
async fn a4_interim_answers_are_not_recorded() {
    let last = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    for before in [
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n",
        "HTTP/1.1 100 Continue\n\n\r\n",
        "\r\n\r\n",
    ] {
        let server = Server::answering(format!("{before}{last}").as_bytes(), Then::Stay).await;
        let client = client();
        for _ in 0..2 {
            let exchange = get(&client, &server.url("/"), &LIMITS).await.unwrap();
            assert_eq!(String::from_utf8(recorded(&exchange)).unwrap(), last);
        }
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn a4_coded_content_is_stored_as_it_came() {
    // A bomb: ten megabytes of zeros. Nobody unpacks it here.
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), 10 << 20), &mut packer).unwrap();
    let bomb = packer.finish().unwrap();
    let mut sent =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", bomb.len())
            .into_bytes();
    sent.extend(&bomb);
    let server = Server::answering(&sent, Then::Stay).await;
    let exchange = get(&client(), &server.url("/"), &LIMITS).await.unwrap();
    assert_eq!(recorded(&exchange), sent);
    assert_eq!(body(&exchange), bomb);
}

#[tokio::test]
async fn a11_what_is_no_answer_is_an_error_that_says_why() {
    for (sent, then, kind, reason) in [
        (
            "<html>old</html>",
            Then::Hang,
            FetchErrorKind::Broken,
            "the answer is no HTTP: it begins with \"<html>old</html>\"",
        ),
        (
            "ICY 200 OK\r\n\r\n",
            Then::Hang,
            FetchErrorKind::Broken,
            "the answer is no HTTP: it begins with \"ICY 200",
        ),
        ("HTTP/1.1 OK\r\n\r\n", Then::Hang, FetchErrorKind::Broken, "the answer has no proper status line"),
        (
            "HTTP/1.1 99 Low\r\n\r\n",
            Then::Hang,
            FetchErrorKind::Broken,
            "the answer has no proper status line",
        ),
        (
            "HTTP/1.1 200 OK\r\nA: b\r\n",
            Then::Close,
            FetchErrorKind::Broken,
            "the connection broke within the headers: it was closed",
        ),
        (
            "HTTP/1.1 200 OK\r\n",
            Then::Reset,
            FetchErrorKind::Broken,
            "the connection broke within the headers: Connection reset by peer",
        ),
        ("", Then::Close, FetchErrorKind::Broken, "the server closed the connection without an answer"),
        ("", Then::Reset, FetchErrorKind::Broken, "the connection broke before an answer came: "),
    ] {
        let server = Server::answering(sent.as_bytes(), then).await;
        let error = get(&client(), &server.url("/"), &LIMITS).await.unwrap_err();
        assert_eq!(error.kind, kind, "{sent:?}: {error}");
        assert!(error.reason.starts_with(reason), "{sent:?}: {error}");
        assert!(error.elapsed < Span(5_000) && error.at.0 >= 1_800_000_000_000);
    }
}
