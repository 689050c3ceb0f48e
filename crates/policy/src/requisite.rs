//! What a page may ask the web for on its own account: with which methods (B5), how often and how
//! many at a time (B8), and what need not be asked for again (B10).

use std::collections::VecDeque;
use std::time::Duration;

use crate::time::{Span, Time};

/// What is asked of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    Get,
    Head,
    Options,
    Post,
    /// A GET that asks for another protocol on the same connection: a websocket.
    Upgrade,
}

impl Method {
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get | Method::Upgrade => "GET",
            Method::Head => "HEAD",
            Method::Options => "OPTIONS",
            Method::Post => "POST",
        }
    }

    /// Asking twice comes to the same as asking once.
    pub fn may_be_repeated(self) -> bool {
        !matches!(self, Method::Post | Method::Upgrade)
    }

    /// B5: whether its answer is a capture. HEAD and OPTIONS say what a GET would say, or nothing.
    pub fn is_capture(self) -> bool {
        !matches!(self, Method::Head | Method::Options)
    }
}

/// Why a beacon is not sent (B5).
pub const BEACON: &str = "a beacon";

/// A request of a page, as far as B5 asks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asking<'a> {
    pub method: &'a str,
    /// The protocol it would rather speak.
    pub upgrade: Option<&'a str>,
    /// `Sec-Fetch-Mode` and `Sec-Fetch-Dest`: what the browser says it is for. To servers that are
    /// not trustworthy it does not say.
    pub mode: Option<&'a str>,
    pub destination: Option<&'a str>,
    /// `Ping-To`: sent when a link with `ping` is followed.
    pub ping_to: Option<&'a str>,
}

impl Asking<'_> {
    /// A POST whose page cannot read the answer, and that is for nothing that could be shown.
    fn is_beacon(&self) -> bool {
        self.ping_to.is_some()
            || (self.mode == Some("no-cors") && matches!(self.destination, None | Some("empty")))
    }

    /// B5: what it is asked with; or why it is not.
    pub fn method(&self) -> Result<Method, &'static str> {
        match self.method {
            "GET" if self.upgrade.is_some_and(|to| to.eq_ignore_ascii_case("websocket")) => {
                Ok(Method::Upgrade)
            }
            "GET" => Ok(Method::Get),
            "HEAD" => Ok(Method::Head),
            "OPTIONS" => Ok(Method::Options),
            "POST" if self.is_beacon() => Err(BEACON),
            "POST" => Ok(Method::Post),
            _ => Err("a method that is not asked with"),
        }
    }
}

/// B8: requests of one host at a time, over all tabs.
pub const AT_ONCE_MAX: usize = 4;
/// B8: and within a second.
pub const A_SECOND_MAX: usize = 20;
const SECOND: Duration = Duration::from_secs(1);

/// B8: how often a host has been asked, in times since any moment that stays the same.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// When the last requests began, as many as may within a second.
    begun: VecDeque<Duration>,
    /// It said when to come back.
    not_before: Option<Duration>,
}

/// Why a request does not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotNow {
    /// It may be tried again then.
    Until(Duration),
    /// The host asked to be left alone.
    Closed,
}

impl Pace {
    pub fn begin(&mut self, now: Duration) -> Result<(), NotNow> {
        if self.is_closed(now) {
            return Err(NotNow::Closed);
        }
        while self.begun.front().is_some_and(|first| *first + SECOND <= now) {
            self.begun.pop_front();
        }
        match self.begun.front() {
            Some(first) if self.begun.len() >= A_SECOND_MAX => Err(NotNow::Until(*first + SECOND)),
            _ => {
                self.begun.push_back(now);
                Ok(())
            }
        }
    }

    /// The host said when to come back.
    pub fn close(&mut self, until: Duration) {
        self.not_before = Some(until);
    }

    pub fn is_closed(&self, now: Duration) -> bool {
        self.not_before.is_some_and(|until| now < until)
    }
}

/// B10: whether what was captured then is as good as asking now.
pub fn is_fresh(captured: Time, now: Time, fresh: Span) -> bool {
    fresh > Span::ZERO && captured <= now && now.since(captured) <= fresh
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b5_methods_and_beacons() {
        const OTHER: Result<Method, &str> = Err("a method that is not asked with");
        let plain = Asking::default();
        let fetched =
            |mode, destination| Asking { mode: Some(mode), destination: Some(destination), ..plain };
        for (rule, method, asking, expected) in [
            ("B5 capture", "GET", plain, Ok(Method::Get)),
            ("B5 passes", "HEAD", plain, Ok(Method::Head)),
            ("B5 passes", "OPTIONS", plain, Ok(Method::Options)),
            ("B5 capture", "POST", plain, Ok(Method::Post)),
            ("B5 capture", "POST", fetched("cors", "empty"), Ok(Method::Post)),
            ("B5 a form in a frame", "POST", fetched("navigate", "iframe"), Ok(Method::Post)),
            ("B5 shown, so no beacon", "POST", fetched("no-cors", "image"), Ok(Method::Post)),
            ("B5 beacon", "POST", fetched("no-cors", "empty"), Err("a beacon")),
            ("B5 beacon", "POST", Asking { mode: Some("no-cors"), ..plain }, Err("a beacon")),
            ("B5 ping", "POST", Asking { ping_to: Some("http://a.test/"), ..plain }, Err("a beacon")),
            ("B5 its answer is shown", "GET", fetched("no-cors", "empty"), Ok(Method::Get)),
            ("B5 refused", "PUT", plain, OTHER),
            ("B5 refused", "DELETE", plain, OTHER),
            ("B5 refused", "PATCH", plain, OTHER),
            ("B5 refused", "get", plain, OTHER),
            ("B5 refused", "", plain, OTHER),
            ("B7", "GET", Asking { upgrade: Some("WebSocket"), ..plain }, Ok(Method::Upgrade)),
            ("B7 nothing else", "GET", Asking { upgrade: Some("h2c"), ..plain }, Ok(Method::Get)),
        ] {
            assert_eq!(Asking { method, ..asking }.method(), expected, "{rule}: {method} {asking:?}");
        }
    }

    #[test]
    fn b5_get_and_post_are_captures() {
        use Method::{Get, Head, Options, Post, Upgrade};
        for (method, is_capture) in
            [(Get, true), (Post, true), (Upgrade, true), (Head, false), (Options, false)]
        {
            assert_eq!(method.is_capture(), is_capture, "{method:?}");
        }
    }

    #[test]
    fn b8_requests_of_a_second_and_hosts_that_said_when() {
        let at = Duration::from_millis;
        let until = |millis| Err(NotNow::Until(at(millis)));
        let twenty = [0; 20];
        let spread: Vec<u64> = (0..20).map(|n| n * 50).collect();
        for (rule, begun, closed, now, expected) in [
            ("B8 the first", &[][..], None, 0, Ok(())),
            ("B8 the twentieth", &twenty[..19], None, 0, Ok(())),
            ("B8 the twenty-first", &twenty[..], None, 0, until(1000)),
            ("B8 just before the second is over", &twenty[..], None, 999, until(1000)),
            ("B8 the second is over", &twenty[..], None, 1000, Ok(())),
            ("B8 by the oldest of them", &spread[..], None, 970, until(1000)),
            ("B8 one of them is over", &spread[..], None, 1000, Ok(())),
            ("B8 Retry-After", &[], Some(5000), 4999, Err(NotNow::Closed)),
            ("B8 Retry-After comes first", &twenty[..], Some(5000), 0, Err(NotNow::Closed)),
            ("B8 its time has come", &[], Some(5000), 5000, Ok(())),
        ] {
            let mut pace = Pace::default();
            for began in begun {
                assert_eq!(pace.begin(at(*began)), Ok(()), "{rule}");
            }
            if let Some(closed) = closed {
                pace.close(at(closed));
            }
            assert_eq!(pace.begin(at(now)), expected, "{rule}");
        }
    }

    #[test]
    fn b10_what_is_fresh() {
        let hour = Span::hours(1);
        for (captured, now, fresh, expected) in [
            (0, 0, hour, true),
            (0, 3_600_000, hour, true),
            (0, 3_600_001, hour, false),
            // A clock that went back makes nothing fresh.
            (1, 0, hour, false),
            (0, 0, Span::ZERO, false),
        ] {
            assert_eq!(is_fresh(Time(captured), Time(now), fresh), expected, "{captured} at {now}");
        }
    }
}
