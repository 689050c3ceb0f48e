//! What was archived: by URL, and one by one with its record and its text.

use std::io::{Cursor, Read};

use app::captures::{CaptureItem, Filter};
use app::{Answer, App, Problem};
use declare::text::bytes_text;
use maud::{Markup, Render, html};
use net::warc::Reader;
use server::api::Path;
use server::client::segment;
use server::replay::View;

use super::address::href;
use super::layout::{Search, Table, Visit, badge, class_of, command, empty, facts};
use super::seen;
use super::text::{dash, inspected, lines, number, or_dash, shown, time, url};
use crate::Shown;

/// Of a record and of a text, this much is shown.
const SHOWN_BYTES_MAX: usize = 64 << 10;
const ROWS: usize = 50;
const HEADS_BYTES_MAX: usize = 16 << 10;

pub(super) async fn list(visit: Visit) -> Shown {
    let asked = |name| visit.asked(name).unwrap_or_default();
    let filter = Filter {
        url: visit.given("url"),
        prefix: visit.given("prefix"),
        collection: visit.given("collection"),
        cursor: visit.given("cursor"),
        limit: Some(ROWS),
    };
    let is_narrow = filter.url.is_some() || filter.prefix.is_some();
    let page = app::captures::list_captures(&visit.site.app, filter).await?;
    let main = html! {
        div.title { h1 { "Captures" } }
        p.lead {
            @match (asked("url"), asked("collection")) {
                ("", "") => "Everything that was archived, in the order of addresses.",
                ("", name) => { "What was archived in the collection " b { (shown(name)) } "." },
                (address, _) => { "What was archived of " b { (shown(address)) } "." },
            }
        }
        (Search { action: "/captures", name: "prefix", label: "Addresses that begin with", value: asked("prefix"),
            hint: "https://example.org/news/", button: "Show", kept: &[("collection", asked("collection"))] }.show())
        @if page.items.is_empty() && page.next.is_none() {
            (nothing(is_narrow))
        } @else {
            (table_of(&visit, &page.items, true))
        }
        (visit.pager("cursor", page.next.as_deref()))
    };
    Ok(visit.page("Captures", main))
}

fn nothing(is_narrow: bool) -> Markup {
    match is_narrow {
        true => empty(
            "Nothing was archived of this.",
            html! { p { a href="/inspect" { "Why?" } " says what decides about a URL, or " a href="/captures" { "show all captures" } "." } },
        ),
        false => empty(
            "Nothing has been archived yet.",
            html! { p { "Start what is declared on the page of " a href="/seeds" { "seeds" } ", or with " (command("skurd start")) } },
        ),
    }
}

pub(super) fn table_of(visit: &Visit, items: &[CaptureItem], with_url: bool) -> Markup {
    let kind = |item: &CaptureItem| {
        html! {
            (or_dash(item.mime.as_deref())) @if item.revisit { " " (badge("plain", "unchanged")) }
        }
    };
    let path = |item: &CaptureItem| format!("/captures/{}", segment(&item.id));
    let table = Table::new("Captures", items)
        .name("Time", move |item| html! { a href=(path(item)) { (time(&item.time)) } (way_in(visit, item)) });
    let table = if with_url { table.wide("URL", |item| inspected(&item.url)) } else { table };
    table
        .figures("Status", |item| status(item.status))
        .column("Type", kind)
        .figures("Size", |item| bytes_text(item.length))
        .column("Collection", |item| shown(&item.collection))
        .render()
}

/// To the page as it was, on the origin where the archive is shown.
fn way_in(visit: &Visit, item: &CaptureItem) -> Markup {
    html! {
        @if let Some(address) = visit.replay(item, View::Page) {
            " " a.out href=(address) rel="noreferrer noopener" target="_blank" title="Show as archived" aria-label="Show as archived" { "↗" }
        }
    }
}

fn status(status: Option<u16>) -> Markup {
    status.map_or_else(dash, |status| badge(class_of(status), &status.to_string()))
}

pub(super) async fn one(visit: Visit, Path(id): Path<String>) -> Shown {
    let path = format!("captures/{}", segment(&id));
    let item = app::captures::get_capture(&visit.site.app, id.clone()).await?;
    let (record, content) =
        (record_of(&visit.site.app, id.clone()).await, content_of(&visit.site.app, id).await);
    let main = html! {
        p.crumbs { a href="/captures" { "Captures" } " / " a href=(href("/captures", &[("url", &item.url)])) { "of this URL" } }
        div.title { h1 { "Capture of " (time(&item.time)) } (status(item.status)) @if item.revisit { (badge("plain", "unchanged")) } }
        p.address { (inspected(&item.url)) }
        (known(&item))
        @if let Some(address) = visit.replay(&item, View::Page) {
            p { a href=(address) rel="noreferrer noopener" target="_blank" { "Show as archived" } }
        }
        @if let Some(address) = visit.replay(&item, View::Part).filter(|_| is_image(&item)) {
            h2 { "Picture" }
            p.shot { img src=(address) alt="The archived picture" loading="lazy"; }
        }
        @if seen::is_picture(&item.url) {
            h2 { "Picture" }
            a.shot.whole href=(seen::picture_path(&item.id)) { img src=(seen::picture_path(&item.id)) alt="How the page looked" loading="lazy"; }
        }
        h2 { "Content as text" }
        @match content {
            Ok(Some((bytes, is_cut))) => {
                pre.text tabindex="0" { (lines(&String::from_utf8_lossy(&bytes))) }
                @if is_cut { p.faint { "Only the beginning is shown." } }
            },
            Ok(None) => p { "This is no text. " a href=(format!("/api/v1/{path}/content")) { "Save the content" } " as a file." },
            Err(problem) => p.notice.bad { (shown(&problem.detail)) },
        }
        h2 { "Record as archived" }
        @match record {
            Ok(text) => {
                pre.text tabindex="0" { (lines(&text)) }
                p.faint { "What follows the head is the content." }
            },
            Err(problem) => p.notice.bad { (shown(&problem.detail)) },
        }
        ul.inline {
            li { a href=(format!("/api/v1/{path}/record")) { "Save the record" } " (WARC)" }
            li { a href=(format!("/api/v1/{path}/content")) { "Save the content" } }
        }
    };
    Ok(visit.page_with_pictures("Capture", main))
}

fn is_image(item: &CaptureItem) -> bool {
    item.mime.as_deref().is_some_and(|mime| mime.starts_with("image/"))
}

/// The beginning of something that may be long, and whether there is more.
fn beginning(source: impl Read) -> Answer<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let most = SHOWN_BYTES_MAX as u64 + 1;
    source.take(most).read_to_end(&mut bytes).map_err(|error| Problem::internal(&error))?;
    let is_cut = bytes.len() > SHOWN_BYTES_MAX;
    bytes.truncate(SHOWN_BYTES_MAX);
    Ok((bytes, is_cut))
}

async fn record_of(app: &App, id: String) -> Answer<String> {
    let part = app::captures::get_record(app, id).await?;
    app.heavy(async move |_| Ok(record_text(&beginning(part.open()?)?.0))).await
}

/// None where it is no text.
async fn content_of(app: &App, id: String) -> Answer<Option<(Vec<u8>, bool)>> {
    let stored = app::captures::get_content(app, id).await?;
    app.heavy(async move |_| {
        let (kind, source) = stored.open()?;
        let begun = beginning(source)?;
        Ok(kind.is_text().then_some(begun))
    })
    .await
}

fn known(item: &CaptureItem) -> Markup {
    let refers = item.refers_to.as_ref().map(|other| html! { (url(&other.url)) " at " (time(&other.time)) });
    let change = item.change.map(|change| {
        let how = if change.little { "a little" } else { "more than a little" };
        html! { (how) " (" (number(u64::from(change.distance))) " of 64 bits of its sketch; a little is up to " (number(u64::from(change.threshold))) ")" }
    });
    let more = [("Same as", refers), ("Changed", change)];
    let more = more.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let mut all = vec![
        ("Time", time(&item.time)),
        ("Status", or_dash(item.status.map(|status| status.to_string()).as_deref())),
        ("Type", or_dash(item.mime.as_deref())),
        ("Collection", html! { (shown(&item.collection)) }),
        ("Digest", html! { code { (shown(&item.digest)) } }),
        ("File", html! { code { (shown(&item.file)) } }),
        ("Place in it", html! { (number(item.offset)) " + " (number(item.length)) " bytes" }),
    ];
    all.extend(more);
    facts(&all)
}

/// The head of a record and of the answer in it; what follows may be anything.
fn record_text(bytes: &[u8]) -> String {
    match heads(bytes) {
        Some(text) => String::from_utf8_lossy(&text).replace("\r\n", "\n"),
        None => "This record cannot be read; `skurd warc check` says why.".to_owned(),
    }
}

fn heads(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader::new(Cursor::new(bytes)).ok()?;
    let head = reader.next().ok()??;
    let mut text = format!("{}\n", head.version).into_bytes();
    for (name, value) in &head.fields {
        text.extend_from_slice(format!("{name}: {value}\n").as_bytes());
    }
    // Anything else has no head of its own, and may be a picture.
    if !head.get("Content-Type").is_some_and(|kind| kind.starts_with("application/http")) {
        return Some(text);
    }
    text.push(b'\n');
    let begin = text.len();
    while let Ok(Some(piece)) = reader.piece() {
        let searched = text.len().saturating_sub(3).max(begin);
        text.extend_from_slice(piece);
        let end =
            text[searched..].windows(4).position(|window| window == b"\r\n\r\n").map(|at| searched + at);
        if end.is_some() || text.len() >= HEADS_BYTES_MAX {
            text.truncate(end.unwrap_or(HEADS_BYTES_MAX));
            break;
        }
    }
    Some(text)
}
