//! The archive as an index for replay (A8): one line of CDXJ a capture, sorted as a whole.
//!
//! Captures of several collections are merged by their keys. Pieces are made as they are taken:
//! however large the archive, what is held is a page of each collection and one piece.

use std::sync::Arc;

use frontier::{Capture, CaptureId, Frontier, ranges};
use net::cdx;
use net::warc::{Entry, Kind};
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
#[crate::boxed]
pub async fn export_cdx(app: &App, which: Which) -> Answer<Export> {
    let collections = app.collections_with_captures(which.collection.as_deref()).await?;
    let rows_max = (ROWS_HELD / collections.len().max(1)).clamp(ROWS_MIN, ROWS_MAX);
    let mut sources = Vec::new();
    for name in collections {
        let mut lines = Lines::new(&app.frontier, &name, rows_max);
        lines.advance().await?;
        sources.push(lines);
    }
    Ok(Export(sources))
}

/// What is still to be told.
pub struct Export(Vec<Lines>);

impl Export {
    /// The next lines; none at the end.
    #[crate::boxed]
    pub async fn piece(mut self) -> store::Result<Option<(Vec<u8>, Export)>> {
        let mut piece = Vec::with_capacity(PIECE_BYTES + 1024);
        while piece.len() < PIECE_BYTES {
            // A handful of collections: looking at the head of each is no work.
            let ahead = self.0.iter_mut().filter(|source| source.next.is_some());
            let Some(first) = ahead.min_by(|a, b| a.next.cmp(&b.next)) else { break };
            piece.extend_from_slice(first.next.take().unwrap_or_default().as_bytes());
            first.advance().await?;
        }
        Ok((!piece.is_empty()).then_some((piece, self)))
    }
}

type Row = (CaptureId, Capture);

/// The index lines of one collection, in order.
struct Lines {
    frontier: Arc<Frontier>,
    rows_max: usize,
    /// What is not read yet.
    rest: Option<KeyRange>,
    rows: std::vec::IntoIter<Row>,
    /// The first row beyond `group`.
    beyond: Option<Row>,
    /// Lines of one key and second, which the store has in the order of milliseconds and an index
    /// in the order of letters; last first.
    group: Vec<String>,
    next: Option<String>,
}

impl Lines {
    fn new(frontier: &Arc<Frontier>, collection: &str, rows_max: usize) -> Lines {
        let (frontier, rest) = (Arc::clone(frontier), Some(ranges::captures(Some(collection))));
        let (rows, group) = (Vec::new().into_iter(), Vec::new());
        Lines { frontier, rows_max, rest, rows, beyond: None, group, next: None }
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
        let second = |row: &Row| row.0.time.0.div_euclid(1000);
        self.group.push(line(&first));
        while let Some(row) = self.take().await? {
            if row.0.surt != first.0.surt || second(&row) != second(&first) {
                self.beyond = Some(row);
                break;
            }
            self.group.push(line(&row));
        }
        self.group.sort_unstable_by(|a, b| b.cmp(a));
        Ok(())
    }

    async fn take(&mut self) -> store::Result<Option<Row>> {
        loop {
            if let Some(row) = self.beyond.take().or_else(|| self.rows.next()) {
                return Ok(Some(row));
            }
            let Some(range) = self.rest.take() else { return Ok(None) };
            let (rows, rest) = self.frontier.captures_in(&range, self.rows_max).await?;
            (self.rows, self.rest) = (rows.into_iter(), rest);
        }
    }
}

/// A POST is known by its URL and what was sent (B5); only the first was asked for.
pub(super) fn asked_for(url: &str) -> &str {
    let end = url.find("?__wb_method=").or_else(|| url.find("&__wb_method="));
    &url[..end.unwrap_or(url.len())]
}

fn line((id, row): &Row) -> String {
    let entry = Entry {
        kind: if row.revisit { Kind::Revisit } else { Kind::Response },
        url: asked_for(&row.url).to_owned(),
        // The row's key may hold less of it.
        surt: net::surt::key(&row.url),
        time: id.time,
        status: (row.status > 0).then_some(row.status),
        mime: row.mime.clone(),
        digest: row.digest.clone(),
        offset: row.offset,
        length: row.length,
        refers: None,
        cut: row.cut,
    };
    cdx::line_of(&entry, &row.file, 0)
}
