//! What was archived: the list, and of each capture what is known, its record as it lies in the
//! archive, its content, and its [picture] if it is one; what a browser [saw](seen) of a page; the one
//! that is nearest to a time, to be [shown](replay); and all of it as an index, [whole](cdx) or [asked](query).

pub mod cdx;
mod content;
pub mod picture;
pub mod query;
pub mod replay;
pub mod seen;

use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

pub use content::{ContentKind, StoredContent};
use data_encoding::BASE64URL_NOPAD;
use frontier::{Capture, CaptureId, Refers, ranges};
use harvest::wire::{referred, warc_dir};
use http::StatusCode;
use policy::time::Time;
use policy::trap::text::Moved;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Answer, App, Problem};
use crate::page::{self, Listing, Page};

/// A capture. Scripts rely on these fields (page 6).
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CaptureItem {
    pub collection: String,
    pub url: String,
    #[schema(format = DateTime)]
    pub time: String,
    /// None where there was none, as of a look-up.
    pub status: Option<u16>,
    /// As the answer said.
    pub mime: Option<String>,
    pub digest: String,
    pub file: String,
    pub offset: u64,
    pub length: u64,
    /// The same as before: the payload is in an earlier record.
    pub revisit: bool,
    /// Of a revisit: the capture that has the payload, which may be of another URL.
    #[serde(default)]
    pub refers_to: Option<CaptureRefers>,
    /// How far the text of the page moved since the harvest before, where it changed and that can be told.
    #[serde(default)]
    pub change: Option<ChangeItem>,
    /// For the paths of its record and content.
    pub id: String,
}

/// What a revisit refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CaptureRefers {
    pub url: String,
    #[schema(format = DateTime)]
    pub time: String,
}

/// How far a text moved, by the bits of its sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChangeItem {
    /// It changed a little only.
    pub little: bool,
    /// Bits that differ, of 64.
    pub distance: u8,
    /// Up to so many it is a little.
    pub threshold: u8,
}

impl From<Moved> for ChangeItem {
    fn from(moved: Moved) -> ChangeItem {
        ChangeItem { little: moved.is_little(), distance: moved.0, threshold: Moved::LITTLE_MAX.0 }
    }
}

fn item((id, row): (CaptureId, Capture)) -> CaptureItem {
    let refers = |refers: &Refers| CaptureRefers {
        url: refers.url.as_ref().unwrap_or(&row.url).clone(),
        time: refers.time.to_string(),
    };
    CaptureItem {
        refers_to: row.refers.as_ref().map(refers),
        change: row.moved.map(ChangeItem::from),
        time: id.time.to_string(),
        status: (row.status > 0).then_some(row.status),
        id: BASE64URL_NOPAD.encode(&id.to_bytes()),
        collection: id.collection,
        url: row.url,
        mime: row.mime,
        digest: row.digest,
        file: row.file,
        offset: row.offset,
        length: row.length,
        revisit: row.revisit,
    }
}

impl CaptureItem {
    /// To the millisecond.
    pub fn moment(&self) -> Option<Time> {
        let bytes = BASE64URL_NOPAD.decode(self.id.as_bytes()).ok()?;
        CaptureId::from_bytes(&bytes).map(|id| id.time)
    }
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Only of this URL.
    pub url: Option<String>,
    /// Only of URLs that begin so, whatever their scheme and whether with `www.` or not.
    pub prefix: Option<String>,
    /// Only of this collection.
    pub collection: Option<String>,
    /// The `next` of the page before.
    pub cursor: Option<String>,
    /// How many items at most; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
}

/// List what was archived: of a URL, of all that begin alike, or all
#[crate::boxed]
pub async fn list_captures(app: &App, filter: Filter) -> Answer<Page<CaptureItem>> {
    let limit = page::limit(filter.limit)?;
    let collections = app.collections_with_captures(filter.collection.as_deref()).await?;
    let url = match &filter.url {
        // What is no page has a name of its own: a look-up, a picture, a final DOM (B16).
        Some(name) if ["dns:", "urn:"].iter().any(|scheme| name.starts_with(scheme)) => Some(name.clone()),
        Some(url) => Some(app.url(url).await?.as_str().to_owned()),
        None => None,
    };
    let mut ranges = Vec::new();
    for collection in collections {
        ranges.push(match (&url, &filter.prefix) {
            (Some(url), _) => ranges::captures_of(&collection, &net::surt::key(url)),
            (None, Some(prefix)) => {
                ranges::captures_below(&collection, &net::surt::key(app.url(prefix).await?.as_str()))
            }
            (None, None) => ranges::captures(Some(&collection)),
        });
    }
    // Two spellings share a key.
    let is_wanted = |(_, row): &(CaptureId, Capture)| url.as_ref().is_none_or(|url| row.url == *url);
    let mut list = Listing::begin(filter.cursor.as_deref(), limit, ranges)?;
    while let Some((_, rest, limit)) = list.next()? {
        let (rows, rest) = app.frontier.captures_in(&rest, limit).await?;
        list.take(rows.len(), rows.into_iter().filter(is_wanted).map(item), rest);
    }
    Ok(list.page())
}

/// Get what is known of a capture
#[crate::boxed]
pub async fn get_capture(app: &App, id: String) -> Answer<CaptureItem> {
    found(app, &id).await.map(item)
}

/// Where the record of a capture lies, and what it is called when it stands alone.
#[crate::boxed]
pub async fn get_record(app: &App, id: String) -> Answer<StoredPart> {
    let (id, row) = found(app, &id).await?;
    let end = row.file.rsplit_once(".warc").map_or("", |(_, end)| end);
    let name = format!("{}-{}.warc{end}", net::warc::date::digits14(id.time), row.offset);
    Ok(StoredPart { file: warc_dir(&app.data).join(&row.file), offset: row.offset, length: row.length, name })
}

/// M8: where a capture is to be asked for whose file is not here: the node that has it, and its
/// address.
#[crate::boxed]
pub async fn elsewhere(app: &App, id: &str) -> Answer<Option<(String, String)>> {
    let (id, row) = found(app, id).await?;
    let row = content_row(app, &id, row).await?;
    if warc_dir(&app.data).join(&row.file).exists() {
        return Ok(None);
    }
    let Some(node) = app.frontier.archive_file(&row.file).await?.map(|file| file.node) else {
        return Ok(None);
    };
    if node.is_empty() || node == app.frontier.node() {
        return Ok(None);
    }
    let nodes = app.frontier.nodes().await?;
    let address = nodes.into_iter().find(|(name, _)| *name == node).and_then(|(_, row)| row.address);
    match address {
        Some(address) => Ok(Some((node, address))),
        None => Err(Problem::new(
            StatusCode::GONE,
            format!("the archive file of this capture is on node {node:?}, which is not at work"),
        )
        .hint("start it with `skurd serve`, or put the file into this data directory")),
    }
}

/// Of a capture that is the same as before, what it refers to.
async fn content_row(app: &App, id: &CaptureId, row: Capture) -> Answer<Capture> {
    if !row.revisit {
        return Ok(row);
    }
    // A16: it may lie under another URL.
    if let Some((_, named)) = referred(&app.frontier, &warc_dir(&app.data), &id.collection, &row).await {
        return Ok(named);
    }
    let original = app.frontier.original(&id.collection, &id.surt, &row.url).await?;
    Ok(original.map_or(row, |(_, original)| original))
}

/// A record of an archive file.
#[derive(Clone, Debug)]
pub struct StoredPart {
    pub file: PathBuf,
    pub offset: u64,
    pub length: u64,
    pub name: String,
}

impl StoredPart {
    /// Its bytes, as they are.
    pub fn open(&self) -> Answer<impl Read + use<>> {
        let mut file = open_file(&self.file)?;
        file.seek(SeekFrom::Start(self.offset)).map_err(|error| Problem::internal(&error))?;
        Ok(file.take(self.length))
    }
}

/// Where the content of a capture lies; of one that is the same as before, in the record it refers
/// to.
#[crate::boxed]
pub async fn get_content(app: &App, id: String) -> Answer<StoredContent> {
    let (id, row) = found(app, &id).await?;
    let row = content_row(app, &id, row).await?;
    let file = warc_dir(&app.data).join(&row.file);
    Ok(StoredContent { file, offset: row.offset, length: row.length, mime: row.mime })
}

async fn found(app: &App, id: &str) -> Answer<(CaptureId, Capture)> {
    let none = || Problem::new(StatusCode::NOT_FOUND, "there is no such capture");
    let bytes = BASE64URL_NOPAD.decode(id.as_bytes()).map_err(|_| none())?;
    let id = CaptureId::from_bytes(&bytes).ok_or_else(none)?;
    let row = app.frontier.capture(&id).await?.ok_or_else(none)?;
    Ok((id, row))
}

fn open_file(path: &std::path::Path) -> Answer<std::fs::File> {
    net::warc::open_file(path).map_err(|_| {
        Problem::new(StatusCode::GONE, "the archive file of this capture is gone")
            .hint("put it back into the data directory")
    })
}
