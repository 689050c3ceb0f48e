//! What was archived: the list, and of each capture what is known, its record as it lies in the archive, and its content; and all of it as
//! an [index](cdx) for replay.
//!
//! Content is what somebody on the web wrote, and it is served so that no browser takes it for a page of this server: as plain text, or as a
//! file to save, never sniffed, and in a sandbox.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use data_encoding::BASE64URL_NOPAD;
use frontier::schema::{CAPTURES, Capture, surt_in_key};
use policy::time::Time;
use serde::{Deserialize, Serialize};
use store::table::KeyRange;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::{self, Page, Place, ROWS_READ_MAX};
use super::{Answer, App, Path, Problem, Query};
use harvest::session;
use harvest::wire::warc_dir;

mod cdx;
mod content;
mod download;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_captures))
        .routes(routes!(get_capture))
        .routes(routes!(get_record))
        .routes(routes!(get_content))
        .merge(cdx::routes())
}

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
struct Filter {
    /// Only of this URL.
    url: Option<String>,
    /// Only of URLs that begin so, whatever their scheme and whether with `www.` or not.
    prefix: Option<String>,
    /// Only of this collection.
    collection: Option<String>,
    /// The `next` of the page before.
    cursor: Option<String>,
    /// How many items at most; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// List what was archived: of a URL, of all that begin alike, or all
#[utoipa::path(
    get,
    path = "/api/v1/captures",
    tag = "archive",
    params(Filter),
    responses((status = 200, body = Page<CaptureItem>), (status = 404, description = "There is no such collection")),
)]
async fn list_captures(
    State(app): State<App>,
    Query(filter): Query<Filter>,
) -> Answer<axum::Json<Page<CaptureItem>>> {
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
            return Ok(axum::Json(Page { items, next: Some(place.to_cursor()) }));
        }
        let whole =
            range(&app, collection, url.as_ref().map(|url| url.as_str()), filter.prefix.as_deref()).await?;
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
    Ok(axum::Json(Page { items, next: None }))
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
#[utoipa::path(
    get,
    path = "/api/v1/captures/{id}",
    tag = "archive",
    params(("id" = String, Path, description = "Of the list")),
    responses((status = 200, body = CaptureItem), (status = 404, description = "There is no such capture")),
)]
async fn get_capture(State(app): State<App>, Path(id): Path<String>) -> Answer<axum::Json<CaptureItem>> {
    let (key, row) = found(&app, &id).await?;
    Ok(axum::Json(item(&key, &row)))
}

/// Get the record of a capture as it lies in the archive: a WARC file of one record
#[utoipa::path(
    get,
    path = "/api/v1/captures/{id}/record",
    tag = "archive",
    params(("id" = String, Path, description = "Of the list")),
    responses(
        (status = 200, description = "Compressed as the archive is", body = Vec<u8>, content_type = "application/warc"),
        (status = 404, description = "There is no such capture"),
        (status = 410, description = "Its file is gone"),
    ),
)]
async fn get_record(State(app): State<App>, Path(id): Path<String>) -> Answer<Response> {
    let (key, row) = found(&app, &id).await?;
    let end = row.file.rsplit_once(".warc").map_or("", |(_, end)| end);
    let name = format!("{}-{}.warc{end}", net::warc::date::digits14(Time(key.2)), row.offset);
    let path = warc_dir(&app.data).join(&row.file);
    let body = download::slice(path, row.offset, row.length).await?;
    let mut response = harmless(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/warc"));
    headers.insert(header::CONTENT_LENGTH, row.length.into());
    headers.insert(header::CONTENT_DISPOSITION, attachment(&name));
    Ok(response)
}

/// Get the content of a capture, without codings: text as plain text, everything else as a file to save
///
/// Of a capture that is the same as before, the content is that of the record it refers to.
#[utoipa::path(
    get,
    path = "/api/v1/captures/{id}/content",
    tag = "archive",
    params(("id" = String, Path, description = "Of the list")),
    responses(
        (status = 200, description = "The body of the answer", content(
            (Vec<u8> = "application/octet-stream"),
            (String = "text/plain"),
        )),
        (status = 404, description = "There is no such capture"),
        (status = 410, description = "Its file is gone"),
    ),
)]
async fn get_content(State(app): State<App>, Path(id): Path<String>) -> Answer<Response> {
    let (key, row) = found(&app, &id).await?;
    let row = match row.revisit {
        true => app.frontier.original(&key.0, &key.1, &row.url).await?.map_or(row, |(_, original)| original),
        false => row,
    };
    let path = warc_dir(&app.data).join(&row.file);
    let (kind, body) = content::open(path, row.offset, row.length, row.mime).await?;
    let mut response = harmless(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, kind.content_type());
    if !kind.is_text() {
        headers.insert(header::CONTENT_DISPOSITION, attachment("content.bin"));
    }
    Ok(response)
}

async fn found(app: &App, id: &str) -> Answer<(Key, Capture)> {
    let none = || Problem::new(StatusCode::NOT_FOUND, "there is no such capture");
    let bytes = BASE64URL_NOPAD.decode(id.as_bytes()).map_err(|_| none())?;
    let key = CAPTURES.key_from(&bytes).map_err(|_| none())?;
    let tx = app.frontier.store().begin().await?;
    let row = CAPTURES.get(&tx, (key.0.as_str(), key.1.as_str(), key.2, key.3)).await?.ok_or_else(none)?;
    Ok((key, row))
}

fn harmless(body: Body) -> Response {
    let headers = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'; frame-ancestors 'none'"),
    ];
    (headers, body).into_response()
}

fn attachment(name: &str) -> HeaderValue {
    let harmless: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')).collect();
    HeaderValue::try_from(format!("attachment; filename=\"{harmless}\""))
        .unwrap_or(HeaderValue::from_static("attachment"))
}

fn open_file(path: &std::path::Path) -> Answer<std::fs::File> {
    net::warc::open_file(path).map_err(|_| {
        Problem::new(StatusCode::GONE, "the archive file of this capture is gone")
            .hint("put it back into the data directory")
    })
}
