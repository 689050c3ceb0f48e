//! One page of the index: who links to it with which words, and to whom it links.

use axum::extract::State;
use axum::response::Response;
use index::{Inlink, Link, Listing, PageFacts, Seen};
use maud::{Markup, html};

use super::super::Site;
use super::super::ask::href;
use super::super::layout::{Frame, Section, Visit, badge, columns, empty, facts, pager, table};
use super::super::text::{number, or_dash, shown, time, way_out};
use super::source::{domain_name, listing, uri_of};
use super::{ROWS, page_link};
use crate::api::Answer;

pub(in super::super) async fn page(State(site): State<Site>, visit: Visit) -> Answer<Response> {
    let Some((name, index)) = site.index(&visit).await? else { return site.no_index(&visit).await };
    let uri = uri_of(visit.asked("url").unwrap_or_default())?;
    let address = uri.to_url();
    let known = listing(index.page(&uri).await)?;
    let inlinks = listing(index.inlinks(&uri, Seen::default(), visit.asked("in"), ROWS).await)?;
    let outlinks = listing(index.outlinks(&uri, visit.asked("out"), ROWS).await)?;
    let domain = domain_name(uri.domain());
    let main = html! {
        p.crumbs {
            a href=(href("/links", &[("index", &name)])) { "Links" } " / "
            a href=(href("/links/domain", &[("index", &name), ("name", &domain)])) { (shown(&domain)) }
        }
        div.title { h1.address { (shown(&address)) (way_out(&address)) } }
        p { a href=(href("/inspect", &[("url", &address)])) { "Why it is harvested, or not, and its captures" } }
        (summary(known.as_ref()))
        (linked_from(&visit, &name, &inlinks))
        (links_to(&visit, &name, &outlinks))
    };
    Ok(site.page(&Frame { title: "Links of a page", section: Section::Links, visit: &visit }, main))
}

fn summary(known: Option<&PageFacts>) -> Markup {
    let Some(known) = known else {
        return empty(
            "The index knows nothing of this page: it was not captured, and no page links to it.",
            html! { p { a href="/links" { "The most linked-to pages" } } },
        );
    };
    let moment = |at: Option<policy::time::Time>| match at {
        Some(at) => time(&at.to_string()),
        None => or_dash(None),
    };
    facts(&[
        ("Inlinks", html! { (number(known.incount)) }),
        ("Score", html! { (number(known.score)) }),
        ("Captured", if known.loaded { badge("good", "yes") } else { badge("warn", "never") }),
        ("Outlinks", or_dash(known.outlinks.map(number).as_deref())),
        ("First captured", moment(known.first_seen)),
        ("Last captured", moment(known.last_seen)),
    ])
}

fn linked_from(visit: &Visit, index: &str, inlinks: &Listing<Inlink>) -> Markup {
    html! {
        section aria-labelledby="inlinks" {
            h2 #inlinks { "Who links to it" }
            @if inlinks.items.is_empty() {
                (empty("No page that was captured links to it.", html! { p { a href=(href("/links", &[("index", index)])) { "The most linked-to pages" } } }))
            } @else {
                (table("Inlinks", columns(&["From", "Anchor text", "First seen", "Last seen"]), html! {
                    @for link in &inlinks.items {
                        tr {
                            td.wide { (page_link(index, &link.source.to_url())) }
                            td.wide { (anchor(&link.anchor)) }
                            td { (time(&link.first_seen.to_string())) }
                            td { (time(&link.last_seen.to_string())) }
                        }
                    }
                }))
            }
            (pager(visit, "in", inlinks.next.as_deref()))
        }
    }
}

fn links_to(visit: &Visit, index: &str, outlinks: &Listing<Link>) -> Markup {
    html! {
        section aria-labelledby="outlinks" {
            h2 #outlinks { "To whom it links" }
            @if outlinks.items.is_empty() {
                (empty("No links of this page are known.", html! { p { "Links are known of pages that were captured." } }))
            } @else {
                (table("Outlinks", columns(&["To", "Anchor text"]), html! {
                    @for link in &outlinks.items { tr { td.wide { (page_link(index, &link.target.to_url())) } td.wide { (anchor(&link.anchor)) } } }
                }))
            }
            (pager(visit, "out", outlinks.next.as_deref()))
        }
    }
}

fn anchor(text: &str) -> Markup {
    if text.is_empty() {
        html! { span.faint { "no text" } }
    } else {
        html! { (shown(text)) }
    }
}
