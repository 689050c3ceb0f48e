#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use policy::url::UrlRules;
use tempfile::TempDir;

use super::*;

fn read_from(path: &Path, from: Mark) -> Vec<(Step, Mark)> {
    let mut source = open(path, from, &UrlRules::default(), &Arc::default()).unwrap();
    let mut steps = Vec::new();
    while let Some(step) = source.next().unwrap() {
        steps.push((step, source.mark()));
    }
    steps
}

fn read(path: &Path) -> Vec<Step> {
    read_from(path, Mark::default()).into_iter().map(|(step, _)| step).collect()
}

fn read_bytes(name: &str, bytes: &[u8]) -> Vec<Step> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read(&path)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// One line a step: `http://a.no/ 2024-02-29T12:00:00Z -> http://b.no/ "b"`, `- http://a.no/`, `.`, `3: reason`.
fn shown(steps: &[Step]) -> Vec<String> {
    let time = |time: &Option<Time>| time.map_or_else(String::new, |time| format!(" {time}"));
    let line = |step: &Step| match step {
        Step::Put(page) => {
            let links: Vec<String> =
                page.links.iter().map(|link| format!("{} {:?}", link.url, link.anchor)).collect();
            format!("{}{} -> {}", page.url, time(&page.time), links.join(" "))
        }
        Step::Delete { url, time: at } => format!("- {url}{}", time(at)),
        Step::Revisit { url, time: at, of } => {
            let of =
                of.as_ref().map_or("?".to_owned(), |of| format!("{} {}", of.url, Time(of.second * 1000)));
            format!("{url}{} = {of}", time(at))
        }
        Step::Other => ".".to_owned(),
        Step::Broken(Problem { at, reason }) | Step::Damaged(Problem { at, reason }) => match at {
            At::Line(line) => format!("{line}: {reason}"),
            At::Offset(at) => format!("@{at}: {reason}"),
        },
    };
    steps.iter().map(line).map(|line| line.trim_end().to_owned()).collect()
}

const LINES: &str = concat!(
    r#"{"op":"put","url":"http://a.no/1","links":[{"url":"http://b.no/#x","anchor":"b\t\u0007"},{"url":"mailto:x"}]}"#,
    "\n\n",
    r#"{"links":[],"more":{"x":[1]},"url":"http:\/\/c.no","op":"put","time":"2024-02-29T13:00:00.5+01:00"}"#,
    "\r\n",
    r#"{"op":"delete","url":"http://a.no/1","time":"2024-02-29T12:00:00Z","links":null}"#,
    "\n",
    r#"{"op":"put","url":"http://a.no/1"}"#,
    "\n",
    r#"{"op":"put","url":"http://a.no/1","links":[{"anchor":"x"}]}"#,
    "\n",
    r#"{"op":"put","url":"http://a.no/1","links":"none"}"#,
    "\n",
    r#"{"op":"add","url":"http://a.no/1","links":[]}"#,
    "\n",
    r#"{"op":"delete"}"#,
    "\n",
    r#"{"op":"delete","url":7}"#,
    "\n",
    r#"{"op":"delete","url":"http://a.no/","time":"yesterday"}"#,
    "\nnonsense\n",
    r#"{"op":"delete","url":"http://a.no/"} {"#,
    "\n",
    r##"{"op":"put","url":"u","links":[{"url":"#top","anchor":"here"},{"url":"","anchor":""}]}"##,
    "\n",
    r#"{"op":"put","url":"http://a"#,
);

const LINES_SHOWN: [&str; 15] = [
    r#"http://a.no/1 -> http://b.no/#x "b\t\u{7}" mailto:x """#,
    ".",
    "http://c.no 2024-02-29T12:00:00Z ->",
    "- http://a.no/1 2024-02-29T12:00:00Z",
    "5: a page that is put has no `links`",
    "6: missing field `url` at column 57",
    "7: invalid type: string \"none\", expected a list of links at column 48",
    "8: `op` is neither `put` nor `delete`",
    "9: missing field `url` at column 15",
    "10: invalid type: integer `7`, expected a string at column 22",
    "11: `time` is no time like 2024-02-29T12:00:00Z",
    "12: expected ident at column 2",
    "13: trailing characters at column 38",
    "u ->",
    "15: EOF while parsing a string at column 27",
];

#[test]
fn x2_json_lines_give_whole_pages_or_say_what_is_wrong() {
    assert_eq!(shown(&read_bytes("pages", LINES.as_bytes())), LINES_SHOWN);
    assert_eq!(shown(&read_bytes("pages.gz", &gzip(LINES.as_bytes()))), LINES_SHOWN);
    let marked = format!("\u{feff}{LINES}");
    assert_eq!(shown(&read_bytes("pages", marked.as_bytes())), LINES_SHOWN);
    let latin =
        b"{\"op\":\"delete\",\"url\":\"http://a.no/\xe6\"}\n{\"op\":\"delete\",\"url\":\"http://a.no/\"}";
    assert_eq!(shown(&read_bytes("pages", latin)), ["1: not UTF-8 from its byte 35 on", "- http://a.no/"]);
}

#[test]
fn x2_lines_links_and_anchors_are_bounded() {
    let long = format!("{{\"op\":\"delete\",\"url\":\"{}\"}}\n", "x".repeat(JSON_BYTES_MAX));
    let steps = read_bytes("l.jsonl", format!("{long}{{\"op\":\"delete\",\"url\":\"u\"}}").as_bytes());
    assert_eq!(shown(&steps), ["1: longer than 16 MiB", "- u"]);

    let put = |links: &str| format!("{{\"op\":\"put\",\"url\":\"u\",\"links\":[{links}]}}");
    let many = vec![r#"{"url":"http://b.no/"}"#; LINKS_MAX + 7].join(",");
    let anchor = "æ".repeat(ANCHOR_BYTES_MAX);
    let wide = vec![format!(r#"{{"url":"http://b.no/","anchor":"{anchor}"}}"#); 4000].join(",");
    let steps = read_bytes("l.jsonl", format!("{}\n{}", put(&many), put(&wide)).as_bytes());
    let [Step::Put(many), Step::Put(wide)] = steps.as_slice() else { panic!("{}", steps.len()) };
    assert_eq!((many.links.len(), many.dropped), (LINKS_MAX, 7));
    assert_eq!(wide.links[0].anchor, anchor[..ANCHOR_BYTES_MAX]);
    assert_eq!(wide.links.len() as u64 + wide.dropped, 4000);
    assert!(wide.links.len() * ANCHOR_BYTES_MAX < LINK_BYTES_MAX && wide.links.len() > 1000);
}

#[test]
fn x2_times_are_rfc_3339() {
    for (text, expected) in [
        ("2024-02-29T12:00:00Z", Some(0)),
        ("2024-02-29t12:00:00.250z", Some(250)),
        ("2024-02-29 13:30:00+01:30", Some(0)),
        ("2024-02-28T12:00:00-24:00", None),
        ("2024-02-28T13:00:00-23:00", Some(0)),
        ("2024-02-29T12:00:00", None),
        ("2024-02-30T12:00:00Z", None),
        ("2024-02-29T12:00:00.Z", None),
        ("2024-02-29T12:00:00.1.2Z", None),
        ("2024-02-29T12:00:00ZZ", None),
        ("2024-02-29T12:00:00+1:00", None),
        ("2024-2-29T12:00:00Z", None),
        ("20240229T120000Z", None),
        ("2024-02-29T12:00:00\u{e6}", None),
        ("", None),
    ] {
        assert_eq!(rfc3339(text).map(|time| time.0 - 1_709_208_000_000), expected, "{text}");
    }
}

fn record(kind: &str, url: &str, content_type: &str, block: &str) -> String {
    format!(
        "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-02-29T12:00:00Z\r\n\
         WARC-Record-ID: <urn:x:1>\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

fn answer(url: &str, status: u16, headers: &str, body: &str) -> String {
    let block = format!("HTTP/1.1 {status} Fine\r\n{headers}\r\n{body}");
    record("response", url, "application/http; msgtype=response", &block)
}

fn revisit(url: &str, of: &str, at: &str) -> String {
    let refers = format!("WARC-Refers-To-Target-URI: {of}\r\nWARC-Refers-To-Date: {at}\r\nContent-Type");
    record("revisit", url, "application/http", "").replacen("Content-Type", &refers, 1)
}

/// An archive with something of everything.
fn archive() -> Vec<String> {
    const HTML: &str = "Content-Type: text/html; charset=utf-8\r\n";
    let chunked = format!("{HTML}Transfer-Encoding: chunked\r\n");
    let links = "<base href='/d/'><a href='x?a=1&amp;b=2#f'>one <b>link</b></a><a href='#top'>up</a>\
        <area href='//b.no/' alt='map'><img src='i.png'><a href='mailto:m@b.no'>m</a><a href='x?a=1&b=2'>again</a>";
    vec![
        record("warcinfo", "", "application/warc-fields", "software: x\r\n"),
        answer("http://a.no/1", 200, HTML, links),
        record("request", "http://a.no/1", "application/http; msgtype=request", "GET /1 HTTP/1.1\r\n\r\n"),
        answer("http://a.no/2", 200, &chunked, "f\r\n<a href=/1>a</a\r\n1\r\n>\r\n0\r\n\r\n"),
        answer("http://a.no/3", 404, HTML, "<a href='/1'>gone</a>"),
        answer("http://a.no/4", 200, "Content-Type: image/png\r\n", "<a href='/1'>no page</a>"),
        answer("http://a.no/5", 200, "", "<title>5</title>"),
        answer("http://a.no/6", 200, "", "no page either"),
        record("resource", "http://a.no/7", "text/html", "<a href='1'>r</a>"),
        record("resource", "dns:a.no", "text/dns", "a.no. 1 IN A 10.0.0.1"),
        record("response", "http://a.no/8", "application/http", "no head"),
        record("revisit", "http://a.no/1", "application/http", "HTTP/1.1 200 OK\r\n\r\n"),
        revisit("http://a.no/10", "<http://a.no/1>", "2024-02-29T12:00:00.250Z"),
        record("metadata", "http://a.no/9", "application/json", "{\"Envelope\":{\"Format\":\"WARC\"}}"),
        record("metadata", "http://a.no/9", "application/json", "{\"Envelope\":"),
        record("metadata", "http://a.no/9", "application/json", WAT),
    ]
}

const WAT: &str = r##"{"Envelope":{"WARC-Header-Metadata":{"WARC-Target-URI":"http://a.no/d/9","WARC-Date":"2015-04-18T03:35:13Z"},
"Payload-Metadata":{"HTTP-Response-Metadata":{"Response-Message":{"Status":"200"},"HTML-Metadata":{"Head":{"Base":"../e/"},"Links":[
{"path":"IMG@/src","url":"i.png"},{"path":"A@/href","url":" 1 ","text":"one"},{"path":"A@/href","url":"#top"},{"path":"A@/href"},
{"path":"A@/href","url":"mailto:x@a.no"},{"path":"A@/href","url":"http://[","text":"bad"},{"path":"AREA@/href","url":"//u@b.no/"}]}}}}}"##;

const ARCHIVE_SHOWN: [&str; 16] = [
    ".",
    r#"http://a.no/1 2024-02-29T12:00:00Z -> http://a.no/d/x?a=1&b=2 "one link" http://b.no/ "map""#,
    ".",
    r#"http://a.no/2 2024-02-29T12:00:00Z -> http://a.no/1 "a""#,
    ".",
    ".",
    "http://a.no/5 2024-02-29T12:00:00Z ->",
    ".",
    r#"http://a.no/7 2024-02-29T12:00:00Z -> http://a.no/1 "r""#,
    ".",
    ".",
    "http://a.no/1 2024-02-29T12:00:00Z = ?",
    "http://a.no/10 2024-02-29T12:00:00Z = http://a.no/1 2024-02-29T12:00:00Z",
    ".",
    "its JSON: EOF while parsing a value at line 1 column 12",
    r#"http://a.no/d/9 2015-04-18T03:35:13Z -> http://a.no/e/1 "one" mailto:x@a.no "" http://[ "bad" http://u@b.no/ """#,
];

/// The same archive plain, gzipped by record and as a whole, and as zstd frames.
fn archives() -> [(&'static str, Vec<u8>); 4] {
    let records = archive();
    let each = |pack: &dyn Fn(&[u8]) -> Vec<u8>| -> Vec<u8> {
        records.iter().flat_map(|record| pack(record.as_bytes())).collect()
    };
    [
        ("a.warc", each(&<[u8]>::to_vec)),
        ("a.warc.gz", each(&gzip)),
        ("whole.warc.gz", gzip(&each(&<[u8]>::to_vec))),
        ("a.warc.zst", each(&|record| zstd::encode_all(record, 1).unwrap())),
    ]
}

fn without_places(shown: Vec<String>) -> Vec<String> {
    let place = |line: &String| line.starts_with('@');
    shown
        .into_iter()
        .map(|line| if place(&line) { line.split_once(": ").unwrap().1.to_owned() } else { line })
        .collect()
}

#[test]
fn x2_archives_give_the_pages_that_are_html() {
    for (name, bytes) in archives() {
        assert_eq!(without_places(shown(&read_bytes("no-name", &bytes))), ARCHIVE_SHOWN, "{name}");
    }
}

/// A16: what a revisit refers to is read alone, and everything else is passed over.
#[test]
fn a16_a_record_that_is_referred_to_is_found_by_its_name() {
    for (name, bytes) in archives() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let wanted = Referred::new("http://a.no/1", rfc3339("2024-02-29T12:00:00.900Z").unwrap());
        let other = Referred::new("http://a.no/2", rfc3339("2024-02-29T12:00:01Z").unwrap());
        let mut source = open(&path, Mark::default(), &UrlRules::default(), &Arc::default()).unwrap();
        source.only(Arc::new([wanted.clone(), other].into()));
        let mut found = Vec::new();
        while let Some(step) = source.next().unwrap() {
            if source.wanted().is_some() || !matches!(step, Step::Other | Step::Revisit { .. }) {
                found.push((source.wanted().cloned(), step));
            }
        }
        let [(Some(name), Step::Put(page))] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((name, page.links.len()), (&wanted, 2));
    }
}

/// X11: wherever a load was cut short, going on at the mark gives just the rest.
#[test]
fn x11_every_mark_goes_on_where_it_was_made() {
    let dir = TempDir::new().unwrap();
    let mut files: Vec<(&str, Vec<u8>)> = archives().into();
    files.push(("l.jsonl", LINES.as_bytes().to_vec()));
    files.push(("l.jsonl.gz", gzip(LINES.as_bytes())));
    let mut records = archive();
    records[3] = "rubbish\r\n\r\nmore rubbish\r\n".to_owned();
    records[6] = records[6].replace("Content-Length: ", "Content-Length: 9");
    files.push(("broken.warc", records.concat().into_bytes()));
    for (name, bytes) in files {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let whole = read_from(&path, Mark::default());
        assert!(whole.len() > 10, "{name}");
        for (taken, (_, mark)) in whole.iter().enumerate() {
            assert_eq!(read_from(&path, *mark), whole[taken + 1..], "{name} after {taken}");
        }
    }
}

/// A11: what is before the cut is taken, nothing in part, and the cut is told.
#[test]
fn x2_a_cut_archive_gives_what_is_before_the_cut() {
    for (name, bytes) in archives() {
        let whole: Vec<Step> = read_bytes(name, &bytes).into_iter().filter(is_page).collect();
        for cut in (8..bytes.len()).step_by(29) {
            let pages: Vec<Step> = read_bytes(name, &bytes[..cut]).into_iter().filter(is_page).collect();
            assert_eq!(pages, whole[..pages.len()], "{name} cut at {cut}");
        }
        let steps = read_bytes(name, &bytes[..bytes.len() - 9]);
        assert!(matches!(steps.last(), Some(Step::Damaged(Problem { at: At::Offset(_), .. }))), "{name}");
    }
    let packed = gzip(LINES.as_bytes());
    let steps = read_bytes("l.jsonl.gz", &packed[..packed.len() - 20]);
    let cut = format!("@{}: the file ends inside its compressed data", packed.len() - 20);
    assert_eq!(shown(&steps).last(), Some(&cut));
    let whole = read_bytes("l.jsonl.gz", &packed);
    assert_eq!(steps[..steps.len() - 1], whole[..steps.len() - 1]);
}

fn is_page(step: &Step) -> bool {
    matches!(step, Step::Put(_))
}

#[test]
fn x2_a_file_is_known_by_what_is_in_it() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("pages");
    let named = |name: &str| dir.path().join(name);
    for (file, bytes, expected) in [
        ("pages", &b"filedesc://x.arc 0.0.0.0"[..], "it is an ARC file"),
        ("pages", b"\x04\x22\x4d\x18WARC/1.0", "it is compressed with LZ4"),
        ("pages", b"<html>\x1b[2J", "it begins with `<html>\\u{1b}[2J`"),
        ("pages", &gzip(b"PK\n"), "it begins with `PK`"),
        ("pages.warc", b"nonsense", "it begins with `nonsense`"),
        ("pages", &zstd::encode_all(&b"{}"[..], 1).unwrap(), "it begins with \"{}\""),
    ] {
        std::fs::write(named(file), bytes).unwrap();
        let error = open(&named(file), Mark::default(), &UrlRules::default(), &Arc::default());
        let error = error.and_then(|mut source| source.next()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    std::fs::write(&path, "").unwrap();
    assert!(read(&path).is_empty());
    assert_eq!(shown(&read_bytes("x.JSONL", b"nonsense")), ["1: expected ident at column 2"]);
}
