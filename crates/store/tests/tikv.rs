//! The engine on a cluster: the contract, and what becomes of bad addresses.
//!
//! `SKURD_TEST_PD` is the address of a placement driver (`tests/cluster/cluster start` prints that of
//! a small cluster on this machine). Without it there is nothing to test against, and the tests say
//! so.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::WebPkiClientVerifier;
use store::contract::Subject;
use store::copy::copy;
use store::{Faults, OpenError, Options, Place, Store};
use tokio::runtime::Runtime;

const NO_CLUSTER: &str = "SKURD_TEST_PD names no cluster";

struct OnCluster {
    store: Store,
    address: String,
}

fn placement_driver() -> Option<String> {
    std::env::var("SKURD_TEST_PD").ok().filter(|pd| !pd.is_empty())
}

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().unwrap())
}

fn open(address: &str) -> Result<Store, OpenError> {
    Store::open_cluster(&address.parse().unwrap(), &Options::default())
}

fn fresh_address(pd: &str) -> String {
    format!("tikv://{pd}/test-{:016x}?gc=off", fastrand::u64(..))
}

impl Subject for OnCluster {
    fn fresh() -> OnCluster {
        let address = fresh_address(&placement_driver().unwrap());
        OnCluster { store: open(&address).unwrap(), address }
    }
    fn store(&self) -> &Store {
        &self.store
    }
    fn restart(self) -> OnCluster {
        let OnCluster { store, address } = self;
        drop(store);
        OnCluster { store: open(&address).unwrap(), address }
    }
    fn missing() -> Option<&'static str> {
        placement_driver().is_none().then_some(NO_CLUSTER)
    }
    fn run<T>(future: impl Future<Output = T>) -> T {
        runtime().block_on(future)
    }
}

store::contract!(OnCluster);

#[test]
fn m1_a_cluster_that_is_not_there_is_told_in_one_sentence() {
    // Nobody listens there.
    let refused = open("tikv://127.0.0.1:1/skurd").expect_err("opened");
    let sentence = refused.to_string();
    assert!(matches!(refused, OpenError::Unreachable { .. }), "{sentence}");
    assert!(sentence.starts_with("the store at tikv://127.0.0.1:1/skurd cannot be reached: "), "{sentence}");
    assert!(!sentence.contains('\n'), "{sentence}");
}

#[test]
fn m1_certificates_that_are_not_there_are_told_by_name() {
    let refused =
        open("tikv://127.0.0.1:1/skurd?ca=/nowhere/ca.pem&cert=c.pem&key=k.pem").expect_err("opened");
    assert!(refused.to_string().starts_with("cannot read /nowhere/ca.pem: "), "{refused}");
}

#[test]
fn m1_what_is_no_cluster_of_a_known_kind_is_told_in_one_sentence() {
    // Something listens, and speaks otherwise than a placement driver of any version would.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        }
    });
    let sentence = open(&format!("tikv://{at}/skurd")).expect_err("opened").to_string();
    assert!(
        sentence.starts_with(&format!("the store at tikv://{at}/skurd cannot be reached: ")),
        "{sentence}"
    );
    assert!(!sentence.contains('\n'), "{sentence}");
}

/// A certificate and its key, as files.
fn written(dir: &Path, name: &str, certificate: &[u8], key: &[u8]) {
    for (end, label, bytes) in [("pem", "CERTIFICATE", certificate), ("key", "PRIVATE KEY", key)] {
        let text = data_encoding::BASE64.encode(bytes);
        let pem = format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n");
        std::fs::write(dir.join(format!("{name}.{end}")), pem).unwrap();
    }
}

#[test]
fn m1_with_certificates_the_cluster_is_spoken_to_in_tls_by_both_sides() {
    let dir = tempfile::TempDir::new().unwrap();
    let authority_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&authority_key).unwrap();
    written(dir.path(), "ca", authority.der(), authority_key.serialized_der());
    let issuer = Issuer::new(params, authority_key);
    let issued = || {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        (params.signed_by(&key, &issuer).unwrap(), key)
    };
    let (client, client_key) = issued();
    written(dir.path(), "client", client.der(), client_key.serialized_der());

    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build().unwrap();
    let (server, server_key) = issued();
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(
            vec![server.der().clone()],
            PrivatePkcs8KeyDer::from(server_key.serialized_der().to_vec()).into(),
        )
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut connection = rustls::ServerConnection::new(Arc::new(config)).unwrap();
        let mut first = [0; 14];
        rustls::Stream::new(&mut connection, &mut stream).read_exact(&mut first).unwrap();
        (connection.peer_certificates().map(<[_]>::len), first)
    });
    let file = |name: &str| dir.path().join(name).display().to_string();
    let (ca, cert, key) = (file("ca.pem"), file("client.pem"), file("client.key"));
    let refused = open(&format!("tikv://{at}/skurd?ca={ca}&cert={cert}&key={key}")).expect_err("opened");
    assert!(matches!(refused, OpenError::Unreachable { .. }), "it says no more: {refused}");
    assert_eq!(server.join().unwrap(), (Some(1), *b"PRI * HTTP/2.0"));

    // Files that are there, and are no certificates.
    std::fs::write(dir.path().join("ca.pem"), "nothing of the kind").unwrap();
    let sentence =
        open(&format!("tikv://{at}/skurd?ca={ca}&cert={cert}&key={key}")).expect_err("opened").to_string();
    assert!(!sentence.contains('\n'), "{sentence}");
}

#[test]
fn m12_a_store_is_copied_to_the_cluster_and_back() {
    let Some(pd) = placement_driver() else { return eprintln!("skipped: {NO_CLUSTER}") };
    let address = fresh_address(&pd);
    let place = Place::parse(address.as_ref()).unwrap();
    runtime().block_on(async {
        let missing = place.open_existing(&Options::default()).expect_err("opened");
        assert!(matches!(missing, OpenError::NotAStoreThere { .. }), "{missing}");
        let [from, back] = [1, 2].map(Store::in_memory);
        for n in 0..5000u32 {
            let tx = from.begin().await.unwrap();
            // A few are as large as can be.
            let size = if n % 1000 == 0 { store::limits::VALUE_BYTES_MAX } else { n as usize % 300 };
            tx.put([&[1][..], &n.to_be_bytes()].concat(), vec![1; size]).unwrap();
            from.commit(&tx).await.unwrap();
        }
        let on_cluster = place.open_for_copy(&Options::default()).unwrap();
        let is_unfinished = |_| from.inject(Faults { unavailable: 1.0, ..Faults::default() }).unwrap();
        copy(&from, "a", &on_cluster, is_unfinished).await.expect_err("it came to its end");
        let refused = place.open_existing(&Options::default()).expect_err("opened");
        assert!(refused.to_string().contains("is an unfinished copy of a: "), "{refused}");
        from.inject(Faults::default()).unwrap();
        copy(&from, "a", &on_cluster, |_| ()).await.unwrap();
        let on_cluster = place.open_existing(&Options::default()).unwrap();
        copy(&on_cluster, "b", &back, |_| ()).await.unwrap();
        assert_eq!(back.check().await.unwrap(), from.check().await.unwrap());
    });
}

#[test]
fn m1_prefixes_do_not_meet_and_foreign_ones_are_refused() {
    let Some(pd) = placement_driver() else { return eprintln!("skipped: {NO_CLUSTER}") };
    let base = format!("p{:016x}", fastrand::u64(..));
    let [one, other] = ["", "x"].map(|end| open(&format!("tikv://{pd}/{base}{end}?gc=off")).unwrap());
    runtime().block_on(async {
        let tx = one.begin().await.unwrap();
        tx.put(*b"FORMAT", *b"a row that is called so").unwrap();
        one.commit(&tx).await.unwrap();
        assert!(other.begin().await.unwrap().get(b"FORMAT").await.unwrap().is_none());
        // As nothing of ours would: a row without a format, and a format nobody knows.
        let client = tikv_client::TransactionClient::new(vec![pd.clone()]).await.unwrap();
        for (key, value) in [("foreign\0\u{1}row", "x"), ("newer\0\0FORMAT", "skurd-store 9\n")] {
            let mut transaction = client.begin_optimistic().await.unwrap();
            transaction.put(format!("{base}{key}"), value.to_owned()).await.unwrap();
            transaction.commit().await.unwrap();
        }
    });
    let foreign = open(&format!("tikv://{pd}/{base}foreign")).expect_err("opened");
    assert!(foreign.to_string().contains("was not written by skurd: choose another prefix"), "{foreign}");
    let newer = open(&format!("tikv://{pd}/{base}newer")).expect_err("opened");
    assert!(newer.to_string().contains("has format 9, and this program knows formats up to"), "{newer}");
}
