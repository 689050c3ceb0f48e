//! L10: what is stored of a walk, how much it is, and that it is checked.

use policy::time::Time;
use policy::walk::{HeadRow, Outcome, Refusal, Resume, STRETCH, Step, StretchRow, Walk};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{Web, settings, some, walk};

/// Walks up over so many ids, with rows written now and then; the rows' bytes by what they are
/// stored under.
fn walked(
    count: u64,
    exists: impl Fn(u64) -> bool,
) -> (Walk, std::collections::BTreeMap<Option<u64>, usize>) {
    let mut walk = walk(&format!("min 0 max {}", count - 1));
    let leg = walk.legs()[0];
    let mut bytes = std::collections::BTreeMap::new();
    while let Step::Fetch { id, .. } = walk.next(leg, Time(1_800_000_000_000)) {
        let outcome = if exists(id) { Outcome::Exists } else { Outcome::Absent };
        walk.result(id, outcome, Time(1_800_000_000_000));
        if id % 4096 == 0 || id + 1 == count {
            let changes = walk.dirty().unwrap();
            bytes.insert(None, serde_json::to_string(&changes.head).unwrap().len());
            for (number, row) in &changes.stretches {
                bytes.insert(Some(*number), serde_json::to_string(row).unwrap().len());
            }
        }
    }
    (walk, bytes)
}

#[test]
fn l10_ten_million_ids_in_a_row_cost_kilobytes() {
    let (walk, bytes) = walked(10_000_000, |_| true);
    assert_eq!(walk.counts().content, 10_000_000);
    let all: usize = bytes.values().sum();
    println!("{all} bytes as JSON in {} rows", bytes.len());
    assert!(all + bytes.len() * 16 < 100_000, "{all} bytes in {} rows", bytes.len());
}

#[test]
fn l10_the_worst_case_is_a_few_bytes_an_id_and_bounded() {
    let mut walk = walk(&format!("min 0 max {}", 2 * STRETCH - 1));
    let leg = walk.legs()[0];
    while let Step::Fetch { id, .. } = walk.next(leg, Time(0)) {
        walk.result(id, if id % 2 == 0 { Outcome::Exists } else { Outcome::Failed }, Time(0));
    }
    let changes = walk.dirty().unwrap();
    assert_eq!(changes.stretches.len(), 2);
    for (_, row) in changes.stretches {
        let runs = serde_json::to_value(row).unwrap()["runs"].as_array().unwrap().len();
        assert_eq!(runs as u64, 2 * STRETCH, "two bytes an id");
    }
}

#[test]
fn l10_only_what_changed_is_written() {
    let web = Web::default();
    let mut walk = walk("min 0 max 99999");
    assert!(walk.dirty().unwrap().stretches.is_empty(), "a new walk has a head");
    assert_eq!(walk.dirty(), None);
    some(&mut walk, &web, usize::try_from(STRETCH).unwrap() + 1);
    let both = walk.dirty().unwrap();
    assert_eq!(both.stretches.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1]);
    some(&mut walk, &web, 1);
    let one = walk.dirty().unwrap();
    assert_eq!(one.stretches.len(), 1);
    walk.not_written(&one);
    assert_eq!(walk.dirty(), Some(one), "what could not be written is still to be");
    assert_eq!(walk.dirty(), None);
}

/// A sound head and its only stretch.
fn stored() -> (Value, Value) {
    let mut walk = walk("min 100 max 200");
    some(&mut walk, &Web::new(100, "o o x f o x"), 6);
    let changes = walk.dirty().unwrap();
    (serde_json::to_value(changes.head).unwrap(), serde_json::to_value(&changes.stretches[0].1).unwrap())
}

fn load(head: &Value, stretches: &[(u64, Value)]) -> Result<Walk, Refusal> {
    let head: HeadRow = serde_json::from_value(head.clone()).unwrap();
    let rows = stretches
        .iter()
        .map(|(number, row)| (*number, serde_json::from_value::<StretchRow>(row.clone()).unwrap()));
    Walk::resume(settings("min 100 max 200"), head, rows, Resume::Continue)
}

#[test]
fn l10_corrupt_rows_are_errors() {
    let (head, row) = stored();
    assert!(load(&head, &[(0, row.clone())]).is_ok());
    let runs = [
        json!([]),
        json!([100]),
        json!([100, 0]),
        json!([100, 0, 0, 1]),
        json!([100, 0, 2, 1, 3, 1]),
        json!([100, 0, 2, 0, 3, 1]),
        json!([100, 0, 7, 1]),
        json!([99, 0, 1, 1]),
        json!([1, 1]),
        json!([100, 0, 255, 255, 3, 1]),
        json!([100, 0, 255, 255, 255, 1, 1]),
        json!([100, 0, 1, 255, 255, 127]),
        json!([100, 0, 129, 0, 1]),
        json!([100, 0, 1, 128]),
    ];
    for runs in runs {
        let mut bad = row.clone();
        bad["runs"] = runs.clone();
        assert!(matches!(load(&head, &[(0, bad)]), Err(Refusal::Corrupt(_))), "{runs}");
    }
    let mut later_pass = row.clone();
    later_pass["pass"] = json!(1);
    let cases = [
        vec![(0, later_pass)],
        vec![(0, row.clone()), (0, row.clone())],
        vec![(1, row.clone())],
        vec![(u64::MAX, row)],
    ];
    for stretches in cases {
        assert!(matches!(load(&head, &stretches), Err(Refusal::Corrupt(_))), "{stretches:?}");
    }
}

#[test]
fn l10_corrupt_heads_are_errors() {
    let (head, _) = stored();
    let range = |start: u64, end: u64| json!({"start": start, "end": end});
    let cases = [
        ("covered", range(101, 106)),
        ("covered", range(100, 99)),
        ("covered", range(100, u64::MAX)),
        ("covered", range(100, 102)),
        ("reached", range(100, 99)),
        ("reached", range(99, 105)),
        ("reached", range(100, 107)),
        ("settled", range(90, 105)),
        ("settled", range(105, 104)),
    ];
    for (field, value) in cases {
        let mut bad = head.clone();
        bad[field] = value.clone();
        assert!(matches!(load(&bad, &[]), Err(Refusal::Corrupt(_))), "{field} {value}");
    }
}

#[test]
fn l11_a_head_far_ahead_of_its_rows_is_one_gap() {
    let (mut head, _) = stored();
    head["covered"] = json!({"start": 100, "end": 1u64 << 63});
    let mut walk = load(&head, &[]).unwrap();
    assert_eq!(walk.next(walk.legs()[0], Time(0)), Step::Fetch { id: 100, attempt: 1 });
}

proptest! {
    #[test]
    fn l10_any_bytes_are_rows_or_an_error(runs in prop::collection::vec(0u8..=255, 0..40), number in 0u64..2) {
        let (head, mut row) = stored();
        row["runs"] = json!(runs);
        if let Ok(mut walk) = load(&head, &[(number, row.clone())]) {
            let counts = walk.counts();
            prop_assert!(counts.content + counts.holes <= 6);
            walk.next(walk.legs()[0], Time(0));
        }
    }

    #[test]
    fn l10_rows_survive_a_round_trip(outcomes in prop::collection::vec(0u8..4, 1..400), first in 8000u64..8400) {
        let text = format!("min {first} max {} attempts 3 cooldown 5", first + 999);
        let mut walk = walk(&text);
        let leg = walk.legs()[0];
        for (at, outcome) in (0..).zip(&outcomes) {
            let Step::Fetch { id, .. } = walk.next(leg, Time(at)) else { break };
            match outcome {
                0 => walk.result(id, Outcome::Exists, Time(at)),
                1 => walk.result(id, Outcome::Absent, Time(at)),
                2 => walk.result(id, Outcome::Failed, Time(at)),
                _ => walk.give_back(id),
            };
        }
        let changes = walk.dirty().unwrap();
        let again = Walk::look(settings(&text), changes.head.clone(), changes.stretches.clone()).unwrap();
        prop_assert_eq!(again.split(usize::MAX), walk.split(usize::MAX));
        prop_assert_eq!(again.counts(), walk.counts());
        let mut again = Walk::resume(settings(&text), changes.head.clone(), changes.stretches.clone(), Resume::Continue).unwrap();
        prop_assert_eq!(again.dirty(), None, "nothing changed");
        again.not_written(&changes);
        prop_assert_eq!(again.dirty(), Some(changes));
    }
}
