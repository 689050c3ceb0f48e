//! The rows of every table as they are written, against the bytes that are kept in
//! `tests/data/golden_rows.txt` (see [`store::table`]).

use std::path::Path;

use store::contract::golden::{Sample, check};

use crate::tables::*;

fn samples() -> Vec<Sample> {
    let counts = Counts { active: 1, completed: 2 };
    let queue = Queue {
        id: 3,
        first: Some(1_000_001),
        ready: Some(1_000_002),
        got: Some(1_000_003),
        delay_s: Some(4),
        blocked_until_s: 1_000_004,
        limit: 5,
    };
    let state = State { created_s: 1_000_005, date_s: 1_000_006, date_ms: 7, until: 1_000_007 };
    vec![
        Sample::of(&CRAWLS, &8),
        Sample::of(&QUEUES, &queue),
        Sample::of(&QUEUES, &Queue::default()),
        Sample::of(&READY, &()),
        Sample::raw(&URLS, &state.with(b"metadata").unwrap()),
        Sample::of(&PLACES, &()),
        Sample::of(&LEASES, &()),
        Sample::of(&COUNTS, &counts),
        Sample::of(&CRAWL_COUNTS, &CrawlCounts { queues: 9, active_queues: 10, urls: counts }),
        Sample::of(&SETTINGS, &Settings { active: true, delay_s: 11 }),
        Sample::of(&REMOVED, &()),
        Sample::of(&BLOCKS, &()),
    ]
}

#[test]
fn i9_golden_rows_are_written_as_they_were() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden_rows.txt");
    let older = check(&file, TABLES, &samples());
    assert!(older.is_empty(), "how are these read? {older:?}");
}
