//! A disk that runs full.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Told;

/// A small file system that goes with its end.
#[derive(Debug)]
pub struct Disk(PathBuf);

impl Disk {
    /// None where one cannot be mounted.
    pub fn mount(at: &Path, size: &str) -> Option<Disk> {
        let options = format!("size={size}");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "skurd-test"]).arg(at).status();
        mounted.is_ok_and(|status| status.success()).then(|| Disk(at.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Takes all the room there is.
pub fn fill(ballast: &Path) {
    let Ok(mut file) = OpenOptions::new().create(true).append(true).open(ballast) else { return };
    for size in [1 << 20, 4096] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

impl Told {
    /// A harvest that ended since there was no room, and said so once.
    #[track_caller]
    pub fn assert_full(&self) {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert_eq!(self.err.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{}", self.err);
        let says_so = self.err.contains("No space left on device") || self.err.contains("is full");
        assert!(says_so && !self.err.contains("panicked"), "{}", self.err);
    }
}
