//! The routes of [`app::reports::domains`].

use app::App;
use app::reports::Report;
use app::reports::domains::{self, Asked, DomainItem};
use axum::extract::State;
use axum::response::Response;

use super::shown;
use crate::api::extract::Query;
use crate::failure::Answer;

/// Report requests, statuses, bytes, what changed, errors and response times by domain, by time, or
/// by both
///
/// Domains come with the busiest first, times in their order. The drawing shows requests over time
/// by kind of answer.
#[utoipa::path(
    get,
    path = "/api/v1/reports/domains",
    operation_id = "report_domains",
    tag = "reports",
    params(Asked),
    responses((status = 200, content((Report<DomainItem> = "application/json"), (String = "image/svg+xml")))),
)]
pub(super) async fn report(State(app): State<App>, Query(asked): Query<Asked>) -> Answer<Response> {
    shown(asked.format, domains::rows(&app, &asked), domains::drawing(&app, &asked)).await
}
