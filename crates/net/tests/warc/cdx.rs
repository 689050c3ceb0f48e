//! Rule A9: index lines as cdxj-indexer prints them.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use net::warc::digest::Digest;
use net::warc::{Capture, Compression, Fields, FileSet, FileSettings, Refers, Revisit};
use policy::time::{Span, Time};

use crate::make;

fn tests_data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn index(path: &Path, file: &str) -> (String, Vec<String>) {
    let (mut lines, mut broken) = (String::new(), Vec::new());
    let archive = File::open(path).unwrap();
    net::cdx::index(archive, file, |line| lines += &line, |_, reason| broken.push(reason)).unwrap();
    (lines, broken)
}

#[test]
fn a9_the_index_of_a_file_is_what_cdxj_indexer_prints() {
    let mut compared = 0;
    for entry in fs::read_dir(tests_data().join("cdxj")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let (dir, file) = name.split_once("--").unwrap();
        let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(dir).join(file);
        let Some(archive) =
            [tests_data().join("warc").join(name), shared].into_iter().find(|path| path.exists())
        else {
            println!("skipped, not here: {name}");
            continue;
        };
        let (lines, broken) = index(&archive, file);
        assert_eq!(lines, fs::read_to_string(&path).unwrap(), "{name}");
        assert_eq!(broken, [""; 0]);
        compared += 1;
    }
    assert!(compared >= 8);
}

#[test]
fn a11_records_without_a_date_or_a_place_of_their_own_are_told() {
    let file = tests_data().join("warc/warc-warcio--example-bad-non-chunked.warc.gz");
    let (lines, broken) = index(&file, "a");
    assert_eq!((lines.as_str(), broken.len()), ("", 2));
    assert!(broken[0].contains("more than one record"), "{broken:?}");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.warc");
    fs::write(
        &path,
        "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Date: yesterday\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
    )
    .unwrap();
    assert_eq!(index(&path, "a").1, ["no WARC-Date that is a date"]);
}

/// A collection with one capture of each sort; gives its lines as they were when it was written,
/// and the file.
fn write(dir: &Path, compression: Compression) -> (String, PathBuf) {
    let mut info = Fields::new();
    info.add("software", "Skurd").add("format", "WARC File Format 1.1").add("robots", "obey");
    let (bytes_max, age_max) = (FileSettings::BYTES_MAX, FileSettings::AGE_MAX);
    let (prefix, collection, host) = ("skurd".into(), "test".into(), "host.example".into());
    let settings =
        FileSettings { dir: dir.to_owned(), prefix, collection, host, compression, bytes_max, age_max, info };
    let mut files = FileSet::new(settings).unwrap();
    let mut packer = make::packer(compression, 1 << 20, dir);
    let body = b"<!doctype html><title>\xc3\xbc</title><a href=/b>b</a>".as_slice();
    let payload = Digest::of(body);
    let mut metadata = Fields::new();
    metadata.add("seed", "http://www.example.com/").outlink("http://www.example.com/b", 'L', "a/@href");

    let mut lines = String::new();
    files.begin(make::NOON).unwrap();
    for round in 0..2_i64 {
        let at = Time(make::NOON.0 + round * 86_400_000);
        let mut group = packer.group(files.warcinfo_id());
        let answer = b"20240229123456\r\nwww.example.com.\t300\tIN\tA\t192.0.2.7\r\n";
        group.resource("dns:www.example.com", at, "text/dns", answer, None).unwrap();
        let urls =
            ["http://www.example.com/A?b=1&a=\u{fc}", "https://example.com:8443/x", "http://example.com/304"];
        for (i, url) in urls.into_iter().enumerate() {
            let heads: [&[u8]; 3] = [
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 51\r\n\r\n",
                b"HTTP/1.0 404 Nicht gefunden \xfc\r\ncontent-type:\r\n\r\n",
                b"HTTP/1.1 304 Not Modified\r\n\r\n",
            ];
            let mut exchange = make::exchange(url, heads[i], if i == 2 { b"" } else { body });
            (exchange.at, exchange.head.status) = (at, [200, 404, 304][i]);
            (exchange.total, exchange.first_byte) = (Span(20), Span(10));
            let refers = Refers { url, time: make::NOON, payload };
            let revisit = match (round, i) {
                (1, 0) => Some(Revisit::SamePayload(refers)),
                (1, 2) => Some(Revisit::NotModified(refers)),
                _ => None,
            };
            group
                .exchange(&exchange, &Capture { revisit, metadata: Some(&metadata), ..Capture::default() })
                .unwrap();
        }
        let prepared = group.finish();
        let place = files.append(&prepared).unwrap();
        lines
            .extend(prepared.entries.iter().map(|entry| net::cdx::line_of(entry, &place.file, place.offset)));
    }
    let file = dir.join(&*files.sync().unwrap().file);
    files.close().unwrap();
    (lines, file)
}

/// With `SKURD_TEST_DATA_OUT` naming a directory the files stay there; see `tests/data/README.md`.
#[test]
fn a9_a_line_is_the_same_when_written_and_when_read() {
    for compression in make::COMPRESSIONS {
        let dir = tempfile::tempdir().unwrap();
        let (lines, path) = write(dir.path(), compression);
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(lines.lines().count(), 8);
        assert_eq!(index(&path, name), (lines.clone(), Vec::new()));
        assert!(net::warc::check(&path).unwrap().is_sound());
        if let Ok(out) = std::env::var("SKURD_TEST_DATA_OUT") {
            fs::copy(&path, Path::new(&out).join(name)).unwrap();
            File::create(Path::new(&out).join(format!("{name}.cdxj")))
                .unwrap()
                .write_all(lines.as_bytes())
                .unwrap();
        }
    }
}
