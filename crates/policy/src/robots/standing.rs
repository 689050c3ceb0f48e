//! What a server's last answer about its robots.txt means, and for how long (RFC 9309, 2.3.1 and
//! 2.4).
//!
//! The file is there: its rules hold for as long as it is cached, which is a setting, a day by
//! default. It is not there (4xx, or redirects without end): everything is allowed, for as long.
//! The server is ill or silent (5xx, no answer): nothing is allowed until it answers; but
//! where it has answered within the last 30 days, that answer goes on holding. A silent server is
//! asked again after an hour, or before that if answers are not cached for so long.
//!
//! A setting that was made shorter meanwhile is in force at once. What was read at a moment that is
//! still to come was read by a clock that was ahead: it is read again (F40).

use serde::{Deserialize, Serialize};

use crate::time::{Span, Time};

/// How long the last answer is relied on while the server gives no other.
pub const COPY_HOLDS: Span = Span::days(30);

/// When a server that gave no answer is asked again.
pub const RETRY: Span = Span::hours(1);

/// What came of asking for the file, redirects followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The status at the end of the redirects.
    Status(u16),
    /// Too many redirects, or one that leads nowhere.
    LostInRedirects,
    /// No address, no connection, no head in time.
    None,
}

/// What holds for the URLs of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Says {
    /// The rules of the last text it sent.
    Rules,
    AllowAll,
    DenyAll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub says: Says,
    /// When the answer that holds was given; none while it denies for want of one.
    pub answered: Option<Time>,
    /// When it was last asked.
    pub read: Time,
    next_read: Time,
}

impl Standing {
    /// After this answer, where `before` held until now; answers are cached for so long.
    pub fn after(answer: Answer, at: Time, before: Option<Standing>, cache: Span) -> Standing {
        let fresh = |says| Standing { says, answered: Some(at), read: at, next_read: at.plus(cache) };
        match answer {
            Answer::Status(200..=299) => fresh(Says::Rules),
            Answer::Status(304) => fresh(before.map_or(Says::AllowAll, |before| before.says_if_answered())),
            Answer::Status(300..=499) | Answer::LostInRedirects => fresh(Says::AllowAll),
            Answer::Status(_) | Answer::None => Standing::silent(at, before, cache),
        }
    }

    /// When it is read again, if answers are cached for so long by now.
    pub fn next_read(&self, cache: Span) -> Time {
        self.next_read.min(self.read.plus(cache))
    }

    pub fn is_due(&self, now: Time, cache: Span) -> bool {
        now >= self.next_read(cache) || now < self.read
    }

    /// Whether the server itself said what holds when it was last asked.
    pub fn is_answer(&self) -> bool {
        self.answered == Some(self.read)
    }

    fn silent(at: Time, before: Option<Standing>, cache: Span) -> Standing {
        let retry = at.plus(RETRY.min(cache));
        let kept = before.and_then(|before| Some((before.says, before.answered?.min(at))));
        match kept {
            Some((says, answered)) if at.since(answered) < COPY_HOLDS => {
                let next_read = retry.min(answered.plus(COPY_HOLDS));
                Standing { says, answered: Some(answered), read: at, next_read }
            }
            _ => Standing { says: Says::DenyAll, answered: None, read: at, next_read: retry },
        }
    }

    /// "Not modified" confirms an answer; where there was none, it is an odd way to say that there
    /// is nothing.
    fn says_if_answered(self) -> Says {
        if self.answered.is_some() { self.says } else { Says::AllowAll }
    }
}
