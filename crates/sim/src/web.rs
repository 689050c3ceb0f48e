//! A web that exists only as a table: what each URL answers, and how that changes.

use std::collections::HashMap;

use frontier::ErrorKind;
use policy::model::LinkKind;
use policy::time::{Span, Time};

/// A page and its answers: each is served `count` times, the last one for ever.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    pub url: String,
    pub responses: Vec<Response>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    pub status: u16,
    pub count: u64,
    pub outlinks: Vec<(String, LinkKind)>,
    /// How long the answer takes.
    pub delay: Span,
    /// Instead of an answer.
    pub error: Option<ErrorKind>,
}

impl Default for Response {
    fn default() -> Response {
        Response { status: 200, count: 1, outlinks: Vec::new(), delay: Span(DELAY_MS_USUAL), error: None }
    }
}

/// How long an answer takes where nothing is said about it.
pub const DELAY_MS_USUAL: u64 = 200;

/// The pages by URL, and how often each was asked for.
#[derive(Clone, Debug, Default)]
pub struct Web {
    pages: HashMap<String, (Page, u64)>,
    /// How its pages change by themselves; none: they do not.
    changes: Option<HashMap<String, Changing>>,
}

/// A page that changes at random moments, by a rate of its own.
#[derive(Clone, Debug)]
struct Changing {
    rng: fastrand::Rng,
    /// The mean time between two changes.
    mean_s: f64,
    next: Time,
    count: usize,
}

/// Answers of one page are told from its changes by this: a page has fewer.
pub const EDITIONS: usize = 1 << 16;
/// The shortest and the longest mean time between two changes of a page, in seconds.
const CHANGE_S: (f64, f64) = (6.0 * 3600.0, 180.0 * 86_400.0);

impl Web {
    pub fn new(pages: impl IntoIterator<Item = Page>) -> Web {
        Web { pages: pages.into_iter().map(|page| (page.url.clone(), (page, 0))).collect(), changes: None }
    }

    /// Its pages change by themselves, from `start` on: some every few hours, some hardly ever, evenly
    /// among the orders of magnitude. The same for the same seed.
    #[must_use]
    pub fn changing(mut self, seed: u64, start: Time) -> Web {
        let changing = |url: &String| {
            let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            let mut rng = fastrand::Rng::with_seed(url.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, step));
            let mean_s = CHANGE_S.0 * (CHANGE_S.1 / CHANGE_S.0).powf(rng.f64());
            let next = start.plus(wait(&mut rng, mean_s));
            (url.clone(), Changing { rng, mean_s, next, count: 0 })
        };
        self.changes = Some(self.pages.keys().map(changing).collect());
        self
    }

    /// How often a page has changed by then, which is not before any moment asked for so far.
    pub fn changed(&mut self, url: &str, at: Time) -> usize {
        let Some(page) = self.changes.as_mut().and_then(|changes| changes.get_mut(url)) else { return 0 };
        while page.next <= at {
            page.count += 1;
            page.next = page.next.plus(wait(&mut page.rng, page.mean_s));
        }
        page.count
    }

    pub fn len(&self) -> usize {
        self.pages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    pub fn pages(&self) -> impl Iterator<Item = &Page> {
        self.pages.values().map(|(page, _)| page)
    }

    /// Asks for a page: the answer, and which of the page's answers it is. An unknown URL is a 404.
    pub fn ask(&mut self, url: &str) -> (Response, usize) {
        let not_found = (Response { status: 404, ..Response::default() }, 0);
        let Some((page, asked)) = self.pages.get_mut(url) else { return not_found };
        let mut left = *asked;
        *asked += 1;
        for (at, response) in page.responses.iter().enumerate() {
            if left < response.count || at + 1 == page.responses.len() {
                return (response.clone(), at);
            }
            left -= response.count;
        }
        (Response::default(), 0)
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time to come, in milliseconds")]
fn wait(rng: &mut fastrand::Rng, mean_s: f64) -> Span {
    Span((-(1.0 - rng.f64()).ln() * mean_s * 1000.0) as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_served_as_often_as_said_and_the_last_for_ever() {
        let response = |status, count| Response { status, count, ..Response::default() };
        let page = Page {
            url: "http://a/".into(),
            responses: vec![response(200, 2), response(500, 1), response(404, 1)],
        };
        let mut web = Web::new([page]);
        let statuses: Vec<u16> = (0..6).map(|_| web.ask("http://a/").0.status).collect();
        assert_eq!(statuses, [200, 200, 500, 404, 404, 404]);
        assert_eq!(web.ask("http://nowhere/").0.status, 404);
    }
}
