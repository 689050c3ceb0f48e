//! `skurd cdx export` and `skurd warc check`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use frontier::schema::Capture;
use net::cdx;
use net::warc::{self, CheckReport, Entry, Kind};
use policy::time::Time;
use serde_json::json;
use store::table::KeyRange;

use crate::args::CdxExportArgs;
use crate::config::counted;
use crate::session::{PAGE_ROWS, Session, note, stdout};

/// Sorted as a whole, as replay tools want it: captures of several collections are merged by their keys.
pub(crate) fn export(args: &CdxExportArgs) -> Result<()> {
    let session = Session::open(&args.data.dir)?;
    let collections = match &args.collection {
        Some(name) => {
            session.collection(name)?;
            vec![name.clone()]
        }
        None => session.collections_with_captures()?,
    };
    match &args.output {
        None => write_lines(&session, &collections, &mut stdout()),
        Some(path) => {
            let cannot = || format!("cannot write {}", path.display());
            let mut out = BufWriter::new(File::create(path).with_context(cannot)?);
            write_lines(&session, &collections, &mut out).with_context(cannot)
        }
    }
}

fn write_lines(session: &Session, collections: &[String], out: &mut impl Write) -> Result<()> {
    let mut sources = Vec::new();
    for collection in collections {
        sources.push(Lines {
            pages: Pages { session, collection, rest: None, begun: false },
            rows: Vec::new().into_iter(),
            beyond: None,
            group: Vec::new(),
            next: None,
        });
    }
    for source in &mut sources {
        source.advance()?;
    }
    // A handful of collections: looking at the head of each is no work.
    while let Some(first) =
        sources.iter_mut().filter(|source| source.next.is_some()).min_by(|a, b| a.next.cmp(&b.next))
    {
        if let Some(line) = first.next.take() {
            out.write_all(line.as_bytes())?;
        }
        first.advance()?;
    }
    Ok(out.flush()?)
}

/// The captures of a collection, page by page.
struct Pages<'a> {
    session: &'a Session,
    collection: &'a str,
    rest: Option<KeyRange>,
    begun: bool,
}

type Row = (String, Time, Capture);

impl Pages<'_> {
    fn next(&mut self) -> Result<Option<Vec<Row>>> {
        if self.begun && self.rest.is_none() {
            return Ok(None);
        }
        self.begun = true;
        let page = self.session.frontier.captures(self.collection, self.rest.take(), PAGE_ROWS);
        let (rows, rest) = self.session.wait(page)?;
        self.rest = rest;
        Ok(Some(rows))
    }
}

/// The index lines of one collection, in order.
struct Lines<'a> {
    pages: Pages<'a>,
    rows: std::vec::IntoIter<Row>,
    /// The first row beyond `group`.
    beyond: Option<Row>,
    /// Lines of one key and second, which the store has in the order of milliseconds and an index in the order of letters; last first.
    group: Vec<String>,
    next: Option<String>,
}

impl Lines<'_> {
    fn advance(&mut self) -> Result<()> {
        if self.group.is_empty() {
            self.fill()?;
        }
        self.next = self.group.pop();
        Ok(())
    }

    fn fill(&mut self) -> Result<()> {
        let Some(first) = self.take()? else { return Ok(()) };
        let second = |row: &Row| row.1.0.div_euclid(1000);
        self.group.push(line(&first));
        while let Some(row) = self.take()? {
            if row.0 != first.0 || second(&row) != second(&first) {
                self.beyond = Some(row);
                break;
            }
            self.group.push(line(&row));
        }
        self.group.sort_unstable_by(|a, b| b.cmp(a));
        Ok(())
    }

    fn take(&mut self) -> Result<Option<Row>> {
        if let Some(row) = self.beyond.take() {
            return Ok(Some(row));
        }
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(row));
            }
            match self.pages.next()? {
                Some(rows) => self.rows = rows.into_iter(),
                None => return Ok(None),
            }
        }
    }
}

fn line((surt, time, row): &Row) -> String {
    let entry = Entry {
        kind: if row.revisit { Kind::Revisit } else { Kind::Response },
        url: row.url.clone(),
        surt: surt.clone(),
        time: *time,
        status: (row.status > 0).then_some(row.status),
        mime: row.mime.clone(),
        digest: row.digest.clone(),
        offset: row.offset,
        length: row.length,
    };
    cdx::line_of(&entry, &row.file, 0)
}

pub(crate) fn check(files: &[PathBuf], as_json: bool) -> Result<()> {
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
