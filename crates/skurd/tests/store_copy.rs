//! `skurd store copy` as a person meets it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::cell::Cell;
use std::fs;
use std::future::poll_fn;
use std::path::Path;
use std::pin::pin;
use std::task::Poll;

use store::copy::copy;
use store::{Options, Place, Store};
use testkit::web::{Answer, Ask};
use testkit::world::{World, json_lines};

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");

const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 1d, length: 1}]
seeds: [{url: 'http://a.test/', profiles: [p]}]
";

fn site(ask: &Ask) -> Answer {
    match (ask.host.as_str(), ask.path.as_str()) {
        ("a.test", "/") => {
            Answer::html((1..30).map(|n| format!("<a href='/{n}'>{n}</a>")).collect::<String>())
        }
        ("a.test", path) if path != "/robots.txt" => Answer::html(format!("page {path}")),
        _ => Answer::not_found(),
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

#[test]
fn m12_the_copy_of_a_harvest_says_what_the_harvest_says() {
    let world = World::new(SKURD, site);
    world.write("c.yaml", CONFIG);
    world.crawl_json(&["c.yaml", "--until-done"]);
    let told = world.skurd(&["store", "copy", "skurd-data", "new"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(told.out.starts_with("new is a copy of skurd-data, row by row: "), "{told:?}");
    let next = "only the store was copied: put the WARC files of skurd-data/warc into new/warc; then ";
    assert!(told.err.starts_with(next), "{told:?}");

    let of = |data: &str| world.good(&["store", "check", data, "--json"]);
    assert_eq!(of("new"), of("skurd-data"));
    for listing in [["queue"], ["captures"]] {
        let said = |data| world.good(&[&listing[..], &["--json", "--data", data]].concat());
        assert_eq!(said("new"), said("skurd-data"), "{listing:?}");
        assert!(!said("new").is_empty(), "{listing:?}");
    }
    // With its archive beside it, it is as good as the other.
    fs::rename(world.data().join("warc"), world.dir.path().join("new/warc")).unwrap();
    world.good(&["archive", "check", "--data", "new"]);

    let lines = world.json(&["store", "copy", "new", "third"]);
    let summary = lines.last().unwrap();
    let rows: u64 = json_lines(&of("new")).iter().map(|table| table["rows"].as_u64().unwrap()).sum();
    assert_eq!((summary["event"].as_str(), summary["rows"].as_u64()), (Some("summary"), Some(rows)));
    assert_eq!((summary["from"].as_str(), summary["to"].as_str()), (Some("new"), Some("third")));
}

#[test]
fn m12_wrong_places_are_told() {
    let world = World::declared(SKURD, CONFIG);
    world.good(&["store", "copy", "skurd-data", "copied"]);
    fs::create_dir(world.dir.path().join("full")).unwrap();
    world.write("full/letter.txt", "not ours");
    for (from, to, code, expected) in [
        ("nowhere", "new", 1, "error: cannot open nowhere: No such file or directory (os error 2)\n"),
        ("full", "new", 1, "error: full holds no store (there is no FORMAT file)\n"),
        (
            "skurd-data",
            "full",
            1,
            "error: full is not empty and holds no store: choose an empty or new directory\n",
        ),
        (
            "skurd-data",
            "copied",
            1,
            "error: cannot copy skurd-data to copied: there is a store already where it is to be copied to\n",
        ),
        (
            "skurd-data",
            "./copied/../skurd-data/",
            2,
            "error: skurd-data and ./copied/../skurd-data/ are the same place\nhint: say where the copy is to be\n",
        ),
        (
            "skurd-data",
            "tikv://pd/skurd",
            2,
            "error: \"tikv://pd/skurd\" is no address of a store: \"pd\" is no placement driver: it is host:port, as in pd:2379\n",
        ),
    ] {
        let told = world.skurd(&["store", "copy", from, to]);
        assert_eq!(
            (told.code, told.err.as_str(), told.out.as_str()),
            (Some(code), expected, ""),
            "{from} {to}"
        );
    }
    assert!(!world.dir.path().join("new").exists(), "made for nothing");
    let used = Store::open(&world.data(), &Options::default()).unwrap();
    let told = world.skurd(&["store", "copy", "skurd-data", "new"]);
    assert!(told.code == Some(1) && told.err.contains("skurd-data is in use by process"), "{told:?}");
    drop(used);
    let help = world.good(&["store", "copy", "--help"]);
    assert!(
        help.contains("Only the store is copied") && help.contains("Examples:\n  skurd store copy"),
        "{help}"
    );
}

/// Rows as no table of ours has them.
async fn fill(dir: &Path, rows: u32) {
    let store = Store::open(dir, &Options::default()).unwrap();
    let tx = store.begin().await.unwrap();
    for n in 0..rows {
        tx.put([&[0x70][..], &n.to_be_bytes()].concat(), vec![1; n as usize % 300]).unwrap();
    }
    store.commit(&tx).await.unwrap();
}

/// Copies, and stops after the first rows.
async fn copy_begun(from: &Path, to: &Path) {
    let place = Place::parse(from).unwrap();
    let from = Store::open(from, &Options::default()).unwrap();
    let to = Place::parse(to).unwrap().open_for_copy(&Options::default()).unwrap();
    let is_begun = Cell::new(false);
    let name = place.full_name();
    let mut copying = pin!(copy(&from, &name, &to, |_| is_begun.set(true)));
    let stopped = poll_fn(|context| match copying.as_mut().poll(context) {
        Poll::Pending if is_begun.get() => Poll::Ready(None),
        other => other.map(Some),
    });
    assert!(stopped.await.is_none(), "it came to its end");
}

#[test]
fn m12_an_unfinished_copy_is_no_data_directory_and_what_changed_meanwhile_is_found() {
    let world = World::empty(SKURD);
    let (from, to) = (world.data(), world.dir.path().join("new"));
    block_on(fill(&from, 20_000));
    block_on(copy_begun(&from, &to));
    let source = from.canonicalize().unwrap();
    let unfinished = format!(
        "error: new is an unfinished copy of {}: the same `skurd store copy` again goes on with it\n",
        source.display()
    );
    for args in
        [&["queue", "--data", "new"][..], &["store", "check", "new"], &["store", "copy", "new", "other"]]
    {
        let told = world.skurd(args);
        assert_eq!((told.code, told.err.as_str()), (Some(1), unfinished.as_str()), "{args:?}");
    }
    let other = World::declared(SKURD, CONFIG);
    let told = world.skurd(&["store", "copy", other.data().to_str().unwrap(), "new"]);
    let refused = format!(": an unfinished copy of {} is there: go on with that one, or ", source.display());
    assert!(told.code == Some(1) && told.err.contains(&refused), "{told:?}");

    block_on(async {
        let store = Store::open(&from, &Options::default()).unwrap();
        let tx = store.begin().await.unwrap();
        tx.put([0x70, 0, 0, 0, 7], *b"changed").unwrap();
        store.commit(&tx).await.unwrap();
    });
    let told = world.skurd(&["store", "copy", "skurd-data", "new"]);
    let differs = "a row of table 112 has another value in the copy: its key is p\\x00\\x00\\x00\\x07\n";
    assert_eq!((told.code, told.out.as_str()), (Some(1), differs), "{told:?}");
    let error = "error: new is not yet what skurd-data is: 1 row differs\nhint: the same command again ";
    assert!(told.err.starts_with(error), "{told:?}");
    world.good(&["store", "copy", "skurd-data", "new"]);
    assert_eq!(block_on(rows(&to)), block_on(rows(&from)));
}

async fn rows(dir: &Path) -> store::CheckReport {
    Store::open_existing(dir, &Options::default()).unwrap().check().await.unwrap()
}

#[test]
fn m12_kill_9_and_the_same_command_goes_on() {
    let world = World::empty(SKURD);
    block_on(fill(&world.data(), 100_000));
    let mut killed = 0;
    let told = loop {
        let copying = world.run(&["store", "copy", "skurd-data", "new"]);
        // A little later each time; looking is what takes the time.
        for _ in 0..killed * 20_000 {
            let _ = world.dir.path().join("new/FORMAT").exists();
        }
        let told = copying.put_down();
        if told.code.is_some() {
            break told;
        }
        killed += 1;
        assert!(killed < 1000, "it never comes to its end");
    };
    // The one before may have been killed when all was done and not told yet.
    assert!(told.code == Some(0) || told.err.contains("there is a store already"), "{told:?}");
    assert!(killed > 3, "it was killed only {killed} times");
    assert_eq!(block_on(rows(&world.dir.path().join("new"))), block_on(rows(&world.data())));
}
