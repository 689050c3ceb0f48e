//! The engine's journal, looked at before the engine does.
//!
//! fjall replays its journal when a store is opened, and takes whatever does not read for the end
//! of it: a bit that flipped in the middle costs everything behind it without a word, and one in
//! the last batch makes the store impossible to open. So every journal is first read here, and
//! nothing is changed until it is known what it is:
//!
//! - **Sound**: batches one after the other, then nothing, or the zeros the file was begun with.
//! - **Torn**: the newest journal ends in something that is no batch, and all that was ever synced
//!   comes before it. That is how a power cut ends a write, in whatever order the disk took the
//!   blocks. The tail is copied to a file beside the journal and cut off.
//! - **Damaged**: anything else. The store is refused and not a byte of it is touched.
//!
//! Whether something was synced is known from [`marks`]: after each sync the committer writes down
//! which batch of which journal the sync covered. A killed process leaves an exact mark. After a
//! power cut it may be some moments old, since it is not worth a sync of its own each time: damage
//! within those moments is taken for a torn tail. Without a mark (stores of format 1, or a journal
//! so new that nothing in it was synced) a batch that reads *after* one that does not is taken as
//! proof of damage.

mod batches;
mod marks;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use batches::{Batches, Rest};
pub(super) use marks::Marks;

use crate::error::{Damage, OpenError};
use crate::notice::Notice;
use crate::private;

const EXTENSION: &str = "jnl";
const COPY_BYTES: usize = 1 << 16;

/// One file of the journal.
struct Journal {
    id: u64,
    path: PathBuf,
    batches: Batches,
}

/// What is to be done before the engine may have it.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Sound,
    /// The newest one is cut here.
    Torn {
        at: u64,
    },
    Damaged {
        journal: usize,
        damage: Damage,
    },
}

/// What is done about damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenDamaged {
    Refuse,
    /// What does not read is set aside, and so is everything after it.
    SetAside,
}

/// Makes sure that the engine will find nothing but whole batches in `engine_dir`.
pub(super) fn prepare(
    dir: &Path,
    engine_dir: &Path,
    damaged: WhenDamaged,
    notice: fn(&Notice),
) -> Result<(), OpenError> {
    let failed =
        |source| OpenError::Io { action: "read the journal in", path: engine_dir.to_owned(), source };
    let ids = ids(engine_dir).map_err(failed)?;
    let mut journals = Vec::with_capacity(ids.len());
    for id in ids {
        let path = path(engine_dir, id);
        let batches = Batches::read(&path).map_err(failed)?;
        journals.push(Journal { id, path, batches });
    }
    let marks = Marks::read(engine_dir);
    match judge(&journals, marks.as_deref()) {
        Verdict::Sound => Ok(()),
        Verdict::Torn { at } => {
            let Some(newest) = journals.last() else { return Ok(()) };
            let (kept, bytes) = cut(&newest.path, at, "torn").map_err(failed)?;
            notice(&Notice::TailCut { dir: dir.to_owned(), bytes, kept });
            Ok(())
        }
        Verdict::Damaged { journal, damage } if damaged == WhenDamaged::SetAside => {
            let kept = set_aside(&journals, journal, engine_dir).map_err(failed)?;
            notice(&Notice::DamageSetAside { dir: dir.to_owned(), damage, kept });
            Ok(())
        }
        Verdict::Damaged { damage, .. } => Err(OpenError::Damaged { dir: dir.to_owned(), damage }),
    }
}

/// Decides from what was read and what is known to be synced (none: nothing is known).
fn judge(journals: &[Journal], marks: Option<&[(u64, u64)]>) -> Verdict {
    let Some((newest, sealed)) = journals.split_last() else {
        return Verdict::Damaged { journal: 0, damage: Damage::JournalMissing };
    };
    for (id, seqno) in marks.unwrap_or_default() {
        match journals.iter().position(|journal| journal.id == *id) {
            Some(at) if journals[at].batches.last_seqno.is_none_or(|last| last < *seqno) => {
                return Verdict::Damaged { journal: at, damage: damage_of(&journals[at]) };
            }
            // One that is gone was written out into tables, if there is a newer one.
            None if newest.id < *id => {
                return Verdict::Damaged { journal: journals.len(), damage: Damage::JournalMissing };
            }
            _ => {}
        }
    }
    if let Some(at) = sealed.iter().position(|journal| journal.batches.rest != Rest::Clean) {
        // It was synced as a whole before the next one was begun.
        return Verdict::Damaged { journal: at, damage: damage_of(&sealed[at]) };
    }
    let is_marked = marks.unwrap_or_default().iter().any(|(id, _)| *id == newest.id);
    match newest.batches.rest {
        Rest::Clean => Verdict::Sound,
        Rest::Bad { batch_after: true } if !is_marked => {
            Verdict::Damaged { journal: sealed.len(), damage: damage_of(newest) }
        }
        Rest::Bad { .. } => Verdict::Torn { at: newest.batches.good_bytes },
    }
}

fn damage_of(journal: &Journal) -> Damage {
    Damage::Journal { path: journal.path.clone(), at: journal.batches.good_bytes }
}

/// Copies what is behind `at` to a file beside the journal, and cuts it off.
fn cut(journal: &Path, at: u64, word: &str) -> io::Result<(PathBuf, u64)> {
    let mut file = OpenOptions::new().read(true).write(true).open(journal)?;
    file.seek(SeekFrom::Start(at))?;
    let (kept, mut copy) = beside(journal, word)?;
    let bytes = copy_without_zeros(&mut file, &mut copy)?;
    copy.sync_all()?;
    sync_dir_of(journal)?;
    // Only now: the bytes are safe elsewhere.
    file.set_len(at)?;
    file.sync_all()?;
    Ok((kept, bytes))
}

/// The damaged journal up to where it is, and all that come after it as a whole.
fn set_aside(journals: &[Journal], first: usize, engine_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut kept = Vec::new();
    for (place, journal) in journals.iter().enumerate().skip(first) {
        if place == first {
            kept.push(cut(&journal.path, journal.batches.good_bytes, "damaged")?.0);
        } else {
            let (aside, _) = beside(&journal.path, "damaged")?;
            fs::rename(&journal.path, &aside)?;
            kept.push(aside);
        }
    }
    Marks::forget(engine_dir)?;
    File::open(engine_dir)?.sync_all()?;
    Ok(kept)
}

/// A new file beside the journal whose name says what it holds.
fn beside(journal: &Path, word: &str) -> io::Result<(PathBuf, File)> {
    for number in 1..1000 {
        let mut path = journal.as_os_str().to_owned();
        path.push(format!(".{word}-{number}"));
        let path = PathBuf::from(path);
        match private::writing().create_new(true).open(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (path, file)),
        }
    }
    Err(io::Error::other("there are a thousand files of that name already"))
}

/// Zeros at the end are what the file was begun with; gives the bytes before them.
fn copy_without_zeros(from: &mut File, to: &mut File) -> io::Result<u64> {
    let mut piece = vec![0; COPY_BYTES];
    let mut bytes = 0;
    let mut zeros = 0;
    loop {
        let read = from.read(&mut piece)?;
        if read == 0 {
            break;
        }
        let content = piece[..read].iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        if content > 0 {
            io::copy(&mut io::repeat(0).take(zeros), to)?;
            to.write_all(&piece[..content])?;
            bytes += zeros + content as u64;
            zeros = 0;
        }
        zeros += (read - content) as u64;
    }
    Ok(bytes)
}

fn sync_dir_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}

fn path(engine_dir: &Path, id: u64) -> PathBuf {
    engine_dir.join(format!("{id}.{EXTENSION}"))
}

/// The numbers of the journals, oldest first.
fn ids(engine_dir: &Path) -> io::Result<Vec<u64>> {
    let mut ids = Vec::new();
    for entry in fs::read_dir(engine_dir)? {
        let path = PathBuf::from(entry?.file_name());
        if path.extension().is_some_and(|extension| extension == EXTENSION) {
            ids.extend(path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok()));
        }
    }
    ids.sort_unstable();
    Ok(ids)
}
