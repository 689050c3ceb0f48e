//! `skurd archive`, `skurd cdx export` and `skurd warc check`.

pub(super) mod adopt;
pub(super) mod check;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use declare::counted;
use harvest::session::{note, stdout};
use net::warc::{self, CheckReport};
use serde_json::json;
use server::client::{Call, Client};

use super::listing::given;
use crate::args::harvest::CdxExportArgs;

/// Sorted as a whole, as replay tools want it.
pub(crate) fn export(args: &CdxExportArgs) -> Result<()> {
    let question = Call::get("cdx", given([("collection", args.collection.clone())]));
    let ask = Client::open(&args.data.dir)?;
    match &args.output {
        None => ask.copy(&question, || Ok(stdout())),
        Some(path) => {
            let copied = ask.copy(&question, || Ok(BufWriter::new(File::create(path)?)));
            copied.map_err(|error| match error.is::<std::io::Error>() {
                true => error.context(format!("cannot write {}", path.display())),
                false => error,
            })
        }
    }
}

pub(crate) fn check_files(files: &[PathBuf], as_json: bool) -> Result<()> {
    let mut out = stdout();
    let mut bad = 0;
    for file in files {
        let report = warc::check(file).with_context(|| format!("cannot read {}", file.display()))?;
        bad += usize::from(!report.is_sound());
        match as_json {
            true => writeln!(out, "{}", report_json(file, &report))?,
            false => print(&mut out, file, &report)?,
        }
    }
    out.flush()?;
    if bad > 0 {
        anyhow::bail!("{} of {} not sound", counted(bad, "file"), files.len());
    }
    if !as_json {
        note("all sound")?;
    }
    Ok(())
}

fn print(out: &mut impl Write, file: &Path, report: &CheckReport) -> Result<()> {
    let kinds: Vec<String> = report.records.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let verdict = if report.is_sound() { "sound" } else { "NOT SOUND" };
    writeln!(
        out,
        "{}: {verdict}, {} records ({}), {} digests right",
        file.display(),
        report.records_total(),
        kinds.join(", "),
        report.digests_right
    )?;
    for problem in &report.problems {
        writeln!(out, "  at {}: {}", problem.offset, problem.reason)?;
    }
    if report.problems_not_kept > 0 {
        writeln!(out, "  and {} more", report.problems_not_kept)?;
    }
    Ok(())
}

fn report_json(file: &Path, report: &CheckReport) -> serde_json::Value {
    let problems: Vec<_> = report
        .problems
        .iter()
        .map(|problem| json!({ "offset": problem.offset, "reason": problem.reason }))
        .collect();
    json!({
        "file": file.display().to_string(),
        "sound": report.is_sound(),
        "records": report.records.iter().collect::<BTreeMap<_, _>>(),
        "digests_right": report.digests_right,
        "problems": problems,
        "problems_not_kept": report.problems_not_kept,
    })
}
