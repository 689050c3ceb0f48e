//! A10: sitemaps and feeds.

use std::io::Write;

use crate::world::{Reading, lines, shown};

fn xml(body: impl AsRef<[u8]>) -> Vec<String> {
    shown(&Reading::new("http://a.no/feed", "application/xml").of(body))
}

#[test]
fn a10_sitemaps() {
    let table = r#"
        <urlset><url><loc> http://a.no/1?a=1&amp;b=2 </loc></url></urlset> => Link http://a.no/1?a=1&b=2
        <s:urlset><s:url><s:loc><![CDATA[http://a.no/1?a&amp=2]]></s:loc></s:url></s:urlset> => Link http://a.no/1?a&amp=2
        <sitemapindex><sitemap><loc>http://a.no/s.xml</loc></sitemap></sitemapindex> => Link http://a.no/s.xml
        <sitemapindex><sitemap> http://a.no/s.xml </sitemap></sitemapindex> => Link http://a.no/s.xml
        <urlset><image:image><image:loc>/i</image:loc></image:image><loc>/p</loc></urlset> => Requisite http://a.no/i; Link http://a.no/p
        <urlset><video:video><video:title>t</video:title><video:content_loc>/v</video:content_loc></video:video></urlset> => Requisite http://a.no/v
        <urlset><xhtml:link rel="alternate" hreflang="de" href="/de"/></urlset> => Link http://a.no/de
        <urlset><url><loc>/1</loc><url><loc>/2</urlset> => Link http://a.no/1; Link http://a.no/2
        <urlset><url><loc/></url><lastmod>2020</lastmod></urlset> =>"#;
    for line in lines(table) {
        let (body, expected) = line.split_once("=>").unwrap();
        assert_eq!(xml(body.trim()).join("; "), expected.trim(), "{body}");
    }
}

#[test]
fn a10_feeds() {
    let rss = r#"<rss><channel><title>The feed</title><link>http://a.no/</link>
        <image><url>/logo.png</url><title>Logo</title><link>http://a.no/</link></image>
        <item><link>/1</link><title>One &amp; <![CDATA[<only>]]></title><guid>http://a.no/1</guid></item>
        <item><title>Two</title><guid isPermaLink="false">http://a.no/no</guid><guid>/2</guid>
          <enclosure url="/2.mp3" type="audio/mpeg"/><media:content url="/2.jpg"><media:title>x</media:title></media:content></item>
        </channel></rss>"#;
    let found = Reading::new("http://a.no/feed", "application/rss+xml").of(rss);
    let expected = lines(
        r#"Link http://a.no/
        Requisite http://a.no/logo.png
        Link http://a.no/1 "One & <only>"
        Link http://a.no/2 "Two"
        Requisite http://a.no/2.mp3 "Two"
        Requisite http://a.no/2.jpg "Two""#,
    );
    assert_eq!(
        (shown(&found), found.title.as_deref()),
        (expected.iter().map(ToString::to_string).collect(), Some("The feed"))
    );
    let atom = r#"<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="/feed"/><icon>/i.png</icon>
        <entry><title>E</title><link href="/e"/><link rel="enclosure" href="/e.mp3"/><content src="/e.html"/></entry></feed>"#;
    let expected = lines(
        r#"Link http://a.no/feed
        Requisite http://a.no/i.png
        Link http://a.no/e "E"
        Requisite http://a.no/e.mp3 "E"
        Link http://a.no/e.html "E""#,
    );
    assert_eq!(xml(atom), expected);
    let rdf = r#"<rdf:RDF><item rdf:about="/1"><title>R</title><link>/1</link></item></rdf:RDF>"#;
    assert_eq!(xml(rdf), [r#"Link http://a.no/1 "R""#]);
}

/// F41: when each page changed, as sitemaps and feeds say.
#[test]
fn f41_dates_go_with_the_pages_they_are_of() {
    let sitemap = "<urlset>
        <url><loc>/day</loc><lastmod>2026-03-01</lastmod><image:image><image:loc>/i.png</image:loc></image:image></url>
        <url><lastmod>2026-03-02T10:00:00Z</lastmod><loc>/before</loc></url>
        <url><loc>/none</loc><news:publication_date>2026-03-03</news:publication_date></url>
        <url><loc>/nonsense</loc><lastmod>lately</lastmod></url>
        <url><loc>/open</loc><lastmod>2026-03-04T10:00:00Z</lastmod>
        <url><loc>/twice</loc><lastmod>2026-03-05T10:00:00Z</lastmod></url>
        <url><loc>/twice</loc><lastmod>2026-03-06T10:00:00Z</lastmod></url></urlset>";
    let index = "<sitemapindex><sitemap><loc>/s.xml</loc><lastmod>2026-03-07T10:00:00Z</lastmod></sitemap></sitemapindex>";
    let rss = "<rss><channel><pubDate>Sun, 08 Mar 2026 10:00:00 GMT</pubDate><item><link>/1</link><pubDate>Mon, 09 Mar 2026 10:00:00 GMT</pubDate>
        <guid>http://a.no/g</guid><enclosure url='/1.mp3'/></item><item><link>/2</link></item></channel></rss>";
    let atom = "<feed><updated>2026-03-10T10:00:00Z</updated><entry><link href='/e'/><published>2026-03-11T10:00:00Z</published>
        <updated>2026-03-12T10:00:00Z</updated><link rel='enclosure' href='/e.mp3'/></entry></feed>";
    let dated = |body: &str| -> Vec<String> {
        let found = Reading::new("http://a.no/feed", "application/xml").of(body);
        let line = |link: &net::extract::Found| {
            let said = link.said.map_or("-".to_owned(), |said| said.from.to_string());
            format!("{} {said}", link.url.as_str().trim_start_matches("http://a.no"))
        };
        found.links.iter().map(line).collect()
    };
    let days = dated(sitemap);
    assert_eq!(
        days,
        [
            "/day 2026-03-01T00:00:00Z",
            "/i.png -",
            "/before 2026-03-02T10:00:00Z",
            "/none -",
            "/nonsense -",
            "/open 2026-03-04T10:00:00Z",
            "/twice 2026-03-06T10:00:00Z",
        ]
    );
    assert_eq!(dated(index), ["/s.xml 2026-03-07T10:00:00Z"]);
    assert_eq!(dated(rss), ["/1 2026-03-09T10:00:00Z", "/g 2026-03-09T10:00:00Z", "/1.mp3 -", "/2 -"]);
    assert_eq!(dated(atom), ["/e 2026-03-12T10:00:00Z", "/e.mp3 -"]);
}

#[test]
fn a10_a_list_of_urls_is_a_sitemap_if_it_is_called_one() {
    let body = "\u{FEFF}http://a.no/1\r\nno url\nhttps://a.no/2\n  http://a.no/3";
    let expected = ["Link http://a.no/1", "Link https://a.no/2", "Link http://a.no/3"];
    assert_eq!(shown(&Reading::new("http://a.no/sitemap.txt", "text/plain").of(body)), expected);
    let mut announced = Reading::new("http://a.no/list", "text/plain");
    assert_eq!(shown(&announced.of(body)), [""; 0]);
    announced.announced = true;
    assert_eq!(shown(&announced.of(body)), expected);
}

#[test]
fn a10_a_packed_sitemap_is_unpacked() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"<urlset><url><loc>http://a.no/1</loc></url></urlset>").unwrap();
    let packed = gzip.finish().unwrap();
    for content_type in ["application/gzip", "application/x-gzip", "application/octet-stream", "text/xml"] {
        let found = Reading::new("http://a.no/sitemap.xml.gz", content_type).of(&packed);
        assert_eq!((shown(&found).as_slice(), found.problem), (&["Link http://a.no/1".to_owned()][..], None));
    }
    let found = Reading::new("http://a.no/sitemap.xml.gz", "text/xml").of(&packed[..packed.len() - 12]);
    assert!(found.problem.is_some());
}
