//! A7: cookies are committed with the harvest that brought them, and come together whatever was
//! under way at the same time.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod rig;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use frontier::End;
use frontier::schema::COOKIES;
use parking_lot::Mutex;
use policy::cookies::{Change, Cookie, Update};
use policy::time::{Span, Time};
use rig::{World, answered, run};

fn cookie(name: &str, domain: &str, host_only: bool) -> Cookie {
    Cookie {
        name: name.to_owned(),
        value: "v".to_owned(),
        domain: domain.to_owned(),
        host_only,
        path: "/".to_owned(),
        secure: false,
        http_only: false,
        same_site: None,
        expires: None,
        created: Time(0),
    }
}

/// Rows by name, and the names of the cookies in them.
type Rows = BTreeMap<String, BTreeSet<String>>;

/// Six hosts of one domain, four requests to each at a time, and every answer sets a cookie for its
/// host and one for the domain: at the second harvest every request knows all that the first one
/// set.
#[tokio::test(start_paused = true)]
async fn a7_no_cookie_is_lost_between_answers_that_are_under_way_at_once() {
    const HOSTS: u32 = 6;
    const PAGES: u32 = 8;
    let seen: Arc<Mutex<Vec<(String, Rows)>>> = Arc::default();
    let set: Arc<Mutex<Rows>> = Arc::default();
    let mut world = World {
        seeds: (0..HOSTS).map(|host| format!("http://h{host}.site.test/")).collect(),
        length: Some(2),
        end: End { idle_for: Some(Span::days(2)), ..End::default() },
        ..World::default()
    };
    world.settings.politeness.parallel = 4;
    let (web_seen, web_set) = (seen.clone(), set.clone());
    let rig = world.rig(move |order, _| {
        let rows = order.cookies.iter().map(|(name, row)| {
            (name.clone(), row.cookies.iter().map(|cookie| cookie.name.clone()).collect())
        });
        web_seen.lock().push((order.host.clone(), rows.collect()));
        let page = order.url.path().trim_start_matches('/');
        let links =
            (0..if page.is_empty() { PAGES } else { 0 }).map(|n| format!("http://{}/{n}", order.host));
        let mut reply = answered(200, links);
        // Those that come last were asked with the oldest knowledge.
        reply.after = Duration::from_millis(10 + (order.url.path().len() as u64 * 7 % 5) * 150);
        if order.last_fetch.is_none() {
            let name = format!("{}{page}", &order.host[..2]);
            for (row, host_only) in [(order.host.as_str(), true), ("site.test", false)] {
                let change = Change::Set(cookie(&name, row, host_only));
                reply.report.cookies.push(Update { row: row.to_owned(), change });
                web_set.lock().entry(row.to_owned()).or_default().insert(name.clone());
            }
        }
        reply
    });
    let rig = rig.await;
    run(&rig).await.unwrap();
    rig::is_sound(&rig).await;
    let (seen, set) = (seen.lock(), set.lock());
    let asked = (HOSTS * (PAGES + 1)) as usize;
    assert_eq!(seen.len(), 2 * asked, "two harvests");
    // 54 were set for the domain and 50 are kept: the newest.
    let domain = &set["site.test"];
    assert_eq!(domain.len(), asked);
    for (host, rows) in &seen[asked..] {
        assert_eq!(rows[host], set[host], "{host}");
        assert!(
            rows["site.test"].is_subset(domain) && rows["site.test"].len() == policy::cookies::COOKIES_MAX
        );
    }
}

/// A jar as it was written before cookies had rows of their own: `1` and the jar, in a vector of
/// bytes.
#[test]
fn a7_a_jar_of_the_first_format_still_reads() {
    let jar = b"\x01\x01\x01m\x01w\x02/q\x02\x01n\x01v\x06d.test\x00\x01/\x01\x00\x03\x01o\x00\x06d.test\x01\x01/\x00\x01\x90\x4e\x04";
    let stored = [&[1, u8::try_from(jar.len()).unwrap()][..], jar].concat();
    let row = COOKIES.value_from(&stored).unwrap();
    let given: Vec<_> = row.given.iter().map(|one| (&*one.name, &*one.value, &*one.path)).collect();
    assert_eq!(given, [("m", "w", "/q")]);
    let of_domain = Cookie { secure: true, created: Time(3), ..cookie("n", "d.test", false) };
    let of_host = Cookie {
        value: String::new(),
        expires: Some(Time(5000)),
        created: Time(4),
        ..cookie("o", "d.test", true)
    };
    assert_eq!(row.cookies, [of_domain, of_host]);
    let nonsense = COOKIES.value_from(&[1, 3, 1, 2, 3]).unwrap();
    assert!(nonsense.given.is_empty() && nonsense.cookies.is_empty(), "what could not be read was forgotten");
}

/// As format 2 wrote them: without what only browsers look at.
#[test]
fn b15_a_row_of_format_2_says_nothing_of_scripts_and_sites() {
    let stored =
        b"\x02\x01\x01m\x01w\x02/q\x01\x01n\x01v\x06d.test\x01\x02/p\x01\x01\xa8\x89\x7a\xaa\x89\x7a";
    let row = COOKIES.value_from(stored).unwrap();
    let expected = Cookie {
        path: "/p".to_owned(),
        secure: true,
        expires: Some(Time(1_000_020)),
        created: Time(1_000_021),
        ..cookie("n", "d.test", true)
    };
    assert_eq!(row.cookies, [expected]);
    assert_eq!(row.given.len(), 1);
}
