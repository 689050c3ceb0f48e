//! What is left alone: URLs one by one, and patterns (F39).

use app::blacklist::{self, Addition, Bar, BlacklistItem, Filter, Lift, LiftPattern, PatternItem};
use app::{Answer, App, Kind};
use maud::{Markup, html};

use super::act::one_of;
use super::declared::{link, link_or_dash};
use super::forms::{Face, Filled};
use super::layout::{Table, Visit, empty, section, tabs};
use super::text::{shown, time, time_or_dash, url};
use crate::Shown;

const ROWS: usize = 50;

pub(super) async fn show(visit: Visit) -> Shown {
    let app = &visit.site.app;
    let is_patterns = visit.asked("patterns").is_some();
    let filter =
        Filter { collection: visit.given("collection"), cursor: visit.given("cursor"), limit: Some(ROWS) };
    let collections = collections(app).await?;
    let (table, next) = match is_patterns {
        true => {
            let page = blacklist::list_patterns(app, filter).await?;
            (patterns(&visit, &page.items), page.next)
        }
        false => {
            let page = blacklist::list_blacklist(app, filter).await?;
            (urls(&visit, &page.items), page.next)
        }
    };
    let views = [
        ("URLs", visit.with("patterns", ""), !is_patterns),
        ("Patterns", visit.with("patterns", "yes"), is_patterns),
    ];
    let main = html! {
        div.title { h1 { "Blacklist" } }
        p.lead { "URLs that are left alone: because robots.txt denies them, since they failed too often, or by somebody's word. They come back when that ends or is lifted." }
        (tabs("What is listed", views))
        @if collections.len() > 1 { (by_collection(&visit, &collections)) }
        (table)
        (visit.pager("cursor", next.as_deref()))
        (section("bar", "Leave something alone", adding(&visit, &collections)))
    };
    Ok(visit.page("Blacklist", main))
}

async fn collections(app: &App) -> Answer<Vec<String>> {
    let mut names = app
        .look(|catalog| Kind::Collection.names(catalog).into_iter().map(str::to_owned).collect::<Vec<_>>())
        .await?;
    names.sort();
    Ok(names)
}

/// Links to the same page for one collection each.
pub(super) fn by_collection(visit: &Visit, names: &[String]) -> Markup {
    let asked = visit.asked("collection").unwrap_or_default();
    let all = ("All collections", visit.with("collection", ""), asked.is_empty());
    let each = names.iter().map(|name| (name.as_str(), visit.with("collection", name), name == asked));
    tabs("Collection", [all].into_iter().chain(each))
}

fn urls(visit: &Visit, items: &[BlacklistItem]) -> Markup {
    Table::new("Blacklisted URLs", items)
        .wide("URL", |item| url(&item.url))
        .column("Why", |item| shown(&item.reason))
        .column("Since", |item| time(&item.since))
        .column("Until", |item| time_or_dash(item.until.as_deref()))
        .column("Collection", |item| link(Kind::Collection, &item.collection))
        .buttons(|item| {
            let fields = [("url", item.url.as_str()), ("collection", item.collection.as_str())];
            visit.button("/act/lift", &fields, &Face::plain("Lift", &item.url))
        })
        .or(empty("No URL is blacklisted here.", html! {}))
}

fn patterns(visit: &Visit, items: &[PatternItem]) -> Markup {
    Table::new("Patterns", items)
        .wide("Pattern", |item| shown(&item.pattern))
        .column("Why", |item| shown(&item.reason))
        .column("Since", |item| time(&item.since))
        .column("Until", |item| time_or_dash(item.until.as_deref()))
        .column("Collection", |item| link_or_dash(Kind::Collection, item.collection.as_deref()))
        .buttons(|item| {
            let collection = item.collection.as_deref().unwrap_or_default();
            let fields = [("pattern", item.pattern.as_str()), ("collection", collection)];
            visit.button("/act/lift", &fields, &Face::plain("Lift", &item.pattern))
        })
        .or(empty("No pattern is on the blacklist.", html! {}))
}

fn adding(visit: &Visit, collections: &[String]) -> Markup {
    html! {
        form.sheet method="post" action="/act/bar" {
            (visit.hidden())
            div.field {
                label for="f-kind" { "What" }
                select #f-kind name="kind" {
                    option value="url" { "This URL" }
                    option value="host" { "A host, like example.org or *.example.org" }
                    option value="prefix" { "Addresses that begin with" }
                    option value="regex" { "Addresses with this regular expression in them" }
                }
                label for="f-what" { "Which" }
                input #f-what type="text" name="what" required autocomplete="off" spellcheck="false" maxlength="4000";
                label for="f-reason" { "Why" }
                input #f-reason type="text" name="reason" required autocomplete="off" maxlength="400" placeholder="endless calendar";
                label for="f-for" { "For how long" }
                input #f-for type="text" name="for" autocomplete="off" placeholder="7d; until it is lifted, if left empty";
                @if collections.len() > 1 {
                    label for="f-collection" { "In" }
                    select #f-collection name="collection" {
                        option value="" { "All collections" }
                        @for name in collections { option value=(name) { (name) } }
                    }
                }
            }
            div.actions { button type="submit" { "Leave it alone" } }
        }
    }
}

pub(super) async fn bar(app: &App, filled: &Filled) -> Answer<String> {
    let words = ["url", "host", "prefix", "regex"].map(|word| (word, word));
    let kind = one_of(filled.get("kind"), &words)?;
    let given = |name| Some(filled.get(name).trim().to_owned()).filter(|text| !text.is_empty());
    let (what, reason) = (filled.get("what").trim().to_owned(), filled.get("reason").to_owned());
    let (collection, span) = (given("collection"), given("for"));
    if kind == "url" {
        let addition = Addition { url: what, collection, reason, span, until: None };
        let added = blacklist::add_to_blacklist(app, addition).await?;
        return Ok(format!("{} is left alone in {}", added.url, added.collections.join(", ")));
    }
    let patterns = vec![format!("{kind}:{what}")];
    let added = blacklist::add_patterns(app, Bar { patterns, collection, reason, span, until: None }).await?;
    let added: Vec<String> = added.into_iter().map(|item| item.pattern).collect();
    Ok(format!("{} is left alone", added.join(", ")))
}

pub(super) async fn lift(app: &App, filled: &Filled) -> Answer<String> {
    let collection = Some(filled.get("collection").to_owned()).filter(|name| !name.is_empty());
    match filled.get("pattern") {
        "" => {
            let lifted = blacklist::lift(app, Lift { url: filled.get("url").to_owned(), collection }).await?;
            Ok(format!("{} is due now", lifted.url))
        }
        pattern => {
            let wanted = LiftPattern { pattern: pattern.to_owned(), collection };
            let lifted = blacklist::lift_pattern(app, wanted).await?;
            Ok(format!("{} is lifted; {} are due now", lifted.pattern, declare::counted(lifted.urls, "URL")))
        }
    }
}
