//! A data directory, the binary on it, and the frontier itself for what needs a harvest.

#![allow(dead_code, reason = "each test file uses a part")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use frontier::Frontier;
use frontier::ports::{AnswerFacts, Clock, Fetch, Order, Outlink, Report};
use policy::model::LinkKind;
use policy::time::{Span, Time};
use policy::url::{UrlRules, normalise};
use serde_json::Value;
use store::{Options, Store};
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) dir: TempDir,
}

/// What the binary said.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> Time {
        Time(self.0.load(Ordering::Relaxed))
    }
}

impl TestClock {
    pub(crate) fn advance(&self, span: Span) {
        self.0.fetch_add(i64::try_from(span.0).unwrap(), Ordering::Relaxed);
    }
}

#[allow(clippy::disallowed_methods, reason = "the binary looks at the same clock")]
pub(crate) fn now() -> Time {
    Time(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap())
}

pub(crate) fn before_now(span: Span) -> Time {
    Time(now().0 - i64::try_from(span.0).unwrap())
}

impl World {
    pub(crate) fn empty() -> World {
        World { dir: TempDir::new().unwrap() }
    }

    /// With a config applied.
    pub(crate) fn new(config: &str) -> World {
        let world = World::empty();
        world.apply(config);
        world
    }

    pub(crate) fn apply(&self, config: &str) {
        self.write("c.yaml", config);
        self.good(&["config", "apply", "c.yaml"]);
    }

    pub(crate) fn write(&self, file: &str, content: &str) {
        std::fs::write(self.dir.path().join(file), content).unwrap();
    }

    pub(crate) fn data(&self) -> std::path::PathBuf {
        self.dir.path().join("skurd-data")
    }

    pub(crate) fn skurd(&self, args: &[&str]) -> Told {
        run(self.dir.path(), args)
    }

    /// Runs a command that must succeed, and gives what it printed.
    pub(crate) fn good(&self, args: &[&str]) -> String {
        let told = self.skurd(args);
        assert_eq!(told.code, 0, "{args:?}: {told:?}");
        told.out
    }

    /// The JSON lines of a command that must succeed.
    pub(crate) fn json(&self, args: &[&str]) -> Vec<Value> {
        let out = self.good(&[args, &["--json"]].concat());
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Works on the frontier itself, under a clock that stands at `at`.
    pub(crate) fn work(&self, at: Time, work: impl AsyncFnOnce(&Frontier, &TestClock)) {
        let store = Store::open(&self.data(), &Options::default()).unwrap();
        let clock = Arc::new(TestClock(AtomicI64::new(at.0)));
        let frontier = Frontier::new(store, Arc::clone(&clock) as Arc<dyn Clock>, 7);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(work(&frontier, &clock));
    }

    /// Harvests each URL that is due in a minute, once, as `answer` says.
    pub(crate) fn harvest(&self, answer: impl Fn(&Order) -> Report) {
        self.work(now().plus(Span::minutes(1)), async |frontier, _| {
            for order in frontier.reserve(100).await.unwrap().orders {
                frontier.complete(&order, &answer(&order), &[]).await.unwrap();
            }
        });
    }
}

fn run(dir: &Path, args: &[&str]) -> Told {
    let output = Command::new(env!("CARGO_BIN_EXE_skurd"))
        .current_dir(dir)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Told {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// An answer with this status and these links.
pub(crate) fn page(at: Time, status: u16, links: &[&str]) -> Report {
    let facts = AnswerFacts { status, digest: Some(format!("d{status}")), ..AnswerFacts::default() };
    let link = |url: &&str| Outlink {
        url: normalise(url, None, &UrlRules::default()).unwrap(),
        kind: LinkKind::Link,
    };
    Report {
        response_time: Span(120),
        bytes: 20_000,
        outlinks: links.iter().map(link).collect(),
        ..Report::bare(at, Fetch::Answer(facts))
    }
}

pub(crate) fn failure(result: Fetch) -> Report {
    Report::bare(now().plus(Span::minutes(1)), result)
}
