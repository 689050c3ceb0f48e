//! What was archived: the list, and of each capture what is known, its record as it lies in the
//! archive, and its content; and all of it as an [index](cdx) for replay.
//!
//! Content is what somebody on the web wrote, and it is served so that no browser takes it for a
//! page of this server: as plain text, or as a file to save, never sniffed, and in a sandbox.

use app::captures::{CaptureItem, ContentKind, Filter};
use app::{App, Page};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::{Path, Query};
use crate::failure::Answer;

mod cdx;

mod download;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_captures))
        .routes(routes!(get_capture))
        .routes(routes!(get_record))
        .routes(routes!(get_content))
        .merge(cdx::routes())
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
    Ok(axum::Json(app::captures::list_captures(&app, filter).await?))
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
    Ok(axum::Json(app::captures::get_capture(&app, id).await?))
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
    let part = app::captures::get_record(&app, id).await?;
    let (name, length) = (part.name.clone(), part.length);
    let ((), body) = download::stream(move || Ok(((), part.open()?))).await?;
    let mut response = harmless(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/warc"));
    headers.insert(header::CONTENT_LENGTH, length.into());
    headers.insert(header::CONTENT_DISPOSITION, attachment(&name));
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
async fn get_content(State(app): State<App>, Path(id): Path<String>) -> Answer<Response> {
    let stored = app::captures::get_content(&app, id).await?;
    let (kind, body) = download::stream(move || stored.open()).await?;
    let mut response = harmless(body);
    let headers = response.headers_mut();
    let content_type = match kind {
        ContentKind::Utf8 => "text/plain; charset=utf-8",
        ContentKind::Text => "text/plain",
        ContentKind::File => "application/octet-stream",
    };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    if !kind.is_text() {
        headers.insert(header::CONTENT_DISPOSITION, attachment("content.bin"));
    }
    Ok(response)
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
