//! An archived answer as a page.

use std::io::{self, Cursor, Read};

use index::ANCHOR_BYTES_MAX;
use net::exchange::Head;
use net::extract::{self, Extracted, Found, Limits};
use net::http::Dechunk;
use net::http::head::{self, Layout};
use policy::time::Time;
use policy::url::{CrawlUrl, UrlRules, normalise};

use super::{LINKS_MAX, Page, Step};

/// Of a longer head nothing is believed.
const HEAD_BYTES_MAX: usize = 256 << 10;
/// Images and scripts take places among what is extracted, but none among the links.
const EXTRACTED_MAX: usize = 4 * LINKS_MAX;
const HTML: [&str; 2] = ["text/html", "application/xhtml+xml"];

/// A record that may hold a page.
pub(super) struct Record<'a> {
    pub(super) url: &'a str,
    pub(super) time: Option<Time>,
    pub(super) rules: &'a UrlRules,
}

impl Record<'_> {
    /// A block that begins with the head of an HTTP answer.
    pub(super) fn response(&self, block: &mut dyn Read) -> io::Result<Step> {
        let Some((parsed, rest)) = head_of(block)? else { return Ok(Step::Other) };
        if parsed.head.status != 200 || !may_be_html(&parsed.head) {
            return Ok(Step::Other);
        }
        let mut body = Cursor::new(rest).chain(block);
        Ok(match parsed.layout {
            Layout::Chunked => self.page(&parsed.head, &mut Dechunk::new(body)),
            _ => self.page(&parsed.head, &mut body),
        })
    }

    /// A block that is the content itself.
    pub(super) fn resource(&self, content_type: Option<&str>, block: &mut dyn Read) -> Step {
        let headers = content_type.map(|value| ("Content-Type".to_owned(), value.as_bytes().to_vec()));
        let head = Head { status: 200, headers: headers.into_iter().collect(), bytes: 0 };
        if may_be_html(&head) { self.page(&head, block) } else { Step::Other }
    }

    fn page(&self, head: &Head, body: &mut dyn Read) -> Step {
        let Ok(url) = normalise(self.url, None, self.rules) else { return Step::Other };
        let limits =
            Limits { links_max: EXTRACTED_MAX, anchor_bytes_max: ANCHOR_BYTES_MAX, ..Limits::default() };
        let page = extract::Page {
            url: &url,
            head,
            limits,
            rules: self.rules,
            forms: false,
            announced_as_sitemap: false,
        };
        let found = extract::links(&page, body);
        if !says_html(head) && found.title.is_none() && !found.links.iter().any(Found::is_indexed) {
            return Step::Other;
        }
        Step::Put(self.filled(&url, &found))
    }

    fn filled(&self, url: &CrawlUrl, found: &Extracted) -> Page {
        let mut page = Page { url: url.as_str().to_owned(), time: self.time, ..Page::default() };
        let users = found.links.iter().filter(|link| link.user_info).count() as u64;
        (page.dropped, page.unusable) = (found.dropped, found.unusable + users);
        let mut bytes = 0;
        for link in found.links.iter().filter(|link| link.is_indexed()) {
            page.add(link.url.as_str().to_owned(), &link.anchor, &mut bytes);
        }
        page
    }
}

fn says_html(head: &Head) -> bool {
    HTML.contains(&head.content_type().essence.as_str())
}

/// HTML, or nothing at all: then its content has to tell.
fn may_be_html(head: &Head) -> bool {
    says_html(head) || head.content_type().essence.is_empty()
}

/// Reads the head of an answer, and what was read beyond it; none if there is none.
fn head_of(block: &mut dyn Read) -> io::Result<Option<(head::Parsed, Vec<u8>)>> {
    let mut bytes = Vec::with_capacity(4 << 10);
    let mut piece = [0; 4 << 10];
    while bytes.len() < HEAD_BYTES_MAX {
        let read = block.read(&mut piece)?;
        if read == 0 {
            break;
        }
        let from = bytes.len().saturating_sub(2);
        bytes.extend_from_slice(&piece[..read]);
        if let Some(end) = head::end_of_head(&bytes, from) {
            let rest = bytes.split_off(end);
            return Ok(head::parse(&bytes).map(|parsed| (parsed, rest)));
        }
    }
    Ok(None)
}
