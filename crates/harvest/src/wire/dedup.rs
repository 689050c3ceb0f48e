//! The same payload, stored once (A16): the capture that has it, and from a revisit back to that.
//!
//! An answer of a collection with `dedup: payload` is looked up by the digest of its body before it
//! is packed; where a capture has that body whole, the answer's record is a revisit that names it.
//! Its links are read from the body that is here all the same. Ids of walks keep captures of their
//! own: what is written of them to files is read from there.

use std::io;
use std::path::Path;

use frontier::ports::StoredPayload;
use frontier::{Capture, Content, Frontier};
use net::exchange::{Exchange, Framing};
use net::surt;
use net::warc::{Digest, StoredRecord, digest, open_file};
use policy::time::Time;

use super::answer::Work;
use super::fetch::WireFetcher;
use super::pack::{Original, Place};

/// The digests of a body: as it is stored, and without its chunks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    pub(super) payload: Digest,
    pub(super) entity: Digest,
}

impl Sums {
    pub(super) fn of(exchange: &Exchange) -> io::Result<Sums> {
        let payload = digest::payload(exchange)?;
        let entity = match exchange.framing {
            Framing::Plain => payload,
            Framing::Chunked => digest::entity(exchange)?,
        };
        Ok(Sums { payload, entity })
    }

    /// What others may refer to, once the answer is stored with its body.
    pub(super) fn stored(&self, exchange: &Exchange) -> Option<StoredPayload> {
        is_whole(exchange).then(|| StoredPayload {
            url: exchange.url.clone(),
            capture: self.payload.to_string(),
            digest: self.entity.to_string(),
            chunked: exchange.framing == Framing::Chunked,
        })
    }
}

/// Of the body, as it came over the wire.
pub(super) fn body_bytes(exchange: &Exchange) -> u64 {
    exchange.response.len().saturating_sub(exchange.head.bytes as u64)
}

/// It has a body, and all of it.
fn is_whole(exchange: &Exchange) -> bool {
    exchange.head.status != 304 && exchange.truncated.is_none() && body_bytes(exchange) > 0
}

impl WireFetcher {
    /// Finds out whether the payload of the answer is there already.
    pub(super) async fn deduplicated(&self, work: Work) -> io::Result<Work> {
        if !work.dedup || work.order.walk.is_some() || self.archive_dir().is_none() {
            return Ok(Work { dedup: false, ..work });
        }
        let mut work = work.summed().await?;
        if let Some(sums) = work.sums {
            work.twin = self.twin(&work.order.collection, &work.exchange, sums).await;
        }
        Ok(work)
    }

    /// The capture of the collection that has this payload, whatever its URL.
    pub(super) async fn twin(&self, collection: &str, exchange: &Exchange, sums: Sums) -> Option<Original> {
        if !is_whole(exchange) {
            return None;
        }
        let chunked = exchange.framing == Framing::Chunked;
        // A store that cannot be read is noticed by the commit.
        let found = self.frontier.payload(collection, &sums.entity.to_string(), chunked).await.ok()??;
        Original::new(self.archive_dir()?, found)
    }

    /// The capture that holds what a URL gave last.
    pub(super) async fn captured(&self, collection: &str, url: &str) -> Option<Original> {
        let dir = self.archive_dir()?;
        // A store that cannot be read is noticed by the commit: here it only means a full copy instead of a
        // reference.
        match self.frontier.content(collection, &surt::key(url), url).await.ok()?? {
            Content::Own(time, capture) => Original::new(dir, (time, capture)),
            Content::Referred(revisit) => {
                let found = referred(&self.frontier, dir, collection, &revisit).await?;
                let head = Place::of(dir, &revisit);
                Original::new(dir, found).map(|original| Original { head: Some(head), ..original })
            }
        }
    }
}

/// The capture that a revisit refers to, as its record says; none where that cannot be read here.
pub async fn referred(
    frontier: &Frontier,
    dir: &Path,
    collection: &str,
    revisit: &Capture,
) -> Option<(Time, Capture)> {
    let named = match &revisit.refers {
        Some(refers) => Some((refers.url.clone().unwrap_or_else(|| revisit.url.clone()), refers.time)),
        None => named(dir, revisit),
    };
    let (url, time) = named?;
    frontier.referred(collection, &surt::key(&url), (&url, time), &revisit.digest).await.ok()?
}

fn named(dir: &Path, revisit: &Capture) -> Option<(String, Time)> {
    let file = open_file(&dir.join(&revisit.file)).ok()?;
    let record = StoredRecord::open(file, revisit.offset, revisit.length).ok()?;
    record.head.refers_to()
}
