//! What forms do: all of it through the API, and then back with a notice.

use app::control::{self, Pausable, Start};
use app::declared::{self, Expected, Switched};
use app::queue::{self, Move};
use app::walks::{self, AnotherRun, Strategy, WalkItem, WalkState};
use app::{Answer, Kind, Problem};
use axum::extract::State;
use axum::response::Response;
use declare::counted;

use super::Site;
use super::forms::Filled;

pub(super) async fn switch(State(site): State<Site>, filled: Filled) -> Response {
    let came = site.switched(&filled).await;
    site.done(&filled, came)
}

pub(super) async fn start(State(site): State<Site>, filled: Filled) -> Response {
    let came = site.started(&filled).await;
    site.done(&filled, came)
}

pub(super) async fn pause(State(site): State<Site>, filled: Filled) -> Response {
    let came = site.paused_or_resumed(&filled).await;
    site.done(&filled, came)
}

pub(super) async fn move_url(State(site): State<Site>, filled: Filled) -> Response {
    let came = site.moved(&filled).await;
    site.done(&filled, came)
}

pub(super) async fn resume_walk(State(site): State<Site>, filled: Filled) -> Response {
    let came = site.walk_resumed(&filled).await;
    site.done(&filled, came)
}

impl Site {
    async fn switched(&self, filled: &Filled) -> Answer<String> {
        let (kind, name) = (filled.get("kind"), filled.get("name"));
        let active = one_of(filled.get("do"), &["enable", "disable"])? == "enable";
        let kind = match one_of(kind, &["seeds", "profiles", "collections", "walks"])? {
            "seeds" => Some(Kind::Seed),
            "profiles" => Some(Kind::Profile),
            "collections" => Some(Kind::Collection),
            _ => None,
        };
        let switched = match kind {
            Some(kind) => declared::switch(&self.app, kind, name, &Expected::default(), active).await,
            None => walks::switch(&self.app, name.to_owned(), active).await,
        };
        let Switched { name, active, changed } = switched?;
        let state = if active { "enabled" } else { "disabled" };
        let already = if changed { "" } else { " already" };
        Ok(format!("{name} is {state}{already}"))
    }

    async fn started(&self, filled: &Filled) -> Answer<String> {
        let name = filled.get("name").to_owned();
        let wanted = match one_of(filled.get("kind"), &["seeds", "profiles", "collections"])? {
            "seeds" => Start { seed: Some(name), ..Start::default() },
            "profiles" => Start { profiles: vec![name], ..Start::default() },
            _ => Start { collection: Some(name), ..Start::default() },
        };
        let runs = control::start(&self.app, wanted).await?;
        let said: Vec<String> = runs
            .iter()
            .map(|run| {
                format!(
                    "{} started as run {}: {} of {} queued",
                    run.started,
                    run.run,
                    run.changed,
                    counted(run.seeds, "seed")
                )
            })
            .collect();
        Ok(said.join("; "))
    }

    async fn paused_or_resumed(&self, filled: &Filled) -> Answer<String> {
        let word = one_of(filled.get("do"), &["pause", "resume"])?;
        let (what, name) =
            (one_of(filled.get("what"), &["everything", "collection", "host", "walk"])?, filled.get("name"));
        let own = name.to_owned();
        let (target, told) = match what {
            "everything" => (Pausable::Everything {}, "everything".to_owned()),
            "collection" => (Pausable::Collection { name: own }, format!("{what} {name}")),
            "host" => (Pausable::Host { name: own }, format!("{what} {name}")),
            _ => (Pausable::Walk { name: own }, format!("{what} {name}")),
        };
        let changed = match word {
            "pause" => control::pause(&self.app, target).await?.changed,
            _ => control::resume(&self.app, target).await?.changed,
        };
        let state = if word == "pause" { "paused" } else { "resumed" };
        let already = if changed { "" } else { "; it was so already" };
        Ok(format!("{told} is {state}{already}"))
    }

    async fn moved(&self, filled: &Filled) -> Answer<String> {
        let (url, collection) = (filled.get("url").to_owned(), Some(filled.get("collection").to_owned()));
        let moved = queue::move_url(&self.app, Move { url, collection, to: "now".to_owned() }).await?;
        Ok(format!("{} is due now", moved.url))
    }

    async fn walk_resumed(&self, filled: &Filled) -> Answer<String> {
        let strategy = match one_of(filled.get("resume"), &["continue", "holes", "both"])? {
            "holes" => Strategy::Holes,
            "both" => Strategy::Both,
            _ => Strategy::Continue,
        };
        let walk = walks::resume_walk(&self.app, filled.get("name").to_owned(), AnotherRun { strategy });
        Ok(resumed(&walk.await?))
    }
}

fn resumed(walk: &WalkItem) -> String {
    let name = &walk.name;
    match walk.state {
        WalkState::Ended if walk.standing.requests == 0 => format!("{name} has nothing left to do that way"),
        _ if !walk.active => format!("{name} goes on when it is enabled"),
        _ if !walk.paused.is_empty() => format!("{name} goes on when it is no longer paused"),
        _ => format!("{name} goes on"),
    }
}

/// A field that takes one of a few words.
fn one_of<'a>(given: &str, words: &[&'a str]) -> Result<&'a str, Problem> {
    let found = words.iter().find(|word| **word == given);
    found.copied().ok_or_else(|| {
        Problem::bad_request("this form is not understood").hint(format!("one of: {}", words.join(", ")))
    })
}
