//! Who is measured, and how: each peer is a child process with an empty directory.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use skurd_bench::pages::Shape;
use skurd_bench::{Stopwatch, scratch, skurd_binary};

use super::hyper_client;

/// No peer takes longer.
const SECONDS_MAX: u64 = 300;

pub(crate) struct Peer {
    pub(crate) name: String,
    what: What,
    port: u16,
    shape: Shape,
}

enum What {
    Skurd(&'static [&'static str]),
    Wget2,
    WgetWarc,
    Hyper,
}

/// What a run took.
pub(crate) struct Run {
    pub(crate) seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_mib: u64,
    /// Of WARC files.
    pub(crate) archive_bytes: u64,
    /// Handed to the disk, whatever became of it.
    pub(crate) written_bytes: u64,
}

pub(crate) fn peers(shape: &Shape, port: u16) -> Result<Vec<Peer>> {
    let peer = |name: &str, what| Peer { name: name.to_owned(), what, port, shape: *shape };
    Ok(vec![
        peer("bare hyper client, 64 connections", What::Hyper),
        peer("skurd --warc gzip", What::Skurd(&["--warc", "gzip", "--no-index"])),
        peer("skurd --warc gzip, live index", What::Skurd(&["--warc", "gzip"])),
        peer("skurd --warc zstd", What::Skurd(&["--warc", "zstd", "--no-index"])),
        peer("skurd --warc none", What::Skurd(&["--warc", "none", "--no-index"])),
        peer("wget2 --max-threads=16, no archive", What::Wget2),
        peer("wget --warc-file (gzip)", What::WgetWarc),
    ])
}

impl Peer {
    pub(crate) fn run(&self) -> Result<Run> {
        let dir = scratch()?;
        let urls: Vec<String> =
            (0..self.shape.hosts).map(|n| format!("http://{}:{}/p/0", Shape::host(n), self.port)).collect();
        let list = dir.path().join("urls.txt");
        std::fs::write(&list, urls.join("\n") + "\n")?;
        let run = match &self.what {
            What::Hyper => hyper_client::run(&self.shape, self.port),
            What::Skurd(more) => measure(&mut self.skurd(dir.path(), &urls, more)?),
            What::Wget2 => measure(
                Command::new("wget2")
                    .args(["--max-threads=16", "-r", "-l", "0", "--no-robots", "--delete-after", "-q", "-i"])
                    .arg(&list)
                    .current_dir(dir.path()),
            ),
            What::WgetWarc => measure(
                Command::new("wget")
                    .args([
                        "-r",
                        "-l",
                        "inf",
                        "-e",
                        "robots=off",
                        "--delete-after",
                        "-q",
                        "--warc-file=bench",
                        "-i",
                    ])
                    .arg(&list)
                    .current_dir(dir.path()),
            ),
        };
        Ok(Run { archive_bytes: archived(&dir.path().join("data/warc")) + archived(dir.path()), ..run? })
    }

    fn skurd(&self, dir: &Path, urls: &[String], more: &[&str]) -> Result<Command> {
        let mut command = Command::new(skurd_binary()?);
        let parallel = if self.shape.hosts == 1 { "32" } else { "1" };
        command
            .args([
                "crawl",
                "--allow-net",
                "127.0.0.0/8",
                "--delay",
                "0",
                "--parallel",
                parallel,
                "--workers",
                "64",
            ])
            .args(["--robots", "ignore", "--data"])
            .arg(dir.join("data"))
            .args(more)
            .args(urls);
        Ok(command)
    }
}

/// How long the WARC files of a directory are.
fn archived(dir: &Path) -> u64 {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let warc = files.filter(|file| file.file_name().to_string_lossy().contains(".warc"));
    warc.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}

fn measure(command: &mut Command) -> Result<Run> {
    let watch = Stopwatch::start();
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let name = quiet.get_program().to_string_lossy().into_owned();
    let mut child = quiet.spawn().with_context(|| format!("{name} is not there"))?;
    let mut last = Reading::default();
    loop {
        last = Reading::of(&child).unwrap_or(last);
        if child.try_wait()?.is_some() {
            break;
        }
        anyhow::ensure!(watch.elapsed().as_secs() < SECONDS_MAX, "{name} took too long");
        #[allow(clippy::disallowed_methods, reason = "waiting for another process is all there is to do")]
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let Reading { cpu_seconds, peak_mib, written_bytes } = last;
    let seconds = watch.elapsed().as_secs_f64();
    Ok(Run { seconds, cpu_seconds, peak_mib, archive_bytes: 0, written_bytes })
}

/// What the kernel says of a process.
#[derive(Clone, Copy, Default)]
struct Reading {
    cpu_seconds: f64,
    peak_mib: u64,
    written_bytes: u64,
}

impl Reading {
    fn of(child: &Child) -> Option<Reading> {
        let proc = PathBuf::from(format!("/proc/{}", child.id()));
        let status = std::fs::read_to_string(proc.join("status")).ok()?;
        let peak = status.lines().find(|line| line.starts_with("VmHWM:"))?;
        let peak_mib = peak.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024;
        let stat = std::fs::read_to_string(proc.join("stat")).ok()?;
        // After the name in brackets: user and system time are the 12th and 13th.
        let mut times = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        let ticks = times.next()?.parse::<f64>().ok()? + times.next()?.parse::<f64>().ok()?;
        let io = std::fs::read_to_string(proc.join("io")).ok()?;
        let written = io.lines().find_map(|line| line.strip_prefix("write_bytes: "))?;
        let written_bytes = written.trim().parse().ok()?;
        Some(Reading { cpu_seconds: ticks / 100.0, peak_mib, written_bytes })
    }
}
