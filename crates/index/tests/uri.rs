//! X1: how URLs are spelt in the index, and read back.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use index::{Skip, URI_BYTES_MAX, Uri};
use proptest::prelude::*;
use url::{Position, Url};

#[test]
fn x1_spelling() {
    let cases = [
        ("http://c.com/", "com.c", "com.c"),
        ("http://c.com", "com.c", "com.c"),
        ("HTTP://C.com:80/#fragment", "com.c", "com.c"),
        ("https://www.a.com/p?q", "com.a.www:443/p?q", "com.a"),
        ("https://www.a.com:443/", "com.a.www:443", "com.a"),
        ("http://a.com:443/", "com.a:443h", "com.a"),
        ("http://a.com:8080/x", "com.a:8080/x", "com.a"),
        ("https://a.com:8443/x", "com.a:8443/x", "com.a"),
        ("https://a.com:80/", "com.a:80s", "com.a"),
        ("http://a.com:8443/", "com.a:8443h", "com.a"),
        ("http://a.com/?q", "com.a/?q", "com.a"),
        ("http://a.com/?", "com.a/?", "com.a"),
        ("http://a.com./x", "com.a/x", "com.a"),
        ("http://a.com/a/../b/", "com.a/b/", "com.a"),
        ("http://www.example.co.uk/", "uk.co.example.www", "uk.co.example"),
        ("http://x.blog.example.github.io/", "io.github.example.blog.x", "io.github.example"),
        ("http://github.io/", "io.github", "io.github"),
        ("http://com/", "com", "com"),
        ("http://localhost:3000/", "localhost:3000", "localhost"),
        ("http://a.b.internal/", "internal.b.a", "internal.b"),
        ("http://127.0.0.1:8080/x", "127.0.0.1:8080/x", "127.0.0.1"),
        ("https://127.0.0.1/", "127.0.0.1:443", "127.0.0.1"),
        ("http://0x7f.1/", "127.0.0.1", "127.0.0.1"),
        ("http://[::1]/x", "[::1]/x", "[::1]"),
        ("https://[2001:DB8::1]:8443/", "[2001:db8::1]:8443", "[2001:db8::1]"),
        ("http://bücher.example/ä", "example.xn--bcher-kva/%C3%A4", "example.xn--bcher-kva"),
    ];
    for (url, spelt, domain) in cases {
        let uri = Uri::of_url(url).unwrap();
        assert_eq!((uri.as_str(), uri.domain()), (spelt, domain), "{url}");
        assert_eq!(Uri::of_url(&uri.to_url()), Ok(uri.clone()), "{url}");
        assert_eq!(Uri::read(spelt), Some(uri), "{url}");
    }
}

#[test]
fn x1_what_is_skipped_and_why() {
    let long = format!("http://a.com/{}", "x".repeat(URI_BYTES_MAX));
    let monster = format!("http://a.com/{}", "x".repeat(100_000));
    let cases = [
        ("mailto:someone@a.com", Skip::NotHttp),
        ("javascript:void(0)", Skip::NotHttp),
        ("ftp://a.com/", Skip::NotHttp),
        ("http://user@a.com/", Skip::UserInfo),
        ("http://user:secret@a.com/", Skip::UserInfo),
        ("/relative", Skip::Unparsable),
        ("http://", Skip::Unparsable),
        ("http://a b/", Skip::Unparsable),
        ("http://1.2.3.4.5/", Skip::Unparsable),
        ("http://a.com../", Skip::Unparsable),
        (&long, Skip::TooLong),
        (&monster, Skip::TooLong),
    ];
    let mut builder = index::PageBuilder::default();
    for (url, skip) in cases {
        assert_eq!(Uri::of_url(url), Err(skip), "{}", &url[..url.len().min(60)]);
        builder.link(url, "");
    }
    builder.link("http://a.com/", "");
    let (page, skipped) = builder.finish();
    assert_eq!((page.len(), skipped.total(), skipped.not_http, skipped.too_long), (1, 12, 3, 2));
}

#[test]
fn x1_what_is_no_uri_is_not_read() {
    for text in [
        "",
        "COM.a",
        "com.a/",
        "com.a:80",
        "com.a:443s",
        "com.a:8443s",
        "com.a:8080h",
        "com.a#x",
        "com.a/b c",
        "http://a.com/",
    ] {
        assert_eq!(Uri::read(text), None, "{text}");
    }
}

#[test]
fn x1_a_monster_page_is_cut_and_counted() {
    let mut builder = index::PageBuilder::default();
    for n in 0..index::PAGE_LINKS_MAX + 10 {
        builder.link(&format!("http://a.com/{n}"), &"ä".repeat(400));
    }
    let (page, skipped) = builder.finish();
    assert!(page.len() > 1000 && page.len() < index::PAGE_LINKS_MAX, "bytes are bounded too: {}", page.len());
    assert_eq!(page.len() as u64 + skipped.over_limit, index::PAGE_LINKS_MAX as u64 + 10);
}

#[test]
fn x1_links_that_pack_well_weigh_what_they_are() {
    let long = "x".repeat(1900);
    let mut builder = index::PageBuilder::default();
    for n in 0..5000 {
        builder.link(&format!("http://a.com/{long}/{n}"), "");
    }
    let (page, skipped) = builder.finish();
    assert!(page.len() < 1000 && page.len() as u64 + skipped.over_limit == 5000, "{}", page.len());
}

fn host() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "([a-z0-9-]{1,6}\\.){0,3}(com|co\\.uk|github\\.io|no|kawasaki\\.jp|unknown)",
        1 => "[1-9][0-9]?\\.[0-9]\\.[0-9]\\.[1-9]",
        1 => Just("[2001:db8::7]".to_owned()),
        1 => "[a-zA-Zé.]{1,12}",
    ]
}

fn url() -> impl Strategy<Value = String> {
    let port = prop_oneof![3 => Just(String::new()), 1 => "(:80|:443|:8080|:[1-9][0-9]{0,3})"];
    let rest =
        "(/[a-zA-Z0-9.:;%\\\\'\" é~_-]{0,8}){0,3}(\\?[a-z0-9=&?/:\\\\\"' .é|-]{0,10})?(#[a-z/?]{0,4})?";
    (prop_oneof!["http", "https"], host(), port, rest)
        .prop_map(|(scheme, host, port, rest)| format!("{scheme}://{host}{port}{rest}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn x1_the_url_can_be_read_back(url in url()) {
        let Ok(uri) = Uri::of_url(&url) else { return Ok(()) };
        let parsed = Url::parse(&url)?;
        let plain = parsed.host_str().is_some_and(|host| !host.ends_with('.'));
        if plain {
            prop_assert_eq!(uri.to_url(), &parsed[..Position::AfterQuery]);
        }
        prop_assert_eq!(Uri::of_url(&uri.to_url()), Ok(uri.clone()));
        prop_assert_eq!(Uri::read(uri.as_str()), Some(uri.clone()));
        prop_assert!(uri.as_str().bytes().all(|b| (0x21..0x7F).contains(&b)), "{}", uri);
    }

    #[test]
    fn x1_domains_are_those_of_the_suffix_list(url in url()) {
        let Ok(uri) = Uri::of_url(&url) else { return Ok(()) };
        let parsed = Url::parse(&uri.to_url())?;
        let host = parsed.host_str().unwrap();
        let domain = policy::url::domain_of(host);
        let domain = Uri::of_url(&format!("http://{domain}/")).unwrap();
        prop_assert_eq!(uri.domain(), domain.as_str());
        prop_assert!(uri.as_str().starts_with(uri.domain()));
    }

    #[test]
    fn x1_any_text_is_a_uri_or_is_skipped(text: String) {
        if let Ok(uri) = Uri::of_url(&text) {
            prop_assert!(uri.as_str().len() <= URI_BYTES_MAX);
        }
        let _ = Uri::read(&text);
    }
}
