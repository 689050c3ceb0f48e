//! Several processes on one store that is a cluster, as the web and the captures see them (M1-M10).
//!
//! `SKURD_TEST_PD` is the address of a placement driver. `SKURD_TEST_CLUSTER` is the directory that
//! `tests/cluster/cluster start DIR` was given, for the tests that take parts of the cluster away.
//! Without them there is nothing to test against, and the tests say so. `SKURD_CLUSTER_WEB=200x200`
//! is the size of the web: hosts, and pages of each.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;
use testkit::web::{Answer, Ask};
use testkit::world::{Run, World};
use tokio::time::Instant;

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");
const DELAY: Duration = Duration::from_millis(100);
const WALKS: usize = 3;
/// Ids that exist, and the margin of misses after which a walk ends.
const IDS: u64 = 20;
const MARGIN: u64 = 3;

/// Each page links to two further ones of its host, and to another host.
fn site(ask: &Ask, hosts: usize, pages: usize) -> Answer {
    let number = |text: &str| text.parse::<usize>().ok();
    if ask.path == "/robots.txt" {
        return Answer::not_found();
    }
    if let Some(id) = ask.path.strip_prefix("/id/") {
        return if number(id).is_some_and(|id| id as u64 <= IDS) {
            Answer::html(id)
        } else {
            Answer::not_found()
        };
    }
    let Some(host) = ask.host.strip_prefix('h').and_then(|name| number(name.trim_end_matches(".test")))
    else {
        return Answer::not_found();
    };
    let page = number(&ask.path[1..]).unwrap_or(0);
    let own = [2 * page + 1, 2 * page + 2].into_iter().filter(|next| *next < pages);
    let links: String = own.map(|next| format!("<a href='/{next}'>{next}</a>")).collect();
    let next = (host + 1) % hosts;
    Answer::html(format!("{links}<a href='http://h{next}.test/0'>on</a> page {page} of {host}"))
}

/// Every fleet has a prefix of its own.
fn fleet_number() -> u32 {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

struct Fleet {
    world: World,
    hosts: usize,
    pages: usize,
    address: String,
    nodes: BTreeMap<usize, Run>,
    begun: Instant,
}

impl Fleet {
    fn new() -> Option<Fleet> {
        let Some(pd) = std::env::var("SKURD_TEST_PD").ok().filter(|pd| !pd.is_empty()) else {
            eprintln!("skipped: SKURD_TEST_PD names no cluster");
            return None;
        };
        let size = std::env::var("SKURD_CLUSTER_WEB").unwrap_or_else(|_| "40x25".to_owned());
        let (hosts, pages) = size.split_once('x').expect("SKURD_CLUSTER_WEB=200x200");
        let (hosts, pages): (usize, usize) = (hosts.parse().unwrap(), pages.parse().unwrap());
        let world = World::new(SKURD, move |ask| site(ask, hosts, pages));
        let seeds: Vec<String> =
            (0..hosts).map(|host| format!("{{url: 'http://h{host}.test/0', profiles: [p]}}")).collect();
        let walks: Vec<String> = (0..WALKS)
            .map(|walk| format!("{{name: w{walk}, template: 'http://walk{walk}.test/id/{{id}}', profile: p, min: 1, margin: {MARGIN}}}"))
            .collect();
        world.write(
            "c.yaml",
            &format!(
                "
settings: {{lease: 20s, politeness: {{factor: 0, min: 100ms, max: 100ms}}}}
collections: [{{name: c, index: true}}]
profiles: [{{name: p, collection: c, every: 1d, length: 1}}]
seeds: [{}]
walks: [{}]
",
                seeds.join(", "),
                walks.join(", ")
            ),
        );
        let address = format!(
            "tikv://{pd}/test-{:016x}?gc=off",
            u64::from(std::process::id()) | (u64::from(fleet_number()) << 40)
        );
        Some(Fleet { world, hosts, pages, address, nodes: BTreeMap::new(), begun: Instant::now() })
    }

    fn start(&mut self, node: usize) {
        let (name, data) = (format!("n{node}"), format!("data{node}"));
        let args = ["c.yaml", "--until-done", "--store", &self.address, "--node", &name, "--data", &data];
        self.nodes.insert(node, self.world.start(&args));
    }

    fn asked(&self) -> usize {
        self.world.web().count()
    }

    /// Waits until a part of the web has been asked for.
    fn part(&self, share: f64) {
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share"
        )]
        let wanted = ((self.hosts * self.pages) as f64 * share) as usize;
        // In portions: a large web takes as long as it takes, and only a standstill is an error.
        while self.asked() < wanted {
            self.world.web().wait_for(wanted.min(self.asked() + 100));
        }
    }

    fn json(&self, args: &[&str]) -> Vec<Value> {
        self.world.json(&[args, &["--data", "data0"]].concat())
    }

    /// All of them end by themselves; then everything is held against everything. Gives what they had
    /// to say.
    fn ends(&mut self, asked_once: bool) -> Vec<String> {
        self.part(1.0);
        let mut said = Vec::new();
        for (node, run) in std::mem::take(&mut self.nodes) {
            let told = run.end();
            assert_eq!(told.code, Some(0), "node {node}: {}", told.err);
            said.push(told.err);
        }
        eprintln!("all have ended {:.0} s after the first began", self.begun.elapsed().as_secs_f64());
        let mut captured: BTreeMap<String, u32> = BTreeMap::new();
        for capture in self.json(&["captures"]) {
            let url = capture["url"].as_str().unwrap();
            if !url.ends_with("/robots.txt") && !url.starts_with("dns:") {
                *captured.entry(url.to_owned()).or_default() += 1;
            }
        }
        let doubled: Vec<_> = captured.iter().filter(|(_, times)| **times != 1).collect();
        assert!(doubled.is_empty(), "doubled: {doubled:?}");
        for (host, page) in (0..self.hosts).flat_map(|host| (0..self.pages).map(move |page| (host, page))) {
            let url = format!("http://h{host}.test/{page}");
            assert!(captured.contains_key(&url), "lost: {url}");
            assert!(!asked_once || self.world.web().times(&url) == 1, "asked for twice: {url}");
        }
        let walked = captured.keys().filter(|url| url.contains("/id/")).count() as u64;
        assert_eq!(walked, WALKS as u64 * (IDS + MARGIN), "walks");
        self.was_polite();
        let verified = self.world.good(&["index", "verify", "--collection", "c", "--data", "data0"]);
        assert!(!verified.is_empty());
        // Each node's files hold what its captures say.
        for node in std::fs::read_dir(self.world.dir.path()).unwrap().flatten() {
            if node.file_name().to_string_lossy().starts_with("data") {
                let files: Vec<PathBuf> = warc_files(&node.path());
                // One that was killed early may have none.
                if !files.is_empty() {
                    let files: Vec<&str> = files.iter().map(|path| path.to_str().unwrap()).collect();
                    self.world.good(&[&["warc", "check"], &files[..]].concat());
                }
            }
        }
        said
    }

    /// M5: one request at a time to a host, and the delay after it, whoever asks.
    fn was_polite(&self) {
        let mut by_host: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for seen in self.world.web().seen() {
            by_host.entry(seen.ask.host.clone()).or_default().push((
                seen.begin,
                seen.end,
                seen.ask.path.clone(),
            ));
        }
        for (host, mut seen) in by_host {
            seen.sort_by_key(|(begin, ..)| *begin);
            for pair in seen.windows(2) {
                let (before, after) = (&pair[0], &pair[1]);
                let ended = before.1.unwrap_or(before.0);
                let pause = after.0.saturating_duration_since(ended);
                assert!(pause >= DELAY, "{host}: {} came {pause:?} after {}", after.2, before.2);
            }
        }
    }
}

fn warc_files(data: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(data.join("warc")).unwrap().flatten().map(|entry| entry.path());
    files.filter(|path| path.to_string_lossy().contains(".warc")).collect()
}

/// What is waited for here passes in other processes.
fn pause(time: Duration) {
    let (_nobody, nothing) = std::sync::mpsc::sync_channel::<()>(0);
    let _ = nothing.recv_timeout(time);
}

/// `tests/cluster/cluster COMMAND DIR PART`, if the cluster is one of ours.
fn cluster(command: &str, part: &str) -> bool {
    let Some(dir) = std::env::var_os("SKURD_TEST_CLUSTER") else {
        eprintln!("skipped: SKURD_TEST_CLUSTER names no cluster that may be disturbed");
        return false;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cluster/cluster");
    let done = Command::new(script).arg(command).arg(dir).arg(part).status().unwrap();
    assert!(done.success(), "cluster {command} {part}");
    true
}

#[test]
fn m1_m4_m5_m6_m7_m8_three_nodes_harvest_a_web_once() {
    let Some(mut fleet) = Fleet::new() else { return };
    (0..3).for_each(|node| fleet.start(node));
    fleet.part(0.5);
    fleet.ends(true);
    let made: Vec<usize> =
        (0..3).map(|node| warc_files(&fleet.world.dir.path().join(format!("data{node}"))).len()).collect();
    assert!(made.iter().all(|files| *files > 0), "each has done its part: {made:?}");
    assert!(fleet.asked() > 0);
}

#[test]
fn m10_a_node_that_is_killed_and_one_that_is_stopped_lose_and_double_nothing() {
    let Some(mut fleet) = Fleet::new() else { return };
    (0..3).for_each(|node| fleet.start(node));
    fleet.part(0.2);
    fleet.nodes.remove(&1).unwrap().kill();
    let stopped = fleet.nodes[&2].id().to_string();
    let signal =
        |name: &str| assert!(Command::new("kill").args([name, &stopped]).status().unwrap().success());
    signal("-STOP");
    // Past its lease, and those of its orders.
    pause(Duration::from_secs(30));
    signal("-CONT");
    fleet.start(1);
    fleet.ends(false);
}

#[test]
fn m10_a_server_of_the_store_is_killed_and_its_placement_driver_restarted() {
    let Some(mut fleet) = Fleet::new() else { return };
    (0..3).for_each(|node| fleet.start(node));
    fleet.part(0.2);
    if !cluster("kill", "1") {
        return;
    }
    fleet.part(0.5);
    cluster("again", "1");
    cluster("kill", "pd");
    pause(Duration::from_secs(5));
    cluster("again", "pd");
    fleet.ends(false);
}

#[test]
fn m10_a_network_that_is_cut_for_20_seconds_is_waited_for_with_one_line() {
    let Some(mut fleet) = Fleet::new() else { return };
    let is_apart =
        std::env::var_os("SKURD_TEST_CLUSTER").is_some_and(|dir| Path::new(&dir).join("apart").exists());
    if !is_apart {
        return eprintln!("skipped: SKURD_TEST_CLUSTER was not started with `cluster apart`");
    }
    (0..3).for_each(|node| fleet.start(node));
    fleet.part(0.2);
    cluster("cut", "");
    let asked = fleet.asked();
    pause(Duration::from_secs(20));
    let meanwhile = fleet.asked() - asked;
    cluster("join", "");
    for (node, said) in fleet.ends(false).into_iter().enumerate() {
        let lines = |what: &str| said.lines().filter(|line| line.contains(what)).count();
        let told = (lines("does not answer, and is waited for"), lines("answers again"));
        assert_eq!(told, (1, 1), "node {node}: {said}");
    }
    // What was reserved before, and no more.
    assert!(meanwhile <= 3 * 64, "{meanwhile} requests while nothing could be committed");
}

/// No cluster is needed to be wrong about it.
#[test]
fn m1_wrong_addresses_are_told_in_a_sentence_and_not_remembered() {
    let world = World::new(SKURD, |_| Answer::not_found());
    world.write("c.yaml", "collections: [{name: c}]");
    std::fs::create_dir(world.dir.path().join("newer")).unwrap();
    world.write("newer/FORMAT", "skurd-store 9\n");
    let here = "error: the store at tikv://127.0.0.1:1/skurd cannot be reached: ";
    for (store, told) in [
        ("tkv://127.0.0.1:1/skurd", "is no address of a store: it begins with tikv://"),
        ("tikv://127.0.0.1:1", "after the placement drivers comes the prefix of its keys"),
        ("tikv://127.0.0.1:1/a/b", "its prefix \"a/b\" is not 1 to 32 letters"),
        ("tikv://127.0.0.1:1/skurd", here),
        (
            "tikv://127.0.0.1:1/skurd?ca=ca.pem&cert=c.pem&key=k.pem",
            "error: cannot read ca.pem, which the address of the store names: No such file",
        ),
    ] {
        let refused = world.crawl(&["c.yaml", "--store", store, "--data", "data"]);
        assert_eq!(refused.code, Some(1), "{store}: {refused:?}");
        let mut lines = refused.err.lines();
        let sentence = lines.next().unwrap_or_default();
        assert!(sentence.starts_with("error: ") && sentence.contains(told), "{store}: {}", refused.err);
        assert!(lines.all(|line| line.starts_with("hint: ")), "{store}: {}", refused.err);
        assert!(!world.dir.path().join("data/node.yaml").exists(), "{store} is remembered");
    }
    let copied = world.skurd(&["store", "copy", "newer", "tikv://127.0.0.1:1/skurd"]);
    assert_eq!(copied.code, Some(1), "{copied:?}");
    assert!(
        copied.err.contains("newer has format 9, and this program knows formats up to"),
        "{}",
        copied.err
    );
}

#[test]
fn m2_two_nodes_of_one_name_and_a_wrong_prefix_are_told_in_a_sentence() {
    let Some(mut fleet) = Fleet::new() else { return };
    fleet.start(0);
    fleet.part(0.05);
    let twice = ["c.yaml", "--store", &fleet.address, "--node", "n0", "--data", "other"];
    let told = fleet.world.crawl(&twice);
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.err.starts_with("error: a node called \"n0\" is at work on this store"), "{}", told.err);
    let elsewhere = format!("{}x", fleet.address.replace("?gc=off", ""));
    let told = fleet.world.crawl(&["c.yaml", "--store", &elsewhere, "--data", "data0"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.err.contains("belongs to the store at"), "{}", told.err);
    // Who only looks makes no store where none is.
    let nowhere = fleet.address.replace("/test-", "/none-");
    std::fs::create_dir(fleet.world.dir.path().join("looks")).unwrap();
    fleet.world.write("looks/node.yaml", &format!("store: {nowhere}\n"));
    let told = fleet.world.skurd(&["captures", "--data", "looks"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.err.starts_with("error: there is no store at tikv://"), "{}", told.err);
    fleet.ends(true);
}
