//! Where mutation starts: our own examples, kept findings, and the shared test data where it is at
//! hand.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::Target;

/// Larger files are left out: mutation hardly touches what matters in them.
const SEED_BYTES_MAX: u64 = 64 << 10;
/// Files taken from one directory.
const FILES_MAX: usize = 200;

/// The inputs a target starts from.
#[derive(Debug, Default)]
pub struct Seeds {
    pub(crate) inputs: Vec<Vec<u8>>,
}

impl Seeds {
    pub(crate) fn of(target: &Target, kept: &Path) -> Seeds {
        let mut seeds = Seeds::default();
        seeds.inputs.extend(files(&kept.join(target.name)).into_iter().map(|(_, bytes)| bytes));
        (target.seeds)(&mut seeds);
        if seeds.inputs.is_empty() {
            seeds.inputs.push(Vec::new());
        }
        seeds
    }

    pub fn add(&mut self, input: impl AsRef<[u8]>) -> &mut Seeds {
        self.inputs.push(input.as_ref().to_vec());
        self
    }

    /// Each of these.
    pub fn each(&mut self, inputs: &[&str]) -> &mut Seeds {
        inputs.iter().for_each(|input| self.inputs.push(input.as_bytes().to_vec()));
        self
    }

    /// The files of a directory of the shared test data, and of those below it, whose names end so;
    /// each after `first`, which is its first line or nothing.
    pub fn shared(&mut self, dir: &str, endings: &[&str], first: &str) -> &mut Seeds {
        let Some(root) = shared_data() else { return self };
        let named = |path: &Path| {
            let name = path.to_string_lossy();
            endings.is_empty() || endings.iter().any(|ending| name.ends_with(ending))
        };
        for (_, bytes) in files(&root.join(dir)).into_iter().filter(|(path, _)| named(path)) {
            self.inputs.push([first.as_bytes(), &bytes].concat());
        }
        self
    }
}

/// Beside the repository, or where `SKURD_SHARED_DATA` says.
fn shared_data() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let dir = env::var_os("SKURD_SHARED_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    dir.is_dir().then_some(dir)
}

/// All small files below a directory, by name; none if it is not there.
fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let is_small = fs::metadata(&path).is_ok_and(|facts| facts.len() <= SEED_BYTES_MAX);
        if path.is_dir() {
            found.extend(files(&path));
        } else if is_small && let Ok(bytes) = fs::read(&path) {
            found.push((path, bytes));
        }
    }
    found.truncate(FILES_MAX);
    found
}
