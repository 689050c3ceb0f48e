#![allow(clippy::unwrap_used, reason = "a test")]

use proptest::prelude::*;

use super::*;

const URL: &str = "http://a.test/dir/page?q";

fn shown_in(kind: Kind, charset: Option<&str>, body: &[u8], bar: Option<&str>, is_final: bool) -> String {
    let prefix = Prefix::new(None, "c");
    let document = Document { url: URL, kind, charset, prefix: &prefix, stamp: "2024", is_final, bar };
    let mut out = Vec::new();
    document.write(body, &mut out).unwrap();
    String::from_utf8_lossy(&out).into_owned()
}

fn html(body: &str) -> String {
    shown_in(Kind::Html, Some("utf-8"), body.as_bytes(), None, false)
}

#[test]
fn r2_every_url_points_into_the_archive() {
    let page = "/c/2024/http://a.test";
    let part = "/c/2024if_/http://a.test";
    let cases = [
        ("<a href=x>y</a>", format!("<a href=\"{page}/dir/x\">y</a>")),
        ("<A HREF='/x?a=1&amp;b=\"2\"#f'>", format!("<A HREF=\"{page}/x?a=1&amp;b=%222%22#f\">")),
        ("<a href=\"//b.test\">", "<a href=\"/c/2024/http://b.test/\">".to_owned()),
        ("<a href='///b.test/x'>", "<a href=\"/c/2024/http://b.test/x\">".to_owned()),
        ("<a href=#top>", "<a href=\"#top\">".to_owned()),
        ("<a href=''>", "<a href=\"\">".to_owned()),
        ("<a href='?å'>", format!("<a href=\"{page}/dir/page?%C3%A5\">")),
        (
            "<img src=i.png alt='a < \"b\"'>",
            format!("<img src=\"{part}/dir/i.png\" alt=\"a &lt; &quot;b&quot;\">"),
        ),
        ("<img src='data:image/png;base64,AA=='>", "<img src=\"data:image/png;base64,AA==\">".to_owned()),
        (
            "<img srcset='a.png 1x, /b,c.png 2x, data:,x 3x'>",
            format!("<img srcset=\"{part}/dir/a.png 1x, {part}/b,c.png 2x, data:,x 3x\">"),
        ),
        ("<img srcset='1x 1x, 1x 2x'>", format!("<img srcset=\"{part}/dir/1x 1x, {part}/dir/1x 2x\">")),
        (
            "<video poster=p.jpg src=v.mp4></video>",
            format!("<video poster=\"{part}/dir/p.jpg\" src=\"{part}/dir/v.mp4\"></video>"),
        ),
        ("<object data=o.svg></object>", format!("<object data=\"{part}/dir/o.svg\"></object>")),
        (
            "<form action=/do><input formaction=x></form>",
            format!("<form action=\"{page}/do\"><input formaction=\"{page}/dir/x\"></form>"),
        ),
        ("<iframe src=f>none</iframe>", format!("<iframe src=\"{part}/dir/f\"></iframe>")),
        ("<body background=b.png>", format!("<body background=\"{part}/dir/b.png\">")),
        (
            "<link rel=stylesheet href=s.css integrity=sha1-x crossorigin>",
            format!("<link rel=\"stylesheet\" href=\"{part}/dir/s.css\">"),
        ),
        ("<link rel=canonical href=/x>", format!("<link rel=\"canonical\" href=\"{page}/x\">")),
        ("<p style='background:url(b.png)'>", format!("<p style=\"background:url({part}/dir/b.png)\">")),
        (
            "<style>@import 'x.css'; a{b:url( \"y(1).png\" )}</style>",
            format!("<style>@import '{part}/dir/x.css'; a{{b:url( \"{part}/dir/y\\(1\\).png\" )}}</style>"),
        ),
        (
            "<svg><use href=#a /><image xlink:href=i.png /><a xlink:href=/x>t</a></svg>",
            format!(
                "<svg><use href=\"#a\" /><image xlink:href=\"{part}/dir/i.png\" /><a xlink:href=\"{page}/x\">t</a></svg>"
            ),
        ),
        (
            "<iframe srcdoc='<a href=x>y</a><script>z</script>'></iframe>",
            format!("<iframe srcdoc=\"&lt;a href=&quot;{page}/dir/x&quot;>y&lt;/a>\"></iframe>"),
        ),
        (
            "<head><a href=x><base href='/else/'><a href=x>",
            format!("<head><a href=\"{page}/else/x\"><a href=\"{page}/else/x\">"),
        ),
        (
            "<base href='http://b.test/'><base href='http://c.test/'><a href=x>",
            "<a href=\"/c/2024/http://b.test/x\">".to_owned(),
        ),
        ("<a target=_blank href=x>", format!("<a target=\"_self\" href=\"{page}/dir/x\">")),
        ("<a target=frame1 href=x>", format!("<a target=\"frame1\" href=\"{page}/dir/x\">")),
    ];
    for (body, expected) in cases {
        assert_eq!(html(body), expected, "{body}");
    }
}

#[test]
fn r8_what_would_run_or_lead_elsewhere_is_left_out() {
    for (body, expected) in [
        ("<script>alert(1)</script>a", "a"),
        ("<script src=x>a</script>b<script>", "b"),
        ("<SCRIPT>a<!--<script></SCRIPT>b", "b"),
        ("a<svg><script href=x>y<g></script><path/></svg>", "a<svg><path /></svg>"),
        ("<p onclick='x' OnLoad=y id=z>", "<p id=\"z\">"),
        ("<a href='javascript:alert(1)'>", "<a>"),
        ("<a href=' java\nscript:alert(1)'>", "<a>"),
        ("<a href='data:text/html,x'>", "<a>"),
        ("<iframe src='javascript:1'></iframe>", "<iframe></iframe>"),
        ("<a href='mailto:a@b.test' ping=/x>", "<a>"),
        ("<a href='&#x6A;avascript:x'>", "<a>"),
        ("<a href='ftp://b.test/'>", "<a>"),
        (
            "<meta http-equiv=Content-Security-Policy content=x><meta name=a content=b>",
            "<meta name=\"a\" content=\"b\">",
        ),
        ("<meta http-equiv=set-cookie content='a=b'><meta charset=koi8-r>", ""),
        ("<link rel=preconnect href=//b.test><link rel='prefetch' href=x><link rel=manifest href=m>", ""),
        ("<!-- <a href=http://b.test> --><?php x ?><!x>a", "a"),
        ("<applet code=x>a</applet>", "a"),
        (
            "<svg><animate attributeName=href to='http://b.test' /></svg>",
            "<svg><animate to=\"http://b.test\" /></svg>",
        ),
        ("<a href=/x href='http://b.test/'>", "<a href=\"/c/2024/http://a.test/x\">"),
        ("<a\u{0}b href=x>a", "a"),
        ("a<b c\"d=e>f", "a<b>f"),
        ("1 < 2 <3", "1 &lt; 2 &lt;3"),
        ("<svg><![CDATA[<a href=x>]]></svg>", "<svg>&lt;a href=x&gt;</svg>"),
        ("<textarea><script></textarea>", "<textarea><script></textarea>"),
        ("<img src=http://[bad>", "<img>"),
    ] {
        assert_eq!(html(body), expected, "{body}");
    }
    let long = format!("a<a href='http://b.test/' x='{}'>b", "y".repeat(1 << 20));
    assert_eq!(html(&long), "ab", "a tag too long to be understood");
    let many: String = (0..300).map(|n| format!(" x{n}=y")).collect();
    assert!(!html(&format!("<a{many} href='http://b.test/'>")).contains("b.test"), "too many attributes");
    let deep = (0..10).fold("<a href=x>deep</a>".to_owned(), |inner, _| {
        format!("<iframe srcdoc=\"{}\"></iframe>", inner.replace('&', "&amp;").replace('"', "&quot;"))
    });
    assert!(!html(&deep).contains("deep"));
}

#[test]
fn r2_the_bar_stands_on_top_of_the_page_and_nothing_else_moves() {
    let with_bar = |body: &str| shown_in(Kind::Html, Some("utf-8"), body.as_bytes(), Some("[BAR]"), false);
    for (body, expected) in [
        (
            "<!doctype html><html><head><title>t</title></head><body class=a><p>b</body></html>",
            "<!doctype html><html><head><title>t</title></head><body class=\"a\">[BAR]<p>b</body></html>",
        ),
        (
            "\n<!-- c --><!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">\n<title>t</title><p>b",
            "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">\n\n<title>t</title>[BAR]<p>b",
        ),
        ("<head><style>a{}</style> b", "<head><style>a{}</style>[BAR] b"),
        ("<title>t</title>", "<title>t</title>[BAR]"),
        (
            "<html><frameset cols=*><frame src=f></frameset></html>",
            "<html><frameset cols=\"*\"><frame src=\"/c/2024if_/http://a.test/dir/f\"></frameset></html>",
        ),
        ("", "[BAR]"),
    ] {
        assert_eq!(with_bar(body), expected, "{body}");
    }
    let forwarding = html("<meta http-equiv=refresh content='0; url=/next'>");
    assert!(
        forwarding.contains("href=\"/c/2024/http://a.test/next\"") && !forwarding.contains("<meta"),
        "{forwarding}"
    );
    assert!(!html("<meta http-equiv=refresh content='0; url=javascript:x'>").contains("javascript"));
    let dom = "<noscript><p>no script</noscript><p>made by script";
    assert_eq!(shown_in(Kind::Html, None, dom.as_bytes(), None, true), "<p>made by script");
    assert_eq!(html(dom), dom);
}

#[test]
fn r2_characters_stay_what_they_are() {
    let page = "<p title='å'>æ<a href='?ø'>".to_owned();
    let expected =
        |query: &str| format!("<p title=\"å\">æ<a href=\"/c/2024/http://a.test/dir/page?{query}\">");
    let long = "x".repeat(100_000);
    for (charset, label, query) in [
        ("utf-8", "utf-8", "%C3%B8"),
        ("iso-8859-1", "windows-1252", "%F8"),
        ("utf-16le", "utf-16le", "%C3%B8"),
    ] {
        let bytes: Vec<u8> = match charset {
            "utf-8" => page.as_bytes().to_vec(),
            "utf-16le" => page.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            _ => page.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect(),
        };
        assert_eq!(shown_in(Kind::Html, Some(label), &bytes, None, false), expected(query), "{charset}");
    }
    // Nobody says, and it shows late.
    for (tail, shown) in [("æ".as_bytes(), "æ"), (b"\xE6".as_slice(), "æ")] {
        let body = [long.as_bytes(), tail].concat();
        assert_eq!(shown_in(Kind::Html, None, &body, None, false), format!("{long}{shown}"));
    }
    let wide: Vec<u8> =
        format!("<p>{long}</p><a href=/x>").encode_utf16().flat_map(u16::to_be_bytes).collect();
    let shown = shown_in(Kind::Html, Some("utf-16be"), &wide, None, false);
    assert!(shown.ends_with("</p><a href=\"/c/2024/http://a.test/x\">"), "all of it, however long");
    let css = b"@charset \"iso-8859-1\"; a:after{content:'\xE6';b:url('\xE6.png')}";
    assert_eq!(
        shown_in(Kind::Css, None, css, None, false),
        "@charset \"iso-8859-1\"; a:after{content:'æ';b:url('/c/2024if_/http://a.test/dir/%C3%A6.png')}"
    );
}

#[test]
fn r2_xml_stays_well_formed() {
    let xml = |body: &str| shown_in(Kind::Xml("image/svg+xml"), None, body.as_bytes(), Some("[BAR]"), false);
    for (body, expected) in [
        (
            "<?xml version='1.0' encoding='iso-8859-1'?><svg xmlns='http://www.w3.org/2000/svg'><a xlink:href='x'/></svg>",
            "<svg xmlns=\"http://www.w3.org/2000/svg\"><a xlink:href=\"/c/2024/http://a.test/dir/x\" /></svg>",
        ),
        ("<svg><script/><script>a</script><g/></svg>", "<svg><g /></svg>"),
        ("<html><link rel='preload' href='x'></link><meta charset='x'/><p/></html>", "<html><p /></html>"),
        (
            "<svg><style>a{b:url(x)}</style><style><![CDATA[a{b:url('y')}]]></style></svg>",
            "<svg><style>a{b:url(/c/2024if_/http://a.test/dir/x)}</style><style>a{b:url('/c/2024if_/http://a.test/dir/y')}</style></svg>",
        ),
        (
            "<?xml-stylesheet type='text/css' href='s.css'?><?xml-stylesheet type='text/xsl' href='s.xsl'?><a/>",
            "<?xml-stylesheet type=\"text/css\" href=\"/c/2024if_/http://a.test/dir/s.css\"?><a />",
        ),
        ("<!DOCTYPE a [<!ENTITY b \"<c xlink:href='http://b.test/'/>\">]><a>&amp;</a>", "\">]><a>&amp;</a>"),
        (
            "<r xmlns:h='http://www.w3.org/1999/xhtml'><h:script>a</h:script><h:a href='http://b.test/' onclick='x'>b</h:a></r>",
            "<r xmlns:h=\"http://www.w3.org/1999/xhtml\"><h:a href=\"/c/2024/http://b.test/\">b</h:a></r>",
        ),
    ] {
        assert_eq!(xml(body), expected, "{body}");
    }
}

/// What is left to be followed or loaded in a document, read by the scanner of links.
fn led_to(body: &str) -> Vec<String> {
    use net::exchange::Head;
    use net::extract::{Limits, Page, links};
    use policy::url::{CrawlUrl, UrlRules};
    let head = Head {
        status: 200,
        headers: vec![("Content-Type".into(), b"text/html; charset=utf-8".to_vec())],
        bytes: 0,
    };
    let url = CrawlUrl::from_normal("http://replay.test/").unwrap();
    let rules = UrlRules { max_repeats: 1000, ..UrlRules::default() };
    let page = Page {
        url: &url,
        head: &head,
        limits: Limits::default(),
        rules: &rules,
        forms: true,
        announced_as_sitemap: false,
    };
    links(&page, &mut body.as_bytes()).links.into_iter().map(|found| found.url.as_str().to_owned()).collect()
}

proptest! {
    #[test]
    fn r8_nothing_leads_out_of_the_archive(parts in prop::collection::vec(prop::sample::select(vec![
        "<a href=", "<img src=", "<style>", "</style>", "<svg>", "</svg>", "<script>", "</script>", "<!--", "-->", "<![CDATA[", "]]>",
        "<title>", "</title>", "<base href=", "<iframe srcdoc=", "<meta http-equiv=refresh content='0;url=", "\"", "'", ">", " ", "/",
        "//b.test/", "http://b.test/x", "javascript:x", "data:text/html,", "url(", ")", "@import ", ";", "&quot;", "&#62;", "\\", "\0",
        "style=", "srcset=", "<textarea>", "</textarea>", "<p", "å", "<noscript>", "<math>", "<xmp>", "<plaintext>", "=", "<", "<object data=",
        "xlink:href=", "<body>", "<frameset>", "<select>", "<template>", "<link rel=stylesheet href=", "action=", "<form ",
    ]), 0..24)) {
        let body = parts.concat();
        let shown = html(&body);
        for url in led_to(&shown) {
            prop_assert!(url.starts_with("http://replay.test/c/2024"), "{} leads to {} in {}", body, url, shown);
        }
        prop_assert!(!shown.to_ascii_lowercase().contains("<script") || shown.contains("<textarea>") || shown.contains("<title>")
            || shown.contains("<xmp>") || shown.contains("<plaintext>") || shown.contains("<style>"), "{} {}", body, shown);
        // What was shown once is shown again as it is, but for where it is shown.
        let _ = shown_in(Kind::Xml("application/xml"), None, body.as_bytes(), None, false);
        let _ = shown_in(Kind::Css, None, body.as_bytes(), None, false);
    }

    #[test]
    fn r8_any_bytes_are_shown_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), charset in prop::sample::select(vec![
        None, Some("utf-16le"), Some("iso-2022-jp"), Some("gbk"), Some("x")])) {
        for kind in [Kind::Html, Kind::Xml("application/xml"), Kind::Css, Kind::Plain("image/png")] {
            let _ = shown_in(kind, charset, &bytes, Some("[BAR]"), true);
        }
    }
}
