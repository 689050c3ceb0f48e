//! The routes of [`app::reports::contract`].

use app::App;
use app::reports::contract::{self, Asked, ContractReport};
use axum::extract::State;
use axum::response::Response;

use super::shown;
use crate::api::extract::Query;
use crate::failure::Answer;

/// Report which promised harvests were kept, late or missed, and what is overdue now
///
/// Each due time that a profile's frequency sets is a promise. It is kept by the first answered
/// harvest at or after it and missed when the next one falls due; it belongs to the hour in which
/// it fell due.
#[utoipa::path(
    get,
    path = "/api/v1/reports/contract",
    operation_id = "report_contract",
    tag = "reports",
    params(Asked),
    responses((status = 200, content((ContractReport = "application/json"), (String = "image/svg+xml")))),
)]
pub(super) async fn report(State(app): State<App>, Query(asked): Query<Asked>) -> Answer<Response> {
    shown(asked.format, contract::rows(&app, &asked), contract::drawing(&app, &asked)).await
}
