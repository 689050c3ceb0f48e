//! The embedded engine: the contract, and what a data directory promises.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use store::contract::Subject;
use store::{Durability, Error, OpenError, Options, Store};
use tempfile::TempDir;

struct OnDisk {
    // Dropped before the directory it lies in.
    store: Store,
    dir: TempDir,
}

fn options() -> Options {
    Options { write_buffer_bytes: 1 << 20, disk_reserve_bytes: 0, ..Options::default() }
}

impl Subject for OnDisk {
    fn fresh() -> OnDisk {
        let dir = TempDir::new().unwrap();
        OnDisk { store: Store::open(dir.path(), &options()).unwrap(), dir }
    }
    fn store(&self) -> &Store {
        &self.store
    }
    fn restart(self) -> OnDisk {
        let OnDisk { store, dir } = self;
        drop(store);
        OnDisk { store: Store::open(dir.path(), &options()).unwrap(), dir }
    }
}

store::contract!(OnDisk);

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

async fn put(store: &Store, key: &[u8], value: &[u8]) -> Result<(), Error> {
    let tx = store.begin().await?;
    tx.put(key, value)?;
    store.commit(&tx).await
}

fn refusal(dir: &Path) -> OpenError {
    Store::open(dir, &options()).expect_err("opened")
}

#[test]
fn a_second_opener_gets_a_sentence() {
    let subject = OnDisk::fresh();
    let refused = refusal(subject.dir.path());
    assert!(matches!(refused, OpenError::InUse { owner: Some(pid), .. } if pid == std::process::id()));
    let sentence = refused.to_string();
    assert!(sentence.ends_with(&format!("is in use by process {}", std::process::id())), "{sentence}");
}

#[test]
fn newer_and_unknown_formats_are_refused_and_left_alone() {
    let OnDisk { store, dir } = OnDisk::fresh();
    drop(store);
    for (text, expected) in [
        (
            "skurd-store 4\n",
            "has format 4, and this program knows formats up to 3: use the skurd that wrote it, or a newer one",
        ),
        ("skurd-store 300\n", "has format 300, and this program knows formats up to 3"),
        ("skurd-store 0\n", "has format 0, and this program knows formats up to 3"),
        ("something else\n", "it should say `skurd-store` and a number"),
        ("skurd-store x", "it should say `skurd-store` and a number"),
    ] {
        fs::write(dir.path().join("FORMAT"), text).unwrap();
        let sentence = refusal(dir.path()).to_string();
        assert!(sentence.contains(expected), "{sentence}");
    }
    fs::write(dir.path().join("FORMAT"), [0xFF, 0xFE]).unwrap();
    assert!(matches!(refusal(dir.path()), OpenError::BadFormatFile { .. }));
    fs::write(dir.path().join("FORMAT"), "skurd-store 3\n").unwrap();
    Store::open(dir.path(), &options()).unwrap();
}

#[test]
fn directories_that_are_not_ours_are_refused() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "a letter").unwrap();
    assert!(matches!(refusal(&file), OpenError::NotADirectory(_)));
    assert!(matches!(refusal(dir.path()), OpenError::ForeignDirectory(_)));
    assert!(matches!(refusal(&file.join("below")), OpenError::Io { .. }));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was put there");
    let missing = Store::open_existing(&dir.path().join("nowhere"), &options()).expect_err("opened");
    assert!(matches!(missing, OpenError::Io { .. }), "{missing}");
    let empty = TempDir::new().unwrap();
    let refused = Store::open_existing(empty.path(), &options()).expect_err("opened");
    assert!(matches!(refused, OpenError::NotAStore(_)));
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "nothing was put there");
}

#[test]
fn a_store_whose_files_are_gone_is_not_taken_for_a_new_one() {
    let OnDisk { store, dir } = OnDisk::fresh();
    drop(store);
    fs::remove_dir_all(dir.path().join("store")).unwrap();
    let sentence = refusal(dir.path()).to_string();
    assert!(sentence.contains("store directory is missing"), "{sentence}");
}

#[test]
fn a_first_opening_that_was_cut_short_is_taken_up_again() {
    let OnDisk { store, dir } = OnDisk::fresh();
    drop(store);
    fs::remove_file(dir.path().join("FORMAT")).unwrap();
    fs::write(dir.path().join("FORMAT.new"), "skurd-st").unwrap();
    Store::open(dir.path(), &options()).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("FORMAT")).unwrap(), "skurd-store 3\n");

    let half = TempDir::new().unwrap();
    fs::create_dir(half.path().join("store.new")).unwrap();
    fs::write(half.path().join("store.new/0.jnl"), "half").unwrap();
    Store::open(half.path(), &options()).unwrap();
    assert!(!half.path().join("store.new").exists());
}

#[test]
fn relaxed_commits_are_there_after_closing_and_sync_counts_once() {
    let mut subject = OnDisk::fresh();
    run(async {
        for n in 0..20u8 {
            let tx = subject.store.begin().await.unwrap();
            tx.set_durability(Durability::Relaxed);
            tx.put([n], *b"x").unwrap();
            subject.store.commit(&tx).await.unwrap();
        }
        let before = subject.store.figures();
        subject.store.sync().await.unwrap();
        assert_eq!(subject.store.figures().syncs, before.syncs + 1);
    });
    subject = subject.restart();
    let report = run(subject.store.check()).unwrap();
    assert_eq!(report.tables.values().map(|table| table.rows).sum::<u64>(), 20);
}

#[test]
fn concurrent_commits_share_syncs() {
    const COMMITS: u64 = 400;
    let subject = OnDisk::fresh();
    run(async {
        let commits = (0..COMMITS).map(|n| {
            let store = subject.store.clone();
            tokio::spawn(async move { put(&store, &n.to_be_bytes(), b"x").await })
        });
        let commits: Vec<_> = commits.collect();
        for commit in commits {
            commit.await.unwrap().unwrap();
        }
    });
    let figures = subject.store.figures();
    assert_eq!(figures.commits, COMMITS);
    // How far depends on the disk; one sync each is what must not be.
    assert!(figures.syncs < COMMITS, "{} syncs for {COMMITS} commits", figures.syncs);
}

#[test]
fn transactions_that_outlive_the_memory_of_writes_are_refused_not_trusted() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path(), &Options { recent_writes_max: 10, ..options() }).unwrap();
    run(async {
        let old = store.begin().await.unwrap();
        old.put(*b"untouched", *b"x").unwrap();
        for n in 0..40u8 {
            put(&store, &[n], b"x").await.unwrap();
        }
        assert!(matches!(store.commit(&old).await, Err(Error::Conflict { .. })));
        put(&store, b"untouched", b"x").await.unwrap();
    });
}

#[test]
fn a_full_disk_refuses_commits_and_keeps_what_it_has() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path(), &options()).unwrap();
    run(put(&store, b"before", b"x")).unwrap();
    drop(store);
    // More than any disk has free: every commit meets a disk that is "full".
    let store = Store::open(dir.path(), &Options { disk_reserve_bytes: 1 << 60, ..options() }).unwrap();
    run(async {
        let refused = put(&store, b"after", b"x").await.expect_err("committed");
        assert!(matches!(&refused, Error::Unavailable { transient: false, .. }));
        assert!(refused.to_string().contains("is full"), "{refused}");
        assert!(store.begin().await.unwrap().get(b"before").await.unwrap().is_some());
    });
}

#[test]
fn damage_is_reported_as_corrupt_or_refused_never_read() {
    let OnDisk { store, dir } = OnDisk::fresh();
    run(async {
        // Enough that tables are written, and not just the journal.
        for n in 0..60u32 {
            let tx = store.begin().await.unwrap();
            for m in 0..100u32 {
                let noise: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(500).collect();
                tx.put([n.to_be_bytes(), m.to_be_bytes()].concat(), noise).unwrap();
            }
            store.commit(&tx).await.unwrap();
        }
    });
    drop(store);
    let tables = tables_below(&dir.path().join("store"));
    assert!(!tables.is_empty(), "no table was written");
    for path in tables {
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 3;
        bytes[middle] ^= 0x55;
        fs::write(&path, bytes).unwrap();
    }
    match Store::open_existing(dir.path(), &options()) {
        Err(refused) => assert!(matches!(refused, OpenError::Engine { .. }), "{refused}"),
        Ok(store) => {
            let checked = run(store.check());
            assert!(matches!(checked, Err(Error::Corrupt(_))), "{checked:?}");
        }
    }
}

fn tables_below(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(tables_below(&path));
        } else if path.parent().is_some_and(|parent| parent.ends_with("tables")) {
            found.push(path);
        }
    }
    found
}

/// A13: whoever keeps bytes elsewhere learns which of his commits no power cut takes back any more.
#[test]
fn a13_progress_says_what_is_on_disk_for_certain() {
    let OnDisk { store, dir: _dir } = OnDisk::fresh();
    run(async {
        put(&store, b"\x01a", b"1").await.unwrap();
        let first = store.progress();
        assert_eq!(first.durable, first.committed, "a commit that waits for the disk");
        let tx = store.begin().await.unwrap();
        tx.put(b"\x01b", b"2").unwrap();
        tx.set_durability(Durability::Relaxed);
        store.commit(&tx).await.unwrap();
        let relaxed = store.progress();
        assert!(relaxed.committed > first.committed, "{relaxed:?}");
        assert!(relaxed.durable >= first.durable, "{relaxed:?}");
        store.sync().await.unwrap();
        assert!(store.progress().durable >= relaxed.committed);
    });
}

#[test]
fn a13_a_store_that_is_gone_is_made_anew_only_where_asked_for() {
    for left in [&["warc"][..], &["warc", "FORMAT"]] {
        let subject = OnDisk::fresh();
        let dir = subject.restart().dir;
        fs::create_dir(dir.path().join("warc")).unwrap();
        fs::write(dir.path().join("warc/a.warc.gz"), "bytes").unwrap();
        for entry in fs::read_dir(dir.path()).unwrap().map(Result::unwrap) {
            let path = entry.path();
            match left.iter().any(|name| entry.file_name() == *name) {
                true => {}
                false if path.is_dir() => fs::remove_dir_all(path).unwrap(),
                false => fs::remove_file(path).unwrap(),
            }
        }
        refusal(dir.path());
        let store = Store::open_anew(dir.path(), &options()).unwrap();
        run(put(&store, b"\x01a", b"1")).unwrap();
        drop(store);
        Store::open(dir.path(), &options()).unwrap();
        assert_eq!(fs::read(dir.path().join("warc/a.warc.gz")).unwrap(), b"bytes");
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn i7_directories_and_files_are_their_owners_only() {
    let parent = TempDir::new().unwrap();
    let dir = parent.path().join("new/data");
    drop(Store::open(&dir, &options()).unwrap());
    let private =
        [("", 0o700), ("LOCK", 0o600), ("FORMAT", 0o600), ("store", 0o700), ("store/synced", 0o600)];
    for (entry, expected) in private {
        assert_eq!(mode(&dir.join(entry)), expected, "{entry} of a new one");
    }
    // One that others could read until now.
    for (entry, expected) in private.iter().chain(&[("store/0.jnl", 0o600), ("store/keyspaces", 0o700)]) {
        let open = expected | (expected & 0o500) >> 3 | (expected & 0o500) >> 6;
        fs::set_permissions(dir.join(entry), fs::Permissions::from_mode(open)).unwrap();
    }
    drop(Store::open(&dir, &options()).unwrap());
    for (entry, expected) in private.iter().chain(&[("store/0.jnl", 0o600), ("store/keyspaces", 0o700)]) {
        assert_eq!(mode(&dir.join(entry)), *expected, "{entry} of an old one");
    }
}

#[test]
fn i7_a_lock_that_is_a_link_is_refused_and_what_it_leads_to_is_left_alone() {
    let OnDisk { store, dir } = OnDisk::fresh();
    drop(store);
    let letter = dir.path().join("letter");
    fs::write(&letter, "dear reader").unwrap();
    for target in [letter.clone(), dir.path().join("nothing")] {
        fs::remove_file(dir.path().join("LOCK")).unwrap();
        std::os::unix::fs::symlink(&target, dir.path().join("LOCK")).unwrap();
        let sentence = refusal(dir.path()).to_string();
        assert!(
            sentence.contains("LOCK is a symbolic link") && sentence.ends_with("remove the link"),
            "{sentence}"
        );
        assert_eq!(fs::read_to_string(&letter).unwrap(), "dear reader");
        assert!(!dir.path().join("nothing").exists());
    }
    // The draft of FORMAT is ours too.
    fs::remove_file(dir.path().join("LOCK")).unwrap();
    fs::remove_file(dir.path().join("FORMAT")).unwrap();
    std::os::unix::fs::symlink(&letter, dir.path().join("FORMAT.new")).unwrap();
    fs::remove_file(&letter).unwrap();
    drop(Store::open(dir.path(), &options()).unwrap());
    assert!(!letter.exists());
}
