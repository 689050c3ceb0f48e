//! `skurd archive check`: the captures against the files.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use declare::counted;
use declare::hint::hinted;
use declare::text::bytes_text;
use serde_json::Value;
use server::client::{Call, Client, NOT_UNDERSTOOD};

use crate::output::line;

/// Lines that are told; the rest is counted.
const TOLD_MAX: usize = 20;

pub(crate) fn run(data: &Path, quick: bool, as_json: bool) -> Result<()> {
    let question = Call::get("archive/check", vec![("quick", quick.to_string())]);
    let mut report = Report { as_json, ..Report::default() };
    Client::open(data)?.copy(&question, || Ok(&mut report))?;
    report.end(data)
}

/// What was heard so far, line by line.
#[derive(Default)]
struct Report {
    as_json: bool,
    /// What there is of the line at hand.
    line: Vec<u8>,
    told: usize,
    behind: Option<Value>,
    summary: Option<Value>,
}

impl Write for Report {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            match byte {
                b'\n' => self.take().map_err(io::Error::other)?,
                byte => self.line.push(*byte),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn text<'a>(event: &'a Value, name: &str) -> &'a str {
    event[name].as_str().unwrap_or_default()
}

fn number(event: &Value, name: &str) -> u64 {
    event[name].as_u64().unwrap_or(0)
}

impl Report {
    /// Takes a whole line.
    fn take(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut self.line);
        let event: Value = serde_json::from_slice(&bytes).context(NOT_UNDERSTOOD)?;
        let kind = text(&event, "event");
        // Whoever does not listen any more still wants the verdict.
        if self.as_json && kind != "progress" {
            let _ = line(String::from_utf8_lossy(&bytes));
        } else if let Some(told) = sentence(&event) {
            self.told += 1;
            if self.told <= TOLD_MAX {
                let _ = line(told);
            }
        }
        match kind {
            "summary" => self.summary = Some(event),
            "behind" => self.behind = Some(event),
            _ => {}
        }
        Ok(())
    }

    fn end(self, data: &Path) -> Result<()> {
        let summary = self.summary.context("the answer broke off")?;
        let number = |name: &str| number(&summary, name);
        if self.told > TOLD_MAX {
            line(format!("… and {} more; --json has them all", self.told - TOLD_MAX))?;
        }
        let (files, captures) = (counted(number("files"), "file"), counted(number("captures"), "capture"));
        let data = data.display();
        if summary["sound"] == true {
            let bytes = bytes_text(number("bytes"));
            return match self.as_json {
                true => Ok(()),
                false => line(format!("the archive of {data} is sound: {captures} in {files}, {bytes}")),
            };
        }
        if let Some(behind) = self.behind {
            return Err(hinted(text(&behind, "problem"), text(&behind, "hint")));
        }
        bail!(
            "the archive of {data} is not sound: {} of {captures} and {} of {files} are not what they were{}",
            number("captures_wrong"),
            number("files_wrong"),
            match number("uncaptured") {
                0 => String::new(),
                records => format!(", {records} records have no capture"),
            }
        )
    }
}

/// What a person is told of a finding; captures are summed up by their files.
fn sentence(event: &Value) -> Option<String> {
    let text = |name: &str| text(event, name);
    let number = |name: &str| number(event, name);
    let (file, size) = (text("file"), || bytes_text(number("bytes")));
    let captures = || counted(number("captures"), "capture");
    Some(match (text("event"), text("problem")) {
        ("file", "missing") => format!("missing    {file}: {}", captures()),
        ("file", "cut off") => {
            format!("cut off    {file}: {} bytes of {}, {}", number("bytes"), number("known"), captures())
        }
        ("file", "unknown") => format!(
            "not known  {file}: {} that the store does not know; `skurd archive adopt` reads them",
            size()
        ),
        ("file", "set aside") => format!("set aside  {file}: {}; `skurd archive adopt` reads it", size()),
        ("file", "damaged") => {
            format!("damaged    {file}: bytes {} to {}: {}", number("from"), number("to"), text("reason"))
        }
        ("record", _) => format!("no capture {file} at {}: {}", number("offset"), text("url")),
        ("capture", problem) if problem != "its file is missing" => {
            format!("wrong      {file} at {}: {}: {problem}", number("offset"), text("url"))
        }
        _ => return None,
    })
}
