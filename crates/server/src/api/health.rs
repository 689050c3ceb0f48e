//! Whether the process lives, and whether it does its work.

use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Answer, App, Problem};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(healthz)).routes(routes!(readyz))
}

/// Whether the process answers
#[utoipa::path(get, path = "/healthz", tag = "server", responses((status = 200, description = "It does", body = String, content_type = "text/plain")))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the store can be read, the archive written, and the harvest is not about to stop
///
/// An archive from which files are missing is told as `degraded` and is ready all the same: files
/// are moved to other shelves, and harvesting goes on.
#[utoipa::path(get, path = "/readyz", tag = "server", responses((status = 200, description = "All is well", body = String, content_type = "text/plain")))]
async fn readyz(State(app): State<App>) -> Answer<String> {
    if app.live.is_stopping() {
        return Err(Problem::unavailable("the harvest is stopping").into());
    }
    if let Some(reason) = app.live.archive.failure() {
        return Err(Problem::unavailable(reason).into());
    }
    app.look(|_| ()).await?;
    Ok(match app.live.archive.complaint() {
        None => "ready\n".to_owned(),
        Some(complaint) => format!("ready\ndegraded: {complaint}\n"),
    })
}
