//! The link explorer: the most linked-to pages and domains, who links to a page and with which words, and what was never captured.

mod page;
mod source;

use axum::extract::State;
use axum::response::Response;
use index::{By, Index, Listing, RankedDomain, RankedPage, Totals};
use maud::{Markup, html};

pub(super) use page::page;

use super::Site;
use super::ask::href;
use super::layout::{Frame, Search, Section, Visit, badge, columns, command, empty, pager, table, tabs};
use super::text::{brief, number, shown, way_out};
use crate::api::Answer;
use source::{domain_name, domain_of, label, listing};

const ROWS: usize = 50;
const VIEWS: [(&str, &str, &str); 4] = [
    (
        "By score",
        "",
        "Pages by score: how many pages link to them, and one more for those that were captured.",
    ),
    ("By inlinks", "incount", "Pages by how many pages link to them."),
    ("Domains", "domains", "Domains by how many of their pages are known."),
    (
        "Never captured",
        "missing",
        "The most linked-to pages that were never captured: what the archive misses.",
    ),
];

pub(super) async fn top(State(site): State<Site>, visit: Visit) -> Answer<Response> {
    let Some((name, index)) = site.index(&visit).await? else { return site.no_index(&visit).await };
    let view = visit.asked("view").unwrap_or_default();
    let lead = VIEWS.iter().find(|(_, own, _)| *own == view).map_or(VIEWS[0].2, |(_, _, lead)| lead);
    let entries: Vec<(&str, String, bool)> = VIEWS
        .iter()
        .map(|(label, own, _)| (*label, href("/links", &[("index", &name), ("view", own)]), *own == view))
        .collect();
    let (rows, next) = ranked(&index, &name, view, visit.asked("cursor")).await?;
    let main = html! {
        (site.head(&visit, &name, &listing(index.totals().await)?).await?)
        (Search { action: "/links/page", name: "url", label: "A page: who links to it?", value: "", hint: "https://example.org/page",
            button: "Look up", kept: &[("index", &name)] }.show())
        (tabs("Order", &entries))
        p { (lead) }
        @match rows {
            Some(rows) => (rows),
            None => (empty("Nothing is known here yet.", html! {
                p { "Pages come in as they are harvested, or from files: " (command("skurd index load FILE")) }
            })),
        }
        (pager(&visit, "cursor", next.as_deref()))
    };
    Ok(site.page(&Frame { title: "Links", section: Section::Links, visit: &visit }, main))
}

/// The rows of a view, if there are any, and where they go on.
async fn ranked(
    index: &Index,
    name: &str,
    view: &str,
    cursor: Option<&str>,
) -> Answer<(Option<Markup>, Option<String>)> {
    if view == "domains" {
        let Listing { items, next } = listing(index.top_domains(cursor, ROWS).await)?;
        return Ok(((!items.is_empty()).then(|| domains_table(name, &items)), next));
    }
    let found = match view {
        "incount" => index.top(By::Incount, cursor, ROWS).await,
        "missing" => index.missing(cursor, ROWS).await,
        _ => index.top(By::Score, cursor, ROWS).await,
    };
    let Listing { items, next } = listing(found)?;
    Ok(((!items.is_empty()).then(|| pages_table(name, &items)), next))
}

fn pages_table(index: &str, items: &[RankedPage]) -> Markup {
    table(
        "Pages",
        columns(&["Page", "#Inlinks", "#Score", "Captured"]),
        html! {
            @for item in items {
                tr {
                    td.wide { (page_link(index, &item.uri.to_url())) }
                    td.num { (number(item.incount)) }
                    td.num { (number(item.score)) }
                    td { @if item.loaded { (badge("good", "yes")) } @else { (badge("warn", "never")) } }
                }
            }
        },
    )
}

fn domains_table(index: &str, items: &[RankedDomain]) -> Markup {
    table(
        "Domains",
        columns(&["Domain", "#Pages known"]),
        html! {
            @for item in items {
                @let name = domain_name(&item.domain);
                tr {
                    th scope="row" { a href=(href("/links/domain", &[("index", index), ("name", &name)])) { (shown(&name)) } }
                    td.num { (number(item.pagecount)) }
                }
            }
        },
    )
}

/// A page of the index, leading to its own.
fn page_link(index: &str, url: &str) -> Markup {
    html! { a href=(href("/links/page", &[("index", index), ("url", url)])) { (brief(url)) } (way_out(url)) }
}

pub(super) async fn domain(State(site): State<Site>, visit: Visit) -> Answer<Response> {
    let Some((name, index)) = site.index(&visit).await? else { return site.no_index(&visit).await };
    let asked = visit.asked("name").unwrap_or_default();
    let domain = domain_of(asked)?;
    let known = listing(index.domain(&domain).await)?;
    let all = href("/links", &[("index", &name), ("view", "domains")]);
    let Listing { items, next } = listing(index.domain_pages(&domain, visit.asked("cursor"), ROWS).await)?;
    let main = html! {
        p.crumbs { a href=(href("/links", &[("index", &name)])) { "Links" } " / " a href=(all) { "Domains" } }
        div.title { h1 { (shown(asked)) } span.faint { (number(known)) " pages known" } }
        @if items.is_empty() {
            (empty("No page of this domain is known.", html! { p { a href=(all) { "All domains" } } }))
        } @else {
            (pages_table(&name, &items))
        }
        (pager(&visit, "cursor", next.as_deref()))
    };
    Ok(site.page(&Frame { title: asked, section: Section::Links, visit: &visit }, main))
}

impl Site {
    /// The index that is asked for, or the first there is.
    async fn index(&self, visit: &Visit) -> Answer<Option<(String, Index)>> {
        source::open(&self.app, visit.asked("index")).await
    }

    async fn no_index(&self, visit: &Visit) -> Answer<Response> {
        let main = html! {
            div.title { h1 { "Links" } }
            (empty("There is no link index here yet.", html! {
                p { "Pages come in as they are harvested, where a collection says " code { "index: yes" } "." }
                p { "Or from files: " (command("skurd index load FILE")) }
                p { a href="/collections" { "Collections" } }
            }))
        };
        Ok(self.page(&Frame { title: "Links", section: Section::Links, visit }, main))
    }

    async fn head(&self, visit: &Visit, name: &str, totals: &Totals) -> Answer<Markup> {
        let names = source::names(&self.app).await?;
        let entries: Vec<(&str, String, bool)> = names
            .iter()
            .map(|own| {
                (
                    label(own),
                    href("/links", &[("index", own), ("view", visit.asked("view").unwrap_or_default())]),
                    own == name,
                )
            })
            .collect();
        Ok(html! {
            div.title { h1 { "Links" } }
            p.lead {
                (number(totals.links)) " links between " (number(totals.uris)) " pages of " (number(totals.domains))
                " domains; " (number(totals.loaded)) " of the pages were captured."
            }
            @if names.len() > 1 { (tabs("Collection", &entries)) }
        })
    }
}
