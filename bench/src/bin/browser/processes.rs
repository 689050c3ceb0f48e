//! What a process and all below it take, as the kernel tells it.

use std::collections::HashMap;
use std::fs;

/// In megabytes, each process by its share of what several have (PSS).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    pub(super) own: f64,
    pub(super) browser: f64,
}

/// Of `/proc/PID/stat`: its parent, and its time in hundredths of a second.
fn stat(pid: u32) -> Option<(u32, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let times = fields.get(11..13)?.iter().filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Some((fields.get(1)?.parse().ok()?, times))
}

/// A process and all below it, with their times.
fn tree(root: u32) -> HashMap<u32, u64> {
    let all: HashMap<u32, (u32, u64)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, stat(pid)?)))
        .collect();
    let is_below = |pid: u32| {
        let mut at = pid;
        while at != root {
            match all.get(&at) {
                Some((parent, _)) if *parent > 1 => at = *parent,
                _ => return false,
            }
        }
        true
    };
    all.iter().filter(|(pid, _)| is_below(**pid)).map(|(pid, (_, times))| (*pid, *times)).collect()
}

/// What a process and all below it have computed. A tab's process ends with its page, and nobody
/// buries it who would count its time: each counts with what it had when it was last looked at.
#[derive(Debug, Default)]
pub(super) struct Times {
    last: HashMap<u32, u64>,
    /// At a time.
    pub(super) most: usize,
}

impl Times {
    pub(super) fn look(&mut self, root: u32) {
        let now = tree(root);
        self.most = self.most.max(now.len());
        self.last.extend(now);
    }

    pub(super) fn seconds(&self) -> f64 {
        self.last.values().sum::<u64>() as f64 / 100.0
    }
}

pub(super) fn memory_of_tree(root: u32) -> Memory {
    let mut memory = Memory::default();
    for pid in tree(root).into_keys() {
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let pss = text
            .lines()
            .find_map(|line| line.strip_prefix("Pss:")?.split_whitespace().next()?.parse::<f64>().ok());
        let megabytes = pss.unwrap_or(0.0) * 1024.0 / 1e6;
        if pid == root {
            memory.own += megabytes;
        } else {
            memory.browser += megabytes;
        }
    }
    memory
}

/// Seconds that all cores were busy, whoever kept them so.
pub(super) fn of_machine() -> f64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let first = stat.lines().next().unwrap_or_default();
    let times: Vec<u64> = first.split_whitespace().skip(1).filter_map(|ticks| ticks.parse().ok()).collect();
    // User, nice, system; irq, softirq.
    [0, 1, 2, 5, 6].iter().filter_map(|at| times.get(*at)).sum::<u64>() as f64 / 100.0
}
