//! F29: one spelling for every URL.

use policy::url::{
    Base, CrawlUrl, HOST_BYTES_MAX, URL_BYTES_MAX, UrlRefusal, UrlRules, normalise, normalise_against,
};
use proptest::prelude::*;

use crate::world::{rows, url};

fn sessions() -> UrlRules {
    UrlRules { session_ids: vec!["jsessionid".into(), "phpsessid".into()], ..UrlRules::default() }
}

#[test]
fn f29_spellings_become_one() {
    let table = "
        raw                                | normal
        http://VG.no                       | http://vg.no/
          https://vg.no/a\\t                | https://vg.no/a
        http://vg.no:80/                   | http://vg.no/
        https://vg.no:443/                 | https://vg.no/
        https://vg.no:80/                  | https://vg.no:80/
        http://vg.no/a#b                   | http://vg.no/a
        http://vg.no/a/./b/../c            | http://vg.no/a/c
        http://vg.no/../../a               | http://vg.no/a
        http://vg.no/%2e%2e/a              | http://vg.no/a
        http://user:secret@vg.no/          | http://vg.no/
        http://vg.no./a                    | http://vg.no/a
        http:\\\\vg.no\\a                    | http://vg.no/a
        http://blåbær.no/ø                 | http://xn--blbr-roah.no/%C3%B8
        http://0x7f.1/                     | http://127.0.0.1/
        http://[::1]:8080/x?y              | http://[::1]:8080/x?y
        http://vg.no?q=1                   | http://vg.no/?q=1
        http://vg.no/?                     | http://vg.no/?
        http://vg.no/a?PHPSESSID=1         | http://vg.no/a
        http://vg.no/a?x=1&phpsessid=1&y=2 | http://vg.no/a?x=1&y=2
        http://vg.no/a;JSESSIONID=1/b?x    | http://vg.no/a/b?x
        http://vg.no/a;v=1;jsessionid=1    | http://vg.no/a;v=1
        http://vg.no/a/.;jsessionid=1/b    | http://vg.no/a/b";
    for row in rows(table) {
        let raw = row[0].replace("\\t", "\t");
        assert_eq!(normalise(&raw, None, &sessions()).unwrap().as_str(), row[1], "{raw}");
    }
    let kept = "http://vg.no/a;jsessionid=1?PHPSESSID=1";
    assert_eq!(url(kept).as_str(), kept, "session ids stay where not configured");
}

#[test]
fn f29_relative_links_are_resolved() {
    let table = "
        link            | from http://vg.no/a/b?c
        d               | http://vg.no/a/d
        /d              | http://vg.no/d
        ../../d         | http://vg.no/d
        ?x              | http://vg.no/a/b?x
        #top            | http://vg.no/a/b?c
        //tv.vg.no/x    | http://tv.vg.no/x
        ///tv.vg.no/x   | http://tv.vg.no/x
        /////tv.vg.no/x | http://tv.vg.no/x
        /\\\\tv.vg.no/x | http://tv.vg.no/x
        http:///tv.vg.no/x | http://tv.vg.no/x
        /a//b           | http://vg.no/a//b
        https:d         | https://d/
        https://a.no    | https://a.no/";
    let page = url("http://vg.no/a/b?c");
    let base = Base::new(&page).unwrap();
    for row in rows(table) {
        let one = normalise(row[0], Some(&page), &UrlRules::default());
        assert_eq!(one, normalise_against(row[0], &base, &UrlRules::default()));
        assert_eq!(one.unwrap().as_str(), row[1], "{row:?}");
    }
    let elsewhere = base.clone().declared("//cdn.no/x/");
    let found = normalise_against("y", &elsewhere, &UrlRules::default()).unwrap();
    assert_eq!(found.as_str(), "http://cdn.no/x/y");
    let unchanged = base.declared("mailto:a@b");
    assert_eq!(
        normalise_against("d", &unchanged, &UrlRules::default()).unwrap().as_str(),
        "http://vg.no/a/d"
    );
}

#[test]
fn f29_refusals_explain_themselves() {
    let table = "
        raw                          | refusal
        mailto:a@vg.no               | scheme `mailto` is not harvested, only http and https
        javascript:void(0)           | scheme `javascript` is not harvested, only http and https
        data:text/html,x             | scheme `data` is not harvested, only http and https
        ftp://vg.no/                 | scheme `ftp` is not harvested, only http and https
        vg.no/a                      | not a URL: relative URL without a base
        http://                      | not a URL: empty host
        http://a b/                  | not a URL: invalid international domain name
        http://vg.no../              | the host name is empty or ends in several dots
        http://./                    | the host name is empty or ends in several dots
        http://vg.no/a/b/a/b/a/b/a/b | looks like a trap: 2 path segment(s) 4 times in a row, 3 are allowed";
    for row in rows(table) {
        let refusal = normalise(row[0], None, &UrlRules::default()).unwrap_err();
        assert_eq!(refusal.to_string(), row[1], "{}", row[0]);
    }
}

#[test]
fn f29_length_is_limited() {
    let of_length = |bytes: usize| format!("http://vg.no/{}", "a".repeat(bytes - 13));
    let rules = UrlRules::default();
    assert!(normalise(&of_length(URL_BYTES_MAX), None, &rules).is_ok());
    let too_long = UrlRefusal::TooLong { bytes: URL_BYTES_MAX + 1, max: URL_BYTES_MAX };
    assert_eq!(normalise(&of_length(URL_BYTES_MAX + 1), None, &rules), Err(too_long));
    assert!(normalise(&of_length(1 << 20), None, &rules).is_err());
    let short = UrlRules { max_bytes: 20, ..UrlRules::default() };
    assert!(normalise(&of_length(20), None, &short).is_ok());
    assert!(normalise(&of_length(21), None, &short).is_err());
}

/// A key of the store holds the host beside its URL: a name that nobody can look up must not be
/// half of both.
#[test]
fn a12_host_names_are_limited() {
    let of_length = |bytes: usize| format!("http://{}/", &"a.".repeat(bytes)[..bytes]);
    let rules = UrlRules::default();
    assert!(normalise(&of_length(HOST_BYTES_MAX), None, &rules).is_ok());
    for bytes in [HOST_BYTES_MAX + 2, 1001, 2901] {
        assert_eq!(normalise(&of_length(bytes), None, &rules), Err(UrlRefusal::HostTooLong { bytes }));
    }
}

#[test]
fn parts_site_and_domain() {
    let table = "
        url                           | host            | site            | port | path | query | domain
        http://www.vg.no/             | www.vg.no       | vg.no           | -    | /    | -     | vg.no
        http://www.www.vg.no/         | www.www.vg.no   | www.vg.no       | -    | /    | -     | vg.no
        https://tv.vg.no:81/a?b?c     | tv.vg.no        | tv.vg.no        | 81   | /a   | b?c   | vg.no
        http://vg.no/?                | vg.no           | vg.no           | -    | /    |       | vg.no
        http://a.b.co.uk/             | a.b.co.uk       | a.b.co.uk       | -    | /    | -     | b.co.uk
        http://co.uk/                 | co.uk           | co.uk           | -    | /    | -     | co.uk
        http://me.github.io/          | me.github.io    | me.github.io    | -    | /    | -     | me.github.io
        http://x.me.github.io/        | x.me.github.io  | x.me.github.io  | -    | /    | -     | me.github.io
        http://www.xn--55qx5d.cn/     | www.xn--55qx5d.cn | xn--55qx5d.cn | -    | /    | -     | www.xn--55qx5d.cn
        http://localhost:8080/        | localhost       | localhost       | 8080 | /    | -     | localhost
        http://127.0.0.1/             | 127.0.0.1       | 127.0.0.1       | -    | /    | -     | 127.0.0.1
        http://[2001:db8::1]:81/x     | [2001:db8::1]   | [2001:db8::1]   | 81   | /x   | -     | [2001:db8::1]";
    for row in rows(table) {
        let url = url(row[0]);
        let port = url.port().map_or("-".to_owned(), |port| port.to_string());
        let found = [url.host(), url.site(), &port, url.path(), url.query().unwrap_or("-"), url.domain()];
        assert_eq!(found, row[1..], "{}", row[0]);
        assert!(url.is_in_domain(row[6]));
        assert!(!url.is_in_domain("else.where"));
    }
    assert!(!url("http://me.github.io/").is_in_domain("github.io"));
}

#[test]
fn a_stored_url_is_read_back_and_a_broken_one_refused() {
    for text in ["http://vg.no/", "https://[::1]:8/a?b", "http://a.no/?"] {
        let stored = serde_json::to_string(&url(text)).unwrap();
        assert_eq!(stored, format!("{text:?}"));
        assert_eq!(serde_json::from_str::<CrawlUrl>(&stored).unwrap(), url(text));
    }
    let broken = ["", "http://", "http:///", "http://VG.no/", "http://vg.no", "http://a@b/", "http://a:b/"];
    for text in broken.into_iter().chain(["ftp://a/", "http://:80/", "http://[::1/", "http://a:/"]) {
        assert!(CrawlUrl::from_normal(text).is_err(), "{text}");
    }
}

/// The WHATWG test data, where it is at hand: wherever we take a URL, we take it as the standard
/// says.
#[test]
fn f29_agrees_with_the_web_platform_tests() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/url-wpt/urltestdata.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("skipped: no {path}");
        return;
    };
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let compared = cases.iter().filter(|case| compare(case)).count();
    assert!(compared > 100, "only {compared} cases compared");
}

/// True if the case was about a URL that we take.
fn compare(case: &serde_json::Value) -> bool {
    let text = |key: &str| case.get(key).and_then(|value| value.as_str());
    let Some(input) = text("input") else { return false };
    let base = match text("base") {
        None => None,
        Some(base) => match normalise(base, None, &UrlRules::default()) {
            Ok(base) => Some(base),
            Err(_) => return false,
        },
    };
    let found = normalise(input, base.as_ref(), &UrlRules::default());
    if case.get("failure").is_some() {
        assert!(found.is_err(), "{input:?} should fail");
        return false;
    }
    let Ok(found) = found else {
        assert!(
            !input.starts_with("///") || !text("protocol").unwrap().starts_with("http"),
            "{input:?} is lost"
        );
        return false;
    };
    let host = text("hostname").unwrap().trim_end_matches('.');
    let port = text("port").unwrap();
    let colon = if port.is_empty() { "" } else { ":" };
    let rest = format!("{}{}", text("pathname").unwrap(), text("search").unwrap());
    let expected = format!("{}//{host}{colon}{port}{rest}", text("protocol").unwrap());
    assert_eq!(found.as_str().trim_end_matches('?'), expected.trim_end_matches('?'), "{input:?}");
    true
}

/// Texts that look like URLs often enough to get past the parser.
fn url_like() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "http:",
        "https:",
        "//",
        "/",
        "\\",
        "vg.no",
        "WWW.",
        "a",
        "..",
        ".",
        "%2e",
        ":80",
        ":81",
        "@",
        "?",
        "#",
        ";jsessionid=1",
        "PHPSESSID=2",
        "&",
        "=",
        "[::1]",
        "127.1",
        "0x7f",
        "é",
        "\t",
        " ",
        "%",
        "//",
        "a/b/",
    ]);
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn f29_no_text_makes_it_panic(text in any::<String>(), base in url_like()) {
        let base = normalise(&base, None, &UrlRules::default()).ok();
        if let Ok(url) = normalise(&text, base.as_ref(), &sessions()) {
            prop_assert!(url.as_str().len() <= URL_BYTES_MAX);
        }
        let _ = CrawlUrl::from_normal(text);
    }

    #[test]
    fn f29_normalising_twice_changes_nothing(text in url_like(), absolute in any::<bool>()) {
        let text = if absolute { format!("http://vg.no/{text}") } else { text };
        let Ok(once) = normalise(&text, None, &sessions()) else { return Ok(()) };
        let twice = normalise(once.as_str(), None, &sessions());
        prop_assert_eq!(twice.as_ref(), Ok(&once));
        let stored = CrawlUrl::from_normal(once.as_str()).unwrap();
        let parts = |url: &CrawlUrl| {
            (url.host().to_owned(), url.port(), url.path().to_owned(), url.query().map(str::to_owned))
        };
        prop_assert_eq!(parts(&stored), parts(&once));
        prop_assert!(once.host().ends_with(once.domain()));
    }

    #[test]
    fn a_stored_text_never_panics_when_asked_for_its_parts(text in "https?://[a-z.:\\[\\]@/?é]{0,12}") {
        if let Ok(url) = CrawlUrl::from_normal(text.as_str()) {
            let _ = (url.port(), url.query(), url.domain());
            prop_assert!(!url.host().is_empty() && url.path().starts_with('/') && url.host().ends_with(url.site()));
        }
    }
}
