//! Content codings (A4, A5): reading never fails, never gives more than allowed, and gives the same
//! in whatever pieces. The first line is `Content-Encoding`.

use std::io::{Read, Write};

use net::decode::{Problem, decoded};

use crate::{Seeds, Target, Trickle, first_line};

const BYTES_MAX: u64 = 20_000;

pub const DECODE: Target = Target {
    name: "decode",
    run: decode,
    seeds,
    words: &["gzip", "deflate", "br", "zstd", "identity", ", ", "\x1f\u{8b}", "(\u{b5}/\u{fd}", "x-gzip"],
    runs: 3000,
};

fn seeds(seeds: &mut Seeds) {
    let text = b"All work and no play makes Jack a dull boy. ".repeat(20);
    let gzip = |text: &[u8]| {
        let mut coder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        coder.write_all(text).unwrap();
        coder.finish().unwrap()
    };
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    zlib.write_all(&text).unwrap();
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    deflate.write_all(&text).unwrap();
    let zstd = zstd::encode_all(&text[..], 1).unwrap();
    seeds.add([&b"gzip\n"[..], &gzip(&text)].concat());
    seeds.add([&b"gzip, gzip\n"[..], &gzip(&gzip(&text))].concat());
    seeds.add([&b"gzip\n"[..], &gzip(&vec![b' '; 100_000])].concat());
    seeds.add([&b"gzip\n"[..], &gzip(&text), &gzip(&text), b"and rubbish"].concat());
    seeds.add([&b"deflate\n"[..], &zlib.finish().unwrap()].concat());
    seeds.add([&b"deflate\n"[..], &deflate.finish().unwrap()].concat());
    seeds.add([&b"zstd\n"[..], &zstd].concat());
    seeds.add([&b"zstd, gzip\n"[..], &gzip(&zstd)].concat());
    seeds.add([&b"\n"[..], &gzip(&text)].concat());
    // "hello" in brotli, stored.
    seeds.add(b"br\n\x0b\x02\x80hello\x03");
    seeds.add(b"gzip\nnot at all");
    for (ending, first) in [("gz", "gzip\n"), ("deflate", "deflate\n"), ("br", "br\n"), ("zst", "zstd\n")] {
        seeds.shared("html-scrapy/compressed", &[ending], first);
    }
}

fn read(
    coding: &[u8],
    body: &[u8],
    step: usize,
    buffer: usize,
    unwrapped: bool,
) -> (Vec<u8>, Option<Problem>) {
    let mut decoded = decoded([coding].into_iter(), Trickle::new(body, step), BYTES_MAX);
    if unwrapped {
        decoded = decoded.unwrapped(BYTES_MAX);
    }
    let mut all = Vec::new();
    let mut buffer = vec![0; buffer];
    loop {
        match decoded.read(&mut buffer).expect("reading never fails") {
            0 => break,
            read => all.extend_from_slice(&buffer[..read]),
        }
    }
    assert_eq!(decoded.read(&mut buffer).unwrap(), 0, "it ended once, and goes on");
    (all, decoded.problem().cloned())
}

fn decode(input: &[u8]) {
    let (coding, body) = first_line(input);
    let whole = read(coding, body, usize::MAX, 64 << 10, false);
    assert!(whole.0.len() as u64 <= BYTES_MAX);
    assert_eq!(read(coding, body, usize::MAX, 64 << 10, false), whole, "the same twice is not the same");
    let (slowly, problem) = read(coding, body, 1, 7, false);
    let names = coding.to_ascii_lowercase();
    let has = |name: &[u8]| names.windows(name.len()).any(|window| window == name);
    let is_odd = whole.1.is_some() || problem.is_some();
    match is_odd && (has(b"br") || has(b"zstd")) {
        // Their decoders keep to themselves what they had unpacked when they met what was wrong, and brotli's
        // sees what follows the end only where it has read that already.
        true => assert!(slowly.starts_with(&whole.0) || whole.0.starts_with(&slowly), "byte by byte"),
        false => {
            assert_eq!((&slowly, problem.is_some()), (&whole.0, whole.1.is_some()), "byte by byte");
        }
    }
    if whole.1.is_none() && coding.is_empty() && (body.len() as u64) < BYTES_MAX {
        assert_eq!(whole.0, body, "without a coding it is what it was");
    }
    if let Some(problem) = &whole.1 {
        assert!(!problem.to_string().contains('\n'), "{problem}");
    }
    assert!(read(coding, body, 5000, 3000, true).0.len() as u64 <= BYTES_MAX);
}
