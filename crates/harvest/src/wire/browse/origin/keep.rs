//! What came of a request is noted and packed at once (B5, B10, B16).

use std::sync::atomic::Ordering;
use std::time::Duration;

use net::dns::DnsRecord;
use net::exchange::Exchange;
use net::http::Method;
use net::proxy::Asked;
use net::warc::Digest;
use policy::url::CrawlUrl;

use super::super::post;
use super::PageOrigin;
use crate::page_info::PageRequest;
use crate::wire::dedup::{Sums, body_bytes};
use crate::wire::manner::retry_after;
use crate::wire::pack::{Original, Requisite};

/// Of a body that a page sent, as far as an index needs it.
const POSTED_BYTES_MAX: usize = 16 << 10;

impl PageOrigin<'_> {
    pub(super) fn keep_aside(&self, exchange: &Exchange, dns: Option<&DnsRecord>) {
        match self.wire.packed_aside(exchange, dns) {
            Ok(Some(group)) => self.state.groups.lock().push(group),
            Ok(None) => {}
            Err(problem) => *self.state.fault.lock() = Some(problem.to_string()),
        }
    }

    /// Records what came of a request, and packs it.
    pub(super) async fn keep(
        &self,
        url: &CrawlUrl,
        method: Method,
        asked: &Asked,
        exchange: &Exchange,
        dns: Option<&DnsRecord>,
        info: &mut PageRequest,
    ) {
        let head = &exchange.head;
        answered(info, exchange);
        if let Some(span) = retry_after(exchange) {
            self.gates.close(url.host(), Duration::from_millis(span.0));
            if url.host() == self.order.host {
                let mut longest = self.state.retry_after.lock();
                *longest = longest.max(Some(span));
            }
        }
        if !method.is_capture() {
            return;
        }
        if method == Method::Get {
            self.state.loaded.lock().insert(asked.url.clone());
        }
        let packed = async {
            let sums = Sums::of(exchange)?;
            let payload = sums.payload;
            let indexed_as = (method == Method::Post).then(|| {
                let kind = asked.header("content-type").unwrap_or_default();
                let sent = &asked.body[..asked.body.len().min(POSTED_BYTES_MAX)];
                post::indexed_as(&asked.url, kind, sent)
            });
            let original = match method {
                Method::Get if head.status == 200 => self.same_payload(url, payload).await,
                _ => None,
            };
            let original = self.deduplicated(original, method, exchange, sums).await;
            self.wire.packed_requisite(&Requisite {
                exchange,
                dns,
                payload,
                original: original.as_ref(),
                page_id: &self.page_id,
                kind: &info.kind,
                indexed_as: indexed_as.as_deref(),
            })
        };
        match packed.await {
            Ok(Some((group, id))) => {
                info.record = Some(id);
                self.state.groups.lock().push(group);
            }
            Ok(None) => {}
            Err(problem) => *self.state.fault.lock() = Some(problem.to_string()),
        }
    }

    /// A16: the capture that has the payload, be it of another URL.
    async fn deduplicated(
        &self,
        own: Option<Original>,
        method: Method,
        exchange: &Exchange,
        sums: Sums,
    ) -> Option<Original> {
        let dedup = method == Method::Get && self.manner.dedup();
        let original = match own {
            None if dedup => self.wire.twin(&self.order.collection, exchange, sums).await,
            own => own,
        };
        if original.is_some() {
            self.state.saved_bytes.fetch_add(body_bytes(exchange), Ordering::AcqRel);
        } else if dedup {
            self.state.payloads.lock().extend(sums.stored(exchange));
        }
        original
    }

    /// B10: an equal payload becomes a revisit.
    async fn same_payload(&self, url: &CrawlUrl, payload: Digest) -> Option<Original> {
        let original = self.wire.captured(&self.order.collection, url.as_str()).await?;
        (original.payload == payload).then_some(original)
    }
}

/// What is told of an answer.
pub(super) fn answered(info: &mut PageRequest, exchange: &Exchange) {
    let head = &exchange.head;
    info.status = Some(head.status);
    info.bytes = exchange.response.len();
    info.mime = head
        .header("content-type")
        .map(|value| value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    info.certificate = exchange.tls.as_ref().and_then(|tls| tls.complaint.clone());
}
