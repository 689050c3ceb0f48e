//! The archive of a data directory: one set of WARC files per collection, written one batch at a
//! time.
//!
//! A batch is noted in the archive's own journal, appended and synced, while the store puts its
//! transaction together; then the store commits it and it is settled, or it is cut off again. So at every moment the store and the files agree on
//! what is archived, but for the batch in hand, and the archive knows which that is. At [start]
//! both are held against each other: the batch in hand is cut off, what a power cut took back from
//! the store is read back from the files ([adopt]), and a store that knows less than it should
//! stops the start. [check] does the same with every record.

pub mod adopt;
pub mod check;
mod health;
mod picture;
mod settings;
pub(crate) use settings::host_name;
mod start;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use frontier::ports::{Archive, CaptureKey, FileEnd, Kept, Order};
use frontier::{ArchiveFile, Capture, Frontier, Refers};
pub use health::{Damage, Health, Loss};
use net::warc::{self, Batch, Compression, FileError, FileSet, Journal, Kind, Mark, Part, Prepared};
use parking_lot::Mutex;
use tokio::task::{JoinHandle, spawn_blocking};

use super::identity::Introduction;
use super::pack::PackedAnswer;
use super::{WireSettings, warc_dir};

pub struct WarcArchive {
    dir: PathBuf,
    /// None: nothing is archived.
    compression: Option<Compression>,
    introduction: Introduction,
    host: String,
    frontier: Arc<Frontier>,
    pub health: Arc<Health>,
    writing: Arc<Mutex<Writing>>,
    /// Of the batch in hand.
    syncing: Mutex<Option<JoinHandle<Result<(), FileError>>>>,
}

#[derive(Default)]
struct Writing {
    sets: HashMap<String, FileSet>,
    /// The sets the batch in hand was written to, and where it began.
    in_hand: Vec<(String, Mark)>,
    /// From the start on.
    journal: Option<Journal>,
    /// Of the last batch that was settled.
    number: u64,
    /// Up to this one the store has them on disk.
    certain: u64,
    /// Later ones, each with the commit that has to be on disk for it.
    uncertain: VecDeque<(u64, u64)>,
}

impl WarcArchive {
    pub fn new(settings: &WireSettings, frontier: Arc<Frontier>) -> Result<WarcArchive> {
        let dir = warc_dir(&settings.dir);
        warc::private_dir(&dir).with_context(|| format!("cannot make the directory {}", dir.display()))?;
        Ok(WarcArchive {
            dir,
            compression: settings.compression,
            introduction: settings.introduction.clone(),
            host: settings.node.clone().unwrap_or_else(host_name),
            frontier,
            health: Arc::default(),
            writing: Arc::default(),
            syncing: Mutex::default(),
        })
    }

    /// Completes all files: nothing more comes.
    pub fn close(&self) -> Result<()> {
        let mut writing = self.writing.lock();
        for (_, mut set) in writing.sets.drain() {
            set.close()?;
        }
        Ok(())
    }

    /// The store has everything on disk: whoever finds it knowing less will know.
    pub fn rest(&self) -> Result<()> {
        let Writing { journal, number, .. } = &mut *self.writing.lock();
        Ok(journal.as_mut().map_or(Ok(()), |journal| journal.certain(*number))?)
    }

    fn keep_all(&self, batch: &[(&Order, &[Prepared])]) -> Result<Kept, FileError> {
        let mut writing = self.writing.lock();
        writing.in_hand.clear();
        let (true, Some(compression)) =
            (batch.iter().any(|(_, groups)| !groups.is_empty()), self.compression)
        else {
            return Ok(Kept { captures: batch.iter().map(|_| Vec::new()).collect(), files: Vec::new() });
        };
        let number = writing.number + 1;
        self.begin(&mut writing, batch, compression)?;
        writing.note(number, batch, self.frontier.store().progress().durable)?;
        let mut kept = Kept::default();
        for (order, groups) in batch {
            let mut captures = Vec::new();
            let set = writing.sets.get_mut(&order.collection).ok_or(FileError::NoBatch)?;
            for group in *groups {
                let place = set.append(group)?;
                captures.extend(group.entries.iter().map(|entry| capture(entry, &place.file, place.offset)));
            }
            kept.captures.push(captures);
        }
        let Writing { sets, in_hand, .. } = &mut *writing;
        for (collection, _) in in_hand {
            let reached = sets.get_mut(collection).ok_or(FileError::NoBatch)?.flush()?;
            let row = ArchiveFile {
                collection: Some(collection.clone()),
                end: reached.end,
                captures: reached.entries,
                batch: number,
                node: String::new(),
            };
            kept.files.push(FileEnd { file: reached.file.to_string(), row });
        }
        Ok(kept)
    }

    /// Begins the batch in the file set of each of its collections.
    fn begin(
        &self,
        writing: &mut Writing,
        batch: &[(&Order, &[Prepared])],
        compression: Compression,
    ) -> Result<(), FileError> {
        for (order, _) in batch {
            let collection = &order.collection;
            if writing.in_hand.iter().any(|(begun, _)| begun == collection) {
                continue;
            }
            let set = match writing.sets.entry(collection.clone()) {
                Entry::Occupied(set) => set.into_mut(),
                Entry::Vacant(place) => {
                    place.insert(FileSet::new(self.file_settings(collection, compression))?)
                }
            };
            let mark = set.begin(self.frontier.now())?;
            writing.in_hand.push((collection.clone(), mark));
        }
        Ok(())
    }

    /// Begins to sync the batch in hand: that takes its time, and the commit has much to do until it
    /// needs it.
    fn sync_in_hand(&self) {
        let writing = Arc::clone(&self.writing);
        let syncing = spawn_blocking(move || {
            let Writing { sets, in_hand, .. } = &mut *writing.lock();
            in_hand.iter().try_for_each(|(collection, _)| {
                sets.get_mut(collection).ok_or(FileError::NoBatch)?.sync().map(drop)
            })
        });
        *self.syncing.lock() = Some(syncing);
    }

    /// Of a batch that is not to stay, for this reason.
    fn take_back(&self, error: &FileError) -> String {
        let reason = self.failed(error);
        match tokio::task::block_in_place(|| self.abandon_all()) {
            Ok(()) => reason,
            Err(again) => {
                format!("{reason}; and what was written of it could not be taken back: {}", told(&again))
            }
        }
    }

    fn abandon_all(&self) -> Result<(), FileError> {
        let Writing { sets, in_hand, .. } = &mut *self.writing.lock();
        for (collection, mark) in in_hand.drain(..) {
            if let Some(set) = sets.get_mut(&collection) {
                set.cut_back(&mark)?;
            }
        }
        Ok(())
    }

    /// Tells of a failure, also who asks whether all is well.
    fn failed(&self, error: &FileError) -> String {
        let reason = told(error);
        self.health.fail(&reason);
        reason
    }
}

impl Writing {
    /// Notes in the journal where the batch will be, before it is there.
    fn note(&mut self, number: u64, batch: &[(&Order, &[Prepared])], durable: u64) -> Result<(), FileError> {
        while let Some((certain, _)) = self.uncertain.front().filter(|(_, commit)| *commit <= durable) {
            self.certain = *certain;
            self.uncertain.pop_front();
        }
        let parts = self.in_hand.iter().map(|(collection, mark)| {
            let groups = batch.iter().filter(|(order, _)| order.collection == *collection);
            let bytes: u64 = groups.flat_map(|(_, groups)| *groups).map(|group| group.bytes.len()).sum();
            let now = self.sets.get(collection).map_or(mark.len, FileSet::len);
            Part { file: mark.file.to_string(), begin: mark.len, end: now + bytes }
        });
        let batch = Batch { number, parts: parts.collect(), settled: false };
        self.journal.as_mut().map_or(Ok(()), |journal| journal.batch(batch, self.certain))
    }

    fn settle(&mut self, commit: u64) {
        if self.in_hand.is_empty() {
            return;
        }
        self.in_hand.clear();
        self.number += 1;
        self.uncertain.push_back((self.number, commit));
        if let Some(journal) = &mut self.journal {
            // Without the note the batch counts as in hand until the next, and the store will say that it is
            // not.
            let _ = journal.settled();
        }
    }
}

impl Archive<PackedAnswer> for WarcArchive {
    async fn keep(&self, batch: &[(&Order, &PackedAnswer)]) -> Result<Kept, String> {
        let mut groups = Vec::with_capacity(batch.len());
        for (order, haul) in batch {
            match haul {
                PackedAnswer::Groups(packed) => groups.push((*order, packed.as_slice())),
                PackedAnswer::Failed(reason) => {
                    self.writing.lock().in_hand.clear();
                    return Err(format!("an answer could not be kept: {reason}"));
                }
            }
        }
        let kept =
            tokio::task::block_in_place(|| self.keep_all(&groups)).map_err(|error| self.take_back(&error))?;
        if !kept.files.is_empty() {
            self.sync_in_hand();
        }
        Ok(kept)
    }

    async fn synced(&self) -> Result<(), String> {
        let syncing = self.syncing.lock().take();
        let Some(syncing) = syncing else { return Ok(()) };
        match syncing.await {
            Ok(synced) => synced.map_err(|error| self.take_back(&error)),
            Err(ended) => Err(format!("syncing was given up: {ended}")),
        }
    }

    fn settled(&self) {
        self.writing.lock().settle(self.frontier.store().progress().committed);
    }

    async fn abandon(&self) -> Result<(), String> {
        let syncing = self.syncing.lock().take();
        if let Some(syncing) = syncing {
            // What is taken back need not be on disk; a file that failed is not written on.
            let _ = syncing.await;
        }
        tokio::task::block_in_place(|| self.abandon_all()).map_err(|error| self.failed(&error))
    }
}

fn capture(entry: &warc::Entry, file: &str, group_offset: u64) -> (CaptureKey, Capture) {
    let key = CaptureKey { surt: entry.surt.clone(), time: entry.time };
    let capture = Capture {
        url: entry.url.clone(),
        file: file.to_owned(),
        offset: group_offset + entry.offset,
        length: entry.length,
        status: entry.status.unwrap_or(0),
        mime: entry.mime.clone(),
        digest: entry.digest.clone(),
        revisit: entry.kind == Kind::Revisit,
        refers: entry.refers.as_ref().map(|(url, time)| Refers {
            url: Some(url).filter(|url| **url != entry.url).cloned(),
            time: *time,
        }),
        moved: None,
        cut: entry.cut,
    };
    (key, capture)
}

fn told(error: &FileError) -> String {
    let source = std::error::Error::source(error).map_or_else(String::new, |source| format!(": {source}"));
    format!("archiving failed: {error}{source}")
}
