//! Runs: what was started, how far each has come, and what is other than the time before.

use app::runs::{RunDetail, RunFigures, RunItem, RunState, get_run, list_runs};
use app::{Kind, Paging};
use declare::text::{bytes_text, percent_text};
use maud::{Markup, Render, html};
use server::api::Path;

use super::declared::link;
use super::layout::{Table, Visit, badge, command, empty, facts, section};
use super::spark::parts;
use super::text::{number, or_dash, shown, time, time_or_dash};
use crate::Shown;

const ROWS: usize = 50;

pub(super) async fn list(visit: Visit) -> Shown {
    let paging = Paging { cursor: visit.given("cursor"), limit: Some(ROWS) };
    let page = list_runs(&visit.site.app, paging).await?;
    let main = html! {
        div.title { h1 { "Runs" } }
        p.lead { "Each start is a run: of a seed, a profile, a collection, or of seeds that were new. A URL belongs to the run that brought it last." }
        (table("Runs", &page.items).or(empty(
            "Nothing has been started yet.",
            html! { p { "Start what is declared on the page of " a href="/seeds" { "seeds" } ", or with " (command("skurd start")) } },
        )))
        (visit.pager("cursor", page.next.as_deref()))
    };
    Ok(visit.page("Runs", main))
}

fn path(run: u64) -> String {
    format!("/runs/{run}")
}

/// A run by its number.
pub(super) fn run_link(run: u64) -> Markup {
    html! { a href=(path(run)) { "Run " (run) } }
}

pub(super) fn table<'a>(caption: &'a str, runs: &'a [RunItem]) -> Table<'a, RunItem> {
    Table::new(caption, runs)
        .name("Run", |run| run_link(run.run))
        .column("Started", |run| time_or_dash(run.started.as_deref()))
        .column("Of", what)
        .column("State", |run| state(run.state))
        .figures("Progress", |run| or_dash(run.progress.map(percent_text).as_deref()))
        .figures("URLs", |run| number(run.figures.urls))
        .figures("Harvests", |run| number(run.figures.harvests))
        .figures("New", |run| number(run.figures.new))
        .figures("Changed", |run| number(run.figures.changed))
        .figures("Gone", |run| number(run.figures.gone))
        .figures("Errors", |run| number(run.figures.failed() + run.figures.refused))
}

fn what(run: &RunItem) -> Markup {
    let kind = match run.of.as_deref() {
        Some("seed") => Some(Kind::Seed),
        Some("profile") => Some(Kind::Profile),
        Some("collection") => Some(Kind::Collection),
        _ => None,
    };
    html! {
        @match (kind, &run.name) {
            (Some(kind), Some(name)) => { (kind) " " (link(kind, name)) },
            _ => (or_dash(run.of.as_ref().map(|_| "new seeds"))),
        }
    }
}

fn state(state: RunState) -> Markup {
    match state {
        RunState::UnderWay => badge("good", "under way"),
        RunState::Repeating => badge("calm", "repeating"),
        RunState::Ended => badge("plain", "ended"),
    }
}

pub(super) async fn one(visit: Visit, Path(given): Path<String>) -> Shown {
    let RunDetail { item: run, by_collection, budgets, before } = get_run(&visit.site.app, given).await?;
    let figures = &run.figures;
    let waiting = [("good", figures.urls - figures.waiting.min(figures.urls)), ("unknown", figures.waiting)];
    let collections: Vec<(&String, &RunFigures)> = by_collection.iter().collect();
    let main = html! {
        p.crumbs { a href="/runs" { "Runs" } }
        div.title { h1 { "Run " (run.run) } (state(run.state)) }
        p.lead {
            "Of " (what(&run)) @if let Some(started) = &run.started { ", started " (time(started)) } "."
            @if let Some(why) = &run.ended_by { " " (shown(why)) "." }
        }
        @if figures.urls > 0 {
            (section("progress", "Progress", html! {
                (parts("URLs that were answered in this run", &waiting))
                p { (or_dash(run.progress.map(percent_text).as_deref())) " of its URLs were answered; " (number(figures.waiting)) " wait for their first answer, "
                    (number(figures.done)) " are done, " (number(figures.blacklisted)) " are blacklisted." }
            }))
        }
        (facts(&[
            ("First harvest", time_or_dash(figures.first.as_deref())),
            ("Last harvest", time_or_dash(figures.last.as_deref())),
            ("Bytes", html! { (bytes_text(figures.bytes)) }),
        ]))
        (section("came", "What came of it", compared(&run, before.as_ref())))
        @if collections.len() > 1 {
            (section("collections", "By collection", Table::new("By collection", &collections)
                .name("Collection", |(name, _)| link(Kind::Collection, name))
                .figures("URLs", |(_, figures)| number(figures.urls))
                .figures("Waiting", |(_, figures)| number(figures.waiting))
                .figures("Harvests", |(_, figures)| number(figures.harvests))
                .figures("New", |(_, figures)| number(figures.new))
                .render()))
        }
        @if !budgets.is_empty() {
            (section("budgets", "Budgets", html! {
                ul.list { @for ending in &budgets { li {
                    (shown(&ending.limit)) " of " (shown(&ending.holder)) " " (shown(&ending.name)) " was used up " (time(&ending.at))
                } } }
            }))
        }
    };
    Ok(visit.page(&format!("Run {}", run.run), main))
}

/// A figure of both runs.
struct Row {
    name: String,
    now: u64,
    before: Option<u64>,
}

fn compared(run: &RunItem, before: Option<&RunItem>) -> Markup {
    let of = |name: &str, figure: fn(&RunFigures) -> u64| Row {
        name: name.to_owned(),
        now: figure(&run.figures),
        before: before.map(|before| figure(&before.figures)),
    };
    let mut rows = vec![
        of("Harvests", |figures| figures.harvests),
        of("New", |figures| figures.new),
        of("Changed", |figures| figures.changed),
        of("Unchanged", |figures| figures.unchanged),
        of("Gone (404, 410)", |figures| figures.gone),
        of("Other errors of servers", |figures| figures.refused),
    ];
    let kinds = before.map(|before| before.figures.errors.keys()).into_iter().flatten();
    let kinds: std::collections::BTreeSet<&String> = kinds.chain(run.figures.errors.keys()).collect();
    let count = |run: &RunItem, kind: &String| run.figures.errors.get(kind).copied().unwrap_or(0);
    rows.extend(kinds.into_iter().map(|kind| Row {
        name: format!("No answer: {kind}"),
        now: count(run, kind),
        before: before.map(|before| count(before, kind)),
    }));
    let table = Table::new("What came of it", &rows)
        .name("", |row| shown(&row.name))
        .figures("This run", |row| number(row.now));
    let table = match before {
        Some(_) => table
            .figures("The run before", |row| or_dash(row.before.map(number).as_deref()))
            .figures("Difference", |row| difference(row.now, row.before)),
        None => table,
    };
    html! {
        (table)
        @match before {
            Some(before) => p.faint { "The run before is " (run_link(before.run)) ", started " (time_or_dash(before.started.as_deref())) "." },
            None if run.of.as_deref() == Some("new") => p.faint { "Seeds that were new have no run before." },
            None => p.faint { "It is the first of its kind, as far as is known." },
        }
    }
}

fn difference(now: u64, before: Option<u64>) -> String {
    match before {
        Some(before) if now > before => format!("+{}", number(now - before)),
        Some(before) if now < before => format!("−{}", number(before - now)),
        Some(_) => "±0".to_owned(),
        None => "–".to_owned(),
    }
}
