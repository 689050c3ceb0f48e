//! The routes of [`app::reports`]: rows, or a drawing of them.

use app::App;
use app::reports::contract::{self, ContractReport};
use app::reports::domains::{self, DomainItem};
use app::reports::errors::{self, ErrorItem};
use app::reports::feasibility::{self, FeasibilityReport};
use app::reports::{Asked, Format, Report};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::Query;
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(report_contract))
        .routes(routes!(report_domains))
        .routes(routes!(report_errors))
        .routes(routes!(report_feasibility))
}

/// Report which promised harvests were kept, late or missed, and what is overdue now
///
/// Each due time that a profile's frequency sets is a promise. It is kept by the first answered
/// harvest at or after it and missed when the next one falls due; it belongs to the hour in which
/// it fell due.
#[utoipa::path(
    get,
    path = "/api/v1/reports/contract",
    tag = "reports",
    params(contract::Asked),
    responses((status = 200, content((ContractReport = "application/json"), (String = "image/svg+xml")))),
)]
async fn report_contract(State(app): State<App>, Query(asked): Query<contract::Asked>) -> Answer<Response> {
    shown(asked.format, contract::rows(&app, &asked), contract::drawing(&app, &asked)).await
}

/// Report requests, statuses, bytes, what changed, errors and response times by domain, by time, or
/// by both
///
/// Domains come with the busiest first, times in their order. The drawing shows requests over time
/// by kind of answer.
#[utoipa::path(
    get,
    path = "/api/v1/reports/domains",
    tag = "reports",
    params(domains::Asked),
    responses((status = 200, content((Report<DomainItem> = "application/json"), (String = "image/svg+xml")))),
)]
async fn report_domains(State(app): State<App>, Query(asked): Query<domains::Asked>) -> Answer<Response> {
    shown(asked.format, domains::rows(&app, &asked), domains::drawing(&app, &asked)).await
}

/// Report failed requests and error statuses by kind and domain
///
/// The drawing shows errors over time by kind.
#[utoipa::path(
    get,
    path = "/api/v1/reports/errors",
    tag = "reports",
    params(Asked),
    responses((status = 200, content((Report<ErrorItem> = "application/json"), (String = "image/svg+xml")))),
)]
async fn report_errors(State(app): State<App>, Query(asked): Query<Asked>) -> Answer<Response> {
    shown(asked.format, errors::rows(&app, &asked), errors::drawing(&app, &asked)).await
}

/// Report the hosts that are asked for more than their politeness allows
///
/// Sets the harvests a day that frequencies add up to against those that delays leave room for.
#[utoipa::path(
    get,
    path = "/api/v1/reports/feasibility",
    tag = "reports",
    params(feasibility::Asked),
    responses((status = 200, content((FeasibilityReport = "application/json"), (String = "image/svg+xml")))),
)]
async fn report_feasibility(
    State(app): State<App>,
    Query(asked): Query<feasibility::Asked>,
) -> Answer<Response> {
    shown(asked.format, feasibility::rows(&app, &asked), feasibility::drawing(&app, &asked)).await
}

/// As rows or drawn, whichever is wanted.
async fn shown<T: Serialize>(
    format: Format,
    rows: impl Future<Output = app::Answer<T>>,
    drawing: impl Future<Output = app::Answer<String>>,
) -> Answer<Response> {
    Ok(match format {
        Format::Json => axum::Json(rows.await?).into_response(),
        Format::Svg => ([(header::CONTENT_TYPE, "image/svg+xml")], drawing.await?).into_response(),
    })
}
