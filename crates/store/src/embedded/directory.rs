//! What a data directory looks like, and who may open it.
//!
//! | entry | is |
//! |---|---|
//! | `LOCK` | locked by the process that has the directory open; holds its number |
//! | `FORMAT` | `skurd-store N`: how to read the rest; written last, when the engine's files are there |
//! | `store/` | the engine's files; they are made in `store.new/`, which becomes `store/` when it is whole |
//!
//! Others (WARC files, say) may lie beside them. A directory in which something lies but no store
//! is not ours to fill, unless it is one whose first opening was cut short.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::OpenError;
use crate::private;
use crate::upgrade::{self, FORMAT};

const FORMAT_FILE: &str = "FORMAT";
const FORMAT_DRAFT: &str = "FORMAT.new";
const LOCK_FILE: &str = "LOCK";
const LOCK_TRIES: usize = 5;
const LOCK_PAUSE: Duration = Duration::from_millis(10);
const ENGINE_DIR: &str = "store";
const ENGINE_DRAFT: &str = "store.new";

/// What to do with a directory that holds no store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Create,
    Refuse,
    /// Also beside what is left of a data directory.
    Replace,
}

/// A locked directory whose engine may be opened.
pub(super) struct Prepared {
    dir: PathBuf,
    pub(super) engine_dir: PathBuf,
    lock: File,
    /// None: a new directory.
    format: Option<u8>,
}

pub(super) fn prepare(dir: &Path, missing: Missing) -> Result<Prepared, OpenError> {
    match (fs::metadata(dir), missing) {
        (Ok(found), _) if !found.is_dir() => return Err(OpenError::NotADirectory(dir.to_owned())),
        (Ok(_), _) => {}
        (Err(e), Missing::Create | Missing::Replace) if e.kind() == io::ErrorKind::NotFound => {
            private::create_dir_all(dir).map_err(|e| failed("create", dir, e))?;
        }
        (Err(e), _) => return Err(failed("open", dir, e)),
    }
    let format = read_format(dir)?;
    if format.is_none() {
        match missing {
            Missing::Refuse => return Err(OpenError::NotAStore(dir.to_owned())),
            Missing::Create => check_unused(dir)?,
            Missing::Replace => {}
        }
    }
    let lock = lock(dir)?;
    // Only the owner of the lock may believe what it reads: another process may just have made the
    // store.
    let format = read_format(dir)?;
    let engine_dir = dir.join(ENGINE_DIR);
    let format = match format {
        Some(found) => match u8::try_from(found) {
            Ok(known @ 1..=FORMAT) => Some(known),
            _ => {
                return Err(OpenError::UnknownFormat { dir: dir.to_owned(), found, newest: FORMAT });
            }
        },
        None => None,
    };
    if format.is_some() && !engine_dir.is_dir() && missing != Missing::Replace {
        let problem = format!("its {ENGINE_DIR} directory is missing");
        return Err(OpenError::Engine { dir: dir.to_owned(), problem });
    }
    Ok(Prepared { dir: dir.to_owned(), engine_dir, lock, format })
}

impl Prepared {
    /// Lets `make` fill the engine's directory, if it is not there: all of it or, whatever happens
    /// meanwhile, nothing.
    pub(super) fn make_engine_dir(
        &self,
        make: impl FnOnce(&Path) -> Result<(), OpenError>,
    ) -> Result<(), OpenError> {
        if self.engine_dir.is_dir() {
            return Ok(());
        }
        let draft = self.dir.join(ENGINE_DRAFT);
        match fs::remove_dir_all(&draft) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(failed("remove", &draft, e)),
        }
        make(&draft)?;
        fs::rename(&draft, &self.engine_dir)
            .and_then(|()| File::open(&self.dir)?.sync_all())
            .map_err(|e| failed("rename", &draft, e))
    }

    /// Called once the engine is open: marks a new directory as a store, hands over the lock, and
    /// tells which format the store has. What others could read until now, they cannot any
    /// more.
    pub(super) fn seal(self) -> Result<(File, u8), OpenError> {
        private::tighten(&self.dir);
        private::tighten(&self.dir.join(LOCK_FILE));
        private::tighten(&self.dir.join(FORMAT_FILE));
        private::tighten_all(&self.engine_dir);
        if self.format.is_none() {
            write_format(&self.dir)?;
        }
        Ok((self.lock, self.format.unwrap_or(FORMAT)))
    }
}

/// Makes the directory if it is not there, and keeps others from it.
pub(crate) fn lock_directory(dir: &Path) -> Result<File, OpenError> {
    private::create_dir_all(dir).map_err(|e| failed("create", dir, e))?;
    lock(dir)
}

fn lock(dir: &Path) -> Result<File, OpenError> {
    let path = dir.join(LOCK_FILE);
    let opened = private::writing().read(true).create(true).truncate(false).open(&path);
    let mut file = opened.map_err(|e| match private::is_link(&e) {
        true => OpenError::Link(path.clone()),
        false => failed("open", &path, e),
    })?;
    match try_lock(&file) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // The number is a courtesy: without it the message is less helpful, not wrong.
            let _ = file.read_to_string(&mut text);
            return Err(OpenError::InUse { dir: dir.to_owned(), owner: text.trim().parse().ok() });
        }
        Err(TryLockError::Error(e)) => return Err(failed("lock", &path, e)),
    }
    file.set_len(0)
        .and_then(|()| writeln!(file, "{}", std::process::id()))
        .map_err(|e| failed("write", &path, e))?;
    Ok(file)
}

/// Not given up at once: a process that is just being started has, until it is, a copy of every
/// lock of the one that starts it.
fn try_lock(file: &File) -> Result<(), TryLockError> {
    for _ in 1..LOCK_TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(LOCK_PAUSE),
            decided => return decided,
        }
    }
    file.try_lock()
}

fn read_format(dir: &Path) -> Result<Option<u32>, OpenError> {
    let path = dir.join(FORMAT_FILE);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed("open", &path, e)),
    };
    let mut text = String::new();
    let bad = |problem: &str| OpenError::BadFormatFile { path: path.clone(), problem: problem.to_owned() };
    file.take(100).read_to_string(&mut text).map_err(|_| bad("it is not text"))?;
    upgrade::read_format(&text).map(Some).ok_or_else(|| bad("it should say `skurd-store` and a number"))
}

/// Marks the directory as one of the present format.
pub(crate) fn write_format(dir: &Path) -> Result<(), OpenError> {
    let (draft, path) = (dir.join(FORMAT_DRAFT), dir.join(FORMAT_FILE));
    let write = || {
        match fs::remove_file(&draft) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let mut file = private::writing().create_new(true).open(&draft)?;
        file.write_all(upgrade::format_line().as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, &path)?;
        File::open(dir)?.sync_all()
    };
    write().map_err(|e| failed("write", &path, e))
}

fn check_unused(dir: &Path) -> Result<(), OpenError> {
    let ours = [LOCK_FILE, FORMAT_DRAFT, ENGINE_DIR, ENGINE_DRAFT];
    for entry in fs::read_dir(dir).map_err(|e| failed("read", dir, e))? {
        let entry = entry.map_err(|e| failed("read", dir, e))?;
        // Between the caller's look at FORMAT and this one another process may have made the store: the
        // lock decides.
        if !ours.iter().any(|name| entry.file_name() == *name) && entry.file_name() != FORMAT_FILE {
            return Err(OpenError::ForeignDirectory(dir.to_owned()));
        }
    }
    Ok(())
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> OpenError {
    OpenError::Io { action, path: path.to_owned(), source }
}
