//! Adding, changing and deleting what is declared (I8).
//!
//! A form is filled in, looked at, and saved: two posts to the same address. What stands between
//! them is in the page, so any number of people can be at it, and nothing is left behind by who goes
//! away. The tag of what was there at first goes along: where somebody else changed that meanwhile,
//! nothing is saved (RFC 9110, 13.1.1). What undoes the latest changes is kept until the server
//! ends.

mod diff;
mod given;
mod paste;
mod sheet;

use app::declared::preview::{self, Preview};
use app::declared::reach::{Examples, Reach};
use app::declared::{self, Expected};
use app::{FieldProblem, Kind, Problem};
use axum::Router;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use declare::counted;
use maud::{Markup, html};
use serde_json::Value;
use server::api::Path;
use server::client::segment;

use self::diff::Line;
use self::sheet::Sheet;
use super::Site;
use super::declared::{about, link, path_of};
use super::forms::{Long, sentence};
use super::layout::{Visit, section};
use super::text::{count, shown, url};
use crate::Shown;

pub(super) fn routes() -> Router<Site> {
    let router = Router::new().route("/paste/seeds", get(paste::show).post(paste::take));
    [Kind::Seed, Kind::Profile, Kind::Collection, Kind::Group].into_iter().fold(router, |router, kind| {
        let path = kind.path();
        router
            .route(
                &format!("/new/{path}"),
                get(move |visit| new(kind, visit)).post(move |visit, form| put(kind, visit, None, form)),
            )
            .route(
                &format!("/edit/{path}/{{name}}"),
                get(move |visit, name| edit(kind, visit, name))
                    .post(move |visit, Path(name): Path<String>, form| put(kind, visit, Some(name), form)),
            )
            .route(
                &format!("/delete/{path}/{{name}}"),
                get(move |visit, name| deletion(kind, visit, name))
                    .post(move |visit, name, form| delete(kind, visit, name, form)),
            )
    })
}

pub(super) fn delete_path(kind: Kind, name: &str) -> String {
    format!("/delete/{}/{}", kind.path(), segment(name))
}

/// What somebody is writing.
struct Draft {
    kind: Kind,
    /// None while it is new.
    name: Option<String>,
    says: Value,
    /// Of what was there when it was begun; empty while it is new.
    tag: String,
    problem: Option<Problem>,
}

async fn new(kind: Kind, visit: Visit) -> Shown {
    let mut says = Value::Object(serde_json::Map::new());
    if let Some(like) = visit.asked("like") {
        says = declared::show(&visit.site.app, kind, like).await?.thing;
        if let Value::Object(says) = &mut says {
            says.remove("name");
        }
    }
    // Coming from a page about something: with that filled in.
    if let (Kind::Seed, Some(profile)) = (kind, visit.asked("profile")) {
        says["profiles"] = vec![profile].into();
    }
    if let (Kind::Profile, Some(collection)) = (kind, visit.asked("collection")) {
        says["collection"] = collection.into();
    }
    Draft { kind, name: None, says, tag: String::new(), problem: None }.show(&visit).await
}

async fn edit(kind: Kind, visit: Visit, Path(name): Path<String>) -> Shown {
    let found = declared::show(&visit.site.app, kind, &name).await?;
    let name = found.thing["name"].as_str().unwrap_or(&name).to_owned();
    Draft { kind, name: Some(name), says: found.thing, tag: found.tag, problem: None }.show(&visit).await
}

/// A form that was sent: to be looked at, saved, or gone on with.
async fn put(kind: Kind, visit: Visit, name: Option<String>, Long(filled): Long) -> Shown {
    let step = filled.get("step");
    let kept = serde_json::from_str(filled.get("body")).ok().filter(Value::is_object);
    let mut says = match (step, kept) {
        ("save" | "back", Some(kept)) => kept,
        ("save" | "back", None) => return Err(Problem::bad_request("this form is not understood").into()),
        _ => given::body(&filled, kind.table()),
    };
    // Its name is that of the address, and no field.
    if let (Some(_), Value::Object(says)) = (&name, &mut says) {
        says.remove("name");
    }
    let mut draft = Draft { kind, name, says, tag: filled.get("tag").to_owned(), problem: None };
    let app = &visit.site.app;
    let own = match &draft.name {
        Some(name) => name.clone(),
        None => preview::name_of(app, kind, &draft.says).await?,
    };
    let came = match step {
        "back" => return draft.show(&visit).await,
        "save" => match declared::put(app, kind, &own, &draft.expected(), draft.says.clone()).await {
            Ok(saved) => {
                let word = if saved.is_new { "added" } else { "changed" };
                let next = if saved.is_new && kind == Kind::Seed {
                    "; it is harvested once it is started"
                } else {
                    ""
                };
                let text = format!("{own} is {word}{next}");
                return Ok(visit.site.changed(&path_of(kind, &own), text, saved.undo));
            }
            Err(problem) => Err(problem),
        },
        _ => preview::preview(app, kind, &own, &draft.expected(), draft.says.clone()).await,
    };
    match came {
        Ok(preview) => Ok(draft.looked_at(&visit, &own, &preview)),
        Err(problem) if is_of_the_form(&problem) => {
            draft.problem = Some(problem);
            draft.show(&visit).await
        }
        Err(problem) => Err(problem.into()),
    }
}

/// What whoever filled in the form can do something about.
fn is_of_the_form(problem: &Problem) -> bool {
    let statuses = [
        StatusCode::UNPROCESSABLE_ENTITY,
        StatusCode::PRECONDITION_FAILED,
        StatusCode::BAD_REQUEST,
        StatusCode::SERVICE_UNAVAILABLE,
    ];
    statuses.contains(&problem.status())
}

impl Draft {
    fn expected(&self) -> Expected {
        match self.tag.as_str() {
            "" => Expected { if_match: None, if_none_match: vec!["*".to_owned()] },
            tag => Expected { if_match: Some(vec![tag.to_owned()]), ..Expected::default() },
        }
    }

    fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("Edit {name}"),
            None => format!("New {}", self.kind),
        }
    }

    fn crumbs(&self) -> Markup {
        let Draft { kind, name, .. } = self;
        html! {
            p.crumbs {
                a href=(format!("/{}", kind.path())) { (about(*kind).title) }
                @if let Some(name) = name { " / " (link(*kind, name)) }
            }
        }
    }

    async fn show(self, visit: &Visit) -> Shown {
        let names = names(visit, self.kind).await?;
        let errors: Vec<FieldProblem> =
            self.problem.as_ref().map(|problem| problem.errors.clone()).unwrap_or_default();
        let sheet = Sheet {
            table: self.kind.table(),
            says: &self.says,
            errors: &errors,
            names: &names,
            first: first(self.kind),
            left_out: if self.name.is_some() { &["name", "extends"] } else { &[] },
        };
        let main = html! {
            (self.crumbs())
            div.title { h1 { (shown(&self.title())) } }
            @if let Some(problem) = &self.problem { (self.refusal(problem)) }
            (sheet.wrong())
            form.sheet method="post" action=(visit.path_only()) {
                (visit.hidden())
                input type="hidden" name="tag" value=(self.tag);
                (sheet.show())
                div.actions {
                    button.main type="submit" name="step" value="look" { "Look at what would change" }
                    a.button href=(self.way_back()) { "Cancel" }
                }
            }
        };
        Ok(match &self.problem {
            Some(_) => visit.refused(&self.title(), main),
            None => visit.page(&self.title(), main),
        })
    }

    fn way_back(&self) -> String {
        self.name.as_ref().map_or_else(|| format!("/{}", self.kind.path()), |name| path_of(self.kind, name))
    }

    /// What is no matter of a field.
    fn refusal(&self, problem: &Problem) -> Markup {
        let is_stale = problem.status() == StatusCode::PRECONDITION_FAILED;
        html! {
            @if is_stale && self.name.is_some() {
                p.notice.bad role="alert" {
                    "Somebody changed it since this form was opened, and nothing is saved. "
                    a href=(visit_anew(self.kind, self.name.as_deref())) { "Open it anew" }
                    " to see what it says now; what is below is what you have written."
                }
            } @else if is_stale {
                p.notice.bad role="alert" { "There is a " (self.kind) " of this name already, and nothing is saved." }
            } @else if problem.errors.is_empty() {
                p.notice.bad role="alert" { "Nothing is saved yet. " (shown(&sentence(problem))) }
            }
        }
    }

    fn looked_at(&self, visit: &Visit, own: &str, preview: &Preview) -> Response {
        let yaml = |says: &Value| {
            let mut text = Vec::new();
            if !says.is_null() {
                // Writing to memory does not fail.
                let _ = declare::to_yaml(&mut text, says);
            }
            String::from_utf8_lossy(&text).into_owned()
        };
        let (before, after) = (yaml(&preview.before), yaml(&preview.after));
        let is_seen = before != after;
        let main = html! {
            (self.crumbs())
            div.title { h1 { @if self.name.is_some() { "What would change" } @else { "What would be added" } } }
            @if !preview.is_other {
                p.notice { "Nothing would change: it says this already." }
            } @else if !is_seen {
                p.notice { "Only something secret would change, which is not shown." }
            } @else {
                pre.diff tabindex="0" { @for line in diff::lines(&before, &after) { (told(line)) } }
            }
            @if preview.is_other { @if let Some(reach) = &preview.reach { (reached(reach)) } }
            form.sheet.kept method="post" action=(visit.path_only()) {
                (visit.hidden())
                input type="hidden" name="tag" value=(self.tag);
                input type="hidden" name="body" value=(self.says.to_string());
                div.actions {
                    @if preview.is_other {
                        button.main type="submit" name="step" value="save" { "Save " (shown(own)) }
                    }
                    button type="submit" name="step" value="back" { "Back to the form" }
                    a.button href=(self.way_back()) { "Cancel" }
                }
            }
        };
        visit.page(&self.title(), main)
    }
}

fn visit_anew(kind: Kind, name: Option<&str>) -> String {
    name.map_or_else(|| super::declared::new_path(kind), |name| super::declared::edit_path(kind, name))
}

fn told(line: Line<'_>) -> Markup {
    html! {
        @match line {
            Line::Same(text) => span { "  " (shown(text)) },
            Line::Gone(text) => del { "− " (shown(text)) },
            Line::Come(text) => ins { "+ " (shown(text)) },
        }
        "\n"
    }
}

/// By sample, which URLs come in and out of scope.
fn reached(reach: &Reach) -> Markup {
    let Reach { looked_at, seeds, seeds_in_all, out, into } = reach;
    let list = |heading: &str, found: &Examples| {
        html! {
            @if found.count > 0 {
                h3 { (heading) ": " (count(found.count)) }
                ul.list { @for address in &found.urls { li { (url(address)) } } }
                @if found.count > found.urls.len() { p.faint { "And more like these." } }
            }
        }
    };
    let inside = html! {
        p.faint {
            @if *seeds_in_all == 0 {
                "No seed is harvested by it yet."
            } @else {
                (count(*looked_at)) " URLs were looked at: some that are known, and some that are linked to and were never captured"
                @if seeds < seeds_in_all { ", of " (counted(*seeds, "seed")) " of " (count(*seeds_in_all)) } "."
            }
        }
        @if out.count == 0 && into.count == 0 && *looked_at > 0 { p { "None of them comes into scope or falls out of it." } }
        (list("Out of scope from then on", out))
        (list("In scope from then on", into))
    };
    section("reach", "Which URLs that concerns", inside)
}

async fn deletion(kind: Kind, visit: Visit, Path(name): Path<String>) -> Shown {
    let app = &visit.site.app;
    let found = declared::show(app, kind, &name).await?;
    let name = found.thing["name"].as_str().unwrap_or(&name).to_owned();
    let dangling = app.look(|catalog| kind.left_dangling(catalog, &name)).await?;
    let reach = preview::preview_deletion(app, kind, &name).await?;
    let main = html! {
        p.crumbs { a href=(format!("/{}", kind.path())) { (about(kind).title) } " / " (link(kind, &name)) }
        div.title { h1 { "Delete the " (kind) " " (shown(&name)) "?" } }
        @if let Some(dangling) = dangling { p.notice.warn { (shown(&dangling)) ", and would no longer be harvested by it." } }
        p { "URLs that nothing covers any more leave the queue when they are next looked at. What was archived stays." }
        @if let Some(reach) = &reach { (reached(reach)) }
        form.sheet.kept method="post" action=(visit.path_only()) {
            (visit.hidden())
            input type="hidden" name="tag" value=(found.tag);
            div.actions {
                button.danger type="submit" { "Delete " (shown(&name)) }
                a.button href=(path_of(kind, &name)) { "Keep it" }
            }
        }
    };
    Ok(visit.page(&format!("Delete {name}"), main))
}

async fn delete(kind: Kind, visit: Visit, Path(name): Path<String>, Long(filled): Long) -> Shown {
    let expected = Expected { if_match: Some(vec![filled.get("tag").to_owned()]), ..Expected::default() };
    let (deleted, undo) = declared::delete(&visit.site.app, kind, &name, &expected, false).await?;
    let text = match deleted.left_dangling {
        Some(dangling) => format!("{} is deleted; {dangling}", deleted.name),
        None => format!("{} is deleted", deleted.name),
    };
    Ok(visit.site.changed(&format!("/{}", kind.path()), text, undo))
}

/// What most people have something to say about.
fn first(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Seed => &["url", "name", "profiles", "active"],
        Kind::Profile => &["name", "extends", "collection", "every", "length", "robots", "traps", "active"],
        Kind::Collection => &["name", "engine", "dedup", "index", "user_agent", "active"],
        Kind::Group => &["name", "hosts"],
        Kind::Host => &["host"],
    }
}

/// Names that its keys can take.
async fn names(visit: &Visit, kind: Kind) -> Result<Vec<(&'static str, Vec<String>)>, Problem> {
    let of = |wanted: Kind| {
        visit.site.app.look(move |catalog| {
            let mut names: Vec<String> = wanted.names(catalog).into_iter().map(str::to_owned).collect();
            names.sort();
            names
        })
    };
    Ok(match kind {
        Kind::Seed => vec![("profiles", of(Kind::Profile).await?)],
        Kind::Profile => {
            vec![("collection", of(Kind::Collection).await?), ("extends", of(Kind::Profile).await?)]
        }
        Kind::Collection | Kind::Group | Kind::Host => Vec::new(),
    })
}
