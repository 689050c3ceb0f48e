//! A long page is read through a window (A11): where in it something stands makes no difference.
//! The first line says what it is; the first two bytes after it, where the window ends.

use net::exchange::Head;
use net::extract::{Extracted, Limits, Page, links};
use policy::url::{CrawlUrl, UrlRules};

use crate::{Seeds, Target, first_line};

/// Read at a time: see `extract::window`.
const PIECE_BYTES: usize = 64 << 10;

pub const WINDOW: Target =
    Target { name: "window", run: window, seeds, words: super::page::HTML.words, runs: 1500 };

fn seeds(seeds: &mut Seeds) {
    seeds.each(&[
        "html\n\x00\x10<a href=x>one <b>two</b></a><img src=i srcset='a 1x, b 2x'><style>@import 'c.css';p{background:url(d)}</style>\u{e9}",
        "html\n\x00\x20<svg><a xlink:href=q>t</a><style>a{b:url(r)}</style></svg><iframe srcdoc='&lt;a href=in>'></iframe><title>t</title>",
        "html\n\x00\x08<!-- <a href=no> --><script>'<a href=no>'</script><a href='b'>b</a><meta http-equiv=refresh content='5; url=/r'>",
        "css\n\x00\x08@import 'a.css' screen;@import url( b.css );p{background:url('c\\'d.png')}/* url(no) */ @namespace url(http://no/);",
        "feed\n\x00\x08<url><loc>http://a.no/x?a=1&amp;b=2</loc></url><item><link><![CDATA[/i]]></link></item><entry xml:base='g/'><link href='h'/></entry>",
    ]);
    seeds.shared("html-scrapy/link_extractor", &["html"], "html\n\x01\x00");
    seeds.shared("site-heritrix-selftest", &["html"], "html\n\x00\x50");
    seeds.shared("sitemaps-crawler-commons/extension", &["xml"], "feed\n\x00\x50");
}

fn read(content_type: &str, body: &[u8]) -> Extracted {
    let url = CrawlUrl::from_normal("http://a.no/dir/page").unwrap();
    let headers = vec![("Content-Type".to_owned(), content_type.as_bytes().to_vec())];
    let head = Head { status: 200, headers, bytes: 0 };
    let (rules, limits) = (UrlRules::default(), Limits::default());
    links(
        &Page { url: &url, head: &head, limits, rules: &rules, forms: true, announced_as_sitemap: false },
        &mut &body[..],
    )
}

fn window(input: &[u8]) {
    let (kind, rest) = first_line(input);
    let [high, low, body @ ..] = rest else { return };
    let (content_type, begin, pad) = match kind {
        b"css" => ("text/css; charset=utf-8", "p{}", b' '),
        b"feed" => ("text/xml; charset=utf-8", "<urlset>", b' '),
        _ => ("text/html; charset=utf-8", "<p>", b'x'),
    };
    let within = usize::from(u16::from_be_bytes([*high, *low])) % (body.len() + 1);
    let padded = |bytes: usize| [begin.as_bytes(), &vec![pad; bytes], body].concat();
    let long = PIECE_BYTES - begin.len() - within;
    let (short, long) = (read(content_type, &padded(1)), read(content_type, &padded(long)));
    assert_eq!(long, short, "with the window ending {within} bytes into it");
}
