//! L11 and L12: a walk as it is shown.

use policy::walk::{Cell, Counts, ID_MAX, Kind, Walk};
use proptest::prelude::*;

use crate::world::{Web, ranges, rows, some, walk};

fn walked(text: &str, web: &Web, count: usize) -> Walk {
    let mut walk = walk(text);
    some(&mut walk, web, count);
    walk
}

#[test]
fn l11_counts_and_ranges() {
    let web = Web::new(0, "o o x x o o o x o o x x");
    let table = "
        settings                   | fetched | content   | holes  | remaining | how many
        min 0 max 9                | 0       |           |        | 0-9       | 0 0 10
        min 0 max 9                | 6       | 0-1 4-5   | 2-3    | 6-9       | 4 2 4
        min 0 max 9                | 10      | 0-1 4-6 8-9 | 2-3 7 |          | 7 3 0
        min 2 max 9 step 3         | 2       | 5         | 2      | 8         | 1 1 1
        min 0 max 9 dir down       | 3       | 8-9       | 7      | 0-6       | 2 1 7
        min 1 max 9 from 4         | 2       | 4-5       |        | 1-3 6-9   | 2 0 7
        from 4 max 9 dir up        | 1       | 4         |        | 5-9       | 1 0 5";
    for row in rows(table) {
        let walk = walked(row[0], &web, row[1].parse().unwrap());
        let split = walk.split(99);
        let expected = (ranges(row[2]), ranges(row[3]), ranges(row[4]));
        assert_eq!((split.content, split.holes, split.remaining), expected, "{row:?}");
        let Counts { content, holes, remaining } = walk.counts();
        assert_eq!(format!("{content} {holes} {}", remaining.unwrap()), row[5], "{row:?}");
    }
}

#[test]
fn l11_without_a_bound_the_rest_has_no_number() {
    let walk = walked("min 7 margin 9 step 10", &Web::default(), 2);
    assert_eq!(walk.counts(), Counts { content: 0, holes: 2, remaining: None });
    assert_eq!(walk.split(9).remaining, [27..=ID_MAX]);
    assert_eq!(ID_MAX % 10, 7);
}

#[test]
fn l11_lists_can_be_read_in_pages() {
    let walk = walked("min 0 max 99", &Web::new(0, &"ox".repeat(50)), 100);
    assert_eq!(walk.split(2).content, ranges("0 2"));
    let page: Vec<_> = walk.ranges(Kind::Hole, 90).take(3).collect();
    assert_eq!(page, ranges("91 93 95"));
    assert_eq!(walk.ranges(Kind::Content, 99).count(), 0);
}

#[test]
fn l12_the_map_counts_what_is_in_its_cells() {
    let walk = walked("min 0 max 9", &Web::new(0, "o o x x o o o"), 7);
    let cell = |from, to, content, holes, unknown| Cell { from, to, content, holes, unknown };
    assert_eq!(walk.cells(0, 9, 3), [cell(0, 2, 2, 1, 0), cell(3, 5, 2, 1, 0), cell(6, 9, 1, 0, 3)]);
    assert_eq!(walk.cells(2, 3, 5), [cell(2, 2, 0, 1, 0), cell(3, 3, 0, 1, 0)], "no cell without ids");
    assert_eq!(walk.cells(3, 2, 5), []);
    assert_eq!(walk.cells(0, 9, 0), []);
    assert_eq!(walk.cells(0, u64::MAX, usize::MAX).len(), 10_000);
}

proptest! {
    #[test]
    fn l12_no_id_is_lost_between_cells(
        (from, to, cells) in (0u64..300, 0u64..300, 1usize..40),
        (step, letters) in (1u64..4, prop::collection::vec(prop_oneof![Just('o'), Just('x')], 90)),
    ) {
        let letters: String = letters.into_iter().collect();
        let walk = walked(&format!("min 1 max 999 step {step}"), &Web::new(1, &letters), 50);
        let map = walk.cells(from, to, cells);
        let ids = (1..).step_by(usize::try_from(step).unwrap()).take_while(|id| *id <= to);
        let low = 1 % step;
        let ids: Vec<u64> = (low == 0 && from == 0).then_some(0).into_iter().chain(ids.filter(|id| *id >= from)).filter(|id| *id <= to).collect();
        prop_assert_eq!(map.iter().map(|cell| cell.content + cell.holes + cell.unknown).sum::<u64>(), ids.len() as u64);
        prop_assert_eq!(map.first().map(|cell| cell.from), ids.first().copied());
        prop_assert_eq!(map.last().map(|cell| cell.to), ids.last().copied());
        prop_assert!(map.windows(2).all(|pair| pair[0].to + step == pair[1].from));
        let content = ids.iter().filter(|id| walk.ranges(Kind::Content, 0).any(|range| range.contains(id)));
        if step == 1 {
            prop_assert_eq!(map.iter().map(|cell| cell.content).sum::<u64>(), content.count() as u64);
        }
    }
}
