//! What forms do: all of it through the app, and then back with a notice.

use app::control::{self, Pausable, Run, Start};
use app::declared::{self, Expected, Switched};
use app::first::{self, FirstHarvest, Often};
use app::queue::{self, Move};
use app::walks::{self, AnotherRun, Strategy, WalkItem, WalkState};
use app::{Answer, App, Kind, Problem};
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use declare::counted;

use super::forms::Filled;
use super::{Site, blacklist, crawls, traps};

const KINDS: [(&str, Kind); 3] =
    [("seeds", Kind::Seed), ("profiles", Kind::Profile), ("collections", Kind::Collection)];

pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/act/switch", post(|site, filled| carry_out(site, filled, switch)))
        .route("/act/start", post(|site, filled| carry_out(site, filled, start)))
        .route("/act/pause", post(|site, filled| carry_out(site, filled, pause)))
        .route("/act/move", post(|site, filled| carry_out(site, filled, move_url)))
        .route("/act/harvest", post(|site, filled| carry_out(site, filled, harvest)))
        .route("/act/introduce", post(|site, filled| carry_out(site, filled, introduce)))
        .route("/act/trap", post(|site, filled| carry_out(site, filled, traps::decide)))
        .route("/act/crawls", post(|site, filled| carry_out(site, filled, crawls::change)))
        .route("/act/bar", post(|site, filled| carry_out(site, filled, blacklist::bar)))
        .route("/act/lift", post(|site, filled| carry_out(site, filled, blacklist::lift)))
        .route("/act/undo", post(undo))
        .route("/act/walk", post(|site, filled| carry_out(site, filled, resume_walk)))
}

async fn carry_out(
    State(site): State<Site>,
    filled: Filled,
    act: impl AsyncFn(&App, &Filled) -> Answer<String>,
) -> Response {
    let came = act(&site.app, &filled).await;
    site.done(&filled, came)
}

async fn switch(app: &App, filled: &Filled) -> Answer<String> {
    let active = one_of(filled.get("do"), &[("enable", true), ("disable", false)])?;
    let kinds = KINDS.map(|(word, kind)| (word, Some(kind)));
    let kind = one_of(filled.get("kind"), &[kinds.as_slice(), &[("walks", None)]].concat())?;
    let name = filled.get("name");
    let switched = match kind {
        Some(kind) => declared::switch(app, kind, name, &Expected::default(), active).await,
        None => walks::switch(app, name.to_owned(), active).await,
    };
    let Switched { name, active, changed } = switched?;
    let state = if active { "enabled" } else { "disabled" };
    let already = if changed { "" } else { " already" };
    Ok(format!("{name} is {state}{already}"))
}

async fn start(app: &App, filled: &Filled) -> Answer<String> {
    let name = filled.get("name").to_owned();
    let wanted = match one_of(filled.get("kind"), &KINDS)? {
        Kind::Seed => Start { seed: Some(name), ..Start::default() },
        Kind::Profile => Start { profiles: vec![name], ..Start::default() },
        Kind::Collection | Kind::Group | Kind::Host => Start { collection: Some(name), ..Start::default() },
    };
    let runs = control::start(app, wanted).await?;
    Ok(started(&runs))
}

fn started(runs: &[Run]) -> String {
    let said = runs.iter().map(|Run { run, started, seeds, changed }| {
        format!("{started} started as run {run}: {changed} of {} queued", counted(*seeds, "seed"))
    });
    said.collect::<Vec<String>>().join("; ")
}

async fn harvest(app: &App, filled: &Filled) -> Answer<String> {
    let often = one_of(filled.get("often"), &Often::ALL.map(|often| (often.as_str(), often)))?;
    let contact = Some(filled.get("contact").to_owned()).filter(|contact| !contact.trim().is_empty());
    let wanted = FirstHarvest { url: filled.get("url").trim().to_owned(), often, contact };
    let runs = first::harvest_url(app, wanted).await?;
    Ok(started(&runs))
}

async fn introduce(app: &App, filled: &Filled) -> Answer<String> {
    first::introduce(app, filled.get("contact").to_owned()).await?;
    Ok("the harvest begins".to_owned())
}

async fn pause(app: &App, filled: &Filled) -> Answer<String> {
    let is_pause = one_of(filled.get("do"), &[("pause", true), ("resume", false)])?;
    let what = ["everything", "collection", "host", "walk"].map(|word| (word, word));
    let (what, name) = (one_of(filled.get("what"), &what)?, filled.get("name"));
    let own = name.to_owned();
    let (target, told) = match what {
        "everything" => (Pausable::Everything {}, what.to_owned()),
        "collection" => (Pausable::Collection { name: own }, format!("{what} {name}")),
        "host" => (Pausable::Host { name: own }, format!("{what} {name}")),
        _ => (Pausable::Walk { name: own }, format!("{what} {name}")),
    };
    let (came, state) = match is_pause {
        true => (control::pause(app, target).await?, "paused"),
        false => (control::resume(app, target).await?, "resumed"),
    };
    let already = if came.changed { "" } else { "; it was so already" };
    Ok(format!("{told} is {state}{already}"))
}

async fn move_url(app: &App, filled: &Filled) -> Answer<String> {
    let (url, collection) = (filled.get("url").to_owned(), Some(filled.get("collection").to_owned()));
    let moved = queue::move_url(app, Move { url, collection, to: "now".to_owned() }).await?;
    Ok(format!("{} is due now", moved.url))
}

async fn resume_walk(app: &App, filled: &Filled) -> Answer<String> {
    let ways = [("continue", Strategy::Continue), ("holes", Strategy::Holes), ("both", Strategy::Both)];
    let strategy = one_of(filled.get("resume"), &ways)?;
    let WalkItem { name, state, active, paused, standing, .. } =
        walks::resume_walk(app, filled.get("name").to_owned(), AnotherRun { strategy }).await?;
    Ok(match state {
        WalkState::Ended if standing.requests == 0 => format!("{name} has nothing left to do that way"),
        _ if !active => format!("{name} goes on when it is enabled"),
        _ if !paused.is_empty() => format!("{name} goes on when it is no longer paused"),
        _ => format!("{name} goes on"),
    })
}

async fn undo(State(site): State<Site>, filled: Filled) -> Response {
    let gone = || {
        Problem::bad_request("this can no longer be undone")
            .hint("only the latest changes of this run of the server can")
    };
    let came = match filled.get("undo").parse().ok().and_then(|id| site.forms.undo(id)) {
        Some(undo) => declared::undo(&site.app, &undo).await.map(|()| undo.what()),
        None => Err(gone()),
    };
    site.done(&filled, came)
}

/// What a field means that takes one of a few words.
pub(super) fn one_of<T: Copy>(given: &str, words: &[(&str, T)]) -> Answer<T> {
    let found = words.iter().find(|(word, _)| *word == given);
    found.map(|(_, meant)| *meant).ok_or_else(|| {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        Problem::bad_request("this form is not understood").hint(format!("one of: {}", words.join(", ")))
    })
}
