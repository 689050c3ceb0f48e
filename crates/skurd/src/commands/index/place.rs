//! How far each file of a load has come.
//!
//! The row of a file is written in the transaction that loads its pages, so that both are there or
//! neither. A file that is done keeps its row until all files of the command are: the same command,
//! run again after a crash, passes it over. The last thing a command does is to remove the rows of
//! all its files, so that whoever loads them again loads them anew.
//!
//! A file is known by its path, its length and the time of its last change: whatever was altered is
//! read from its beginning.

use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use store::table::{Table, read};
use store::{Store, Tx};

use super::tally::{Tally, Tally1};
use crate::pages::{Mark, STDIN};

/// Index and path.
const PLACES: Table<(String, Vec<u8>), Place> =
    Table::new(0x4F, "index load places").version(3, &[(1, place_1)]);

/// Longer paths do not fit in a key, and are not gone on with.
const PATH_BYTES_MAX: usize = 3000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    length: u64,
    changed: (i64, i64),
    /// The command that loads it, by the hash of all its files.
    command: u64,
    pub(super) done: bool,
    pub(super) mark: Mark,
    pub(super) tally: Tally,
}

/// As it was until revisits were counted.
#[derive(Deserialize)]
struct Place1 {
    length: u64,
    changed: (i64, i64),
    command: u64,
    done: bool,
    mark: Mark,
    tally: Tally1,
}

fn place_1(row: &[u8]) -> Option<Place> {
    let Place1 { length, changed, command, done, mark, tally } = read(row)?;
    Some(Place { length, changed, command, done, mark, tally: tally.into() })
}

/// A file that is to be loaded.
#[derive(Clone, Debug)]
pub(super) struct LoadFile {
    pub(super) path: PathBuf,
    pub(super) length: u64,
    changed: (i64, i64),
    /// None if it has no place that could be gone on from.
    key: Option<Vec<u8>>,
    /// What is read from a pipe is gone.
    pub(super) is_stream: bool,
}

impl LoadFile {
    pub(super) fn new(path: &Path) -> Result<LoadFile> {
        let mut file =
            LoadFile { path: path.to_owned(), length: 0, changed: (0, 0), key: None, is_stream: true };
        if path == Path::new(STDIN) {
            return Ok(file);
        }
        let cannot = || format!("cannot read {}", path.display());
        let data: Metadata = std::fs::metadata(path).with_context(cannot)?;
        file.is_stream = !data.is_file() && !data.is_dir();
        if data.is_file() {
            let whole = path.canonicalize().with_context(cannot)?;
            let bytes = whole.as_os_str().as_bytes();
            file.length = data.len();
            file.changed = (data.mtime(), data.mtime_nsec());
            file.key = (bytes.len() <= PATH_BYTES_MAX).then(|| bytes.to_vec());
        }
        Ok(file)
    }

    pub(super) fn is_stdin(&self) -> bool {
        self.path == Path::new(STDIN)
    }

    /// Where to go on, if it is the same file as then; the beginning otherwise.
    pub(super) async fn place(&self, store: &Store, index: &str, command: u64) -> Result<Place> {
        let new = Place { length: self.length, changed: self.changed, command, ..Place::default() };
        let Some(key) = &self.key else { return Ok(new) };
        let known = PLACES.get(&store.begin().await?, (index, key)).await?;
        let same = known.filter(|known| (known.length, known.changed) == (self.length, self.changed));
        Ok(match same {
            Some(place) if place.done && place.command != command => new,
            Some(place) => Place { command, ..place },
            None => new,
        })
    }

    pub(super) fn put(&self, tx: &Tx, index: &str, place: &Place) -> store::Result<()> {
        self.key.as_ref().map_or(Ok(()), |key| PLACES.put(tx, (index, key), place))
    }

    pub(super) fn forget(&self, tx: &Tx, index: &str) -> store::Result<()> {
        self.key.as_ref().map_or(Ok(()), |key| PLACES.delete(tx, (index, key)))
    }
}

/// What makes a command the same command.
pub(super) fn command_of(files: &[LoadFile]) -> u64 {
    let mut hasher = DefaultHasher::new();
    files.iter().for_each(|file| file.key.hash(&mut hasher));
    hasher.finish()
}
