use std::collections::VecDeque;

use store::table::KeyRange;
use store::{Bytes, Order, Result, Tx};

const ROWS_PER_SCAN: usize = 1024;

/// The rows of a range one by one, read in pieces.
#[derive(Debug)]
pub(crate) struct Scan {
    rest: Option<KeyRange>,
    rows: VecDeque<(Bytes, Bytes)>,
}

impl Scan {
    pub(crate) fn new(range: KeyRange) -> Scan {
        Scan { rest: Some(range), rows: VecDeque::new() }
    }

    pub(crate) async fn next(&mut self, tx: &Tx) -> Result<Option<(Bytes, Bytes)>> {
        while self.rows.is_empty() {
            let Some(range) = self.rest.take() else { return Ok(None) };
            let page = tx.scan(&range, ROWS_PER_SCAN, Order::Forward).await?;
            self.rest = page.rest;
            self.rows = page.items.into();
        }
        Ok(self.rows.pop_front())
    }
}
