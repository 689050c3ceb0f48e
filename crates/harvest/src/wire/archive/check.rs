//! The captures held against the files (A14), and the files against the captures.
//!
//! Quickly: whether each file is there and as long as it was, and whether the store knows what it
//! should. Fully, in three passes that hold nothing but a few figures for each file: the captures
//! are counted by file; each file is walked, every digest recomputed, and every record looked up
//! among the captures; and only of files where that did not come out even, each capture is looked
//! at on its own, to say which are wrong and why. A harvest may go on meanwhile: what is looked at
//! ends where the store knew it to end when the check began.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use frontier::Frontier;
use frontier::schema::{ArchiveFile, CAPTURES, Capture, surt_in_key};
use net::warc::{self, Entry, Held, Stage, Step, Walk};
use policy::time::Time;
use store::Order;

use super::adopt::{COLLECTION, PART_OF};
use super::health::{Damage, Loss};
use super::picture::{self, Picture};
use super::{capture, warc_dir};

/// Rows looked at in one go.
const PAGE: usize = 1000;
/// Records between two signs of life.
const RECORDS_BETWEEN: u64 = 5000;

/// What is not as it should be, or how far the check has come.
#[derive(Clone, Debug)]
pub enum Finding {
    /// Missing, or shorter than it was.
    Lost(Loss),
    /// Bytes that the store does not know.
    Unknown { file: String, bytes: u64 },
    /// The store knows less than it should: what, and what can be done.
    Behind { what: String, hint: String },
    /// It was set aside, and waits for somebody.
    Aside { file: String, bytes: u64 },
    /// Nothing can be read of these bytes.
    Damaged { file: String, from: u64, to: u64, reason: String },
    /// A record that no capture points to.
    Uncaptured { file: String, offset: u64, url: String },
    /// A capture that is not where it should be, or not what it was.
    Capture { collection: String, time: Time, capture: Box<Capture>, reason: String },
    /// So much has been looked at.
    Progress { files: u64, bytes: u64 },
}

/// How it came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    sound: bool,
}

/// A file and what was counted of it.
#[derive(Default)]
struct Tally {
    row: ArchiveFile,
    held: Option<Held>,
    lost: Option<Damage>,
    captures: u64,
    good: u64,
}

/// Checks the archive of a data directory. None if who hears of it had enough.
pub async fn check(
    frontier: &Frontier,
    data: &Path,
    full: bool,
    hear: impl AsyncFnMut(Finding) -> ControlFlow<()>,
) -> Result<Option<Summary>> {
    let picture = Picture::take(frontier, &warc_dir(data)).await?;
    let mut check = Check {
        frontier,
        dir: warc_dir(data),
        hear,
        files: BTreeMap::new(),
        summary: Summary::default(),
        sound: true,
    };
    let done = match check.quick(&picture, data).await {
        ControlFlow::Continue(()) if full => check.full().await?,
        done => done,
    };
    let Check { mut summary, sound, .. } = check;
    summary.sound = sound;
    Ok(done.is_continue().then_some(summary))
}

impl<H: AsyncFnMut(Finding) -> ControlFlow<()>> Check<'_, H> {
    async fn tell(&mut self, finding: Finding) -> ControlFlow<()> {
        self.sound &= matches!(finding, Finding::Progress { .. } | Finding::Aside { .. });
        (self.hear)(finding).await
    }

    /// Existence and length.
    async fn quick(&mut self, picture: &Picture, data: &Path) -> ControlFlow<()> {
        let behind = picture.judged().err();
        for (name, row) in &picture.rows {
            self.files.insert(name.clone(), Tally { row: row.clone(), ..Tally::default() });
        }
        for held in &picture.files {
            match (held.stage, self.files.get_mut(&held.name)) {
                (Stage::Aside, _) => {
                    self.tell(Finding::Aside { file: held.file_name(), bytes: held.bytes }).await?;
                }
                (_, Some(tally)) if tally.held.is_none() => tally.held = Some(held.clone()),
                // Of an open file the store will hear in a moment.
                (Stage::Open, None) if behind.is_none() => {}
                _ => self.tell(Finding::Unknown { file: held.file_name(), bytes: held.bytes }).await?,
            }
        }
        self.summary.files = self.files.len() as u64;
        self.summary.captures = picture.rows.values().map(|row| row.captures).sum();
        self.summary.bytes = picture.rows.values().map(|row| row.end).sum();
        for loss in picture.losses() {
            if let Some(tally) = self.files.get_mut(&loss.file) {
                tally.lost = Some(loss.damage);
            }
            self.summary.files_wrong += 1;
            self.summary.captures_wrong += loss.captures;
            self.tell(Finding::Lost(loss)).await?;
        }
        for tally in self.files.values() {
            let Some(held) = tally.held.clone() else { continue };
            let bytes = held.bytes.saturating_sub(tally.row.end);
            if bytes > 0 && held.stage == Stage::Complete {
                self.sound = false;
                (self.hear)(Finding::Unknown { file: held.file_name(), bytes }).await?;
            }
        }
        if let Some(behind) = behind {
            let (what, hint) = picture::told(&behind, data);
            self.tell(Finding::Behind { what, hint }).await?;
        }
        ControlFlow::Continue(())
    }

    /// Every capture, every record.
    async fn full(&mut self) -> Result<ControlFlow<()>> {
        (self.summary.captures, self.summary.captures_wrong) = (0, 0);
        self.count().await?;
        let names: Vec<String> = self.files.keys().cloned().collect();
        let (mut files, mut bytes) = (0, 0);
        for name in names {
            if self.walk(&name, &mut bytes, files).await?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            files += 1;
        }
        self.single_out().await
    }

    /// How many captures point into each file.
    async fn count(&mut self) -> Result<()> {
        let mut rest = Some(CAPTURES.range(()));
        while let Some(range) = rest {
            let tx = self.frontier.store().begin().await?;
            let page = CAPTURES.scan(&tx, &range, PAGE, Order::Forward).await?;
            for ((collection, ..), capture) in page.rows {
                if !self.files.contains_key(&capture.file) {
                    self.found_without_row(&capture, collection).await?;
                }
                if let Some(tally) = self.files.get_mut(&capture.file)
                    && capture.offset < tally.row.end
                {
                    tally.captures += 1;
                    self.summary.captures += 1;
                }
            }
            rest = page.rest;
        }
        Ok(())
    }

    /// A file that was begun since the check was, or one that the store knows by its captures only.
    async fn found_without_row(&mut self, capture: &Capture, collection: String) -> Result<()> {
        if self.frontier.archive_file(&capture.file).await?.is_some() {
            return Ok(());
        }
        let found = [Stage::Complete, Stage::Open].into_iter().find_map(|stage| {
            let held = Held { name: capture.file.clone(), stage, bytes: 0 };
            let bytes = std::fs::metadata(held.path(&self.dir)).ok()?.len();
            Some(Held { bytes, ..held })
        });
        let row = ArchiveFile { collection: Some(collection), end: u64::MAX, ..ArchiveFile::default() };
        let lost = found.is_none().then_some(Damage::Missing);
        self.files.insert(capture.file.clone(), Tally { row, held: found, lost, ..Tally::default() });
        Ok(())
    }

    /// One file from its first record to its last.
    async fn walk(&mut self, name: &str, bytes: &mut u64, files: u64) -> Result<ControlFlow<()>> {
        let Some(tally) = self.files.get(name) else { return Ok(ControlFlow::Continue(())) };
        let (Some(held), row) = (tally.held.clone(), tally.row.clone()) else {
            return Ok(ControlFlow::Continue(()));
        };
        let path = held.path(&self.dir);
        let cannot = || format!("cannot read {}", path.display());
        let stored = row.collection.filter(|name| !name.is_empty());
        let collection = match stored {
            Some(collection) => collection,
            None => warc::said_first(&path, &[PART_OF, COLLECTION]).with_context(cannot)?.unwrap_or_default(),
        };
        let mut walk = Walk::new(&path, 0, Some(row.end)).with_context(cannot)?;
        let (mut records, mut good) = (0u64, 0);
        while let Some(step) = walk.next().with_context(cannot)? {
            records += 1;
            let finding = match step {
                Step::Damaged { from, to, reason } => {
                    Some(Finding::Damaged { file: held.file_name(), from, to, reason })
                }
                Step::Record(record) => {
                    *bytes += record.extent.length;
                    match (record.digests.problem(), record.entry) {
                        (None, Some(entry)) if self.is_captured(&collection, &entry, name).await? => {
                            good += 1;
                            None
                        }
                        (None, Some(entry)) => self.uncaptured(&collection, &held, entry).await?,
                        // Of a capture that will be said.
                        (Some(_), Some(_)) | (None, None) => None,
                        (Some(reason), None) => {
                            let (from, to) = (record.extent.offset, record.next);
                            Some(Finding::Damaged { file: held.file_name(), from, to, reason })
                        }
                    }
                }
            };
            let alive = records.is_multiple_of(RECORDS_BETWEEN);
            let progress = alive.then_some(Finding::Progress { files, bytes: *bytes });
            for finding in finding.into_iter().chain(progress) {
                if self.tell(finding).await.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        if let Some(tally) = self.files.get_mut(name) {
            tally.good = good;
            self.summary.files_wrong += u64::from(tally.lost.is_none() && good != tally.captures);
        }
        Ok(self.tell(Finding::Progress { files: files + 1, bytes: *bytes }).await)
    }

    async fn stored(&self, collection: &str, entry: &Entry) -> Result<Option<Capture>> {
        let tx = self.frontier.store().begin().await?;
        let key = (collection, surt_in_key(&entry.surt), entry.time.0, entry.offset);
        Ok(CAPTURES.get(&tx, key).await?)
    }

    /// Whether there is a capture of just that record.
    async fn is_captured(&self, collection: &str, entry: &Entry, file: &str) -> Result<bool> {
        Ok(self.stored(collection, entry).await?.is_some_and(|stored| stored == capture(entry, file, 0).1))
    }

    /// A record that no capture points to; if one does and says something else, that capture will
    /// be told.
    async fn uncaptured(&mut self, collection: &str, held: &Held, entry: Entry) -> Result<Option<Finding>> {
        if self.stored(collection, &entry).await?.is_some_and(|stored| stored.file == held.name) {
            return Ok(None);
        }
        self.summary.uncaptured += 1;
        Ok(Some(Finding::Uncaptured { file: held.file_name(), offset: entry.offset, url: entry.url }))
    }

    /// Of files with captures that were not found good, which those are.
    async fn single_out(&mut self) -> Result<ControlFlow<()>> {
        self.files.retain(|_, tally| tally.good != tally.captures);
        let mut rest = Some(CAPTURES.range(())).filter(|_| !self.files.is_empty());
        while let Some(range) = rest {
            let tx = self.frontier.store().begin().await?;
            let page = CAPTURES.scan(&tx, &range, PAGE, Order::Forward).await?;
            for ((collection, surt, at, _), capture) in page.rows {
                let Some(tally) = self.files.get(&capture.file) else { continue };
                if capture.offset >= tally.row.end {
                    continue;
                }
                let Some(reason) = tally.wrong(&self.dir, &surt, Time(at), &capture) else { continue };
                self.summary.captures_wrong += 1;
                let time = Time(at);
                let finding = Finding::Capture { collection, time, capture: Box::new(capture), reason };
                if self.tell(finding).await.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            rest = page.rest;
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Tally {
    /// What is wrong with a capture, if anything is.
    fn wrong(&self, dir: &Path, surt: &str, time: Time, expected: &Capture) -> Option<String> {
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
        if (surt_in_key(&key.surt), key.time) != (surt, time) || found.url != expected.url {
            return Some(format!("the record there is of {} at {}", found.url, key.time));
        }
        (found != *expected).then(|| "the record there says something else".to_owned())
    }
}
