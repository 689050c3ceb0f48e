//! A directory, the binary in it, and a web around it: what a person has who tries something out.
//!
//! The binary is `env!("CARGO_BIN_EXE_skurd")` in the tests of the package that builds it.

mod client;
mod disk;
mod harvest;
mod pages;
mod run;
mod served;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::web::{Answer, Ask, Setup, Web};

pub use client::{Request, Response};
pub use disk::{Disk, fill};
pub use harvest::{before_now, failure, now, page};
pub use pages::fifty_pages;
pub use run::{Run, Told};
pub use served::{Served, breathe};

#[derive(Debug)]
pub struct World {
    pub dir: TempDir,
    skurd: &'static str,
    web: Option<Web>,
}

impl World {
    /// An empty directory.
    pub fn empty(skurd: &'static str) -> World {
        World { dir: TempDir::new().unwrap(), skurd, web: None }
    }

    /// With a config applied.
    pub fn declared(skurd: &'static str, config: &str) -> World {
        let world = World::empty(skurd);
        world.apply(config);
        world
    }

    /// With a web.
    pub fn new(skurd: &'static str, site: impl Fn(&Ask) -> Answer + Send + Sync + 'static) -> World {
        World { web: Some(local_web(site)), ..World::empty(skurd) }
    }

    /// With a web that speaks TLS too, with a certificate of its own making.
    #[cfg(feature = "tls")]
    pub fn secure(skurd: &'static str, site: impl Fn(&Ask) -> Answer + Send + Sync + 'static) -> World {
        let setup = Setup { tls: Some(crate::web::self_signed("a.test")), ..Setup::default() };
        let web = Web::start(([127, 0, 0, 1], 0).into(), setup, site).unwrap();
        World { web: Some(web), ..World::empty(skurd) }
    }

    /// The same with its directory below a certain place.
    pub fn new_in(
        place: &Path,
        skurd: &'static str,
        site: impl Fn(&Ask) -> Answer + Send + Sync + 'static,
    ) -> World {
        World { dir: TempDir::new_in(place).unwrap(), ..World::new(skurd, site) }
    }

    pub fn web(&self) -> &Web {
        self.web.as_ref().expect("a world with a web")
    }

    pub fn write(&self, file: &str, content: &str) {
        std::fs::write(self.dir.path().join(file), content).unwrap();
    }

    pub fn data(&self) -> PathBuf {
        self.dir.path().join("skurd-data")
    }

    pub fn apply(&self, config: &str) {
        self.write("c.yaml", config);
        self.good(&["config", "apply", "c.yaml"]);
    }

    /// The options by which the binary finds the web.
    pub fn way(&self) -> [String; 4] {
        let resolve = format!("*.test={}", self.web().address());
        ["--resolve".to_owned(), resolve, "--allow-net".to_owned(), "127.0.0.0/8".to_owned()]
    }

    /// The binary in this directory.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.skurd);
        command.current_dir(self.dir.path());
        command
    }

    /// Starts a command.
    pub fn run(&self, args: &[&str]) -> Run {
        Run::of(self.skurd, self.dir.path(), args)
    }

    /// Begins to harvest.
    pub fn start(&self, args: &[&str]) -> Run {
        let way = self.way();
        let way: Vec<&str> = way.iter().map(String::as_str).collect();
        self.run(&[&["crawl"], args, &way[..]].concat())
    }

    /// Harvests to the end.
    pub fn crawl(&self, args: &[&str]) -> Told {
        self.start(args).end()
    }

    /// Harvests well to the end, and gives the events.
    pub fn crawl_json(&self, args: &[&str]) -> Vec<Value> {
        let told = self.crawl(&[args, &["--json"]].concat());
        assert_eq!(told.code, Some(0), "{args:?}: {}", told.err);
        json_lines(&told.out)
    }

    pub fn skurd(&self, args: &[&str]) -> Told {
        self.run(args).end()
    }

    /// Runs a command that must succeed, and gives what it printed.
    pub fn good(&self, args: &[&str]) -> String {
        let told = self.skurd(args);
        assert_eq!(told.code, Some(0), "{args:?}: {told:?}");
        told.out
    }

    /// The JSON lines of a command that must succeed.
    pub fn json(&self, args: &[&str]) -> Vec<Value> {
        json_lines(&self.good(&[args, &["--json"]].concat()))
    }

    /// The captures of pages, without those of robots.txt and DNS.
    pub fn captures(&self) -> Vec<Value> {
        let mut all = self.json(&["captures"]);
        all.retain(|capture| {
            let url = capture["url"].as_str().unwrap();
            !url.ends_with("/robots.txt") && !url.starts_with("dns:")
        });
        all
    }

    /// What a captured URL gave: its statuses in the order of their times.
    pub fn captures_of(&self, url: &str) -> Vec<Value> {
        self.json(&["captures", url])
    }

    pub fn why(&self, url: &str) -> Value {
        let mut all = self.json(&["why", url]);
        assert_eq!(all.len(), 1, "{url}");
        all.remove(0)
    }

    pub fn warc_files(&self) -> Vec<PathBuf> {
        let dir = self.data().join("warc");
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        // The archive's own journal is no archive file.
        files.retain(|path| path.file_name().is_some_and(|name| name != ".journal"));
        files.sort();
        files
    }

    /// A8, A9, F7: complete files that are sound, a store that is sound, and both say the same.
    pub fn check(&self) {
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

/// A web on any port, on a thread of its own.
fn local_web(site: impl Fn(&Ask) -> Answer + Send + Sync + 'static) -> Web {
    Web::start(([127, 0, 0, 1], 0).into(), Setup::default(), site).unwrap()
}

pub fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}
