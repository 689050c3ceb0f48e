//! `skurd run list|show`: what was started, and what came of it.

use std::path::Path;

use anyhow::Result;
use app::runs::{RunDetail, RunFigures, RunItem};
use declare::text::{bytes_text, percent_text};
use harvest::session::stdout;
use serde_json::value::RawValue;
use server::client::{Call, Client};

use super::listing::Listing;
use crate::args::look::RunCommand;
use crate::output::{Column, Table, left, line, right, shown};

const RUNS: [Column<RunItem>; 11] = [
    right("run", |run| shown(run.run)),
    left("started", |run| shown(&run.started)),
    left("of", what),
    left("state", |run| run.state.as_str().to_owned()),
    right("progress", |run| run.progress.map_or_else(|| "–".to_owned(), percent_text)),
    right("urls", |run| shown(run.figures.urls)),
    right("waiting", |run| shown(run.figures.waiting)),
    right("harvests", |run| shown(run.figures.harvests)),
    right("new", |run| shown(run.figures.new)),
    right("errors", |run| shown(run.figures.failed())),
    left("ended by", |run| run.ended_by.clone().unwrap_or_default()),
];

/// How a figure is told.
type Told = fn(&RunFigures) -> String;

/// A figure of a run, and of the one before.
struct Figure {
    name: &'static str,
    now: String,
    before: String,
}

const FIGURES: [Column<Figure>; 3] = [
    left("", |row| row.name.to_owned()),
    right("this run", |row| row.now.clone()),
    right("the run before", |row| row.before.clone()),
];

fn what(run: &RunItem) -> String {
    match (run.of.as_deref(), &run.name) {
        (Some("new"), _) => "new seeds".to_owned(),
        (Some(of), Some(name)) => format!("{of} {name}"),
        _ => "–".to_owned(),
    }
}

pub(crate) fn run(command: &RunCommand) -> Result<()> {
    match command {
        RunCommand::List { data, limit, json } => {
            let listing =
                Listing { path: "runs", query: Vec::new(), limit: *limit, json: *json, columns: &RUNS };
            listing.print_or(&data.dir, "nothing has been started yet")
        }
        RunCommand::Show { run, data, json } => show(*run, &data.dir, *json),
    }
}

fn show(run: u64, dir: &Path, json: bool) -> Result<()> {
    let call = Call::get(&format!("runs/{run}"), Vec::new());
    let client = Client::open(dir)?;
    if json {
        let answer: Box<RawValue> = client.ask(&call)?;
        return line(answer);
    }
    let RunDetail { item, by_collection, before, .. } = client.ask(&call)?;
    line(format!("run {run}: {}, started {}", what(&item), shown(&item.started)))?;
    let state = item.state.as_str();
    line(item.ended_by.as_ref().map_or_else(|| state.to_owned(), |why| format!("{state}: {why}")))?;
    if let Some(before) = &before {
        line(format!("the run before: {}, started {}", before.run, shown(&before.started)))?;
    }
    let rows = rows(&item.figures, before.as_ref().map(|before| &before.figures));
    let is_alone = before.is_none();
    let columns = FIGURES.iter().take(if is_alone { 2 } else { 3 });
    Table::new(columns).page(&mut stdout(), &rows)?;
    if by_collection.len() > 1 {
        for (name, figures) in &by_collection {
            line(format!("in {name}: {} URLs, {} harvests", figures.urls, figures.harvests))?;
        }
    }
    Ok(())
}

fn rows(now: &RunFigures, before: Option<&RunFigures>) -> Vec<Figure> {
    let rows: [(&'static str, Told); 14] = [
        ("URLs", |figures| shown(figures.urls)),
        ("  that wait", |figures| shown(figures.waiting)),
        ("  done", |figures| shown(figures.done)),
        ("  blacklisted", |figures| shown(figures.blacklisted)),
        ("harvests", |figures| shown(figures.harvests)),
        ("  new", |figures| shown(figures.new)),
        ("  changed", |figures| shown(figures.changed)),
        ("  unchanged", |figures| shown(figures.unchanged)),
        ("  gone", |figures| shown(figures.gone)),
        ("  other errors of servers", |figures| shown(figures.refused)),
        ("  without an answer", |figures| shown(figures.failed())),
        ("bytes", |figures| bytes_text(figures.bytes)),
        ("first harvest", |figures| shown(&figures.first)),
        ("last harvest", |figures| shown(&figures.last)),
    ];
    let figure = |(name, of): (&'static str, Told)| Figure {
        name,
        now: of(now),
        before: before.map_or_else(|| "–".to_owned(), of),
    };
    rows.into_iter().map(figure).collect()
}
