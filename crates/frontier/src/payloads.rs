//! Which capture of a collection has a payload (A16), whatever its URL.
//!
//! A collection has a fixed number of places, and a payload one of them, drawn from its digest. A
//! place holds the few latest that fell into it. So the table is bounded without anybody counting
//! it, what has to go is found in the row that is written anyway, and only those who archive the
//! same payload at the same time want the same row.
//!
//! An entry is written in the transaction of the capture that it names, which is no revisit and was
//! not cut off. Whoever looks one up reads the capture too, and is given none that is not there.
//! Of two that archive the same payload at once, both are stored: neither is committed when the
//! other is packed.

use policy::time::{Span, Time};
use store::{Order as ScanOrder, Result};

use crate::Frontier;
use crate::complete::Harvest;
use crate::counts::scattered;
use crate::look::ORIGINAL_PAGE;
use crate::ports::StoredPayload;
use crate::schema::{CAPTURES, Capture, PAYLOADS, Payload, surt_in_key};
use crate::transaction::Transaction;

/// Places of a collection, and how many payloads each holds: a million in all.
const PLACES: u32 = 1 << 18;
const PAYLOADS_OF_PLACE_MAX: usize = 4;
/// What is older is archived anew: nobody should need files of any age.
pub const PAYLOAD_AGE_MAX: Span = Span::days(365);
/// A SURT key is up to a few thousand bytes; most are below a hundred.
pub(crate) const ROW_OF_PAYLOADS_BYTES_MAX: usize = 16 << 10;

/// Captures of a URL that are looked at for the one that a revisit refers to, before the revisit's
/// record is asked.
const REVISITS_LOOKED_AT_MAX: usize = 200;

/// Where the content lies that a URL gave last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// In a capture of its own.
    Own(Time, Capture),
    /// In one of another URL, which the record of this revisit names.
    Referred(Capture),
}

fn place_of(digest: &str) -> u32 {
    scattered(digest) % PLACES
}

pub(crate) fn row_of(collection: &str, payload: &StoredPayload) -> Vec<u8> {
    PAYLOADS.key((collection, place_of(&payload.digest)))
}

impl Payload {
    fn is(&self, digest: &str, chunked: bool) -> bool {
        self.digest == digest && self.chunked == chunked
    }
}

impl Frontier {
    /// The capture that has this payload; none where there is none that may be referred to.
    #[crate::boxed]
    pub async fn payload(
        &self,
        collection: &str,
        digest: &str,
        chunked: bool,
    ) -> Result<Option<(Time, Capture)>> {
        let now = self.now();
        let tx = self.store.begin().await?;
        let row = PAYLOADS.get(&tx, (collection, place_of(digest))).await?.unwrap_or_default();
        let Some(own) = row.into_iter().find(|own| own.is(digest, chunked)) else { return Ok(None) };
        if own.time.plus(PAYLOAD_AGE_MAX) < now {
            return Ok(None);
        }
        let key = (collection, own.surt.as_str(), own.time.0, own.offset);
        let capture = CAPTURES.get(&tx, key).await?.filter(|capture| !capture.revisit && !capture.cut);
        Ok(capture.map(|capture| (own.time, capture)))
    }

    /// What a URL gave last that is content and no error, as its captures say. (Its last capture that
    /// is no revisit may be older than that.)
    #[crate::boxed]
    pub async fn content(&self, collection: &str, surt: &str, url: &str) -> Result<Option<Content>> {
        let tx = self.store.begin().await?;
        let mut last: Option<Capture> = None;
        let mut rest = Some(CAPTURES.range((collection, surt_in_key(surt))));
        let mut seen = 0;
        while let Some(range) = rest.filter(|_| seen < REVISITS_LOOKED_AT_MAX || last.is_none()) {
            let page = CAPTURES.scan(&tx, &range, ORIGINAL_PAGE, ScanOrder::Backward).await?;
            seen += page.rows.len();
            let holds = |capture: &Capture| capture.url == url && (200..300).contains(&capture.status);
            for ((.., at, _), capture) in page.rows.into_iter().filter(|(_, capture)| holds(capture)) {
                match (&last, capture.revisit) {
                    (None, true) => last = Some(capture),
                    (Some(_), true) => {}
                    (Some(revisit), false) if revisit.digest != capture.digest || capture.cut => {
                        return Ok(last.map(Content::Referred));
                    }
                    // What was cut is no content to refer to, and what came before it is not what came last.
                    (None, false) if capture.cut => return Ok(None),
                    (_, false) => return Ok(Some(Content::Own(Time(at), capture))),
                }
            }
            rest = page.rest;
        }
        Ok(last.map(Content::Referred))
    }

    /// The capture that the record of a revisit names: of that URL and moment, with that payload, and
    /// no revisit itself.
    #[crate::boxed]
    pub async fn referred(
        &self,
        collection: &str,
        surt: &str,
        (url, time): (&str, Time),
        digest: &str,
    ) -> Result<Option<(Time, Capture)>> {
        let tx = self.store.begin().await?;
        let range = CAPTURES.range((collection, surt_in_key(surt), time.0));
        let page = CAPTURES.scan(&tx, &range, ORIGINAL_PAGE, ScanOrder::Forward).await?;
        let is_it = |capture: &Capture| {
            !capture.revisit && !capture.cut && capture.url == url && capture.digest == digest
        };
        let mut all = page.rows.into_iter().map(|(_, capture)| (time, capture));
        Ok(all.find(|(_, capture)| is_it(capture)))
    }
}

impl Transaction<'_> {
    /// Notes what the harvest archived that others may refer to.
    pub(crate) async fn put_payloads(&self, harvest: &Harvest<'_>) -> Result<()> {
        let Harvest { order, report, captures } = *harvest;
        for own in &report.payloads {
            let is_it = |capture: &Capture| {
                !capture.revisit && capture.url == own.url && capture.digest == own.capture
            };
            let Some((key, capture)) = captures.iter().find(|(_, capture)| is_it(capture)) else { continue };
            let place = (order.collection.as_str(), place_of(&own.digest));
            let mut row = PAYLOADS.get(self.tx, place).await?.unwrap_or_default();
            row.retain(|old| !old.is(&own.digest, own.chunked) && old.time.plus(PAYLOAD_AGE_MAX) >= self.now);
            row.sort_by_key(|old| old.time);
            let surplus = (row.len() + 1).saturating_sub(PAYLOADS_OF_PLACE_MAX);
            row.drain(..surplus);
            row.push(Payload {
                digest: own.digest.clone(),
                chunked: own.chunked,
                surt: surt_in_key(&key.surt).to_owned(),
                time: key.time,
                offset: capture.offset,
            });
            PAYLOADS.put(self.tx, place, &row)?;
        }
        Ok(())
    }
}
