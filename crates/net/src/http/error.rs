//! Why there is no answer, in a sentence.

use policy::time::{Span, Time};

/// A fetch that brought nothing to archive (A5, A11).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct FetchError {
    pub kind: FetchErrorKind,
    pub reason: String,
    /// When the fetch began, and how long it took to fail.
    pub at: Time,
    pub elapsed: Span,
}

/// Where a fetch failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchErrorKind {
    /// The name has no address, or none was found out.
    Dns,
    /// The address is one that must not be connected to (A6).
    Refused,
    /// Nobody there, or not in time.
    Connect,
    Tls,
    /// Connected, but no complete head in time.
    Timeout,
    /// The connection broke before there was an answer, or what came was none, or it cannot be
    /// asked for at all.
    Broken,
    /// More header bytes than allowed.
    Limit,
    /// The disk on this side could not keep the answer. Nothing that came from the web leads here
    /// (A12).
    Local,
}

/// A [`FetchError`] to be, before anybody looked at the clock.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) kind: FetchErrorKind,
    pub(super) reason: String,
}

impl Problem {
    pub(super) fn new(kind: FetchErrorKind, reason: impl Into<String>) -> Problem {
        Problem { kind, reason: reason.into() }
    }
}
