//! Seeds, profiles and collections: lists with a search, a switch and a start button each.

use app::page::first_names;
use app::{Kind, Page};
use maud::{Markup, html};
use policy::catalog::Catalog;
use serde_json::Value;
use server::client::segment;

use super::address::href;
use super::forms::Face;
use super::layout::{Search, Table, Visit, badge, command, empty};
use super::text::{dash, number, or_dash, shown, url};
use crate::Shown;

const ROWS: usize = 50;

/// What a list of a kind says of itself.
pub(super) struct About {
    pub(super) title: &'static str,
    lead: &'static str,
}

pub(super) fn about(kind: Kind) -> About {
    match kind {
        Kind::Seed => About { title: "Seeds", lead: "Where harvesting begins, and by which profiles." },
        Kind::Profile => About { title: "Profiles", lead: "How often, how far and on whose terms." },
        Kind::Collection => About { title: "Collections", lead: "What is archived together." },
        Kind::Group => About {
            title: "Host groups",
            lead: "Hosts that share one politeness, since one server is behind them.",
        },
        Kind::Host => About {
            title: "Hosts with settings",
            lead: "Hosts with a politeness, windows, a budget or a way out of their own.",
        },
    }
}

/// A thing with what it says, and how many belong to it.
struct Row {
    name: String,
    says: Value,
    members: usize,
}

impl Row {
    fn text(&self, key: &str) -> Option<&str> {
        self.says[key].as_str()
    }

    fn hosts(&self) -> String {
        let hosts = self.says["hosts"].as_array().map(Vec::as_slice).unwrap_or_default();
        hosts.iter().filter_map(Value::as_str).collect::<Vec<&str>>().join(", ")
    }
}

pub(super) async fn list(kind: Kind, visit: Visit) -> Shown {
    let of = match kind {
        Kind::Seed => visit.asked("profile"),
        Kind::Profile => visit.asked("collection"),
        Kind::Collection | Kind::Group | Kind::Host => None,
    };
    let text = visit.asked("q").unwrap_or_default();
    let (page, all) = visit.site.app.look(|catalog| found(catalog, kind, &visit, of)).await?;
    let about = about(kind);
    let path = format!("/{}", kind.path());
    let kept = if kind == Kind::Seed { "profile" } else { "collection" };
    let main = html! {
        div.title {
            h1 { (about.title) }
            @if all > 0 { span.faint { (number(all as u64)) } }
            div.actions {
                @if kind == Kind::Seed { a.button href="/paste/seeds" { "Paste a list" } }
                a.button.main href=(new_path(kind)) { "New " (kind) }
            }
        }
        p.lead { (about.lead) @if let Some(of) = of { " Only those of " b { (shown(of)) } ", " a href=(path) { "not all" } "." } }
        @if all > 0 {
            (Search { action: &path, name: "q", label: "Part of a name or address", value: text, hint: "", button: "Search",
                kept: &[(kept, of.unwrap_or_default())] }.show())
        }
        (table(kind, &visit, &page.items).or(nothing(kind, all > 0)))
        (visit.pager("after", page.next.as_deref()))
    };
    Ok(visit.page(about.title, main))
}

fn table<'a>(kind: Kind, visit: &'a Visit, rows: &'a [Row]) -> Table<'a, Row> {
    let members = |of: Kind, by: &'static str| {
        let path = format!("/{}", of.path());
        move |row: &Row| html! { a href=(href(&path, &[(by, &row.name)])) { (number(row.members as u64)) } }
    };
    let link_to = move |row: &Row| link(kind, &row.name);
    let table = Table::new(about(kind).title, rows);
    let table = match kind {
        Kind::Group => {
            return table
                .name("Host group", link_to)
                .wide("Hosts", |row| shown(&row.hosts()))
                .column("Proxy", |row| or_dash(row.text("proxy")))
                .buttons(move |row| edit_link(kind, &row.name));
        }
        Kind::Host => {
            return table
                .name("Host", link_to)
                .column("Proxy", |row| or_dash(row.text("proxy")))
                .buttons(move |row| edit_link(kind, &row.name));
        }
        Kind::Seed => table
            .name("Seed", link_to)
            .wide("URL", |row| url(row.text("url").unwrap_or_default()))
            .column("Profiles", |row| names(Kind::Profile, &row.says["profiles"])),
        Kind::Profile => table
            .name("Profile", link_to)
            .column("Collection", |row| link_or_dash(Kind::Collection, row.text("collection")))
            .figures("Every", |row| or_dash(row.text("every")))
            .column("Within", |row| or_dash(row.says["scope"]["within"].as_str()))
            .figures("Seeds", members(Kind::Seed, "profile")),
        Kind::Collection => table
            .name("Collection", link_to)
            .figures("Profiles", members(Kind::Profile, "collection"))
            .column("Engine", |row| or_dash(row.text("engine")))
            .column("Files begin with", |row| or_dash(row.text("warc_prefix"))),
    };
    table
        .column("State", |row| state(is_active(&row.says)))
        .buttons(move |row| html! { (edit_link(kind, &row.name)) " " (switches(kind, visit, &row.name, is_active(&row.says))) })
}

/// Where one is made.
pub(super) fn new_path(kind: Kind) -> String {
    format!("/new/{}", kind.path())
}

pub(super) fn edit_path(kind: Kind, name: &str) -> String {
    format!("/edit/{}/{}", kind.path(), segment(name))
}

fn edit_link(kind: Kind, name: &str) -> Markup {
    html! { a.button href=(edit_path(kind, name)) aria-label=(format!("Edit {name}")) { "Edit" } }
}

/// The buttons of a thing: on or off, and start.
pub(super) fn switches(kind: Kind, visit: &Visit, name: &str, active: bool) -> Markup {
    let fields = [("kind", kind.path()), ("name", name)];
    html! {
        (visit.switch_button(kind.path(), name, active))
        @if active { (visit.button("/act/start", &fields, &Face::plain("Start", name))) }
    }
}

pub(super) fn is_active(says: &Value) -> bool {
    says["active"].as_bool().unwrap_or(true)
}

pub(super) fn state(active: bool) -> Markup {
    if active { badge("good", "enabled") } else { badge("warn", "disabled") }
}

pub(super) fn path_of(kind: Kind, name: &str) -> String {
    format!("/{}/{}", kind.path(), segment(name))
}

/// A name that leads to its page.
pub(super) fn link(kind: Kind, name: &str) -> Markup {
    html! { a href=(path_of(kind, name)) { (shown(name)) } }
}

pub(super) fn link_or_dash(kind: Kind, name: Option<&str>) -> Markup {
    name.map_or_else(dash, |name| link(kind, name))
}

/// Names in a list, each leading to its page.
pub(super) fn names(kind: Kind, list: &Value) -> Markup {
    let names = list.as_array().map(Vec::as_slice).unwrap_or_default().iter().filter_map(Value::as_str);
    html! { @for (place, name) in names.enumerate() { @if place > 0 { ", " } (link(kind, name)) } }
}

fn nothing(kind: Kind, are_others: bool) -> Markup {
    match are_others {
        true => empty(
            &format!("No {kind} is like that."),
            html! { p { a href=(format!("/{}", kind.path())) { "Show all" } } },
        ),
        false => empty(
            &format!("No {kind} is declared."),
            html! {
                p { a href=(new_path(kind)) { "New " (kind) } }
                @if kind == Kind::Seed { p { a href="/paste/seeds" { "Paste a list" } } }
                p { "Or many things at once, from a file: " (command("skurd config apply FILE")) }
            },
        ),
    }
}

/// A page of what is wanted, and how many there are of the kind.
fn found(catalog: &Catalog, kind: Kind, visit: &Visit, of: Option<&str>) -> (Page<Row>, usize) {
    let part = visit.asked("q").unwrap_or_default().to_lowercase();
    let mut names = kind.names(catalog);
    let all = names.len();
    names.retain(|name| is_wanted(catalog, kind, name, &part, of));
    let first = first_names(names, visit.asked("after"), ROWS + 1);
    let items: Vec<Row> = first.iter().take(ROWS).map(|name| row(catalog, kind, name)).collect();
    let next = items.last().filter(|_| first.len() > ROWS).map(|row| row.name.clone());
    (Page { items, next }, all)
}

/// Whether it has this text in its name, or in the URL of a seed; of seeds only those of a profile,
/// of profiles those of a collection.
fn is_wanted(catalog: &Catalog, kind: Kind, name: &str, part: &str, of: Option<&str>) -> bool {
    let has = |text: &str| text.to_lowercase().contains(part);
    match kind {
        Kind::Seed => catalog.seed(name).is_some_and(|entry| {
            let is_of = of.is_none_or(|of| entry.seed.profiles.iter().any(|profile| profile == of));
            is_of && (has(name) || has(&entry.seed.url))
        }),
        Kind::Profile => catalog
            .profile(name)
            .is_some_and(|profile| of.is_none_or(|of| profile.collection == of) && has(name)),
        Kind::Collection | Kind::Group | Kind::Host => has(name),
    }
}

fn row(catalog: &Catalog, kind: Kind, name: &str) -> Row {
    let members = match kind {
        Kind::Profile => catalog.seeds_of_profile(name).count(),
        Kind::Collection => catalog.profiles_of_collection(name).count(),
        Kind::Seed | Kind::Group | Kind::Host => 0,
    };
    Row { name: name.to_owned(), says: declare::entry::shown(catalog, kind, name), members }
}
