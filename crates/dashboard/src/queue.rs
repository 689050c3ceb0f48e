//! The URLs of a host or a collection, in the order in which they fall due.

use app::queue::{Filter, Word};
use maud::html;

use super::blacklist::by_collection;
use super::layout::{Search, Table, Visit, badge, empty, tabs};
use super::text::{or_dash, shown, time_or_dash, url};
use crate::Shown;

const STATES: [(&str, &str); 5] = [
    ("All", ""),
    ("Queued", "queued"),
    ("In flight", "in-flight"),
    ("Done", "done"),
    ("Blacklisted", "blacklisted"),
];

pub(super) async fn show(visit: Visit) -> Shown {
    let asked = |name| visit.asked(name).unwrap_or_default();
    let (host, collection, state) = (asked("host"), asked("collection"), asked("state"));
    let filter = Filter {
        host: visit.given("host"),
        collection: visit.given("collection"),
        state: visit.given("state").map(|word| Word::parse(&word)).transpose()?,
        cursor: visit.given("cursor"),
        limit: None,
    };
    let mut names = visit.site.app.frontier.collections_with_urls().await.map_err(app::Problem::from)?;
    names.sort();
    let page = app::queue::list_queue(&visit.site.app, filter).await?;
    let entries = STATES.map(|(name, value)| (name, visit.with("state", value), value == state));
    let table = Table::new("URLs", &page.items)
        .wide("URL", |item| url(&item.url))
        .column("State", |item| badge(class(item.state), item.state.as_str()))
        .column("Due", |item| time_or_dash(item.due.as_deref()))
        .column("Last fetched", |item| time_or_dash(item.last_fetch.as_deref()))
        .column("Seed", |item| or_dash(item.seed.as_deref()))
        .figures("Depth", |item| or_dash(item.depth.map(|depth| depth.to_string()).as_deref()))
        .figures("Errors", |item| item.errors.unwrap_or(0) + item.not_found.unwrap_or(0));
    let nothing = empty(
        "No URL is in this state here.",
        html! { p { a href="/hosts" { "All hosts" } " shows where URLs wait." } },
    );
    let main = html! {
        div.title { h1 { "Queue" } }
        p.lead {
            @match (host, collection) {
                ("", "") => "All URLs that are known.",
                ("", name) => { "The URLs of the collection " b { (shown(name)) } "." },
                (name, _) => { "The URLs of " b { (shown(name)) } ", those that wait first." },
            }
        }
        (Search { action: "/queue", name: "host", label: "Of a host", value: host, hint: "example.org", button: "Filter",
            kept: &[("collection", collection), ("state", state)] }.show())
        @if names.len() > 1 { (by_collection(&visit, &names)) }
        (tabs("State", entries))
        (table.or(nothing))
        (visit.pager("cursor", page.next.as_deref()))
    };
    Ok(visit.page("Queue", main))
}

pub(super) fn class(state: Word) -> &'static str {
    match state {
        Word::Queued => "calm",
        Word::InFlight => "good",
        Word::Done => "plain",
        Word::Blacklisted => "bad",
    }
}
