//! Pages and tables written as text.

use std::path::PathBuf;

use net::exchange::Head;
use net::extract::{Extracted, Limits, Page, links};
use policy::url::{CrawlUrl, UrlRules, normalise};

/// Test data of other projects, where it is at hand.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: no {}", path.display());
    None
}

pub(crate) fn url(text: &str) -> CrawlUrl {
    normalise(text, None, &UrlRules::default()).unwrap()
}

pub(crate) fn head(status: u16, headers: &[(&str, &str)]) -> Head {
    let headers =
        headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect();
    Head { status, headers, bytes: 0 }
}

/// An answer and how it is to be read.
pub(crate) struct Reading {
    pub(crate) url: CrawlUrl,
    pub(crate) head: Head,
    pub(crate) limits: Limits,
    pub(crate) rules: UrlRules,
    pub(crate) forms: bool,
    pub(crate) announced: bool,
}

impl Reading {
    pub(crate) fn new(address: &str, content_type: &str) -> Reading {
        Reading {
            url: url(address),
            head: head(200, &[("Content-Type", content_type)]),
            limits: Limits::default(),
            rules: UrlRules::default(),
            forms: false,
            announced: false,
        }
    }

    pub(crate) fn of(&self, body: impl AsRef<[u8]>) -> Extracted {
        let page = Page {
            url: &self.url,
            head: &self.head,
            limits: self.limits,
            rules: &self.rules,
            forms: self.forms,
            announced_as_sitemap: self.announced,
        };
        links(&page, &mut body.as_ref())
    }
}

pub(crate) fn html(body: impl AsRef<[u8]>) -> Extracted {
    Reading::new("http://a.no/dir/page", "text/html; charset=utf-8").of(body)
}

/// `Link http://a.no/x "anchor"`, one a line.
pub(crate) fn shown(extracted: &Extracted) -> Vec<String> {
    let line = |found: &net::extract::Found| match found.anchor.as_str() {
        "" => format!("{:?} {}", found.kind, found.url),
        anchor => format!("{:?} {} {anchor:?}", found.kind, found.url),
    };
    extracted.links.iter().map(line).collect()
}

/// The lines of a text that say something, without indentation.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}
