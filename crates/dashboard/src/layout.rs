//! What all pages look like: the frame around them, and the pieces they are made of.

#![allow(clippy::needless_pass_by_value, reason = "markup is made where it is handed over")]

use std::convert::Infallible;

use app::Problem;
use app::captures::CaptureItem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use net::warc::date::digits17;
use server::replay::View;
use url::form_urlencoded;

use super::address::{Pairs, href};
use super::forms::{Face, Notice};
use super::text::shown;
use super::{Site, assets};

/// Nothing runs, loads, frames or posts but what is this server's own.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Headings, and the pages below each: address and name.
const NAVIGATION: [(&str, &[(&str, &str)]); 3] = [
    (
        "Harvest",
        &[
            ("/", "Overview"),
            ("/runs", "Runs"),
            ("/hosts", "Hosts"),
            ("/queue", "Queue"),
            ("/blacklist", "Blacklist"),
            ("/nodes", "Nodes"),
            ("/traps", "Traps"),
            ("/inspect", "Why"),
            ("/crawls", "Other crawlers"),
        ],
    ),
    (
        "Declared",
        &[
            ("/seeds", "Seeds"),
            ("/profiles", "Profiles"),
            ("/collections", "Collections"),
            ("/host-groups", "Host groups"),
            ("/walks", "Walks"),
        ],
    ),
    ("Archive", &[("/captures", "Captures"), ("/links", "Links"), ("/reports", "Reports")]),
];

/// The request of a page: of whom, where it is, and which notice is to be shown.
pub(super) struct Visit {
    pub(super) site: Site,
    path: String,
    query: Vec<(String, String)>,
    note: Option<u64>,
    /// The name it was asked under.
    host: HeaderMap,
}

impl FromRequestParts<Site> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Visit, Infallible> {
        let pairs = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let mut query: Vec<(String, String)> = pairs.into_owned().collect();
        let note = query.iter().find(|(name, _)| name == "note").and_then(|(_, id)| id.parse().ok());
        query.retain(|(name, _)| name != "note");
        let named = parts.headers.get(header::HOST).map(|host| (header::HOST, host.clone()));
        let host = named.into_iter().collect();
        Ok(Visit { site: site.clone(), path: parts.uri.path().to_owned(), query, note, host })
    }
}

impl Visit {
    /// This very page.
    pub(super) fn here(&self) -> String {
        let pairs: Vec<(&str, &str)> = self.query.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        href(&self.path, &pairs)
    }

    /// The address of this page, whatever was asked of it.
    pub(super) fn path_only(&self) -> &str {
        &self.path
    }

    /// What the query says of this name; none if it is empty.
    pub(super) fn asked(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    pub(super) fn given(&self, name: &str) -> Option<String> {
        self.asked(name).map(str::to_owned)
    }

    /// The same page with this changed.
    pub(super) fn with(&self, name: &str, value: &str) -> String {
        let others = self.query.iter().filter(|(own, _)| own != name);
        let mut pairs: Vec<(&str, &str)> = others.map(|(n, v)| (n.as_str(), v.as_str())).collect();
        pairs.push((name, value));
        href(&self.path, &pairs)
    }

    /// A whole page around its main part, which begins with its heading.
    pub(super) fn page(&self, title: &str, main: Markup) -> Response {
        let notice = self.note.and_then(|id| self.site.forms.take(id));
        let main = html! {
            @if let Some(Notice { good, text, undo }) = &notice {
                p.notice.good[*good].bad[!good] role="status" { (shown(text)) }
                @if let Some(id) = undo {
                    div.undo { (self.button("/act/undo", &[("undo", &id.to_string())], &Face::undo())) }
                }
            }
            (main)
        };
        self.framed(StatusCode::OK, title, main)
    }

    /// A page with pictures out of the archive, which are on the origin where that is shown.
    pub(super) fn page_with_pictures(&self, title: &str, main: Markup) -> Response {
        let mut response = self.page(title, main);
        let origin = self.site.replay.as_ref().map(|place| place.origin(&self.host));
        let policy = origin
            .map(|origin| POLICY.replace("img-src 'self' data:", &format!("img-src 'self' data: {origin}")));
        if let Some(policy) = policy.and_then(|policy| HeaderValue::try_from(policy).ok()) {
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        response
    }

    /// Where a capture is shown; none where none are, or it is none of the web.
    pub(super) fn replay(&self, item: &CaptureItem, view: View) -> Option<String> {
        let place = self.site.replay.as_ref()?;
        let is_web = ["http://", "https://"].iter().any(|scheme| item.url.starts_with(scheme));
        let stamp = digits17(item.moment()?);
        // A POST is known by what was sent, and nobody can ask for it.
        (is_web && !item.url.contains("__wb_method="))
            .then(|| place.link(&self.host, &item.collection, &stamp, view, &item.url))
    }

    /// A page with a form that was not taken.
    pub(super) fn refused(&self, title: &str, main: Markup) -> Response {
        self.framed(StatusCode::UNPROCESSABLE_ENTITY, title, main)
    }

    fn framed(&self, status: StatusCode, title: &str, main: Markup) -> Response {
        let inside = html! {
            header.bar {
                a.brand href="/" { img src=(assets::path("icon.svg")) alt="" width="24" height="24"; "Skurd" }
                form.find role="search" method="get" action="/find" {
                    label.unseen for="find" { "Search" }
                    input #find type="search" name="q" placeholder="Search  /" autocomplete="off" spellcheck="false" maxlength="4000"
                        value=[(self.path == "/find").then(|| self.asked("q")).flatten()];
                }
                nav aria-label="Main" {
                    @for (group, entries) in NAVIGATION {
                        p.group { (group) }
                        ul {
                            @for (path, name) in entries {
                                li { a href=(path) aria-current=[self.is_below(path).then_some("page")] { (name) } }
                            }
                        }
                    }
                }
                @if self.site.guard.wants_token() {
                    form.leave method="post" action="/logout" {
                        (self.hidden())
                        button.quiet type="submit" { "Log out" }
                    }
                }
            }
            main #main tabindex="-1" { (main) }
        };
        answer(status, title, inside)
    }

    /// The way to the next page of a list, and back to the first.
    pub(super) fn pager(&self, cursor: &str, next: Option<&str>) -> Markup {
        let began = self.asked(cursor).is_some();
        html! {
            @if began || next.is_some() {
                nav.pager aria-label="Pages" {
                    @if began { a href=(self.with(cursor, "")) { "First page" } }
                    @if let Some(next) = next { a href=(self.with(cursor, next)) rel="next" { "Next page" } }
                }
            }
        }
    }

    /// Whether it stands below this entry of the navigation.
    fn is_below(&self, entry: &str) -> bool {
        match entry {
            "/" => self.path == "/",
            // What is edited is below what it is one of.
            entry => {
                let edited = ["/new", "/edit", "/delete", "/paste"]
                    .iter()
                    .find_map(|start| self.path.strip_prefix(start));
                edited.unwrap_or(&self.path).starts_with(entry)
            }
        }
    }
}

impl Site {
    /// A problem as a page, which stands nowhere in the navigation.
    pub(super) fn problem(&self, status: StatusCode, problem: &Problem) -> Response {
        let main = html! {
            h1 { (shown(&problem.title)) }
            p.lead { (shown(&problem.detail)) }
            @if let Some(hint) = &problem.hint { p { (shown(hint)) } }
            @for error in &problem.errors { p { code { (shown(&error.pointer)) } " " (shown(&error.detail)) } }
            p { a href="/" { "Back to the overview" } }
        };
        let (path, query, host) = (String::new(), Vec::new(), HeaderMap::new());
        let nowhere = Visit { site: self.clone(), path, query, note: None, host };
        nowhere.framed(status, &problem.title, main)
    }
}

/// A page without the frame of the others, or with: the whole document.
pub(super) fn answer(status: StatusCode, title: &str, inside: Markup) -> Response {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (shown_plain(title)) " · Skurd" }
                link rel="icon" href=(assets::path("icon.svg")) type="image/svg+xml";
                link rel="stylesheet" href=(assets::path("skurd.css"));
                script src=(assets::path("skurd.js")) defer {}
            }
            body {
                a.skip href="#main" { "Skip to content" }
                (inside)
            }
        }
    };
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        // With none at all, browsers would not even tell us that a form is our own.
        (header::REFERRER_POLICY, "same-origin"),
    ];
    (status, headers, document.into_string()).into_response()
}

/// For places that take no markup: what is invisible is left out.
fn shown_plain(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric() || c.is_ascii_graphic() || *c == ' ' || *c == '·')
        .take(120)
        .collect()
}

/// Nothing is here: why, and what to do next.
pub(super) fn empty(title: &str, next: Markup) -> Markup {
    html! { div.empty { p.what { (title) } div.next { (next) } } }
}

/// Something to type into a terminal.
pub(super) fn command(text: &str) -> Markup {
    html! { code.command { (shown(text)) } }
}

/// A part of a page with its heading, which names it to who does not see it.
pub(super) fn section(id: &str, heading: &str, inside: Markup) -> Markup {
    html! { section aria-labelledby=(id) { h2 #(id) { (heading) } (inside) } }
}

/// A drawing in its own box, which scrolls on narrow screens. The style sheet gives it the colours
/// of the page.
pub(super) fn plot(label: &str, svg: String) -> Markup {
    html! { div.plot tabindex="0" role="region" aria-label=(label) { (PreEscaped(svg)) } }
}

/// A table that scrolls in its own box where there is no room.
pub(super) struct Table<'a, T> {
    caption: &'a str,
    rows: &'a [T],
    columns: Vec<Column<'a, T>>,
}

/// What stands over a column, and in it for each row.
struct Column<'a, T> {
    heading: &'a str,
    is_name: bool,
    class: Option<&'static str>,
    cell: Box<dyn Fn(&T) -> Markup + 'a>,
}

impl<'a, T> Table<'a, T> {
    pub(super) fn new(caption: &'a str, rows: &'a [T]) -> Self {
        Table { caption, rows, columns: Vec::new() }
    }

    /// What a row is about.
    pub(super) fn name<M: Render>(self, heading: &'a str, cell: impl Fn(&T) -> M + 'a) -> Self {
        self.styled(true, None, heading, cell)
    }

    pub(super) fn column<M: Render>(self, heading: &'a str, cell: impl Fn(&T) -> M + 'a) -> Self {
        self.styled(false, None, heading, cell)
    }

    pub(super) fn figures<M: Render>(self, heading: &'a str, cell: impl Fn(&T) -> M + 'a) -> Self {
        self.styled(false, Some("num"), heading, cell)
    }

    /// Text that may be long.
    pub(super) fn wide<M: Render>(self, heading: &'a str, cell: impl Fn(&T) -> M + 'a) -> Self {
        self.styled(false, Some("wide"), heading, cell)
    }

    /// What can be done about a row.
    pub(super) fn buttons(self, cell: impl Fn(&T) -> Markup + 'a) -> Self {
        self.styled(false, Some("do"), "", cell)
    }

    /// With a class of the style sheet.
    pub(super) fn styled<M: Render>(
        mut self,
        is_name: bool,
        class: Option<&'static str>,
        heading: &'a str,
        cell: impl Fn(&T) -> M + 'a,
    ) -> Self {
        let cell = Box::new(move |row: &T| cell(row).render());
        self.columns.push(Column { heading, is_name, class, cell });
        self
    }

    /// Something else where there are no rows.
    pub(super) fn or(self, nothing: Markup) -> Markup {
        if self.rows.is_empty() { nothing } else { self.render() }
    }
}

impl<T> Render for Table<'_, T> {
    fn render(&self) -> Markup {
        html! {
            div.scroll tabindex="0" role="region" aria-label=(self.caption) {
                // Rows are cards where there is no room; with roles, they stay rows to who hears them.
                table role="table" {
                    caption.unseen { (self.caption) }
                    thead role="rowgroup" {
                        tr role="row" {
                            @for Column { heading, class, .. } in &self.columns {
                                th class=[class.filter(|class| *class == "num")] scope="col" role="columnheader" { (heading) }
                            }
                        }
                    }
                    tbody role="rowgroup" {
                        @for row in self.rows { tr role="row" { @for column in &self.columns { (column.of(row)) } } }
                    }
                }
            }
        }
    }
}

impl<T> Column<'_, T> {
    fn of(&self, row: &T) -> Markup {
        let inside = (self.cell)(row);
        html! {
            @if self.is_name { th class=[self.class] scope="row" role="rowheader" { (inside) } }
            @else { td class=[self.class] role="cell" data-label=(self.heading) { (inside) } }
        }
    }
}

/// Views of the same page, side by side.
pub(super) fn tabs<'a>(label: &str, entries: impl IntoIterator<Item = (&'a str, String, bool)>) -> Markup {
    html! {
        nav.tabs aria-label=(label) {
            ul { @for (name, path, here) in entries { li { a href=(path) aria-current=[here.then_some("true")] { (name) } } } }
        }
    }
}

/// A form that asks: one text field and its button.
pub(super) struct Search<'a> {
    pub(super) action: &'a str,
    pub(super) name: &'a str,
    pub(super) label: &'a str,
    pub(super) value: &'a str,
    pub(super) hint: &'a str,
    pub(super) button: &'a str,
    /// Fields that stay as they are.
    pub(super) kept: Pairs<'a>,
}

impl Search<'_> {
    pub(super) fn show(&self) -> Markup {
        let id = format!("field-{}", self.name);
        html! {
            form.search role="search" method="get" action=(self.action) {
                label for=(id) { (self.label) }
                div.row {
                    input #(id) type="search" name=(self.name) value=(self.value) placeholder=(self.hint)
                        autocomplete="off" spellcheck="false" maxlength="4000";
                    @for (name, value) in self.kept.iter().filter(|(_, value)| !value.is_empty()) {
                        input type="hidden" name=(name) value=(value);
                    }
                    button type="submit" { (self.button) }
                }
            }
        }
    }
}

/// A word in a frame, coloured by what it means.
pub(super) fn badge(class: &'static str, text: &str) -> Markup {
    html! { span.badge.(class) { (shown(text)) } }
}

/// The colour of an answer.
pub(super) fn class_of(status: u16) -> &'static str {
    match status / 100 {
        2 => "good",
        3 => "calm",
        4 => "warn",
        5 => "bad",
        _ => "plain",
    }
}

/// Names and what they are.
pub(super) fn facts(rows: &[(&str, Markup)]) -> Markup {
    html! { dl.facts { @for (name, value) in rows { div { dt { (name) } dd { (value) } } } } }
}
