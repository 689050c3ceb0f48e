//! The file that is being written, and what can go wrong with it.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use policy::time::Time;

use super::names::OPEN;

/// Appended bytes are written when there are this many.
const HELD_BYTES: usize = 256 * 1024;

/// What was harvested logged in is nobody else's business.
pub(super) const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;

const CHANGED: &str = "changed by somebody else";

/// Makes a directory that only its owner can look into, unless it is there: then whoever made it
/// has decided.
pub fn private_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIR_MODE).create(dir)
}

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
    #[error("{} was {what} while it was being written", path.display())]
    Lost { path: PathBuf, what: &'static str },
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
    /// Captures that were appended.
    pub(super) entries: u64,
    /// Somebody else has written to it.
    pub(super) meddled: bool,
}

impl OpenFile {
    pub(super) fn len(&self) -> u64 {
        self.written + self.held.len() as u64
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= HELD_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes at a fixed place, so that what a failed attempt left there does not matter; but not
    /// behind a hole.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let now = self.file.metadata()?;
        if now.is_file() && now.len() != self.written {
            self.meddled = true;
            return Err(io::Error::other(CHANGED));
        }
        self.file.write_all_at(&self.held, self.written)?;
        self.written += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }

    /// Whether what is written here can still be found under its name, all of it (A14): directories
    /// are moved away and deleted while somebody writes to files in them, and a file that was
    /// cut off grows a hole.
    pub(super) fn is_where_it_was(&mut self) -> Result<(), FileError> {
        let ours = self.still_named()?;
        // What is no plain file has no length of its own.
        self.meddled |= ours.is_file() && ours.len() != self.written;
        if self.meddled { Err(self.lost(CHANGED)) } else { Ok(()) }
    }

    /// Whether the name is still that of this very file.
    pub(super) fn still_named(&self) -> Result<Metadata, FileError> {
        let ours = self.file.metadata().map_err(io_error("measuring", &self.path))?;
        let named = match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(self.lost(if ours.nlink() == 0 { "deleted" } else { "moved away" }));
            }
            named => named.map_err(io_error("measuring", &self.path))?,
        };
        match (ours.dev(), ours.ino()) == (named.dev(), named.ino()) {
            true => Ok(ours),
            false => Err(self.lost("replaced by another file")),
        }
    }

    fn lost(&self, what: &'static str) -> FileError {
        FileError::Lost { path: self.path.clone(), what }
    }

    pub(super) fn cut(&mut self, len: u64) -> io::Result<()> {
        match len.checked_sub(self.written) {
            Some(kept) => self.held.truncate(usize::try_from(kept).unwrap_or(usize::MAX)),
            None => {
                self.held.clear();
                self.written = len;
            }
        }
        // A file that somebody has cut off is not to look whole, and what somebody has appended is not ours
        // to take off.
        if self.meddled { Ok(()) } else { self.file.set_len(self.written) }
    }
}

/// Syncs an open file and gives it its last name: nothing more comes.
pub fn complete(dir: &Path, name: &str) -> Result<(), FileError> {
    let (open, last) = (dir.join(format!("{name}{OPEN}")), dir.join(name));
    if last.exists() {
        return Err(FileError::Exists(last));
    }
    File::open(&open).and_then(|file| file.sync_all()).map_err(io_error("syncing", &open))?;
    fs::rename(&open, &last).map_err(io_error("renaming", &open))?;
    sync_dir(dir).map_err(io_error("syncing", dir))
}

pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

pub(super) fn io_error(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
    let path = path.to_owned();
    move |source| FileError::Io { operation, path, source }
}
