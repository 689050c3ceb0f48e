//! The links of a page (A10, A11): every one can be asked for, bounds are bounds, and a body that
//! trickles in or is cut at any byte is read like any other. The first line is the Content-Type.

use std::collections::HashSet;

use net::exchange::Head;
use net::extract::{Extracted, Limits, Page, links};
use policy::url::{CrawlUrl, UrlRules};

use super::url;
use crate::{Seeds, Target, Trickle, first_line};

const LIMITS: Limits =
    Limits { links_max: 100, anchor_bytes_max: 40, decoded_bytes_max: 200_000, text: true };

pub const HTML: Target = Target {
    name: "html",
    run: |input| page(input, "http://a.no/dir/page.html", false),
    seeds: html_seeds,
    words: &[
        "<a href=",
        "<base href=",
        "<meta charset=",
        "<meta http-equiv=refresh content=\"0;url=",
        "<img srcset=\"",
        "<style>",
        "</style>",
        "<script>",
        "</script>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<svg>",
        "</svg>",
        "<template>",
        "</template>",
        "<iframe srcdoc='",
        "xml:base=",
        "xlink:href=",
        "<?xml-stylesheet href=",
        "&amp;",
        "&#x",
        "&#0;",
        "<title>",
        "</title>",
        "</a>",
        "<plaintext>",
        "<noscript>",
        "url(",
        "@import",
        "'",
        "\"",
        ">",
        "/>",
        "<math>",
        "<textarea>",
        "<form action=",
        "\u{feff}",
        "utf-16le",
        "iso-2022-jp",
        "x-user-defined",
        "gb18030",
    ],
    runs: 5000,
};

pub const XML: Target = Target {
    name: "xml",
    run: |input| page(input, "http://a.no/doc.xml", false),
    seeds: xml_seeds,
    words: &[
        "<?xml version='1.0' encoding='",
        "utf-16",
        "<rss>",
        "<feed ",
        "<rdf:RDF",
        "<item>",
        "<link>",
        "</link>",
        "<link href='",
        "<enclosure url=",
        "<svg ",
        "xml:base='",
        "xlink:href='",
        "<![CDATA[",
        "]]>",
        "<?xml-stylesheet ",
        "<html xmlns=",
        "&lt;",
        "<content src='",
        "<guid isPermaLink='true'>",
        "<a href='",
        "<!DOCTYPE",
        "<!ENTITY a '",
        "&a;",
    ],
    runs: 3000,
};

pub const SITEMAP: Target = Target {
    name: "sitemap",
    run: |input| page(input, "http://a.no/sitemap.xml.gz", true),
    seeds: sitemap_seeds,
    words: &[
        "<urlset>",
        "<sitemapindex>",
        "<loc>",
        "</loc>",
        "<url>",
        "<image:loc>",
        "<xhtml:link href='",
        "<video:content_loc>",
        "<![CDATA[",
        "]]>",
        "&amp;",
        "http://b.no/\n",
        "https://",
        "<news:news>",
    ],
    runs: 3000,
};

pub const CSS: Target = Target {
    name: "css",
    run: |input| page(input, "http://a.no/style.css", false),
    seeds: css_seeds,
    words: &[
        "url(",
        ")",
        "@import ",
        "@namespace ",
        "@charset \"",
        "'",
        "\"",
        "/*",
        "*/",
        "\\",
        "\\0",
        "\\00006c",
        "image-set(",
        "src(",
        "{",
        "}",
        ";",
        "\n",
    ],
    runs: 3000,
};

fn html_seeds(seeds: &mut Seeds) {
    seeds.each(&[
        "text/html\n<title>T</title><base href=/b/><a href=x>one <b>two</b></a><img src=i srcset='a 1x, b 2x'><style>@import 'c.css';p{background:url(d)}</style>",
        "text/html; charset=iso-8859-1\n<meta http-equiv=refresh content='5; url=/r?\u{e6}'><a href='/\u{f8}?\u{e5}#f'>x</a>",
        "text/html\n<svg xml:base='/s/'><a xlink:href=q>t</a><style>a{b:url(r)}</style></svg><template><base href=/no/></template><iframe srcdoc='&lt;a href=in>'>",
        "\n<!doctype html><meta charSet=shift_jis><a href=a>\u{fd}</a><!-- <a href=no> --><script>'<a href=no>'</script><a href=b",
        "application/xhtml+xml\n<?xml version='1.0' encoding='utf-8'?><?xml-stylesheet href='s.css'?><html xmlns='x'><a href='c'/></html>",
        "text/html\n<a href=http://user@h.no/>u</a><area href=z><link rel=stylesheet href=l><object data=o><video poster=p src=v>",
    ]);
    seeds.add(b"text/html\n\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0x\0>\0");
    seeds.shared("html-scrapy", &["html"], "text/html\n");
    seeds.shared("html-wpt-tree", &["html", "htm", "dat"], "text/html\n");
    seeds.shared("html-html5lib/encoding", &["dat"], "text/html\n");
    seeds.shared("site-heritrix-selftest", &["html", "htm"], "text/html\n");
    seeds.shared("site-brozzler", &["html"], "text/html\n");
    seeds.shared("ia-web-commons/resource/html", &[], "text/html\n");
}

fn xml_seeds(seeds: &mut Seeds) {
    seeds.each(&[
        "application/rss+xml\n<rss><channel><link>http://b.no/</link><item><title>t</title><link><![CDATA[/i?a=1&b=2]]></link><enclosure url='/e.mp3'/></item></channel></rss>",
        "application/atom+xml\n<feed xmlns='http://www.w3.org/2005/Atom' xml:base='/f/'><entry xml:base='g/'><link href='h'/><content src='c'/></entry></feed>",
        "image/svg+xml\n<svg xmlns:xlink='x'><image xlink:href='i.png'/><a href='b'><text>t</text></a></svg>",
        "text/xml\n<?xml-stylesheet type='text/xsl' href='s.xsl'?><unknown/>",
    ]);
    seeds.add(b"text/xml\n\xfe\xff\0<\0r\0s\0s\0>\0<\0l\0i\0n\0k\0>\0/\0a");
    seeds.shared("sitemaps-stormcrawler", &["rss", "atom", "feed", "xml"], "text/xml\n");
    seeds.shared("html-scrapy/test_site", &[], "application/xml\n");
}

fn sitemap_seeds(seeds: &mut Seeds) {
    seeds.each(&[
        "text/xml\n<?xml version='1.0'?><urlset><url><loc>http://a.no/x?a=1&amp;b=2</loc><image:image><image:loc>/i</image:loc></image:image></url></urlset>",
        "application/xml\n<sitemapindex><sitemap><loc> http://a.no/s1.xml </loc></sitemap></sitemapindex>",
        "text/plain\nhttp://a.no/1\r\nhttp://a.no/2\nnothing\nHTTP://B.no/3",
        "\n\u{feff}https://a.no/1",
    ]);
    seeds.shared("sitemaps-crawler-commons", &["xml", "txt", "gz"], "application/xml\n");
    seeds.shared("sitemaps-stormcrawler", &["xml"], "\n");
}

fn css_seeds(seeds: &mut Seeds) {
    seeds.each(&[
        "text/css\n@charset \"utf-8\";@import 'a.css' screen;@import url( b.css );p{background:url('c\\'d.png'),url(e\\66.png)}",
        "text/css\n/* url(no) */ @namespace url(http://no/); x{a:image-set('i.png' 1x, url(j.png) 2x)} @import/**/\"k\"",
        "text/css; charset=utf-16be\n\0@\0i\0m\0p\0o\0r\0t\0 \0'\0a\0'",
    ]);
    seeds.shared("site-heritrix-selftest", &["css"], "text/css\n");
    seeds.shared("site-brozzler", &["css"], "text/css\n");
}

fn page(input: &[u8], address: &str, announced: bool) {
    let (content_type, body) = first_line(input);
    let url = CrawlUrl::from_normal(address).unwrap();
    let headers = vec![("Content-Type".to_owned(), content_type.to_vec())];
    let head = Head { status: 200, headers, bytes: 0 };
    let rules = UrlRules::default();
    let page = Page {
        url: &url,
        head: &head,
        limits: LIMITS,
        rules: &rules,
        forms: true,
        announced_as_sitemap: announced,
    };
    let mut at_once = Trickle::new(body, usize::MAX);
    let found = links(&page, &mut at_once);
    check(&found, &LIMITS);
    // Work is bounded by the bytes: the body is read once.
    assert!(at_once.reads <= 16 + body.len() / 1000, "{} reads of {} bytes", at_once.reads, body.len());
    let trickled = links(&page, &mut Trickle::new(body, 7));
    assert_eq!(trickled, found, "in pieces of 7 bytes");
    // Cut somewhere that the input itself says.
    let cut =
        body.iter().fold(0, |sum: usize, byte| sum.wrapping_mul(31) + usize::from(*byte)) % (body.len() + 1);
    check(&links(&page, &mut &body[..cut]), &LIMITS);
}

pub(super) fn check(found: &Extracted, limits: &Limits) {
    assert!(found.links.len() <= limits.links_max);
    let mut seen = HashSet::new();
    for link in &found.links {
        url::check(&link.url);
        let again = policy::url::normalise(link.url.as_str(), None, &UrlRules::default());
        assert_eq!(again.as_ref().map(CrawlUrl::as_str), Ok(link.url.as_str()));
        assert!(seen.insert((link.url.as_str(), link.kind)), "{} twice", link.url.as_str());
        assert!(link.anchor.len() <= limits.anchor_bytes_max, "{:?}", link.anchor);
        assert!(
            !link.anchor.contains(['\n', '\r', '\t']) && link.anchor.trim() == link.anchor,
            "{:?}",
            link.anchor
        );
        assert!(!link.how.is_empty());
    }
    assert!(
        found.title.as_ref().is_none_or(|title| !title.contains(['\n', '\r', '\t'])),
        "{:?}",
        found.title
    );
    assert!(found.problem.as_ref().is_none_or(|problem| !problem.contains('\n')));
}
