//! Journals that are torn or damaged, by injection: a store opens with exactly a prefix of its
//! commits, all that was synced among them, or is refused and not a byte of it is touched.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use store::{Damage, Durability, Notice, OpenError, Options, Store};
use tempfile::TempDir;

/// Commits that are synced, and then some that are not.
const SYNCED: usize = 12;
const RELAXED: usize = 12;
const CASES: u64 = 250;

fn options() -> Options {
    Options { disk_reserve_bytes: 0, ..Options::default() }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// The rows of commit `n`: small ones, and every third time one that is large, packed or not.
fn rows(n: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut rng = fastrand::Rng::with_seed(n as u64);
    let mut rows: Vec<_> = (0..rng.usize(1..20))
        .map(|at| (format!("{n:03}-{at:03}").into_bytes(), vec![b'v'; rng.usize(0..200)]))
        .collect();
    if n % 3 == 1 {
        let noise = std::iter::repeat_with(|| rng.u8(..)).take(150_000).collect();
        rows.push((format!("{n:03}-noise").into_bytes(), noise));
    }
    if n % 3 == 2 {
        rows.push((format!("{n:03}-plain").into_bytes(), b"all the same ".repeat(9000)));
    }
    rows
}

/// A data directory as a process left it that was killed, and where its commits lie in the journal.
struct Killed {
    dir: TempDir,
    /// Where each commit ends.
    ends: Vec<usize>,
}

fn journal_of(dir: &Path) -> PathBuf {
    dir.join("store/0.jnl")
}

/// Everything but zeros at the end: every batch ends in something else.
fn content(journal: &Path) -> Vec<u8> {
    let mut bytes = fs::read(journal).unwrap();
    bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
    bytes
}

impl Killed {
    fn new() -> Killed {
        let living = TempDir::new().unwrap();
        let store = Store::open(living.path(), &options()).unwrap();
        let mut ends = Vec::new();
        let mut mark = Vec::new();
        run(async {
            for n in 0..SYNCED + RELAXED {
                let tx = store.begin().await.unwrap();
                if n >= SYNCED {
                    tx.set_durability(Durability::Relaxed);
                }
                rows(n).into_iter().for_each(|(key, value)| tx.put(key, value).unwrap());
                store.commit(&tx).await.unwrap();
                if n + 1 == SYNCED {
                    mark = fs::read(living.path().join("store/synced")).unwrap();
                }
                ends.push(content(&journal_of(living.path())).len());
            }
        });
        let dir = TempDir::new().unwrap();
        copy(living.path(), dir.path());
        fs::write(journal_of(dir.path()), content(&journal_of(dir.path()))).unwrap();
        // As if no time had passed since: the writer syncs what is relaxed after a tenth of a second.
        fs::write(dir.path().join("store/synced"), mark).unwrap();
        Killed { dir, ends }
    }

    /// The commit a byte belongs to.
    fn commit_at(&self, byte: usize) -> usize {
        self.ends.iter().position(|end| byte < *end).unwrap()
    }

    fn copied(&self) -> TempDir {
        let dir = TempDir::new().unwrap();
        copy(self.dir.path(), dir.path());
        dir
    }
}

fn copy(from: &Path, to: &Path) {
    for (path, bytes) in files(from) {
        let to = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, bytes).unwrap();
    }
    fs::create_dir_all(to.join("store/keyspaces/1/tables")).unwrap();
}

fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => drop(found.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    found
}

/// But for the lock, which says who looked.
fn untouched(before: &BTreeMap<PathBuf, Vec<u8>>, after: &BTreeMap<PathBuf, Vec<u8>>) -> bool {
    let without = |files: &BTreeMap<PathBuf, Vec<u8>>| {
        files
            .iter()
            .filter(|(path, _)| !path.ends_with("LOCK"))
            .map(|(p, b)| (p.clone(), b.clone()))
            .collect()
    };
    let (before, after): (Vec<_>, Vec<_>) = (without(before), without(after));
    before == after
}

/// How many commits a store has; they must be the first ones, whole, and nothing else.
fn prefix(store: &Store) -> usize {
    run(async {
        let tx = store.begin().await.unwrap();
        let mut count = 0;
        let mut expected = 0;
        for n in 0..SYNCED + RELAXED {
            let mut there = 0;
            for (key, value) in rows(n) {
                let found = tx.get(&key).await.unwrap();
                assert!(found.as_deref().is_none_or(|found| found == value), "commit {n} is another");
                there += usize::from(found.is_some());
            }
            let all = rows(n).len();
            assert!(there == 0 || there == all, "commit {n} is there by half");
            if there == all {
                assert_eq!(count, n, "commit {n} is there without the one before");
                count += 1;
                expected += all as u64;
            }
        }
        let report = store.check().await.unwrap();
        assert_eq!(report.tables.values().map(|table| table.rows).sum::<u64>(), expected);
        count
    })
}

#[derive(Clone, Copy, Debug)]
enum Injury {
    /// Blocks of the disk that were never written.
    Zeroed {
        at: usize,
        bytes: usize,
    },
    /// Everything from here on was never written; the file is as long as it was.
    NeverWritten {
        at: usize,
    },
    /// The file ends here.
    CutOff {
        at: usize,
    },
    Flipped {
        at: usize,
        bit: u8,
    },
    /// Something else lies there.
    Overwritten {
        at: usize,
        bytes: usize,
    },
}

impl Injury {
    fn draw(rng: &mut fastrand::Rng, length: usize, ends: &[usize]) -> Injury {
        // Everywhere, and often enough near the ends of commits and in the last ones.
        let at = match rng.u8(0..4) {
            0 => (rng.choice(ends).unwrap() + rng.usize(0..60)).saturating_sub(30).min(length - 1),
            1 => rng.usize(ends[ends.len() - 2]..length),
            _ => rng.usize(0..length),
        };
        match rng.u8(0..6) {
            0 => Injury::Zeroed { at: at / 512 * 512, bytes: 512 << rng.u8(0..4) },
            1 => Injury::Zeroed { at, bytes: rng.usize(1..5000) },
            2 => Injury::NeverWritten { at },
            3 => Injury::CutOff { at },
            4 => Injury::Flipped { at, bit: rng.u8(0..8) },
            _ => Injury::Overwritten { at, bytes: rng.usize(1..3000) },
        }
    }

    fn inflict(self, bytes: &mut Vec<u8>, rng: &mut fastrand::Rng) {
        let length = bytes.len();
        match self {
            Injury::Zeroed { at, bytes: n } => bytes[at..length.min(at + n)].fill(0),
            Injury::NeverWritten { at } => bytes[at..].fill(0),
            Injury::CutOff { at } => bytes.truncate(at),
            Injury::Flipped { at, bit } => bytes[at] ^= 1 << bit,
            Injury::Overwritten { at, bytes: n } => {
                bytes[at..length.min(at + n)].iter_mut().for_each(|byte| *byte = rng.u8(..));
            }
        }
    }
}

/// The sequence number of a batch is not under its checksum: what another one does depends on what
/// comes after.
fn is_in_seqno(killed: &Killed, byte: usize) -> bool {
    let commit = killed.commit_at(byte);
    let start = if commit == 0 { 0 } else { killed.ends[commit - 1] };
    (start + 5..start + 13).contains(&byte)
}

#[test]
fn a13_a_torn_tail_is_cut_and_damage_is_refused() {
    let killed = Killed::new();
    let whole = content(&journal_of(killed.dir.path()));
    let (mut cut, mut refused) = (0, 0);
    for seed in 0..CASES {
        let mut rng = fastrand::Rng::with_seed(seed);
        let injury = Injury::draw(&mut rng, whole.len(), &killed.ends);
        let mut injured = whole.clone();
        injury.inflict(&mut injured, &mut rng);
        let Some(first) = (0..whole.len()).find(|at| injured.get(*at) != Some(&whole[*at])) else { continue };
        let case = format!("seed {seed}, {injury:?}, first in commit {}", killed.commit_at(first));
        let dir = killed.copied();
        fs::write(journal_of(dir.path()), &injured).unwrap();
        let before = files(dir.path());
        match Store::open(dir.path(), &options()) {
            Ok(store) => {
                let count = prefix(&store);
                assert!(count >= SYNCED, "{case}: {count} commits, {SYNCED} were synced");
                if !is_in_seqno(&killed, first) {
                    assert_eq!(count, killed.commit_at(first), "{case}");
                }
                drop(store);
                assert_kept_aside(dir.path(), &injured, killed.ends[count - 1], &case);
                cut += 1;
            }
            Err(error) => {
                assert!(killed.commit_at(first) < SYNCED, "{case}: {error}");
                assert!(matches!(error, OpenError::Damaged { .. }), "{case}: {error}");
                assert!(untouched(&before, &files(dir.path())), "{case}: it was touched");
                refused += 1;
            }
        }
    }
    assert!(cut > 40 && refused > 40, "{cut} cut, {refused} refused");
}

/// What was cut off is in a file beside the journal, to its last byte that is not zero.
fn assert_kept_aside(dir: &Path, injured: &[u8], good: usize, case: &str) {
    let tail = injured.get(good..).unwrap_or_default();
    let tail = &tail[..tail.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)];
    let kept = fs::read(dir.join("store/0.jnl.torn-1")).unwrap_or_default();
    assert!(kept == tail, "{case}: {} bytes kept of {}", kept.len(), tail.len());
}

#[test]
fn a13_without_a_mark_a_batch_behind_a_broken_one_is_damage() {
    let killed = Killed::new();
    let last = *killed.ends.get(SYNCED + RELAXED - 2).unwrap();
    for (at, is_damage) in [(last + 20, false), (killed.ends[3] + 20, true), (30, true)] {
        let dir = killed.copied();
        fs::remove_file(dir.path().join("store/synced")).unwrap();
        let mut bytes = content(&journal_of(dir.path()));
        bytes[at] ^= 0x40;
        fs::write(journal_of(dir.path()), bytes).unwrap();
        match Store::open(dir.path(), &options()) {
            Ok(store) => assert!(!is_damage && prefix(&store) == SYNCED + RELAXED - 1, "byte {at}"),
            Err(error) => {
                assert!(is_damage && matches!(error, OpenError::Damaged { .. }), "byte {at}: {error}");
            }
        }
    }
}

#[test]
fn a13_a_journal_that_is_empty_or_gone_is_damage() {
    let killed = Killed::new();
    for empty in [true, false] {
        let dir = killed.copied();
        match empty {
            true => fs::write(journal_of(dir.path()), []).unwrap(),
            false => fs::remove_file(journal_of(dir.path())).unwrap(),
        }
        let before = files(dir.path());
        let error = Store::open(dir.path(), &options()).expect_err("opened");
        assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
        assert!(untouched(&before, &files(dir.path())));
    }
}

static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a13_who_accepts_the_loss_goes_on_from_the_last_good_state() {
    let killed = Killed::new();
    let dir = killed.copied();
    let whole = content(&journal_of(dir.path()));
    let mut bytes = whole.clone();
    bytes[killed.ends[4] + 40] ^= 1;
    fs::write(journal_of(dir.path()), &bytes).unwrap();
    let error = Store::open(dir.path(), &options()).expect_err("opened");
    let OpenError::Damaged { damage: Damage::Journal { at, .. }, .. } = &error else { panic!("{error}") };
    assert_eq!(*at, killed.ends[4] as u64);
    let accepting = Options {
        set_damage_aside: true,
        notice: |notice: &Notice| TOLD.lock().unwrap().push(notice.to_string()),
        ..options()
    };
    let store = Store::open(dir.path(), &accepting).unwrap();
    assert_eq!(prefix(&store), 5);
    run(async {
        let tx = store.begin().await.unwrap();
        rows(5).into_iter().for_each(|(key, value)| tx.put(key, value).unwrap());
        store.commit(&tx).await.unwrap();
    });
    drop(store);
    assert_eq!(fs::read(dir.path().join("store/0.jnl.damaged-1")).unwrap(), bytes[killed.ends[4]..]);
    assert_eq!(prefix(&Store::open(dir.path(), &options()).unwrap()), 6);
    let told = TOLD.lock().unwrap();
    assert!(
        told.len() == 1 && told[0].contains("is kept in") && told[0].contains("0.jnl.damaged-1"),
        "{told:?}"
    );
}

#[test]
fn a13_a_store_that_was_closed_has_a_mark_on_all_of_it() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path(), &options()).unwrap();
    run(async {
        for n in 0..3 {
            let tx = store.begin().await.unwrap();
            tx.set_durability(Durability::Relaxed);
            rows(n).into_iter().for_each(|(key, value)| tx.put(key, value).unwrap());
            store.commit(&tx).await.unwrap();
        }
    });
    drop(store);
    let mut bytes = content(&journal_of(dir.path()));
    let last = bytes.len() - 20;
    bytes[last] ^= 1;
    fs::write(journal_of(dir.path()), bytes).unwrap();
    assert!(matches!(Store::open(dir.path(), &options()), Err(OpenError::Damaged { .. })));
}
