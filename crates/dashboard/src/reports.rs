//! Reports (F31–F33) with their drawings, from the same code as the API's and the commands'.

mod drawn;

use app::reports::{
    Asked, BudgetItem, ContractItem, DomainItem, DomainsBy, ErrorItem, FeasibilityItem, OverdueItem,
};
use app::reports::{budgets, contract, domains, errors, feasibility};
use app::{Answer, App};
use declare::text::{bytes_text, percent_text, rate_text};
use maud::{Markup, Render, html};

use super::address::href;
use super::layout::{Table, Visit, badge, command, empty, plot, section, tabs};
use super::text::{number, shown, span, time};
use crate::Shown;

const SPANS: [(&str, &str); 4] = [("A day", "1d"), ("A week", "7d"), ("A month", "30d"), ("A year", "365d")];
/// What a row of the traffic stands for.
const VIEWS: [(&str, &str); 3] = [("By domain", "domain"), ("By time", "time"), ("By both", "both")];
/// Rows of each table.
const ROWS: usize = 25;
/// Of what a budget keeps back.
const PLACES: usize = 5;

pub(super) async fn show(visit: Visit) -> Shown {
    let asked = visit.asked("since").unwrap_or("7d");
    let since = SPANS.iter().find(|(_, span)| *span == asked).map_or("7d", |(_, span)| span);
    let entries = SPANS.map(|(name, span)| (name, href("/reports", &[("since", span)]), span == since));
    let (back, limit) = (Some(since.to_owned()), Some(ROWS));
    let asked = contract::Asked { since: back.clone(), limit, ..contract::Asked::default() };
    let contract = contract::rows(&visit.site.app, &asked).await?;
    let view = VIEWS.iter().find(|(_, by)| Some(*by) == visit.asked("by")).map_or("domain", |(_, by)| by);
    let views = VIEWS.map(|(name, by)| {
        (name, format!("{}#domains", href("/reports", &[("since", since), ("by", by)])), by == view)
    });
    let by = DomainsBy::ALL.into_iter().find(|by| by.as_str() == view).unwrap_or_default();
    let asked = domains::Asked { since: back.clone(), by, limit, ..domains::Asked::default() };
    let domains = domains::rows(&visit.site.app, &asked).await?;
    let asked = Asked { since: back, limit, ..Asked::default() };
    let errors = errors::rows(&visit.site.app, &asked).await?;
    let asked = feasibility::Asked { limit, ..feasibility::Asked::default() };
    let load = feasibility::rows(&visit.site.app, &asked).await?;
    let budgets = budgets::report_budgets(&visit.site.app, budgets::Asked { limit }).await?;
    let (lateness, by_domain) = drawn::drawings(&visit.site.app, since).await?;
    let has_data = !domains.items.is_empty();
    let main = html! {
        div.title { h1 { "Reports" } }
        (tabs("How far back", entries))
        @if !has_data {
            (empty("Nothing was harvested in this time.", html! { p { "Look further back, or start what is declared: " (command("skurd start")) } }))
        }
        (section("contract", "Was the promised frequency kept?", html! {
            @if has_data { (drawing(&visit.site.app, "contract", since).await?) (plot("How late harvests were", lateness)) }
            (contract_table(&contract.items))
            (queue_table(&contract.queue))
            (more("contract", contract.more))
        }))
        (section("domains", "What went over the wire", html! {
            @if has_data { (drawing(&visit.site.app, "domains", since).await?) (plot("Harvests by domain", by_domain)) }
            (tabs("What a row stands for", views))
            (domain_table(&domains.items))
            (more("domains", domains.more))
        }))
        (section("errors", "What went wrong", html! {
            @if errors.items.is_empty() { p { "Nothing went wrong in this time." } }
            @else { (drawing(&visit.site.app, "errors", since).await?) (error_table(&errors.items)) (more("errors", errors.more)) }
        }))
        (section("load", "Can it all be kept?", html! {
            @if load.items.is_empty() { p { "No host has URLs that are harvested again." } }
            @else { p { (shown(&load.summary)) } (drawing(&visit.site.app, "feasibility", "").await?) (load_table(&load.items)) (more("feasibility", load.more)) }
        }))
        (section("budgets", "What is left of budgets?", html! {
            @if budgets.items.is_empty() { p { "Nothing has a budget." } }
            @else { p { (shown(&budgets.summary)) } (budget_table(&budgets.items)) (more("budgets", budgets.more)) }
        }))
    };
    Ok(visit.page("Reports", main))
}

/// A drawing of a report.
async fn drawing(app: &App, report: &str, since: &str) -> Answer<Markup> {
    let since = Some(since.to_owned());
    let svg = match report {
        "contract" => {
            contract::drawing(app, &contract::Asked { since, ..contract::Asked::default() }).await?
        }
        "domains" => domains::drawing(app, &domains::Asked { since, ..domains::Asked::default() }).await?,
        "errors" => errors::drawing(app, &Asked { since, ..Asked::default() }).await?,
        _ => feasibility::drawing(app, &feasibility::Asked::default()).await?,
    };
    Ok(plot(report, svg))
}

fn more(report: &str, more: usize) -> Markup {
    html! { @if more > 0 { p.faint { (number(more as u64)) " more rows: " (command(&format!("skurd report {report}"))) } } }
}

fn contract_table(items: &[ContractItem]) -> Markup {
    let of = |some: u64, seconds: u64| if some == 0 { "–".to_owned() } else { span(seconds * 1000) };
    let late = |item: &ContractItem, seconds: u64| of(item.on_time + item.late, seconds);
    Table::new("Promises by profile", items)
        .name("Profile", |item| shown(item.profile.as_deref().unwrap_or_default()))
        .figures("Promised", |item| number(item.promised))
        .figures("On time", |item| number(item.on_time))
        .figures("Late", |item| number(item.late))
        .figures("Missed", |item| number(item.missed))
        .figures("Overdue", |item| number(item.overdue))
        .figures("Share on time", |item| item.share_on_time.map_or("–".to_owned(), percent_text))
        .figures("Late, median", |item| late(item, item.late_p50_s))
        .figures("95 %", |item| late(item, item.late_p95_s))
        .figures("99 %", |item| late(item, item.late_p99_s))
        .figures("First harvests", |item| number(item.first))
        .figures("Waited, median", |item| of(item.first, item.wait_p50_s))
        .figures("95 %", |item| of(item.first, item.wait_p95_s))
        .render()
}

fn queue_table(items: &[OverdueItem]) -> Markup {
    let table = Table::new("Collections now", items)
        .name("Collection", |item| shown(&item.collection))
        .figures("Queued", |item| number(item.queued))
        .figures("Never harvested", |item| number(item.never_harvested))
        .figures("Overdue", |item| number(item.overdue))
        .figures("Done", |item| number(item.done))
        .figures("Blacklisted", |item| number(item.blacklisted));
    html! { @if !items.is_empty() { h3 { "Collections now" } (table) } }
}

/// Domains, times, or domains at times: what a row has of the two is said before the figures.
fn domain_table(items: &[DomainItem]) -> Markup {
    let Some(first) = items.first() else { return html! {} };
    let answers = |item: &DomainItem, first: char| {
        number(item.statuses.iter().filter(|(s, _)| s.starts_with(first)).map(|(_, n)| n).sum::<u64>())
    };
    let at = |item: &DomainItem| time(item.time.as_deref().unwrap_or_default());
    let domain = |item: &DomainItem| shown(item.domain.as_deref().unwrap_or_default());
    let table = Table::new("What went over the wire", items);
    let table = match (&first.time, &first.domain) {
        (Some(_), Some(_)) => table.column("Time", at).name("Domain", domain),
        (Some(_), None) => table.name("Time", at),
        (None, _) => table.name("Domain", domain),
    };
    table
        .figures("Requests", |item| number(item.requests))
        .figures("2xx", |item| answers(item, '2'))
        .figures("3xx", |item| answers(item, '3'))
        .figures("Not found", |item| number(item.not_found))
        .figures("Errors", |item| number(item.error_answers))
        .figures("No answer", |item| number(item.errors))
        .figures("Bytes", |item| bytes_text(item.bytes))
        .figures("Saved", |item| bytes_text(item.saved_bytes))
        .figures("New", |item| number(item.new))
        .figures("Changed", |item| number(item.changed))
        .figures("A little", |item| number(item.changed_little))
        .figures("Same", |item| number(item.unchanged))
        .figures("Median", |item| span(item.response_p50_ms))
        .figures("95 %", |item| span(item.response_p95_ms))
        .render()
}

#[allow(clippy::cast_precision_loss, reason = "a share, shown with one decimal")]
fn error_table(items: &[ErrorItem]) -> Markup {
    let share = |item: &ErrorItem| match item.requests {
        0 => "–".to_owned(),
        requests => percent_text(item.count as f64 / requests as f64),
    };
    Table::new("Errors", items)
        .column("Kind", |item| badge("bad", &item.kind))
        .column("Domain", |item| shown(&item.domain))
        .figures("Count", |item| number(item.count))
        .figures("Of its requests", share)
        .render()
}

fn budget_table(items: &[BudgetItem]) -> Markup {
    let amount = |item: &BudgetItem, amount: u64| match item.limit.as_str() {
        "max_bytes" => bytes_text(amount),
        "max_duration" => span(amount),
        _ => number(amount),
    };
    let places = |item: &BudgetItem| {
        html! { ul.list { @for place in item.places.iter().take(PLACES) {
            li { (shown(&format!("{}{}", place.host, place.path))) " " span.faint { (number(place.held + place.refused)) } }
        } } }
    };
    Table::new("Budgets", items)
        .name("Budget of", |item| shown(&format!("{} {}", item.holder, item.name)))
        .column("Limit", |item| shown(&item.limit))
        .figures("Run", |item| item.run.map_or("–".to_owned(), |run| run.to_string()))
        .figures("Used", |item| amount(item, item.used))
        .figures("Of", |item| amount(item, item.max))
        .figures("Waiting", |item| number(item.held))
        .figures("Not queued", |item| number(item.refused))
        .column("Verdict", |item| {
            badge(if item.used_up.is_some() { "warn" } else { "good" }, &item.verdict.to_lowercase())
        })
        .wide("Where", places)
        .render()
}

fn load_table(items: &[FeasibilityItem]) -> Markup {
    let class = |item: &FeasibilityItem| match item.verdict.as_str() {
        "fits" => "good",
        "tight" => "warn",
        _ => "bad",
    };
    Table::new("Load of hosts", items)
        .name("Host", |item| shown(&item.unit))
        .figures("URLs", |item| number(item.urls))
        .figures("Wanted a day", |item| rate_text(item.wanted_per_day))
        .figures("Possible a day", |item| rate_text(item.possible_per_day))
        .figures("Load", |item| percent_text(item.load.unwrap_or(f64::INFINITY)))
        .figures("Delay", |item| span(item.delay_ms))
        .column("Verdict", |item| badge(class(item), &item.verdict.to_lowercase()))
        .render()
}
