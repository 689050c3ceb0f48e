//! The file that is being written, and what can go wrong with it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use policy::time::Time;

use super::names::OPEN;

/// Appended bytes are written when there are this many.
const HELD_BYTES: usize = 256 * 1024;

/// Why archiving cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{operation} {path}")]
    Io { operation: &'static str, path: PathBuf, source: io::Error },
    #[error("no batch was begun")]
    NoBatch,
    #[error("the batch failed and has not been cut back")]
    NotCutBack,
    #[error("the mark is not of the file that is open")]
    StrangeMark,
    #[error("{0} exists already")]
    Exists(PathBuf),
    #[error("{0} cannot be continued here")]
    NotOurs(String),
}

#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) name: Arc<str>,
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// What follows `written` and is not written yet.
    pub(super) held: Vec<u8>,
    pub(super) written: u64,
    pub(super) created: Time,
    pub(super) warcinfo: Option<String>,
    pub(super) in_directory: bool,
    /// No further batch goes here.
    pub(super) retired: bool,
}

impl OpenFile {
    pub(super) fn len(&self) -> u64 {
        self.written + self.held.len() as u64
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= HELD_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes at a fixed place, so that what a failed attempt left there does not matter.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.held, self.written)?;
        self.written += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }

    pub(super) fn cut(&mut self, len: u64) -> io::Result<()> {
        match len.checked_sub(self.written) {
            Some(kept) => self.held.truncate(usize::try_from(kept).unwrap_or(usize::MAX)),
            None => {
                self.held.clear();
                self.written = len;
            }
        }
        self.file.set_len(self.written)
    }
}

/// Syncs an open file and gives it its last name.
pub(super) fn complete_file(dir: &Path, name: &str) -> Result<(), FileError> {
    let (open, complete) = (dir.join(format!("{name}{OPEN}")), dir.join(name));
    if complete.exists() {
        return Err(FileError::Exists(complete));
    }
    File::open(&open).and_then(|file| file.sync_all()).map_err(io_error("syncing", &open))?;
    fs::rename(&open, &complete).map_err(io_error("renaming", &open))?;
    sync_dir(dir).map_err(io_error("syncing", dir))
}

pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

pub(super) fn io_error(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
    let path = path.to_owned();
    move |source| FileError::Io { operation, path, source }
}
