//! What the search box leads to.

use app::find::{Found, find};
use maud::html;

use super::address::href;
use super::captures;
use super::declared::link;
use super::layout::{Table, Visit, badge, empty, section};
use super::queue::class;
use super::text::{or_dash, shown, time_or_dash, url};
use super::walks;
use crate::Shown;

pub(super) async fn show(visit: Visit) -> Shown {
    let asked = visit.asked("q").unwrap_or_default();
    let found = find(&visit.site.app, asked).await?;
    let Found { url: address, urls, hosts, declared, walks, captures } = &found;
    let known = Table::new("Known URLs", urls)
        .wide("URL", |item| url(&item.url))
        .column("State", |item| badge(class(item.state), item.state.as_str()))
        .column("Due", |item| time_or_dash(item.due.as_deref()))
        .column("Seed", |item| or_dash(item.seed.as_deref()))
        .column("Collection", |item| shown(&item.collection));
    let main = html! {
        div.title { h1 { @if asked.is_empty() { "Search" } @else { "Found for " (shown(asked)) } } }
        @if asked.is_empty() {
            p.lead { "A URL or the beginning of one, a host, the name of a seed, a profile, a collection or a walk. The key / leads to the search box from anywhere." }
        } @else {
            @if let Some(address) = address {
                p { a href=(href("/inspect", &[("url", address)])) { "Why is " (shown(address)) " harvested, or not?" } }
            }
            @if found.is_empty() {
                (empty("Nothing here has that in its name.", html! { p { "Known URLs and captures are found by the beginning of their address." } }))
            }
            @if !declared.is_empty() || !walks.is_empty() {
                (section("declared", "Declared", html! {
                    ul.list {
                        @for (kind, name) in declared { li { (kind) " " (link(*kind, name)) } }
                        @for name in walks { li { "walk " a href=(walks::path(name)) { (shown(name)) } } }
                    }
                }))
            }
            @if !hosts.is_empty() {
                (section("hosts", "Hosts", html! {
                    ul.list { @for host in hosts { li { a href=(href("/queue", &[("host", host)])) { (shown(host)) } } } }
                }))
            }
            @if !urls.is_empty() { (section("urls", "Known URLs", html! { (known) })) }
            @if !captures.is_empty() {
                (section("captures", "Captures", html! {
                    (captures::table_of(&visit, captures, true))
                    @if let Some(address) = address { p { a href=(href("/captures", &[("prefix", address)])) { "All captures that begin so" } } }
                }))
            }
        }
    };
    Ok(visit.page("Search", main))
}
