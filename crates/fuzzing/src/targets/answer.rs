//! From an answer to the next request (A7, A12): whatever its headers leave behind can be kept,
//! read back, and sent. The input is the answer, head and all.

use std::collections::BTreeMap;

use net::cookies::{HEADER_BYTES_MAX, Jar, date};
use net::extract::{Limits, Page, links};
use net::http::{check_header, head, is_validator, validator};
use policy::cookies::{COOKIES_MAX, Change, Row, domain_matches, rows_for};
use policy::model::GivenCookie;
use policy::time::{Span, Time};
use policy::url::{CrawlUrl, UrlRules};

use super::page;
use crate::{Seeds, Target};

const NOW: Time = Time(1_709_210_096_789);
/// A row must fit a transaction beside much else.
const ROW_BYTES_MAX: usize = 64 << 10;

pub const ANSWER: Target = Target {
    name: "answer",
    run: answer,
    seeds,
    words: &[
        "Set-Cookie: ",
        "ETag: ",
        "Last-Modified: ",
        "Location: ",
        "Link: ",
        "Refresh: ",
        "Content-Type: text/html\r\n",
        "\r\n",
        "; Domain=",
        "; Path=",
        "; Expires=",
        "; Max-Age=",
        "; Secure",
        "=",
        "a=",
        "W/\"",
        "\r",
        "\0",
        "\x7f",
        ".example.co.uk",
        "www.",
        "co.uk",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "rel=next",
        "; url=",
        "\t",
        "<",
        ">",
    ],
    runs: 5000,
};

fn seeds(seeds: &mut Seeds) {
    seeds.each(&[
        "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nLast-Modified: Thu, 29 Feb 2024 12:34:56 GMT\r\nSet-Cookie: a=b; Path=/; Max-Age=100\r\nSet-Cookie: c=d; Domain=.example.co.uk; Secure\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: //other.example/a b?\u{e9}\r\nSet-Cookie: session=; Expires=Thu, 01-Jan-70 00:00:00 GMT\r\n\r\n",
        "HTTP/1.1 200 OK\r\nETag: W/\"a\rb\"\r\nSet-Cookie: login=x\x01y\r\nLink: </p>; rel=\"prefetch\", <q>;rel=stylesheet\r\nRefresh: 3; url='/r'\r\nRetry-After: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; domain=co.uk\r\nSet-Cookie: a=2; domain=www.example.co.uk; path=/x\r\nSet-Cookie: a=3; domain=127.0.0.1\r\n\r\n",
        "HTTP/1.1 304 Not Modified\nETag: caf\u{e9}\n  folded\n\n",
    ]);
}

fn answer(input: &[u8]) {
    let Some(end) = head::end_of_head(input, 0) else { return };
    let Some(parsed) = head::parse(&input[..end]) else { return };
    let head = parsed.head;
    for (name, sent_as) in [("etag", "If-None-Match"), ("last-modified", "If-Modified-Since")] {
        if let Some(kept) = validator(&head, name) {
            assert!(is_validator(&kept));
            check_header(sent_as, &kept).expect("what is kept can be sent");
        }
    }
    for value in ["retry-after", "last-modified", "expires"].iter().filter_map(|name| head.header(name)) {
        let _ = date::parse(&value);
    }
    cookies(&head);
    for address in ["http://www.example.co.uk/dir/page", "https://127.0.0.1:8443/"] {
        let url = CrawlUrl::from_normal(address).unwrap();
        let (rules, limits) = (
            UrlRules::default(),
            Limits { links_max: 100, anchor_bytes_max: 40, decoded_bytes_max: 100_000, text: true },
        );
        let read =
            Page { url: &url, head: &head, limits, rules: &rules, forms: false, announced_as_sitemap: false };
        page::check(&links(&read, &mut &input[end..]), &limits);
    }
}

/// The same answer from several hosts, one after the other, as the store keeps their rows.
fn cookies(head: &net::exchange::Head) {
    let mut store: BTreeMap<String, Row> = BTreeMap::new();
    let given = [
        GivenCookie {
            host: "example.co.uk".to_owned(),
            name: "login".to_owned(),
            value: "secret".to_owned(),
            path: None,
        },
        GivenCookie {
            host: "127.0.0.1".to_owned(),
            name: "a".to_owned(),
            value: "g".to_owned(),
            path: Some("/x".to_owned()),
        },
    ];
    let hosts = [
        "http://www.example.co.uk/x/y",
        "https://a.b.example.co.uk/",
        "http://127.0.0.1/x/",
        "http://[::1]/x",
        "https://github.io/",
        "http://www.example.co.uk/",
    ];
    for (visit, address) in hosts.into_iter().enumerate() {
        let now = NOW.plus(Span::seconds(visit as u64));
        let url = CrawlUrl::from_normal(address).unwrap();
        let host = url.host();
        let mut jar = Jar::load(&kept(&store, host), &given, host, now);
        jar.take(&url, head.all("set-cookie"), now);
        let sent = jar.header_for(&url, now);
        if let Some(header) = &sent {
            check_header("Cookie", header).expect("cookies that were taken can be sent");
            assert!(header.len() <= HEADER_BYTES_MAX);
        }
        for update in jar.into_updates() {
            assert!(
                rows_for(host).contains(&update.row.as_str()),
                "{host} has nothing to say in {}",
                update.row
            );
            if let Change::Set(cookie) = &update.change {
                let fits = if cookie.host_only {
                    cookie.domain == host
                } else {
                    domain_matches(host, &cookie.domain)
                };
                assert!(fits, "{host} may not set cookies for {}", cookie.domain);
            }
            store.entry(update.row).or_default().apply(&update.change, now);
        }
        for row in store.values_mut() {
            assert!(row.cookies.len() <= COOKIES_MAX);
            let bytes = postcard::to_allocvec(row).unwrap();
            assert!(bytes.len() <= ROW_BYTES_MAX, "{} bytes", bytes.len());
            let read: Row = postcard::from_bytes(&bytes).unwrap();
            assert!(read == *row, "a row reads back");
        }
        let again = Jar::load(&kept(&store, host), &given, host, now);
        assert!(again.header_for(&url, now) == sent, "another request would send other cookies: {:?}", sent);
    }
}

fn kept(store: &BTreeMap<String, Row>, host: &str) -> Vec<(String, Row)> {
    let rows = rows_for(host).into_iter();
    rows.filter_map(|name| Some((name.to_owned(), store.get(name)?.clone()))).collect()
}
