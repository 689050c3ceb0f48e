//! `skurd archive`, `skurd cdx export` and `skurd warc check`.

pub(super) mod check;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use declare::counted;
use declare::hint::hinted;
use harvest::data_dir;
use harvest::session::{Session, note, stdout};
use harvest::wire::archive::adopt;
use harvest::wire::warc_dir;
use net::warc::{self, CheckReport};
use serde_json::{Value, json};
use server::client::{Call, Client};

use super::listing::given;
use crate::output::line;

/// Sorted as a whole, as replay tools want it.
pub(crate) fn export(data: &Path, collection: Option<String>, output: Option<&Path>) -> Result<()> {
    copy_to(output, &Client::open(data)?, &Call::get("cdx", given([("collection", collection)])))
}

/// Writes an answer to a file, or to standard output.
pub(super) fn copy_to(output: Option<&Path>, ask: &Client, question: &Call<'_>) -> Result<()> {
    let Some(path) = output else { return ask.copy(question, || Ok(stdout())) };
    let copied = ask.copy(question, || Ok(BufWriter::new(File::create(path)?)));
    copied.map_err(|error| match error.is::<std::io::Error>() {
        true => error.context(format!("cannot write {}", path.display())),
        false => error,
    })
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
        bail!("{} of {} not sound", counted(bad, "file"), files.len());
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

fn report_json(file: &Path, report: &CheckReport) -> Value {
    let problems = report.problems.iter();
    let problems = problems.map(|problem| json!({ "offset": problem.offset, "reason": problem.reason }));
    json!({
        "file": file.display().to_string(),
        "sound": report.is_sound(),
        "records": report.records.iter().collect::<BTreeMap<_, _>>(),
        "digests_right": report.digests_right,
        "problems": problems.collect::<Vec<_>>(),
        "problems_not_kept": report.problems_not_kept,
    })
}

/// What is in the files, back into the store.
pub(crate) fn adopt(data: &Path, files: &[PathBuf], collection: Option<&str>, as_json: bool) -> Result<()> {
    let dir = warc_dir(data);
    if !dir.is_dir() {
        return Err(hinted(
            format!("there is no archive: {} is no directory", dir.display()),
            "--data DIR says where the data directory is",
        ));
    }
    let names: Vec<String> = files
        .iter()
        .filter_map(|file| file.file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    let store = data_dir::create_anew(data).map_err(|error| data_dir::explain(data, error))?;
    let session = Session::with(store)?;
    let (mut read, mut captures, mut unread) = (0, 0, Vec::new());
    session.wait(adopt::adopt(&session.frontier, data, &names, collection, |file, adopted| {
        match adopted {
            Some(adopted) => {
                read += 1;
                captures += adopted.captures;
            }
            None => unread.push(file.to_owned()),
        }
        line(if as_json { event(file, adopted).to_string() } else { sentences(file, adopted) })
    }))?;
    match as_json {
        true => line(
            json!({ "event": "summary", "files": read, "captures": captures, "unreadable": unread.len() }),
        )?,
        false => note(&format!(
            "{captures} captures taken in from {}; `skurd archive check` looks at all of them",
            counted(read, "file")
        ))?,
    }
    // What was set aside because nothing can be read in it stays so; who names it wants to know.
    if let Some(first) = unread.first().filter(|_| !names.is_empty()) {
        bail!(
            "nothing can be read in {} of the archive, like {first}: left as it is",
            counted(unread.len(), "file")
        );
    }
    Ok(())
}

fn sentences(file: &str, adopted: Option<&adopt::Adopted>) -> String {
    let Some(adopted) = adopted else { return format!("{file}: nothing can be read") };
    let mut lines = vec![format!("{file}: {} captures read, {} of them new", adopted.read, adopted.captures)];
    let damaged = adopted.damaged.iter();
    lines.extend(damaged.map(|part| format!("  bytes {} to {}: {}", part.from, part.to, part.reason)));
    if adopted.damaged_more > 0 {
        lines.push(format!("  and {} more", adopted.damaged_more));
    }
    let aside = adopted.aside.iter();
    lines.extend(aside.map(|aside| format!("  what could not be read at its end is in {aside}")));
    lines.join("\n")
}

fn event(file: &str, adopted: Option<&adopt::Adopted>) -> Value {
    let mut event = adopted.map_or_else(|| json!({}), |adopted| json!(adopted));
    event["event"] = if adopted.is_some() { "adopted" } else { "unreadable" }.into();
    event["file"] = file.into();
    event
}
