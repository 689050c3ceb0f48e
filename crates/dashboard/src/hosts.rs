//! The hosts that have URLs: when each can next be asked, and letting them rest.

use app::hosts::{Filter, HostItem, list_hosts};
use app::{Answer, Page};
use maud::{Markup, html};

use super::address::href;
use super::layout::{Search, Table, Visit, badge, command, empty, tabs};
use super::text::{dash, number, shown, span, time_or_dash, url};
use crate::Shown;

const ROWS: usize = 50;
/// So often is asked for one page of a filtered list.
const QUESTIONS_MAX: usize = 25;
const ROWS_ASKED: usize = 200;

pub(super) async fn show(visit: Visit) -> Shown {
    let wanted = visit.asked("q").unwrap_or_default().to_lowercase();
    let is_busy = visit.asked("busy").is_some();
    let hosts = hosts(&visit, &wanted, is_busy).await?;
    let table = Table::new("Hosts", &hosts.items)
        .name("Host", host_link)
        .column("State", state)
        .column("Next", |host| time_or_dash(host.backoff_until.as_deref().or(host.next.as_deref())))
        .wide("In flight", in_flight)
        .figures("Response", |host| span(host.response_ms))
        .figures("Failures", |host| number(host.failures.into()))
        .buttons(|host| visit.pause_button("host", &host.host, host.paused));
    let main = html! {
        div.title { h1 { "Hosts" } }
        p.lead { "Each host that has URLs, when it can next be asked, and what it is busy with." }
        (Search {
            action: "/hosts", name: "q", label: "Part of a host's name", value: visit.asked("q").unwrap_or_default(),
            hint: "example.org", button: "Filter", kept: &[("busy", if is_busy { "yes" } else { "" })],
        }.show())
        (tabs("Which hosts", [("All", visit.with("busy", ""), !is_busy), ("Busy now", visit.with("busy", "yes"), is_busy)]))
        (table.or(nothing(!wanted.is_empty() || is_busy)))
        (visit.pager("cursor", hosts.next.as_deref()))
    };
    Ok(visit.page("Hosts", main))
}

fn nothing(is_filtered: bool) -> Markup {
    match is_filtered {
        true => empty("No host is like that just now.", html! { p { a href="/hosts" { "Show all hosts" } } }),
        false => empty(
            "No host has URLs waiting.",
            html! { p { "Start what is declared on the page of " a href="/seeds" { "seeds" } ", or with " (command("skurd start")) } },
        ),
    }
}

/// At least a page of hosts whose name has this in it, if there are as many.
async fn hosts(visit: &Visit, wanted: &str, busy: bool) -> Answer<Page<HostItem>> {
    let mut cursor = visit.given("cursor");
    let mut items = Vec::new();
    let limit = Some(if wanted.is_empty() && !busy { ROWS } else { ROWS_ASKED });
    for _ in 0..QUESTIONS_MAX {
        let page = list_hosts(&visit.site.app, Filter { busy, limit, cursor: cursor.clone() }).await?;
        items.extend(page.items.into_iter().filter(|host| host.host.contains(wanted)));
        match page.next {
            Some(next) if items.len() < ROWS => cursor = Some(next),
            next => return Ok(Page { items, next }),
        }
    }
    Ok(Page { items, next: cursor })
}

fn host_link(host: &HostItem) -> Markup {
    html! {
        a href=(href("/queue", &[("host", &host.host)])) { (shown(&host.host)) }
        @if let Some(group) = &host.group { br; span.faint { "group " (shown(group)) } }
    }
}

fn state(host: &HostItem) -> Markup {
    match host {
        HostItem { paused: true, .. } => badge("warn", "paused"),
        HostItem { backoff_until: Some(_), .. } => badge("bad", "backing off"),
        host if !host.in_flight.is_empty() => badge("calm", "busy"),
        _ => badge("good", "ready"),
    }
}

fn in_flight(host: &HostItem) -> Markup {
    html! {
        @match host.in_flight.first() {
            Some(first) => { (url(first)) @if host.in_flight.len() > 1 { " +" (host.in_flight.len() - 1) } },
            None => (dash()),
        }
    }
}
