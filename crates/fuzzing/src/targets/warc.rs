//! Archive files of anybody's making (A8, A11): reading ends, places are where they say, and a
//! record that an index may point to can be read from there.

use std::fs;
use std::io::Read;
use std::net::SocketAddr;

use net::exchange::{Exchange, Framing, Head, Recording};
use net::warc::{
    Capture, Compression, PackSettings, Packer, ReadError, Reader, Step, Walk, check, said_first,
};
use net::{cdx, warc};
use policy::time::{Span, Time};

use crate::{Seeds, Target, Trickle};

/// Of compressed bytes much may come; of plain ones no more records than bytes.
const STEPS_MAX: usize = 20_000;
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

pub const WARC: Target = Target {
    name: "warc",
    run: warc,
    seeds,
    words: &[
        "WARC/1.0\r\n",
        "WARC/1.1\r\n",
        "warc/1.0\n",
        "Content-Length: ",
        "WARC-Type: response\r\n",
        "WARC-Type: revisit\r\n",
        "WARC-Target-URI: <http://a.no/ b>\r\n",
        "WARC-Date: 2024-02-29T12:34:56Z\r\n",
        "WARC-Payload-Digest: sha1:",
        "\r\n\r\n",
        "\n\n",
        " folded\r\n",
        "HTTP/1.1 200 OK\r\n",
        "Content-Type: text/html\r\n",
        "filedesc://",
    ],
    runs: 2000,
};

fn exchange(url: &str, head: &str, body: &[u8]) -> Exchange {
    let response = [head.as_bytes(), body].concat();
    Exchange {
        url: url.to_owned(),
        at: Time(1_709_210_096_789),
        remote: SocketAddr::from(([192, 0, 2, 7], 443)),
        request: b"GET / HTTP/1.1\r\nHost: a.no\r\n\r\n".to_vec(),
        response: Recording::from_bytes(response),
        head: Head { status: 200, headers: Vec::new(), bytes: head.len() },
        framing: Framing::Plain,
        truncated: None,
        tls: None,
        first_byte: Span(12),
        total: Span(34),
    }
}

fn seeds(seeds: &mut Seeds) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n";
    for compression in [Compression::None, Compression::Gzip(1), Compression::Zstd(3)] {
        let settings =
            PackSettings { compression, memory_bytes_max: 1 << 20, spill_dir: std::env::temp_dir() };
        let mut packer = Packer::new(settings).unwrap();
        let mut bytes = Vec::new();
        for (url, body) in [("http://a.no/", &b"<a href=x>x</a>"[..]), ("https://b.no/y?z", b"")] {
            let mut group = packer.group(None);
            group.exchange(&exchange(url, head, body), &Capture::default()).unwrap();
            group.finish().bytes.reader(0).read_to_end(&mut bytes).unwrap();
        }
        seeds.add(bytes);
    }
    seeds.each(&[
        "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n",
        "WARC/1.0\nContent-Length: 1\n\nx\n\n\nWARC/1.0\nContent-Length: 9999\n\ny\nWARC/1.1\nContent-Length: 0\n\n",
    ]);
    for dir in [
        "warc-warcio",
        "warc-cdxj-indexer",
        "warc-jwarc",
        "warc-stormcrawler",
        "warc-resiliparse",
        "ia-web-commons/format",
    ] {
        seeds.shared(dir, &[".warc", ".gz", ".zst", ".arc"], "");
    }
}

/// What was read of one record.
#[derive(Debug, PartialEq)]
struct Read1 {
    offset: u64,
    fields: Vec<(String, String)>,
    block: Vec<u8>,
    extent: Option<(u64, u64, bool)>,
}

/// Every record, and how many problems there were.
fn all(input: &[u8], step: usize) -> Option<(Vec<Read1>, usize)> {
    let mut reader = Reader::new(Trickle::new(input, step)).ok()?;
    let (mut records, mut problems) = (Vec::new(), 0);
    for steps in 0.. {
        if steps > STEPS_MAX {
            return None;
        }
        let head = match reader.next() {
            Ok(Some(head)) => head,
            Ok(None) => break,
            Err(ReadError::Io(error)) => panic!("bytes in memory cannot fail: {error}"),
            Err(_) => {
                problems += 1;
                assert!(problems <= input.len() + 1, "more problems than bytes");
                continue;
            }
        };
        let mut block = Vec::new();
        let mut ended = true;
        loop {
            match reader.piece() {
                Ok(Some(piece)) => {
                    assert!(!piece.is_empty(), "it would never end");
                    block.extend_from_slice(piece);
                }
                Ok(None) => break,
                Err(_) => {
                    (ended, problems) = (false, problems + 1);
                    break;
                }
            }
        }
        assert!(block.len() as u64 <= head.block_bytes);
        let extent = if ended { reader.end().ok() } else { None };
        // How far a member was read that holds several records depends on the pieces, and nobody may rely
        // on it.
        let length = |extent: &warc::Extent| if extent.seekable { extent.length } else { 0 };
        let extent = extent.map(|extent| (extent.offset, length(&extent), extent.seekable));
        records.push(Read1 { offset: head.offset, fields: head.fields, block, extent });
    }
    assert!(reader.next().is_ok_and(|head| head.is_none()), "it ended once, and goes on");
    Some((records, problems))
}

fn warc(input: &[u8]) {
    let Some((records, problems)) = all(input, usize::MAX) else { return };
    let (slowly, slow_problems) = all(input, 5).expect("it was read before");
    // Where zstd meets what is wrong, it keeps to itself what it had unpacked by then.
    if problems == 0 || !input.starts_with(&ZSTD) {
        assert_eq!((&slowly, slow_problems), (&records, problems), "in pieces of 5 bytes");
    }
    let mut end = 0;
    for record in &records {
        let Some((offset, length, seekable)) = record.extent else { continue };
        assert!(offset + length <= input.len() as u64, "it lies beyond the end");
        if !seekable {
            continue;
        }
        assert!(offset >= end && length > 0, "records lie in each other");
        end = offset + length;
        let from = &input[usize::try_from(offset).unwrap()..usize::try_from(end).unwrap()];
        let (again, _) = all(from, usize::MAX).expect("an index may point to it");
        let first = again.first().expect("an index may point to it");
        assert_eq!(
            (&first.fields, &first.block),
            (&record.fields, &record.block),
            "from where it is said to be"
        );
        assert_eq!(again.len(), 1);
    }
    let mut lines = 0;
    let indexed = cdx::index(
        input,
        "f.warc",
        |line| {
            lines += 1;
            assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "{line:?}");
            assert!(line.contains(" {"), "{line:?}");
        },
        |_, reason| assert!(!reason.contains('\n'), "{reason:?}"),
    );
    assert!(lines == 0 || indexed.is_ok());
    on_disk(input);
}

/// The same as a file of the archive, past damage.
fn on_disk(input: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let suffix = match input {
        [0x1f, 0x8b, ..] => ".gz",
        _ if input.starts_with(&ZSTD) => ".zst",
        _ => "",
    };
    let path = dir.path().join(format!("f.warc{suffix}"));
    fs::write(&path, input).unwrap();
    let mut walk = Walk::new(&path, 0, None).unwrap();
    let mut at = 0;
    while let Some(step) = walk.next().unwrap() {
        let (from, to) = match step {
            Step::Damaged { from, to, reason } => {
                assert!(!reason.contains('\n'), "{reason:?}");
                (from, to)
            }
            Step::Record(record) => {
                let warc::Extent { offset, length, seekable } = record.extent;
                assert!(seekable && offset + length <= record.next);
                if let Some(entry) = &record.entry {
                    assert_eq!((entry.offset, entry.length), (offset, length));
                    assert_eq!(cdx::line_of(entry, "f.warc", 0).matches('\n').count(), 1);
                }
                (offset, record.next)
            }
        };
        assert!(from >= at && to > from && to <= input.len() as u64, "{from}–{to} after {at}");
        at = to;
    }
    let _ = check(&path);
    let said = said_first(&path, &["isPartOf"]).unwrap();
    assert!(said.is_none_or(|said| !said.contains(['\n'])));
}
