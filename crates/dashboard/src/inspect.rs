//! Why a URL is, or is not, harvested: every rule that decides, and what was archived of it.

use app::captures::seen::{SeenPage, last_seen};
use app::captures::{Filter, list_captures};
use app::why::{Asked, WhyHost, WhyItem};
use app::{Answer, Kind, Problem};
use maud::{Markup, html};

use super::address::href;
use super::declared::{link, link_or_dash};
use super::forms::Face;
use super::layout::{Search, Visit, badge, command, empty, facts, section};
use super::text::{or_dash, shown, span, time, time_or_dash, url, way_out};
use super::{captures, seen};
use crate::Shown;

const CAPTURES_SHOWN: usize = 20;

pub(super) async fn show(visit: Visit) -> Shown {
    let asked = visit.asked("url").unwrap_or_default();
    let found = if asked.is_empty() { None } else { Some(told(&visit, asked).await) };
    let main = html! {
        div.title { h1 { "Why is a URL harvested, or not?" } }
        p.lead { "Every rule that decides about a URL, in each collection, from what is stored." }
        (Search { action: "/inspect", name: "url", label: "A URL", value: asked,
            hint: "https://example.org/page", button: "Why?", kept: &[] }.show())
        @match found {
            None => (empty("Ask for any URL, whether it was harvested or not.",
                html! { p { "The same on the command line: " (command("skurd why URL")) } })),
            Some(Ok(found)) => (found),
            Some(Err(problem)) => p.notice.bad role="alert" {
                (shown(&problem.detail)) @if let Some(hint) = &problem.hint { ". " (shown(hint)) }
            },
        }
    };
    Ok(visit.page("Why", main))
}

async fn told(visit: &Visit, asked: &str) -> Result<Markup, Problem> {
    let items = app::why::why(&visit.site.app, Asked { url: asked.to_owned(), collection: None }).await?;
    let url = Some(asked.to_owned());
    let filter = Filter { url, limit: Some(CAPTURES_SHOWN), ..Filter::default() };
    let archived = list_captures(&visit.site.app, filter).await?;
    let mut seen = Vec::new();
    for item in &items {
        seen.push(match item.rendering {
            Some(_) => last_seen(&visit.site.app, &item.collection, &item.url).await,
            None => Ok(None),
        });
    }
    let items: Vec<_> = items.into_iter().zip(seen).collect();
    let address = items.first().map_or(asked, |(item, _)| item.url.as_str());
    Ok(html! {
        h2.address { (shown(address)) (way_out(address)) }
        p { a href=(href("/links/page", &[("url", address)])) { "Who links to it" } }
        @for (item, page) in &items { (card(visit, item, page)) }
        (section("captures", "Captures", html! {
            @if archived.items.is_empty() {
                (empty("Nothing was archived of this URL.", html! {
                    p { "What decided is above; " a href="/captures" { "all captures" } " lists what was." }
                }))
            } @else {
                (captures::table_of(visit, &archived.items, false))
                @if archived.next.is_some() { p { a href=(href("/captures", &[("url", address)])) { "All its captures" } } }
            }
        }))
    })
}

fn card(visit: &Visit, item: &WhyItem, page: &Answer<Option<SeenPage>>) -> Markup {
    let class = match item.situation.as_str() {
        "queued" => "calm",
        "in-flight" | "done" => "good",
        "blacklisted" => "bad",
        _ => "plain",
    };
    let fields = [("url", item.url.as_str()), ("collection", item.collection.as_str())];
    let face = Face { label: "Harvest now", class: "plain", says: None };
    html! {
        section.card aria-label=(format!("In the collection {}", item.collection)) {
            div.title {
                h2 { "In " (link(Kind::Collection, &item.collection)) }
                (badge(class, &item.situation))
                @if item.situation == "queued" { div.actions { (visit.button("/act/move", &fields, &face)) } }
            }
            @if !item.paused.is_empty() { p.notice.bad { "Paused just now: " (shown(&item.paused.join(", "))) } }
            @if let Some(verdict) = &item.verdict { p.verdict { span.rule { (shown(&verdict.rule)) } " " (shown(&verdict.text)) } }
            @if let (None, Some(entry)) = (&item.verdict, &item.blacklist) {
                p.verdict { "Blacklisted since " (time(&entry.since)) ": " (shown(&entry.reason))
                    @if let Some(until) = &entry.until { ", until " (time(until)) } }
            }
            @if let Some(problem) = &item.problem { p { "The last fetch: " (shown(problem)) } }
            @if let Some(last) = &item.rendering { (seen::show(last, page)) }
            (steps(item))
            (record(item))
            (host(&item.host))
            @if let Some(way) = &item.way { p { "Asked " (shown(way)) } }
        }
    }
}

fn steps(item: &WhyItem) -> Markup {
    html! {
        @if !item.steps.is_empty() {
            h3 { "What was looked at" }
            ol.steps { @for step in &item.steps { li { span.rule { (shown(&step.rule)) } " " (shown(&step.finding)) } } }
        }
    }
}

fn record(item: &WhyItem) -> Markup {
    let figure = |value: Option<u32>| or_dash(value.map(|value| value.to_string()).as_deref());
    let seed = |name: &Option<String>| link_or_dash(Kind::Seed, name.as_deref());
    let is_best = item.best_seed == item.seed;
    if item.seed.is_none() {
        let said = match item.situation.as_str() {
            "done" => "Only that it is done is remembered of it.",
            _ => "Nothing is stored of it in this collection.",
        };
        return html! { h3 { "Its record" } p { (said) } };
    }
    html! {
        h3 { "Its record" }
        (facts(&[
            ("Seed", seed(&item.seed)),
            ("Most specific seed", if is_best { html! { "the same" } } else { seed(&item.best_seed) }),
            ("Due", time_or_dash(item.due.as_deref())),
            ("Last fetched", time_or_dash(item.last_fetch.as_deref())),
            ("Depth", figure(item.depth)),
            ("Hops off the domain", figure(item.hops)),
            ("Cycles", figure(item.cycles)),
            ("Errors in a row", figure(item.errors)),
            ("Not found in a row", figure(item.not_found)),
        ]))
    }
}

fn host(host: &WhyHost) -> Markup {
    let busy = host.in_flight.iter().chain(&host.group_in_flight);
    html! {
        h3 { "Its host" }
        @if host.idle {
            p { (shown(&host.host)) " has no URLs waiting." }
        } @else {
            (facts(&[
                ("Host", html! { a href=(href("/queue", &[("host", &host.host)])) { (shown(&host.host)) } }),
                ("Group", or_dash(host.group.as_deref())),
                ("Can be asked", time_or_dash(host.backoff_until.as_deref().or(host.next.as_deref()))),
                ("Response time", html! { (span(host.response_ms)) }),
                ("Failures in a row", html! { (host.failures) }),
            ]))
            @if busy.clone().next().is_some() { p { "Busy with" } ul.list { @for address in busy { li { (url(address)) } } } }
        }
    }
}
