//! F36: which budget is used up.

use std::collections::BTreeMap;

use policy::budget::{Budget, Holder, Spent, holders_with, known_to, may_harvest, may_queue};
use policy::catalog::{Catalog, Change};
use policy::model::{Collection, HostGroup, Politeness, Profile, Seed};
use policy::time::{Span, Time};
use policy::way::Way;
use proptest::prelude::*;
use testkit::catalog::{collection, profile, put, seed};

use crate::world::{day, url};

fn budget(text: &str) -> Budget {
    let mut budget = Budget::default();
    for (key, value) in text.split_whitespace().map(|word| word.split_once('=').unwrap()) {
        let number = Some(value.parse().unwrap());
        match key {
            "urls" => budget.max_urls = number,
            "harvests" => budget.max_harvests = number,
            "bytes" => budget.max_bytes = number,
            "days" => budget.max_duration = number.map(Span::days),
            other => panic!("{other}"),
        }
    }
    budget
}

/// Collection `k`, seed `s` with the profiles `p` and `q`, host `a.no`, group `g g` of `b.no`.
fn world(of: &[(&str, &str)]) -> Catalog {
    let own = |what: &str| {
        of.iter().find(|(name, _)| *name == what).map_or_else(Budget::default, |(_, text)| budget(text))
    };
    let polite = |what: &str| Politeness { budget: own(what), ..Politeness::default() };
    let group = HostGroup {
        name: "g g".into(),
        hosts: vec!["b.no".into()],
        politeness: polite("group"),
        way: Way::default(),
    };
    let mut catalog = Catalog::new();
    for change in [
        put(Collection { budget: own("collection"), ..collection("k") }),
        put(Profile { budget: own("p"), ..profile("p", "k") }),
        put(Profile { budget: own("q"), ..profile("q", "k") }),
        put(Seed { budget: own("seed"), ..seed("s", "https://a.no/", &["p", "q"]) }),
        Change::PutHostPoliteness { host: "a.no".into(), politeness: polite("host"), way: Way::default() },
        Change::PutGroup(group),
    ] {
        catalog.apply(change).unwrap();
    }
    catalog
}

fn profiles() -> Vec<String> {
    vec!["p".to_owned(), "q".to_owned()]
}

/// What is spent, as `harvests bytes`, since the day before yesterday.
fn decide(of: &[(&str, &str)], host: &str, spent: &[(&str, u64, u64)]) -> String {
    let catalog = world(of);
    let target = url(&format!("https://{host}/x"));
    let holders = holders_with(&catalog, "k", "s", &target, &profiles());
    let spent: BTreeMap<&str, Spent> = spent
        .iter()
        .map(|(what, harvests, bytes)| {
            (*what, Spent { harvests: *harvests, bytes: *bytes, since: Some(day(-2)) })
        })
        .collect();
    let of = |holder: &Holder| spent.get(holder.name()).copied().unwrap_or_default();
    match may_harvest(&catalog, &profiles(), &holders, 7, of, day(0)) {
        Ok(out) if out.is_empty() => "yes".to_owned(),
        Ok(out) => format!("not for {}", out.join(",")),
        Err(used_up) => format!("{} {}", used_up.holder, used_up.limit.key()),
    }
}

#[test]
fn f36_the_budget_that_is_used_up_is_named() {
    let c = [("collection", "harvests=10")];
    assert_eq!(decide(&[], "a.no", &[("k", 99, 99)]), "yes");
    assert_eq!(decide(&c, "a.no", &[("k", 9, 99)]), "yes");
    assert_eq!(decide(&c, "a.no", &[("k", 10, 0)]), "collection `k` max_harvests");
    assert_eq!(decide(&c, "a.no", &[("s", 10, 0)]), "yes", "another's harvests");
    assert_eq!(decide(&[("seed", "bytes=5")], "a.no", &[("s", 1, 5)]), "seed `s` max_bytes");
    assert_eq!(decide(&[("seed", "days=3")], "a.no", &[("s", 1, 5)]), "yes");
    assert_eq!(decide(&[("seed", "days=2")], "a.no", &[("s", 1, 5)]), "seed `s` max_duration");
    assert_eq!(decide(&[("seed", "days=2")], "a.no", &[]), "yes", "the run has not begun");
    assert_eq!(decide(&[("host", "harvests=1")], "a.no", &[("a.no", 1, 5)]), "host `a.no` max_harvests");
    assert_eq!(decide(&[("host", "harvests=1")], "www.a.no", &[("a.no", 1, 5)]), "host `a.no` max_harvests");
    assert_eq!(decide(&[("host", "harvests=1")], "c.no", &[("a.no", 1, 5)]), "yes");
    assert_eq!(decide(&[("group", "harvests=1")], "b.no", &[("g g", 1, 5)]), "host group `g g` max_harvests");
}

#[test]
fn f36_one_profile_that_has_something_left_is_enough() {
    let both = [("p", "harvests=1"), ("q", "harvests=2")];
    assert_eq!(decide(&both, "a.no", &[("p", 0, 0), ("q", 0, 0)]), "yes");
    assert_eq!(decide(&both, "a.no", &[("p", 1, 0), ("q", 1, 0)]), "not for p");
    assert_eq!(decide(&both, "a.no", &[("p", 1, 0), ("q", 2, 0)]), "profile `p` max_harvests");
    assert_eq!(decide(&both[..1], "a.no", &[("p", 1, 0)]), "not for p", "the other has no budget");
}

#[test]
fn f36_only_what_has_a_budget_is_counted() {
    let catalog = world(&[("seed", "urls=2"), ("collection", "harvests=3")]);
    let holders = holders_with(&catalog, "k", "s", &url("https://a.no/x"), &profiles());
    assert_eq!(holders, [Holder::Collection("k".into()), Holder::Seed("s".into())]);
    assert_eq!(known_to(&catalog, holders), [Holder::Seed("s".into())]);
    let (full, room) = (|_: &Holder| 2, |_: &Holder| 1);
    let seed = [Holder::Seed("s".into())];
    assert!(may_queue(&catalog, &profiles(), &seed, room).is_ok());
    let used_up = may_queue(&catalog, &profiles(), &seed, full).unwrap_err();
    assert_eq!(
        used_up.to_string(),
        "the budget of seed `s` is used up: 2 known URLs of 2 known URLs (max_urls)"
    );
    assert!(!world(&[]).has_budgets());
    let mut catalog = world(&[("seed", "urls=2")]);
    catalog.apply(Change::DeleteSeed("s".into())).unwrap();
    assert!(!catalog.has_budgets());
}

proptest! {
    /// Never more than is allowed, whatever was spent; and never refused while everything has
    /// something left.
    #[test]
    fn f36_no_harvest_beyond_a_budget(
        limits in proptest::collection::vec((0usize..5, 1u64..5), 0..5),
        used in proptest::collection::vec(0u64..6, 5),
    ) {
        let names = ["collection", "seed", "host", "p", "q"];
        let keys = ["k", "s", "a.no", "p", "q"];
        let mut of: BTreeMap<&str, String> = BTreeMap::new();
        for (who, max) in &limits {
            of.insert(names[*who], format!("harvests={max}"));
        }
        let of: Vec<(&str, &str)> = of.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let spent: Vec<(&str, u64, u64)> = keys.iter().zip(&used).map(|(key, used)| (*key, *used, 0)).collect();
        let left = |name: &str| {
            let at = names.iter().position(|other| *other == name).unwrap();
            of.iter().find(|(other, _)| *other == name).is_none_or(|(_, text)| {
                used[at] < text.strip_prefix("harvests=").unwrap().parse::<u64>().unwrap()
            })
        };
        let all = ["collection", "seed", "host"].into_iter().all(left);
        let said = decide(&of, "a.no", &spent);
        let refused = said.contains('`');
        prop_assert_eq!(refused, !all || (!left("p") && !left("q")), "{}", said);
        if !refused {
            prop_assert_eq!(said.contains("for p"), !left("p"));
            prop_assert_eq!(said.contains("for q"), !left("q"));
        }
    }

    #[test]
    fn f36_stripes_add_up_in_any_order(
        rows in proptest::collection::vec((0u64..100, 0u64..100, proptest::option::of(0i64..100)), 0..8),
    ) {
        let spent = |(harvests, bytes, since): &(u64, u64, Option<i64>)| {
            Spent { harvests: *harvests, bytes: *bytes, since: since.map(Time) }
        };
        let sum = |rows: &mut dyn Iterator<Item = Spent>| rows.fold(Spent::default(), |mut sum, row| {
            sum.merge(&row);
            sum
        });
        let (forth, back) = (sum(&mut rows.iter().map(spent)), sum(&mut rows.iter().rev().map(spent)));
        prop_assert_eq!(forth, back);
        prop_assert_eq!(forth.harvests, rows.iter().map(|row| row.0).sum::<u64>());
    }
}
