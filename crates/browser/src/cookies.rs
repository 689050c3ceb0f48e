//! Cookies as the browser spells them (B15).

use policy::cookies::{Cookie, SameSite};
use policy::time::Time;

use crate::protocol::{CookieIn, CookieOut};

/// For the browser.
pub(crate) fn given(cookie: &Cookie) -> CookieIn {
    let scheme = if cookie.secure { "https" } else { "http" };
    #[allow(clippy::cast_precision_loss, reason = "seconds, for a browser that counts them so")]
    let seconds = |time: Time| time.0 as f64 / 1000.0;
    CookieIn {
        name: cookie.name.clone(),
        value: cookie.value.clone(),
        // With a URL and no domain it is for that host alone.
        url: cookie.host_only.then(|| format!("{scheme}://{}/", cookie.domain)),
        domain: (!cookie.host_only).then(|| cookie.domain.clone()),
        path: cookie.path.clone(),
        secure: cookie.secure,
        http_only: cookie.http_only,
        same_site: cookie.same_site.map(SameSite::as_str),
        expires: cookie.expires.map(seconds),
    }
}

/// From the browser, which does not say since when it has it.
pub(crate) fn taken(cookie: CookieOut) -> Cookie {
    #[allow(clippy::cast_possible_truncation, reason = "what is beyond all times is the last of them")]
    let time = |seconds: f64| Time((seconds * 1000.0) as i64);
    Cookie {
        host_only: !cookie.domain.starts_with('.'),
        domain: cookie.domain.trim_start_matches('.').to_owned(),
        name: cookie.name,
        value: cookie.value,
        path: cookie.path,
        secure: cookie.secure,
        http_only: cookie.http_only,
        same_site: cookie.same_site.as_deref().and_then(SameSite::parse),
        // Less than none of a session's.
        expires: (cookie.expires > 0.0).then(|| time(cookie.expires)),
        created: Time(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b15_a_cookie_comes_back_as_it_went_in() {
        let cookie = |host_only: bool, same_site: Option<SameSite>, expires: Option<Time>| Cookie {
            name: "n".to_owned(),
            value: "v".to_owned(),
            domain: "a.test".to_owned(),
            host_only,
            path: "/p".to_owned(),
            secure: host_only,
            http_only: !host_only,
            same_site,
            expires,
            created: Time(0),
        };
        for (host_only, same_site, expires) in [
            (true, None, None),
            (false, Some(SameSite::None), Some(Time(1_700_000_000_250))),
            (true, Some(SameSite::Lax), Some(Time(1000))),
            (false, Some(SameSite::Strict), None),
        ] {
            let one = cookie(host_only, same_site, expires);
            let told = given(&one);
            assert_eq!(told.url.is_some(), host_only);
            // As browsers tell it: a domain with a dot before it is for all below it.
            let back = taken(CookieOut {
                name: told.name,
                value: told.value,
                domain: if host_only { "a.test".to_owned() } else { ".a.test".to_owned() },
                path: told.path,
                expires: told.expires.unwrap_or(-1.0),
                secure: told.secure,
                http_only: told.http_only,
                same_site: told.same_site.map(str::to_owned),
            });
            assert_eq!(back, one);
        }
    }
}
