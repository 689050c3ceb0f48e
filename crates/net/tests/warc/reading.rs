//! Files that others wrote, well and badly.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;

use flate2::write::GzEncoder;
use net::warc::{Capture, Compression, ReadError, Reader, check};
use proptest::prelude::*;

use crate::make::{self, HEAD, bytes};

/// The own copy of a file, or the shared one; none if there is neither.
fn data(name: &str) -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let own = root.join("tests/data/warc").join(name.replace('/', "--"));
    let found = [own, root.join("../../../shared/data").join(name)].into_iter().find(|path| path.exists());
    if found.is_none() {
        println!("skipped, not here: {name}");
    }
    found
}

/// How many records, how many right digests, and the first problem.
type Expected = Result<(u64, u64, &'static str), &'static str>;

const FILES: &[(&str, Expected)] = &[
    ("warc-warcio/example.warc", Ok((6, 3, ""))),
    ("warc-warcio/example.warc.gz", Ok((6, 7, ""))),
    ("warc-warcio/example-resource.warc.gz", Ok((3, 2, ""))),
    ("warc-warcio/example-space-in-target-uri.warc.gz", Ok((2, 1, ""))),
    ("warc-warcio/example-wget-bad-target-uri.warc.gz", Ok((6, 7, ""))),
    ("warc-warcio/example-digest.warc", Ok((4, 7, "wrong payload digest: sha1:1112H3"))),
    ("warc-warcio/example-iana.org-chunked.warc", Ok((3, 3, ""))),
    ("warc-warcio/example-trunc.warc", Ok((4, 0, "wrong block digest: sha1:DR5M"))),
    (
        "warc-warcio/example-bad-non-chunked.warc.gz",
        Ok((6, 2, "more than one record in a compressed member")),
    ),
    ("warc-warcio/example-bad.warc.gz.bad", Ok((6, 2, "more than one record in a compressed member"))),
    ("warc-warcio/example-wrong-chunks.warc.gz", Ok((2, 2, "its block ends 1270 bytes too soon"))),
    ("warc-warcio/post-test.warc.gz", Ok((6, 9, ""))),
    ("warc-warcio/example.arc", Err("an ARC file")),
    ("warc-warcio/example.arc.gz", Err("an ARC file")),
    ("warc-warcio/bad.arc", Err("an ARC file")),
    ("warc-cdxj-indexer/missing-http.warc.gz", Ok((2, 3, "wrong payload digest"))),
    ("warc-cdxj-indexer/post-test-more.warc", Ok((6, 12, ""))),
    ("warc-cdxj-indexer/cc.warc.gz", Ok((3, 2, ""))),
    ("warc-jwarc/gzip_extra_sl.warc.gz", Ok((1, 1, ""))),
    ("warc-jwarc/cc.warc.gz", Ok((1, 2, ""))),
    ("warc-resiliparse/block-sized-records.warc", Ok((3, 0, ""))),
    ("warc-resiliparse/block-sized-records.warc.gz", Ok((3, 0, ""))),
    ("warc-resiliparse/block-sized-records.warc.lz4", Err("LZ4")),
    ("warc-resiliparse/warcfile.warc.lz4", Err("LZ4")),
    ("warc-resiliparse/warcfile.warc", Ok((50, 32, ""))),
    ("warc-resiliparse/warcfile.warc.gz", Ok((50, 32, ""))),
    ("warc-resiliparse/clipped.warc.gz", Ok((1, 0, "the file ends inside a compressed record"))),
    ("warc-resiliparse/clueweb-quirk.warc.gz", Ok((30, 29, "no WARC-Date that is a date"))),
    ("warc-stormcrawler/test.warc.gz", Ok((42, 0, ""))),
    ("warc-stormcrawler/unparsable-date.warc.gz", Ok((3, 2, "more than one record in a compressed member"))),
    ("warc-stormcrawler/warc.inputs", Err("it begins with \"src/test")),
];

#[test]
fn a11_files_of_others_are_read_as_far_as_they_go() {
    let mut wrong = String::new();
    for (name, expected) in FILES {
        let Some(path) = data(name) else { continue };
        let got = check(&path);
        let fits = match (&got, expected) {
            (Ok(report), Ok((records, digests, problem))) => {
                let first = report.problems.first().map_or("", |problem| problem.reason.as_str());
                report.records_total() == *records
                    && report.digests_right == *digests
                    && first.contains(problem)
                    && (problem.is_empty() == first.is_empty())
            }
            (Err(error), Err(text)) => error.to_string().contains(text),
            _ => false,
        };
        if !fits {
            let got = got.map(|report| (report.records_total(), report.digests_right, report.problems));
            wrong += &format!("{name}: {got:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn archive(compression: Compression) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let mut packer = make::packer(compression, 1 << 20, dir.path());
    let mut group = packer.group(None);
    for body in [&b"one"[..], b"two", b""] {
        group.exchange(&make::exchange("http://example.com/", HEAD, body), &Capture::default()).unwrap();
    }
    bytes(&group.finish())
}

/// Blocks read to their end, and what went wrong.
fn read_all(archive: &[u8]) -> (usize, Vec<ReadError>) {
    let (mut whole, mut errors) = (0, Vec::new());
    let mut reader = match Reader::new(archive) {
        Ok(reader) => reader,
        Err(error) => return (0, vec![error]),
    };
    loop {
        match reader.next().and_then(|head| head.map(|head| reader.verify(&head)).transpose()) {
            Ok(Some(_)) => whole += 1,
            Ok(None) => return (whole, errors),
            Err(error) => errors.push(error),
        }
        assert!(whole + errors.len() <= archive.len() + 1, "it does not end");
    }
}

#[test]
fn a11_a_file_cut_anywhere_gives_what_is_before_the_cut() {
    for compression in make::COMPRESSIONS {
        let archive = archive(compression);
        let mut ends = Vec::new();
        let mut reader = Reader::new(&archive[..]).unwrap();
        while reader.next().unwrap().is_some() {
            let extent = reader.end().unwrap();
            ends.push(usize::try_from(extent.offset + extent.length).unwrap());
        }
        assert_eq!(ends.len(), 6);
        for cut in 0..=archive.len() {
            let (whole, errors) = read_all(&archive[..cut]);
            let expected = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!(whole, expected, "{compression:?} cut at {cut}");
            let between = cut == 0 || archive[..cut].ends_with(b"\n\r\n") || ends.contains(&cut);
            let blank = |from: &usize| archive[*from..cut].iter().all(|byte| matches!(byte, b'\r' | b'\n'));
            let sound = between || ends.iter().filter(|end| **end <= cut).any(blank);
            assert!(sound || errors.len() == 1, "{compression:?} cut at {cut}: {errors:?}");
        }
    }
}

#[test]
fn a11_a_file_compressed_as_a_whole_is_read_but_not_seekable() {
    let plain = archive(Compression::None);
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    for whole in [gzip.finish().unwrap(), zstd::encode_all(&plain[..], 3).unwrap()] {
        let mut reader = Reader::new(&whole[..]).unwrap();
        let mut extents = Vec::new();
        while reader.next().unwrap().is_some() {
            extents.push(reader.end().unwrap());
        }
        assert_eq!(extents.len(), 6);
        assert!(extents.iter().all(|extent| !extent.seekable && extent.offset == 0));
    }
}

#[test]
fn a11_records_of_several_frames_and_frames_to_skip_are_read() {
    let plain = archive(Compression::None);
    let second = plain.windows(8).skip(1).position(|window| window == b"WARC/1.1").unwrap() + 1;
    let frame = |bytes: &[u8]| zstd::encode_all(bytes, 3).unwrap();
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    for cut in [1, 20, 300, second - 10, second - 2] {
        let pieces =
            [frame(&plain[..cut]), skippable.to_vec(), frame(&plain[cut..second]), frame(&plain[second..])];
        let mut archive = pieces.concat();
        let (whole, errors) = read_all(&archive);
        assert_eq!((whole, errors.len()), (6, 0), "cut at {cut}: {errors:?}");
        archive.extend(skippable);
        assert_eq!(read_all(&archive).0, 6);
    }
    let dictionary = [[0x5d, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3].to_vec(), frame(&plain)].concat();
    assert!(read_all(&dictionary).1[0].to_string().contains("dictionary"));
}

#[test]
fn a11_odd_records_are_read_and_broken_ones_passed_over() {
    let good = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: <http://a/b c>\r\nContent-Length: 2\r\n\r\nok\r\n\r\n";
    let lines = good.replace("\r\n", "\n");
    let cases: [(String, usize, &str); 9] = [
        (format!("{good}{good}"), 2, ""),
        (format!("\r\n\r\n{lines}\n\n\n{lines}"), 2, ""),
        (good.trim_end().to_owned(), 1, ""),
        (good.replace("\r\n\r\nok\r\n\r\n", "\r\n\r\nok") + good, 2, ""),
        (format!("{good}junk\r\nmore junk\r\n{good}"), 2, "no record where one should begin, but \"junk\""),
        (good.replace("Length: 2", "Length: two") + good, 1, "no Content-Length"),
        (good.replace("Content-Length: 2\r\n", "") + good, 1, "no Content-Length"),
        (good.replace("Length: 2", "Length: 200"), 0, "too soon"),
        (format!("{good}WARC/1.1\r\nA: {}\r\n\r\n{good}", "x".repeat(300_000)), 2, "too long"),
    ];
    for (archive, records, problem) in cases {
        let (whole, errors) = read_all(archive.as_bytes());
        let shown: String = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            (whole, shown.contains(problem), shown.is_empty()),
            (records, true, problem.is_empty()),
            "{shown}"
        );
    }
    let mut reader = Reader::new(good.as_bytes()).unwrap();
    let head = reader.next().unwrap().unwrap();
    assert_eq!(head.target_uri().as_deref(), Some("http://a/b%20c"));
    let mut block = String::new();
    reader.read_to_string(&mut block).unwrap();
    assert_eq!(block, "ok");
}

/// What other tools wrote: each is the same record.
#[test]
fn a11_small_letters_and_folded_lines_are_read_as_what_they_say() {
    let plain = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/b\r\nContent-Length: 2\r\n\r\nok\r\n\r\n";
    let cases = [
        plain.to_owned(),
        plain.replace("WARC/1.0", "warc/1.0"),
        plain.replace("WARC/1.0", "Warc/1.1"),
        plain.replace("WARC-", "warc-").replace("Content", "content"),
        plain.replace(": ", ":\r\n "),
        plain.replace(": ", ":\r\n\t \t"),
        plain.replace(": ", ": \n  "),
    ];
    for case in cases {
        // Behind junk, too, the next record is found.
        let archive = format!("{case}junk\r\n{case}");
        let mut reader = Reader::new(archive.as_bytes()).unwrap();
        for junk in [true, false] {
            let head = reader.next().unwrap().unwrap();
            let told = (head.kind().to_owned(), head.target_uri(), head.block_bytes);
            assert_eq!(told, ("response".to_owned(), Some("http://a/b".to_owned()), 2), "{case:?}");
            reader.end().unwrap();
            assert!(!junk || reader.next().is_err(), "{case:?}");
        }
        assert!(reader.next().unwrap().is_none());
    }
}

#[test]
fn a11_a_bomb_is_no_head() {
    let mut gzip = GzEncoder::new(b"".to_vec(), flate2::Compression::best());
    gzip.write_all(b"WARC/1.1\r\nA: ").unwrap();
    for _ in 0..500 {
        gzip.write_all(&[b'x'; 100_000]).unwrap();
    }
    let (whole, errors) = read_all(&gzip.finish().unwrap());
    assert_eq!((whole, errors.len()), (0, 1));
    assert!(errors[0].to_string().contains("too long"));
}

#[test]
fn a8_wrong_digests_and_checksums_are_found() {
    let good = archive(Compression::None);
    let text = String::from_utf8_lossy(&good).into_owned();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.warc");
    fs::write(&path, good.iter().map(|byte| if *byte == b'w' { b'v' } else { *byte }).collect::<Vec<_>>())
        .unwrap();
    assert!(text.contains("two"));
    let report = check(&path).unwrap();
    let problems: Vec<_> = report.problems.iter().map(|problem| &problem.reason[..20]).collect();
    assert_eq!(problems, ["wrong block digest: ", "wrong payload digest"]);

    for compression in [Compression::Gzip(6), Compression::Zstd(3)] {
        let mut broken = archive(compression);
        let last = broken.len() - 6;
        broken[last] ^= 1;
        let (whole, errors) = read_all(&broken);
        assert_eq!((whole, errors.len()), (5, 1), "{errors:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a11_no_damage_makes_the_reader_fall_or_hang(
        compression in prop::sample::select(&make::COMPRESSIONS[..]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut archive = archive(compression);
        for (at, byte) in changes {
            let at = at.index(archive.len());
            archive[at] = byte;
        }
        archive.truncate(cut.index(archive.len() * 2));
        read_all(&archive);
        let (mut lines, mut broken) = (0, 0);
        let _ = net::cdx::index(&archive[..], "a", |_| lines += 1, |_, _| broken += 1);
        prop_assert!(lines <= 6);
    }

    #[test]
    fn a11_no_bytes_make_the_reader_fall_or_hang(bytes in prop::collection::vec(any::<u8>(), 0..400), kind in 0..4) {
        let prefix: &[u8] = match kind {
            0 => b"",
            1 => b"WARC/1.1\r\n",
            2 => &[0x1f, 0x8b, 8],
            _ => &[0x28, 0xb5, 0x2f, 0xfd],
        };
        read_all(&[prefix, &bytes].concat());
    }
}
