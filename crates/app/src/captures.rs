//! What was archived: the list, and of each capture what is known, its record as it lies in the
//! archive, and its content; and all of it as an [index](cdx) for replay.

pub mod cdx;
mod content;

use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

pub use content::{ContentKind, StoredContent};
use data_encoding::BASE64URL_NOPAD;
use frontier::schema::{CAPTURES, Capture, surt_in_key};
use harvest::session;
use harvest::wire::warc_dir;
use http::StatusCode;
use policy::time::Time;
use serde::{Deserialize, Serialize};
use store::table::KeyRange;
use utoipa::{IntoParams, ToSchema};

use super::{Answer, App, Problem};
use crate::page::{self, Page, Place, ROWS_READ_MAX};

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
    /// For the paths of its record and content.
    pub id: String,
}

/// The key of a row of `CAPTURES`.
type Key = (String, String, i64, u64);

fn item(key: &Key, row: &Capture) -> CaptureItem {
    CaptureItem {
        collection: key.0.clone(),
        url: row.url.clone(),
        time: Time(key.2).to_string(),
        status: (row.status > 0).then_some(row.status),
        mime: row.mime.clone(),
        digest: row.digest.clone(),
        file: row.file.clone(),
        offset: row.offset,
        length: row.length,
        revisit: row.revisit,
        id: BASE64URL_NOPAD.encode(&CAPTURES.key((key.0.as_str(), key.1.as_str(), key.2, key.3))),
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
pub async fn list_captures(app: &App, filter: Filter) -> Answer<Page<CaptureItem>> {
    let limit = page::limit(filter.limit)?;
    let collections = match &filter.collection {
        Some(name) => app.collections(Some(name)).await?,
        None => session::collections_with_captures(&app.frontier).await?,
    };
    let url = match &filter.url {
        Some(url) => Some(app.url(url).await?),
        None => None,
    };
    let start = Place { range: 0, key: Vec::new() };
    let mut place = filter.cursor.as_deref().map_or(Ok(start), Place::of_cursor)?;
    let (mut items, mut read) = (Vec::new(), 0);
    while let Some(collection) = collections.get(place.range) {
        if items.len() == limit || read >= ROWS_READ_MAX {
            return Ok(Page { items, next: Some(place.to_cursor()) });
        }
        let whole =
            range(app, collection, url.as_ref().map(|url| url.as_str()), filter.prefix.as_deref()).await?;
        let rest = place.rest_of(&whole)?;
        let tx = app.frontier.store().begin().await?;
        let page = CAPTURES.scan(&tx, &rest, limit - items.len(), store::Order::Forward).await?;
        read += page.rows.len();
        // Two spellings share a key.
        let wanted =
            page.rows.iter().filter(|(_, row)| url.as_ref().is_none_or(|url| row.url == url.as_str()));
        items.extend(wanted.map(|(key, row)| item(key, row)));
        match page.rest {
            Some(rest) => place.key = rest.from,
            None => place = Place { range: place.range + 1, key: Vec::new() },
        }
    }
    Ok(Page { items, next: None })
}

async fn range(app: &App, collection: &str, url: Option<&str>, prefix: Option<&str>) -> Answer<KeyRange> {
    if let Some(url) = url {
        return Ok(CAPTURES.range((collection, surt_in_key(&net::surt::key(url)))));
    }
    let Some(prefix) = prefix else { return Ok(CAPTURES.range((collection,))) };
    let key = net::surt::key(app.url(prefix).await?.as_str());
    let key = surt_in_key(&key);
    let end = format!("{key}\u{10FFFF}");
    Ok(KeyRange {
        from: CAPTURES.range_from((collection,), (collection, key)).from,
        to: CAPTURES.range_before((collection,), (collection, end.as_str())).to,
    })
}

/// Get what is known of a capture
pub async fn get_capture(app: &App, id: String) -> Answer<CaptureItem> {
    let (key, row) = found(app, &id).await?;
    Ok(item(&key, &row))
}

/// Where the record of a capture lies, and what it is called when it stands alone.
pub async fn get_record(app: &App, id: String) -> Answer<StoredPart> {
    let (key, row) = found(app, &id).await?;
    let end = row.file.rsplit_once(".warc").map_or("", |(_, end)| end);
    let name = format!("{}-{}.warc{end}", net::warc::date::digits14(Time(key.2)), row.offset);
    Ok(StoredPart { file: warc_dir(&app.data).join(&row.file), offset: row.offset, length: row.length, name })
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
pub async fn get_content(app: &App, id: String) -> Answer<StoredContent> {
    let (key, row) = found(app, &id).await?;
    let row = match row.revisit {
        true => app.frontier.original(&key.0, &key.1, &row.url).await?.map_or(row, |(_, original)| original),
        false => row,
    };
    let file = warc_dir(&app.data).join(&row.file);
    Ok(StoredContent { file, offset: row.offset, length: row.length, mime: row.mime })
}

async fn found(app: &App, id: &str) -> Answer<(Key, Capture)> {
    let none = || Problem::new(StatusCode::NOT_FOUND, "there is no such capture");
    let bytes = BASE64URL_NOPAD.decode(id.as_bytes()).map_err(|_| none())?;
    let key = CAPTURES.key_from(&bytes).map_err(|_| none())?;
    let tx = app.frontier.store().begin().await?;
    let row = CAPTURES.get(&tx, (key.0.as_str(), key.1.as_str(), key.2, key.3)).await?.ok_or_else(none)?;
    Ok((key, row))
}

fn open_file(path: &std::path::Path) -> Answer<std::fs::File> {
    net::warc::open_file(path).map_err(|_| {
        Problem::new(StatusCode::GONE, "the archive file of this capture is gone")
            .hint("put it back into the data directory")
    })
}
