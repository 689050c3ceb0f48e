//! A7: cookies by RFC 6265.

use std::collections::BTreeMap;

use net::cookies::{COOKIE_BYTES_MAX, HEADER_BYTES_MAX, Jar};
use policy::cookies::{COOKIES_MAX, Row};
use policy::model::GivenCookie;
use policy::time::Time;
use policy::url::site_of;
use proptest::prelude::*;

use crate::world::{lines, url};

const NOW: Time = Time(1_700_000_000_000);

/// What a collection keeps and is given.
#[derive(Clone, Default)]
struct Kept {
    rows: BTreeMap<String, Row>,
    given: Vec<GivenCookie>,
}

impl Kept {
    /// For a request to the host of this URL.
    fn jar(&self, to: &str) -> Jar {
        let rows: Vec<(String, Row)> = self.rows.clone().into_iter().collect();
        Jar::load(&rows, &self.given, site_of(url(to).host()), NOW)
    }

    /// As the frontier does; how many rows were written.
    fn commit(&mut self, jar: Jar) -> usize {
        let mut written = Vec::new();
        for update in jar.into_updates() {
            if self.rows.entry(update.row.clone()).or_default().apply(&update.change, NOW) {
                written.push(update.row);
            }
        }
        written.dedup();
        written.len()
    }

    /// An answer from this URL.
    fn take(&mut self, from: &str, header: &str) -> usize {
        let mut jar = self.jar(from);
        jar.take(&url(from), [header.as_bytes()].into_iter(), NOW);
        self.commit(jar)
    }

    fn header_at(&self, to: &str, now: Time) -> Option<String> {
        self.jar(to).header_for(&url(to), now)
    }

    fn header(&self, to: &str) -> String {
        self.header_at(to, NOW).unwrap_or_default()
    }
}

fn given(host: &str, name: &str, value: &str, path: Option<&str>) -> GivenCookie {
    let path = path.map(ToOwned::to_owned);
    GivenCookie { host: host.to_owned(), name: name.to_owned(), value: value.to_owned(), path }
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
        http://x.a.no/ | x=1                    | http://y.a.no/     |
        http://x.a.no/ | x=1; Domain=a.no       | http://y.a.no/     | x=1
        http://x.a.no/ | x=1; Domain=a.no       | http://www.a.no/   | x=1
        http://x.a.no/ | x=1; Domain=a.no       | http://z.y.a.no/   | x=1
        http://z.y.a.no/ | x=1; Domain=y.a.no   | http://w.y.a.no/   | x=1
        http://z.y.a.no/ | x=1; Domain=y.a.no   | http://y.a.no/     | x=1
        http://z.y.a.no/ | x=1; Domain=y.a.no   | http://a.no/       |
        http://z.y.a.no/ | x=1; Domain=y.a.no   | http://x.a.no/     |
        http://x.a.no/ | x=1; Domain=y.a.no     | http://y.a.no/     |
        http://x.a.no/ | x=1; Domain=x.a.no     | http://y.x.a.no/   | x=1
        http://a.no/ | x=1                      | http://x.a.no/     |
        http://x.b.co.uk/ | x=1; Domain=b.co.uk | http://y.b.co.uk/  | x=1
        http://x.b.co.uk/ | x=1; Domain=co.uk   | http://y.b.co.uk/  |
        http://x.me.github.io/ | x=1; Domain=me.github.io | http://y.me.github.io/ | x=1
        http://me.github.io/ | x=1; Domain=github.io | http://you.github.io/ |
        http://9.8.7.6.5.4.3.2.1.a.no/ | x=1; Domain=a.no | http://y.a.no/ | x=1
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
        let mut kept = Kept::default();
        kept.take(cells[0], cells[1]);
        assert_eq!(kept.header(cells[2]), cells[3], "{line}");
    }
}

#[test]
fn a7_cookies_expire() {
    let mut kept = Kept::default();
    kept.take("http://a.no/", "x=1; Max-Age=10");
    let at = |ms: i64| kept.header_at("http://a.no/", Time(NOW.0 + ms));
    assert_eq!((at(9_999).as_deref(), at(10_000)), (Some("x=1"), None));
}

#[test]
fn a7_longer_paths_go_first_and_then_older_cookies() {
    let mut kept = Kept::default();
    for set in ["a=1", "b=1; Path=/x/y", "c=1; Path=/x", "d=1", "a=2", "e=1; Path=/x"] {
        kept.take("http://a.no/", set);
    }
    let sent = kept.header("http://a.no/x/y/z");
    assert_eq!(sent, "b=1; c=1; e=1; a=2; d=1", "a replaced cookie keeps its age");
    kept.take("http://a.no/", "a=; Max-Age=0");
    assert_eq!(kept.header("http://a.no/"), "d=1");
}

/// Many requests are under way, to one host and to its siblings, and each knows only what was there
/// when it began.
#[test]
fn a7_what_answers_set_at_the_same_time_comes_together() {
    let mut kept = Kept::default();
    kept.take("http://x.a.no/", "old=1; Domain=a.no");
    let answers = [
        ("http://x.a.no/", "x=1"),
        ("http://x.a.no/", "x2=1"),
        ("http://x.a.no/", "of_x=1; Domain=a.no"),
        ("http://y.a.no/", "y=1"),
        ("http://y.a.no/", "of_y=1; Domain=a.no"),
        ("http://y.a.no/", "old=; Domain=a.no; Max-Age=0"),
        ("http://a.no/", "z=1; Domain=a.no"),
    ];
    let mut under_way: Vec<Jar> = answers.iter().map(|(from, _)| kept.jar(from)).collect();
    for (jar, (from, set)) in under_way.iter_mut().zip(answers) {
        jar.take(&url(from), [set.as_bytes()].into_iter(), NOW);
    }
    for jar in under_way.into_iter().rev() {
        kept.commit(jar);
    }
    let sent = |to: &str| {
        let header = kept.header(to);
        let mut names: Vec<String> =
            header.split("; ").map(|pair| pair.split('=').next().unwrap().to_owned()).collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(sent("http://x.a.no/"), "of_x of_y x x2 z");
    assert_eq!(sent("http://y.a.no/"), "of_x of_y y z");
    assert_eq!(sent("http://a.no/"), "of_x of_y z");
}

#[test]
fn a7_a_given_cookie_holds_with_and_without_www_and_cannot_be_taken_away() {
    let all = vec![
        given("www.a.no", "sid", "given", None),
        given("A.no", "deep", "1", Some("/x")),
        given("b.no", "not", "1", None),
        given("a.no", "bro\nken", "1", None),
        given("a.no", "split", "1; x=2", None),
    ];
    let mut kept = Kept { given: all, ..Kept::default() };
    for host in ["http://a.no/", "https://www.a.no/"] {
        assert_eq!(kept.header(host), "sid=given");
    }
    assert_eq!(kept.header("http://a.no/x/y"), "sid=given; deep=1");
    assert_eq!(kept.take("http://a.no/logout", "sid=; Path=/; Max-Age=0"), 0);
    assert_eq!(kept.header("http://a.no/"), "sid=given", "a harvested logout page");
    kept.take("http://a.no/", "sid=renewed; Max-Age=60");
    assert_eq!(kept.header("http://a.no/"), "sid=renewed");
    assert_eq!(kept.header("http://www.a.no/"), "sid=given", "renewed for another host only");
    let later = kept.header_at("http://a.no/", Time(NOW.0 + 60_000));
    assert_eq!(later.as_deref(), Some("sid=given"), "the renewal is over");
    let same = kept.jar("http://a.no/");
    assert_eq!(kept.clone().commit(same), 0, "nothing new");
    kept.given = vec![given("a.no", "sid", "new login", None)];
    assert_eq!(kept.header("http://a.no/"), "sid=new login", "what the operator says now");
    let told = kept.jar("http://a.no/");
    assert_eq!(kept.commit(told), 1);
    kept.given.clear();
    assert_eq!(kept.header("http://a.no/"), "", "and the renewal of the old one is gone");
}

/// A session that a site set for its whole domain goes with the login it was made of.
#[test]
fn a7_a_new_login_ends_the_session_of_the_domain() {
    let mut kept = Kept { given: vec![given("x.a.no", "sid", "old", None)], ..Kept::default() };
    kept.take("http://x.a.no/", "sid=session; Domain=a.no");
    kept.take("http://x.a.no/", "other=1; Domain=a.no");
    assert_eq!(kept.header("http://x.a.no/"), "sid=session; other=1");
    kept.given = vec![given("x.a.no", "sid", "new", None)];
    assert_eq!(kept.header("http://x.a.no/"), "sid=new; other=1");
    let told = kept.jar("http://x.a.no/");
    assert_eq!(kept.commit(told), 2);
    assert_eq!(kept.header("http://y.a.no/"), "other=1");
}

/// Rows of earlier versions hold all that a host had set: sent as before, and once.
#[test]
fn a7_a_cookie_of_the_domain_in_the_row_of_the_host_is_sent_once() {
    let mut kept = Kept::default();
    kept.take("http://x.a.no/", "s=1; Domain=a.no");
    let row = kept.rows.remove("a.no").unwrap();
    kept.rows.insert("x.a.no".to_owned(), row);
    assert_eq!(kept.header("http://x.a.no/"), "s=1");
    kept.take("http://x.a.no/", "s=2; Domain=a.no");
    assert_eq!((kept.header("http://x.a.no/"), kept.header("http://y.a.no/")), ("s=2".into(), "s=2".into()));
}

#[test]
fn a7_only_what_matters_is_a_change() {
    let mut kept = Kept::default();
    assert_eq!(kept.take("http://a.no/", "x=1; Max-Age=1000"), 1);
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
        assert_eq!(kept.clone().take("http://a.no/", set) > 0, changes, "{set}");
    }
}

#[test]
fn a11_a_jar_is_bounded() {
    let mut kept = Kept::default();
    kept.take("http://a.no/", "old=1; Max-Age=1");
    for n in 0..COOKIES_MAX + 10 {
        kept.take("http://a.no/", &format!("c{n}=1"));
    }
    assert_eq!(kept.header("http://a.no/").split("; ").count(), COOKIES_MAX);
    let mut large = Kept::default();
    large.take("http://a.no/", &format!("x={}", "1".repeat(COOKIE_BYTES_MAX)));
    assert_eq!(large.header("http://a.no/"), "");
    for n in 0..COOKIES_MAX {
        large.take("http://a.no/", &format!("c{n}={}", "1".repeat(COOKIE_BYTES_MAX - 3)));
    }
    let sent = large.header("http://a.no/").len();
    assert!((HEADER_BYTES_MAX - COOKIE_BYTES_MAX..=HEADER_BYTES_MAX).contains(&sent), "{sent}");
}

proptest! {
    #[test]
    fn a11_no_header_makes_it_panic(headers in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..5), host in "[a-z.]{0,20}") {
        let mut jar = Jar::load(&[], &[], &host, NOW);
        jar.take(&url("http://a.no/x"), headers.iter().map(Vec::as_slice), NOW);
        let _ = (jar.header_for(&url("http://a.no/x"), NOW), jar.into_updates());
    }

    #[test]
    fn a7_what_is_sent_is_a_header(set in "[a-z]{1,3}=[ -~\t]{0,10}(; ?(Path|Domain|Expires|Max-Age)=[ -~é]{0,12}){0,3}") {
        let mut kept = Kept::default();
        kept.take("http://a.no/", &set);
        let sent = kept.header("http://a.no/");
        prop_assert!(sent.is_empty() || set.starts_with(sent.split_once('=').unwrap().0));
        prop_assert!(!sent.contains(['\r', '\n', ';']));
    }
}
