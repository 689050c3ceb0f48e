//! The archive's own journal (A13): any bytes in its place say something or nothing, and what is
//! written after them is remembered.

use std::fs;

use net::warc::{Batch, Journal, Part, remembered};

use crate::{Seeds, Target};

pub const JOURNAL: Target = Target {
    name: "journal",
    run: journal,
    seeds,
    words: &["archive ", "batch ", "settled ", "certain ", " #", "a.warc.gz", "\n", " 0 "],
    runs: 800,
};

fn seeds(seeds: &mut Seeds) {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::begin(dir.path(), 7, 3).unwrap();
    for number in 4..9 {
        journal.batch(batch(number), number - 2).unwrap();
        if number % 2 == 0 {
            journal.settled().unwrap();
        }
    }
    journal.certain(6).unwrap();
    seeds.add(fs::read(dir.path().join(".journal")).unwrap());
    seeds.add(b"archive 0000000000000007 #00000000\n");
}

fn batch(number: u64) -> Batch {
    let part = |file: &str| Part { file: file.to_owned(), begin: number * 10, end: number * 10 + 10 };
    Batch { number, parts: vec![part("a.warc.gz"), part("b.warc")], settled: false }
}

fn journal(input: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(".journal"), input).unwrap();
    let before = remembered(dir.path()).unwrap();
    assert_eq!(remembered(dir.path()).unwrap(), before);
    if let Some(before) = &before {
        assert!(before.batches.windows(2).all(|two| two[0].number < two[1].number), "not in their order");
        assert!(before.number() >= before.certain);
    }
    let (id, number) = before.map_or((1, 0), |before| (before.id, before.number()));
    let mut journal = Journal::begin(dir.path(), id, number).unwrap();
    let next = number.saturating_add(1);
    journal.batch(Batch { number: next, ..batch(1) }, number).unwrap();
    journal.settled().unwrap();
    let after = remembered(dir.path()).unwrap().expect("it was written just now");
    assert_eq!((after.id, after.certain, after.number()), (id, number, next));
    assert!(after.batches.last().is_some_and(|last| last.settled && last.parts == batch(1).parts));
}
