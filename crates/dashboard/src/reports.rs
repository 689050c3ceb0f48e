//! Reports (F31–F33) with their drawings, from the same code as the API's and the commands'.

mod drawn;

use app::Answer;
use app::reports::{Asked, ContractItem, DomainItem, DomainsBy, ErrorItem, FeasibilityItem, OverdueItem};
use app::reports::{contract, domains, errors, feasibility};
use axum::extract::State;
use declare::text::{bytes_text, percent_text, rate_text};
use maud::{Markup, PreEscaped, html};

use super::Site;
use super::address::href;
use super::layout::{Frame, Section, Visit, badge, columns, command, empty, table, tabs};
use super::text::{number, shown, span, time};
use crate::Shown;

const SPANS: [(&str, &str); 4] = [("A day", "1d"), ("A week", "7d"), ("A month", "30d"), ("A year", "365d")];
const CONTRACT_COLUMNS: [&str; 13] = [
    "Profile",
    "#Promised",
    "#On time",
    "#Late",
    "#Missed",
    "#Overdue",
    "#Share on time",
    "#Late, median",
    "#95 %",
    "#99 %",
    "#First harvests",
    "#Waited, median",
    "#95 %",
];
const DOMAIN_COLUMNS: [&str; 12] = [
    "#Requests",
    "#2xx",
    "#3xx",
    "#Not found",
    "#Errors",
    "#No answer",
    "#Bytes",
    "#New",
    "#Changed",
    "#Same",
    "#Median",
    "#95 %",
];
/// What a row of the traffic stands for.
const VIEWS: [(&str, &str); 3] = [("By domain", "domain"), ("By time", "time"), ("By both", "both")];
/// Rows of each table.
const ROWS: usize = 25;

pub(super) async fn show(State(site): State<Site>, visit: Visit) -> Shown {
    let asked = visit.asked("since").unwrap_or("7d");
    let since = SPANS.iter().find(|(_, span)| *span == asked).map_or("7d", |(_, span)| span);
    let entries: Vec<(&str, String, bool)> = SPANS
        .iter()
        .map(|(name, span)| (*name, href("/reports", &[("since", span)]), *span == since))
        .collect();
    let (back, limit) = (Some(since.to_owned()), Some(ROWS));
    let asked = contract::Asked { since: back.clone(), limit, ..contract::Asked::default() };
    let contract = contract::rows(&site.app, &asked).await?;
    let view = VIEWS.iter().find(|(_, by)| Some(*by) == visit.asked("by")).map_or("domain", |(_, by)| by);
    let views: Vec<(&str, String, bool)> = VIEWS
        .iter()
        .map(|(name, by)| {
            (*name, format!("{}#domains", href("/reports", &[("since", since), ("by", by)])), *by == view)
        })
        .collect();
    let by = DomainsBy::ALL.into_iter().find(|by| by.as_str() == view).unwrap_or_default();
    let asked = domains::Asked { since: back.clone(), by, limit, ..domains::Asked::default() };
    let domains = domains::rows(&site.app, &asked).await?;
    let asked = Asked { since: back, limit, ..Asked::default() };
    let errors = errors::rows(&site.app, &asked).await?;
    let asked = feasibility::Asked { limit, ..feasibility::Asked::default() };
    let load = feasibility::rows(&site.app, &asked).await?;
    let own = drawn::drawings(&site.app, since).await?;
    let has_data = !domains.items.is_empty();
    let main = html! {
        div.title { h1 { "Reports" } }
        (tabs("How far back", &entries))
        @if !has_data {
            (empty("Nothing was harvested in this time.", html! { p { "Look further back, or start what is declared: " (command("skurd start")) } }))
        }
        section aria-labelledby="contract" {
            h2 #contract { "Was the promised frequency kept?" }
            @if has_data { (site.drawing("contract", since).await?) (plot("How late harvests were", &own.lateness)) }
            (contract_table(&contract.items))
            (queue_table(&contract.queue))
            (more("contract", contract.more))
        }
        section aria-labelledby="domains" {
            h2 #domains { "What went over the wire" }
            @if has_data { (site.drawing("domains", since).await?) (plot("Harvests by domain", &own.domains)) }
            (tabs("What a row stands for", &views))
            (domain_table("What went over the wire", &domains.items))
            (more("domains", domains.more))
        }
        section aria-labelledby="errors" {
            h2 #errors { "What went wrong" }
            @if errors.items.is_empty() { p { "Nothing went wrong in this time." } }
            @else { (site.drawing("errors", since).await?) (error_table(&errors.items)) (more("errors", errors.more)) }
        }
        section aria-labelledby="load" {
            h2 #load { "Can it all be kept?" }
            @if load.items.is_empty() { p { "No host has URLs that are harvested again." } }
            @else { p { (shown(&load.summary)) } (site.drawing("feasibility", "").await?) (load_table(&load.items)) (more("feasibility", load.more)) }
        }
    };
    Ok(site.page(&Frame { title: "Reports", section: Section::Reports, visit: &visit }, main))
}

impl Site {
    /// A drawing of a report.
    async fn drawing(&self, report: &str, since: &str) -> Answer<Markup> {
        let (app, since) = (&self.app, Some(since.to_owned()));
        let svg = match report {
            "contract" => {
                contract::drawing(app, &contract::Asked { since, ..contract::Asked::default() }).await?
            }
            "domains" => {
                domains::drawing(app, &domains::Asked { since, ..domains::Asked::default() }).await?
            }
            "errors" => errors::drawing(app, &Asked { since, ..Asked::default() }).await?,
            _ => feasibility::drawing(app, &feasibility::Asked::default()).await?,
        };
        Ok(plot(report, &svg))
    }
}

/// In its own box, which scrolls on narrow screens. The style sheet gives it the colours of the
/// page.
fn plot(label: &str, svg: &str) -> Markup {
    html! { div.plot tabindex="0" role="region" aria-label=(label) { (PreEscaped(svg)) } }
}

fn more(report: &str, more: usize) -> Markup {
    html! { @if more > 0 { p.faint { (number(more as u64)) " more rows: " (command(&format!("skurd report {report}"))) } } }
}

fn contract_table(items: &[ContractItem]) -> Markup {
    let of = |some: u64, seconds: u64| if some == 0 { "–".to_owned() } else { span(seconds * 1000) };
    table(
        "Promises by profile",
        columns(&CONTRACT_COLUMNS),
        html! {
            @for item in items {
                tr {
                    th scope="row" { (shown(item.profile.as_deref().unwrap_or_default())) }
                    @for count in [item.promised, item.on_time, item.late, item.missed, item.overdue] { td.num { (number(count)) } }
                    td.num { (item.share_on_time.map_or("–".to_owned(), percent_text)) }
                    @for seconds in [item.late_p50_s, item.late_p95_s, item.late_p99_s] { td.num { (of(item.on_time + item.late, seconds)) } }
                    td.num { (number(item.first)) }
                    @for seconds in [item.wait_p50_s, item.wait_p95_s] { td.num { (of(item.first, seconds)) } }
                }
            }
        },
    )
}

fn queue_table(items: &[OverdueItem]) -> Markup {
    html! {
        @if !items.is_empty() {
            h3 { "Collections now" }
            (table("Collections now", columns(&["Collection", "#Queued", "#Never harvested", "#Overdue", "#Done", "#Blacklisted"]), html! {
                @for item in items {
                    tr {
                        th scope="row" { (shown(&item.collection)) }
                        @for count in [item.queued, item.never_harvested, item.overdue, item.done, item.blacklisted] { td.num { (number(count)) } }
                    }
                }
            }))
        }
    }
}

/// Domains, times, or domains at times: what a row has of the two is said before the figures.
fn domain_table(caption: &str, items: &[DomainItem]) -> Markup {
    let first = items.first();
    let has_time = first.is_some_and(|item| item.time.is_some());
    let has_domain = first.is_some_and(|item| item.domain.is_some());
    let names = has_time.then_some("Time").into_iter().chain(has_domain.then_some("Domain"));
    let names: Vec<&str> = names.chain(DOMAIN_COLUMNS).collect();
    let class = |item: &DomainItem, first: char| {
        item.statuses.iter().filter(|(s, _)| s.starts_with(first)).map(|(_, n)| n).sum::<u64>()
    };
    html! {
        @if !items.is_empty() {
            (table(caption, columns(&names), html! {
                @for item in items {
                    tr {
                        @if let Some(at) = &item.time { @if has_domain { td { (time(at)) } } @else { th scope="row" { (time(at)) } } }
                        @if let Some(domain) = &item.domain { th scope="row" { (shown(domain)) } }
                        td.num { (number(item.requests)) }
                        @for first in ['2', '3'] { td.num { (number(class(item, first))) } }
                        td.num { (number(item.not_found)) } td.num { (number(item.error_answers)) }
                        td.num { (number(item.errors)) } td.num { (bytes_text(item.bytes)) }
                        td.num { (number(item.new)) } td.num { (number(item.changed)) } td.num { (number(item.unchanged)) }
                        td.num { (span(item.response_p50_ms)) } td.num { (span(item.response_p95_ms)) }
                    }
                }
            }))
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a share, shown with one decimal")]
fn error_table(items: &[ErrorItem]) -> Markup {
    table(
        "Errors",
        columns(&["Kind", "Domain", "#Count", "#Of its requests"]),
        html! {
            @for item in items {
                tr {
                    td { (badge("bad", &item.kind)) } td { (shown(&item.domain)) } td.num { (number(item.count)) }
                    td.num { @if item.requests == 0 { "–" } @else { (percent_text(item.count as f64 / item.requests as f64)) } }
                }
            }
        },
    )
}

fn load_table(items: &[FeasibilityItem]) -> Markup {
    let class = |item: &FeasibilityItem| match item.verdict.as_str() {
        "fits" => "good",
        "tight" => "warn",
        _ => "bad",
    };
    table(
        "Load of hosts",
        columns(&["Host", "#URLs", "#Wanted a day", "#Possible a day", "#Load", "#Delay", "Verdict"]),
        html! {
            @for item in items {
                tr {
                    th scope="row" { (shown(&item.unit)) }
                    td.num { (number(item.urls)) } td.num { (rate_text(item.wanted_per_day)) } td.num { (rate_text(item.possible_per_day)) }
                    td.num { (percent_text(item.load.unwrap_or(f64::INFINITY))) } td.num { (span(item.delay_ms)) }
                    td { (badge(class(item), &item.verdict.to_lowercase())) }
                }
            }
        },
    )
}
