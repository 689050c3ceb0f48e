//! Encrypted exchanges.

use net::exchange::Truncated;
use net::http::{Client, FetchErrorKind};
use net::tls::Certificates;
use policy::url::CrawlUrl;
use testkit::web::{Answer, Then};

use crate::server::{LIMITS, Server, body, get, setup};

/// A server whose answers each end with `surplus`.
async fn self_signed(surplus: &'static str) -> Server {
    Server::encrypted(move |ask| {
        let body = format!("{}{surplus}", ask.connection + 1);
        Answer::bytes(200, format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{body}"), Then::Stay)
    })
    .await
}

fn url() -> CrawlUrl {
    CrawlUrl::from_normal("https://a.test/").unwrap()
}

#[tokio::test]
async fn a4_a_self_signed_certificate_is_noted_or_refused() {
    let (server, url) = (self_signed("").await, url());
    let mut setup = setup(&[&format!("a.test=127.0.0.1:{}", server.port())]);
    let client = Client::new(setup.clone()).unwrap();
    for _ in 0..3 {
        let exchange = get(&client, &url, &LIMITS).await.unwrap();
        assert_eq!(body(&exchange), b"1", "kept alive");
        let tls = exchange.tls.unwrap();
        assert_eq!((tls.version.as_str(), tls.cipher.starts_with("TLS13_")), ("TLSv1_3", true));
        assert!(tls.complaint.is_some());
    }
    setup.certificates = Certificates::RequireValid;
    let error = get(&Client::new(setup).unwrap(), &url, &LIMITS).await.unwrap_err();
    assert_eq!(error.kind, FetchErrorKind::Tls);
    assert!(error.reason.starts_with("the certificate is "), "{error}");
}

#[tokio::test]
async fn a4_surplus_in_an_encrypted_answer_ends_the_connection() {
    let (server, url) = (self_signed("HTTP/1.1 200 OK\r\n\r\nforged").await, url());
    let client = Client::new(setup(&[&format!("a.test=127.0.0.1:{}", server.port())])).unwrap();
    for connection in ["1", "2"] {
        let exchange = get(&client, &url, &LIMITS).await.unwrap();
        assert_eq!(body(&exchange), connection.as_bytes());
    }
}

/// A server that says this and hangs up, having ended TLS or not.
async fn hanging_up(answer: &'static str, ends_tls: bool) -> Server {
    let then = if ends_tls { Then::Close } else { Then::Drop };
    Server::encrypted(move |_| Answer::bytes(0, answer, then)).await
}

/// Only an answer whose end is told by the connection's needs TLS to end properly (RFC 9112, 9.8).
#[tokio::test]
async fn a5_an_answer_cut_within_tls_is_truncated() {
    for (answer, cut) in [
        ("HTTP/1.1 200 OK\r\n\r\nhello", true),
        ("HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nhello", true),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello: not chunked", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", false),
        ("HTTP/1.1 204 No Content\r\n\r\n", false),
    ] {
        for ends_tls in [true, false] {
            let server = hanging_up(answer, ends_tls).await;
            let client = Client::new(setup(&[&format!("a.test=127.0.0.1:{}", server.port())])).unwrap();
            let exchange = get(&client, &url(), &LIMITS).await.unwrap();
            let expected = (cut && !ends_tls).then_some(Truncated::Disconnect);
            assert_eq!(exchange.truncated, expected, "{answer:?}, ended: {ends_tls}");
            assert!(answer.ends_with("\r\n") || body(&exchange).starts_with(b"hello"), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn a4_hanging_up_without_an_answer_is_told_as_what_it_is() {
    for (answer, reason) in [
        ("", "the server closed the connection without an answer"),
        ("HTTP/1.1 200", "the connection broke within the headers: it was closed without ending TLS"),
    ] {
        let server = hanging_up(answer, false).await;
        let client = Client::new(setup(&[&format!("a.test=127.0.0.1:{}", server.port())])).unwrap();
        let error = get(&client, &url(), &LIMITS).await.unwrap_err();
        assert_eq!((error.kind, error.reason.as_str()), (FetchErrorKind::Broken, reason));
    }
}
