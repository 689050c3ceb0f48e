//! The rows of URIs: inlinks, then `page:cur`, incount and score.

use std::collections::VecDeque;

use store::table::KeyRange;
use store::{Bytes, Error, Order, Result, Tx};

use super::{PIECE_BYTES, ROWS_PER_SCAN, escape};
use crate::inlinks::Cell;
use crate::page::read_links;
use crate::schema::{COUNTS, Count, HEADS, INLINKS, LINKS};

#[derive(Debug)]
pub(super) struct Pages {
    index: u32,
    rest: Option<KeyRange>,
    waiting: VecDeque<Row>,
}

#[derive(Debug)]
struct Row {
    uri: String,
    count: Count,
    /// Inlinks still to come.
    inlinks: Option<KeyRange>,
    links: Option<Bytes>,
}

impl Pages {
    pub(super) fn new(index: u32, range: KeyRange) -> Pages {
        Pages { index, rest: Some(range), waiting: VecDeque::new() }
    }

    /// Adds a piece; false when there is no more.
    pub(super) async fn next(&mut self, tx: &Tx, out: &mut Vec<u8>) -> Result<bool> {
        while out.len() < PIECE_BYTES {
            let Some(row) = self.waiting.front_mut() else {
                match self.rest.take() {
                    None => return Ok(false),
                    Some(range) => self.read(tx, &range).await?,
                }
                continue;
            };
            match row.inlinks.take() {
                Some(range) => row.add_inlinks(tx, &range, out).await?,
                None => {
                    row.add_page(out)?;
                    self.waiting.pop_front();
                }
            }
        }
        Ok(true)
    }

    async fn read(&mut self, tx: &Tx, range: &KeyRange) -> Result<()> {
        let found = COUNTS.scan(tx, range, ROWS_PER_SCAN, Order::Forward).await?;
        self.rest = found.rest;
        for ((_, uri), counted) in found.rows {
            let Some(count) = counted.known() else { continue };
            let inlinks = (count.incount > 0).then(|| INLINKS.range((self.index, uri.as_str())));
            let links = self.links(tx, &uri).await?;
            self.waiting.push_back(Row { uri, count, inlinks, links });
        }
        Ok(())
    }

    async fn links(&self, tx: &Tx, uri: &str) -> Result<Option<Bytes>> {
        let head = HEADS.get(tx, (self.index, uri)).await?.filter(|head| head.cur.is_some());
        let Some(head) = head else { return Ok(None) };
        let links = tx.get(&LINKS.key((self.index, uri, head.slot))).await?;
        links.map(Some).ok_or_else(|| Error::Corrupt(format!("the links of {uri} are missing")))
    }
}

impl Row {
    async fn add_inlinks(&mut self, tx: &Tx, range: &KeyRange, out: &mut Vec<u8>) -> Result<()> {
        let page = tx.scan(range, ROWS_PER_SCAN, Order::Forward).await?;
        let row = format!("p:{}", self.uri);
        for (key, value) in &page.items {
            escape::line(out, &row, "inlinks", &INLINKS.key_from(key)?.2, Cell::read(value)?.anchor);
        }
        self.inlinks = page.rest;
        Ok(())
    }

    fn add_page(&self, out: &mut Vec<u8>) -> Result<()> {
        let row = format!("p:{}", self.uri);
        if let Some(links) = &self.links {
            escape::line(out, &row, "page", "cur", &escape::outlinks(&read_links(LINKS.raw(Some(links))?)?));
        }
        if self.count.incount > 0 {
            escape::line(out, &row, "page", "incount", &self.count.incount.to_string());
        }
        escape::line(out, &row, "page", "score", &self.count.score().to_string());
        Ok(())
    }
}
