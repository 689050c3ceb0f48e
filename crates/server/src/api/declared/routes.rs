//! The routes of declared things: the same for each kind, but for its name and its schema.

use app::declared::{Deleted, Switched};
use app::{App, Kind, Page, Paging};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{expected, many, settings, tagged};
use crate::api::extract::{Json, Path, Query};
use crate::failure::Answer;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(settings::get_settings, settings::put_settings))
        .merge(collections::routes())
        .merge(profiles::routes())
        .merge(seeds::routes())
        .merge(many::routes())
        .merge(host_groups::routes())
        .merge(collection_switches::routes())
        .merge(profile_switches::routes())
        .merge(seed_switches::routes())
}

/// How to delete.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Sweep {
    /// Remove the URLs it leaves behind from the queue now, which reads all of it.
    #[serde(default)]
    sweep: bool,
}

macro_rules! routes_of {
    ($module:ident, $kind:expr, $all:literal, $one:literal, $schema:literal, $page:literal) => {
        mod $module {
            use super::*;

            pub(super) fn routes() -> OpenApiRouter<App> {
                OpenApiRouter::new().routes(routes!(list)).routes(routes!(get, put, delete))
            }

            /// List them, in the order of names
            #[utoipa::path(
                get,
                path = $all,
                tag = "declared",
                operation_id = concat!("list_", stringify!($module)),
                params(Paging),
                responses((status = 200, body = ref($page))),
            )]
            async fn list(State(app): State<App>, Query(paging): Query<Paging>) -> Answer<axum::Json<Page<Value>>> {
                Ok(axum::Json(app::declared::list(&app, $kind, &paging).await?))
            }

            /// Get one
            #[utoipa::path(
                get,
                path = $one,
                tag = "declared",
                operation_id = concat!("get_", stringify!($module)),
                params(("name" = String, Path, description = "Its name; for a seed also its URL")),
                responses(
                    (status = 200, body = ref($schema), headers(("etag" = String, description = "Of what it says"))),
                    (status = 404, description = "There is none of that name"),
                ),
            )]
            async fn get(State(app): State<App>, Path(name): Path<String>) -> Answer<Response> {
                Ok(tagged(StatusCode::OK, &app::declared::show(&app, $kind, &name).await?))
            }

            /// Add or replace one
            ///
            /// What is left out is as by default. In effect at once.
            #[utoipa::path(
                put,
                path = $one,
                tag = "declared",
                operation_id = concat!("put_", stringify!($module)),
                params(
                    ("name" = String, Path, description = "Its name"),
                    ("if-match" = Option<String>, Header, description = "Only if this is still its ETag"),
                    ("if-none-match" = Option<String>, Header, description = "`*`: only if there is none yet"),
                ),
                request_body = ref($schema),
                responses(
                    (status = 200, description = "Replaced", body = ref($schema), headers(("etag" = String))),
                    (status = 201, description = "Added", body = ref($schema), headers(("etag" = String))),
                    (status = 412, description = "It is not what the caller expects"),
                ),
            )]
            async fn put(
                State(app): State<App>,
                Path(name): Path<String>,
                headers: HeaderMap,
                Json(body): Json<Value>,
            ) -> Answer<Response> {
                let (created, shown) = app::declared::put(&app, $kind, &name, &expected(&headers), body).await?;
                Ok(tagged(if created { StatusCode::CREATED } else { StatusCode::OK }, &shown))
            }

            /// Delete one
            ///
            /// Deletion is lazy: URLs that nothing covers any more leave the queue when they are next looked at.
            #[utoipa::path(
                delete,
                path = $one,
                tag = "declared",
                operation_id = concat!("delete_", stringify!($module)),
                params(
                    ("name" = String, Path, description = "Its name; for a seed also its URL"),
                    ("if-match" = Option<String>, Header, description = "Only if this is still its ETag"),
                    Sweep,
                ),
                responses(
                    (status = 200, body = Deleted),
                    (status = 404, description = "There is none of that name"),
                    (status = 412, description = "It is not what the caller expects"),
                ),
            )]
            async fn delete(
                State(app): State<App>,
                Path(name): Path<String>,
                Query(Sweep { sweep }): Query<Sweep>,
                headers: HeaderMap,
            ) -> Answer<axum::Json<Deleted>> {
                Ok(axum::Json(app::declared::delete(&app, $kind, &name, &expected(&headers), sweep).await?))
            }
        }
    };
}

macro_rules! switches_of {
    ($module:ident, $kind:expr, $enable:literal, $disable:literal) => {
        mod $module {
            use super::*;

            pub(super) fn routes() -> OpenApiRouter<App> {
                OpenApiRouter::new().routes(routes!(enable)).routes(routes!(disable))
            }

            /// Switch it on again: it continues where it was
            #[utoipa::path(
                post,
                path = $enable,
                tag = "declared",
                operation_id = concat!("enable_", stringify!($module)),
                params(
                    ("name" = String, Path, description = "Its name; for a seed also its URL"),
                    ("if-match" = Option<String>, Header, description = "Only if this is still its ETag"),
                ),
                responses(
                    (status = 200, body = Switched),
                    (status = 404, description = "There is none of that name"),
                    (status = 412, description = "It is not what the caller expects"),
                ),
            )]
            async fn enable(
                State(app): State<App>,
                Path(name): Path<String>,
                headers: HeaderMap,
            ) -> Answer<axum::Json<Switched>> {
                Ok(axum::Json(app::declared::switch(&app, $kind, &name, &expected(&headers), true).await?))
            }

            /// Switch it off: everything it covers waits, nothing is lost
            #[utoipa::path(
                post,
                path = $disable,
                tag = "declared",
                operation_id = concat!("disable_", stringify!($module)),
                params(
                    ("name" = String, Path, description = "Its name; for a seed also its URL"),
                    ("if-match" = Option<String>, Header, description = "Only if this is still its ETag"),
                ),
                responses(
                    (status = 200, body = Switched),
                    (status = 404, description = "There is none of that name"),
                    (status = 412, description = "It is not what the caller expects"),
                ),
            )]
            async fn disable(
                State(app): State<App>,
                Path(name): Path<String>,
                headers: HeaderMap,
            ) -> Answer<axum::Json<Switched>> {
                Ok(axum::Json(app::declared::switch(&app, $kind, &name, &expected(&headers), false).await?))
            }
        }
    };
}

routes_of!(
    collections,
    Kind::Collection,
    "/api/v1/collections",
    "/api/v1/collections/{name}",
    "#/components/schemas/Collection",
    "#/components/schemas/CollectionPage"
);

routes_of!(
    profiles,
    Kind::Profile,
    "/api/v1/profiles",
    "/api/v1/profiles/{name}",
    "#/components/schemas/Profile",
    "#/components/schemas/ProfilePage"
);

routes_of!(
    seeds,
    Kind::Seed,
    "/api/v1/seeds",
    "/api/v1/seeds/{name}",
    "#/components/schemas/Seed",
    "#/components/schemas/SeedPage"
);

routes_of!(
    host_groups,
    Kind::Group,
    "/api/v1/host-groups",
    "/api/v1/host-groups/{name}",
    "#/components/schemas/HostGroup",
    "#/components/schemas/HostGroupPage"
);

switches_of!(
    collection_switches,
    Kind::Collection,
    "/api/v1/collections/{name}/enable",
    "/api/v1/collections/{name}/disable"
);

switches_of!(
    profile_switches,
    Kind::Profile,
    "/api/v1/profiles/{name}/enable",
    "/api/v1/profiles/{name}/disable"
);

switches_of!(seed_switches, Kind::Seed, "/api/v1/seeds/{name}/enable", "/api/v1/seeds/{name}/disable");
