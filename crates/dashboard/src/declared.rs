//! Seeds, profiles and collections: lists with a search, a switch and a start button each.

use std::collections::BTreeSet;

use app::Kind;
use axum::extract::State;
use maud::{Markup, html};
use policy::catalog::Catalog;
use serde_json::Value;
use server::client::segment;

use super::Site;
use super::address::href;
use super::forms::Face;
use super::layout::{Frame, Search, Section, Visit, badge, columns, command, empty, pager, table};
use super::text::{dash, number, or_dash, shown, url};
use crate::Shown;

const ROWS: usize = 50;

pub(super) async fn seeds(State(site): State<Site>, visit: Visit) -> Shown {
    site.list(Kind::Seed, &visit).await
}

pub(super) async fn profiles(State(site): State<Site>, visit: Visit) -> Shown {
    site.list(Kind::Profile, &visit).await
}

pub(super) async fn collections(State(site): State<Site>, visit: Visit) -> Shown {
    site.list(Kind::Collection, &visit).await
}

/// What a list of a kind says of itself.
pub(super) struct About {
    pub(super) title: &'static str,
    pub(super) section: Section,
    lead: &'static str,
    columns: &'static [&'static str],
    add: &'static str,
}

pub(super) fn about(kind: Kind) -> About {
    match kind {
        Kind::Seed | Kind::Group => About {
            title: "Seeds",
            section: Section::Seeds,
            lead: "Where harvesting begins, and by which profiles.",
            columns: &["Seed", "URL", "Profiles", "State", ""],
            add: "skurd seed add https://example.org/ --profile NAME",
        },
        Kind::Profile => About {
            title: "Profiles",
            section: Section::Profiles,
            lead: "How often, how far and on whose terms.",
            columns: &["Profile", "Collection", "#Every", "Within", "#Seeds", "State", ""],
            add: "skurd profile add NAME --collection NAME --every 1d",
        },
        Kind::Collection => About {
            title: "Collections",
            section: Section::Collections,
            lead: "What is archived together.",
            columns: &["Collection", "#Profiles", "Files begin with", "State", ""],
            add: "skurd collection add NAME",
        },
    }
}

/// Which of a kind are wanted.
struct Wanted<'a> {
    text: String,
    /// Seeds of this profile, profiles of this collection.
    of: Option<&'a str>,
    after: Option<&'a str>,
}

/// A thing with what it says, and how many belong to it.
struct Row {
    name: String,
    says: Value,
    members: usize,
}

impl Site {
    async fn list(&self, kind: Kind, visit: &Visit) -> Shown {
        let of = match kind {
            Kind::Seed => visit.asked("profile"),
            Kind::Profile => visit.asked("collection"),
            Kind::Collection | Kind::Group => None,
        };
        let text = visit.asked("q").unwrap_or_default();
        let wanted = Wanted { text: text.to_lowercase(), of, after: visit.asked("after") };
        let (rows, next, all) = self.app.look(|catalog| found(catalog, kind, &wanted)).await?;
        let about = about(kind);
        let path = format!("/{}", kind.path());
        let kept = if kind == Kind::Seed { "profile" } else { "collection" };
        let main = html! {
            div.title { h1 { (about.title) } @if all > 0 { span.faint { (number(all as u64)) } } }
            p.lead { (about.lead) @if let Some(of) = of { " Only those of " b { (shown(of)) } ", " a href=(path) { "not all" } "." } }
            @if all > 0 {
                (Search { action: &path, name: "q", label: "Part of a name or address", value: text, hint: "", button: "Search",
                    kept: &[(kept, of.unwrap_or_default())] }.show())
            }
            @if rows.is_empty() {
                (nothing(kind, &about, all > 0))
            } @else {
                (table(about.title, columns(about.columns), html! { @for row in &rows { (self.row(kind, visit, row)) } }))
            }
            (pager(visit, "after", next.as_deref()))
        };
        Ok(self.page(&Frame { title: about.title, section: about.section, visit }, main))
    }

    fn row(&self, kind: Kind, visit: &Visit, row: &Row) -> Markup {
        let text = |key: &str| row.says[key].as_str();
        let name = html! { th scope="row" { a href=(path_of(kind, &row.name)) { (shown(&row.name)) } } };
        let active = row.says["active"].as_bool().unwrap_or(true);
        html! {
            tr {
                (name)
                @match kind {
                    Kind::Seed | Kind::Group => {
                        td.wide { (url(text("url").unwrap_or_default())) }
                        td { (names(Kind::Profile, &row.says["profiles"])) }
                    },
                    Kind::Profile => {
                        td { @match text("collection") { Some(name) => a href=(path_of(Kind::Collection, name)) { (shown(name)) }, None => (dash()) } }
                        td.num { (or_dash(text("every"))) }
                        td { (or_dash(row.says["scope"]["within"].as_str())) }
                        td.num { a href=(href("/seeds", &[("profile", &row.name)])) { (number(row.members as u64)) } }
                    },
                    Kind::Collection => {
                        td.num { a href=(href("/profiles", &[("collection", &row.name)])) { (number(row.members as u64)) } }
                        td { (or_dash(text("warc_prefix"))) }
                    },
                }
                td { (state(active)) }
                td.do { (self.switches(kind, visit, &row.name, active)) }
            }
        }
    }

    /// The buttons of a thing: on or off, and start.
    pub(super) fn switches(&self, kind: Kind, visit: &Visit, name: &str, active: bool) -> Markup {
        let (word, label) = if active { ("disable", "Disable") } else { ("enable", "Enable") };
        let fields = [("kind", kind.path()), ("name", name), ("do", word)];
        let switch = Face { label, class: "plain", says: Some(format!("{label} {name}")) };
        let start = Face { label: "Start", class: "plain", says: Some(format!("Start {name}")) };
        html! {
            (self.button(visit, "/act/switch", &fields, &switch))
            @if active { (self.button(visit, "/act/start", &fields[..2], &start)) }
        }
    }
}

pub(super) fn state(active: bool) -> Markup {
    if active { badge("good", "enabled") } else { badge("warn", "disabled") }
}

pub(super) fn path_of(kind: Kind, name: &str) -> String {
    format!("/{}/{}", kind.path(), segment(name))
}

/// Names in a list, each leading to its page.
pub(super) fn names(kind: Kind, list: &Value) -> Markup {
    let names = list.as_array().map(Vec::as_slice).unwrap_or_default().iter().filter_map(Value::as_str);
    html! { @for (place, name) in names.enumerate() { @if place > 0 { ", " } a href=(path_of(kind, name)) { (shown(name)) } } }
}

fn nothing(kind: Kind, about: &About, are_others: bool) -> Markup {
    match are_others {
        true => empty(
            &format!("No {kind} is like that."),
            html! { p { a href=(format!("/{}", kind.path())) { "Show all" } } },
        ),
        false => empty(
            &format!("No {kind} is declared."),
            html! { p { "Add one: " (command(about.add)) } p { "Or many, from a file: " (command("skurd config apply FILE")) } },
        ),
    }
}

/// A page of what is wanted, where the next begins, and how many there are of the kind.
fn found(catalog: &Catalog, kind: Kind, wanted: &Wanted<'_>) -> (Vec<Row>, Option<String>, usize) {
    let names = kind.names(catalog);
    let all = names.len();
    let mut first: BTreeSet<&str> = BTreeSet::new();
    for name in names {
        let is_after = wanted.after.is_none_or(|after| name > after);
        if is_after && is_wanted(catalog, kind, name, wanted) {
            first.insert(name);
            if first.len() > ROWS + 1 {
                first.pop_last();
            }
        }
    }
    let rows = first.iter().take(ROWS).map(|name| row(catalog, kind, name)).collect::<Vec<Row>>();
    let next = (first.len() > ROWS).then(|| rows.last().map(|row| row.name.clone())).flatten();
    (rows, next, all)
}

fn is_wanted(catalog: &Catalog, kind: Kind, name: &str, wanted: &Wanted<'_>) -> bool {
    let has = |text: &str| text.to_lowercase().contains(&wanted.text);
    match kind {
        Kind::Seed => catalog.seed(name).is_some_and(|entry| {
            let of = wanted.of.is_none_or(|of| entry.seed.profiles.iter().any(|profile| profile == of));
            of && (has(name) || has(&entry.seed.url))
        }),
        Kind::Profile => catalog
            .profile(name)
            .is_some_and(|profile| wanted.of.is_none_or(|of| profile.collection == of) && has(name)),
        Kind::Collection | Kind::Group => has(name),
    }
}

fn row(catalog: &Catalog, kind: Kind, name: &str) -> Row {
    let members = match kind {
        Kind::Profile => catalog.seeds_of_profile(name).count(),
        Kind::Collection => catalog.profiles_of_collection(name).count(),
        Kind::Seed | Kind::Group => 0,
    };
    Row { name: name.to_owned(), says: declare::entry::shown(catalog, kind, name), members }
}
