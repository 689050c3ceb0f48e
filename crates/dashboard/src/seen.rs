//! A page as a browser saw it (B21): how it looked, how long each phase took, and every request with
//! what became of it.

use app::Answer;
use app::captures::picture::get_picture;
use app::captures::seen::SeenPage;
use app::why::WhyRendering;
use axum::http::header;
use axum::response::IntoResponse;
use declare::text::bytes_text;
use harvest::page_info::{PageRequest, Source, THUMBNAIL, VIEW};
use maud::{Markup, Render, html};
use server::api::Path;
use server::client::segment;

use super::layout::{Table, Visit, badge, class_of, facts};
use super::spark::parts;
use super::text::{brief, count, dash, or_dash, shown, span, time, way_out};
use crate::Shown;

/// Of its requests, this many are listed.
const ROWS: usize = 200;
/// A picture runs nothing and loads nothing, also where it is opened by itself. Browsers style the
/// page that they make around it.
const PICTURE_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'; base-uri 'none'";

/// Where a capture is shown as a picture.
pub(super) fn picture_path(id: &str) -> String {
    format!("/captures/{}/picture", segment(id))
}

/// Whether a capture is a picture that a browser took.
pub(super) fn is_picture(name: &str) -> bool {
    name.starts_with(VIEW) || name.starts_with(THUMBNAIL)
}

/// A capture as a picture. What it is was looked at, not believed.
pub(super) async fn picture(visit: Visit, Path(id): Path<String>) -> Shown {
    let picture = get_picture(&visit.site.app, id).await?;
    let headers = [
        (header::CONTENT_TYPE, picture.content_type),
        (header::CONTENT_SECURITY_POLICY, PICTURE_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_DISPOSITION, "inline; filename=\"page\""),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    Ok((headers, picture.bytes).into_response())
}

/// What a browser saw the last time.
pub(super) fn show(last: &WhyRendering, page: &Answer<Option<SeenPage>>) -> Markup {
    let seen = page.as_ref().ok().and_then(Option::as_ref);
    html! {
        div.title { h3 { "In the browser" } (badge(class_of_ending(&last.ending), &last.ending)) span.faint { (time(&last.at)) } }
        div.seen {
            @if let Some(seen) = seen { (picture_of(seen)) }
            div.told {
                (phases(last))
                (figures(last, seen))
            }
        }
        @if let Err(problem) = page { p.notice.bad { (shown(&problem.detail)) } }
        @if let Some(seen) = seen { (requests(seen)) }
        @else if !last.refusals.is_empty() {
            ul.list { @for refusal in &last.refusals { li { (brief(&refusal.url)) " " span.faint { (shown(&refusal.reason)) } } } }
        }
    }
}

/// Small, with the way to the whole; those who saw none are told nothing.
fn picture_of(seen: &SeenPage) -> Markup {
    let Some(small) = seen.thumbnail.as_ref().or(seen.view.as_ref()) else { return html! {} };
    let whole = seen.view.as_ref().unwrap_or(small);
    html! {
        a.shot href=(picture_path(whole)) {
            img src=(picture_path(small)) width="320" alt="How the page looked; opens the whole picture" loading="lazy";
        }
    }
}

fn phases(last: &WhyRendering) -> Markup {
    let rest = last.total_ms.saturating_sub(last.load_ms + last.behave_ms + last.collect_ms);
    let all = [
        ("calm", "load", last.load_ms),
        ("good", "behaviours", last.behave_ms),
        ("warn", "collect", last.collect_ms),
        ("grey", "the rest", rest),
    ];
    let says = format!("Phases: {}", all.map(|(_, name, ms)| format!("{name} {}", span(ms))).join(", "));
    html! {
        (parts(&says, &all.map(|(class, _, ms)| (class, ms))))
        ul.legend {
            @for (class, name, ms) in all { li { span.swatch.(class) {} (name) " " b { (span(ms)) } } }
            li { "in all " b { (span(last.total_ms)) } }
        }
    }
}

fn figures(last: &WhyRendering, seen: Option<&SeenPage>) -> Markup {
    let info = seen.map(|seen| &seen.info);
    let mut rows = vec![
        ("Requests", html! { (last.requests) }),
        ("From the archive", html! { (last.from_archive) }),
        ("Failed", html! { (last.failed) }),
        ("Refused", html! { (last.refused) }),
    ];
    if let Some(info) = info {
        let title = info.title.as_deref().filter(|title| !title.trim().is_empty());
        rows.insert(0, ("Title", or_dash(title)));
        let more = [
            ("Dialogs", info.dialogs as usize),
            ("Frames", info.frames.len()),
            ("Popups", info.popups.len()),
            ("Redirects by script", info.redirects.len()),
        ];
        rows.extend(
            more.into_iter()
                .filter(|(_, many)| *many > 0)
                .map(|(name, many)| (name, html! { (count(many)) })),
        );
    }
    let said = [("Cut off", &last.truncated), ("Note", &last.note)];
    rows.extend(said.into_iter().filter_map(|(name, text)| Some((name, shown(text.as_deref()?)))));
    facts(&rows)
}

fn requests(seen: &SeenPage) -> Markup {
    let all = &seen.info.requests;
    let listed = &all[..all.len().min(ROWS)];
    let table = Table::new("Requests of the page", listed)
        .wide("URL", |request: &PageRequest| html! { (brief(&request.url)) (way_out(&request.url)) })
        .figures("Status", |request| match request.status {
            Some(status) => badge(class_of(status), &status.to_string()),
            None => dash(),
        })
        .column("Type", kind)
        .figures("Size", |request| bytes_text(request.bytes))
        .column("From", |request| badge(class_of_source(request.from), request.from.as_str()))
        .wide("Why", |request| or_dash(request.reason.as_deref()));
    html! {
        details.requests {
            summary { "Requests (" (count(all.len())) ")" }
            (table.render())
            p.faint {
                @if all.len() > ROWS { "The first " (ROWS) " of them. " }
                a href=(format!("/captures/{}", segment(&seen.id))) { "All of it as archived" }
            }
        }
    }
}

/// What it was for, and what came.
fn kind(request: &PageRequest) -> Markup {
    let is_get = matches!(request.method.as_str(), "" | "GET");
    html! {
        @if !is_get { (shown(&request.method)) " " }
        (shown(&request.kind))
        @if let Some(mime) = &request.mime { " " span.faint { (shown(mime)) } }
    }
}

fn class_of_ending(ending: &str) -> &'static str {
    match ending {
        "ok" => "good",
        "slow-load" | "never-idle" => "warn",
        _ => "bad",
    }
}

fn class_of_source(source: Source) -> &'static str {
    match source {
        Source::Document | Source::Web => "good",
        Source::Archive => "calm",
        Source::Refused => "warn",
        Source::Failed => "bad",
    }
}
