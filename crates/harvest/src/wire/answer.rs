//! An answer is read for links and packed for the archive: what it says of its URL, of its page, and
//! of the id that a walk asked for.

use std::io::Read;
use std::sync::Arc;

use frontier::ports::{AnswerFacts, Fetch, Order, Outlink, PageNow, Report};
use net::decode;
use net::dns::DnsRecord;
use net::exchange::{Exchange, Framing, Head};
use net::extract::{self, Extracted, Page};
use net::http::head::Layout;
use net::http::{Dechunk, body, validator};
use net::warc::{Digest, Prepared, digest};
use policy::model::LinkKind;
use policy::time::Time;
use policy::url::UrlRules;
use policy::walk::{Outcome, Seen};

use super::dedup::{Sums, body_bytes};
use super::fetch::Shelf;
use super::pack::{Answer, Original};

/// Answers up to this size are read for links and packed right away; larger ones where they keep
/// nobody waiting.
const AT_ONCE_BYTES_MAX: u64 = 256 << 10;
/// Of a body, decoded, in which the patterns of a walk are looked for.
const LOOKED_AT_BYTES_MAX: u64 = 1 << 20;

/// An answer to be read and packed.
pub(super) struct Work {
    pub(super) order: Order,
    pub(super) exchange: Exchange,
    pub(super) at: Time,
    pub(super) dns: Vec<DnsRecord>,
    pub(super) original: Option<Original>,
    pub(super) rules: UrlRules,
    pub(super) shelf: Option<Arc<Shelf>>,
    pub(super) announced: bool,
    /// The link index wants to know of it.
    pub(super) indexed: bool,
    /// What holds by now.
    pub(super) dns_failed: bool,
    pub(super) denied_until: Option<Time>,
    /// Where its page is rendered.
    pub(super) page_id: Option<String>,
    /// A16: its payload is looked for, and may be referred to.
    pub(super) dedup: bool,
    pub(super) sums: Option<Sums>,
    /// The capture that has its payload, be it of another URL.
    pub(super) twin: Option<Original>,
}

impl Work {
    /// The sum of the body without its chunks.
    pub(super) fn entity(&self) -> std::io::Result<Digest> {
        match (self.sums, self.exchange.framing) {
            (Some(sums), _) => Ok(sums.entity),
            (None, Framing::Plain) => digest::payload(&self.exchange),
            (None, Framing::Chunked) => digest::entity(&self.exchange),
        }
    }

    /// With its digests.
    pub(super) async fn summed(mut self) -> std::io::Result<Work> {
        let is_small = self.exchange.response.len() <= AT_ONCE_BYTES_MAX;
        let sum = move || {
            self.sums = Some(Sums::of(&self.exchange)?);
            Ok(self)
        };
        if is_small { sum() } else { aside(sum).await }
    }

    pub(super) async fn finish(self) -> std::io::Result<(Report, Option<Prepared>)> {
        match self.exchange.response.len() {
            0..=AT_ONCE_BYTES_MAX if self.exchange.head.status != 304 => self.done(),
            _ => aside(move || self.done()).await,
        }
    }

    fn done(&self) -> std::io::Result<(Report, Option<Prepared>)> {
        let Work { order, exchange, .. } = self;
        let head = &exchange.head;
        let Sums { payload, entity } = self.sums.map_or_else(|| Sums::of(exchange), Ok)?;
        let not_modified = head.status == 304;
        let same = order.digest.as_deref() == Some(entity.to_string().as_str());
        let has_content = (200..300).contains(&head.status);
        let unchanged = not_modified || (same && has_content);
        let mut extracted = self.extract(&exchange.head, &mut body(exchange));
        let reread = if not_modified { self.reread() } else { Ok(None) };
        let original = self.original.as_ref().filter(|_| unchanged && exchange.truncated.is_none());
        let original = original.or(self.twin.as_ref());
        let stored = self.sums.filter(|_| self.dedup && original.is_none());
        let saved = original.is_some() && !not_modified;
        let group = match &self.shelf {
            None => None,
            Some(shelf) => Some(shelf.packers.answer(&Answer {
                order,
                exchange,
                dns: &self.dns,
                payload,
                original,
                extracted: Some(&extracted),
                page_id: self.page_id.as_deref(),
            })?),
        };
        let mut facts = AnswerFacts {
            status: head.status,
            digest: if not_modified { order.digest.clone() } else { Some(entity.to_string()) },
            // Who has not all of it must not be told that it is what it was.
            etag: validator(head, "etag").filter(|_| exchange.truncated.is_none()),
            last_modified: validator(head, "last-modified").filter(|_| exchange.truncated.is_none()),
            unchanged,
            dns_failed: self.dns_failed,
            robots_denied_until: self.denied_until,
            sketch: extracted.text.as_ref().map(|text| text.sketch),
        };
        let existence = self.existence(&extracted);
        let page = self.page(&extracted, unchanged);
        let is_first = order.last_fetch.is_none() && head.status == 200;
        let mut text = extracted.text.take().filter(|_| is_first);
        if let Some(text) = &mut text {
            text.show(extracted.links.iter().map(|link| (&link.url, link.kind)));
        }
        let (found, unreadable) = match reread {
            Ok(reread) => (reread.unwrap_or(extracted), None),
            Err(error) => {
                // Asked for as a whole next time, and then it has its links again.
                facts.digest = None;
                let why = format!("its last capture cannot be read ({error}): its links are not known");
                (extracted, Some(why))
            }
        };
        let mut problem = exchange.truncated.map(|why| format!("cut off: {}", told(why)));
        if let Some(reason) = unreadable.or(found.problem) {
            problem.get_or_insert(reason);
        }
        let mut links = found.links;
        let limit = order.plan.limits.max_redirects;
        if order.position.chain >= limit && links.iter().any(|link| link.kind == LinkKind::Redirect) {
            links.retain(|link| link.kind != LinkKind::Redirect);
            problem.get_or_insert_with(|| format!("more than {limit} redirects in a row"));
        }
        let report = Report {
            outlinks: links
                .into_iter()
                .map(|link| Outlink { url: link.url, kind: link.kind, said: link.said })
                .collect(),
            bytes: exchange.response.len(),
            response_time: exchange.total,
            problem,
            existence,
            page,
            payloads: stored.and_then(|sums| sums.stored(exchange)).into_iter().collect(),
            saved_bytes: if saved { body_bytes(exchange) } else { 0 },
            text,
            ..Report::bare(self.at, Fetch::Answer(facts))
        };
        Ok((report, group))
    }

    /// What the link index is told: the links a person could click. What is no page but was
    /// captured is known to be there, and has none.
    fn page(&self, extracted: &Extracted, unchanged: bool) -> Option<PageNow> {
        match self.exchange.head.status {
            _ if !self.indexed || unchanged => None,
            404 | 410 => Some(PageNow::Gone),
            200..=399 => Some(PageNow::Links(indexed_links(extracted))),
            _ => None,
        }
    }

    /// L3: what the answer says of the id a walk asked for.
    fn existence(&self, extracted: &Extracted) -> Option<Outcome> {
        let Work { order, exchange, .. } = self;
        let walk = order.walk.as_ref()?;
        let mut looked_at = Vec::new();
        let wanted = if walk.exists.needs_body() { LOOKED_AT_BYTES_MAX } else { 1 };
        let mut raw = body(exchange);
        let mut decoded = decode::decoded(exchange.head.all("content-encoding"), &mut raw, wanted);
        // What cannot be decoded is looked at as far as it can.
        let _ = decoded.by_ref().take(wanted).read_to_end(&mut looked_at);
        let target = extracted.links.iter().find(|link| link.how == "header/location");
        Some(walk.exists.judge(&Seen {
            status: Some(exchange.head.status),
            location: target.map(|link| link.url.as_str()),
            body_is_empty: looked_at.is_empty(),
            body: Some(&looked_at),
        }))
    }

    /// F35: a page that was not modified names all the links it had, as its last capture has them.
    /// None where there is no capture.
    fn reread(&self) -> std::io::Result<Option<Extracted>> {
        let Some(original) = &self.original else { return Ok(None) };
        let no_answer = || std::io::Error::other("it is no answer");
        let mut record = original.place.open()?;
        let parsed = record.http_head()?.ok_or_else(no_answer)?;
        // The same body may be of another type there.
        let head = match &original.head {
            Some(place) => place.open()?.revisited_head()?.ok_or_else(no_answer)?.head,
            None => parsed.head,
        };
        Ok(Some(match parsed.layout {
            Layout::Chunked => self.extract(&head, &mut Dechunk::new(record)),
            _ => self.extract(&head, &mut record),
        }))
    }

    fn extract(&self, head: &Head, body: &mut dyn Read) -> Extracted {
        let order = &self.order;
        let limits = &order.plan.limits;
        let page = Page {
            url: &order.url,
            head,
            limits: extract::Limits {
                links_max: usize::try_from(limits.max_outlinks).unwrap_or(usize::MAX),
                decoded_bytes_max: limits.max_decoded_bytes,
                text: order.walk.is_none(),
                ..extract::Limits::default()
            },
            rules: &self.rules,
            forms: false,
            announced_as_sitemap: self.announced,
        };
        let mut found = extract::links(&page, body);
        let fit = order.links_that_fit(found.links.iter().map(|link| &link.url));
        let left_out = found.dropped + (found.links.len() - fit) as u64;
        found.links.truncate(fit);
        if left_out > 0 {
            let cut = format!("{left_out} links beyond the first {fit} were left out");
            found.problem = Some(found.problem.map_or(cut.clone(), |problem| format!("{problem}; {cut}")));
        }
        found
    }
}

fn told(why: net::exchange::Truncated) -> &'static str {
    match why {
        net::exchange::Truncated::Length => "more bytes than the limit",
        net::exchange::Truncated::Time => "more time than the limit",
        net::exchange::Truncated::Disconnect => "the server ended the connection too early",
    }
}

/// The links a person could click.
pub(super) fn indexed_links(extracted: &Extracted) -> index::Page {
    let mut page = index::PageBuilder::default();
    for link in extracted.links.iter().filter(|link| link.is_indexed()) {
        page.link(link.url.as_str(), &link.anchor);
    }
    page.finish().0
}

/// Does it where it keeps nobody waiting. A page that makes us panic does so here as it would have
/// done there: it is a broken page, and no fault of the disk (A12).
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only where everything ends: nobody waits for this any more.
            Err(_) => std::future::pending().await,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a12_a_page_that_makes_us_panic_is_a_broken_page_whatever_its_size() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let ended = runtime.block_on(async {
            let page = tokio::spawn(aside(|| -> std::io::Result<()> { panic!("this page") }));
            page.await.expect_err("as where a small page does so: the harvester hears of it")
        });
        assert!(ended.is_panic());
    }
}
