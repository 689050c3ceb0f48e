//! A web, a data directory, and the binary between them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::time::Instant;

use crate::reply::Reply;
use crate::web::{Ask, Web};

/// Longer than any run takes: only a hang is that slow.
const PATIENCE: Duration = Duration::from_secs(80);
/// How often the memory of a run is looked at.
const SAMPLE_EVERY: Duration = Duration::from_millis(20);

pub(crate) struct World {
    pub(crate) dir: TempDir,
    pub(crate) web: Web,
}

/// What the binary said.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    /// The most memory it was seen to hold.
    pub(crate) peak_kib: u64,
}

/// The binary at work.
pub(crate) struct Run {
    child: Child,
    /// Standard output and standard error, line by line.
    lines: Receiver<(bool, String)>,
    told: Told,
}

impl World {
    pub(crate) fn new(site: impl Fn(&Ask) -> Reply + Send + Sync + 'static) -> World {
        World { dir: TempDir::new().unwrap(), web: Web::new(site) }
    }

    /// With its data below a certain place.
    pub(crate) fn new_in(place: &Path, site: impl Fn(&Ask) -> Reply + Send + Sync + 'static) -> World {
        World { dir: TempDir::new_in(place).unwrap(), web: Web::new(site) }
    }

    pub(crate) fn write(&self, file: &str, content: &str) {
        std::fs::write(self.dir.path().join(file), content).unwrap();
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("skurd-data")
    }

    /// The options by which the binary finds the web.
    pub(crate) fn way(&self) -> [String; 4] {
        let resolve = format!("*.test=127.0.0.1:{}", self.web.port);
        ["--resolve".to_owned(), resolve, "--allow-net".to_owned(), "127.0.0.0/8".to_owned()]
    }

    /// Begins to harvest.
    pub(crate) fn start(&self, args: &[&str]) -> Run {
        let way = self.way();
        let way: Vec<&str> = way.iter().map(String::as_str).collect();
        Run::start(self.dir.path(), &[&["crawl"], args, &way[..]].concat())
    }

    /// Harvests to the end.
    pub(crate) fn crawl(&self, args: &[&str]) -> Told {
        self.start(args).end()
    }

    /// Harvests well to the end, and gives the events.
    pub(crate) fn crawl_json(&self, args: &[&str]) -> Vec<Value> {
        let told = self.crawl(&[args, &["--json"]].concat());
        assert_eq!(told.code, Some(0), "{args:?}: {}", told.err);
        json_lines(&told.out)
    }

    pub(crate) fn skurd(&self, args: &[&str]) -> Told {
        Run::start(self.dir.path(), args).end()
    }

    pub(crate) fn good(&self, args: &[&str]) -> String {
        let told = self.skurd(args);
        assert_eq!(told.code, Some(0), "{args:?}: {told:?}");
        told.out
    }

    pub(crate) fn json(&self, args: &[&str]) -> Vec<Value> {
        json_lines(&self.good(&[args, &["--json"]].concat()))
    }

    /// The captures of pages, without those of robots.txt and DNS.
    pub(crate) fn captures(&self) -> Vec<Value> {
        let mut all = self.json(&["captures"]);
        all.retain(|capture| {
            let url = capture["url"].as_str().unwrap();
            !url.ends_with("/robots.txt") && !url.starts_with("dns:")
        });
        all
    }

    /// What a captured URL gave: its statuses in the order of their times.
    pub(crate) fn captures_of(&self, url: &str) -> Vec<Value> {
        self.json(&["captures", url])
    }

    pub(crate) fn why(&self, url: &str) -> Value {
        let mut all = self.json(&["why", url]);
        assert_eq!(all.len(), 1, "{url}");
        all.remove(0)
    }

    pub(crate) fn warc_files(&self) -> Vec<PathBuf> {
        let dir = self.data().join("warc");
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        // The archive's own journal is no archive file.
        files.retain(|path| path.file_name().is_some_and(|name| name != ".journal"));
        files.sort();
        files
    }

    /// A8, A9, F7: complete files that are sound, a store that is sound, and both say the same.
    pub(crate) fn check(&self) {
        let files = self.warc_files();
        let mut lines = BTreeSet::new();
        for path in &files {
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(name.contains(".warc") && !name.ends_with(".open"), "{name}");
            let add = |line: String| assert!(lines.insert(line.clone()), "twice: {line}");
            let broken = |at, reason| panic!("{name} at {at}: {reason}");
            net::cdx::index(File::open(path).unwrap(), name, add, broken).unwrap();
        }
        if !files.is_empty() {
            let files: Vec<&str> = files.iter().map(|path| path.to_str().unwrap()).collect();
            self.good(&[&["warc", "check"], &files[..]].concat());
        }
        let export = self.good(&["cdx", "export"]);
        let mut exported = BTreeSet::new();
        for line in export.split_inclusive('\n') {
            assert!(exported.insert(line.to_owned()), "twice: {line}");
        }
        let only_files: Vec<_> = lines.difference(&exported).take(3).collect();
        let only_store: Vec<_> = exported.difference(&lines).take(3).collect();
        assert!(only_files.is_empty() && only_store.is_empty(), "{only_files:#?} {only_store:#?}");
        assert!(export.lines().is_sorted(), "replay tools look for lines by halving");
        self.good(&["store", "check", self.data().to_str().unwrap()]);
        let left = std::fs::read_dir(self.data().join("tmp")).unwrap().count();
        assert_eq!(left, 0, "answers that nobody waits for");
    }
}

impl Run {
    pub(crate) fn start(dir: &Path, args: &[&str]) -> Run {
        Run::of(env!("CARGO_BIN_EXE_skurd"), dir, args)
    }

    /// Another program that becomes it.
    pub(crate) fn of(program: &str, dir: &Path, args: &[&str]) -> Run {
        let mut child = Command::new(program)
            .current_dir(dir)
            .args(args)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = sync_channel(1024);
        let streams: [(bool, Box<dyn Read + Send>); 2] =
            [(true, Box::new(child.stdout.take().unwrap())), (false, Box::new(child.stderr.take().unwrap()))];
        for (is_out, stream) in streams {
            let sender = sender.clone();
            std::thread::spawn(move || {
                let mut stream = BufReader::new(stream);
                let mut line = String::new();
                while stream.read_line(&mut line).unwrap_or(0) > 0 {
                    if sender.send((is_out, std::mem::take(&mut line))).is_err() {
                        return;
                    }
                }
            });
        }
        Run { child, lines, told: Told::default() }
    }

    /// Kills it as the power going out would, and gives what it had said.
    pub(crate) fn kill(mut self) -> Told {
        assert!(self.child.try_wait().unwrap().is_none(), "it ended before: {:?}", self.drain());
        self.child.kill().unwrap();
        self.end()
    }

    /// Ctrl-C.
    pub(crate) fn interrupt(&self) {
        self.signal("-INT");
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn is_running(&self) -> bool {
        std::fs::metadata(format!("/proc/{}/exe", self.id())).is_ok()
    }

    /// Waits until it has ended.
    pub(crate) fn end(mut self) -> Told {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(SAMPLE_EVERY) {
                Ok(line) => self.take(line),
                Err(RecvTimeoutError::Timeout) => self.sample(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if Instant::now() > deadline {
                let _ = self.child.kill();
                panic!("it does not end: {:?}", self.drain());
            }
        }
        self.told.code = self.child.wait().unwrap().code();
        self.told
    }

    fn drain(&mut self) -> &Told {
        while let Ok(line) = self.lines.recv() {
            self.take(line);
        }
        &self.told
    }

    fn take(&mut self, (is_out, line): (bool, String)) {
        self.sample();
        if is_out { &mut self.told.out } else { &mut self.told.err }.push_str(&line);
    }

    /// The kernel keeps the peak as long as the process is there.
    fn sample(&mut self) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|text| text.trim().strip_suffix(" kB")?.parse().ok());
        self.told.peak_kib = self.told.peak_kib.max(peak.unwrap_or(0));
    }
}

pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}
