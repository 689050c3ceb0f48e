//! The link explorer: the most linked-to pages and domains, who links to a page and with which
//! words, and what was never captured.

mod page;

use app::index::ranks::{By, List, Top, domain_pages, get_domain, missing_pages, top_domains, top_pages};
use app::index::{ACROSS, IndexDomain, IndexItem, IndexPage, One, get_index, list_indexes};
use app::{Answer, Page, Paging, Problem};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
pub(super) use page::page;

use super::address::href;
use super::layout::{Search, Table, Visit, badge, command, empty, tabs};
use super::text::{brief, number, shown, way_out};
use crate::Shown;

const ROWS: usize = 50;
/// Indexes to choose from; the address of the page can name any.
const INDEXES_SHOWN: usize = 50;
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

pub(super) async fn top(visit: Visit) -> Shown {
    let Some(index) = chosen(&visit).await? else { return Ok(no_index(&visit)) };
    let name = name_of(&index);
    let view = visit.asked("view").unwrap_or_default();
    let lead = VIEWS.iter().find(|(_, own, _)| *own == view).map_or(VIEWS[0].2, |(_, _, lead)| lead);
    let entries =
        VIEWS.map(|(label, own, _)| (label, href("/links", &[("index", name), ("view", own)]), own == view));
    let (rows, next) = ranked(&visit, &index, view).await?;
    let main = html! {
        (head(&visit, &index).await?)
        (Search { action: "/links/page", name: "url", label: "A page: who links to it?", value: "", hint: "https://example.org/page",
            button: "Look up", kept: &[("index", name)] }.show())
        (tabs("Order", entries))
        p { (lead) }
        (rows)
        (visit.pager("cursor", next.as_deref()))
    };
    Ok(visit.page("Links", main))
}

pub(super) async fn domain(visit: Visit) -> Shown {
    let Some(index) = chosen(&visit).await? else { return Ok(no_index(&visit)) };
    let name = name_of(&index);
    let all = href("/links", &[("index", name), ("view", "domains")]);
    let Some(asked) = visit.asked("name") else {
        return Err(Problem::bad_request("no domain is named")
            .hint(format!("{all} lists those there are"))
            .into());
    };
    let known = found(get_domain(&visit.site.app, asked.to_owned(), which(&index)).await)?;
    let pages = match &known {
        Some(_) => {
            domain_pages(&visit.site.app, asked.to_owned(), listed(&index, visit.given("cursor"))).await?
        }
        None => Page { items: Vec::new(), next: None },
    };
    let nothing = empty("No page of this domain is known.", html! { p { a href=(all) { "All domains" } } });
    let (title, count) = known.as_ref().map_or((asked, 0), |known| (known.domain.as_str(), known.pagecount));
    let main = html! {
        p.crumbs { a href=(href("/links", &[("index", name)])) { "Links" } " / " a href=(all) { "Domains" } }
        div.title { h1 { (shown(title)) } span.faint { (number(count)) " pages known" } }
        (pages_table(name, &pages.items).or(nothing))
        (visit.pager("cursor", pages.next.as_deref()))
    };
    Ok(visit.page(title, main))
}

fn pages_table<'a>(index: &'a str, pages: &'a [IndexPage]) -> Table<'a, IndexPage> {
    Table::new("Pages", pages)
        .wide("Page", |item| page_link(index, &item.url))
        .figures("Inlinks", |item| number(item.incount))
        .figures("Score", |item| number(item.score))
        .column("Captured here", |item| if item.loaded { badge("good", "yes") } else { badge("warn", "no") })
}

fn domains_table<'a>(index: &'a str, domains: &'a [IndexDomain]) -> Table<'a, IndexDomain> {
    let path = |item: &IndexDomain| href("/links/domain", &[("index", index), ("name", &item.domain)]);
    Table::new("Domains", domains)
        .name("Domain", move |item| html! { a href=(path(item)) { (shown(&item.domain)) } })
        .figures("Pages known", |item| number(item.pagecount))
}

/// A page of the index, leading to its own.
fn page_link(index: &str, url: &str) -> Markup {
    html! { a href=(href("/links/page", &[("index", index), ("url", url)])) { (brief(url)) } (way_out(url)) }
}

/// An index in the address of a page.
fn name_of(index: &IndexItem) -> &str {
    index.collection.as_deref().unwrap_or(ACROSS)
}

/// The same in a question.
fn which(index: &IndexItem) -> One {
    One { all: index.collection.is_none(), collection: index.collection.clone() }
}

/// A page of its rows.
fn listed(index: &IndexItem, cursor: Option<String>) -> List {
    let One { collection, all } = which(index);
    List { collection, all, cursor, limit: Some(ROWS) }
}

/// What may not be there.
fn found<T>(answer: Answer<T>) -> Answer<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(problem) if problem.status() == StatusCode::NOT_FOUND => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// The index that is asked for; else that of all collections, or the one with the most captured
/// pages.
async fn chosen(visit: &Visit) -> Answer<Option<IndexItem>> {
    match visit.asked("index") {
        Some(name) => {
            let collection = Some(name.to_owned()).filter(|name| name != ACROSS);
            found(get_index(&visit.site.app, One { all: collection.is_none(), collection }).await)
        }
        None => {
            let all = indexes(visit).await?.into_iter();
            Ok(all.max_by_key(|index| (index.collection.is_none(), index.loaded)))
        }
    }
}

async fn indexes(visit: &Visit) -> Answer<Vec<IndexItem>> {
    let paging = Paging { cursor: None, limit: Some(INDEXES_SHOWN) };
    Ok(list_indexes(&visit.site.app, paging).await?.items)
}

/// The rows of a view, and where they go on.
async fn ranked(visit: &Visit, index: &IndexItem, view: &str) -> Answer<(Markup, Option<String>)> {
    let (name, list) = (name_of(index), listed(index, visit.given("cursor")));
    let nothing = empty(
        "Nothing is known here yet.",
        html! {
            p { "Pages come in as they are harvested, or from files: " (command("skurd index load FILE")) }
        },
    );
    let Page { items, next } = match view {
        "domains" => {
            let Page { items, next } = top_domains(&visit.site.app, list).await?;
            return Ok((domains_table(name, &items).or(nothing), next));
        }
        "missing" => missing_pages(&visit.site.app, list).await?,
        view => {
            let by = if view == "incount" { By::Incount } else { By::Score };
            let List { collection, all, cursor, limit } = list;
            top_pages(&visit.site.app, Top { by, collection, all, cursor, limit }).await?
        }
    };
    Ok((pages_table(name, &items).or(nothing), next))
}

fn no_index(visit: &Visit) -> Response {
    let main = html! {
        div.title { h1 { "Links" } }
        @if let Some(name) = visit.asked("index") { p.lead { "Of the collection " b { (shown(name)) } "." } }
        (empty("There is no link index here yet.", html! {
            p { "Pages come in as they are harvested, where a collection says " code { "index: yes" } "." }
            p { "Or from files: " (command("skurd index load FILE")) }
            p { a href="/collections" { "Collections" } @if visit.asked("index").is_some() { ", or " a href="/links" { "all links" } } }
        }))
    };
    visit.page("Links", main)
}

async fn head(visit: &Visit, index: &IndexItem) -> Answer<Markup> {
    let all = indexes(visit).await?;
    let view = visit.asked("view").unwrap_or_default();
    let entries = all.iter().map(|own| {
        let label = own.collection.as_deref().unwrap_or("All collections");
        let place = href("/links", &[("index", name_of(own)), ("view", view)]);
        (label, place, own.collection == index.collection)
    });
    Ok(html! {
        div.title { h1 { "Links" } }
        p.lead {
            (number(index.links)) " links between " (number(index.uris)) " pages of " (number(index.domains))
            " domains; " (number(index.loaded)) " of the pages were captured."
        }
        @if all.len() > 1 { (tabs("Collection", entries)) }
    })
}
