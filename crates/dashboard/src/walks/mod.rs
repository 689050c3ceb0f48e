//! Linear walks (spec 3): all of them with how far they are, and each with the map of its ids.

mod map;
mod one;

use app::Paging;
use app::walks::{WalkItem, WalkState};
use axum::extract::State;
use harvest::walk::Stopped;
use maud::{Markup, html};
pub(super) use one::one;
use server::client::segment;

use super::Site;
use super::layout::{Frame, Section, Visit, badge, columns, command, empty, pager, table};
use super::spark::parts;
use super::text::{number, or_dash, shown};
use crate::Shown;

const ROWS: usize = 50;

pub(super) async fn list(State(site): State<Site>, visit: Visit) -> Shown {
    let paging = Paging { cursor: visit.given("cursor"), limit: Some(ROWS) };
    let page = app::walks::list_walks(&site.app, paging).await?;
    let main = html! {
        div.title { h1 { "Walks" } }
        p.lead { "The ids of a URL template, one after the other: what was found, what was missing, and where each head stands." }
        @if page.items.is_empty() && page.next.is_none() {
            (empty("No walk is declared.", html! {
                p { "Begin one: " (command("skurd linear 'https://example.org/item/{id}' --from 1 --margin 20")) }
                p { "Or declare it under " code { "walks:" } " in a file: " (command("skurd config apply FILE")) }
            }))
        } @else {
            (table("Walks", columns(&["Walk", "State", "Found and missing", "#Found", "#Missing", "#Left", "Heads"]), html! {
                @for walk in &page.items { (row(walk)) }
            }))
        }
        (pager(&visit, "cursor", page.next.as_deref()))
    };
    Ok(site.page(&Frame { title: "Walks", section: Section::Walks, visit: &visit }, main))
}

fn row(walk: &WalkItem) -> Markup {
    let counts = &walk.standing.counts;
    let whole =
        [("good", counts.content), ("bad", counts.holes), ("grey", counts.remaining.unwrap_or_default())];
    html! {
        tr {
            th scope="row" { a href=(path(&walk.name)) { (shown(&walk.name)) } br; span.faint { (shown(&walk.standing.template)) } }
            td { (state(walk)) }
            td.share { (parts("Found, missing, left", &whole)) }
            td.num { (number(counts.content)) }
            td.num { (number(counts.holes)) }
            td.num { (or_dash(counts.remaining.map(number).as_deref())) }
            td { (heads(walk)) }
        }
    }
}

fn path(name: &str) -> String {
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
