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
//! load that is not an [asset](assets) of this binary.

#![allow(
    missing_debug_implementations,
    reason = "services with handles and locks, of which nobody prints one"
)]

mod act;
mod address;
mod assets;
mod captures;
mod declaration;
mod declared;
mod forms;
mod hosts;
mod inspect;
mod layout;
mod links;
mod login;
mod overview;
mod problem_page;
mod queue;
mod reports;
mod spark;
mod text;
mod walks;

use std::ops::Deref;
use std::sync::Arc;

use anyhow::Result;
use app::App;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use server::{Guard, Pages};

/// A page, or what went wrong on the way to it.
type Shown = server::Answer<axum::response::Response>;

/// What every page works on.
#[derive(Clone)]
pub struct Site(Arc<Inner>);

pub struct Inner {
    app: App,
    guard: Arc<Guard>,
    forms: forms::Forms,
}

impl Deref for Site {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Site {
    pub fn new(app: App, guard: Arc<Guard>) -> std::io::Result<Site> {
        let forms = forms::Forms::new()?;
        Ok(Site(Arc::new(Inner { app, guard, forms })))
    }
}

/// The dashboard over an app.
pub fn pages(app: App, guard: Arc<Guard>) -> Result<Pages> {
    let site = Site::new(app, guard)?;
    let routes = routes(site.clone());
    Ok(Pages { routes, outermost: Box::new(move |router| with_problem_pages(router, site)) })
}

/// All pages; to be put behind the guard.
fn routes(site: Site) -> Router {
    Router::new()
        .route("/", get(overview::show))
        .route("/hosts", get(hosts::show))
        .route("/queue", get(queue::show))
        .route("/inspect", get(inspect::show))
        .route("/seeds", get(declared::seeds))
        .route("/profiles", get(declared::profiles))
        .route("/collections", get(declared::collections))
        .route("/seeds/{name}", get(declaration::seed))
        .route("/profiles/{name}", get(declaration::profile))
        .route("/collections/{name}", get(declaration::collection))
        .route("/walks", get(walks::list))
        .route("/walks/{name}", get(walks::one))
        .route("/links", get(links::top))
        .route("/links/domain", get(links::domain))
        .route("/links/page", get(links::page))
        .route("/reports", get(reports::show))
        .route("/captures", get(captures::list))
        .route("/captures/{id}", get(captures::one))
        .route("/act/switch", post(act::switch))
        .route("/act/start", post(act::start))
        .route("/act/pause", post(act::pause))
        .route("/act/move", post(act::move_url))
        .route("/act/walk", post(act::resume_walk))
        .route("/login", get(login::show).post(login::enter))
        .route("/logout", post(login::leave))
        .route("/assets/{name}", get(assets::serve))
        .with_state(site)
}

/// Outermost: answers of every kind that a person sees are pages.
fn with_problem_pages(router: Router, site: Site) -> Router {
    router.layer(from_fn_with_state(site, problem_page::shown))
}
