//! Who links to a page, and to whom it links.

use store::Order;
use store::table::KeyRange;

use super::ranks::page_of;
use super::{Inlink, LIMIT_MAX, Listing, Seen, cursor};
use crate::error::Error;
use crate::handle::Index;
use crate::inlinks::Cell;
use crate::page::{Link, read_links};
use crate::schema::{HEADS, INLINKS, LINKS};
use crate::uri::Uri;

/// Inlinks one call looks at, so that a filter that lets few through takes no longer than this.
const EXAMINED_MAX: usize = 10_000;

impl Index {
    /// The links to a URI with their anchor texts, by source. With a stretch of time, only those
    /// that were there in it; then a page may be short, or empty, and still have a next one.
    #[crate::boxed]
    pub async fn inlinks(
        &self,
        uri: &Uri,
        seen: Seen,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Listing<Inlink>, Error> {
        let tx = self.store().begin().await?;
        let limit = limit.clamp(1, LIMIT_MAX);
        let query = format!("inlinks {uri}");
        let mut range = INLINKS.range((self.number(), uri.as_str()));
        if let Some(after) = cursor::read(&query, after)? {
            range.from = INLINKS.key((self.number(), uri.as_str(), &after.name));
            range.from.push(0);
        }
        let mut rest = Some(range);
        let mut items: Vec<Inlink> = Vec::new();
        let mut examined = 0;
        while let Some(range) = rest
            && items.len() <= limit
        {
            if examined >= EXAMINED_MAX {
                return Ok(Listing { items, next: Some(cut(&query, &range)?) });
            }
            let (found, beyond) = self.inlinks_in(&tx, &range, limit + 1).await?;
            examined += found.len();
            items.extend(found.into_iter().filter(|link| seen.includes(link.first_seen, link.last_seen)));
            rest = beyond;
        }
        Ok(page_of(items, limit, |last| cursor::write(&query, 0, last.source.as_str())))
    }

    async fn inlinks_in(
        &self,
        tx: &store::Tx,
        range: &KeyRange,
        limit: usize,
    ) -> Result<(Vec<Inlink>, Option<KeyRange>), Error> {
        let page = tx.scan(range, limit, Order::Forward).await?;
        let mut sources = Vec::with_capacity(page.items.len());
        for (key, _) in &page.items {
            sources.push(INLINKS.key_from(key)?.2);
        }
        let heads =
            HEADS.multi_get(tx, sources.iter().map(|source| (self.number(), source.as_str()))).await?;
        let mut links = Vec::with_capacity(sources.len());
        for ((source, head), (_, value)) in sources.iter().zip(heads).zip(&page.items) {
            let cell = Cell::read(value)?;
            let last_seen = head.map_or(cell.first_seen, |head| head.last_seen.max(cell.first_seen));
            links.push(Inlink {
                source: Uri::known(source),
                anchor: cell.anchor.to_owned(),
                first_seen: cell.first_seen,
                last_seen,
            });
        }
        Ok((links, page.rest))
    }

    /// The links of a page, by target; nothing if it is not loaded.
    #[crate::boxed]
    pub async fn outlinks(
        &self,
        uri: &Uri,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Listing<Link>, Error> {
        let tx = self.store().begin().await?;
        let limit = limit.clamp(1, LIMIT_MAX);
        let query = format!("outlinks {uri}");
        let after = cursor::read(&query, after)?;
        let head = HEADS.get(&tx, (self.number(), uri.as_str())).await?.filter(|head| head.cur.is_some());
        let Some(head) = head else { return Ok(Listing { items: Vec::new(), next: None }) };
        let bytes = tx.get(&LINKS.key((self.number(), uri.as_str(), head.slot))).await?;
        let links = read_links(LINKS.raw(bytes.as_ref())?)?;
        let wanted = links
            .iter()
            .filter(|(target, _)| after.as_ref().is_none_or(|after| *target > after.name))
            .take(limit + 1)
            .map(|(target, anchor)| Link { target: Uri::known(target), anchor: (*anchor).to_owned() });
        Ok(page_of(wanted.collect(), limit, |last| cursor::write(&query, 0, last.target.as_str())))
    }
}

/// Goes on where looking stopped: after the last key looked at.
fn cut(query: &str, rest: &KeyRange) -> Result<String, Error> {
    let last = rest.from.strip_suffix(&[0]).unwrap_or(&rest.from);
    Ok(cursor::write(query, 0, &INLINKS.key_from(last)?.2))
}
