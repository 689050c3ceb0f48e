//! O1–O8 through the whole decision: which seed ends up with a contested URL.

use policy::model::{LinkKind, Record};
use policy::outlink::{Action, Known, Outlink, Parent, decide};
use policy::owner::{Origin, Via};

use crate::world::{day, position, record, rows, url, world};

#[test]
fn o2_to_o8_context_and_owner() {
    let catalog = world(
        "collection k
         profile wide   k every=4d hops=2
         profile fast   k every=1d hops=2
         profile slow   k every=4d hops=2
         profile narrow k every=1d
         profile off    k every=1d hops=2 off
         seed wide   http://wide.no/   wide
         seed fast   http://fast.no/   fast
         seed slow   http://slow.no/   slow
         seed narrow http://narrow.no/ narrow
         seed site   http://x.no/      narrow
         seed part   http://x.no/a     slow
         seed off    http://off.no/    off
         seed asleep http://asleep.no/ fast off",
    );
    let table = "
        page of | url         | queued | context   | owner
        wide    | cnn.com/    | -      | wide O2   | wide
        narrow  | cnn.com/    | -      | narrow O2 | -
        site    | x.no/b      | -      | site O3   | site
        wide    | x.no/b      | -      | wide O4   | wide
        narrow  | x.no/b      | -      | site O5   | site
        narrow  | x.no/a/b    | -      | part O5   | part
        site    | x.no/a/b    | -      | site O4   | site
        part    | x.no/a/b    | site   | part O3   | part O6
        narrow  | x.no/a/b    | site   | part O5   | part O6
        site    | x.no/a/b    | part   | site O4   | part O7
        wide    | x.no/b      | site   | wide O4   | site O7
        fast    | cnn.com/    | wide   | fast O2   | fast O8
        wide    | cnn.com/    | fast   | wide O2   | fast O8
        slow    | cnn.com/    | wide   | slow O2   | slow O8
        wide    | cnn.com/    | slow   | wide O2   | slow O8
        off     | cnn.com/    | wide   | off O2    | wide O8
        wide    | cnn.com/    | off    | wide O2   | wide O8
        asleep  | cnn.com/    | wide   | asleep O2 | wide O8
        wide    | cnn.com/    | asleep | wide O2   | wide O8
        wide    | x.no/a/b    | fast   | wide O4   | fast O8
        wide    | cnn.com/    | narrow | wide O2   | wide O8";
    for row in rows(table) {
        let queued = (row[2] != "-").then(|| Record { position: position("d1 h1"), ..record(row[2]) });
        let known = queued.as_ref().map_or(Known::Absent, Known::Queued);
        let parent = Parent {
            origin: Origin::Page(row[0]),
            via: Via::Start,
            position: position(""),
            run: 1,
            collection: "k",
        };
        let decision = decide(&catalog, &parent, &Outlink::new(url(row[1]), LinkKind::Link), known, day(0));
        let context = decision.context.unwrap();
        let owner = match &decision.action {
            Action::Add(record) | Action::Update(record) => record.seed.as_str(),
            Action::Keep => row[2],
            Action::Ignore | Action::Remove => "-",
        };
        let rule = decision.owner.map_or(String::new(), |rule| format!(" {rule}"));
        assert_eq!(format!("{} {}", context.seed, context.rule), row[3], "{row:?}");
        assert_eq!(format!("{owner}{rule}"), row[4], "{row:?}");
    }
}
