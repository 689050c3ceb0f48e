//! F39: what a pattern on the blacklist leaves alone.

use policy::Rule;
use policy::blacklist::Barred;
use policy::catalog::{Catalog, Change};
use policy::evaluate::{Verdict, evaluate};
use policy::model::{BlacklistReason, LinkKind};
use policy::outlink::{Action, Known, Outlink, Parent, decide};
use policy::owner::{Origin, Via};
use policy::scope::Pattern;
use policy::time::Time;
use proptest::prelude::*;

use crate::world::{day, extend, position, record, url, world};

const WORLD: &str = "
    collection k
    collection l
    profile p k every=2d
    seed vg http://vg.no/ p";

fn pattern(text: &str) -> Pattern {
    match text.split_once(':').unwrap() {
        ("prefix", rest) => Pattern::Prefix(rest.to_owned()),
        ("host", rest) => Pattern::Host(rest.to_owned()),
        ("regex", rest) => Pattern::regex(rest).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn barred(text: &str, collection: Option<&str>, until: Option<Time>) -> Barred {
    let (collection, reason) = (collection.map(str::to_owned), "a trap".to_owned());
    Barred { pattern: pattern(text), collection, reason, since: day(-1), until }
}

fn bar(catalog: &mut Catalog, own: Barred) {
    catalog.apply(Change::PutBarred(Box::new(own))).unwrap();
}

#[test]
fn f39_patterns_hold_in_their_collection_until_their_end() {
    let table = [
        ("host:vg.no", None, None, true),
        ("host:www.vg.no", None, None, true),
        ("host:*.no", None, None, true),
        ("host:*.vg.no", Some("k"), None, true),
        ("host:vg.no", Some("l"), None, false),
        ("host:nrk.no", None, None, false),
        ("prefix:vg.no/a", None, None, true),
        ("prefix:http://vg.no/a", None, None, true),
        ("prefix:https://vg.no/a", None, None, false),
        ("prefix:vg.no/b", None, None, false),
        ("regex:/a/\\d+$", None, None, true),
        ("regex:^https", None, None, false),
        ("host:vg.no", None, Some(day(1)), true),
        ("host:vg.no", None, Some(day(0)), false),
    ];
    for (text, collection, until, holds) in table {
        let mut catalog = world(WORLD);
        bar(&mut catalog, barred(text, collection, until));
        let (url, record) = (url("http://vg.no/a/1"), record("vg"));
        let evaluation = evaluate(&catalog, "k", &url, &record, None, day(0));
        let name = barred(text, collection, until).name();
        match evaluation.verdict {
            Verdict::Blacklist(entry) => {
                assert!(holds, "{name}");
                assert_eq!((evaluation.rule, entry.until), (Rule::F39, until));
                assert_eq!(entry.reason, BlacklistReason::Pattern(name.clone()));
                let told = evaluation.steps.last().unwrap().to_string();
                assert!(told.contains(&name) && told.contains("a trap"), "{told}");
            }
            verdict => assert!(!holds && matches!(verdict, Verdict::Harvest(_)), "{name}: {verdict:?}"),
        }
        let origin = Origin::Page("vg");
        let at = position("d1");
        let parent = Parent { origin, via: Via::Start, position: at, run: 1, collection: "k" };
        let link = Outlink::new(url, LinkKind::Link);
        let decision = decide(&catalog, &parent, &link, Known::Absent, day(0));
        assert_eq!(decision.rule == Rule::F39, holds, "{name}: {decision}");
        assert_eq!(decision.action == Action::Ignore, holds);
        // What is queued is blacklisted when it is looked at, with all that is known of it.
        let decision = decide(&catalog, &parent, &link, Known::Queued(&record), day(0));
        assert_ne!(decision.rule, Rule::F39);
    }
}

#[test]
fn f39_a_start_is_somebodys_wish() {
    let mut catalog = world(WORLD);
    bar(&mut catalog, barred("host:vg.no", None, None));
    let parent = Parent {
        origin: Origin::Start("vg"),
        via: Via::Start,
        position: position(""),
        run: 1,
        collection: "k",
    };
    let link = Outlink::new(url("http://vg.no/"), LinkKind::Link);
    assert_eq!(decide(&catalog, &parent, &link, Known::Absent, day(0)).rule, Rule::F22);
}

#[test]
fn f39_lifting_one_leaves_the_others() {
    let mut catalog = world(WORLD);
    let texts =
        ["host:vg.no", "host:www.vg.no", "prefix:vg.no/a", "prefix:vg.no/", "regex:a/1", "host:*.vg.no"];
    for text in texts {
        bar(&mut catalog, barred(text, None, None));
        bar(&mut catalog, barred(text, Some("k"), None));
    }
    let target = url("http://vg.no/a/1");
    for text in texts {
        for collection in [None, Some("k")] {
            let found = catalog.barring("k", &target, day(0));
            assert!(found.is_some(), "before {text}");
            catalog.apply(Change::DeleteBarred(barred(text, collection, None).name())).unwrap();
        }
    }
    assert!(catalog.barring("k", &target, day(0)).is_none());
    extend(&mut catalog, "collection k");
}

/// Short, so that they meet.
fn part() -> impl Strategy<Value = String> {
    "[ab]{1,3}"
}

fn any_pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        part().prop_map(|part| format!("host:{part}.no")),
        part().prop_map(|part| format!("host:www.{part}.no")),
        part().prop_map(|part| format!("host:*.{part}.no")),
        (part(), part()).prop_map(|(host, path)| format!("prefix:{host}.no/{path}")),
        (part(), part()).prop_map(|(host, path)| format!("prefix:http://www.{host}.no/{path}")),
        part().prop_map(|part| format!("prefix:{part}")),
        part().prop_map(|part| format!("regex:/{part}$")),
    ]
}

proptest! {
    /// Found as if each were asked by itself.
    #[test]
    fn f39_the_index_finds_what_each_pattern_says(
        all in proptest::collection::vec((any_pattern(), any::<bool>(), 0u8..3), 0..12),
        gone in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
        (www, host, path) in (prop_oneof![Just(""), Just("www."), Just("x.")], part(), part()),
    ) {
        let mut catalog = Catalog::new();
        let mut there: Vec<Barred> = Vec::new();
        for (text, own, end) in &all {
            let until = match end { 0 => None, 1 => Some(day(1)), _ => Some(day(-1)) };
            let new = barred(text, own.then_some("k"), until);
            there.retain(|other| other.name() != new.name());
            there.push(new.clone());
            bar(&mut catalog, new);
        }
        for index in gone {
            if !there.is_empty() {
                let old = there.remove(index.index(there.len()));
                catalog.apply(Change::DeleteBarred(old.name())).unwrap();
            }
        }
        let target = url(&format!("http://{www}{host}.no/{path}"));
        for collection in ["k", "l"] {
            let held = there.iter().any(|own| {
                own.is_in_force(day(0))
                    && own.collection.as_deref().is_none_or(|name| name == collection)
                    && own.pattern.matches(&target)
            });
            let found = catalog.barring(collection, &target, day(0));
            prop_assert_eq!(found.is_some(), held, "{:?} of {:?}", found, there);
            if let Some(found) = found {
                prop_assert!(found.pattern.matches(&target) && found.is_in_force(day(0)));
            }
        }
    }
}
