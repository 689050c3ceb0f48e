//! TLS before the service (G1).

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use store::Store;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Endpoint};
use urlfrontier::grpc::messages::{self as m, StringList};
use urlfrontier::grpc::{Access, Server, Tls};

use crate::client::{Client, NOW, discovered, frontier, info};

struct Files {
    dir: tempfile::TempDir,
    roots: RootCertStore,
}

impl Files {
    /// A certificate for localhost that signed itself.
    fn new() -> Files {
        let dir = tempfile::TempDir::new().unwrap();
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(dir.path().join("cert.pem"), pem("CERTIFICATE", made.cert.der())).unwrap();
        std::fs::write(dir.path().join("key.pem"), pem("PRIVATE KEY", &made.signing_key.serialize_der()))
            .unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        Files { dir, roots }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn read(&self, certificate: &str, key: &str) -> std::io::Result<Tls> {
        Tls::read(&self.path(certificate), &self.path(key))
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in der.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= chunk.len() { letter as char } else { '=' });
        }
    }
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

async fn connect(
    address: std::net::SocketAddr,
    roots: RootCertStore,
) -> Result<Channel, tonic::transport::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let connector = TlsConnector::from(Arc::new(config));
    let connect = tower::service_fn(move |_: http::Uri| {
        let connector = connector.clone();
        async move {
            let stream = TcpStream::connect(address).await?;
            let name = ServerName::try_from("localhost").unwrap();
            Ok::<_, std::io::Error>(TokioIo::new(connector.connect(name, stream).await?))
        }
    });
    Endpoint::from_static("http://localhost").connect_with_connector(connect).await
}

#[test]
fn g1_with_a_certificate_calls_are_encrypted() {
    let files = Files::new();
    let access = Access { token: None, tls: Some(files.read("cert.pem", "key.pem").unwrap()) };
    let clock = Arc::new(AtomicI64::new(NOW));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server::start(listener, access, frontier(Store::in_memory(1), &clock, 1)).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        // Whoever connects and says nothing keeps nobody waiting.
        let _silent = TcpStream::connect(server.address).await.unwrap();
        let channel = connect(server.address, files.roots.clone()).await.unwrap();
        let client = Client { channel, token: None };
        client.put(vec![discovered(info("c", "", "https://a.example/"))]).await;
        let crawls: StringList = client.call("ListCrawls", m::Local::default()).await.unwrap();
        assert_eq!(crawls.values, ["c"]);
        assert!(connect(server.address, RootCertStore::empty()).await.is_err(), "nobody vouches for it");
        let plain = Endpoint::from_shared(format!("http://{}", server.address)).unwrap();
        let Ok(channel) = plain.connect().await else { return };
        let plain = Client { channel, token: None };
        assert!(plain.call::<_, StringList>("ListCrawls", m::Local::default()).await.is_err());
    });
    drop(runtime);
    server.stop();
}

#[test]
fn g1_files_that_are_no_certificate_or_key_are_told_by_name() {
    let files = Files::new();
    std::fs::write(files.path("empty"), "").unwrap();
    std::fs::write(files.path("text"), "-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n")
        .unwrap();
    std::fs::write(files.path("long"), vec![b'x'; 2 << 20]).unwrap();
    let pairs = [
        ("none", "key.pem", "none"),
        ("empty", "key.pem", "empty"),
        ("text", "key.pem", "text"),
        ("long", "key.pem", "long"),
        ("cert.pem", "none", "none"),
        ("cert.pem", "cert.pem", "cert.pem"),
        ("cert.pem", "empty", "empty"),
    ];
    for (certificate, key, told) in pairs {
        let error = files.read(certificate, key).unwrap_err().to_string();
        assert!(error.contains(told), "{certificate} and {key}: {error}");
    }
    let other = Files::new();
    let mixed = Tls::read(&files.path("cert.pem"), &other.path("key.pem"));
    assert!(mixed.is_err(), "the key of another certificate");
}
