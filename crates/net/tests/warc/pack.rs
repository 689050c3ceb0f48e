//! Groups of records: what is in them, and that it comes back.

use net::exchange::Truncated;
use net::warc::digest::{self, Digest};
use net::warc::{Capture, Compression, Fields, Kind, Prepared, Reader, Refers, Revisit};
use policy::time::Time;
use proptest::prelude::*;

use crate::make::{self, COMPRESSIONS, HEAD, NOON, bytes};

/// The fields and the block of a record.
type Record = (Vec<(String, String)>, Vec<u8>);

fn records(archive: &[u8]) -> Vec<Record> {
    let mut reader = Reader::new(archive).unwrap();
    let mut records = Vec::new();
    while let Some(head) = reader.next().unwrap() {
        assert_eq!(head.version, "WARC/1.1");
        let mut block = Vec::new();
        while let Some(piece) = reader.piece().unwrap() {
            block.extend_from_slice(piece);
        }
        records.push((head.fields, block));
    }
    records
}

fn sound(archive: &[u8]) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::fs::write(&path, archive).unwrap();
    net::warc::check(&path).unwrap().is_sound()
}

fn show(fields: &[(String, String)]) -> String {
    let id = |value: &str| value.starts_with("<urn:uuid:");
    let line =
        |(name, value): &(String, String)| format!("{name}: {}\n", if id(value) { "ID" } else { value });
    fields.iter().map(line).collect()
}

fn one(compression: Compression, capture: &Capture<'_>, truncated: Option<Truncated>) -> Prepared {
    let dir = tempfile::tempdir().unwrap();
    let mut exchange = make::exchange("https://example.com/a", HEAD, b"<p>hello");
    exchange.truncated = truncated;
    let mut packer = make::packer(compression, 1 << 20, dir.path());
    let mut group = packer.group(Some("<urn:uuid:info>"));
    group.exchange(&exchange, capture).unwrap();
    group.finish()
}

#[test]
fn a8_an_exchange_becomes_response_request_and_metadata() {
    let mut metadata = Fields::new();
    metadata.add("seed", "https://example.com/").outlink("https://example.com/b c", 'L', "a/@href");
    let capture = Capture { metadata: Some(&metadata), ..Capture::default() };
    let group = one(Compression::None, &capture, Some(Truncated::Length));
    let records = records(&bytes(&group));
    let shown: Vec<String> = records.iter().map(|(fields, _)| show(fields)).collect();
    let expected = [
        "WARC-Type: response\nWARC-Record-ID: ID\nWARC-Date: 2024-02-29T12:34:56.789Z\n\
         WARC-Target-URI: https://example.com/a\nWARC-IP-Address: 192.0.2.7\n\
         WARC-Payload-Digest: sha1:PAYLOAD\nWARC-Protocol: http/1.1\n\
         WARC-Protocol: tls/1.3\nWARC-Cipher-Suite: TLS_AES_128_GCM_SHA256\nWARC-Truncated: length\n\
         WARC-Warcinfo-ID: ID\nWARC-Block-Digest: sha1:BLOCK\n\
         Content-Type: application/http; msgtype=response\nContent-Length: LEN\n",
        "WARC-Type: request\nWARC-Record-ID: ID\nWARC-Date: 2024-02-29T12:34:56.789Z\n\
         WARC-Target-URI: https://example.com/a\nWARC-IP-Address: 192.0.2.7\nWARC-Concurrent-To: ID\n\
         WARC-Warcinfo-ID: ID\nWARC-Block-Digest: sha1:BLOCK\n\
         Content-Type: application/http; msgtype=request\nContent-Length: LEN\n",
        "WARC-Type: metadata\nWARC-Record-ID: ID\nWARC-Date: 2024-02-29T12:34:56.789Z\n\
         WARC-Target-URI: https://example.com/a\nWARC-Concurrent-To: ID\nWARC-Warcinfo-ID: ID\n\
         WARC-Block-Digest: sha1:BLOCK\nContent-Type: application/warc-fields\nContent-Length: LEN\n",
    ];
    for ((shown, expected), (_, block)) in shown.iter().zip(expected).zip(&records) {
        let block_digest = Digest::of(block).to_string();
        let payload = Digest::of(b"<p>hello").to_string();
        let length = format!("Content-Length: {}", block.len());
        let expected = expected.replace("sha1:BLOCK", &block_digest).replace("Content-Length: LEN", &length);
        assert_eq!(*shown, expected.replace("sha1:PAYLOAD", &payload));
    }
    assert_eq!(records.len(), 3);
    assert_eq!(
        records[2].1,
        b"seed: https://example.com/\r\noutlink: https://example.com/b%20c L a/@href\r\n"
    );
    let id = |i: usize, name: &str| records[i].0.iter().find(|(have, _)| have == name).unwrap().1.clone();
    for later in [1, 2] {
        assert_eq!(id(later, "WARC-Concurrent-To"), id(0, "WARC-Record-ID"));
        assert_ne!(id(later, "WARC-Record-ID"), id(0, "WARC-Record-ID"));
    }
}

#[test]
fn a8_a_revisit_holds_the_head_and_refers_to_the_payload() {
    let original = Digest::of(b"the original");
    let refers = Refers { url: "http://example.com/before", time: Time(NOON.0 - 1000), payload: original };
    let cases = [
        (Revisit::SamePayload(refers), "identical-payload-digest", HEAD, true),
        (Revisit::NotModified(refers), "server-not-modified", b"".as_slice(), false),
    ];
    for (revisit, profile, expected, truncated) in cases {
        let group =
            one(Compression::Gzip(1), &Capture { revisit: Some(revisit), ..Capture::default() }, None);
        let archive = bytes(&group);
        let (fields, block) = records(&archive).remove(0);
        let fields = show(&fields);
        assert_eq!(block, expected);
        for line in [
            "WARC-Type: revisit",
            &format!("WARC-Profile: http://netpreserve.org/warc/1.1/revisit/{profile}"),
            "WARC-Refers-To-Target-URI: http://example.com/before",
            "WARC-Refers-To-Date: 2024-02-29T12:34:55.789Z",
            &format!("WARC-Payload-Digest: {original}"),
        ] {
            assert!(fields.lines().any(|have| have == line), "{line} in {fields}");
        }
        assert_eq!(fields.contains("WARC-Truncated: length"), truncated);
        assert_eq!(
            (group.entries[0].kind, group.entries[0].digest.clone()),
            (Kind::Revisit, original.to_string())
        );
        assert!(sound(&archive));
    }
}

#[test]
fn a8_only_captures_have_entries() {
    let dir = tempfile::tempdir().unwrap();
    let mut packer = make::packer(Compression::Gzip(1), 1 << 20, dir.path());
    let mut group = packer.group(None);
    let answer = b"20240229123456\r\nexample.com.\t300\tIN\tA\t192.0.2.7\r\n";
    let server = Some("192.0.2.53".parse().unwrap());
    group.resource("dns:example.com", NOON, "text/dns", answer, server).unwrap();
    let robots = make::exchange("http://example.com/robots.txt", HEAD, b"User-agent: *\n");
    group.exchange(&robots, &Capture::default()).unwrap();
    let prepared = group.finish();
    let entries: Vec<_> =
        prepared.entries.iter().map(|e| (e.surt.as_str(), e.status, e.mime.as_deref())).collect();
    let expected = [
        ("dns:example.com", None, Some("text/dns")),
        ("com,example)/robots.txt", Some(200), Some("text/html")),
    ];
    assert_eq!(entries, expected);
    assert_eq!(records(&bytes(&prepared)).len(), 3);
}

#[test]
fn a8_line_ends_in_values_stay_inside_them() {
    let evil = "x\r\nWARC-Type: response\r\n\r\nHTTP/1.1 200 OK\r\n\r\n<script>";
    let dir = tempfile::tempdir().unwrap();
    let mut metadata = Fields::new();
    metadata.add(evil, evil).outlink(evil, 'L', evil);
    let mut exchange = make::exchange(&format!("http://example.com/{evil}"), HEAD, b"");
    if let Some(tls) = &mut exchange.tls {
        (tls.version, tls.cipher) = (evil.to_owned(), evil.to_owned());
    }
    let refers = Refers { url: evil, time: NOON, payload: Digest::of(b"") };
    let revisit = Some(Revisit::SamePayload(refers));
    let mut packer = make::packer(Compression::None, 1 << 20, dir.path());
    let mut group = packer.group(Some(evil));
    group.exchange(&exchange, &Capture { revisit, metadata: Some(&metadata), ..Capture::default() }).unwrap();
    group.resource(evil, NOON, evil, b"", None).unwrap();
    let prepared = group.finish();
    let records = records(&bytes(&prepared));
    let kinds: Vec<_> = records.iter().map(|(fields, _)| fields[0].1.as_str()).collect();
    assert_eq!(kinds, ["revisit", "request", "metadata", "resource"]);
    assert_eq!(records[2].1.iter().filter(|byte| **byte == b'\n').count(), 2);
    for entry in &prepared.entries {
        assert!(!net::cdx::line_of(entry, "a.warc", 0).trim_end().contains('\n'));
    }
}

#[test]
fn a8_large_bodies_go_through_files() {
    let dir = tempfile::tempdir().unwrap();
    let body: Vec<u8> = (0..3_000_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let exchange = make::spilled("http://example.com/big", HEAD, &body, dir.path());
    let payload = digest::payload(&exchange).unwrap();
    assert_eq!(payload, Digest::of(&body));
    for compression in COMPRESSIONS {
        for known in [None, Some(payload)] {
            let mut packer = make::packer(compression, 1000, dir.path());
            let mut group = packer.group(None);
            group.exchange(&exchange, &Capture { payload: known, ..Capture::default() }).unwrap();
            let prepared = group.finish();
            assert!(prepared.bytes.in_memory().is_none());
            let archive = bytes(&prepared);
            assert!(records(&archive)[0].1 == [HEAD, &body].concat());
            assert_eq!(prepared.entries[0].digest, payload.to_string());
            assert!(sound(&archive));
        }
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Written and read again, each record is the same, its digests are right, and it can be read from where its entry says.
    #[test]
    fn a8_what_is_written_can_be_read(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 1..5),
        compression in prop::sample::select(&COMPRESSIONS[..]),
        memory_bytes_max in prop::sample::select(vec![0_usize, 500, 1 << 20]),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut packer = make::packer(compression, memory_bytes_max, dir.path());
        let mut group = packer.group(None);
        for (i, body) in bodies.iter().enumerate() {
            let url = format!("http://example.com/{i}");
            let exchange = if i % 2 == 0 {
                make::exchange(&url, HEAD, body)
            } else {
                make::spilled(&url, HEAD, body, dir.path())
            };
            group.exchange(&exchange, &Capture::default()).unwrap();
        }
        let prepared = group.finish();
        let archive = bytes(&prepared);
        prop_assert!(sound(&archive));
        let records = records(&archive);
        prop_assert_eq!(records.len(), bodies.len() * 2);
        for (i, (body, entry)) in bodies.iter().zip(&prepared.entries).enumerate() {
            prop_assert_eq!(&records[i * 2].1, &[HEAD, body].concat());
            prop_assert_eq!(&entry.digest, &Digest::of(body).to_string());
            let from = usize::try_from(entry.offset).unwrap();
            let to = from + usize::try_from(entry.length).unwrap();
            let mut reader = Reader::new(&archive[from..to]).unwrap();
            let head = reader.next().unwrap().unwrap();
            prop_assert_eq!(head.target_uri().unwrap(), entry.url.clone());
            prop_assert_eq!(head.time().unwrap(), entry.time);
            let (extent, _) = reader.verify(&head).unwrap();
            prop_assert_eq!((extent.offset, extent.length, extent.seekable), (0, entry.length, true));
            prop_assert!(reader.next().unwrap().is_none());
        }
    }
}
