//! `skurd archive check`: the captures against the files.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use declare::counted;
use declare::hint::hinted;
use declare::text::bytes_text;
use harvest::session::stdout;
use serde_json::Value;
use server::client::{Call, Client, NOT_UNDERSTOOD};

/// Lines that are told; the rest is counted.
const TOLD_MAX: usize = 20;

pub(crate) fn run(data: &Path, quick: bool, as_json: bool) -> Result<()> {
    let query = vec![("quick", quick.to_string())];
    let ask = Client::open(data)?;
    let mut report = Report { as_json, ..Report::default() };
    ask.copy(&Call::get("archive/check", query), || Ok(Lines { line: Vec::new(), report: &mut report }))?;
    report.end(data)
}

/// What was heard so far.
#[derive(Default)]
struct Report {
    as_json: bool,
    told: usize,
    not_told: usize,
    behind: Option<(String, String)>,
    summary: Option<Value>,
}

/// Takes what comes line by line.
struct Lines<'a> {
    line: Vec<u8>,
    report: &'a mut Report,
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            match byte {
                b'\n' => self.report.take(&std::mem::take(&mut self.line)).map_err(io::Error::other)?,
                byte => self.line.push(*byte),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Report {
    fn take(&mut self, line: &[u8]) -> Result<()> {
        let event: Value = serde_json::from_slice(line).context(NOT_UNDERSTOOD)?;
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        match event["event"].as_str() {
            Some("progress") => return Ok(()),
            Some("summary") => self.summary = Some(event.clone()),
            Some("behind") => self.behind = Some((text("problem"), text("hint"))),
            _ => {}
        }
        let mut out = stdout();
        if self.as_json {
            out.write_all(line)?;
            return Ok(writeln!(out)?);
        }
        let Some(told) = sentence(&event) else { return Ok(()) };
        match self.told < TOLD_MAX {
            true => writeln!(out, "{told}")?,
            false => self.not_told += 1,
        }
        self.told += 1;
        Ok(())
    }

    fn end(self, data: &Path) -> Result<()> {
        let summary = self.summary.context("the answer broke off")?;
        let number = |name: &str| summary[name].as_u64().unwrap_or(0);
        if self.not_told > 0 {
            println(&format!("… and {} more; --json has them all", self.not_told))?;
        }
        let of =
            |name: &str, thing: &str| counted(usize::try_from(number(name)).unwrap_or(usize::MAX), thing);
        let (files, captures) = (of("files", "file"), of("captures", "capture"));
        if summary["sound"] == true {
            if !self.as_json {
                let bytes = bytes_text(number("bytes"));
                println(&format!(
                    "the archive of {} is sound: {captures} in {files}, {bytes}",
                    data.display()
                ))?;
            }
            return Ok(());
        }
        if let Some((what, hint)) = self.behind {
            return Err(hinted(what, hint));
        }
        bail!(
            "the archive of {} is not sound: {} of {captures} and {} of {files} are not what they were{}",
            data.display(),
            number("captures_wrong"),
            number("files_wrong"),
            match number("uncaptured") {
                0 => String::new(),
                records => format!(", {records} records have no capture"),
            }
        )
    }
}

fn println(text: &str) -> Result<()> {
    let mut out = stdout();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// What a person is told of a finding; captures are summed up by their files.
fn sentence(event: &Value) -> Option<String> {
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let number = |name: &str| event[name].as_u64().unwrap_or(0);
    let file = text("file");
    let captures = || counted(usize::try_from(number("captures")).unwrap_or(usize::MAX), "capture");
    Some(match (text("event"), text("problem")) {
        ("file", "missing") => format!("missing    {file}: {}", captures()),
        ("file", "cut off") => {
            format!("cut off    {file}: {} bytes of {}, {}", number("bytes"), number("known"), captures())
        }
        ("file", "unknown") => format!(
            "not known  {file}: {} that the store does not know; `skurd archive adopt` reads them",
            bytes_text(number("bytes"))
        ),
        ("file", "set aside") => {
            format!("set aside  {file}: {}; `skurd archive adopt` reads it", bytes_text(number("bytes")))
        }
        ("file", "damaged") => {
            format!("damaged    {file}: bytes {} to {}: {}", number("from"), number("to"), text("reason"))
        }
        ("record", _) => {
            format!("no capture {file} at {}: {}", number("offset"), text("url"))
        }
        ("capture", problem) if problem != "its file is missing" => {
            format!("wrong      {file} at {}: {}: {problem}", number("offset"), text("url"))
        }
        _ => return None,
    })
}
