//! A10: odd encodings, declared and sniffed.

use crate::world::{Reading, shared, shown};

fn encoding_of(content_type: &str, body: &[u8]) -> &'static str {
    Reading::new("http://a.no/", content_type).of(body).encoding.unwrap()
}

#[test]
fn a10_the_encoding_is_found() {
    let table: [(&str, &[u8], &str); 21] = [
        ("text/html", b"<p>", "windows-1252"),
        ("text/html", "<p>é".as_bytes(), "UTF-8"),
        ("text/html", b"<p>\xE9", "windows-1252"),
        ("text/html; charset=iso-8859-1", "<p>é".as_bytes(), "windows-1252"),
        ("text/html; charset=\"EUC-JP\"", b"<meta charset=utf-8>", "EUC-JP"),
        ("text/html; charset=nonsense", b"<meta charset=koi8-r>", "KOI8-R"),
        ("text/html; charset=koi8-r", b"\xEF\xBB\xBF<p>", "UTF-8"),
        ("text/html; charset=koi8-r", b"\xFE\xFF\0<\0p\0>", "UTF-16BE"),
        ("text/html", b"<meta http-equiv=content-type content='text/html; charset=gbk'>", "GBK"),
        ("text/html", b"<meta charset=utf-16le>", "UTF-8"),
        ("text/html", b"<?xml version='1.0' encoding='iso-8859-2'?><html>", "ISO-8859-2"),
        ("text/xml", b"<?xml version='1.0' encoding='iso-8859-2'?><rss>", "ISO-8859-2"),
        ("text/xml", b"<?xml version='1.0'?><rss>", "UTF-8"),
        ("text/html", b"<?xml encoding='koi8-r'?><meta charset=utf-8>", "UTF-8"),
        ("text/html", b"<meta charSet=koi8-r>", "KOI8-R"),
        ("text/html", b"<META cHARset = koi8-r>", "KOI8-R"),
        ("text/html", b"<meta http-equiv=Content-Type content='text/html; cHaRsEt=koi8-r'>", "KOI8-R"),
        ("text/html, text/html; charset=koi8-r", b"<p>", "KOI8-R"),
        ("text/html; charset=koi8-r, text/html", b"<p>", "KOI8-R"),
        ("text/html; charset=koi8-r, text/html; charset=gbk", b"<p>", "GBK"),
        ("text/html charset=koi8-r", b"<p>", "KOI8-R"),
    ];
    for (content_type, body, expected) in table {
        assert_eq!(
            encoding_of(content_type, body),
            expected,
            "{content_type} {}",
            String::from_utf8_lossy(body)
        );
    }
}

/// Windows end within characters, too.
#[test]
fn a10_a_page_in_two_bytes_a_letter_is_read_to_its_end() {
    for blanks in 0..4 {
        let page = format!("{}<p>{}</p><a href='/last'>x</a>", " ".repeat(blanks), "wørds ".repeat(60_000));
        let body: Vec<u8> = page.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let found = Reading::new("http://a.no/", "text/html; charset=utf-16le").of(body);
        assert_eq!(shown(&found), ["Link http://a.no/last \"x\""], "{blanks}");
    }
}

/// Of a page that declares nothing and begins with more ASCII than is looked at, every piece is
/// UTF-8 as long as all before it were.
#[test]
fn a10_an_encoding_that_shows_late_is_found() {
    let ascii = "<p>all ASCII</p>\n".repeat(5000);
    let page = |tail: &[u8]| Reading::new("http://a.no/", "text/html").of([ascii.as_bytes(), tail].concat());
    let found = page("<a href='/é?ü'>blåbær</a><a href='/b'>MANHÃ</a>".as_bytes());
    assert_eq!(shown(&found), ["Link http://a.no/%C3%A9?%C3%BC \"blåbær\"", "Link http://a.no/b \"MANHÃ\""]);
    assert_eq!(found.encoding, Some("UTF-8"));
    let found = page(b"<a href='/\xE9?\xFC'>bl\xE5b\xE6r</a><a href='/b'>\xC3\xA9</a>");
    assert_eq!(shown(&found), ["Link http://a.no/%C3%A9?%FC \"blåbær\"", "Link http://a.no/b \"Ã©\""]);
    assert_eq!(found.encoding, Some("windows-1252"));
    let found = page(b"<a href='/b'>MANH\xC3</a>");
    assert_eq!(shown(&found), ["Link http://a.no/b \"MANHÃ\""], "half a character of UTF-8 is none");
    assert_eq!(page(b"<a href='/b'>b</a>").encoding, Some("windows-1252"));
}

#[test]
fn a10_pages_in_any_encoding_give_their_links() {
    let page = "<html><title>タイトル</title><a href='/é?q=ü#x'>日本語</a></html>";
    for (label, query) in [("utf-8", "%C3%BC"), ("utf-16le", "%C3%BC"), ("utf-16be", "%C3%BC")] {
        let bytes: Vec<u8> = match label {
            "utf-8" => page.as_bytes().to_vec(),
            "utf-16le" => page.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            _ => page.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        };
        let found = Reading::new("http://a.no/", &format!("text/html; charset={label}")).of(bytes);
        assert_eq!(shown(&found), [format!("Link http://a.no/%C3%A9?q={query} \"日本語\"")], "{label}");
        assert_eq!(found.title.as_deref(), Some("タイトル"));
    }
    for label in ["shift_jis", "euc-jp", "iso-2022-jp"] {
        let page = "<title>タイトル</title><a href='/x?q=日'>日本語</a>";
        let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
        let found =
            Reading::new("http://a.no/", &format!("text/html; charset={label}")).of(encoding.encode(page).0);
        let query: String = encoding.encode("日").0.iter().map(|byte| format!("%{byte:02X}")).collect();
        assert_eq!(shown(&found), [format!("Link http://a.no/x?q={query} \"日本語\"")], "{label}");
        assert_eq!(found.title.as_deref(), Some("タイトル"));
    }
}

/// The path of a link is in UTF-8 wherever it stood, its query in the encoding of the page.
#[test]
fn a10_queries_are_in_the_encoding_of_the_page() {
    let body = b"<a href='/\xE9?\xE9=&#9829;&amp;b#\xE9'></a>";
    let found = Reading::new("http://a.no/", "text/html; charset=iso-8859-1").of(body);
    assert_eq!(shown(&found), ["Link http://a.no/%C3%A9?%E9=%26%239829%3B&b"]);
}

/// The vectors of html5lib, all of them but those that only a script could pass.
#[test]
fn a10_agrees_with_html5lib() {
    let Some(dir) = shared("html-html5lib/encoding") else { return };
    let mut compared = 0;
    for file in ["tests1.dat", "tests2.dat", "test-yahoo-jp.dat"] {
        let text = std::fs::read(dir.join(file)).unwrap();
        for case in split(&text, b"#data\n").into_iter().filter(|case| !case.is_empty()) {
            let [body, expected] = split(case, b"\n#encoding\n")[..] else { panic!("{file}") };
            let expected = String::from_utf8_lossy(expected).trim().to_owned();
            let found = encoding_of("text/html", body);
            let shown = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
            assert!(found.eq_ignore_ascii_case(&expected), "{file}: {found}, not {expected}: {shown}");
            compared += 1;
        }
    }
    assert!(compared > 70, "only {compared} cases");
}

fn split<'a>(text: &'a [u8], at: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(found) = memchr::memmem::find(rest, at) {
        parts.push(&rest[..found]);
        rest = &rest[found + at.len()..];
    }
    parts.push(rest);
    parts
}
