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

/// Whether the store can be read and the harvest is not about to stop
#[utoipa::path(get, path = "/readyz", tag = "server", responses((status = 200, description = "All is well", body = String, content_type = "text/plain")))]
async fn readyz(State(app): State<App>) -> Answer<&'static str> {
    if app.live.is_stopping() {
        return Err(Problem::unavailable("the harvest is stopping"));
    }
    app.look(|_| ()).await?;
    Ok("ready\n")
}
