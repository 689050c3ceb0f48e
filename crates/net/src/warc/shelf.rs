//! The directory of an archive: which files are in it, and the few things that may be done to them
//! (A13).
//!
//! A file is open while it is written, complete from then on, or set aside: found there, and known
//! to nobody. Whatever is done here leaves every byte in the directory, but for [`cut_back`], which
//! is for the batch in hand and nothing else.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::disk::{FILE_MODE, FileError, io_error, sync_dir};
use super::names::{self, OPEN};

pub(super) const ASIDE: &str = ".aside";
const NAMES_TRIED_MAX: u32 = 1000;

/// A file of the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The name it has when it is complete.
    pub name: String,
    pub stage: Stage,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Complete,
    Open,
    Aside,
}

impl Stage {
    /// What stands behind the name of a file that is not complete.
    pub fn suffix(self) -> &'static str {
        match self {
            Stage::Complete => "",
            Stage::Open => OPEN,
            Stage::Aside => ASIDE,
        }
    }
}

impl Held {
    pub fn path(&self, dir: &Path) -> PathBuf {
        dir.join(self.file_name())
    }

    /// The name it has now.
    pub fn file_name(&self) -> String {
        format!("{}{}", self.name, self.stage.suffix())
    }

    /// What the name says; none if it is not that of an archive file.
    pub fn named(file_name: &str) -> Option<(&str, Stage)> {
        [Stage::Open, Stage::Aside, Stage::Complete]
            .into_iter()
            .find_map(|stage| file_name.strip_suffix(stage.suffix()).map(|name| (name, stage)))
            .filter(|(name, _)| names::is_archive(name))
    }
}

/// The archive files of the directory, by name; of one name the complete one first. None if there
/// is no directory.
pub fn survey(dir: &Path) -> Result<Vec<Held>, FileError> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io_error("listing", dir))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let file_name = entry.map_err(io_error("listing", dir))?.file_name();
        let Some((name, stage)) = file_name.to_str().and_then(Held::named) else { continue };
        let path = dir.join(&file_name);
        let bytes = fs::metadata(&path).map_err(io_error("measuring", &path))?.len();
        found.push(Held { name: name.to_owned(), stage, bytes });
    }
    found.sort_by(|a, b| (&a.name, a.stage).cmp(&(&b.name, b.stage)));
    Ok(found)
}

/// Takes the batch in hand off an open file again; one that has nothing else in it goes.
pub fn cut_back(dir: &Path, name: &str, to: u64) -> Result<(), FileError> {
    let path = dir.join(format!("{name}{OPEN}"));
    if to == 0 {
        fs::remove_file(&path).map_err(io_error("removing", &path))?;
    } else {
        cut(&path, to)?;
    }
    sync_dir(dir).map_err(io_error("syncing", dir))
}

fn cut(path: &Path, to: u64) -> Result<(), FileError> {
    let file = OpenOptions::new().write(true).open(path).map_err(io_error("opening", path))?;
    file.set_len(to).and_then(|()| file.sync_all()).map_err(io_error("cutting back", path))
}

/// Sets a whole file aside under another name; gives that.
pub fn set_aside(dir: &Path, held: &Held) -> Result<String, FileError> {
    let to = free_name(dir, &held.name, held.stage == Stage::Complete)?;
    let (from, path) = (held.path(dir), dir.join(&to));
    fs::rename(&from, &path).and_then(|()| sync_dir(dir)).map_err(io_error("setting aside", &from))?;
    Ok(to)
}

/// Sets the end of an open file aside in a file of its own, from a byte on; gives its name.
pub fn set_end_aside(dir: &Path, held: &Held, from: u64) -> Result<String, FileError> {
    let (stem, suffix) = stem_and_suffix(&held.name);
    let to = free_name(dir, &format!("{stem}-from-{from}{suffix}"), false)?;
    let (path, target) = (held.path(dir), dir.join(&to));
    let copy = || {
        let mut end = File::open(&path)?;
        end.seek(SeekFrom::Start(from))?;
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(FILE_MODE).open(&target)?;
        io::copy(&mut end.take(u64::MAX), &mut file)?;
        file.sync_all()?;
        sync_dir(dir)
    };
    copy().map_err(io_error("setting aside the end of", &path))?;
    // Only now that it is elsewhere, on disk.
    cut(&path, from)?;
    Ok(to)
}

/// Gives a file that was set aside a name under which it counts again; gives that. `whole`: it has
/// been written to its end.
pub fn take_back(dir: &Path, name: &str) -> Result<(), FileError> {
    let (from, to) = (dir.join(format!("{name}{ASIDE}")), dir.join(name));
    if to.exists() || dir.join(format!("{name}{OPEN}")).exists() {
        return Err(FileError::Exists(to));
    }
    fs::rename(&from, &to).and_then(|()| sync_dir(dir)).map_err(io_error("renaming", &from))
}

/// A name to set aside under, such that what it is called without the suffix is nobody's either.
fn free_name(dir: &Path, name: &str, is_own: bool) -> Result<String, FileError> {
    let (stem, suffix) = stem_and_suffix(name);
    for number in 1..=NAMES_TRIED_MAX {
        let name = if number == 1 { name.to_owned() } else { format!("{stem}-{number}{suffix}") };
        let aside = format!("{name}{ASIDE}");
        let own = is_own && number == 1;
        if !dir.join(&aside).exists() && (own || !dir.join(&name).exists()) {
            return Ok(aside);
        }
    }
    Err(FileError::Exists(dir.join(name)))
}

fn stem_and_suffix(name: &str) -> (&str, &str) {
    name.rfind(".warc").map_or((name, ""), |at| name.split_at(at))
}

/// The file that this one is the end of, where its name says so.
pub fn end_of(name: &str) -> Option<String> {
    let (stem, suffix) = stem_and_suffix(name);
    let (whole, from) = stem.rsplit_once("-from-")?;
    let digits = from.split('-').next()?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| format!("{whole}{suffix}"))
}
