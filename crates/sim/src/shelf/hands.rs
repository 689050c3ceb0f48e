//! What is done to the files by others than the one who writes them: the next process, which puts
//! right what the last one left, and those who cut, delete and misplace.

use super::journal::{Journal, Remembered};
use super::{File, Record, Shelf, Stage};

/// A file as somebody finds it who looks at the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub name: String,
    pub stage: Stage,
    pub bytes: u64,
}

impl Shelf {
    /// All files, by name.
    pub fn held(&self) -> Vec<Held> {
        let state = self.state.lock();
        let held = |(name, file): (&String, &File)| Held {
            name: name.clone(),
            stage: file.stage,
            bytes: file.bytes + file.torn,
        };
        state.files.iter().map(held).collect()
    }

    /// What the archive itself knows of its last batches; none if its journal is gone.
    pub fn remembered(&self) -> Option<Remembered> {
        self.state.lock().journal.as_ref().map(Journal::remembered)
    }

    /// The whole records of a file that begin at a byte or behind it.
    pub fn records_from(&self, name: &str, from: u64) -> Vec<Record> {
        let state = self.state.lock();
        let records = state.files.get(name).map_or(&[][..], |file| &file.records);
        records.iter().filter(|record| record.capture.offset >= from).cloned().collect()
    }

    /// Takes off what lies behind a byte; a file without anything goes.
    pub fn cut_back(&self, name: &str, to: u64) {
        let mut state = self.state.lock();
        if let Some(file) = state.files.get_mut(name) {
            file.cut_back(to);
            if to == 0 {
                state.files.remove(name);
            }
        }
    }

    /// Takes what is no whole record off the end of a file, to keep it elsewhere; says whether
    /// there was any.
    pub fn set_end_aside(&self, name: &str) -> bool {
        let mut state = self.state.lock();
        state.files.get_mut(name).is_some_and(|file| std::mem::take(&mut file.torn) > 0)
    }

    /// The file counts no longer, or counts again, or is not written any more.
    pub fn put(&self, name: &str, stage: Stage) {
        if let Some(file) = self.state.lock().files.get_mut(name) {
            file.stage = stage;
        }
    }

    /// A new process writes from here on: to the files that are open of the archive of that number,
    /// and after this batch.
    pub fn begin(&self, id: u64, certain: u64) {
        let mut state = self.state.lock();
        let state = &mut *state;
        state.batch.clear();
        state.open.clear();
        state.uncertain.clear();
        (state.number, state.certain) = (certain, certain);
        state.journal = Some(Journal::begin(id, certain));
        for (name, file) in &mut state.files {
            // A start syncs what it takes in, and takes off the rest.
            file.synced = file.bytes;
            let Some(collection) = file.records.first().map(|record| record.collection.clone()) else {
                continue;
            };
            match (file.stage, state.open.contains_key(&collection)) {
                (Stage::Open, false) => drop(state.open.insert(collection, name.clone())),
                // One of them is enough.
                (Stage::Open, true) => file.stage = Stage::Complete,
                _ => {}
            }
        }
    }

    /// The power goes: what nobody synced may be gone, be it lines of the journal (says how many) or
    /// records, from any byte on. The files are synced before anything in them is committed.
    pub fn power_cut(&self) -> usize {
        let mut state = self.state.lock();
        for file in state.files.values_mut() {
            let written = file.bytes + file.torn;
            let left = self.rng.lock().u64(file.synced.min(written)..=written);
            file.cut(left);
            file.synced = left;
        }
        let Some(journal) = &mut state.journal else { return 0 };
        let lost = self.rng.lock().usize(0..=journal.unsynced());
        journal.lose(lost);
        lost
    }

    /// The archive no longer remembers anything.
    pub fn lose_journal(&self) {
        self.state.lock().journal = None;
    }

    /// Somebody cuts a file off at a byte; gives the records that are no more.
    pub fn cut(&self, name: &str, at: u64) -> Vec<Record> {
        let mut state = self.state.lock();
        state.files.get_mut(name).map(|file| file.cut(at)).unwrap_or_default()
    }

    /// Somebody deletes a file; gives the records that are no more.
    pub fn delete(&self, name: &str) -> Vec<Record> {
        self.state.lock().files.remove(name).map(|file| file.records).unwrap_or_default()
    }
}

impl File {
    fn cut(&mut self, at: u64) -> Vec<Record> {
        if at >= self.bytes + self.torn {
            return Vec::new();
        }
        let whole = |record: &Record| record.capture.offset + record.capture.length <= at;
        let (kept, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.records).into_iter().partition(whole);
        self.bytes = kept.last().map_or(0, |record| record.capture.offset + record.capture.length);
        self.torn = at - self.bytes;
        self.synced = self.synced.min(at);
        self.records = kept;
        gone
    }
}
