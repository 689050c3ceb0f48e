//! The routes of [`app::reports::errors`].

use app::App;
use app::reports::Asked;
use app::reports::Report;
use app::reports::errors::{self, ErrorItem};
use axum::extract::State;
use axum::response::Response;

use super::shown;
use crate::api::extract::Query;
use crate::failure::Answer;

/// Report failed requests and error statuses by kind and domain
///
/// The drawing shows errors over time by kind.
#[utoipa::path(
    get,
    path = "/api/v1/reports/errors",
    operation_id = "report_errors",
    tag = "reports",
    params(Asked),
    responses((status = 200, content((Report<ErrorItem> = "application/json"), (String = "image/svg+xml")))),
)]
pub(super) async fn report(State(app): State<App>, Query(asked): Query<Asked>) -> Answer<Response> {
    shown(asked.format, errors::rows(&app, &asked), errors::drawing(&app, &asked)).await
}
