//! What was archived, as it lies there: the record of a capture and its content, all captures as an
//! index for replay, and the archive held against the captures.
//!
//! Content is what somebody on the web wrote, and it is served so that no browser takes it for a
//! page of this server: as plain text, or as a file to save, never sniffed, and in a sandbox.

use std::io::{self, Cursor};

use app::App;
use app::archive::How;
use app::captures::ContentKind;
use app::captures::cdx::Which;
use app::captures::query::Query as CdxQuery;
use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use futures_util::stream::try_unfold;
use tokio_stream::wrappers::ReceiverStream;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::{Path, Query};
use crate::failure::Answer;

mod download;
mod passing;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(get_record))
        .routes(routes!(get_content))
        .routes(routes!(get_text))
        .routes(routes!(export_cdx))
        .routes(routes!(check_archive))
        .routes(routes!(ask_cdx))
}

/// The node that has the file of a capture, where it is another.
async fn elsewhere(app: &App, id: &str, request: &Parts) -> Answer<Option<(String, String)>> {
    match passing::was_passed_on(request) {
        true => Ok(None),
        false => Ok(app::captures::elsewhere(app, id).await?),
    }
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
async fn get_record(State(app): State<App>, Path(id): Path<String>, request: Parts) -> Answer<Response> {
    if let Some((node, address)) = elsewhere(&app, &id, &request).await? {
        return passing::pass_on(&node, &address, &request).await;
    }
    let part = app::captures::get_record(&app, id).await?;
    let (name, length) = (part.name.clone(), part.length);
    let ((), body) = download::stream(move || Ok(((), part.open()?))).await?;
    let mut response = harmless("application/warc", Some(&name), body);
    response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    Ok(response)
}

/// Get the content of a capture, without codings: text as plain text, everything else as a file to
/// save
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
async fn get_content(State(app): State<App>, Path(id): Path<String>, request: Parts) -> Answer<Response> {
    if let Some((node, address)) = elsewhere(&app, &id, &request).await? {
        return passing::pass_on(&node, &address, &request).await;
    }
    let stored = app::captures::get_content(&app, id).await?;
    let (kind, body) = download::stream(move || stored.open()).await?;
    Ok(match kind {
        ContentKind::Utf8 => harmless("text/plain; charset=utf-8", None, body),
        ContentKind::Text => harmless("text/plain", None, body),
        ContentKind::File => harmless("application/octet-stream", Some("content.bin"), body),
    })
}

/// Get the text of a capture: what a reader sees of a page, a line for each paragraph, item and row
///
/// What a style sheet hides is in it, what a script writes is not: of a collection that is harvested
/// with a browser, ask for the text of `urn:dom:URL`.
#[utoipa::path(
    get,
    path = "/api/v1/captures/{id}/text",
    tag = "archive",
    params(("id" = String, Path, description = "Of the list")),
    responses(
        (status = 200, description = "In UTF-8", body = String, content_type = "text/plain"),
        (status = 404, description = "There is no such capture"),
        (status = 406, description = "It is no page and no text"),
        (status = 410, description = "Its file is gone"),
    ),
)]
async fn get_text(State(app): State<App>, Path(id): Path<String>, request: Parts) -> Answer<Response> {
    if let Some((node, address)) = elsewhere(&app, &id, &request).await? {
        return passing::pass_on(&node, &address, &request).await;
    }
    let stored = app::captures::get_content(&app, id).await?;
    let ((), body) = download::stream(move || Ok(((), Cursor::new(stored.text()?)))).await?;
    Ok(harmless("text/plain; charset=utf-8", None, body))
}

/// Export the index of the archive for replay: CDXJ, sorted, one line a capture
///
/// An answer that cannot be completed is cut off without its last chunk, so that no part is taken
/// for the whole.
#[utoipa::path(
    get,
    path = "/api/v1/cdx",
    tag = "archive",
    params(Which),
    responses(
        (status = 200, description = "One line a capture", body = String, content_type = "text/plain"),
        (status = 404, description = "There is no such collection"),
    ),
)]
async fn export_cdx(State(app): State<App>, Query(which): Query<Which>) -> Answer<Response> {
    let export = app::captures::cdx::export_cdx(&app, which).await?;
    // Pieces are made as they are taken: however large the archive, what is held is a page of each
    // collection and one piece.
    let pieces = try_unfold((app, export), |(app, export)| async {
        let made = app.heavy(async move |_| Ok(export.piece().await?));
        let made = made.await.map_err(io::Error::other)?;
        Ok::<_, io::Error>(made.map(|(piece, export)| (piece, (app, export))))
    });
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], Body::from_stream(pieces)).into_response())
}

/// Ask the index as a CDX server is asked: by pywb, OutbackCDX's clients, and whoever else replays
///
/// Lines have eleven fields: key, time, URL, type, status, digest, two that are empty, length, offset, file. Parameters that are
/// not known here change nothing.
#[utoipa::path(
    get,
    path = "/cdx/{name}",
    tag = "archive",
    params(("name" = String, Path, description = "The collection"), CdxQuery),
    responses(
        (status = 200, description = "One line a capture", body = String, content_type = "text/plain"),
        (status = 400, description = "Not a question that can be answered"),
        (status = 404, description = "There is no such collection"),
    ),
)]
async fn ask_cdx(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(query): Query<CdxQuery>,
) -> Answer<Response> {
    let lines = app::captures::query::ask(&app, &name, &query).await?;
    let pieces = try_unfold((app, lines), |(app, lines)| async {
        let made = app.heavy(async move |app| lines.piece(&app).await).await.map_err(io::Error::other)?;
        Ok::<_, io::Error>(made.map(|(piece, lines)| (piece, (app, lines))))
    });
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], Body::from_stream(pieces)).into_response())
}

/// Hold the captures against the files of the archive: JSON lines, the last of them a summary
///
/// `file` for a file that is missing, cut off, damaged, not known to the store or set aside;
/// `record` for one that no capture points to; `capture` for one that is not where it should be or
/// not what it was; `behind` if the store knows less than it should; `progress` in
/// between; `summary` at the end, with `sound`. An answer without it is not the whole.
#[utoipa::path(
    get,
    path = "/api/v1/archive/check",
    tag = "archive",
    params(How),
    responses(
        (status = 200, description = "One line a finding", body = String, content_type = "application/x-ndjson"),
        (status = 503, description = "Another check is under way"),
    ),
)]
async fn check_archive(State(app): State<App>, Query(how): Query<How>) -> Answer<Response> {
    let findings = ReceiverStream::new(app::archive::check_archive(&app, &how)?);
    let lines = findings.map(|finding| finding.map(|event| format!("{event}\n")).map_err(io::Error::other));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response())
}

/// `name` is that of a file to save.
fn harmless(kind: &'static str, name: Option<&str>, body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'; frame-ancestors 'none'"),
    ];
    let attachment = name.map(|name| [(header::CONTENT_DISPOSITION, attachment(name))]);
    (headers, attachment, body).into_response()
}

fn attachment(name: &str) -> HeaderValue {
    let harmless: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')).collect();
    HeaderValue::try_from(format!("attachment; filename=\"{harmless}\""))
        .unwrap_or(HeaderValue::from_static("attachment"))
}
