//! The archive of the simulator: files of records in memory.
//!
//! As in a real one, a batch is noted in a journal of the archive's own and then written record
//! after record at the end of its collection's file, which is rolled now and then. What of it is
//! not committed is cut off again, by `abandon` or by the next process. A kill may come between two
//! records, and in the middle of one; a full disk may refuse a batch, and a broken one may keep
//! what was to be taken back. What a start makes of what it finds is not decided here: see
//! [`hands`](self::Held) for what can be done to the files.

mod hands;
mod journal;

use std::collections::{BTreeMap, VecDeque};

use frontier::ports::{Archive, CaptureKey, Fetch, FileEnd, Kept, Order, Report};
use frontier::{ArchiveFile, Capture};
use parking_lot::Mutex;
use store::Store;

use journal::{Journal, Line};

pub use hands::Held;
pub use journal::{Batch, Remembered};

/// An answer as the archive gets it.
#[derive(Clone, Debug)]
pub struct Answered {
    pub key: CaptureKey,
    pub status: u16,
    pub digest: String,
    pub unchanged: bool,
}

impl Answered {
    /// None where there was no answer.
    pub fn of(order: &Order, report: &Report) -> Option<Answered> {
        let Fetch::Answer(facts) = &report.result else { return None };
        Some(Answered {
            key: CaptureKey { surt: order.url.as_str().to_owned(), time: report.at },
            status: facts.status,
            digest: facts.digest.clone().unwrap_or_default(),
            unchanged: facts.unchanged,
        })
    }
}

/// One record of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub collection: String,
    pub key: CaptureKey,
    pub capture: Capture,
}

impl Record {
    /// What it is known by: no two records have it in common.
    pub fn place(&self) -> (String, u64) {
        (self.capture.file.clone(), self.capture.offset)
    }
}

/// How often things go wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShelfFaults {
    /// A batch is refused, part of it written and taken back.
    pub keep: f64,
    /// What was to be taken back stays.
    pub abandon: f64,
    /// Others have a turn between two records.
    pub pause: f64,
}

/// A file is rolled when it has so many bytes.
const FILE_BYTES_MAX: u64 = 4_000;
/// Of a record, over its URL.
const RECORD_BYTES: u64 = 100;

/// A file is written, has been, or is known to nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    #[default]
    Open,
    Complete,
    Aside,
}

#[derive(Clone, Debug, Default)]
struct File {
    records: Vec<Record>,
    /// Up to the end of its last record.
    bytes: u64,
    /// Of a record that was not written to its end, or of which only so many are left.
    torn: u64,
    /// Up to here no power cut takes anything away.
    synced: u64,
    stage: Stage,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<String, File>,
    /// Files that ever had a name.
    named: u64,
    /// By collection.
    open: BTreeMap<String, String>,
    /// The files the last batch was written to, and where it began.
    batch: Vec<(String, u64)>,
    journal: Option<Journal>,
    /// Of the last batch that was settled.
    number: u64,
    /// Up to this one the store has them on disk.
    certain: u64,
    /// Later ones, each with the commit that has to be on disk for it.
    uncertain: VecDeque<(u64, u64)>,
    faults: ShelfFaults,
    /// The disk does not take the batch in hand in.
    sync_fails: bool,
}

#[derive(Debug)]
pub struct Shelf {
    store: Store,
    state: Mutex<State>,
    rng: Mutex<fastrand::Rng>,
}

impl Shelf {
    /// For what is committed to that store. It begins as archive 0.
    pub fn new(seed: u64, store: Store) -> Shelf {
        let state = State { journal: Some(Journal::begin(0, 0)), ..State::default() };
        Shelf { store, state: Mutex::new(state), rng: Mutex::new(fastrand::Rng::with_seed(seed)) }
    }

    pub fn inject(&self, faults: ShelfFaults) {
        self.state.lock().faults = faults;
    }

    /// Every whole record of the files that count, in their order.
    pub fn records(&self) -> Vec<Record> {
        let state = self.state.lock();
        let counting = state.files.values().filter(|file| file.stage != Stage::Aside);
        counting.flat_map(|file| file.records.clone()).collect()
    }

    /// The whole records of the last batch, which may not be committed yet.
    pub fn in_hand(&self) -> Vec<Record> {
        let state = self.state.lock();
        let of = |(name, begin): &(String, u64)| {
            let records = state.files.get(name).map_or(&[][..], |file| &file.records);
            records.iter().filter(|record| record.capture.offset >= *begin).cloned().collect::<Vec<_>>()
        };
        state.batch.iter().flat_map(of).collect()
    }

    fn draw(&self, share: f64) -> bool {
        share > 0.0 && self.rng.lock().f64() < share
    }

    fn abandon_batch(&self) -> Result<(), String> {
        let mut state = self.state.lock();
        if self.draw(state.faults.abandon) {
            return Err("injected: what was written cannot be taken back".to_owned());
        }
        for (name, begin) in std::mem::take(&mut state.batch) {
            if let Some(file) = state.files.get_mut(&name) {
                file.cut_back(begin);
            }
        }
        Ok(())
    }

    /// The batch failed half-way.
    fn refuse(&self, why: &str) -> String {
        match self.abandon_batch() {
            Ok(()) => why.to_owned(),
            Err(again) => format!("{why}; {again}"),
        }
    }
}

impl State {
    /// Begins the batch in the file of the collection. An error is one that is not there any more.
    fn begin(&mut self, collection: &str) -> Result<(), String> {
        if let Some(name) = self.open.get(collection).cloned() {
            if self.batch.iter().any(|(begun, _)| *begun == name) {
                return Ok(());
            }
            let Some(file) = self.files.get_mut(&name) else {
                return Err(format!("{name} was deleted while it was being written"));
            };
            if file.torn > 0 {
                return Err(format!("{name} was changed while it was being written"));
            }
            if file.bytes < FILE_BYTES_MAX {
                self.batch.push((name.clone(), file.bytes));
                return Ok(());
            }
            file.stage = Stage::Complete;
        }
        let name = format!("{collection}-{:05}", self.named);
        self.named += 1;
        self.files.insert(name.clone(), File::default());
        self.open.insert(collection.to_owned(), name.clone());
        self.batch.push((name, 0));
        Ok(())
    }

    /// Notes in the journal where the batch will be, before it is there.
    fn note(&mut self, batch: &[(&Order, &Answered)], durable: u64) {
        while let Some((certain, commit)) = self.uncertain.front().copied()
            && commit <= durable
        {
            self.certain = certain;
            self.uncertain.pop_front();
        }
        let part = |(name, begin): &(String, u64)| {
            let own = |order: &Order| self.open.get(&order.collection) == Some(name);
            let bytes: u64 =
                batch.iter().filter(|(order, _)| own(order)).map(|(order, _)| length(order)).sum();
            (name.clone(), *begin, begin + bytes)
        };
        let parts = self.batch.iter().map(part).collect();
        let batch = Batch { number: self.number + 1, parts, settled: false };
        let certain = self.certain;
        self.journal
            .iter_mut()
            .for_each(|journal| journal.note(Line::Batch { batch: batch.clone(), certain }));
    }

    fn settle(&mut self, commit: u64) {
        if self.batch.is_empty() {
            return;
        }
        self.batch.clear();
        self.number += 1;
        self.uncertain.push_back((self.number, commit));
        let number = self.number;
        self.journal.iter_mut().for_each(|journal| journal.note(Line::Settled(number)));
    }

    /// How far the batch brought the file.
    fn reached(&self, name: &str) -> FileEnd {
        let row = self.files.get(name).map_or_else(ArchiveFile::default, |file| ArchiveFile {
            collection: file.records.first().map(|record| record.collection.clone()),
            end: file.bytes,
            captures: file.records.len() as u64,
            batch: self.number + 1,
            ..ArchiveFile::default()
        });
        FileEnd { file: name.to_owned(), row }
    }
}

impl File {
    fn cut_back(&mut self, bytes: u64) {
        self.records.retain(|record| record.capture.offset < bytes);
        self.bytes = self.bytes.min(bytes);
        self.synced = self.synced.min(bytes);
        self.torn = 0;
    }
}

/// Of the record of an answer to this.
fn length(order: &Order) -> u64 {
    RECORD_BYTES + order.url.as_str().len() as u64
}

impl Archive<Answered> for Shelf {
    async fn keep(&self, batch: &[(&Order, &Answered)]) -> Result<Kept, String> {
        let faults = {
            let mut state = self.state.lock();
            state.batch.clear();
            for (order, _) in batch {
                state.begin(&order.collection)?;
            }
            if !batch.is_empty() {
                state.note(batch, self.store.progress().durable);
            }
            state.faults
        };
        let mut kept = Kept::default();
        let fails_at = self.draw(faults.keep).then(|| self.rng.lock().usize(0..=batch.len()));
        self.state.lock().sync_fails = fails_at == Some(batch.len());
        for (at, (order, answered)) in batch.iter().enumerate() {
            if fails_at == Some(at) {
                return Err(self.refuse("injected: the disk is full"));
            }
            self.tear(order)?;
            if self.draw(faults.pause) {
                tokio::task::yield_now().await;
            }
            kept.captures.push(vec![self.append(order, answered)?]);
        }
        let state = self.state.lock();
        kept.files = state.batch.iter().map(|(name, _)| state.reached(name)).collect();
        Ok(kept)
    }

    async fn synced(&self) -> Result<(), String> {
        let faults = self.state.lock().faults;
        if self.draw(faults.pause) {
            tokio::task::yield_now().await;
        }
        if std::mem::take(&mut self.state.lock().sync_fails) {
            return Err(self.refuse("injected: the disk did not take it in"));
        }
        let State { files, batch, .. } = &mut *self.state.lock();
        for (name, _) in batch {
            if let Some(file) = files.get_mut(name) {
                file.synced = file.bytes;
            }
        }
        Ok(())
    }

    fn settled(&self) {
        self.state.lock().settle(self.store.progress().committed);
    }

    async fn abandon(&self) -> Result<(), String> {
        self.abandon_batch()
    }
}

impl Shelf {
    /// A record is begun, and not there yet.
    fn tear(&self, order: &Order) -> Result<(), String> {
        self.with_open(order, |_, file| file.torn = 1)
    }

    fn append(&self, order: &Order, answered: &Answered) -> Result<(CaptureKey, Capture), String> {
        self.with_open(order, |name, file| {
            let capture = Capture {
                url: order.url.as_str().to_owned(),
                file: name.to_owned(),
                offset: file.bytes,
                length: length(order),
                status: answered.status,
                mime: Some("text/html".to_owned()),
                digest: answered.digest.clone(),
                revisit: answered.unchanged,
                ..Capture::default()
            };
            file.torn = 0;
            file.bytes += capture.length;
            let (collection, key) = (order.collection.clone(), answered.key.clone());
            file.records.push(Record { collection, key: key.clone(), capture: capture.clone() });
            (key, capture)
        })
    }

    /// Each time anew: somebody may have taken it away.
    fn with_open<T>(&self, order: &Order, write: impl FnOnce(&str, &mut File) -> T) -> Result<T, String> {
        let State { files, open, .. } = &mut *self.state.lock();
        let name = open.get(&order.collection).ok_or("no batch was begun")?;
        match files.get_mut(name) {
            Some(file) => Ok(write(name, file)),
            None => Err(format!("{name} was deleted while it was being written")),
        }
    }
}
