//! Who asked for what, and when: what a check of politeness needs.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Requests that are remembered; the oldest go first.
pub(super) const REQUESTS_MAX: usize = 10_000;

/// Of a host or path, so that a request of the log is small whatever was asked for.
const TEXT_BYTES_MAX: usize = 512;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub host: String,
    /// With its query.
    pub path: String,
    /// Since the web began: when the whole request was there.
    pub began: Duration,
    /// When the last byte of the answer had been handed to the system, or the asker was gone.
    pub ended: Duration,
    /// Whether a cookie came along.
    pub cookie: bool,
    pub status: u16,
}

#[derive(Debug, Default)]
pub(super) struct Log {
    requests: Mutex<VecDeque<Request>>,
}

impl Log {
    pub(super) fn add(&self, mut request: Request) {
        shorten(&mut request.host);
        shorten(&mut request.path);
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if requests.len() == REQUESTS_MAX {
            requests.pop_front();
        }
        requests.push_back(request);
    }

    /// In the order in which they came; they were added as they ended.
    pub(super) fn requests(&self) -> Vec<Request> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let mut requests: Vec<Request> = requests.iter().cloned().collect();
        requests.sort_by_key(|request| request.began);
        requests
    }
}

fn shorten(text: &mut String) {
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    text.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_bounded_and_in_order() {
        let log = Log::default();
        let path = "æ".repeat(4000);
        for number in 0..REQUESTS_MAX + 5 {
            let ended = Duration::from_millis(u64::try_from(number).unwrap());
            // Each ends before the one that came just before it.
            let began = ended.saturating_sub(Duration::from_millis(if number % 2 == 0 { 0 } else { 10 }));
            log.add(Request {
                host: "a.test".to_owned(),
                path: path.clone(),
                began,
                ended,
                cookie: false,
                status: 200,
            });
        }
        let requests = log.requests();
        assert_eq!(requests.len(), REQUESTS_MAX);
        assert!(requests.is_sorted_by_key(|request| request.began));
        assert_eq!(requests.iter().map(|request| request.ended).min(), Some(Duration::from_millis(5)));
        assert!(requests.iter().all(|request| request.path.len() == TEXT_BYTES_MAX));
    }
}
