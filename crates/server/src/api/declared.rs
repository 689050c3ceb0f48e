//! What is declared, thing by thing: the settings, and the routes of collections, profiles, seeds,
//! host groups and single hosts, which are the same for each kind but for its name and its schema.
//!
//! A thing has an `ETag` of what it says. Who sends it back as `If-Match` changes only what they
//! saw; a thing that says something else by now is left alone (412). Whoever creates sends
//! `If-None-Match: *`.

use app::declared::{Deleted, Expected, Switched, Tagged};
use app::{App, Kind, Page, Paging};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::{Json, Path, Query};
use crate::client::segment;
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(get_settings, put_settings))
        .merge(collections::routes())
        .merge(profiles::routes())
        .merge(seeds::routes())
        .merge(host_groups::routes())
        .merge(host_settings::routes())
        .merge(collection_switches::routes())
        .merge(profile_switches::routes())
        .merge(seed_switches::routes())
}

/// What the caller expects to be there now.
fn expected(headers: &HeaderMap) -> Expected {
    let tags = |name: HeaderName| {
        let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
        lines.flat_map(|line| line.split(',')).map(|tag| tag.trim().to_owned()).collect::<Vec<_>>()
    };
    let if_match = headers.contains_key(header::IF_MATCH).then(|| tags(header::IF_MATCH));
    Expected { if_match, if_none_match: tags(header::IF_NONE_MATCH) }
}

fn tagged(status: StatusCode, Tagged { thing, tag }: &Tagged) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::ETAG, tag.as_str())];
    (status, headers, thing.to_string()).into_response()
}

/// Get the settings
#[utoipa::path(
    get,
    path = "/api/v1/settings",
    tag = "declared",
    responses((status = 200, body = ref("#/components/schemas/Settings"), headers(("etag" = String)))),
)]
async fn get_settings(State(app): State<App>) -> Answer<Response> {
    Ok(tagged(StatusCode::OK, &app::declared::settings::get_settings(&app).await?))
}

/// Replace the settings
///
/// What is left out is as by default. `user_agent`, `contact` and `certificates` count from the
/// next start of the server on, the rest at once.
#[utoipa::path(
    put,
    path = "/api/v1/settings",
    tag = "declared",
    params(("if-match" = Option<String>, Header, description = "Only if this is still its ETag")),
    request_body = ref("#/components/schemas/Settings"),
    responses(
        (status = 200, body = ref("#/components/schemas/Settings"), headers(("etag" = String))),
        (status = 412, description = "The settings are not what they were"),
    ),
)]
async fn put_settings(
    State(app): State<App>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Answer<Response> {
    let settings = app::declared::settings::put_settings(&app, &expected(&headers), &body).await?;
    Ok(tagged(StatusCode::OK, &settings))
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
    ($($module:ident: $kind:expr, $all:literal, $schema:literal, $page:literal;)*) => {
        $(mod $module {
            use super::*;

            pub(super) fn routes() -> OpenApiRouter<App> {
                OpenApiRouter::new().routes(routes!(list)).routes(routes!(get, put, patch, delete))
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
                context_path = $all,
                path = "/{name}",
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
                context_path = $all,
                path = "/{name}",
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
                    (status = 201, description = "Added", body = ref($schema), headers(("etag" = String), ("location" = String))),
                    (status = 412, description = "It is not what the caller expects"),
                ),
            )]
            async fn put(
                State(app): State<App>,
                Path(name): Path<String>,
                headers: HeaderMap,
                Json(body): Json<Value>,
            ) -> Answer<Response> {
                let saved = app::declared::put(&app, $kind, &name, &expected(&headers), body).await?;
                if !saved.is_new {
                    return Ok(tagged(StatusCode::OK, &saved.tagged));
                }
                let place = format!("{}/{}", $all, segment(&name));
                Ok(([(header::LOCATION, place)], tagged(StatusCode::CREATED, &saved.tagged)).into_response())
            }

            /// Change what is given of one, and leave the rest as it is
            ///
            /// As RFC 7396 says it: maps are merged, lists replaced, and what is null is as by default. In
            /// effect at once.
            #[utoipa::path(
                patch,
                context_path = $all,
                path = "/{name}",
                tag = "declared",
                operation_id = concat!("patch_", stringify!($module)),
                params(
                    ("name" = String, Path, description = "Its name; for a seed also its URL"),
                    ("if-match" = Option<String>, Header, description = "Only if this is still its ETag"),
                ),
                request_body(content = Object, content_type = "application/merge-patch+json"),
                responses(
                    (status = 200, description = "Changed", body = ref($schema), headers(("etag" = String))),
                    (status = 404, description = "There is none of that name"),
                    (status = 412, description = "It is not what the caller expects"),
                ),
            )]
            async fn patch(
                State(app): State<App>,
                Path(name): Path<String>,
                headers: HeaderMap,
                Json(body): Json<Value>,
            ) -> Answer<Response> {
                let saved = app::declared::patch(&app, $kind, &name, &expected(&headers), &body).await?;
                Ok(tagged(StatusCode::OK, &saved.tagged))
            }

            /// Delete one
            ///
            /// Deletion is lazy: URLs that nothing covers any more leave the queue when they are next looked at.
            #[utoipa::path(
                delete,
                context_path = $all,
                path = "/{name}",
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
                Ok(axum::Json(app::declared::delete(&app, $kind, &name, &expected(&headers), sweep).await?.0))
            }
        })*
    };
}

macro_rules! switches_of {
    ($($module:ident: $kind:expr, $all:literal;)*) => {
        $(mod $module {
            use super::*;

            pub(super) fn routes() -> OpenApiRouter<App> {
                OpenApiRouter::new().routes(routes!(enable)).routes(routes!(disable))
            }

            switch!($module, $kind, $all, enable, true, "Switch it on again: it continues where it was");
            switch!($module, $kind, $all, disable, false, "Switch it off: everything it covers waits, nothing is lost");
        })*
    };
}

macro_rules! switch {
    ($module:ident, $kind:expr, $all:literal, $switch:ident, $active:literal, $summary:literal) => {
        #[utoipa::path(
                    post,
                    context_path = $all,
                    path = concat!("/{name}/", stringify!($switch)),
                    tag = "declared",
                    operation_id = concat!(stringify!($switch), "_", stringify!($module)),
                    summary = $summary,
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
        async fn $switch(
            State(app): State<App>,
            Path(name): Path<String>,
            headers: HeaderMap,
        ) -> Answer<axum::Json<Switched>> {
            Ok(axum::Json(app::declared::switch(&app, $kind, &name, &expected(&headers), $active).await?))
        }
    };
}

routes_of! {
    collections: Kind::Collection, "/api/v1/collections",
        "#/components/schemas/Collection", "#/components/schemas/CollectionPage";
    profiles: Kind::Profile, "/api/v1/profiles",
        "#/components/schemas/Profile", "#/components/schemas/ProfilePage";
    seeds: Kind::Seed, "/api/v1/seeds", "#/components/schemas/Seed", "#/components/schemas/SeedPage";
    host_groups: Kind::Group, "/api/v1/host-groups",
        "#/components/schemas/HostGroup", "#/components/schemas/HostGroupPage";
    host_settings: Kind::Host, "/api/v1/host-settings",
        "#/components/schemas/HostSettings", "#/components/schemas/HostSettingsPage";
}

switches_of! {
    collection_switches: Kind::Collection, "/api/v1/collections";
    profile_switches: Kind::Profile, "/api/v1/profiles";
    seed_switches: Kind::Seed, "/api/v1/seeds";
}
