//! B15: cookies on their way into a page's context and back. Nothing else survives a page.

use policy::cookies::{Change, Cookie, Row, Update, row_of};
use policy::model::GivenCookie;
use policy::time::{Span, Time};
use policy::url::site_of;

/// What may be set by one page.
const UPDATES_MAX: usize = 200;
/// And of how many hosts or domains.
const ROWS_MAX: usize = 20;
/// The browser counts in its own way.
const EXPIRY_SLACK: Span = Span::seconds(2);

/// What a context starts with: the rows of the page's host and of those it names, and what the
/// operator gave, for the site with and without `www.`.
pub(super) fn into_context(rows: &[(String, Row)], given: &[GivenCookie], now: Time) -> Vec<Cookie> {
    let kept = rows.iter().flat_map(|(_, row)| &row.cookies);
    let mut cookies: Vec<Cookie> = kept.filter(|cookie| cookie.is_live(now)).cloned().collect();
    for one in given {
        let site = site_of(&one.host.to_ascii_lowercase()).to_owned();
        let is_renewed = cookies.iter().any(|have| have.name == one.name && site_of(&have.domain) == site);
        if is_renewed {
            continue;
        }
        for domain in [site.clone(), format!("www.{site}")] {
            cookies.push(Cookie {
                name: one.name.clone(),
                value: one.value.clone(),
                domain,
                host_only: true,
                path: one.path.clone().filter(|path| path.starts_with('/')).unwrap_or_else(|| "/".to_owned()),
                secure: false,
                http_only: false,
                same_site: None,
                expires: None,
                created: now,
            });
        }
    }
    cookies
}

/// What the page changed of it, to be committed with its harvest. Rows beyond what a harvest may
/// write are those of strangers.
pub(super) fn out_of_context(before: &[Cookie], after: &[Cookie], host: &str, now: Time) -> Vec<Update> {
    let set = after.iter().filter(|new| {
        let old = before.iter().find(|old| old.is_same(new));
        old.is_none_or(|old| !is_unchanged(old, new))
    });
    let set = set.map(|cookie| Cookie { created: now, ..cookie.clone() });
    let gone = before.iter().filter(|old| !after.iter().any(|new| old.is_same(new)));
    let gone = gone.map(|cookie| Cookie {
        value: String::new(),
        expires: Some(Time(0)),
        created: now,
        ..cookie.clone()
    });
    let own_site = site_of(host).to_owned();
    let mut updates: Vec<Update> = set
        .chain(gone)
        .map(|cookie| Update { row: row_of(&cookie.domain).to_owned(), change: Change::Set(cookie) })
        .collect();
    updates.sort_by_key(|update| (!own_site.ends_with(&update.row), update.row.clone()));
    updates.truncate(UPDATES_MAX);
    let mut rows: Vec<String> = updates.iter().map(|update| update.row.clone()).collect();
    rows.dedup();
    rows.truncate(ROWS_MAX);
    updates.retain(|update| rows.contains(&update.row));
    updates
}

fn is_unchanged(one: &Cookie, other: &Cookie) -> bool {
    let expiry = match (one.expires, other.expires) {
        (Some(one), Some(other)) => one.since(other).max(other.since(one)) <= EXPIRY_SLACK,
        (one, other) => one == other,
    };
    let rest = |cookie: &Cookie| (cookie.secure, cookie.http_only, cookie.same_site);
    one.value == other.value && rest(one) == rest(other) && expiry
}

#[cfg(test)]
mod tests {
    use policy::cookies::SameSite;

    use super::*;

    fn cookie(name: &str, value: &str, domain: &str) -> Cookie {
        Cookie {
            name: name.into(),
            value: value.into(),
            domain: domain.into(),
            host_only: true,
            path: "/".into(),
            secure: false,
            http_only: false,
            same_site: None,
            expires: None,
            created: Time(1),
        }
    }

    fn told(updates: &[Update]) -> Vec<String> {
        let one = |update: &Update| match &update.change {
            Change::Set(cookie) if cookie.expires == Some(Time(0)) => {
                format!("{}: -{}", update.row, cookie.name)
            }
            Change::Set(cookie) => format!("{}: {}={}", update.row, cookie.name, cookie.value),
            other => format!("{other:?}"),
        };
        updates.iter().map(one).collect()
    }

    #[test]
    fn b15_what_a_page_changes_goes_back_to_the_jar_and_nothing_else() {
        let before = [cookie("a", "1", "x.no"), cookie("b", "1", "x.no"), cookie("c", "1", "x.no")];
        let after = [
            cookie("a", "1", "x.no"),
            cookie("b", "2", "x.no"),
            cookie("d", "new", "x.no"),
            cookie("t", "z", "tracker.test"),
        ];
        let updates = out_of_context(&before, &after, "x.no", Time(5));
        assert_eq!(told(&updates), ["x.no: b=2", "x.no: d=new", "x.no: -c", "tracker.test: t=z"]);
        assert!(out_of_context(&after, &after, "x.no", Time(5)).is_empty());
        let many: Vec<Cookie> = (0..300).map(|n| cookie("n", "1", &format!("t{n}.test"))).collect();
        let many = [&many[..], &[cookie("own", "1", "x.no")]].concat();
        let updates = out_of_context(&[], &many, "x.no", Time(5));
        assert_eq!(updates.len(), ROWS_MAX);
        assert_eq!(told(&updates)[0], "x.no: own=1");
    }

    #[test]
    fn b15_a_cookie_is_another_if_it_is_for_others() {
        let one = Cookie { expires: Some(Time(100_000)), ..cookie("a", "1", "x.no") };
        let changed =
            |other: Cookie| out_of_context(std::slice::from_ref(&one), &[other], "x.no", Time(5)).len();
        for (other, expected) in [
            (Cookie { expires: Some(Time(101_999)), ..one.clone() }, 0),
            (Cookie { expires: Some(Time(98_001)), ..one.clone() }, 0),
            (Cookie { expires: Some(Time(102_001)), ..one.clone() }, 1),
            (Cookie { expires: None, ..one.clone() }, 1),
            (Cookie { created: Time(99), ..one.clone() }, 0),
            (Cookie { http_only: true, ..one.clone() }, 1),
            (Cookie { same_site: Some(SameSite::None), ..one.clone() }, 1),
            (Cookie { secure: true, ..one.clone() }, 1),
        ] {
            assert_eq!(changed(other.clone()), expected, "{other:?}");
        }
    }

    #[test]
    fn b15_given_cookies_are_there_unless_the_site_renewed_them() {
        let given =
            GivenCookie { host: "www.x.no".into(), name: "login".into(), value: "g".into(), path: None };
        let row = |name: &str| Row { cookies: vec![cookie(name, "s", "x.no")], ..Row::default() };
        let put = |rows: &[(String, Row)]| -> Vec<String> {
            let cookies = into_context(rows, std::slice::from_ref(&given), Time(5));
            cookies
                .iter()
                .map(|cookie| format!("{} {}={}", cookie.domain, cookie.name, cookie.value))
                .collect()
        };
        assert_eq!(put(&[]), ["x.no login=g", "www.x.no login=g"]);
        assert_eq!(put(&[("x.no".into(), row("login"))]), ["x.no login=s"]);
        let other = put(&[("x.no".into(), row("other"))]);
        assert_eq!(other, ["x.no other=s", "x.no login=g", "www.x.no login=g"]);
        let old = Row {
            cookies: vec![Cookie { expires: Some(Time(4)), ..cookie("o", "s", "x.no") }],
            ..Row::default()
        };
        assert_eq!(put(&[("x.no".into(), old)]), ["x.no login=g", "www.x.no login=g"]);
    }
}
