//! One page of the index: who links to it with which words, and to whom it links.

use app::captures::{CaptureItem, Filter, list_captures};
use app::index::links::{Inlinks, OnePage, Outlinks, get_page, list_inlinks, list_outlinks};
use app::index::{IndexInlink, IndexItem, IndexOutlink, One, PageFacts};
use app::{Answer, Page, Problem};
use maud::{Markup, html};
use url::Url;

use super::super::address::href;
use super::super::layout::{Table, Visit, badge, empty, facts, section};
use super::super::text::{number, or_dash, shown, time, time_or_dash, way_out};
use super::{ROWS, chosen, found, name_of, no_index, page_link, which};
use crate::Shown;

pub(in super::super) async fn page(visit: Visit) -> Shown {
    let Some(index) = chosen(&visit).await? else { return Ok(no_index(&visit)) };
    let Some(asked) = visit.asked("url") else {
        return Err(Problem::bad_request("no page is named").hint("/links has a field for it").into());
    };
    let address = if asked.contains("://") { asked.to_owned() } else { format!("http://{asked}") };
    let One { collection, all } = which(&index);
    let asked = OnePage { url: address.clone(), collection, all };
    let main = match found(get_page(&visit.site.app, asked).await)? {
        Some(facts) => known(&visit, &index, &facts).await?,
        None => unknown(name_of(&index), &address),
    };
    Ok(visit.page("Links of a page", main))
}

async fn known(visit: &Visit, index: &IndexItem, known: &PageFacts) -> Answer<Markup> {
    let (url, One { collection, all }, limit) = (known.url.clone(), which(index), Some(ROWS));
    let (since, until, cursor) = (None, None, visit.given("in"));
    let asked =
        Inlinks { url: url.clone(), since, until, collection: collection.clone(), all, cursor, limit };
    let inlinks = list_inlinks(&visit.site.app, asked).await?;
    let asked = Outlinks { url: url.clone(), collection, all, cursor: visit.given("out"), limit };
    let outlinks = list_outlinks(&visit.site.app, asked).await?;
    let name = name_of(index);
    // What this index does not have may be captured in a collection of another.
    let elsewhere = match known.loaded {
        true => None,
        false => {
            let filter = Filter { url: Some(url), limit: Some(1), ..Filter::default() };
            list_captures(&visit.site.app, filter).await?.items.into_iter().next()
        }
    };
    Ok(html! {
        (head(name, &known.domain, &known.url))
        (summary(known, elsewhere.as_ref()))
        (linked_from(visit, name, &inlinks))
        (links_to(visit, name, &outlinks))
    })
}

fn head(index: &str, domain: &str, address: &str) -> Markup {
    html! {
        p.crumbs {
            a href=(href("/links", &[("index", index)])) { "Links" }
            @if !domain.is_empty() {
                " / " a href=(href("/links/domain", &[("index", index), ("name", domain)])) { (shown(domain)) }
            }
        }
        div.title { h1.address { (shown(address)) (way_out(address)) } }
        p { a href=(href("/inspect", &[("url", address)])) { "Why it is harvested, or not, and its captures" } }
    }
}

fn unknown(index: &str, address: &str) -> Markup {
    let host = Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    html! {
        (head(index, &host, address))
        (empty(
            "The index knows nothing of this page: it was not captured, and no page links to it.",
            most_linked(index),
        ))
    }
}

fn summary(known: &PageFacts, elsewhere: Option<&CaptureItem>) -> Markup {
    let captured = match (known.loaded, elsewhere) {
        (true, _) => badge("good", "yes"),
        (false, Some(capture)) => {
            html! { (badge("calm", "not here")) " in " a href=(href("/captures", &[("url", &known.url)])) { (shown(&capture.collection)) } }
        }
        (false, None) => badge("warn", "never"),
    };
    facts(&[
        ("Inlinks", html! { (number(known.incount)) }),
        ("Score", html! { (number(known.score)) }),
        ("Captured", captured),
        ("Outlinks", or_dash(known.outlinks.map(number).as_deref())),
        ("First captured", time_or_dash(known.first_seen.as_deref())),
        ("Last captured", time_or_dash(known.last_seen.as_deref())),
    ])
}

fn linked_from(visit: &Visit, index: &str, inlinks: &Page<IndexInlink>) -> Markup {
    let table = Table::new("Inlinks", &inlinks.items)
        .wide("From", |link| page_link(index, &link.url))
        .wide("Anchor text", |link| anchor(&link.anchor))
        .column("First seen", |link| time(&link.first_seen))
        .column("Last seen", |link| time(&link.last_seen));
    let inside = html! {
        (table.or(empty("No page that was captured links to it.", most_linked(index))))
        (visit.pager("in", inlinks.next.as_deref()))
    };
    section("inlinks", "Who links to it", inside)
}

fn links_to(visit: &Visit, index: &str, outlinks: &Page<IndexOutlink>) -> Markup {
    let table = Table::new("Outlinks", &outlinks.items)
        .wide("To", |link| page_link(index, &link.url))
        .wide("Anchor text", |link| anchor(&link.anchor));
    let next = html! { p { "Links are known of pages that were captured." } };
    let inside = html! {
        (table.or(empty("No links of this page are known.", next)))
        (visit.pager("out", outlinks.next.as_deref()))
    };
    section("outlinks", "To whom it links", inside)
}

fn most_linked(index: &str) -> Markup {
    html! { p { a href=(href("/links", &[("index", index)])) { "The most linked-to pages" } } }
}

fn anchor(text: &str) -> Markup {
    if text.is_empty() {
        html! { span.faint { "no text" } }
    } else {
        shown(text)
    }
}
