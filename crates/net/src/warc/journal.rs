//! What the archive itself remembers of its batches (A13), so that nobody has to believe the store
//! alone.
//!
//! A small file of text beside the archive files, one line for each thing that happened:
//!
//! ```text
//! archive 5f3c9a1d00e2b7c4 #1f0e7a52
//! boot 0d9a2c31-5a8e-4a52-9a39-3a1f2b7c9d10 #7c11e0aa
//! batch 12 certain 10 skurd-news-20240229123456789-00000-h.warc.gz 4711 9422 #90ab12cd
//! settled 12 #0d3e5f77
//! ```
//!
//! The number in the first line is the archive's own, which the store knows too. Before a batch is
//! appended to any file, its line says where in which file it will begin and end, and up to which
//! batch the store has told that it is on disk for *certain*. When the store has committed the
//! batch, it is *settled*. So after a kill the batch in hand, the only one that may be cut off
//! again, is the last one if it is not settled; and a store that knows fewer batches than were
//! certain is not the one that was here before.
//!
//! Lines are written and not synced: it costs the harvest next to nothing, and a killed process
//! leaves them whole. After a power cut the last of them may be missing, also that a batch was
//! settled which the store has lost too. So a batch counts as in hand only as long as the
//! machine has not been started anew since (*boot*): after that it is taken in like the rest. What
//! was certain, was. Each line ends with its checksum, and one that does not fit it is passed over.
//! The file is written anew at each start and when it has grown long.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::disk::{FILE_MODE, FileError, io_error, sync_dir};

/// A dot, so that `*` means the archive files.
const NAME: &str = ".journal";
const DRAFT: &str = ".journal.new";
/// Beyond this it is written anew.
const BYTES_MAX: u64 = 1 << 20;
/// Of a longer one nothing is read: it is none of ours.
const READ_BYTES_MAX: u64 = 8 << 20;
/// A store that is further behind than so many batches is not told of the first of them any more.
const RECENT_MAX: usize = 1000;

/// The journal of an archive, to be written.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    path: PathBuf,
    file: File,
    bytes: u64,
    id: u64,
    /// Batches that are not certain yet.
    recent: VecDeque<Batch>,
}

/// What a journal says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// The archive's own number.
    pub id: u64,
    /// In the order of their numbers; not all there ever were.
    pub batches: Vec<Batch>,
    /// The store was known to have every batch up to this one on disk.
    pub certain: u64,
    /// The machine was started anew since: lines that say what became of the last batches may be
    /// lost.
    pub rebooted: bool,
}

/// One batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Counted from 1, over all the life of the archive.
    pub number: u64,
    pub parts: Vec<Part>,
    /// The store said that it is committed.
    pub settled: bool,
}

/// What of a batch is in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name the file has when it is complete.
    pub file: String,
    pub begin: u64,
    pub end: u64,
}

impl Remembered {
    /// The last batch that was begun; 0 if none ever was.
    pub fn number(&self) -> u64 {
        self.batches.last().map_or(self.certain, |batch| batch.number.max(self.certain))
    }

    /// Whether the store had committed a batch after that one.
    pub(super) fn settled_after(&self, number: u64) -> bool {
        self.batches.iter().any(|batch| batch.settled && batch.number > number)
    }

    /// Whether a batch after that one has written to the file.
    pub fn names_after(&self, number: u64, file: &str) -> bool {
        let parts = self.batches.iter().filter(|batch| batch.number > number).flat_map(|batch| &batch.parts);
        parts.into_iter().any(|part| part.file == file)
    }

    fn line(&mut self, text: &str) -> Option<()> {
        let mut words = text.split(' ');
        match words.next()? {
            "batch" => {
                let number = words.next()?.parse().ok()?;
                let certain =
                    words.next().filter(|word| *word == "certain").and(words.next())?.parse().ok()?;
                let mut parts = Vec::new();
                while let Some(file) = words.next() {
                    let (begin, end) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
                    parts.push(Part { file: file.to_owned(), begin, end });
                }
                // One that was given up is begun anew under its number.
                while self.batches.pop_if(|batch| batch.number >= number).is_some() {}
                self.batches.push(Batch { number, parts, settled: false });
                self.certain = self.certain.max(certain);
            }
            "settled" => {
                let number: u64 = words.next()?.parse().ok()?;
                self.batches.iter_mut().rfind(|batch| batch.number == number)?.settled = true;
            }
            "boot" => self.rebooted = boot().is_some_and(|now| words.next() != Some(&now)),
            "certain" => self.certain = self.certain.max(words.next()?.parse().ok()?),
            _ => {}
        }
        Some(())
    }
}

/// Reads the journal of a directory; none if there is none, or if it does not even say whose it is.
pub fn remembered(dir: &Path) -> Result<Option<Remembered>, FileError> {
    let path = dir.join(NAME);
    let mut bytes = Vec::new();
    match File::open(&path) {
        Ok(file) => file.take(READ_BYTES_MAX).read_to_end(&mut bytes).map_err(io_error("reading", &path))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error("opening", &path)(error)),
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines().filter_map(checked);
    let id = lines.next().and_then(|first| u64::from_str_radix(first.strip_prefix("archive ")?, 16).ok());
    let Some(id) = id else { return Ok(None) };
    let mut all = Remembered { id, ..Remembered::default() };
    for line in lines {
        all.line(line);
    }
    Ok(Some(all))
}

/// What this start of the machine is known by, where that can be known.
fn boot() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty() && !id.contains(' '))
}

/// A line without its checksum, if that is right.
fn checked(line: &str) -> Option<&str> {
    let (text, sum) = line.rsplit_once(" #")?;
    (u32::from_str_radix(sum, 16).ok()? == crc32fast::hash(text.as_bytes())).then_some(text)
}

fn with_sum(text: &str) -> String {
    format!("{text} #{:08x}\n", crc32fast::hash(text.as_bytes()))
}

impl Journal {
    /// Begins the journal anew: everything up to batch `certain` is known to the store, and nothing
    /// is in hand. On disk when this returns.
    pub fn begin(dir: &Path, id: u64, certain: u64) -> Result<Journal, FileError> {
        Journal::written(dir, id, certain, VecDeque::new())
    }

    fn written(dir: &Path, id: u64, certain: u64, recent: VecDeque<Batch>) -> Result<Journal, FileError> {
        let (draft, path) = (dir.join(DRAFT), dir.join(NAME));
        let mut text = with_sum(&format!("archive {id:016x}"));
        text.extend(boot().map(|boot| with_sum(&format!("boot {boot}"))));
        text.push_str(&with_sum(&format!("certain {certain}")));
        for batch in &recent {
            text.push_str(&with_sum(&batch_line(batch, certain)));
            if batch.settled {
                text.push_str(&with_sum(&settled_line(batch)));
            }
        }
        let mut options = OpenOptions::new();
        let made = options.read(true).write(true).create(true).truncate(true).mode(FILE_MODE).open(&draft);
        let mut file = made.map_err(io_error("creating", &draft))?;
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&draft, &path))
            .and_then(|()| sync_dir(dir))
            .map_err(io_error("writing", &path))?;
        Ok(Journal { dir: dir.to_owned(), path, file, bytes: text.len() as u64, id, recent })
    }

    /// Notes a batch before any of it is written.
    pub fn batch(&mut self, batch: Batch, certain: u64) -> Result<(), FileError> {
        // One that was given up is begun anew under its number.
        while self.recent.back().is_some_and(|last| last.number >= batch.number) {
            self.recent.pop_back();
        }
        while self.recent.len() >= RECENT_MAX || self.recent.front().is_some_and(|b| b.number <= certain) {
            self.recent.pop_front();
        }
        if self.bytes > BYTES_MAX {
            let recent = std::mem::take(&mut self.recent);
            *self = Journal::written(&self.dir, self.id, certain, recent)?;
        }
        self.write(&batch_line(&batch, certain))?;
        self.recent.push_back(batch);
        Ok(())
    }

    /// Notes that the store has committed the last batch.
    pub fn settled(&mut self) -> Result<(), FileError> {
        let Some(batch) = self.recent.back_mut() else { return Ok(()) };
        batch.settled = true;
        let line = settled_line(batch);
        self.write(&line)
    }

    /// Notes, on disk, that the store has everything up to a batch on disk too.
    pub fn certain(&mut self, number: u64) -> Result<(), FileError> {
        self.write(&format!("certain {number}"))?;
        self.file.sync_data().map_err(io_error("syncing", &self.path))
    }

    /// At a fixed place, so that what a failed attempt left there does not matter.
    fn write(&mut self, text: &str) -> Result<(), FileError> {
        let line = with_sum(text);
        self.file.write_all_at(line.as_bytes(), self.bytes).map_err(io_error("writing", &self.path))?;
        self.bytes += line.len() as u64;
        Ok(())
    }
}

fn batch_line(batch: &Batch, certain: u64) -> String {
    let mut line = format!("batch {} certain {certain}", batch.number);
    for Part { file, begin, end } in &batch.parts {
        line.push_str(&format!(" {file} {begin} {end}"));
    }
    line
}

fn settled_line(batch: &Batch) -> String {
    format!("settled {}", batch.number)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    fn batch(number: u64, file: &str, begin: u64) -> Batch {
        Batch { number, parts: vec![Part { file: file.to_owned(), begin, end: begin + 10 }], settled: false }
    }

    #[test]
    fn a13_what_is_noted_is_remembered_however_the_file_is_cut() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(remembered(dir.path()).unwrap(), None);
        let mut journal = Journal::begin(dir.path(), 7, 3).unwrap();
        journal.batch(batch(4, "a.warc", 0), 3).unwrap();
        journal.settled().unwrap();
        journal.batch(batch(5, "b.warc", 0), 3).unwrap();
        // Given up, and begun anew.
        journal.batch(batch(5, "a.warc", 10), 4).unwrap();
        let all = remembered(dir.path()).unwrap().unwrap();
        let settled = Batch { settled: true, ..batch(4, "a.warc", 0) };
        let expected =
            Remembered { id: 7, batches: vec![settled, batch(5, "a.warc", 10)], certain: 4, rebooted: false };
        assert_eq!(all, expected);
        assert_eq!(
            (all.number(), all.names_after(4, "a.warc"), all.names_after(4, "b.warc")),
            (5, true, false)
        );

        let path = dir.path().join(NAME);
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        let boot = text.lines().find(|line| line.starts_with("boot ")).unwrap();
        fs::write(&path, text.replace(&format!("{boot}\n"), &with_sum("boot of-another-day"))).unwrap();
        assert_eq!(remembered(dir.path()).unwrap().unwrap(), Remembered { rebooted: true, ..expected });
        for cut in 0..bytes.len() {
            let torn = [&bytes[..cut], &vec![0; bytes.len() - cut]].concat();
            for bytes in [&bytes[..cut], &torn] {
                fs::write(&path, bytes).unwrap();
                // Less is known, and nothing wrong.
                let Some(part) = remembered(dir.path()).unwrap() else { continue };
                assert_eq!((part.id, part.certain <= 4, part.number() <= 5), (7, true, true), "cut at {cut}");
            }
        }
    }

    #[test]
    fn a13_a_long_journal_is_written_anew_and_keeps_the_last_batch() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::begin(dir.path(), 7, 0).unwrap();
        let name = "x".repeat(200);
        for number in 1..20_000 {
            journal.batch(batch(number, &name, number), number.saturating_sub(3)).unwrap();
            if number % 2 == 0 {
                journal.settled().unwrap();
            }
            if number % 997 == 0 || number > 19_990 {
                let all = remembered(dir.path()).unwrap().unwrap();
                assert_eq!((all.number(), all.certain), (number, number.saturating_sub(3)));
                let recent: Vec<_> =
                    all.batches.iter().rev().take(3).map(|batch| (batch.number, batch.settled)).collect();
                let expected: Vec<_> =
                    (1..=number).rev().take(3).map(|number| (number, number % 2 == 0)).collect();
                assert_eq!(recent, expected, "those that are not certain");
            }
        }
        assert!(fs::metadata(dir.path().join(NAME)).unwrap().len() < BYTES_MAX * 2);
    }
}
