//! The engine on a cluster: the contract, and what becomes of bad addresses.
//!
//! `SKURD_TEST_PD` is the address of a placement driver (`tests/cluster/cluster start` prints that of
//! a small cluster on this machine). Without it there is nothing to test against, and the tests say
//! so.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use store::cluster::Address;
use store::contract::{Subject, fresh_address};
use store::copy::copy;
use store::upgrade::{FORMAT, Step, Working};
use store::{Bytes, Faults, OpenError, Options, Place, Store};
use tikv_client::TimestampExt;
use tokio::runtime::Runtime;

const NO_CLUSTER: &str = "SKURD_TEST_PD names no cluster";

struct OnCluster {
    store: Store,
    address: String,
}

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().unwrap())
}

fn open(address: &str) -> Result<Store, OpenError> {
    Store::open_cluster(&address.parse().unwrap(), &Options::default())
}

/// A client that goes by no rules of ours.
async fn client(address: &str) -> tikv_client::TransactionClient {
    let address: Address = address.parse().unwrap();
    let mut config = tikv_client::Config::default();
    if let Some(tls) = &address.tls {
        config = config.with_security(&tls.ca, &tls.cert, &tls.key);
    }
    tikv_client::TransactionClient::new_with_config(address.placement_drivers, config).await.unwrap()
}

/// The same place under another prefix.
fn under(address: &str, prefix: &str) -> String {
    let own: Address = address.parse().unwrap();
    address.replacen(&own.prefix, prefix, 1)
}

impl Subject for OnCluster {
    fn fresh() -> OnCluster {
        let address = fresh_address().unwrap();
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
        fresh_address().is_none().then_some(NO_CLUSTER)
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
    let told = "cannot read /nowhere/ca.pem, which the address of the store names: No such file";
    assert!(refused.to_string().starts_with(told), "{refused}");
    // Files that are there, and are something else.
    let dir = tempfile::TempDir::new().unwrap();
    authority(dir.path(), "ca");
    let [ca, key] = ["ca.pem", "ca.key"].map(|name| dir.path().join(name).display().to_string());
    for (files, wrong, lacks) in [
        ([&key, &ca, &key], &key, "CERTIFICATE"),
        ([&ca, &key, &key], &key, "CERTIFICATE"),
        ([&ca, &ca, &ca], &ca, "PRIVATE KEY"),
    ] {
        let [ca, cert, key] = files;
        let refused =
            open(&format!("tikv://127.0.0.1:1/skurd?ca={ca}&cert={cert}&key={key}")).expect_err("opened");
        let told = format!("cannot read {wrong}, which the address of the store names: there is no {lacks}");
        assert!(refused.to_string().starts_with(&told), "{refused}");
    }
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

/// Answers every call as gRPC has it: there is no such call.
fn knows_no_call(mut stream: TcpStream) -> std::io::Result<()> {
    const PREFACE: usize = 24;
    const HEADERS: u8 = 1;
    const SETTINGS: u8 = 4;
    const UNIMPLEMENTED: &[u8] = b"\x88\x00\x0Ccontent-type\x10application/grpc\x00\x0Bgrpc-status\x0212";
    let frame = |kind: u8, flags: u8, id: [u8; 4], body: &[u8]| {
        [&[0, 0, u8::try_from(body.len()).unwrap(), kind, flags], &id[..], body].concat()
    };
    stream.read_exact(&mut [0; PREFACE])?;
    stream.write_all(&frame(SETTINGS, 0, [0; 4], b""))?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let [a, b, c, kind, flags, id @ ..] = head;
        let mut body = vec![0; usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c)];
        stream.read_exact(&mut body)?;
        if kind == SETTINGS && flags == 0 {
            stream.write_all(&frame(SETTINGS, 1, [0; 4], b""))?;
        } else if kind == HEADERS {
            // The whole answer: its headers, and that they are all.
            stream.write_all(&frame(HEADERS, 5, id, UNIMPLEMENTED))?;
        }
    }
}

#[test]
fn m1_a_cluster_of_another_version_is_told_in_one_sentence() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || knows_no_call(stream));
        }
    });
    let sentence = open(&format!("tikv://{at}/skurd")).expect_err("opened").to_string();
    let told = format!("the store at tikv://{at}/skurd cannot be reached: ");
    assert!(sentence.starts_with(&told) && !sentence.contains('\n'), "{sentence}");
}

/// A certificate and its key, as files.
fn written(dir: &Path, name: &str, certificate: &[u8], key: &[u8]) {
    for (end, label, bytes) in [("pem", "CERTIFICATE", certificate), ("key", "PRIVATE KEY", key)] {
        let text = data_encoding::BASE64.encode(bytes);
        let pem = format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n");
        std::fs::write(dir.join(format!("{name}.{end}")), pem).unwrap();
    }
}

/// Makes an authority, and writes its certificate.
fn authority(dir: &Path, name: &str) -> (Issuer<'static, KeyPair>, CertificateDer<'static>) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap();
    written(dir, name, certificate.der(), key.serialized_der());
    (Issuer::new(params, key), certificate.der().clone())
}

fn issued(issuer: &Issuer<'_, KeyPair>) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    (params.signed_by(&key, issuer).unwrap(), key)
}

#[test]
fn m1_a_cluster_that_wants_certificates_is_not_reached_without_or_with_others() {
    let Some(dir) = std::env::var("SKURD_TEST_CERTIFICATES").ok().filter(|dir| !dir.is_empty()) else {
        return eprintln!("skipped: SKURD_TEST_CERTIFICATES names no certificates");
    };
    let address = fresh_address().expect("SKURD_TEST_PD");
    open(&address).expect("with its own it is");
    let place = address.split('?').next().unwrap();
    let other = tempfile::TempDir::new().unwrap();
    let (issuer, _) = authority(other.path(), "ca");
    let (client, key) = issued(&issuer);
    written(other.path(), "client", client.der(), key.serialized_der());
    let other = other.path().display();
    let told = format!("the store at {place} cannot be reached: ");
    for files in [
        String::new(),
        // It is not whom this authority knows; and it does not know who asks.
        format!("?ca={other}/ca.pem&cert={dir}/client.pem&key={dir}/client.key"),
        format!("?ca={dir}/ca.pem&cert={other}/client.pem&key={other}/client.key"),
    ] {
        let sentence = open(&format!("{place}{files}")).expect_err("opened").to_string();
        assert!(sentence.starts_with(&told) && !sentence.contains('\n'), "{sentence}");
    }
}

#[test]
fn m1_with_certificates_the_cluster_is_spoken_to_in_tls_by_both_sides() {
    let dir = tempfile::TempDir::new().unwrap();
    let (issuer, authority) = authority(dir.path(), "ca");
    let (client, client_key) = issued(&issuer);
    written(dir.path(), "client", client.der(), client_key.serialized_der());

    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(authority).unwrap();
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build().unwrap();
    let (server, server_key) = issued(&issuer);
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
}

#[test]
fn m12_a_store_is_copied_to_the_cluster_and_back() {
    let Some(address) = fresh_address() else { return eprintln!("skipped: {NO_CLUSTER}") };
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

/// Adds a byte to the value: done twice, it shows.
fn longer<'a>(tx: &'a store::Tx, rows: &'a [(Bytes, Bytes)]) -> Working<'a> {
    Box::pin(async move {
        rows.iter().try_for_each(|(key, value)| tx.put(key.clone(), [value, &b"+"[..]].concat()))
    })
}

const LONGER: Step = Step { name: "longer", format: FORMAT, table: 7, run: longer };

#[test]
fn m3_a_store_of_an_older_format_is_upgraded_once_by_all_who_open_it_at_once() {
    let Some(address) = fresh_address() else { return eprintln!("skipped: {NO_CLUSTER}") };
    let prefix = address.parse::<Address>().unwrap().prefix;
    let store = open(&address).unwrap();
    let rows = 300u32;
    runtime().block_on(async {
        for chunk in (0..rows).collect::<Vec<_>>().chunks(100) {
            let tx = store.begin().await.unwrap();
            chunk.iter().for_each(|n| tx.put([&[7][..], &n.to_be_bytes()].concat(), *b"row").unwrap());
            store.commit(&tx).await.unwrap();
        }
        let client = client(&address).await;
        let mut transaction = client.begin_optimistic().await.unwrap();
        let older = format!("skurd-store {}\n", FORMAT - 1);
        transaction.put(format!("{prefix}\0\0FORMAT"), older).await.unwrap();
        transaction.commit().await.unwrap();
    });
    let options = Options { upgrades: Some(&[LONGER]), ..Options::default() };
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| Store::open_cluster(&address.parse().unwrap(), &options).unwrap());
        }
    });
    runtime().block_on(async {
        let tx = store.begin().await.unwrap();
        for n in 0..rows {
            let value = tx.get(&[&[7][..], &n.to_be_bytes()].concat()).await.unwrap();
            assert_eq!(value.as_deref(), Some(&b"row+"[..]), "row {n}");
        }
    });
}

#[test]
fn m1_prefixes_do_not_meet_and_foreign_ones_are_refused() {
    let Some(address) = fresh_address() else { return eprintln!("skipped: {NO_CLUSTER}") };
    let base = format!("p{:016x}", fastrand::u64(..));
    let at = |end: &str| under(&address, &format!("{base}{end}"));
    let [one, other] = ["", "x"].map(|end| open(&at(end)).unwrap());
    runtime().block_on(async {
        let tx = one.begin().await.unwrap();
        tx.put(*b"FORMAT", *b"a row that is called so").unwrap();
        one.commit(&tx).await.unwrap();
        assert!(other.begin().await.unwrap().get(b"FORMAT").await.unwrap().is_none());
        // As nothing of ours would: a row without a format, and a format nobody knows.
        let client = client(&address).await;
        for (key, value) in [("foreign\0\u{1}row", "x"), ("newer\0\0FORMAT", "skurd-store 9\n")] {
            let mut transaction = client.begin_optimistic().await.unwrap();
            transaction.put(format!("{base}{key}"), value.to_owned()).await.unwrap();
            transaction.commit().await.unwrap();
        }
    });
    let foreign = open(&at("foreign")).expect_err("opened");
    assert!(foreign.to_string().contains("was not written by skurd: choose another prefix"), "{foreign}");
    let newer = open(&at("newer")).expect_err("opened");
    assert!(newer.to_string().contains("has format 9, and this program knows formats up to"), "{newer}");
}

/// As the placement driver says when it is asked by HTTP.
fn safe_point(pd: &str) -> u64 {
    let mut stream = TcpStream::connect(pd).unwrap();
    let ask = format!("GET /pd/api/v1/gc/safepoint HTTP/1.1\r\nHost: {pd}\r\nConnection: close\r\n\r\n");
    stream.write_all(ask.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, after) = answer.split_once("\"gc_safe_point\":").unwrap();
    after.trim_start().split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

#[test]
fn m1_one_process_at_a_time_removes_old_versions() {
    let Some(address) = fresh_address() else { return eprintln!("skipped: {NO_CLUSTER}") };
    let place: Address = address.parse().unwrap();
    let store = open(&address).unwrap();
    runtime().block_on(async {
        let client = client(&address).await;
        let put = async |value: &'static [u8]| {
            let tx = store.begin().await.unwrap();
            tx.put(*b"row", value).unwrap();
            store.commit(&tx).await.unwrap();
            client.current_timestamp().await.unwrap()
        };
        let before = put(b"old").await;
        let replaced = put(b"new").await;
        // The placement driver's clock goes in steps.
        while client.current_timestamp().await.unwrap().physical <= replaced.physical {}
        let at_once = Duration::ZERO;
        assert!(store.collect_garbage(1, at_once).await.unwrap(), "it is the first");
        assert!(!store.collect_garbage(2, at_once).await.unwrap(), "the other has the lease");
        // The placement driver knows it, and never goes back.
        assert!(!client.gc(replaced).await.unwrap());
        if place.tls.is_none() {
            let safe = safe_point(&place.placement_drivers[0]);
            assert!(safe > replaced.version(), "{safe} is before {}", replaced.version());
        }
        assert!(store.collect_garbage(1, at_once).await.unwrap(), "the lease is still its own");
        let value = store.begin().await.unwrap().get(b"row").await.unwrap();
        assert_eq!(value.as_deref(), Some(&b"new"[..]));
        if std::env::var_os("SKURD_TEST_CLUSTER").is_none() {
            return eprintln!("skipped: when others remove what they may, is theirs to say");
        }
        // A server of ours asks once a minute what it may remove, and does when it merges what was written.
        let row = format!("{}\0\u{1}row", place.prefix);
        for n in 0..240u32 {
            let read_only = tikv_client::TransactionOptions::new_optimistic().read_only();
            if client.snapshot(before, read_only).get(row.clone()).await.unwrap().is_none() {
                return;
            }
            for part in 0..4 {
                let tx = store.begin().await.unwrap();
                tx.put([&b"more"[..], &n.to_be_bytes(), &[part]].concat(), vec![part; 500_000]).unwrap();
                store.commit(&tx).await.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        panic!("what was replaced is still there");
    });
}
