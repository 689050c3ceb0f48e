//! The archive files of one collection, of which one is open at a time.
//!
//! A batch begins, groups are appended, the file is synced, the store commits, and the next batch
//! begins. Files change only at the beginning of a batch, so a batch lies in one file and what
//! follows its [`Mark`] can be cut off again if the store did not commit. The `warcinfo` record of
//! a new file belongs to the batch that needed the file.
//!
//! After a write that failed, nothing more is taken until the batch has been cut back; after a
//! failed sync the kernel may have dropped what it could not write, so that file is completed as it
//! was before the batch and another one is begun.
//!
//! Before a batch and after its sync the file must still be where it was, under its name and as
//! long as it was left: bytes nobody can find are not archived.
//!
//! One process has the directory to itself (the data directory is locked), and one writer the file
//! set (`&mut self`).

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use policy::time::{Span, Time};

use super::coder::Compression;
use super::digest::each_piece;
use super::disk::{FILE_MODE, FileError, OpenFile, complete, io_error, sync_dir};
use super::fields::Fields;
use super::names::{self, OPEN};
use super::pack::{PackSettings, Packer, Prepared};
use super::read::Reader;

const NAMES_TRIED_MAX: u32 = 1000;
const INFO_BYTES_MAX: usize = 1024 * 1024;

/// How a collection's files are made.
#[derive(Clone, Debug)]
pub struct FileSettings {
    pub dir: PathBuf,
    pub prefix: String,
    pub collection: String,
    /// The machine, as the file name shows it.
    pub host: String,
    pub compression: Compression,
    /// A file this long gets no further batch.
    pub bytes_max: u64,
    /// A file this old gets no further batch.
    pub age_max: Span,
    /// Software, operator, configuration: the block of the `warcinfo` record.
    pub info: Fields,
}

impl FileSettings {
    /// 1 GB, as the standard recommends, and a day.
    pub const BYTES_MAX: u64 = 1_000_000_000;
    pub const AGE_MAX: Span = Span::days(1);

    /// Whether a file of that name was made with these settings.
    pub fn owns(&self, name: &str) -> bool {
        let FileSettings { prefix, collection, host, compression, .. } = self;
        names::created_and_serial(name).is_some_and(|(created, serial)| {
            names::file_name(prefix, collection, created, serial, host, *compression) == name
        })
    }
}

/// How far a file has come: what the store has to remember.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The name the file has when it is complete.
    pub file: Arc<str>,
    pub end: u64,
    /// Captures in it.
    pub entries: u64,
}

/// Where a group was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name the file has when it is complete.
    pub file: Arc<str>,
    pub offset: u64,
}

/// The beginning of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub file: Arc<str>,
    pub len: u64,
    entries: u64,
}

/// The files of one collection.
#[derive(Debug)]
pub struct FileSet {
    settings: FileSettings,
    packer: Packer,
    current: Option<OpenFile>,
    serial: u32,
    failed: bool,
}

impl FileSet {
    /// The directory is there: one that is gone while a harvest runs must not come back empty.
    pub fn new(settings: FileSettings) -> Result<FileSet, FileError> {
        let pack = PackSettings {
            compression: settings.compression,
            memory_bytes_max: INFO_BYTES_MAX,
            spill_dir: settings.dir.clone(),
        };
        let packer = Packer::new(pack).map_err(io_error("preparing to compress for", &settings.dir))?;
        Ok(FileSet { settings, packer, current: None, serial: 0, failed: false })
    }

    /// Goes on with a file that was open when the process ended, and has so many captures in it.
    pub fn resume(&mut self, name: &str, entries: u64) -> Result<(), FileError> {
        let described =
            names::created_and_serial(name).filter(|_| name.ends_with(self.settings.compression.suffix()));
        let (Some((created, serial)), None) = (described, &self.current) else {
            return Err(FileError::NotOurs(name.to_owned()));
        };
        let path = self.settings.dir.join(format!("{name}{OPEN}"));
        let file =
            OpenOptions::new().read(true).write(true).open(&path).map_err(io_error("opening", &path))?;
        let written = file.metadata().map_err(io_error("measuring", &path))?.len();
        let first = Reader::new(&file).ok().and_then(|mut reader| reader.next().ok().flatten());
        let warcinfo = first.and_then(|head| head.get("WARC-Record-ID").map(str::to_owned));
        self.serial = serial.wrapping_add(1);
        let (name, held) = (Arc::from(name), Vec::new());
        let (in_directory, retired) = (true, false);
        self.current = Some(OpenFile {
            name,
            path,
            file,
            held,
            written,
            created,
            warcinfo,
            in_directory,
            retired,
            entries,
            meddled: false,
        });
        Ok(())
    }

    /// Begins a batch, in a new file if the open one is full or old.
    pub fn begin(&mut self, now: Time) -> Result<Mark, FileError> {
        if self.failed {
            return Err(FileError::NotCutBack);
        }
        let FileSettings { bytes_max, age_max, .. } = self.settings;
        let done =
            |open: &OpenFile| open.retired || open.len() >= bytes_max || now.since(open.created) >= age_max;
        if self.current.as_ref().is_some_and(done) {
            self.close()?;
        }
        if let Some(open) = &mut self.current {
            open.is_where_it_was()?;
            return Ok(Mark { file: open.name.clone(), len: open.len(), entries: open.entries });
        }
        let open = self.create(now)?;
        let mark = Mark { file: open.name.clone(), len: 0, entries: 0 };
        self.current = Some(open);
        Ok(mark)
    }

    /// Where the next group will be appended.
    pub fn len(&self) -> u64 {
        self.current.as_ref().map_or(0, OpenFile::len)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of the record that describes the open file.
    pub fn warcinfo_id(&self) -> Option<&str> {
        self.current.as_ref()?.warcinfo.as_deref()
    }

    /// Appends a group to the batch.
    pub fn append(&mut self, group: &Prepared) -> Result<Place, FileError> {
        let open = self.open_file()?;
        let place = Place { file: open.name.clone(), offset: open.len() };
        let appended = each_piece(&group.bytes, 0, u64::MAX, |piece| open.push(piece));
        open.entries += group.entries.len() as u64;
        let path = open.path.clone();
        self.settle(appended, "writing", &path)?;
        Ok(place)
    }

    /// Hands everything appended so far to the operating system; gives what the store has to
    /// remember once it is synced.
    pub fn flush(&mut self) -> Result<Reached, FileError> {
        let open = self.open_file()?;
        let path = open.path.clone();
        let flushed = open.flush();
        let reached = Reached { file: open.name.clone(), end: open.written, entries: open.entries };
        self.settle(flushed, "writing", &path)?;
        Ok(reached)
    }

    /// Makes everything appended so far survive a crash, where it can be found; gives what the
    /// store has to remember.
    pub fn sync(&mut self) -> Result<Reached, FileError> {
        let reached = self.flush()?;
        let dir = self.settings.dir.clone();
        let open = self.open_file()?;
        let path = open.path.clone();
        let synced =
            open.file.sync_data().and_then(|()| if open.in_directory { Ok(()) } else { sync_dir(&dir) });
        open.in_directory |= synced.is_ok();
        open.retired |= synced.is_err();
        let found = open.is_where_it_was();
        self.settle(synced, "syncing", &path)?;
        self.failed |= found.is_err();
        found.map(|()| reached)
    }

    /// Takes everything since the mark off again.
    pub fn cut_back(&mut self, mark: &Mark) -> Result<(), FileError> {
        let Some(open) =
            self.current.as_mut().filter(|open| open.name == mark.file && open.len() >= mark.len)
        else {
            return Err(FileError::StrangeMark);
        };
        let path = open.path.clone();
        if mark.len == 0 {
            // What has its name by now may be somebody else's.
            if open.still_named().is_ok() {
                fs::remove_file(&path).map_err(io_error("removing", &path))?;
            }
            self.current = None;
        } else {
            open.cut(mark.len).map_err(io_error("cutting back", &path))?;
            open.entries = mark.entries;
        }
        self.failed = false;
        Ok(())
    }

    /// Completes the open file: synced, and renamed to its last name.
    pub fn close(&mut self) -> Result<(), FileError> {
        if self.failed {
            return Err(FileError::NotCutBack);
        }
        let Some(open) = &mut self.current else { return Ok(()) };
        let path = open.path.clone();
        let flushed = open.flush();
        let name = open.name.clone();
        let found = open.is_where_it_was();
        self.settle(flushed, "writing", &path)?;
        found?;
        complete(&self.settings.dir, &name)?;
        self.current = None;
        Ok(())
    }

    fn open_file(&mut self) -> Result<&mut OpenFile, FileError> {
        if self.failed {
            return Err(FileError::NotCutBack);
        }
        self.current.as_mut().ok_or(FileError::NoBatch)
    }

    fn settle(
        &mut self,
        done: io::Result<()>,
        operation: &'static str,
        path: &Path,
    ) -> Result<(), FileError> {
        self.failed |= done.is_err();
        done.map_err(io_error(operation, path))
    }

    fn create(&mut self, now: Time) -> Result<OpenFile, FileError> {
        let FileSettings { dir, prefix, collection, host, compression, info, .. } = &self.settings;
        for _ in 0..NAMES_TRIED_MAX {
            let name = names::file_name(prefix, collection, now, self.serial, host, *compression);
            self.serial = self.serial.wrapping_add(1);
            let path = dir.join(format!("{name}{OPEN}"));
            if dir.join(&name).exists() {
                continue;
            }
            let mut options = OpenOptions::new();
            let file = match options.read(true).write(true).create_new(true).mode(FILE_MODE).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                done => done.map_err(io_error("creating", &path))?,
            };
            let mut group = self.packer.group(None);
            let id = group.warcinfo(&name, now, info).map_err(io_error("describing", &path))?;
            let mut held = Vec::new();
            let copied = each_piece(&group.finish().bytes, 0, u64::MAX, |piece| {
                held.extend_from_slice(piece);
                Ok(())
            });
            copied.map_err(io_error("describing", &path))?;
            let (name, warcinfo) = (Arc::from(name), Some(id));
            let (written, entries, created, in_directory, retired) = (0, 0, now, false, false);
            return Ok(OpenFile {
                name,
                path,
                file,
                held,
                written,
                created,
                warcinfo,
                in_directory,
                retired,
                entries,
                meddled: false,
            });
        }
        Err(FileError::Exists(dir.clone()))
    }
}
