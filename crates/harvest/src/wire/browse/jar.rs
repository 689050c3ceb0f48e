//! B15: cookies on their way into a page's context and back. Nothing else survives a page.

use browser::Cookie;
use policy::cookies::{self, Change, ROWS_MAX, Row, Update, row_of};
use policy::model::GivenCookie;
use policy::time::Time;
use policy::url::site_of;

/// What may be set by one page.
const UPDATES_MAX: usize = 200;
/// The browser counts in its own way.
const EXPIRY_SLACK_S: f64 = 2.0;

/// What a context starts with: the rows that the page's host reads, and what the operator gave, for
/// the site with and without `www.`.
pub(super) fn into_context(rows: &[(String, Row)], given: &[GivenCookie], now: Time) -> Vec<Cookie> {
    let kept = rows.iter().flat_map(|(_, row)| &row.cookies);
    let live = kept.filter(|cookie| cookie.expires.is_none_or(|expires| expires > now));
    let mut cookies: Vec<Cookie> = live.map(own).collect();
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
                expires: None,
            });
        }
    }
    cookies
}

fn own(cookie: &cookies::Cookie) -> Cookie {
    #[allow(clippy::cast_precision_loss, reason = "seconds, for a browser that counts them so")]
    let seconds = |time: Time| time.0 as f64 / 1000.0;
    Cookie {
        name: cookie.name.clone(),
        value: cookie.value.clone(),
        domain: cookie.domain.clone(),
        host_only: cookie.host_only,
        path: cookie.path.clone(),
        secure: cookie.secure,
        expires: cookie.expires.map(seconds),
    }
}

/// What the page changed of it, to be committed with its harvest. Rows beyond what a harvest may
/// write are those of strangers.
pub(super) fn out_of_context(before: &[Cookie], after: &[Cookie], host: &str, now: Time) -> Vec<Update> {
    let is_same = |one: &Cookie, other: &Cookie| {
        one.name == other.name
            && one.domain == other.domain
            && one.path == other.path
            && one.host_only == other.host_only
    };
    let is_unchanged = |one: &Cookie, other: &Cookie| {
        let expiry = match (one.expires, other.expires) {
            (None, None) => true,
            (Some(one), Some(other)) => (one - other).abs() <= EXPIRY_SLACK_S,
            _ => false,
        };
        one.value == other.value && one.secure == other.secure && expiry
    };
    let set = after.iter().filter(|new| {
        let old = before.iter().find(|old| is_same(old, new));
        old.is_none_or(|old| !is_unchanged(old, new))
    });
    let gone = before.iter().filter(|old| !after.iter().any(|new| is_same(old, new)));
    let changes = set.map(|cookie| kept(cookie, now)).chain(gone.map(|cookie| {
        let expired = cookies::Cookie { expires: Some(Time(0)), ..kept(cookie, now) };
        cookies::Cookie { value: String::new(), ..expired }
    }));
    let own_site = site_of(host).to_owned();
    let mut updates: Vec<Update> = changes
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

fn kept(cookie: &Cookie, now: Time) -> cookies::Cookie {
    #[allow(clippy::cast_possible_truncation, reason = "what is beyond all times is the last of them")]
    let time = |seconds: f64| Time((seconds * 1000.0) as i64);
    cookies::Cookie {
        name: cookie.name.clone(),
        value: cookie.value.clone(),
        domain: cookie.domain.clone(),
        host_only: cookie.host_only,
        path: cookie.path.clone(),
        secure: cookie.secure,
        expires: cookie.expires.map(time),
        created: now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(name: &str, value: &str, domain: &str) -> Cookie {
        Cookie {
            name: name.into(),
            value: value.into(),
            domain: domain.into(),
            host_only: true,
            path: "/".into(),
            secure: false,
            expires: None,
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
    fn b15_given_cookies_are_there_unless_the_site_renewed_them() {
        let given =
            GivenCookie { host: "www.x.no".into(), name: "login".into(), value: "g".into(), path: None };
        let row =
            |name: &str| Row { cookies: vec![kept(&cookie(name, "s", "x.no"), Time(1))], ..Row::default() };
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
            cookies: vec![cookies::Cookie {
                expires: Some(Time(4)),
                ..kept(&cookie("o", "s", "x.no"), Time(1))
            }],
            ..Row::default()
        };
        assert_eq!(put(&[("x.no".into(), old)]), ["x.no login=g", "www.x.no login=g"]);
    }
}
