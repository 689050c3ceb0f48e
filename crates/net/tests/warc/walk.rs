//! Files of our own gone through from anywhere, damaged and whole.

use std::fs;
use std::path::{Path, PathBuf};

use net::exchange::Exchange;
use net::warc::{Capture, Compression, Entry, Refers, Revisit, Step, Walk, said_first};
use net::warc::{Digest, Fields, FileSet, FileSettings};
use proptest::prelude::*;

use crate::make::{self, COMPRESSIONS, HEAD, NOON};

/// A file as the archive writes it, what it said of each capture, and where each record is (from
/// the lengths of what was packed, and not by reading it).
struct Written {
    path: PathBuf,
    entries: Vec<Entry>,
    _dir: tempfile::TempDir,
}

fn exchanges() -> Vec<Exchange> {
    let head = |text: &str| text.as_bytes().to_vec();
    let page = |url: &str, head: &[u8], status: u16, body: &[u8]| {
        let mut exchange = make::exchange(url, head, body);
        exchange.head.status = status;
        exchange
    };
    vec![
        page("http://example.com/", HEAD, 200, b"one"),
        page("http://example.com/b c", &head("HTTP/1.1 404 Not\r\n\r\n"), 404, &[b'x'; 90_000]),
        page("https://example.com/?q=\u{e6}", HEAD, 200, b"\x1f\x8b\x08 WARC/1.1\r\n"),
        page("http://example.com/304", &head("HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"), 304, b""),
        page("http://example.com/last", HEAD, 200, b"last"),
    ]
}

fn written(compression: Compression) -> Written {
    let dir = tempfile::tempdir().unwrap();
    let mut described = Fields::new();
    described.add("isPartOf", "a/b \u{e6}").add("software", "skurd");
    let settings = FileSettings {
        dir: dir.path().to_owned(),
        prefix: "t".into(),
        collection: "c".into(),
        host: "h".into(),
        compression,
        bytes_max: u64::MAX,
        age_max: FileSettings::AGE_MAX,
        info: described,
    };
    let mut files = FileSet::new(settings).unwrap();
    files.begin(NOON).unwrap();
    let mut packer = make::packer(compression, 1 << 20, dir.path());
    let mut entries = Vec::new();
    for (number, exchange) in exchanges().iter().enumerate() {
        let refers = Refers { url: "http://example.com/", time: NOON, payload: Digest::of(b"one") };
        let revisit = match (exchange.head.status, number) {
            (304, _) => Some(Revisit::NotModified(refers)),
            (_, 4) => Some(Revisit::SamePayload(refers)),
            _ => None,
        };
        let mut metadata = Fields::new();
        metadata.add("seed", "s");
        let mut group = packer.group(None);
        group.resource("dns:example.com", NOON, "text/dns", b"x", None).unwrap();
        group
            .exchange(exchange, &Capture { revisit, metadata: Some(&metadata), ..Capture::default() })
            .unwrap();
        let group = group.finish();
        let place = files.append(&group).unwrap();
        entries.extend(
            group.entries.into_iter().map(|entry| Entry { offset: entry.offset + place.offset, ..entry }),
        );
    }
    let reached = files.sync().unwrap();
    files.close().unwrap();
    Written { path: dir.path().join(&*reached.file), entries, _dir: dir }
}

/// What is found from a place on, and the stretches that could not be read.
fn found(path: &Path, from: u64) -> (Vec<Entry>, Vec<(u64, u64)>) {
    let mut walk = Walk::new(path, from, None).unwrap();
    let (mut entries, mut damaged, mut at) = (Vec::new(), Vec::new(), from);
    while let Some(step) = walk.next().unwrap() {
        match step {
            Step::Record(record) => {
                assert_eq!(record.extent.offset, at, "nothing is passed over in silence");
                at = record.next;
                if record.digests.problem().is_none() {
                    entries.extend(record.entry);
                }
            }
            Step::Damaged { from, to, .. } => {
                assert!(from == at && to > from, "{from} {to} {at}");
                damaged.push((from, to));
                at = to;
            }
        }
    }
    assert_eq!(at, fs::metadata(path).unwrap().len());
    (entries, damaged)
}

#[test]
fn a13_every_capture_is_read_back_as_it_was_written() {
    for compression in COMPRESSIONS {
        let written = written(compression);
        let (entries, damaged) = found(&written.path, 0);
        assert_eq!((&entries, damaged), (&written.entries, vec![]));
        assert_eq!(entries.iter().map(|entry| entry.status).collect::<Vec<_>>()[7], Some(304));
        let third = written.entries[2].offset;
        assert_eq!(found(&written.path, third).0, &written.entries[2..], "from the middle on");
        assert_eq!(said_first(&written.path, &["ispartof"]).unwrap().as_deref(), Some("a/b \u{e6}"));
        assert_eq!(said_first(&written.path, &["seed", "nothing"]).unwrap().as_deref(), Some("s"));
        assert_eq!(said_first(&written.path, &["WARC-Type"]).unwrap(), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A13: whatever is not hit by the damage is found, in front of it and behind it, and nothing else is.
    #[test]
    fn a13_captures_around_damage_are_found(
        compression in prop::sample::select(&COMPRESSIONS[..]),
        holes in prop::collection::vec((any::<prop::sample::Index>(), 1usize..3000, any::<bool>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let written = written(compression);
        let mut bytes = fs::read(&written.path).unwrap();
        let whole = bytes.clone();
        for (at, length, zero) in holes {
            let at = at.index(bytes.len());
            let end = (at + length).min(bytes.len());
            bytes[at..end].iter_mut().for_each(|byte| *byte = if zero { 0 } else { !*byte });
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        fs::write(&written.path, &bytes).unwrap();
        let (entries, _) = found(&written.path, 0);
        let is_whole = |entry: &&Entry| {
            let range = usize::try_from(entry.offset).unwrap()..usize::try_from(entry.offset + entry.length).unwrap();
            bytes.get(range.clone()) == whole.get(range)
        };
        for entry in written.entries.iter().filter(is_whole) {
            // A plain record in front of which the length is damaged may lie in what is taken for its block.
            prop_assert!(entries.contains(entry) || compression == Compression::None, "{entry:?}");
        }
        for entry in &entries {
            prop_assert!(written.entries.contains(entry) || compression == Compression::None, "{entry:?}");
        }
    }
}
