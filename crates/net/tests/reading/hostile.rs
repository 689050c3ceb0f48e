//! A11: whatever a page is made of, it ends with the links found so far, in bounded memory and
//! linear time.

use std::io::Read;

use net::extract::{Extracted, Page, links};
use proptest::prelude::*;

use crate::world::{Reading, html, shown};

const MEGA: usize = 1 << 20;

/// A beginning, then a piece for ever, as a server that never stops.
fn endless(start: &str, piece: &str, content_type: &str) -> Extracted {
    let reading = Reading::new("http://a.no/", content_type);
    let mut limits = reading.limits;
    limits.decoded_bytes_max = 10 * MEGA as u64;
    let page = Page {
        url: &reading.url,
        head: &reading.head,
        limits,
        rules: &reading.rules,
        forms: true,
        announced_as_sitemap: true,
    };
    let mut sent = start.as_bytes().to_vec();
    let chunk = piece.repeat(MEGA / piece.len() + 1);
    sent.extend_from_slice(chunk.as_bytes());
    let mut body = sent.chain(Again { chunk: chunk.as_bytes(), at: 0 });
    links(&page, &mut body)
}

struct Again<'a> {
    chunk: &'a [u8],
    at: usize,
}

impl Read for Again<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.chunk.get(self.at..).unwrap_or_default().read(into)?;
        self.at = if self.at + read == self.chunk.len() { 0 } else { self.at + read };
        Ok(read)
    }
}

#[test]
fn a11_pages_without_end() {
    let pieces = [
        "<a ",
        "<a href=",
        "<a href='",
        "x=1 ",
        "\"",
        "<",
        "</",
        "<!--",
        "-",
        "<![CDATA[",
        "&",
        "&amp;",
        "\0",
        "a",
        "<div>",
        "<svg>",
        "<a href=x>",
        "<style>",
        "<style>url(",
        "<title>",
        "<script>",
        "<meta ",
        "<p style='url(",
        "<b a='>",
        "<b a=\">",
        "<img srcset='x,",
        "</script",
        "<iframe srcdoc='",
        "<iframe srcdoc=\"<iframe srcdoc='x'>\">",
        "<svg><g>",
        "<svg><foreignObject>",
        "<a xml:base=x>",
        "<?xml-stylesheet ",
        "<?",
        "<template>",
        "é",
        " ",
        "\n",
    ];
    for content_type in ["text/html", "application/xhtml+xml"] {
        for piece in pieces {
            let found = endless("<a href=first>text</a>", piece, content_type);
            assert_eq!(found.links[0].url.as_str(), "http://a.no/first", "{piece:?}");
            assert!(found.problem.is_some(), "{piece:?}");
        }
    }
    for piece in ["<loc>", "<loc>x", "<item>", "<image:image>", "<![CDATA[", "<title>", "<a ", "x"] {
        let found = endless("<urlset><loc>/first</loc>", piece, "text/xml");
        assert_eq!(found.links[0].url.as_str(), "http://a.no/first", "{piece:?}");
    }
    for piece in ["url(", "/*", "@import", "'", "\\", "(", "@import '", "@namespace", "@import/*", "é"] {
        let found = endless("@import 'first';", piece, "text/css");
        assert_eq!(found.links[0].url.as_str(), "http://a.no/first", "{piece:?}");
    }
    for piece in ["http://a.no/", "x\n", "\n", " "] {
        let found = endless("http://a.no/first\n", piece, "text/plain");
        assert_eq!(found.links[0].url.as_str(), "http://a.no/first", "{piece:?}");
    }
}

/// Documents within documents are read so deep and no deeper, and parts with their own base so many
/// and no more.
#[test]
fn a11_documents_and_bases_without_end() {
    let mut page = "<a href=deepest>".to_owned();
    for depth in (0..12).rev() {
        let quoted = page.replace('&', "&amp;").replace('"', "&quot;");
        page = format!("<a href={depth}>t</a><iframe srcdoc=\"{quoted}\"></iframe>");
    }
    let found: Vec<String> = html(page).links.iter().map(|link| link.url.path().to_owned()).collect();
    assert_eq!(found, ["/dir/0", "/dir/1", "/dir/2", "/dir/3"]);
    let nested = format!("<feed>{}<link href='x'/>", "<entry xml:base='b/'>".repeat(5000));
    let found = Reading::new("http://a.no/", "text/xml").of(nested);
    assert_eq!(found.links.len() + usize::try_from(found.unusable).unwrap(), 1);
    let beside = format!("<feed>{}</feed>", "<entry xml:base='/b/'><link href='x'/></entry>".repeat(5000));
    let found = Reading::new("http://a.no/", "text/xml").of(beside);
    assert_eq!(shown(&found), ["Link http://a.no/b/x", "Link http://a.no/x"]);
}

#[test]
fn a11_ten_megabytes_of_links() {
    let body: String = (0..500_000).map(|n| format!("<a href={n}>link {n}</a>\n")).collect();
    let found = html(body);
    assert_eq!((found.links.len(), found.dropped), (10_000, 490_000));
    assert_eq!(found.links[9_999].anchor, "link 9999");
}

#[test]
fn a11_a_tag_too_long_is_skipped_and_said() {
    let body = format!("<a href=1>one</a><p class='{}'><a href=2>two</a>", "x".repeat(MEGA));
    let found = html(body);
    assert_eq!(shown(&found), ["Link http://a.no/dir/1 \"one\"", "Link http://a.no/dir/2 \"two\""]);
    assert_eq!(found.problem.as_deref(), Some("a tag or line too long to be read"));
}

#[test]
fn a11_broken_markup_gives_what_a_browser_would_see() {
    let table = "
        <a href=1<b href=2>                => /dir/1%3Cb
        <a href='1' title='<a href=2>'>    => /dir/1
        <a\u{0}href=1><a href=2>           => /dir/2
        <a href=1><a href=2 <a href=3>     => /dir/1 /dir/2
        <a/href=1/><a//href=2>             => /dir/1/ /dir/2
        <a href=\"1\"title=x><a =href=2>   => /dir/1
        <div <a href=1>                    =>
        <a href='1                         =>
        <a href=1                          =>
        <<a href=1>                        => /dir/1
        </a href=1><a href=2>              => /dir/2
        <!a href=1><?a href=2><a href=3>   => /dir/3
        <script><a href=1></SCRIPT ><a href=2> => /dir/2
        <script></scripty><a href=1></script><a href=2> => /dir/2
        <style><a href=1></style/><a href=2> => /dir/2
        <title></title x='>'><a href=2>    => /dir/2
        <plaintext><a href=1>              =>";
    for line in crate::world::lines(table) {
        let (body, expected) = line.split_once("=>").unwrap();
        let found = html(body.trim());
        let paths: Vec<&str> = found.links.iter().map(|link| link.url.path()).collect();
        assert_eq!(paths.join(" "), expected.trim(), "{body}");
    }
}

/// Wherever a page is cut into windows, it has the same links.
#[test]
fn a11_no_link_is_lost_between_windows() {
    const WINDOW: usize = 64 << 10;
    let html = "<!-- <a href=no> --><title>A &amp; B</title><a class='>' href=\"x?a&amp;b\">te<b>x</b>t</a><!doctype x>\
        <style>@import 'y'; p{b:url(z)}</style><script>'</a><a href=no>'</script ><svg><![CDATA[<a href=no>]]><style>p{b:url(s)}</style></svg><img src=i />\
        <iframe srcdoc='<a href=f>g</a>'></iframe>";
    let feed = "<rss><?xml-stylesheet href='s'?><!-- <link>no</link> --><item><title>T<![CDATA[<&]]></title><link> /x </link><enclosure url='/e'/></item></rss>";
    let list = "http://a.no/1\nhttp://a.no/2\r\nhttp://a.no/3";
    // What it begins with says what it is, and stays in the first window.
    for (content_type, lead, body) in [
        ("text/html; charset=utf-8", "<p>", html),
        ("text/xml", "<rss>", feed),
        ("text/plain", "http://a.no/0\n", list),
    ] {
        let reading = Reading::new("http://a.no/sitemap", content_type);
        let expected = reading.of(format!("{lead}{body}"));
        assert!(expected.links.len() >= 2, "{content_type}");
        for cut in 0..=body.len() {
            let padded = format!("{lead}{}{body}", "\n".repeat(WINDOW - cut - lead.len()));
            assert_eq!(reading.of(padded), expected, "{content_type} cut at {cut}");
        }
    }
}

/// Whether a page comes in one piece or byte by byte, it has the same links.
#[derive(Debug)]
struct Dripping<'a>(&'a [u8]);

impl Read for Dripping<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let room = into.len().min(1);
        self.0.read(&mut into[..room])
    }
}

fn markup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<a href=",
        "<A HREF='",
        "x",
        "/y?z",
        "'",
        "\"",
        ">",
        "</a>",
        "text",
        " ",
        "<",
        "/",
        "<!--",
        "-->",
        "<base href=//b.no>",
        "<style>",
        "</style>",
        "url(",
        ")",
        "@import '",
        "<script>",
        "</script>",
        "&amp;",
        "&",
        "#",
        "<svg>",
        "</svg>",
        "<title>",
        "</title>",
        "<img srcset=\"",
        ", ",
        "<meta http-equiv=refresh content='0;url=",
        "<link rel=icon href=",
        "\0",
        "é",
        "=",
        "<![CDATA[",
        "]]>",
        "<iframe srcdoc='",
        "<foreignObject>",
        "</foreignObject>",
        "<a xlink:href=",
        "<p xml:base=",
        "</p>",
        "<template>",
        "<?xml-stylesheet href='",
        "?>",
        "<loc>",
        "</loc>",
        "<item>",
        "</item>",
        "<link>",
        "</link>",
        "<urlset>",
        "<rss>",
        "\n",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a11_no_page_makes_it_panic(body in markup(), noise in prop::collection::vec(any::<u8>(), 0..200),
        content_type in prop::sample::select(vec!["text/html", "text/xml", "text/css", "text/html;charset=utf-16", "application/xhtml+xml", "text/html;charset=iso-2022-jp", "text/plain", ""])) {
        let mut reading = Reading::new("http://a.no/sitemap", content_type);
        reading.forms = true;
        for body in [body.as_bytes(), &noise, &[b"<rss>", body.as_bytes()].concat()] {
            let whole = reading.of(body);
            let page = Page { url: &reading.url, head: &reading.head, limits: reading.limits, rules: &reading.rules, forms: true, announced_as_sitemap: false };
            prop_assert_eq!(whole, links(&page, &mut Dripping(body)));
        }
    }
}
