//! What forms do: all of it through the API, and then back with a notice.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Site;
use super::forms::Filled;
use declare::counted;
use server::api::walks::{WalkItem, WalkState};
use server::api::{Answer, Moved, Problem, Run, Switched, segment};

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

#[derive(Deserialize)]
struct Changed {
    changed: bool,
}

impl Site {
    async fn switched(&self, filled: &Filled) -> Answer<String> {
        let (kind, name) = (filled.get("kind"), filled.get("name"));
        let word = one_of(filled.get("do"), &["enable", "disable"])?;
        let kind = one_of(kind, &["seeds", "profiles", "collections", "walks"])?;
        let path = format!("{kind}/{}/{word}", segment(name));
        let Switched { name, active, changed } = self.post(&path, &Value::Null).await?;
        let state = if active { "enabled" } else { "disabled" };
        let already = if changed { "" } else { " already" };
        Ok(format!("{name} is {state}{already}"))
    }

    async fn started(&self, filled: &Filled) -> Answer<String> {
        let name = filled.get("name");
        let body = match one_of(filled.get("kind"), &["seeds", "profiles", "collections"])? {
            "seeds" => json!({ "seed": name }),
            "profiles" => json!({ "profiles": [name] }),
            _ => json!({ "collection": name }),
        };
        let runs: Vec<Run> = self.post("start", &body).await?;
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
        let (body, told) = match what {
            "everything" => (json!({ "what": what }), "everything".to_owned()),
            what => (json!({ "what": what, "name": name }), format!("{what} {name}")),
        };
        let Changed { changed } = self.post(word, &body).await?;
        let state = if word == "pause" { "paused" } else { "resumed" };
        let already = if changed { "" } else { "; it was so already" };
        Ok(format!("{told} is {state}{already}"))
    }

    async fn moved(&self, filled: &Filled) -> Answer<String> {
        let body = json!({ "url": filled.get("url"), "collection": filled.get("collection"), "to": "now" });
        let moved: Moved = self.post("queue/move", &body).await?;
        Ok(format!("{} is due now", moved.url))
    }

    async fn walk_resumed(&self, filled: &Filled) -> Answer<String> {
        let strategy = one_of(filled.get("resume"), &["continue", "holes", "both"])?;
        let path = format!("walks/{}/resume", segment(filled.get("name")));
        Ok(resumed(&self.post(&path, &json!({ "strategy": strategy })).await?))
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
