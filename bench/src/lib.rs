//! What the benches share: a stopwatch, readings of memory, and webs to harvest.

pub mod pages;
pub mod web;

use std::time::{Duration, Instant};

/// As the binary itself has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub struct Stopwatch(Instant);

impl Stopwatch {
    #[allow(clippy::disallowed_methods, reason = "measuring real time is what a bench is for")]
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    pub fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.0.elapsed().as_secs_f64()
    }
}

impl std::fmt::Debug for Stopwatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.elapsed())
    }
}

/// Resident memory of this process in MiB: now, and at its highest.
pub fn memory_mib() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|n| n.parse::<u64>().ok());
        kib.unwrap_or(0) / 1024
    };
    (field("VmRSS:"), field("VmHWM:"))
}

/// What this process has computed so far.
pub fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let times = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().skip(11).take(2);
    times.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// `--name N` from the command line, or the default.
pub fn number_flag(name: &str, default: u64) -> u64 {
    let mut args = std::env::args();
    while let Some(arg) = args.next() {
        if arg == name {
            return args.next().and_then(|n| n.replace('_', "").parse().ok()).unwrap_or(default);
        }
    }
    default
}

/// `--name TEXT` from the command line.
pub fn text_flag(name: &str) -> Option<String> {
    std::env::args().skip_while(|arg| arg != name).nth(1)
}

/// The directory benches make their own directories in: `--dir`, or the system's for temporary
/// files.
pub fn scratch() -> anyhow::Result<tempfile::TempDir> {
    Ok(match text_flag("--dir") {
        Some(dir) => tempfile::TempDir::new_in(dir)?,
        None => tempfile::TempDir::new()?,
    })
}

/// The binary that is measured: `--skurd FILE`, or the one built beside this.
pub fn skurd_binary() -> anyhow::Result<std::path::PathBuf> {
    Ok(match text_flag("--skurd") {
        Some(path) => path.into(),
        None => std::env::current_exe()?.with_file_name("skurd"),
    })
}

pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
