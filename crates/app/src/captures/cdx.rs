//! The archive as an index for replay (A8): one line of CDXJ a capture, sorted as a whole.
//!
//! Captures of several collections are merged by their keys. Pieces are made as they are taken:
//! however large the archive, what is held is a page of each collection and one piece.

use std::sync::Arc;

use frontier::Frontier;
use frontier::schema::Capture;
use harvest::session;
use net::cdx;
use net::warc::{Entry, Kind};
use policy::time::Time;
use serde::Deserialize;
use store::table::KeyRange;
use utoipa::IntoParams;

use crate::{Answer, App};

const PIECE_BYTES: usize = 64 << 10;

/// Rows that are held of all collections together, and of each at least.
const ROWS_HELD: usize = 4000;

const ROWS_MIN: usize = 20;

const ROWS_MAX: usize = 1000;

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Which {
    /// Only of this collection.
    pub collection: Option<String>,
}

/// What the index is to have in it.
pub async fn export_cdx(app: &App, which: Which) -> Answer<Export> {
    let collections = match &which.collection {
        Some(name) => app.collections(Some(name)).await?,
        None => session::collections_with_captures(&app.frontier).await?,
    };
    Ok(Export::new(&app.frontier, collections))
}

/// What is still to be told.
pub struct Export {
    sources: Vec<Lines>,
    /// The first line of each source is there.
    begun: bool,
}

impl Export {
    fn new(frontier: &Arc<Frontier>, collections: Vec<String>) -> Export {
        let rows = (ROWS_HELD / collections.len().max(1)).clamp(ROWS_MIN, ROWS_MAX);
        let sources = collections.into_iter().map(|name| Lines::new(Arc::clone(frontier), name, rows));
        Export { sources: sources.collect(), begun: false }
    }

    /// The next lines; none at the end.
    pub async fn piece(mut self) -> store::Result<Option<(Vec<u8>, Export)>> {
        if !self.begun {
            for source in &mut self.sources {
                source.advance().await?;
            }
            self.begun = true;
        }
        let mut piece = Vec::with_capacity(PIECE_BYTES + 1024);
        while piece.len() < PIECE_BYTES {
            // A handful of collections: looking at the head of each is no work.
            let ahead = self.sources.iter_mut().filter(|source| source.next.is_some());
            let Some(first) = ahead.min_by(|a, b| a.next.cmp(&b.next)) else { break };
            piece.extend_from_slice(first.next.take().unwrap_or_default().as_bytes());
            first.advance().await?;
        }
        Ok((!piece.is_empty()).then_some((piece, self)))
    }
}

type Row = (String, Time, Capture);

/// The index lines of one collection, in order.
struct Lines {
    frontier: Arc<Frontier>,
    collection: String,
    rows_max: usize,
    rest: Option<KeyRange>,
    begun: bool,
    rows: std::vec::IntoIter<Row>,
    /// The first row beyond `group`.
    beyond: Option<Row>,
    /// Lines of one key and second, which the store has in the order of milliseconds and an index
    /// in the order of letters; last first.
    group: Vec<String>,
    next: Option<String>,
}

impl Lines {
    fn new(frontier: Arc<Frontier>, collection: String, rows_max: usize) -> Lines {
        let (rows, group) = (Vec::new().into_iter(), Vec::new());
        Lines {
            frontier,
            collection,
            rows_max,
            rest: None,
            begun: false,
            rows,
            beyond: None,
            group,
            next: None,
        }
    }

    async fn advance(&mut self) -> store::Result<()> {
        if self.group.is_empty() {
            self.fill().await?;
        }
        self.next = self.group.pop();
        Ok(())
    }

    async fn fill(&mut self) -> store::Result<()> {
        let Some(first) = self.take().await? else { return Ok(()) };
        let second = |row: &Row| row.1.0.div_euclid(1000);
        self.group.push(line(&first));
        while let Some(row) = self.take().await? {
            if row.0 != first.0 || second(&row) != second(&first) {
                self.beyond = Some(row);
                break;
            }
            self.group.push(line(&row));
        }
        self.group.sort_unstable_by(|a, b| b.cmp(a));
        Ok(())
    }

    async fn take(&mut self) -> store::Result<Option<Row>> {
        if let Some(row) = self.beyond.take() {
            return Ok(Some(row));
        }
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(row));
            }
            if self.begun && self.rest.is_none() {
                return Ok(None);
            }
            self.begun = true;
            let page = self.frontier.captures(&self.collection, self.rest.take(), self.rows_max).await?;
            self.rows = page.0.into_iter();
            self.rest = page.1;
        }
    }
}

fn line((_, time, row): &Row) -> String {
    let entry = Entry {
        kind: if row.revisit { Kind::Revisit } else { Kind::Response },
        url: row.url.clone(),
        // The row's key may hold less of it.
        surt: net::surt::key(&row.url),
        time: *time,
        status: (row.status > 0).then_some(row.status),
        mime: row.mime.clone(),
        digest: row.digest.clone(),
        offset: row.offset,
        length: row.length,
    };
    cdx::line_of(&entry, &row.file, 0)
}
