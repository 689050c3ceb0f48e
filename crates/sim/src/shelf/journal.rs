//! What the archive remembers of its batches: lines, of which a power cut may take the last away.

/// One batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    pub number: u64,
    /// In which files, from which byte to which.
    pub parts: Vec<(String, u64, u64)>,
    /// The store said that it is committed.
    pub settled: bool,
}

/// What the lines come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// The archive's own number.
    pub id: u64,
    /// In the order of their numbers; not all there ever were.
    pub batches: Vec<Batch>,
    /// The store was known to have every batch up to this one on disk.
    pub certain: u64,
    /// The power went since.
    pub rebooted: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Line {
    Certain(u64),
    Batch { batch: Batch, certain: u64 },
    Settled(u64),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Journal {
    id: u64,
    lines: Vec<Line>,
    /// So many of them are on disk.
    synced: usize,
    rebooted: bool,
}

/// Beyond this it is written anew.
const LINES_MAX: usize = 200;

impl Journal {
    pub(super) fn begin(id: u64, certain: u64) -> Journal {
        Journal { id, lines: vec![Line::Certain(certain)], synced: 1, rebooted: false }
    }

    pub(super) fn note(&mut self, line: Line) {
        if self.lines.len() > LINES_MAX {
            self.rewrite();
        }
        self.lines.push(line);
    }

    fn rewrite(&mut self) {
        let Remembered { mut batches, certain, .. } = self.remembered();
        batches.retain(|batch| batch.number > certain);
        let settled = |batch: &Batch| batch.settled.then_some(Line::Settled(batch.number));
        let lines = batches.into_iter().flat_map(|batch| {
            let settled = settled(&batch);
            [Some(Line::Batch { batch: Batch { settled: false, ..batch }, certain }), settled]
        });
        self.lines = std::iter::once(Line::Certain(certain)).chain(lines.flatten()).collect();
        self.synced = self.lines.len();
    }

    /// Lines that are on disk by luck only.
    pub(super) fn unsynced(&self) -> usize {
        self.lines.len() - self.synced
    }

    /// The power went, and with it the last lines.
    pub(super) fn lose(&mut self, lines: usize) {
        self.rebooted = true;
        self.lines.truncate(self.lines.len().saturating_sub(lines).max(self.synced));
    }

    pub(super) fn remembered(&self) -> Remembered {
        let mut all = Remembered { id: self.id, rebooted: self.rebooted, ..Remembered::default() };
        for line in &self.lines {
            match line {
                Line::Certain(number) => all.certain = all.certain.max(*number),
                Line::Batch { batch, certain } => {
                    // One that was given up is begun anew under its number.
                    all.batches.retain(|before| before.number < batch.number);
                    all.batches.push(batch.clone());
                    all.certain = all.certain.max(*certain);
                }
                Line::Settled(number) => {
                    let batch = all.batches.iter_mut().rfind(|batch| batch.number == *number);
                    batch.into_iter().for_each(|batch| batch.settled = true);
                }
            }
        }
        all
    }
}
