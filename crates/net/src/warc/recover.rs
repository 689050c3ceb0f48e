//! What a crash left behind, put right before anything is written.

use std::fs::{self, OpenOptions};
use std::path::Path;

use super::disk::{FileError, complete_file, io_error, sync_dir};
use super::names;

/// An open file that was found, and what was done with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The name it has when it is complete.
    pub name: String,
    pub found: Found,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It ended where it should.
    Intact { bytes: u64 },
    /// So many bytes behind the last commit are gone.
    CutBack { bytes: u64, cut: u64 },
    /// Nothing in it was ever committed.
    Removed { bytes: u64 },
    /// The store knows of more than there is: a damaged disk, or not the files of this store. Left as it was.
    Short { bytes: u64, committed: u64 },
}

/// The files of the directory that are open, by the names they have when they are complete.
pub fn open_files(dir: &Path) -> Result<Vec<String>, FileError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(io_error("listing", dir))? {
        let file_name = entry.map_err(io_error("listing", dir))?.file_name();
        found.extend(file_name.to_str().and_then(names::complete_name).map(str::to_owned));
    }
    Ok(found)
}

/// Cuts each open file of the directory back to the end that was committed, which the store tells by the file's complete name. Complete
/// files are not touched. The files that are left can be continued ([`super::FileSet::resume`]) or completed ([`complete`]).
pub fn recover(dir: &Path, committed: impl Fn(&str) -> Option<u64>) -> Result<Vec<Recovered>, FileError> {
    let mut recovered = Vec::new();
    for entry in fs::read_dir(dir).map_err(io_error("listing", dir))? {
        let entry = entry.map_err(io_error("listing", dir))?;
        let file_name = entry.file_name();
        if let Some(name) = file_name.to_str().and_then(names::complete_name) {
            let found = put_right(&entry.path(), committed(name).unwrap_or(0))?;
            recovered.push(Recovered { name: name.to_owned(), found });
        }
    }
    if !recovered.is_empty() {
        sync_dir(dir).map_err(io_error("syncing", dir))?;
    }
    recovered.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(recovered)
}

/// Gives an open file that will not be continued its last name.
pub fn complete(dir: &Path, name: &str) -> Result<(), FileError> {
    complete_file(dir, name)
}

fn put_right(path: &Path, committed: u64) -> Result<Found, FileError> {
    let bytes = fs::metadata(path).map_err(io_error("measuring", path))?.len();
    if committed == 0 {
        fs::remove_file(path).map_err(io_error("removing", path))?;
        return Ok(Found::Removed { bytes });
    }
    if bytes < committed {
        return Ok(Found::Short { bytes, committed });
    }
    if bytes == committed {
        return Ok(Found::Intact { bytes });
    }
    let file = OpenOptions::new().write(true).open(path).map_err(io_error("opening", path))?;
    file.set_len(committed).and_then(|()| file.sync_all()).map_err(io_error("cutting back", path))?;
    Ok(Found::CutBack { bytes: committed, cut: bytes - committed })
}
