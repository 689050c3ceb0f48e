//! A4, A5: bodies without their codings, however broken.

use std::io::{Read, Write};

use flate2::Compression;
use net::decode::{Coding, Problem, decoded};
use proptest::prelude::*;

use crate::world::shared;

/// What can be read of a body that says it is coded so, and what is odd about it.
fn read(codings: &str, body: &[u8], max: u64) -> (Vec<u8>, Option<Problem>) {
    let mut decoded = decoded([codings.as_bytes()].into_iter(), body, max);
    let mut all = Vec::new();
    decoded.read_to_end(&mut all).unwrap();
    (all, decoded.problem().cloned())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 1).unwrap()
}

fn page() -> Vec<u8> {
    (0..20_000)
        .flat_map(|n: u32| format!("<a href={n}>{}</a>", n.wrapping_mul(2_654_435_761)).into_bytes())
        .collect()
}

#[test]
fn a4_codings_are_taken_off() {
    let page = page();
    let table = [
        ("gzip", gzip(&page)),
        ("X-GZIP", gzip(&page)),
        ("gzip", [gzip(&page[..100]), gzip(&page[100..])].concat()),
        ("deflate", zlib(&page)),
        ("deflate", deflate(&page)),
        ("zstd", zstd(&page)),
        ("identity", page.clone()),
        ("", page.clone()),
        ("utf-8", page.clone()),
        ("deflate, gzip", gzip(&zlib(&page))),
        ("gzip,zstd , identity, gzip", gzip(&zstd(&gzip(&page)))),
    ];
    for (codings, body) in table {
        assert_eq!(read(codings, &body, 1 << 20), (page.clone(), None), "{codings}");
    }
    let packed = gzip(&zlib(&page));
    let mut two_headers = decoded([&b"deflate"[..], b"gzip"].into_iter(), &*packed, 1 << 20);
    let mut all = Vec::new();
    two_headers.read_to_end(&mut all).unwrap();
    assert_eq!(all, page);
}

#[test]
fn a4_mislabelled_bodies_are_taken_as_they_are() {
    let plain = b"<html>plain".to_vec();
    assert_eq!(read("gzip", &plain, 99), (plain.clone(), Some(Problem::Mislabelled(Coding::Gzip))));
    assert_eq!(read("zstd", &plain, 99), (plain.clone(), Some(Problem::Mislabelled(Coding::Zstd))));
    assert_eq!(
        read("gzip, gzip", &gzip(&plain), 99),
        (plain.clone(), Some(Problem::Mislabelled(Coding::Gzip)))
    );
    assert_eq!(read("sdch", &plain, 99), (plain, Some(Problem::UnknownCoding("sdch".to_owned()))));
    for empty in ["gzip", "br", "zstd", "deflate", ""] {
        assert_eq!(read(empty, b"", 99), (Vec::new(), None), "{empty}: an answer without a body");
    }
    assert_eq!(read("gzip,gzip,gzip,gzip", b"x", 99), (Vec::new(), Some(Problem::TooManyCodings)));
    let wrapped = gzip(b"<urlset>");
    let mut unwrapped = decoded([].into_iter(), &*wrapped, 99).unwrapped(99);
    let mut all = String::new();
    unwrapped.read_to_string(&mut all).unwrap();
    assert_eq!(all, "<urlset>");
}

/// All of a cut body up to the cut, give or take what the decoder had not finished.
#[test]
fn a5_a_cut_body_gives_what_is_there() {
    let page = page();
    for (codings, body) in [
        ("gzip", gzip(&page)),
        ("deflate", zlib(&page)),
        ("deflate", deflate(&page)),
        ("zstd", zstd(&page)),
        ("deflate, gzip", gzip(&zlib(&page))),
    ] {
        for cut in [1, body.len() / 2, body.len() - 1] {
            let (found, problem) = read(codings, &body[..cut], 1 << 20);
            assert!(page.starts_with(&found), "{codings} cut at {cut}");
            assert!(problem.is_some(), "{codings} cut at {cut}");
            if cut == body.len() / 2 {
                assert_eq!(problem, Some(Problem::Truncated), "{codings}");
            }
        }
        let (found, _) = read(codings, &body[..body.len() - 1], 1 << 20);
        assert!(found.len() > page.len() / 2, "{codings}: {} of {}", found.len(), page.len());
    }
}

/// Found by fuzzing: what was unpacked in the same call before the data went wrong was lost, which
/// may be a whole page.
#[test]
fn a5_a_body_that_goes_wrong_gives_what_came_before() {
    let page = page();
    for (coding, body) in [("gzip", gzip(&page)), ("deflate", zlib(&page)), ("deflate", deflate(&page))] {
        let wrong = [&body[..body.len() / 2], &[0xff; 100]].concat();
        let mut before = 0;
        for room in [1 << 20, 1000, 1] {
            let mut decoded = decoded([coding.as_bytes()].into_iter(), &*wrong, 1 << 20);
            let mut found = Vec::new();
            let mut buffer = vec![0; room];
            while let read @ 1.. = decoded.read(&mut buffer).unwrap() {
                found.extend_from_slice(&buffer[..read]);
            }
            assert!(decoded.problem().is_some(), "{coding}");
            assert_eq!(found[..page.len() / 4], page[..page.len() / 4], "{coding} in pieces of {room}");
            assert!(before == 0 || found.len() == before, "{coding} in pieces of {room}");
            before = found.len();
        }
    }
}

#[test]
fn a5_a_bomb_stops_at_the_bound() {
    let bomb = vec![0; 10 << 20];
    let table = [
        ("gzip", gzip(&bomb)),
        ("deflate", zlib(&bomb)),
        ("zstd", zstd(&bomb)),
        ("gzip, gzip", gzip(&gzip(&bomb))),
        ("", bomb.clone()),
    ];
    for (codings, body) in table {
        let (found, problem) = read(codings, &body, 100_000);
        assert_eq!((found.len(), problem), (100_000, Some(Problem::TooLong { max: 100_000 })), "{codings}");
    }
    assert_eq!(read("gzip", &gzip(&bomb[..1000]), 1000), (vec![0; 1000], None), "just as much as allowed");
    // Nothing comes out in the end, but much in between.
    let nothing = gzip(&gzip(b"").repeat(100_000));
    assert_eq!(read("gzip, gzip", &nothing, 1000), (Vec::new(), Some(Problem::TooLong { max: 1000 })));
}

/// The bodies of Scrapy's tests, where they are at hand.
#[test]
fn a4_agrees_with_scrapy() {
    let Some(dir) = shared("html-scrapy/compressed") else { return };
    let file = |name: &str| std::fs::read(dir.join(name)).unwrap();
    let (plain, problem) = read("gzip", &file("html-gzip.bin"), 1 << 20);
    assert!(plain.starts_with(b"<!DOCTYPE HTML") && problem.is_none());
    let same = [
        ("br", "html-br.bin"),
        ("deflate", "html-rawdeflate.bin"),
        ("deflate", "html-zlibdeflate.bin"),
        ("zstd", "html-zstd-static-content-size.bin"),
        ("zstd", "html-zstd-static-no-content-size.bin"),
        ("zstd", "html-zstd-streaming-no-content-size.bin"),
        ("gzip, deflate", "html-gzip-deflate.bin"),
        ("gzip, deflate, gzip", "html-gzip-deflate-gzip.bin"),
    ];
    for (codings, name) in same {
        let (found, problem) = read(codings, &file(name), 1 << 20);
        assert_eq!((found.len() > 10_000, problem), (true, None), "{name}");
    }
    for (codings, name) in [
        ("br", "bomb-br.bin"),
        ("deflate", "bomb-deflate.bin"),
        ("gzip", "bomb-gzip.bin"),
        ("zstd", "bomb-zstd.bin"),
    ] {
        let (found, problem) = read(codings, &file(name), 1 << 20);
        assert_eq!((found.len(), problem), (1 << 20, Some(Problem::TooLong { max: 1 << 20 })), "{name}");
    }
    let (found, problem) = read("gzip", &file("unexpected-eof.gz"), 1 << 20);
    assert_eq!(problem, Some(Problem::Truncated));
    let as_stored: String = found.iter().map(|byte| char::from(*byte)).collect();
    assert_eq!(file("unexpected-eof-output.txt"), as_stored.as_bytes());
    for (name, bytes) in [("truncated-crc-error.gz", 25_542), ("truncated-crc-error-short.gz", 3741)] {
        let (found, problem) = read("gzip", &file(name), 1 << 20);
        assert_eq!((found.len(), problem), (bytes, Some(Problem::Truncated)), "{name}");
        assert!(memchr::memmem::find(&found, b"</body>\n</html").is_some(), "{name}: but for its checksum");
    }
    let (found, problem) = read("gzip", &file("feed-sample1.xml.gz"), 1 << 20);
    assert_eq!((found, problem), (file("feed-sample1.xml"), None));
    let cut = file("html-br.bin");
    let (found, problem) = read("br", &cut[..cut.len() / 2], 1 << 20);
    assert!(!found.is_empty() && problem == Some(Problem::Truncated), "{problem:?}");
}

proptest! {
    #[test]
    fn a11_no_body_makes_it_fail(
        codings in prop::sample::select(vec!["gzip", "deflate", "br", "zstd", "br, gzip", "zstd, deflate", "x"]),
        body in prop::collection::vec(any::<u8>(), 0..200), at in 0usize..400, byte in any::<u8>(),
    ) {
        prop_assert!(read(codings, &body, 500).0.len() <= 500);
        for mut packed in [gzip(&body), zlib(&body), zstd(&body)] {
            let at = at % packed.len();
            packed[at] = byte;
            prop_assert!(read(codings, &packed, 500).0.len() <= 500);
        }
    }
}
