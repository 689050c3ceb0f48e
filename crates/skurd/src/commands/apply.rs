//! `skurd config apply`: what a file says becomes what is declared, change by change.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use app::config::{Applied, AppliedKind};
use axum::http::Method;
use harvest::session::stdout;
use serde_json::json;
use server::client::{Call, Client};

use crate::output::{Column, Table, left, right};

const COLUMNS: [Column; 5] =
    [left("kind"), right("added"), right("changed"), right("unchanged"), right("deleted")];

pub(crate) fn run(file: &Path, dir: &Path, prune: bool, as_json: bool) -> Result<()> {
    let bytes = declare::read_bounded(file, declare::CONFIG_BYTES_MAX)?;
    // What is wrong with it is told under its own name, before there is a directory.
    declare::parse(&file.display().to_string(), &bytes)?;
    let mut question = Call::new(Method::POST, "config").yaml(bytes);
    question.query.push(("prune", prune.to_string()));
    let applied: Applied = Client::create(dir)?.ask(&question)?;
    let mut out = stdout();
    if as_json {
        for kind in &applied.kinds {
            writeln!(out, "{}", json!(kind))?;
        }
        return Ok(out.flush()?);
    }
    let rows: Vec<Vec<String>> = applied.kinds.iter().map(row).collect();
    Table::new(&COLUMNS).page(&mut out, &rows)?;
    if !applied.changed {
        writeln!(out, "everything was as {} says", file.display())?;
    }
    Ok(out.flush()?)
}

fn row(count: &AppliedKind) -> Vec<String> {
    let numbers = [count.added, count.changed, count.unchanged, count.deleted];
    std::iter::once(count.kind.clone()).chain(numbers.map(|number| number.to_string())).collect()
}
