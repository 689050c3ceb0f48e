//! Linear walks (spec 3): all of them with how far they are, and each with the map of its ids.

mod map;
mod one;

use app::Paging;
use app::walks::{WalkItem, WalkState};
use harvest::walk::{Stopped, WalkCounts};
use maud::{Markup, html};
pub(super) use one::one;
use server::client::segment;

use super::layout::{Table, Visit, badge, command, empty};
use super::spark::parts;
use super::text::{number, or_dash, shown};
use crate::Shown;

const ROWS: usize = 50;

pub(super) async fn list(visit: Visit) -> Shown {
    let paging = Paging { cursor: visit.given("cursor"), limit: Some(ROWS) };
    let page = app::walks::list_walks(&visit.site.app, paging).await?;
    let table = Table::new("Walks", &page.items)
        .name("Walk", about)
        .column("State", state)
        .styled(false, Some("share"), "Found and missing", share)
        .figures("Found", |walk| number(walk.standing.counts.content))
        .figures("Missing", |walk| number(walk.standing.counts.holes))
        .figures("Left", left)
        .column("Heads", heads);
    let nothing = empty(
        "No walk is declared.",
        html! {
            p { "Begin one: " (command("skurd linear 'https://example.org/item/{id}' --from 1 --margin 20")) }
            p { "Or declare it under " code { "walks:" } " in a file: " (command("skurd config apply FILE")) }
        },
    );
    let main = html! {
        div.title { h1 { "Walks" } }
        p.lead { "The ids of a URL template, one after the other: what was found, what was missing, and where each head stands." }
        (table.or(nothing))
        (visit.pager("cursor", page.next.as_deref()))
    };
    Ok(visit.page("Walks", main))
}

fn about(walk: &WalkItem) -> Markup {
    html! { a href=(path(&walk.name)) { (shown(&walk.name)) } br; span.faint { (shown(&walk.standing.template)) } }
}

fn share(walk: &WalkItem) -> Markup {
    let WalkCounts { content, holes, remaining, .. } = walk.standing.counts;
    parts(
        "Found, missing, left",
        &[("good", content), ("bad", holes), ("grey", remaining.unwrap_or_default())],
    )
}

fn left(walk: &WalkItem) -> Markup {
    or_dash(walk.standing.counts.remaining.map(number).as_deref())
}

pub(super) fn path(name: &str) -> String {
    format!("/walks/{}", segment(name))
}

fn state(walk: &WalkItem) -> Markup {
    match walk {
        WalkItem { active: false, .. } => badge("warn", "disabled"),
        walk if !walk.paused.is_empty() => badge("warn", "paused"),
        WalkItem { state: WalkState::Ended, .. } => badge("plain", "ended"),
        WalkItem { state: WalkState::Open, .. } => badge("good", "walking"),
        WalkItem { state: WalkState::NotBegun, .. } => badge("plain", "not begun"),
    }
}

fn heads(walk: &WalkItem) -> Markup {
    let has_ended = walk.state == WalkState::Ended;
    html! {
        @for (place, head) in walk.standing.heads.iter().enumerate() {
            @if place > 0 { br; }
            (head.leg.as_str()) " "
            b { (or_dash(head.at.map(number).as_deref())) }
            @match head.stopped {
                Stopped::Bound => " at its bound",
                Stopped::Margin => " at its margin",
                Stopped::Interrupted if has_ended => " was interrupted",
                Stopped::Interrupted => { @if head.misses > 0 { ", " (number(head.misses)) " missed in a row" } },
            }
        }
    }
}
