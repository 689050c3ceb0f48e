//! Files and directories that only their owner reads.
//!
//! What is harvested may be behind a login, and the cookies for it lie in the store: nothing of a
//! data directory is for others. Links are not followed when a file of ours is written: what they
//! lead to is not ours.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// What others may.
const OTHERS: u32 = 0o077;

/// Makes a directory, and those above it that are missing.
pub fn create_dir_all(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIR_MODE).create(dir)
}

/// For writing a file of ours, made private if it is new; one that is a link is refused.
pub fn writing() -> OpenOptions {
    let mut options = OpenOptions::new();
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    options.write(true).mode(FILE_MODE).custom_flags(no_follow);
    options
}

/// Whether [`writing`] was refused because of a link.
pub fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Takes from others what they may do with a file or directory. Where that cannot be done, its
/// owner is somebody else and knows why.
pub fn tighten(path: &Path) {
    let Ok(found) = fs::symlink_metadata(path) else { return };
    let mode = found.permissions().mode();
    if mode & OTHERS != 0 && !found.is_symlink() {
        let _ = fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS));
    }
}

/// The same for a directory and everything in it.
pub fn tighten_all(dir: &Path) {
    tighten(dir);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => tighten_all(&entry.path()),
            _ => tighten(&entry.path()),
        }
    }
}
