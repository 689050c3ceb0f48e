//! The examples of page 2 that must hold, row by row over one queue.

use std::collections::BTreeMap;

use policy::catalog::Catalog;
use policy::model::{LinkKind, Position, Record};
use policy::outlink::{Action, Known, Outlink, Parent, decide};
use policy::owner::{Origin, Via};
use policy::url::CrawlUrl;

use crate::world::{day, position, rows, url, world};

const EXAMPLE_1: &str = "
    collection k
    profile hop  k hops=1
    profile stay k
    seed faktisk.no http://faktisk.no/ hop
    seed vg.no      http://vg.no/      stay";

const EXAMPLE_2: &str = "
    collection k
    profile stay k
    seed faktisk.no http://faktisk.no/ stay
    seed vg.no      http://vg.no/      stay";

type Queue = BTreeMap<CrawlUrl, Record>;

/// Processes `from → target` (`start → target` for a start) and gives P, S before, B, C with its
/// rule, S after.
fn step(catalog: &Catalog, queue: &mut Queue, from: &str, target: &str) -> Vec<String> {
    let target = url(target);
    let before = queue.get(&target).cloned();
    let page = (from != "start").then(|| queue[&url(from)].clone());
    let best = catalog.best_match("k", &target);
    let origin = match &page {
        None => Origin::Start(best.unwrap()),
        Some(page) => Origin::Page(catalog.seed(&page.seed).unwrap().seed.name.as_str()),
    };
    let at = page.as_ref().map_or(Position::SEED, |page| page.position);
    let via = page.as_ref().map_or(Via::Start, |page| Via::page(from, &page.seed));
    let parent = Parent { origin, via, position: at, run: 1, collection: "k" };
    let known = before.as_ref().map_or(Known::Absent, Known::Queued);
    let decision = decide(catalog, &parent, &Outlink::new(target.clone(), LinkKind::Link), known, day(0));
    match decision.action {
        Action::Add(record) | Action::Update(record) => drop(queue.insert(target.clone(), record)),
        Action::Remove => drop(queue.remove(&target)),
        Action::Ignore | Action::Keep => {}
    }
    let seed = |record: Option<&Record>| record.map_or("-".to_owned(), |record| record.seed.clone());
    let context = decision.context.unwrap();
    vec![
        seed(page.as_ref()),
        seed(before.as_ref()),
        best.map_or("-".to_owned(), String::clone),
        format!("{} {}", context.seed, context.rule),
        seed(queue.get(&target)),
    ]
}

fn check(catalog: &Catalog, queue: &mut Queue, table: &str) {
    for row in rows(table) {
        assert_eq!(step(catalog, queue, row[0], row[1]), row[2..], "{row:?}");
    }
}

const FIRST_HARVESTS: &str = "
    from                | URL                 | P          | S before   | B          | C             | S after
    start               | faktisk.no          | -          | -          | faktisk.no | faktisk.no O1 | faktisk.no
    faktisk.no          | faktisk.no/artikkel | faktisk.no | -          | faktisk.no | faktisk.no O3 | faktisk.no
    faktisk.no/artikkel | vg.no/artikkel      | faktisk.no | -          | vg.no      | faktisk.no O4 | faktisk.no
    vg.no/artikkel      | vg.no/artikkel2     | faktisk.no | -          | vg.no      | vg.no O5      | vg.no
    faktisk.no/artikkel | cnn.com/article     | faktisk.no | -          | -          | faktisk.no O2 | faktisk.no
    faktisk.no/artikkel | vg.no               | faktisk.no | -          | vg.no      | faktisk.no O4 | faktisk.no";

#[test]
fn o_example_1() {
    let catalog = world(EXAMPLE_1);
    let mut queue = Queue::new();
    check(&catalog, &mut queue, FIRST_HARVESTS);
    let again = "
        from                | URL                 | P          | S before   | B          | C             | S after
        start               | vg.no               | -          | faktisk.no | vg.no      | vg.no O1      | vg.no
        vg.no               | vg.no/artikkel      | vg.no      | faktisk.no | vg.no      | vg.no O3      | vg.no
        vg.no/artikkel      | vg.no/artikkel2     | vg.no      | vg.no      | vg.no      | vg.no O3      | vg.no";
    check(&catalog, &mut queue, again);
    assert_eq!(queue[&url("vg.no/artikkel")].position, position("d1"));
}

#[test]
fn o_example_1_second_harvest_with_nothing_else_in_between() {
    let catalog = world(EXAMPLE_1);
    let mut queue = Queue::new();
    check(&catalog, &mut queue, FIRST_HARVESTS);
    let before = queue.clone();
    let second = "
        from                | URL                 | P          | S before   | B          | C             | S after
        start               | faktisk.no          | -          | faktisk.no | faktisk.no | faktisk.no O1 | faktisk.no
        faktisk.no          | faktisk.no/artikkel | faktisk.no | faktisk.no | faktisk.no | faktisk.no O3 | faktisk.no
        faktisk.no/artikkel | vg.no/artikkel      | faktisk.no | faktisk.no | vg.no      | faktisk.no O4 | faktisk.no
        faktisk.no/artikkel | cnn.com/article     | faktisk.no | faktisk.no | -          | faktisk.no O2 | faktisk.no";
    check(&catalog, &mut queue, second);
    assert_eq!(queue, before, "and nothing at all changes");
}

#[test]
fn o_example_2() {
    let catalog = world(EXAMPLE_2);
    let mut queue = Queue::new();
    let harvest = "
        from                | URL                 | P          | S before   | B          | C             | S after
        start               | faktisk.no          | -          | -          | faktisk.no | faktisk.no O1 | faktisk.no
        faktisk.no          | faktisk.no/artikkel | faktisk.no | -          | faktisk.no | faktisk.no O3 | faktisk.no
        faktisk.no/artikkel | vg.no/artikkel      | faktisk.no | -          | vg.no      | vg.no O5      | vg.no
        faktisk.no/artikkel | cnn.com/article     | faktisk.no | -          | -          | faktisk.no O2 | -
        faktisk.no/artikkel | vg.no/artikkel      | faktisk.no | vg.no      | vg.no      | vg.no O5      | vg.no";
    check(&catalog, &mut queue, harvest);
    assert_eq!(queue[&url("vg.no/artikkel")].position, position("d1"), "as linked from vg.no's own page");
}
