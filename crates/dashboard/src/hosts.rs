//! The hosts that have URLs: when each can next be asked, and letting them rest.

use app::hosts::{Filter, HostItem, list_hosts};
use app::{Answer, Page};
use axum::extract::State;
use maud::{Markup, html};

use super::Site;
use super::address::href;
use super::forms::Face;
use super::layout::{Frame, Search, Section, Visit, badge, columns, command, empty, pager, table, tabs};
use super::text::{number, or_dash, shown, span, time_or_dash, url};
use crate::Shown;

const ROWS: usize = 50;
/// So often is asked for one page of a filtered list.
const QUESTIONS_MAX: usize = 25;
const ROWS_ASKED: usize = 200;

pub(super) async fn show(State(site): State<Site>, visit: Visit) -> Shown {
    let wanted = visit.asked("q").unwrap_or_default().to_lowercase();
    let is_busy = visit.asked("busy").is_some();
    let hosts = site.hosts(&visit, &wanted, is_busy).await?;
    let main = html! {
        div.title { h1 { "Hosts" } }
        p.lead { "Each host that has URLs, when it can next be asked, and what it is busy with." }
        (Search {
            action: "/hosts", name: "q", label: "Part of a host's name", value: visit.asked("q").unwrap_or_default(),
            hint: "example.org", button: "Filter", kept: &[("busy", if is_busy { "yes" } else { "" })],
        }.show())
        (tabs("Which hosts", &[("All", visit.with("busy", ""), !is_busy), ("Busy now", visit.with("busy", "yes"), is_busy)]))
        @if hosts.items.is_empty() {
            (nothing(!wanted.is_empty() || is_busy))
        } @else {
            (table("Hosts", columns(&["Host", "State", "Next", "In flight", "#Response", "#Failures", ""]), html! {
                @for host in &hosts.items { (site.host_row(&visit, host)) }
            }))
        }
        (pager(&visit, "cursor", hosts.next.as_deref()))
    };
    Ok(site.page(&Frame { title: "Hosts", section: Section::Hosts, visit: &visit }, main))
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

impl Site {
    /// At least a page of hosts whose name has this in it, if there are as many.
    async fn hosts(&self, visit: &Visit, wanted: &str, busy: bool) -> Answer<Page<HostItem>> {
        let mut cursor = visit.given("cursor");
        let mut items = Vec::new();
        let limit = Some(if wanted.is_empty() && !busy { ROWS } else { ROWS_ASKED });
        for _ in 0..QUESTIONS_MAX {
            let page = list_hosts(&self.app, Filter { busy, limit, cursor: cursor.clone() }).await?;
            items.extend(page.items.into_iter().filter(|host| host.host.contains(wanted)));
            match page.next {
                Some(next) if items.len() < ROWS => cursor = Some(next),
                next => return Ok(Page { items, next }),
            }
        }
        Ok(Page { items, next: cursor })
    }

    fn host_row(&self, visit: &Visit, host: &HostItem) -> Markup {
        let (class, word) = match host {
            HostItem { paused: true, .. } => ("warn", "paused"),
            HostItem { backoff_until: Some(_), .. } => ("bad", "backing off"),
            host if !host.in_flight.is_empty() => ("calm", "busy"),
            _ => ("good", "ready"),
        };
        let (action, label) = if host.paused { ("resume", "Resume") } else { ("pause", "Pause") };
        let face = Face { label, class: "plain", says: Some(format!("{label} {}", host.host)) };
        let fields = [("do", action), ("what", "host"), ("name", host.host.as_str())];
        html! {
            tr {
                th scope="row" {
                    a href=(href("/queue", &[("host", &host.host)])) { (shown(&host.host)) }
                    @if let Some(group) = &host.group { br; span.faint { "group " (shown(group)) } }
                }
                td { (badge(class, word)) }
                td { (time_or_dash(host.backoff_until.as_deref().or(host.next.as_deref()))) }
                td.wide { @match host.in_flight.first() {
                    Some(first) => { (url(first)) @if host.in_flight.len() > 1 { " +" (host.in_flight.len() - 1) } },
                    None => (or_dash(None)),
                } }
                td.num { (span(host.response_ms)) }
                td.num { (number(host.failures.into())) }
                td.do { (self.button(visit, "/act/pause", &fields, &face)) }
            }
        }
    }
}
