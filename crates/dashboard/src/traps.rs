//! What seems to be a trap, and the two ways out of it.

use app::traps::{Exclude, Filter, Release, TrapItem, exclude_trap, list_traps, release_trap};
use app::{Answer, App, Page};
use declare::counted;
use maud::{Markup, html};

use super::address::href;
use super::forms::{Face, Filled};
use super::layout::{Table, Visit, badge, command, empty, section, tabs};
use super::text::{count, number, shown, time, url};
use crate::Shown;

const ROWS: usize = 50;
/// Suspicions told on the overview.
const TOLD_MAX: usize = 5;

pub(super) async fn show(visit: Visit) -> Shown {
    let all = visit.asked("all").is_some();
    let (host, cursor) = (visit.given("host"), visit.given("cursor"));
    let traps = list_traps(&visit.site.app, Filter { host, all, cursor, limit: Some(ROWS) }).await?;
    let main = html! {
        div.title { h1 { "Traps" } }
        p.lead {
            "Hosts that bring ever more URLs and nothing new: calendars without end, paths that grow, session ids, filters in every order, the same page under many URLs. A profile with "
            code { "traps: hold" } " keeps them in the queue until somebody decides."
        }
        (tabs("Which suspicions", [("Open", visit.with("all", ""), !all), ("All", visit.with("all", "yes"), all)]))
        (table(&visit, &traps).or(empty("Nothing seems to be a trap.", html! {})))
        @for trap in &traps.items { (examples(trap)) }
        (visit.pager("cursor", traps.next.as_deref()))
        p.faint { "Where a collection has several profiles, the line goes to one of them with " (command("skurd traps exclude ID --profile NAME")) }
    };
    Ok(visit.page("Traps", main))
}

fn table<'a>(visit: &'a Visit, traps: &'a Page<TrapItem>) -> Table<'a, TrapItem> {
    Table::new("Traps", &traps.items)
        .name("Host", |trap| html! { a href=(href("/queue", &[("host", &trap.host)])) { (shown(&trap.host)) } br; span.faint { (shown(&trap.collection)) } })
        .column("Kind", |trap| html! { (badge("warn", &trap.kind)) br; (shown(&trap.template)) })
        .figures("Score", |trap| number(trap.score.into()))
        .figures("URLs", |trap| number(trap.figures.found.into()))
        .figures("Held", |trap| count(trap.held))
        .wide("What ends it", |trap| html! { code { (shown(&trap.line)) } br; span.faint { (shown(&trap.says)) } })
        .column("Since", |trap| time(&trap.since))
        .buttons(|trap| ways_out(visit, trap))
}

fn ways_out(visit: &Visit, trap: &TrapItem) -> Markup {
    let fields = |what| [("do", what), ("id", trap.id.as_str()), ("collection", trap.collection.as_str())];
    let name = format!("{} of {}", trap.template, trap.host);
    html! {
        @if trap.state == "open" {
            (visit.button("/act/trap", &fields("exclude"), &Face::plain("Exclude", &name)))
            (visit.button("/act/trap", &fields("release"), &Face::plain("Release", &name)))
        } @else { (badge("calm", &trap.state)) }
    }
}

fn examples(trap: &TrapItem) -> Markup {
    let list = html! { ul.list { @for example in &trap.examples { li { (url(example)) } } } };
    section(&format!("trap-{}", trap.id), &format!("Examples: {} on {}", trap.kind, trap.host), list)
}

/// What the overview says of them; nothing where there are none.
pub(super) async fn on_overview(app: &App) -> Answer<Markup> {
    let traps = list_traps(app, Filter { limit: Some(TOLD_MAX), ..Filter::default() }).await?;
    let list = html! {
        ul.list {
            @for trap in &traps.items {
                li { (badge("warn", &trap.kind)) " " (shown(&trap.host)) " " (shown(&trap.template)) }
            }
        }
        p { a href="/traps" { @if traps.next.is_some() { "All of them" } @else { "Examples, and what ends it" } } }
    };
    Ok(if traps.items.is_empty() {
        html! {}
    } else {
        section("traps", "Suspected traps", list)
    })
}

pub(super) async fn decide(app: &App, filled: &Filled) -> Answer<String> {
    let (id, collection) = (filled.get("id").to_owned(), Some(filled.get("collection").to_owned()));
    let is_exclusion = super::act::one_of(filled.get("do"), &[("exclude", true), ("release", false)])?;
    let decided = match is_exclusion {
        true => exclude_trap(app, Exclude { id, collection, profile: None }).await?,
        false => release_trap(app, Release { id, collection }).await?,
    };
    let what = decided.declared.map_or("released".to_owned(), |declared| format!("ended by {declared}"));
    Ok(format!("{} is {what}; {} due now", decided.host, counted(decided.back, "held URL")))
}
