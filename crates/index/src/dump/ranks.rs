//! The lines of a rank, in the order they are printed.

use std::collections::{BTreeSet, VecDeque};

use store::table::KeyRange;
use store::{Order, Result, Tx};

use super::{PIECE_BYTES, ROWS_PER_SCAN, escape};
use crate::query::{By, Scope, Stream};
use crate::schema::{Count, DOMAIN_RANK};

/// URIs of a domain that are sorted as a whole.
const SMALL_DOMAIN: usize = 1000;

/// One rank on its way out.
#[derive(Debug)]
pub(super) struct Ranks {
    index: u32,
    row: String,
    domain: Option<String>,
    domains: bool,
    by: By,
    /// The numbers still to come, in the order they are printed; `None` before they are known.
    values: Option<VecDeque<u64>>,
    /// The URIs of the number at hand, loaded and not, each sorted.
    halves: Vec<Half>,
    value: u64,
}

#[derive(Debug)]
struct Half {
    loaded: bool,
    rest: Option<KeyRange>,
    uris: VecDeque<String>,
}

impl Ranks {
    pub(super) fn new(index: u32, row: &str, scope: Scope<'_>, by: By) -> Ranks {
        let (domain, domains) = match scope {
            Scope::Everything => (None, false),
            Scope::Domain(domain) => (Some(domain.to_owned()), false),
            Scope::Domains => (None, true),
        };
        Ranks { index, row: row.to_owned(), domain, domains, by, values: None, halves: Vec::new(), value: 0 }
    }

    fn stream(&self, loaded: bool) -> Stream<'_> {
        let scope = match &self.domain {
            Some(domain) => Scope::Domain(domain),
            None if self.domains => Scope::Domains,
            None => Scope::Everything,
        };
        Stream { index: self.index, scope, loaded }
    }

    fn streams(&self) -> &'static [bool] {
        if self.domains { &[false] } else { &[false, true] }
    }

    /// Adds a piece; false when there is no more.
    pub(super) async fn next(&mut self, tx: &Tx, out: &mut Vec<u8>) -> Result<bool> {
        if self.values.is_none() {
            self.values = Some(self.distinct(tx).await?);
        }
        while out.len() < PIECE_BYTES {
            self.refill(tx).await?;
            let first = self.halves.iter_mut().filter(|half| !half.uris.is_empty());
            if let Some(uri) = first.min_by(|a, b| a.uris.cmp(&b.uris)).and_then(|half| half.uris.pop_front())
            {
                rank_line(out, &self.row, self.value, &uri);
                continue;
            }
            let Some(value) = self.values.as_mut().and_then(VecDeque::pop_front) else { return Ok(false) };
            self.open(value);
        }
        Ok(true)
    }

    fn open(&mut self, value: u64) {
        let half = |loaded: bool| {
            let more = u64::from(loaded && self.by == By::Score);
            let incount = value.checked_sub(more)?;
            let rest = Some(self.stream(loaded).between(incount, incount));
            Some(Half { loaded, rest, uris: VecDeque::new() })
        };
        self.halves = self.streams().iter().filter_map(|loaded| half(*loaded)).collect();
        self.value = value;
    }

    async fn refill(&mut self, tx: &Tx) -> Result<()> {
        for at in 0..self.halves.len() {
            let half = &mut self.halves[at];
            if !half.uris.is_empty() {
                continue;
            }
            let Some(range) = half.rest.take() else { continue };
            let page = tx.scan(&range, ROWS_PER_SCAN, Order::Forward).await?;
            half.rest = page.rest;
            let stream = self.stream(self.halves[at].loaded);
            let uris: Result<VecDeque<String>> =
                page.items.iter().map(|(key, _)| Ok(stream.entry(key)?.uri)).collect();
            self.halves[at].uris = uris?;
        }
        Ok(())
    }

    /// Each number that occurs, found by skipping from one to the next lower.
    async fn distinct(&self, tx: &Tx) -> Result<VecDeque<u64>> {
        let lowest = u64::from(self.by == By::Incount);
        let mut values = BTreeSet::new();
        for &loaded in self.streams() {
            let stream = self.stream(loaded);
            let mut highest = Some(u64::MAX);
            while let Some(high) = highest.filter(|high| *high >= lowest) {
                let page = tx.scan(&stream.between(high, lowest), 1, Order::Forward).await?;
                let Some((key, _)) = page.items.first() else { break };
                let entry = stream.entry(key)?;
                values.insert(entry.value(self.by));
                highest = entry.count.incount.checked_sub(1);
            }
        }
        let mut values: Vec<u64> = values.into_iter().collect();
        values.sort_by_cached_key(|value| format!("{value}:"));
        Ok(values.into())
    }
}

fn rank_line(out: &mut Vec<u8>, row: &str, value: u64, name: &str) {
    escape::line(out, row, "rank", &format!("{value}:{name}"), &value.to_string());
}

/// All rank lines of a domain, if they are few.
pub(super) async fn small_domain(tx: &Tx, index: u32, row: &str, domain: &str) -> Result<Option<Vec<u8>>> {
    let range = DOMAIN_RANK.range((index, domain));
    let found = DOMAIN_RANK.scan(tx, &range, SMALL_DOMAIN, Order::Forward).await?;
    if found.rest.is_some() && found.rows.len() == SMALL_DOMAIN {
        return Ok(None);
    }
    let mut lines = Vec::with_capacity(found.rows.len());
    for ((_, _, loaded, incount, rest), ()) in found.rows {
        let count = Count { incount: incount.0, loaded: loaded > 0 };
        let mut line = Vec::new();
        rank_line(&mut line, row, count.score(), &format!("{domain}{rest}"));
        lines.push(line);
    }
    lines.sort_unstable();
    Ok(Some(lines.concat()))
}
