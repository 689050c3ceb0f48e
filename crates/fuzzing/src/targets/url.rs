//! URLs (F29): what was taken once is in the one spelling, and everything that takes it apart can.
//! First line: the page it stood on.

use net::surt;
use policy::cookies::{ROWS_MAX, rows_for};
use policy::url::{CrawlUrl, HOST_BYTES_MAX, URL_BYTES_MAX, UrlRules, normalise};

use crate::{Seeds, Target, first_line};

pub const URL: Target = Target {
    name: "url",
    run: url,
    seeds,
    words: &[
        "http://",
        "https://",
        "//",
        "///",
        "\\",
        "..",
        "/../",
        "/./",
        "?",
        "#",
        "@",
        ":80",
        ":443",
        ":",
        "%2e",
        "%2F",
        "[::1]",
        "127.0.0.1",
        "0x7f.1",
        "www.",
        ".",
        "xn--",
        "ß",
        "。",
        ";sid=1",
        "?sid=1&",
        "&a=b",
        "\t",
        "é",
    ],
    runs: 6000,
};

fn seeds(seeds: &mut Seeds) {
    seeds.each(&[
        "http://a.no/dir/page?q#f\n../other;sid=1/x?a=1&SID=2&b#c",
        "https://www.example.co.uk:8443/\n//user:pw@Ex%41mple.com.:443/%7ea b/é?ø=æ",
        "http://[2001:db8::1]/\n?only=query",
        "http://a.no/\nhttp:/\\\\b.no\\x\\..\\y",
        "http://a.no/\n/a/a/a/a/a/a",
        "http://a.no/x;sid=2/.;sid=1/y\n.;sid=1",
    ]);
    seeds.shared("url-urlcanon", &["urls", "txt"], "http://a.no/\n");
    seeds.shared("url-crawler-commons", &[], "http://a.no/\n");
}

fn url(input: &[u8]) {
    let (page, raw) = first_line(input);
    let raw = String::from_utf8_lossy(&raw[..raw.len().min(4000)]).into_owned();
    let plain = UrlRules::default();
    let sessions =
        UrlRules { session_ids: vec!["sid".to_owned(), "phpsessid".to_owned()], ..UrlRules::default() };
    let page = normalise(&String::from_utf8_lossy(page), None, &plain).ok();
    for rules in [&plain, &sessions] {
        // Alone, on a page, and line by line: lists of URLs are among the seeds.
        for raw in std::iter::once(raw.as_str()).chain(raw.lines().take(20)) {
            for base in [None, page.as_ref()] {
                let Ok(url) = normalise(raw, base, rules) else { continue };
                check(&url);
                let again = normalise(url.as_str(), None, rules);
                assert_eq!(again.as_ref().map(CrawlUrl::as_str), Ok(url.as_str()), "from {raw:?}");
                // Relative to any page, it is itself.
                let there = normalise(url.as_str(), page.as_ref(), rules);
                assert_eq!(there.as_ref().map(CrawlUrl::as_str), Ok(url.as_str()), "from {raw:?}");
            }
        }
    }
    let key = surt::key(&raw);
    assert_eq!(surt::key(&raw), key);
    let _ = surt::surt(&raw);
}

/// What holds for every URL that there is.
pub(super) fn check(url: &CrawlUrl) {
    let text = url.as_str();
    assert!(text.len() <= URL_BYTES_MAX);
    assert!(
        text.bytes().all(|byte| byte.is_ascii() && byte > b' ' && byte != 0x7f),
        "cannot be asked for: {text:?}"
    );
    let read = CrawlUrl::from_normal(text).expect("it reads back");
    assert_eq!((read.as_str(), read.host(), read.path_and_query()), (text, url.host(), url.path_and_query()));
    let host = url.host();
    assert!(!host.is_empty() && host.len() <= HOST_BYTES_MAX && !host.ends_with('.'), "{text:?}");
    assert_eq!(host.to_ascii_lowercase(), host);
    assert!(host.ends_with(url.site()) && host.ends_with(url.domain()), "{text:?}");
    assert!(url.is_in_domain(url.domain()), "{text:?}");
    assert!(url.path().starts_with('/') && url.path_and_query().starts_with(url.path()));
    let rows = rows_for(host);
    assert!((1..=ROWS_MAX).contains(&rows.len()), "{text:?}");
    let key = surt::key(text);
    assert!(!key.is_empty() && !key.contains(['\n', '\r']), "{text:?}: {key:?}");
}
