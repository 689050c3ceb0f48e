//! A10 on pages of other projects, where they are at hand. What is expected was read out of the
//! files by eye.

use std::collections::BTreeSet;
use std::fs;

use net::extract::Extracted;

use crate::world::{Reading, lines, shared, shown};

fn page(path: &str, address: &str, content_type: &str) -> Option<Extracted> {
    let body = fs::read(shared(path)?).unwrap();
    Some(Reading::new(address, content_type).of(body))
}

/// Each block: file, address, Content-Type; then its links, one a line.
fn check(blocks: &str) {
    for block in blocks.split("---").map(lines) {
        let [path, address, content_type] = block[0].split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{}", block[0])
        };
        let Some(found) = page(path, address, content_type) else { return };
        assert_eq!(shown(&found), block[1..], "{path}");
        assert_eq!(found.problem, None, "{path}");
    }
}

#[test]
fn a10_pages_of_scrapy() {
    check(
        r#"html-scrapy/link_extractor/linkextractor.html | http://x.no/ | text/html
        Link http://example.com/sample1.html "sample1"
        Link http://example.com/sample2.html "sample 2"
        Requisite http://example.com/sample2.jpg
        Link http://example.com/sample3.html "sample 3 text"
        Link http://www.google.com/something
        Link http://example.com/innertag.html "inner tag"
        Link http://example.com/page%204.html "href with whitespaces"
        ---
        html-scrapy/link_extractor/linkextractor_latin1.html | http://x.no/ | text/html
        Link http://example.com/sample_%C3%B1.html "sample2"
        Requisite http://example.com/sample2.jpg
        Link http://example.com/sample_%C3%A1.html "sample á text"
        Link http://example.com/sample_%C3%B6.html?price=%C2%A332&%C2%B5=unit "sample3"
        Requisite http://example.com/sample3.jpg
        ---
        html-scrapy/link_extractor/linkextractor_noenc.html | http://x.no/ | text/html
        Link http://example.com/sample_%C3%B1.html "sample2"
        Requisite http://example.com/sample2.jpg
        Link http://example.com/sample_%E2%82%AC.html "sample € text"
        ---
        html-scrapy/link_extractor/linkextractor_no_href.html | http://x.no/ | text/html
        Link http://example.com/author/Albert-Einstein "(about)"
        Link http://example.com/page/1/ "Page 1"
        Link http://example.com/page/3/ "Page 3"
        Link http://example.com/page/4/ "Page 4""#,
    );
}

#[test]
fn a10_pages_of_heritrix() {
    check(
        r#"site-heritrix-selftest/Frames/index.html | http://h.no/Frames/ | text/html
        Requisite http://h.no/Frames/topframe.html
        Requisite http://h.no/Frames/leftframe.html
        Requisite http://h.no/Frames/rightframe.html
        Link http://h.no/Frames/noframe.html "No frames"
        ---
        site-heritrix-selftest/Refresh/refresh.html | http://h.no/Refresh/refresh.html | text/html
        Redirect http://h.no/Refresh/refresh2.html
        ---
        site-heritrix-selftest/BackgroundImageExtraction/index.html | http://h.no/b/ | text/html
        Requisite http://h.no/b/example-background-image.jpeg
        ---
        site-heritrix-selftest/BadURIsStopPageParsing/one.html | http://h.no/b/one.html | text/html
        Link http://h.no/b/www.loc.gov/rr/european/egw/goodone.html "Good #1"
        ---
        site-heritrix-selftest/BadURIsStopPageParsing/two.html | http://h.no/b/two.html | text/html
        Link http://lcweb.loc.gov/rr/amed/afs/goodtwo.html "Good #2"
        ---
        site-heritrix-selftest/BadURIsStopPageParsing/three.html | http://h.no/b/three.html | text/html
        Link http://h.no/goodthree.html "Good #3"
        ---
        site-heritrix-selftest/TrickyRelativeURIs/index.html | http://h.no/TrickyRelativeURIs/ | text/html
        Link http://h.no/test8/anothersub/reluptarget.html "relative-up"
        Link http://h.no/TrickyRelativeURIs/reluptricky.html "tricky relative-up"
        ---
        site-heritrix-selftest/SpacesInHrefPath/index.html | http://h.no/ | text/html
        Link http://h.no/spaces%20in%20path.html "spaces in path"
        ---
        site-heritrix-selftest/Charset/index.html | http://h.no/ | text/html
        Link http://h.no/utf8.jsp "UTF-8 page""#,
    );
}

#[test]
fn a10_pages_of_the_web_platform_tests() {
    check(
        r#"html-wpt-tree/base_href_empty.html | http://w.no/d/p | text/html
        Link http://www.intel.com/
        Link https://html.spec.whatwg.org/multipage/
        Requisite http://w.no/resources/testharness.js
        Requisite http://w.no/resources/testharnessreport.js
        Requisite http://w.no/images/blue-100x100.png
        ---
        html-wpt-tree/base_multiple.html | http://w.no/d/p | text/html
        Link http://www.intel.com/
        Link https://html.spec.whatwg.org/multipage/
        Requisite http://w.no/resources/testharness.js
        Requisite http://w.no/resources/testharnessreport.js
        Requisite http://w.no/d/example.html"#,
    );
}

#[test]
fn a10_sitemaps_of_crawler_commons() {
    check(
        r#"sitemaps-crawler-commons/sitemap.badns.xml | http://www.example.com/sitemap.xml | text/xml
        Link http://www.example.com/1
        Link http://www.example.com/2
        ---
        sitemaps-crawler-commons/sitemap.ns.xml | http://www.example.com/sitemap.xml | application/octet-stream
        Link http://www.example.com/1
        Link http://www.example.com/2
        ---
        sitemaps-crawler-commons/sitemap.txt | http://www.domain.com/sitemap.txt | text/plain
        Link http://www.domain.com/page1.html
        Link http://www.domain.com/page2.html
        ---
        sitemaps-crawler-commons/sitemap-with-bom.txt | http://www.domain.com/sitemap.txt | text/plain
        Link http://www.domain.com/page1.html
        Link http://www.domain.com/page2.html
        ---
        sitemaps-crawler-commons/sitemap.txt.gz | http://www.domain.com/sitemap.txt.gz | application/gzip
        Link http://www.example.com/
        Link http://www.example.com/catalog?item=12&desc=vacation_hawaii
        Link http://www.example.com/catalog?item=73&desc=vacation_new_zealand
        Link http://www.example.com/catalog?item=74&desc=vacation_newfoundland
        Link http://www.example.com/catalog?item=83&desc=vacation_usa
        ---
        sitemaps-crawler-commons/extension/sitemap-images.xml | http://www.example.com/sitemap.xml | text/xml
        Link http://www.example.com/images/some_image_landing_page.html
        Requisite http://example.com/image.jpg
        Requisite http://example.com/photo.jpg
        ---
        sitemaps-crawler-commons/extension/sitemap-mobile.xml | http://www.example.com/sitemap.xml | text/xml
        Link http://www.example.com/mobile-friendly-1/
        Link http://www.example.com/mobile-friendly-2/
        Link http://www.example.com/no-mobile/
        ---
        sitemaps-crawler-commons/extension/sitemap-links.xml | http://www.example.com/sitemap.xml | text/xml
        Link http://www.example.com/english/
        Link http://www.example.com/deutsch/
        Link http://www.example.com/schweiz-deutsch/
        ---
        sitemaps-crawler-commons/extension/sitemap-news.xml | http://www.example.org/sitemap.xml | text/xml
        Link http://www.example.org/business/article55.html
        Link http://www.example.org/empty_news_name.html
        ---
        sitemaps-crawler-commons/atom.xml | http://example.org/feed/ | application/atom+xml
        Link http://example.org/feed/
        Link http://example.org/
        Link http://example.org/2003/12/13/atom03 "Atom-Powered Robots Run Amok"
        Link http://example.org/2003/12/13/atom03.html "Atom-Powered Robots Run Amok"
        Link http://example.org/2003/12/13/atom03/edit "Atom-Powered Robots Run Amok""#,
    );
    let Some(index) = page("sitemaps-crawler-commons/sitemap.index.xml", "https://example.com/s", "text/xml")
    else {
        return;
    };
    assert_eq!(index.links[0].url.as_str(), "https://example.com/sitemap.jss?portalCode=10260&lang=en");
    let text = fs::read_to_string(shared("sitemaps-crawler-commons/sitemap.index.xml").unwrap()).unwrap();
    assert_eq!(index.links.len(), text.matches("<sitemap>").count());
}

/// Every `<loc>` of a sitemap is found, packed or not, with whatever extension.
#[test]
fn a10_sitemaps_of_stormcrawler() {
    let Some(dir) = shared("sitemaps-stormcrawler") else { return };
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(plain) = name
            .contains("sitemap")
            .then(|| fs::read_to_string(path.with_file_name(name.trim_end_matches(".gz"))).unwrap())
        else {
            continue;
        };
        let found = Reading::new("https://stormcrawler.apache.org/sitemap.xml", "application/octet-stream")
            .of(fs::read(&path).unwrap());
        let found: BTreeSet<String> = found.links.iter().map(|link| link.url.to_string()).collect();
        let mut expected = BTreeSet::new();
        for part in plain.split("loc>").skip(1).filter(|part| !part.trim_start().starts_with('<')) {
            let raw = part.split('<').next().unwrap().trim().replace("&amp;", "&");
            expected.insert(crate::world::url(&raw).to_string());
        }
        assert!(
            !expected.is_empty() && expected.is_subset(&found),
            "{name}: {:?}",
            expected.difference(&found)
        );
    }
    check(
        r#"sitemaps-stormcrawler/redir.html | http://s.no/ | text/html
        Redirect http://www.somesite.com/site
        ---
        sitemaps-stormcrawler/duplicateLinks.html | http://s.no/ | text/html
        Link http://stormcrawler.net/ "link1""#,
    );
}

/// The link extraction page of the Internet Archive: the first records of its WARC.
#[test]
fn a10_pages_of_the_internet_archive() {
    let Some(path) = shared("ia-web-commons/resource/html/link-extraction-test.warc") else { return };
    let text = fs::read_to_string(path).unwrap();
    let record = |uri: &str| {
        let from = text
            .find(&format!("WARC-Target-URI: {uri}\n").replace('\n', "\r\n"))
            .or_else(|| text.find(&format!("WARC-Target-URI: {uri}\n")))
            .unwrap();
        let record = text[from..].split("WARC/1.0").next().unwrap().replace("\r\n", "\n");
        let body = record.split("\n\n").skip(2).collect::<Vec<_>>().join("\n\n");
        let content_type = if record.contains("xhtml+xml") { "application/xhtml+xml" } else { "text/html" };
        shown(&Reading::new(uri, content_type).of(body))
    };
    let expected = r#"Redirect http://www.example.com/redirected.html
        Requisite http://www.example.com/background.jpg
        Link http://www.example.com/a-href.html "A@/href"
        Requisite http://www.example.com/image.png
        Requisite http://www.example.com/image.gif
        Requisite http://www.example.com/helloworld.swf"#;
    assert_eq!(record("http://www.example.com/html4.html"), lines(expected));
    let expected = r#"Link http://www.example.com/video.html
        Link http://www.example.com/video.rss
        Requisite https://archive.org/download/WebmVp8Vorbis/webmvp8.gif
        Requisite https://archive.org/download/WebmVp8Vorbis/webmvp8.webm
        Requisite https://archive.org/download/WebmVp8Vorbis/webmvp8_512kb.mp4
        Requisite https://archive.org/download/WebmVp8Vorbis/webmvp8.ogv"#;
    assert_eq!(record("http://www.example.com/link-extraction-test-html5-video.html"), lines(expected));
    let expected = r#"Link http://www.example.com/ "link""#;
    assert_eq!(record("http://www.example.com/poor_html5.html"), lines(expected));
}
