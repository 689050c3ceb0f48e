//! Getting in where the server wants a token: it is shown once, and exchanged for a cookie that no
//! script can read.

use app::Problem;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::html;

use super::Site;
use super::forms::{Filled, fields, local, see_other};
use super::layout::{Visit, answer};
use crate::Shown;

pub(super) async fn show(visit: Visit) -> Response {
    match visit.site.guard.wants_token() {
        true => asking(StatusCode::OK, local(visit.asked("back").unwrap_or("/")), None),
        false => see_other("/"),
    }
}

fn asking(status: StatusCode, back: &str, wrong: Option<&str>) -> Response {
    let inside = html! {
        main #main.login tabindex="-1" {
            h1 { "Log in" }
            p { "This server wants its token: the one it was started with, by " code { "--token-file" } " or " code { "SKURD_TOKEN" } "." }
            @if let Some(wrong) = wrong { p.notice.bad role="alert" { (wrong) } }
            form method="post" action="/login" {
                input type="hidden" name="back" value=(back);
                // What keeps passwords wants a name to keep them under.
                input type="text" name="user" autocomplete="username" value="skurd" hidden;
                label for="token" { "Token" }
                input #token type="password" name="token" autocomplete="current-password" required maxlength="4096";
                button.main type="submit" { "Log in" }
            }
        }
    };
    answer(status, "Log in", inside)
}

pub(super) async fn enter(State(site): State<Site>, headers: HeaderMap, request: Request) -> Shown {
    let filled = fields(request).await?;
    let back = local(filled.get("back"));
    if !site.guard.admits(filled.get("token")) {
        return Ok(asking(StatusCode::UNAUTHORIZED, back, Some("This is not the token.")));
    }
    let cookie = site.guard.begin(&headers).map_err(|error| Problem::internal(&error))?;
    with_cookie(see_other(back), &cookie)
}

pub(super) async fn leave(State(site): State<Site>, headers: HeaderMap, _: Filled) -> Shown {
    let cookie = site.guard.end(&headers);
    with_cookie(see_other("/login"), &cookie)
}

fn with_cookie(response: Response, cookie: &str) -> Shown {
    let cookie = HeaderValue::try_from(cookie).map_err(|error| Problem::internal(&error))?;
    Ok(([(header::SET_COOKIE, cookie)], response).into_response())
}
