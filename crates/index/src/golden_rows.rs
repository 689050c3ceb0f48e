//! The rows of every table as they are written, against the bytes that are kept in
//! `tests/data/golden_rows.txt` (see [`store::table`]).

use std::path::Path;

use policy::time::Time;
use store::contract::golden::{Sample, check};

use crate::handle::Entry;
use crate::inlinks::Cell;
use crate::observe::{Outbox, Queue};
use crate::page::Page;
use crate::schema::*;
use crate::uri::Uri;

fn content() -> Content {
    Content { digest: [1; 16], weight: 2, links: 3, since: Time(1_000_001) }
}

fn counted() -> Counted {
    Count { incount: 8, loaded: true }.into()
}

fn samples() -> Vec<Sample> {
    let page = Page::new(
        [("http://a.test/", "a"), ("http://a.test/b", "å")]
            .map(|(url, anchor)| (Uri::of_url(url).unwrap(), anchor.to_owned())),
    );
    let mut outbox = Outbox::new(Queue::Links);
    outbox.add(0, 4, |bytes| bytes.extend_from_slice(b"update"));
    let note = outbox.first_stored();
    let cell = Cell { first_seen: Time(1_000_002), anchor: "text" }.stored();
    let head = |new| Head {
        cur: Some(content()),
        slot: 1,
        new,
        first_seen: Time(1_000_003),
        last_seen: Time(1_000_004),
        sent: 5,
    };
    vec![
        Sample::of(&INDEXES, &Entry { number: 6, opened: 7 }),
        Sample::of(&HEADS, &head(Some(Waiting::Page(content())))),
        Sample::of(&HEADS, &head(Some(Waiting::Nothing))),
        Sample::raw(&LINKS, page.bytes()),
        Sample { table: INLINKS.name(), version: INLINKS.newest(), stored: cell },
        Sample::of(&COUNTS, &counted()),
        Sample::of(&COUNTS, &Counted { ranked: Some(Count { incount: 7, loaded: false }), ..counted() }),
        Sample::of(&RANK, &()),
        Sample::of(&DOMAIN_RANK, &()),
        Sample::of(&DOMAINS, &9),
        Sample::of(&DOMAINS_RANK, &()),
        Sample::of(&TOTALS, &Tally { uris: 10, loaded: 11, links: -12, domains: 13 }),
        Sample { table: NOTES.name(), version: NOTES.newest(), stored: note },
        Sample::of(&FLOORS, &14),
        Sample::of(&GUARDS, &()),
    ]
}

#[test]
fn i9_golden_rows_are_written_as_they_were() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden_rows.txt");
    let older = check(&file, TABLES, &samples());
    for row in older {
        assert_eq!((row.table.as_str(), row.version), (COUNTS.name(), 1), "how is this read? {row:?}");
        assert_eq!(COUNTS.value_from(&row.stored).unwrap(), counted(), "no rank was behind");
    }
}
