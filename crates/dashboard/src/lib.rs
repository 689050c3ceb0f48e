//! The dashboard (I5): what the API says, as pages for people.
//!
//! A page is asked for by a browser, asks the [`app`], and is written whole on this side: it works
//! without script, and the one script there is only keeps figures fresh. Whatever changes something
//! is a form ([`forms`]) that carries a token of this process, is carried out by the [`app`], and
//! ends in a redirect with a notice. A [`Problem`](app::Problem) on the way becomes a page of
//! its own at the [`problem_page`], which also shows who has no token to the login page.
//!
//! Everything that comes from the web is hostile: it is written only through [`text`], which
//! escapes it and makes what is invisible visible. The content security policy lets nothing run or
//! load that is not an [asset](assets) of this binary, or a picture whose bytes were looked at first
//! ([`seen`]).

#![allow(
    missing_debug_implementations,
    reason = "services with handles and locks, of which nobody prints one"
)]

mod act;
mod address;
mod assets;
mod blacklist;
mod captures;
mod crawls;
mod declaration;
mod declared;
mod edit;
mod find;
mod forms;
mod hosts;
mod inspect;
mod layout;
mod links;
mod login;
mod nodes;
mod overview;
mod problem_page;
mod queue;
mod reports;
mod results;
mod runs;
mod seen;
mod spark;
mod text;
mod traps;
mod walks;

use std::sync::Arc;

use anyhow::Result;
use app::{App, Kind};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use server::{Guard, Pages, Place};

/// A page, or what went wrong on the way to it.
type Shown = server::Answer<axum::response::Response>;

/// What every page works on.
#[derive(Clone)]
pub struct Site {
    app: App,
    guard: Arc<Guard>,
    forms: Arc<forms::Forms>,
    /// Where the archive is shown, if it is.
    replay: Option<Arc<Place>>,
}

/// The dashboard over an app.
pub fn pages(app: App, guard: Arc<Guard>, replay: Option<Arc<Place>>) -> Result<Pages> {
    let site = Site { app, guard, forms: Arc::new(forms::Forms::new()?), replay };
    let routes = routes().with_state(site.clone());
    // Answers of every kind that a person sees are pages.
    let shown = |router: Router| router.layer(from_fn_with_state(site, problem_page::shown));
    Ok(Pages { routes, outermost: Box::new(shown) })
}

/// All pages; to be put behind the guard.
fn routes() -> Router<Site> {
    let router = Router::new()
        .route("/", get(overview::show))
        .route("/hosts", get(hosts::show))
        .route("/nodes", get(nodes::show))
        .route("/queue", get(queue::show))
        .route("/blacklist", get(blacklist::show))
        .route("/find", get(find::show))
        .route("/runs", get(runs::list))
        .route("/runs/{run}", get(runs::one))
        .route("/inspect", get(inspect::show))
        .route("/traps", get(traps::show))
        .route("/crawls", get(crawls::show))
        .route("/walks", get(walks::list))
        .route("/walks/{name}", get(walks::one))
        .route("/links", get(links::top))
        .route("/links/domain", get(links::domain))
        .route("/links/page", get(links::page))
        .route("/reports", get(reports::show))
        .route("/captures", get(captures::list))
        .route("/captures/{id}", get(captures::one))
        .route("/captures/{id}/picture", get(seen::picture))
        .route("/login", get(login::show).post(login::enter))
        .route("/logout", post(login::leave))
        .route("/assets/{name}", get(assets::serve))
        .merge(act::routes())
        .merge(edit::routes());
    [Kind::Seed, Kind::Profile, Kind::Collection, Kind::Group].into_iter().fold(router, |router, kind| {
        let path = format!("/{}", kind.path());
        router
            .route(&path, get(move |visit| declared::list(kind, visit)))
            .route(&format!("{path}/{{name}}"), get(move |visit, name| declaration::show(kind, visit, name)))
    })
}
