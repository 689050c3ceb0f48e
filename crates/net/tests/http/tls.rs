//! Encrypted exchanges.

use std::sync::Arc;

use net::http::{Client, FetchErrorKind};
use net::tls::Certificates;
use policy::url::CrawlUrl;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::server::{LIMITS, body, get, setup};

/// A server with a certificate it made itself; each answer ends with `surplus`. The URL to ask it by.
async fn self_signed(surplus: &'static str) -> (u16, CrawlUrl) {
    let made = rcgen::generate_simple_self_signed(vec!["a.test".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key.into())
            .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut connections = 0;
        while let Ok((stream, _)) = listener.accept().await {
            connections += 1;
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut request = Vec::new();
                while let Ok(1..) = stream.read_buf(&mut request).await {
                    if request.ends_with(b"\r\n\r\n") {
                        request.clear();
                        let answer =
                            format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{connections}{surplus}");
                        stream.write_all(answer.as_bytes()).await.unwrap();
                        stream.flush().await.unwrap();
                    }
                }
            });
        }
    });
    (port, CrawlUrl::from_normal("https://a.test/").unwrap())
}

#[tokio::test]
async fn a4_a_self_signed_certificate_is_noted_or_refused() {
    let (port, url) = self_signed("").await;
    let mut setup = setup(&[&format!("a.test=127.0.0.1:{port}")]);
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
    let (port, url) = self_signed("HTTP/1.1 200 OK\r\n\r\nforged").await;
    let client = Client::new(setup(&[&format!("a.test=127.0.0.1:{port}")])).unwrap();
    for connection in ["1", "2"] {
        let exchange = get(&client, &url, &LIMITS).await.unwrap();
        assert_eq!(body(&exchange), connection.as_bytes());
    }
}
