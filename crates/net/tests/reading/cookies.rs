//! A7: cookies by RFC 6265.

use net::cookies::{COOKIE_BYTES_MAX, COOKIES_MAX, HEADER_BYTES_MAX, Jar};
use policy::model::GivenCookie;
use policy::time::Time;
use proptest::prelude::*;

use crate::world::{lines, url};

const NOW: Time = Time(1_700_000_000_000);

fn take(jar: &mut Jar, from: &str, header: &str) {
    jar.take(&url(from), [header.as_bytes()].into_iter(), NOW);
}

fn given(host: &str, name: &str, value: &str, path: Option<&str>) -> GivenCookie {
    let path = path.map(ToOwned::to_owned);
    GivenCookie { host: host.to_owned(), name: name.to_owned(), value: value.to_owned(), path }
}

fn header(jar: &Jar, to: &str) -> String {
    jar.header_for(&url(to), NOW).unwrap_or_default()
}

/// Set by one URL, asked for by another: what is sent.
#[test]
fn a7_who_gets_which_cookie() {
    let table = "
        http://a.no/ | x=1                      | http://a.no/       | x=1
        http://a.no/ | x = 1 ; Foo=bar          | http://a.no/       | x=1
        http://a.no/ | x=\"1 2\"                | http://a.no/       | x=\"1 2\"
        http://a.no/ | x=1=2                    | http://a.no/       | x=1=2
        http://a.no/ | x=                       | http://a.no/       | x=
        http://a.no/ | x                        | http://a.no/       |
        http://a.no/ | =1                       | http://a.no/       |
        http://a.no/ | ; x=1                    | http://a.no/       |
        http://a.no/ | x=1                      | http://www.a.no/   |
        http://www.a.no/ | x=1                  | http://a.no/       |
        http://www.a.no/ | x=1                  | http://www.a.no/   | x=1
        http://www.a.no/ | x=1; Domain=a.no     | http://a.no/       | x=1
        http://a.no/ | x=1; domain=.A.NO        | http://www.a.no/   | x=1
        http://a.no/ | x=1; Domain=             | http://www.a.no/   |
        http://a.no/ | x=1; Domain=www.a.no     | http://www.a.no/   |
        http://a.no/ | x=1; Domain=b.no         | http://a.no/       |
        http://a.no/ | x=1; Domain=no           | http://a.no/       |
        http://b.co.uk/ | x=1; Domain=co.uk     | http://b.co.uk/    |
        http://me.github.io/ | x=1; Domain=github.io | http://me.github.io/ |
        http://github.io/ | x=1; Domain=github.io | http://github.io/ | x=1
        http://github.io/ | x=1; Domain=github.io | http://www.github.io/ |
        http://localhost/ | x=1; Domain=localhost | http://localhost:81/ | x=1
        http://127.0.0.1/ | x=1; Domain=127.0.0.1 | http://127.0.0.1/ | x=1
        http://127.0.0.1/ | x=1; Domain=0.0.1   | http://127.0.0.1/  |
        http://bla.no/ | x=1; Domain=a.no       | http://bla.no/     |
        http://a.no/ | x=1; Secure              | http://a.no/       |
        http://a.no/ | x=1; secure              | https://a.no/      | x=1
        https://a.no/ | x=1; HttpOnly; SameSite=Strict | http://a.no/ | x=1
        http://a.no/b/c | x=1                   | http://a.no/b/d    | x=1
        http://a.no/b/c | x=1                   | http://a.no/b      | x=1
        http://a.no/b/c | x=1                   | http://a.no/       |
        http://a.no/b/c | x=1; Path=/           | http://a.no/       | x=1
        http://a.no/b/c | x=1; Path=b           | http://a.no/b/     | x=1
        http://a.no/ | x=1; Path=/b             | http://a.no/bc     |
        http://a.no/ | x=1; Path=/b             | http://a.no/b/c    | x=1
        http://a.no/ | x=1; Path=/b/            | http://a.no/b      |
        http://a.no/ | x=1; Max-Age=10          | http://a.no/       | x=1
        http://a.no/ | x=1; Max-Age=0           | http://a.no/       |
        http://a.no/ | x=1; Max-Age=-5          | http://a.no/       |
        http://a.no/ | x=1; Max-Age=soon        | http://a.no/       | x=1
        http://a.no/ | x=1; Max-Age=99999999999999999999 | http://a.no/ | x=1
        http://a.no/ | x=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT | http://a.no/ | x=1
        http://a.no/ | x=1; Expires=Wed, 09 Jun 2021 10:18:14 GMT | http://a.no/ |
        http://a.no/ | x=1; Expires=Wed, 09 Jun 2021 10:18:14 GMT; Max-Age=9 | http://a.no/ | x=1
        http://a.no/ | x=1; Max-Age=0; Expires=Wed, 09 Jun 2100 10:18:14 GMT | http://a.no/ |
        http://a.no/ | x=1; Expires=never       | http://a.no/       | x=1";
    for line in lines(table) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let mut jar = Jar::default();
        take(&mut jar, cells[0], cells[1]);
        assert_eq!(header(&jar, cells[2]), cells[3], "{line}");
    }
}

#[test]
fn a7_cookies_expire() {
    let mut jar = Jar::default();
    take(&mut jar, "http://a.no/", "x=1; Max-Age=10");
    let at = |ms: i64| jar.header_for(&url("http://a.no/"), Time(NOW.0 + ms));
    assert_eq!((at(9_999).as_deref(), at(10_000)), (Some("x=1"), None));
}

#[test]
fn a7_longer_paths_go_first_and_then_older_cookies() {
    let mut jar = Jar::default();
    for set in ["a=1", "b=1; Path=/x/y", "c=1; Path=/x", "d=1", "a=2", "e=1; Path=/x"] {
        take(&mut jar, "http://a.no/", set);
    }
    assert_eq!(
        header(&jar, "http://a.no/x/y/z"),
        "b=1; c=1; e=1; a=2; d=1",
        "a replaced cookie keeps its age"
    );
    take(&mut jar, "http://a.no/", "a=; Max-Age=0");
    assert_eq!(header(&jar, "http://a.no/"), "d=1");
}

#[test]
fn a7_a_given_cookie_holds_with_and_without_www_and_cannot_be_taken_away() {
    let all = [
        given("www.a.no", "sid", "given", None),
        given("A.no", "deep", "1", Some("/x")),
        given("b.no", "not", "1", None),
        given("a.no", "bro\nken", "1", None),
        given("a.no", "split", "1; x=2", None),
    ];
    let mut jar = Jar::load(None, &all, "a.no");
    for host in ["http://a.no/", "https://www.a.no/"] {
        assert_eq!(header(&jar, host), "sid=given");
    }
    assert_eq!(header(&jar, "http://a.no/x/y"), "sid=given; deep=1");
    take(&mut jar, "http://a.no/logout", "sid=; Path=/; Max-Age=0");
    assert_eq!(header(&jar, "http://a.no/"), "sid=given", "a harvested logout page");
    take(&mut jar, "http://a.no/", "sid=renewed; Max-Age=60");
    assert_eq!(header(&jar, "http://a.no/"), "sid=renewed");
    assert_eq!(header(&jar, "http://www.a.no/"), "sid=given", "renewed for another host only");
    let later = jar.header_for(&url("http://a.no/"), Time(NOW.0 + 60_000));
    assert_eq!(later.as_deref(), Some("sid=given"), "the renewal is over");
    let stored = jar.to_bytes().unwrap();
    let same = Jar::load(Some(&stored), &all, "a.no");
    assert_eq!((header(&same, "http://a.no/").as_str(), same.to_bytes()), ("sid=renewed", None));
    let other = Jar::load(Some(&stored), &[given("a.no", "sid", "new login", None)], "a.no");
    assert_eq!(header(&other, "http://a.no/"), "sid=new login", "what the operator says now");
    assert!(other.to_bytes().is_some());
}

#[test]
fn a7_a_jar_is_kept_over_restarts() {
    let mut jar = Jar::load(None, &[], "a.no");
    assert_eq!(jar.to_bytes(), None, "nothing to store");
    take(&mut jar, "http://a.no/x/y", "a=1; Secure; Domain=a.no; Max-Age=100");
    take(&mut jar, "http://a.no/x/y", "b=2; Path=/");
    let stored = jar.to_bytes().unwrap();
    let loaded = Jar::load(Some(&stored), &[], "a.no");
    for to in ["http://a.no/", "https://a.no/x", "https://www.a.no/x/y", "http://www.a.no/"] {
        assert_eq!(header(&loaded, to), header(&jar, to), "{to}");
    }
    assert_eq!(loaded.to_bytes(), None, "not changed since");
    for broken in [&b""[..], b"\x01", b"\x02\x00\x00", b"nonsense", &stored[..stored.len() - 1]] {
        let jar = Jar::load(Some(broken), &[given("a.no", "x", "1", None)], "a.no");
        assert_eq!(header(&jar, "https://a.no/x"), "x=1");
    }
}

#[test]
fn a7_only_what_matters_is_a_change() {
    let mut jar = Jar::default();
    take(&mut jar, "http://a.no/", "x=1; Max-Age=1000");
    let load = || Jar::load(jar.to_bytes().as_deref(), &[], "a.no");
    let table = [
        ("x=1; Max-Age=1000", false),
        ("x=1; Max-Age=1100", false),
        ("x=1; Max-Age=1101", true),
        ("x=1; Max-Age=999", true),
        ("x=1", true),
        ("x=2; Max-Age=1000", true),
        ("x=1; Max-Age=0", true),
        ("y=1; Max-Age=0", false),
        ("y=1", true),
    ];
    for (set, changes) in table {
        let mut loaded = load();
        take(&mut loaded, "http://a.no/", set);
        assert_eq!(loaded.to_bytes().is_some(), changes, "{set}");
    }
}

#[test]
fn a11_a_jar_is_bounded() {
    let mut jar = Jar::default();
    take(&mut jar, "http://a.no/", "old=1; Max-Age=1");
    for n in 0..COOKIES_MAX + 10 {
        take(&mut jar, "http://a.no/", &format!("c{n}=1"));
    }
    let sent = header(&jar, "http://a.no/");
    assert_eq!(sent.split("; ").count(), COOKIES_MAX);
    assert!(
        !sent.contains("c9=1;")
            && sent.contains("c10=1;")
            && sent.ends_with(&format!("c{}=1", COOKIES_MAX + 9))
    );
    let mut large = Jar::default();
    take(&mut large, "http://a.no/", &format!("x={}", "1".repeat(COOKIE_BYTES_MAX)));
    assert_eq!(header(&large, "http://a.no/"), "");
    for n in 0..COOKIES_MAX {
        take(&mut large, "http://a.no/", &format!("c{n}={}", "1".repeat(COOKIE_BYTES_MAX - 3)));
    }
    assert!(
        (HEADER_BYTES_MAX - COOKIE_BYTES_MAX..=HEADER_BYTES_MAX)
            .contains(&header(&large, "http://a.no/").len())
    );
}

proptest! {
    #[test]
    fn a11_no_header_makes_it_panic(headers in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..5), stored in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut jar = Jar::load(Some(&stored), &[], "a.no");
        jar.take(&url("http://a.no/x"), headers.iter().map(Vec::as_slice), NOW);
        let _ = (jar.header_for(&url("http://a.no/x"), NOW), jar.to_bytes());
    }

    #[test]
    fn a7_what_is_sent_is_a_header(set in "[a-z]{1,3}=[ -~\t]{0,10}(; ?(Path|Domain|Expires|Max-Age)=[ -~é]{0,12}){0,3}") {
        let mut jar = Jar::default();
        take(&mut jar, "http://a.no/", &set);
        let sent = header(&jar, "http://a.no/");
        prop_assert!(sent.is_empty() || set.starts_with(sent.split_once('=').unwrap().0));
        prop_assert!(!sent.contains(['\r', '\n', ';']));
        let loaded = Jar::load(jar.to_bytes().as_deref(), &[], "a.no");
        prop_assert_eq!(header(&loaded, "http://a.no/"), sent);
    }
}
