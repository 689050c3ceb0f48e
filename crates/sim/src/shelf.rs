//! The archive of the simulator: files of records in memory.
//!
//! As in a real one, a batch is written record after record at the end of its collection's file, which is rolled now and then; what of it is
//! not committed is cut off again, by `abandon` or by the next process. A kill may come between two records, and in the middle of one; a full disk
//! may refuse a batch, and a broken one may keep what was to be taken back.

use std::collections::BTreeMap;

use frontier::ports::{Archive, CaptureKey, Fetch, FileEnd, Kept, Order, Report};
use frontier::schema::{ArchiveFile, Capture};
use parking_lot::Mutex;

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

#[derive(Clone, Debug, Default)]
struct File {
    records: Vec<Record>,
    /// Up to the end of its last record.
    bytes: u64,
    /// Of a record that was not written to its end.
    torn: u64,
    complete: bool,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<String, File>,
    /// By collection.
    open: BTreeMap<String, String>,
    /// The files the last batch was written to, and where it began.
    batch: Vec<(String, u64)>,
    faults: ShelfFaults,
}

#[derive(Debug)]
pub struct Shelf {
    state: Mutex<State>,
    rng: Mutex<fastrand::Rng>,
}

/// What a start found of the last batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    pub records_cut: usize,
    pub torn: usize,
}

impl Shelf {
    pub fn new(seed: u64) -> Shelf {
        Shelf { state: Mutex::default(), rng: Mutex::new(fastrand::Rng::with_seed(seed)) }
    }

    pub fn inject(&self, faults: ShelfFaults) {
        self.state.lock().faults = faults;
    }

    /// Every whole record, in the order of files.
    pub fn records(&self) -> Vec<Record> {
        self.state.lock().files.values().flat_map(|file| file.records.clone()).collect()
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

    /// Files that were open when the last process ended.
    pub fn open_files(&self) -> Vec<String> {
        let state = self.state.lock();
        state.files.iter().filter(|(_, file)| !file.complete).map(|(name, _)| name.clone()).collect()
    }

    /// The next process cuts the open files back to what is committed of each; an error is a file that is shorter than that.
    pub fn recover(&self, committed: &BTreeMap<String, u64>) -> Result<Recovered, String> {
        let mut state = self.state.lock();
        let mut recovered = Recovered::default();
        state.batch.clear();
        for (name, file) in state.files.iter_mut().filter(|(_, file)| !file.complete) {
            let end = committed.get(name).copied().unwrap_or(0);
            if file.bytes < end {
                return Err(format!("{name} has {} bytes, but {end} were archived", file.bytes));
            }
            recovered.torn += usize::from(file.torn > 0);
            recovered.records_cut += file.cut_back(end);
        }
        state.files.retain(|_, file| !file.records.is_empty());
        let State { files, open, .. } = &mut *state;
        open.retain(|_, name| files.contains_key(name));
        Ok(recovered)
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
    /// The file that a batch of the collection goes to, and where that begins.
    fn begin(&mut self, collection: &str) -> String {
        let open = self.open.get(collection).cloned();
        if let Some(name) = open {
            if self.batch.iter().any(|(begun, _)| *begun == name) {
                return name;
            }
            let file = self.files.entry(name.clone()).or_default();
            if file.bytes < FILE_BYTES_MAX {
                self.batch.push((name.clone(), file.bytes));
                return name;
            }
            file.complete = true;
        }
        let name = format!("{collection}-{:05}", self.files.len());
        self.files.insert(name.clone(), File::default());
        self.open.insert(collection.to_owned(), name.clone());
        self.batch.push((name.clone(), 0));
        name
    }
}

impl File {
    /// How many records that cost.
    fn cut_back(&mut self, bytes: u64) -> usize {
        let before = self.records.len();
        self.records.retain(|record| record.capture.offset < bytes);
        self.bytes = self.bytes.min(bytes);
        self.torn = 0;
        before - self.records.len()
    }
}

impl Archive<Answered> for Shelf {
    async fn keep(&self, batch: &[(&Order, &Answered)]) -> Result<Kept, String> {
        let faults = {
            let mut state = self.state.lock();
            state.batch.clear();
            state.faults
        };
        let mut kept = Kept::default();
        let fails_at = self.draw(faults.keep).then(|| self.rng.lock().usize(0..=batch.len()));
        for (at, (order, answered)) in batch.iter().enumerate() {
            if fails_at == Some(at) {
                return Err(self.refuse("injected: the disk is full"));
            }
            let name = self.tear(order);
            if self.draw(faults.pause) {
                tokio::task::yield_now().await;
            }
            kept.captures.push(vec![self.append(&name, order, answered)]);
        }
        if fails_at == Some(batch.len()) {
            return Err(self.refuse("injected: the disk did not take it in"));
        }
        if self.draw(faults.pause) {
            tokio::task::yield_now().await;
        }
        let state = self.state.lock();
        let end = |(name, _): &(String, u64)| FileEnd {
            file: name.clone(),
            row: ArchiveFile {
                end: state.files.get(name).map_or(0, |file| file.bytes),
                ..ArchiveFile::default()
            },
        };
        kept.files = state.batch.iter().map(end).collect();
        Ok(kept)
    }

    async fn abandon(&self) -> Result<(), String> {
        self.abandon_batch()
    }
}

impl Shelf {
    /// A record is begun, and not there yet.
    fn tear(&self, order: &Order) -> String {
        let mut state = self.state.lock();
        let name = state.begin(&order.collection);
        if let Some(file) = state.files.get_mut(&name) {
            file.torn = 1;
        }
        name
    }

    fn append(&self, name: &str, order: &Order, answered: &Answered) -> (CaptureKey, Capture) {
        let mut state = self.state.lock();
        let file = state.files.entry(name.to_owned()).or_default();
        let capture = Capture {
            url: order.url.as_str().to_owned(),
            file: name.to_owned(),
            offset: file.bytes,
            length: RECORD_BYTES + order.url.as_str().len() as u64,
            status: answered.status,
            mime: Some("text/html".to_owned()),
            digest: answered.digest.clone(),
            revisit: answered.unchanged,
        };
        file.torn = 0;
        file.bytes += capture.length;
        let (collection, key) = (order.collection.clone(), answered.key.clone());
        file.records.push(Record { collection, key: key.clone(), capture: capture.clone() });
        (key, capture)
    }
}
