//! What is known to be synced: per journal, a sequence number that its last synced batch has at
//! least.
//!
//! Kept in the file `synced` beside the journals, in one sector that is written over. It is never
//! ahead of the disk: a mark is written after the sync it speaks of. The engine does not tell where
//! a batch went; so a batch counts as being in a journal if that journal was the newest both before
//! the batch was written and after it was synced.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_64;

use crate::private;

const FILE: &str = "synced";
const SECTOR_BYTES: usize = 512;
/// Journals that are remembered; there are seldom more than three.
const JOURNALS_MAX: usize = 8;
/// How far the file may be behind when the power goes.
const LAG_MAX: Duration = Duration::from_secs(1);

pub(crate) struct Marks {
    engine_dir: PathBuf,
    /// None: it could not be made, and nothing is known of syncs.
    file: Option<File>,
    known: Vec<(u64, u64)>,
    /// The newest journal, when last looked.
    journal: Option<u64>,
    /// Of the last batch that was written.
    written: Option<u64>,
    synced_at: Option<Instant>,
}

impl Marks {
    pub(crate) fn open(engine_dir: &Path) -> Marks {
        let known = Marks::read(engine_dir).unwrap_or_default();
        let file = private::writing().create(true).truncate(false).open(engine_dir.join(FILE));
        Marks {
            engine_dir: engine_dir.to_owned(),
            file: file.ok(),
            known,
            journal: newest(engine_dir),
            written: None,
            synced_at: None,
        }
    }

    /// No store that has all it ever synced is below this.
    pub(crate) fn seqno_min(&self) -> u64 {
        self.known.iter().map(|(_, seqno)| *seqno).max().unwrap_or(0)
    }

    /// What was known is of no use any more.
    pub(crate) fn begin_anew(&mut self) {
        self.known.clear();
        self.write();
    }

    /// A batch is about to be written; its sequence number will be `next` or higher.
    pub(crate) fn writing(&mut self, next: u64) {
        self.written = Some(next);
    }

    /// All that was written is on disk.
    pub(crate) fn synced(&mut self) {
        let journal = newest(&self.engine_dir);
        let is_same = journal == self.journal;
        self.journal = journal;
        let (Some(journal), Some(seqno)) = (journal, self.written.take()) else { return };
        if !is_same {
            return;
        }
        self.known.retain(|(id, _)| *id != journal && super::path(&self.engine_dir, *id).exists());
        self.known.push((journal, seqno));
        let excess = self.known.len().saturating_sub(JOURNALS_MAX);
        self.known.drain(..excess);
        self.write();
    }

    /// A mark that cannot be written stays behind, which is no harm.
    #[expect(
        clippy::disallowed_methods,
        reason = "how long a real disk lags behind is a matter of real time"
    )]
    fn write(&mut self) {
        let Some(file) = &self.file else { return };
        let is_written = file.write_all_at(&sector(&self.known), 0).is_ok();
        if is_written && self.synced_at.is_none_or(|at| at.elapsed() >= LAG_MAX) {
            let _ = file.sync_data();
            self.synced_at = Some(Instant::now());
        }
    }

    /// None: there are none, or they do not read.
    pub(super) fn read(engine_dir: &Path) -> Option<Vec<(u64, u64)>> {
        let bytes = fs::read(engine_dir.join(FILE)).ok()?;
        let text = std::str::from_utf8(bytes.get(..SECTOR_BYTES)?).ok()?;
        let (lines, rest) = text.split_once('#')?;
        let checksum = u64::from_str_radix(rest.lines().next()?, 16).ok()?;
        if checksum != xxh3_64(lines.as_bytes()) {
            return None;
        }
        let pair = |line: &str| {
            let (journal, seqno) = line.split_once(' ')?;
            Some((journal.parse().ok()?, seqno.parse().ok()?))
        };
        lines.lines().map(pair).collect()
    }

    pub(super) fn forget(engine_dir: &Path) -> io::Result<()> {
        match fs::remove_file(engine_dir.join(FILE)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }
}

/// A line for each journal, then the checksum of these lines, then blanks.
fn sector(known: &[(u64, u64)]) -> [u8; SECTOR_BYTES] {
    let mut text = String::new();
    for (journal, seqno) in known {
        // Writing to a text does not fail.
        let _ = writeln!(text, "{journal} {seqno}");
    }
    let checksum = xxh3_64(text.as_bytes());
    let _ = writeln!(text, "#{checksum:016x}");
    let mut sector = [b' '; SECTOR_BYTES];
    let length = text.len().min(SECTOR_BYTES);
    sector[..length].copy_from_slice(&text.as_bytes()[..length]);
    sector
}

fn newest(engine_dir: &Path) -> Option<u64> {
    super::ids(engine_dir).ok()?.pop()
}
