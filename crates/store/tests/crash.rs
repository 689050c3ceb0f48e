//! Kill -9 of a real process at random points of its work, again and again on one data directory.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use store::contract::crash::{LANES, verify};
use store::contract::upgrading::{self, fill_bare, verify_upgraded};
use store::{Options, Store};

const ROUNDS: u32 = 60;
const ACKS_MAX: u32 = 400;

#[test]
fn every_acknowledged_commit_survives_kill_9_and_no_half_of_another() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut rng = fastrand::Rng::new();
    let seed = rng.get_seed();
    let mut heads = vec![0; LANES as usize];
    for round in 0..ROUNDS {
        // Sometimes at once, while it is still opening; mostly in the middle of work.
        let acks = if round % 10 == 0 { 0 } else { rng.u32(1..ACKS_MAX) };
        let mut writer = Command::new(env!("CARGO_BIN_EXE_store-crash-writer"))
            .arg("write")
            .arg(dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        for _ in 0..acks {
            note(&lines.next().expect("the writer ended by itself").unwrap(), &mut heads);
        }
        if acks == 0 {
            std::thread::yield_now();
        }
        writer.kill().unwrap();
        // What it had printed when it died was acknowledged too; a last line may be cut.
        for line in lines.map_while(Result::ok) {
            note(&line, &mut heads);
        }
        writer.wait().unwrap();

        let store = Store::open(dir.path(), &Options { disk_reserve_bytes: 0, ..Options::default() })
            .unwrap_or_else(|e| panic!("round {round}, seed {seed}: {e}"));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        heads = runtime.block_on(verify(&store, &heads));
    }
    let total: u64 = heads.iter().sum();
    assert!(total > u64::from(ROUNDS), "hardly anything was written: {heads:?}");
}

/// Whatever moment the very first opening dies in, the next one works.
#[test]
fn a_store_that_is_being_made_survives_kill_9() {
    let mut rng = fastrand::Rng::new();
    for round in 0..40 {
        let dir = tempfile::TempDir::new().unwrap();
        let mut writer = Command::new(env!("CARGO_BIN_EXE_store-crash-writer"))
            .arg("write")
            .arg(dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Somewhere between the start of the process and its first commits; looking is what takes the time.
        for _ in 0..rng.u32(0..3_000) {
            let _ = dir.path().join("FORMAT").exists();
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        let opened = Store::open(dir.path(), &Options { disk_reserve_bytes: 0, ..Options::default() });
        assert!(opened.is_ok(), "round {round}: {opened:?}");
    }
}

/// A store of format 1, killed again and again while it is upgraded: each row gets its version
/// once, and each is met once.
#[test]
fn i9_an_upgrade_survives_kill_9() {
    const ROWS: u32 = 60_000;
    let dir = tempfile::TempDir::new().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(fill_bare(&Store::open(dir.path(), &upgrading::options()).unwrap(), ROWS));
    std::fs::write(dir.path().join("FORMAT"), "skurd-store 1\n").unwrap();
    let mut rng = fastrand::Rng::new();
    let mut killed = 0;
    loop {
        let mut upgrading = Command::new(env!("CARGO_BIN_EXE_store-crash-writer"))
            .arg("upgrade")
            .arg(dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(upgrading.stdout.take().unwrap()).lines();
        // Somewhere between its beginning and its end; looking is what takes the time.
        if killed > 0 || lines.next().is_some() {
            for _ in 0..rng.u32(0..20_000) {
                let _ = dir.path().join("FORMAT").exists();
            }
        }
        upgrading.kill().unwrap();
        let is_done = lines.map_while(Result::ok).any(|line| line.contains("is upgraded"));
        upgrading.wait().unwrap();
        if is_done || killed == 200 {
            break;
        }
        killed += 1;
    }
    assert!(killed > 0, "it was never interrupted");
    let store = Store::open(dir.path(), &upgrading::options()).unwrap();
    runtime.block_on(verify_upgraded(&store, ROWS));
}

fn note(line: &str, heads: &mut [u64]) {
    let mut fields = line.split(' ');
    let lane: usize = fields.next().and_then(|n| n.parse().ok()).unwrap();
    let head = fields.next().and_then(|n| n.parse().ok()).unwrap();
    heads[lane] = heads[lane].max(head);
}
