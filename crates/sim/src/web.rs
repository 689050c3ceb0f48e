//! A web that exists only as a table: what each URL answers, and how that changes.

use std::collections::HashMap;

use frontier::ErrorKind;
use policy::model::LinkKind;
use policy::time::Span;

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
}

impl Web {
    pub fn new(pages: impl IntoIterator<Item = Page>) -> Web {
        Web { pages: pages.into_iter().map(|page| (page.url.clone(), (page, 0))).collect() }
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
