//! The routes of [`app::reports::feasibility`].

use app::App;
use app::reports::feasibility::{self, Asked, FeasibilityReport};
use axum::extract::State;
use axum::response::Response;

use super::shown;
use crate::api::extract::Query;
use crate::failure::Answer;

/// Report the hosts that are asked for more than their politeness allows
///
/// Sets the harvests a day that frequencies add up to against those that delays leave room for.
#[utoipa::path(
    get,
    path = "/api/v1/reports/feasibility",
    operation_id = "report_feasibility",
    tag = "reports",
    params(Asked),
    responses((status = 200, content((FeasibilityReport = "application/json"), (String = "image/svg+xml")))),
)]
pub(super) async fn report(State(app): State<App>, Query(asked): Query<Asked>) -> Answer<Response> {
    shown(asked.format, feasibility::rows(&app, &asked), feasibility::drawing(&app, &asked)).await
}
