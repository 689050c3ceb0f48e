//! The URLs of a host or a collection, in the order in which they fall due.

use app::queue::{Filter, QueueItem, Word};
use axum::extract::State;
use maud::{Markup, html};

use super::Site;
use super::layout::{Frame, Section, Visit, badge, columns, empty, pager, table, tabs};
use super::text::{or_dash, shown, time_or_dash, url};
use crate::Shown;

const STATES: [(&str, &str); 5] = [
    ("All", ""),
    ("Queued", "queued"),
    ("In flight", "in-flight"),
    ("Done", "done"),
    ("Blacklisted", "blacklisted"),
];

pub(super) async fn show(State(site): State<Site>, visit: Visit) -> Shown {
    let asked = |name| visit.asked(name).unwrap_or_default();
    let (host, collection, state) = (asked("host"), asked("collection"), asked("state"));
    let filter = Filter {
        host: visit.given("host"),
        collection: visit.given("collection"),
        state: visit.given("state").map(|word| Word::parse(&word)).transpose()?,
        cursor: visit.given("cursor"),
        limit: None,
    };
    let page = app::queue::list_queue(&site.app, filter).await?;
    let entries: Vec<(&str, String, bool)> =
        STATES.iter().map(|(name, value)| (*name, visit.with("state", value), *value == state)).collect();
    let main = html! {
        div.title { h1 { "Queue" } }
        p.lead {
            @match (host, collection) {
                ("", "") => "All URLs that are known.",
                ("", name) => { "The URLs of the collection " b { (shown(name)) } "." },
                (name, _) => { "The URLs of " b { (shown(name)) } ", those that wait first." },
            }
        }
        (tabs("State", &entries))
        @if page.items.is_empty() {
            (empty("No URL is in this state here.", html! { p { a href="/hosts" { "All hosts" } " shows where URLs wait." } }))
        } @else {
            (table("URLs", columns(&["URL", "State", "Due", "Last fetched", "Seed", "#Depth", "#Errors"]), html! {
                @for item in &page.items { (row(item)) }
            }))
        }
        (pager(&visit, "cursor", page.next.as_deref()))
    };
    Ok(site.page(&Frame { title: "Queue", section: Section::Hosts, visit: &visit }, main))
}

fn row(item: &QueueItem) -> Markup {
    let class = match item.state.as_str() {
        "queued" => "calm",
        "in-flight" => "good",
        "blacklisted" => "bad",
        _ => "plain",
    };
    let errors = item.errors.unwrap_or(0) + item.not_found.unwrap_or(0);
    html! {
        tr {
            td.wide { (url(&item.url)) }
            td { (badge(class, item.state.as_str())) }
            td { (time_or_dash(item.due.as_deref())) }
            td { (time_or_dash(item.last_fetch.as_deref())) }
            td { (or_dash(item.seed.as_deref())) }
            td.num { (or_dash(item.depth.map(|depth| depth.to_string()).as_deref())) }
            td.num { (errors) }
        }
    }
}
