//! The captures held against the files (A14), and the files against the captures.
//!
//! Quickly: whether each file is there and as long as it was, and whether the store knows what it
//! should. Fully, in three passes that hold nothing but a few figures for each file: the captures
//! are counted by file; each file is walked, every digest recomputed, and every record looked up
//! among the captures; and only of files where that did not come out even, each capture is looked
//! at on its own, to say which are wrong and why. A harvest may go on meanwhile: what is looked at
//! ends where the store knew it to end when the check began.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use frontier::{ArchiveFile, Capture, CaptureId, Frontier, ranges};
use net::warc::{self, Held, Stage, Step, Walk};
use serde::Serialize;

use super::adopt::{COLLECTION, PART_OF};
use super::health::{Damage, Loss};
use super::picture::{self, Picture};
use super::{capture, warc_dir};

/// Rows looked at in one go.
const PAGE: usize = 1000;
/// Records between two signs of life.
const RECORDS_BETWEEN: u64 = 5000;

/// What is not as it should be, or how far the check has come, as events say it.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Finding {
    /// Missing, or shorter than it was.
    #[serde(rename = "file")]
    Lost { problem: &'static str, file: String, captures: u64, bytes: Option<u64>, known: Option<u64> },
    /// Bytes that the store does not know.
    #[serde(rename = "file")]
    Unknown { problem: &'static str, file: String, bytes: u64 },
    /// It was set aside, and waits for somebody.
    #[serde(rename = "file")]
    Aside { problem: &'static str, file: String, bytes: u64 },
    /// Nothing can be read of these bytes.
    #[serde(rename = "file")]
    Damaged { problem: &'static str, file: String, from: u64, to: u64, reason: String },
    /// The store knows less than it should: what, and what can be done.
    Behind { problem: String, hint: String },
    /// A record that no capture points to.
    Record { problem: &'static str, file: String, offset: u64, url: String },
    /// A capture that is not where it should be, or not what it was.
    Capture {
        problem: String,
        collection: String,
        url: String,
        time: String,
        file: String,
        offset: u64,
        length: u64,
    },
    /// So much has been looked at.
    Progress { files: u64, bytes: u64 },
}

/// How it came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename = "summary")]
pub struct Summary {
    pub files: u64,
    pub files_wrong: u64,
    /// As the store counts them; in a full check, as they are.
    pub captures: u64,
    pub captures_wrong: u64,
    pub uncaptured: u64,
    pub bytes: u64,
    pub sound: bool,
}

/// A check under way.
struct Check<'a, H> {
    frontier: &'a Frontier,
    dir: PathBuf,
    hear: H,
    files: BTreeMap<String, Tally>,
    summary: Summary,
}

/// A file and what was counted of it.
#[derive(Default)]
struct Tally {
    row: ArchiveFile,
    held: Option<Held>,
    is_lost: bool,
    captures: u64,
    good: u64,
}

/// Checks the archive of a data directory. Ends with the error of who hears of it, if that had
/// enough.
pub async fn check(
    frontier: &Frontier,
    data: &Path,
    full: bool,
    hear: impl AsyncFnMut(Finding) -> Result<()>,
) -> Result<Summary> {
    let dir = warc_dir(data);
    let picture = Picture::take(frontier, &dir).await?;
    let tally = |row: &ArchiveFile| Tally { row: row.clone(), ..Tally::default() };
    let files: BTreeMap<_, _> = picture.rows.iter().map(|(name, row)| (name.clone(), tally(row))).collect();
    let summary = Summary {
        files: files.len() as u64,
        files_wrong: 0,
        captures: picture.rows.values().map(|row| row.captures).sum(),
        captures_wrong: 0,
        uncaptured: 0,
        bytes: picture.rows.values().map(|row| row.end).sum(),
        sound: true,
    };
    let mut check = Check { frontier, dir, hear, files, summary };
    check.quick(&picture, data).await?;
    if full {
        check.full().await?;
    }
    Ok(check.summary)
}

impl<H: AsyncFnMut(Finding) -> Result<()>> Check<'_, H> {
    async fn tell(&mut self, finding: Finding) -> Result<()> {
        self.summary.sound &= matches!(finding, Finding::Progress { .. } | Finding::Aside { .. });
        (self.hear)(finding).await
    }

    /// Existence and length.
    async fn quick(&mut self, picture: &Picture, data: &Path) -> Result<()> {
        let behind = picture.judged().err();
        let unknown = |file, bytes| Finding::Unknown { problem: "unknown", file, bytes };
        for held in &picture.files {
            let (file, bytes) = (held.file_name(), held.bytes);
            match (held.stage, self.files.get_mut(&held.name)) {
                (Stage::Aside, _) => self.tell(Finding::Aside { problem: "set aside", file, bytes }).await?,
                (_, Some(tally)) if tally.held.is_none() => tally.held = Some(held.clone()),
                // Of an open file the store will hear in a moment.
                (Stage::Open, None) if behind.is_none() => {}
                _ => self.tell(unknown(file, bytes)).await?,
            }
        }
        for Loss { file, damage, captures } in picture.losses() {
            if let Some(tally) = self.files.get_mut(&file) {
                tally.is_lost = true;
            }
            self.summary.files_wrong += 1;
            self.summary.captures_wrong += captures;
            let (bytes, known) = match damage {
                Damage::Missing => (None, None),
                Damage::Short { bytes, known } => (Some(bytes), Some(known)),
            };
            self.tell(Finding::Lost { problem: damage.word(), file, captures, bytes, known }).await?;
        }
        let beyond = self.files.values().filter_map(|tally| {
            let held = tally.held.as_ref().filter(|held| held.stage == Stage::Complete)?;
            let bytes = held.bytes.saturating_sub(tally.row.end);
            (bytes > 0).then(|| unknown(held.file_name(), bytes))
        });
        for finding in beyond.collect::<Vec<_>>() {
            self.tell(finding).await?;
        }
        if let Some(behind) = behind {
            let (problem, hint) = picture::told(&behind, data);
            self.tell(Finding::Behind { problem, hint }).await?;
        }
        Ok(())
    }

    /// Every capture, every record.
    async fn full(&mut self) -> Result<()> {
        (self.summary.captures, self.summary.captures_wrong) = (0, 0);
        self.count().await?;
        let names: Vec<String> = self.files.keys().cloned().collect();
        let mut bytes = 0;
        for (files, name) in (0..).zip(names) {
            self.walk(&name, &mut bytes, files).await?;
        }
        self.single_out().await
    }

    /// How many captures point into each file.
    async fn count(&mut self) -> Result<()> {
        let mut rest = Some(ranges::captures(None));
        while let Some(range) = rest {
            let (rows, next) = self.frontier.captures_in(&range, PAGE).await?;
            for (id, capture) in rows {
                if !self.files.contains_key(&capture.file) {
                    self.found_without_row(&capture, id.collection).await?;
                }
                if let Some(tally) = self.files.get_mut(&capture.file)
                    && capture.offset < tally.row.end
                {
                    tally.captures += 1;
                    self.summary.captures += 1;
                }
            }
            rest = next;
        }
        Ok(())
    }

    /// A file that was begun since the check was, or one that the store knows by its captures only.
    async fn found_without_row(&mut self, capture: &Capture, collection: String) -> Result<()> {
        if self.frontier.archive_file(&capture.file).await?.is_some() {
            return Ok(());
        }
        let held = [Stage::Complete, Stage::Open].into_iter().find_map(|stage| {
            let held = Held { name: capture.file.clone(), stage, bytes: 0 };
            let bytes = std::fs::metadata(held.path(&self.dir)).ok()?.len();
            Some(Held { bytes, ..held })
        });
        let row = ArchiveFile { collection: Some(collection), end: u64::MAX, ..ArchiveFile::default() };
        let tally = Tally { row, is_lost: held.is_none(), held, ..Tally::default() };
        self.files.insert(capture.file.clone(), tally);
        Ok(())
    }

    /// One file from its first record to its last.
    async fn walk(&mut self, name: &str, bytes: &mut u64, files: u64) -> Result<()> {
        let Some(tally) = self.files.get(name) else { return Ok(()) };
        let (Some(held), row) = (tally.held.clone(), tally.row.clone()) else { return Ok(()) };
        let path = held.path(&self.dir);
        let cannot = || format!("cannot read {}", path.display());
        let collection = match row.collection.filter(|name| !name.is_empty()) {
            Some(collection) => collection,
            None => warc::said_first(&path, &[PART_OF, COLLECTION]).with_context(cannot)?.unwrap_or_default(),
        };
        let damaged = |from, to, reason| {
            Some(Finding::Damaged { problem: "damaged", file: held.file_name(), from, to, reason })
        };
        let mut walk = Walk::new(&path, 0, Some(row.end)).with_context(cannot)?;
        let (mut records, mut good) = (0u64, 0);
        while let Some(step) = walk.next().with_context(cannot)? {
            records += 1;
            let finding = match step {
                Step::Damaged { from, to, reason } => damaged(from, to, reason),
                Step::Record(record) => {
                    *bytes += record.extent.length;
                    match (record.digests.problem(), record.entry) {
                        (None, Some(entry)) => {
                            let id = CaptureId::new(&collection, &entry.surt, entry.time, entry.offset);
                            match self.frontier.capture(&id).await? {
                                Some(stored) if stored.is_same_record(&capture(&entry, name, 0).1) => {
                                    good += 1;
                                    None
                                }
                                // It says something else, and will be told.
                                Some(stored) if stored.file == held.name => None,
                                _ => {
                                    self.summary.uncaptured += 1;
                                    let (problem, file) = ("no capture", held.file_name());
                                    let (offset, url) = (entry.offset, entry.url);
                                    Some(Finding::Record { problem, file, offset, url })
                                }
                            }
                        }
                        // Of a capture that will be said.
                        (Some(_), Some(_)) | (None, None) => None,
                        (Some(reason), None) => damaged(record.extent.offset, record.next, reason),
                    }
                }
            };
            let alive = records.is_multiple_of(RECORDS_BETWEEN);
            let progress = alive.then_some(Finding::Progress { files, bytes: *bytes });
            for finding in finding.into_iter().chain(progress) {
                self.tell(finding).await?;
            }
        }
        if let Some(tally) = self.files.get_mut(name) {
            tally.good = good;
            self.summary.files_wrong += u64::from(!tally.is_lost && good != tally.captures);
        }
        self.tell(Finding::Progress { files: files + 1, bytes: *bytes }).await
    }

    /// Of files with captures that were not found good, which those are.
    async fn single_out(&mut self) -> Result<()> {
        self.files.retain(|_, tally| tally.good != tally.captures);
        let mut rest = Some(ranges::captures(None)).filter(|_| !self.files.is_empty());
        while let Some(range) = rest {
            let (rows, next) = self.frontier.captures_in(&range, PAGE).await?;
            for (id, capture) in rows {
                let tally = self.files.get(&capture.file).filter(|tally| capture.offset < tally.row.end);
                let problem = tally.and_then(|tally| tally.wrong(&self.dir, &id, &capture));
                let Some(problem) = problem else { continue };
                self.summary.captures_wrong += 1;
                let (collection, time) = (id.collection, id.time.to_string());
                let Capture { url, file, offset, length, .. } = capture;
                self.tell(Finding::Capture { problem, collection, url, time, file, offset, length }).await?;
            }
            rest = next;
        }
        Ok(())
    }
}

impl Tally {
    /// What is wrong with a capture, if anything is.
    fn wrong(&self, dir: &Path, id: &CaptureId, expected: &Capture) -> Option<String> {
        let Some(held) = &self.held else { return Some("its file is missing".to_owned()) };
        let end = expected.offset + expected.length;
        if held.bytes < end {
            return Some(format!("its file ends at {}, and it at {end}", held.bytes));
        }
        let step = Walk::new(&held.path(dir), expected.offset, Some(end)).and_then(|mut walk| walk.next());
        let record = match step {
            Ok(Some(Step::Record(record))) => record,
            Ok(Some(Step::Damaged { reason, .. })) => return Some(reason),
            Ok(None) => return Some("there is nothing".to_owned()),
            Err(error) => return Some(error.to_string()),
        };
        if let Some(problem) = record.digests.problem() {
            return Some(problem);
        }
        let Some(entry) = record.entry else { return Some("the record there is no capture".to_owned()) };
        let (key, found) = capture(&entry, &expected.file, 0);
        let there = CaptureId::new(&id.collection, &key.surt, key.time, id.offset);
        if there != *id || found.url != expected.url {
            return Some(format!("the record there is of {} at {}", found.url, key.time));
        }
        (!found.is_same_record(expected)).then(|| "the record there says something else".to_owned())
    }
}
