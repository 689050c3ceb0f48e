//! A file of JSON lines, one for each id that exists (L13).
//!
//! A file that is there already is read through first: what a kill left of a last line is cut off,
//! and no line is written twice.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use declare::hint::hinted;
use declare::text::time_json;
use frontier::Capture;
use policy::time::Time;
use serde::Deserialize;
use serde_json::json;

use super::ranges::Ranges;

/// Longer than any line that is written here.
const LINE_BYTES_MAX: u64 = 64 << 10;

pub(super) struct Lines {
    pub(super) path: PathBuf,
    file: BufWriter<File>,
    /// The ids of each walk that have their line.
    written: HashMap<String, Ranges>,
}

/// What a line is known by.
#[derive(Deserialize)]
struct Known {
    walk: String,
    id: u64,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Lines> {
        let cannot = || format!("cannot write {}", path.display());
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = options.with_context(cannot)?;
        let mut written = HashMap::new();
        let good = read_lines(&file, &mut written)
            .with_context(|| format!("cannot go on with {}", path.display()))?;
        file.set_len(good).with_context(cannot)?;
        file.seek(SeekFrom::End(0)).with_context(cannot)?;
        Ok(Lines { path: path.to_owned(), file: BufWriter::new(file), written })
    }

    pub(super) fn has(&self, walk: &str, id: u64) -> bool {
        self.written.get(walk).is_some_and(|ids| ids.contains(id))
    }

    pub(super) fn write(&mut self, walk: &str, id: u64, time: Time, capture: &Capture) -> Result<()> {
        if !self.written.entry(walk.to_owned()).or_default().insert(id) {
            return Ok(());
        }
        let line = json!({
            "walk": walk,
            "id": id,
            "url": capture.url,
            "status": capture.status,
            "digest": capture.digest,
            "time": time_json(Some(time)),
        });
        writeln!(self.file, "{line}").with_context(|| format!("cannot write {}", self.path.display()))
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        self.file.flush().with_context(|| format!("cannot write {}", self.path.display()))
    }

    pub(super) fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.file.get_ref().sync_all().with_context(|| format!("cannot sync {}", self.path.display()))
    }
}

/// Up to where the lines are whole.
fn read_lines(file: &File, written: &mut HashMap<String, Ranges>) -> Result<u64> {
    let mut reader = BufReader::new(file);
    let (mut good, mut number, mut line) = (0, 0u64, Vec::new());
    loop {
        line.clear();
        let read = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") && (read as u64) < LINE_BYTES_MAX {
            return Ok(good);
        }
        number += 1;
        let Ok(Known { walk, id }) = serde_json::from_slice(&line) else {
            return Err(hinted(
                format!("line {number} was not written by a walk"),
                "--jsonl takes a new file, or one that a walk has written",
            ));
        };
        written.entry(walk).or_default().insert(id);
        good += read as u64;
    }
}
