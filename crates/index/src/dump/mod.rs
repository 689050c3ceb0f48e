//! The index in the seed's own form (X14): `row <TAB> family <TAB> qualifier <TAB> value`, one cell
//! a line, sorted as bytes.
//!
//! It is read off one snapshot, in pieces, and nothing is sorted that is not bounded. Rows come in
//! key order as they are. Ranks are the exception: a line begins with the number as printed, and
//! `10:` sorts before `1:` as bytes. So the distinct numbers of a rank are collected and sorted as
//! they are printed, and each is then read as a range. There are few: *n* different counts need
//! about *n*²/2 links. A domain of few URIs is sorted as a whole.
//!
//! It says what the cells are at that moment; while notes wait, they are on their way to what
//! [`crate::Index::verify`] expects.

mod escape;
mod pages;
mod ranks;

use std::collections::VecDeque;

use store::table::KeyRange;
use store::{Order, Result, Tx};

use crate::handle::Index;
use crate::query::{By, Scope};
use crate::schema::{COUNTS, DOMAINS};
use pages::Pages;
use ranks::Ranks;

/// A piece of the dump is about this long.
const PIECE_BYTES: usize = 64 << 10;
const ROWS_PER_SCAN: usize = 256;

/// A dump in the making.
#[derive(Debug)]
pub struct Dump {
    tx: Tx,
    index: u32,
    parts: VecDeque<Part>,
    /// Domains whose lines are still to come.
    domains: Option<KeyRange>,
}

#[derive(Debug)]
enum Part {
    Line(Vec<u8>),
    Ranks(Ranks),
    Domains,
    Pages(Pages),
}

impl Index {
    /// Begins a dump of what is there now.
    #[crate::boxed]
    pub async fn dump(&self) -> Result<Dump> {
        let index = self.number();
        let total = |row: &str, scope, by| Part::Ranks(Ranks::new(index, row, scope, by));
        let parts = [
            Part::Domains,
            Part::Pages(Pages::new(index, COUNTS.range((index,)))),
            total("t:incount", Scope::Everything, By::Incount),
            total("t:pagecount", Scope::Domains, By::Incount),
            total("t:score", Scope::Everything, By::Score),
        ];
        let domains = Some(DOMAINS.range((index,)));
        Ok(Dump { tx: self.store().begin().await?, index, parts: parts.into(), domains })
    }
}

impl Dump {
    /// The next lines, whole ones; `None` after the last.
    #[crate::boxed]
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let mut out = Vec::new();
        while out.len() < PIECE_BYTES {
            let Some(part) = self.parts.front_mut() else { break };
            let more = match part {
                Part::Line(line) => {
                    out.append(line);
                    false
                }
                Part::Ranks(ranks) => ranks.next(&self.tx, &mut out).await?,
                Part::Pages(pages) => pages.next(&self.tx, &mut out).await?,
                Part::Domains => {
                    let parts = self.next_domains().await?;
                    for part in parts.into_iter().rev() {
                        self.parts.push_front(part);
                    }
                    continue;
                }
            };
            if !more {
                self.parts.pop_front();
            }
        }
        Ok((!out.is_empty()).then_some(out))
    }

    /// The lines of some more domains. With the last of them, domains are done.
    async fn next_domains(&mut self) -> Result<Vec<Part>> {
        let Some(range) = self.domains.take() else {
            self.parts.pop_front();
            return Ok(Vec::new());
        };
        let found = DOMAINS.scan(&self.tx, &range, ROWS_PER_SCAN, Order::Forward).await?;
        self.domains = found.rest;
        let mut parts = Vec::new();
        for ((_, domain), pagecount) in found.rows {
            let row = format!("d:{domain}");
            let mut line = Vec::new();
            escape::line(&mut line, &row, "domain", "pagecount", &pagecount.to_string());
            parts.push(Part::Line(line));
            parts.push(match ranks::small_domain(&self.tx, self.index, &row, &domain).await? {
                Some(lines) => Part::Line(lines),
                None => Part::Ranks(Ranks::new(self.index, &row, Scope::Domain(&domain), By::Score)),
            });
        }
        Ok(parts)
    }
}
