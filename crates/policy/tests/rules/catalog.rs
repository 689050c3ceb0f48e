//! The declared things: look-ups, changes, and B of page 2.

use policy::catalog::{Catalog, CatalogError, Change};
use policy::model::{HostGroup, Politeness, Seed, Settings};
use policy::time::Span;
use policy::url::CrawlUrl;
use policy::way::Way;
use proptest::prelude::*;

use crate::world::{change, extend, rows, url, world};

#[test]
fn o_the_best_match_is_the_most_specific_seed() {
    let catalog = world(
        "profile p k
         profile q other
         seed root    http://vg.no/             p
         seed a       https://www.vg.no:81/a    p
         seed ab      http://vg.no/a/b/         p
         seed query   http://vg.no/a?x=1        p
         seed other   http://vg.no/a/b/c        q
         seed off     http://vg.no/off          p off
         seed x2      http://x.no/              p
         seed x1      https://x.no/             p
         seed nothing http://none.no/           gone",
    );
    let table = "
        url                      | B
        vg.no                    | root
        vg.no/z                  | root
        vg.no/a                  | a
        vg.no/ab                 | root
        vg.no/a/                 | a
        https://vg.no/a/x?y=2    | a
        vg.no/a?x=1              | query
        https://www.vg.no/a?x=1  | query
        vg.no/a?x=2              | a
        vg.no/a/?x=1             | a
        vg.no/a/b                | ab
        vg.no:8080/a/b/c/d       | ab
        vg.no/off/x              | off
        tv.vg.no/                | -
        www.www.vg.no/           | -
        x.no/y                   | x1
        x.no/                    | x2
        https://x.no/            | x1
        none.no/                 | -";
    for row in rows(table) {
        let found = catalog.best_match("k", &url(row[0])).map_or("-", String::as_str);
        assert_eq!(found, row[1], "{row:?}");
    }
    assert_eq!(catalog.best_match("other", &url("vg.no/a/b/c/d")).unwrap(), "other");
    assert_eq!(catalog.best_match("unknown", &url("vg.no/")), None);
}

#[test]
fn f1_f3_what_a_start_reaches() {
    let catalog = world(
        "profile daily  news
         profile weekly news
         profile deep   archive
         seed vg http://vg.no/ daily,weekly,deep,gone
         seed nrk http://nrk.no/ daily",
    );
    assert_eq!(Vec::from_iter(catalog.collections_of("vg")), ["archive", "news"]);
    assert_eq!(catalog.collections_of("unknown").len(), 0);
    let names =
        |collection| catalog.profiles_of("vg", collection).map(|p| p.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names("news"), ["daily", "weekly"]);
    assert_eq!(names("archive"), ["deep"]);
    let mut seeds: Vec<&str> = catalog.seeds_of_profile("daily").map(|e| e.seed.name.as_str()).collect();
    seeds.sort_unstable();
    assert_eq!(seeds, ["nrk", "vg"]);
    let profiles: Vec<&str> = catalog.profiles_of_collection("news").map(|p| p.name.as_str()).collect();
    assert_eq!(profiles, ["daily", "weekly"]);
}

#[test]
fn changes_replace_and_delete() {
    let mut catalog = world("profile p k\nseed a http://vg.no/a p");
    extend(&mut catalog, "seed a http://nrk.no/a q\nprofile q k2");
    assert_eq!(catalog.best_match("k", &url("vg.no/a")), None);
    assert_eq!(catalog.best_match("k2", &url("nrk.no/a")).unwrap(), "a");
    assert_eq!(catalog.seeds_of_profile("p").count(), 0);

    extend(&mut catalog, "profile q k3");
    assert_eq!(catalog.profiles_of_collection("k2").count(), 0);
    assert_eq!(catalog.best_match("k3", &url("nrk.no/a")).unwrap(), "a", "a profile moves with its seeds");

    extend(&mut catalog, "-profile q");
    assert_eq!(
        (catalog.best_match("k3", &url("nrk.no/a")), catalog.seeds_of_profile("q").count()),
        (None, 1)
    );
    extend(&mut catalog, "-seed a\n-seed a\n-profile q\n-collection k3");
    assert_eq!((catalog.seed_count(), catalog.seeds_of_profile("q").count()), (0, 0));
}

#[test]
fn a_seed_without_a_usable_url_is_the_only_failure() {
    let mut catalog = world("profile p k\nseed a http://vg.no/a p");
    let bad = Seed { name: "a".into(), url: "mailto:x".into(), active: true, ..Seed::default() };
    let error = catalog.apply(Change::PutSeed(bad)).unwrap_err();
    assert_eq!(error.to_string(), "seed `a` has no usable URL `mailto:x`");
    let CatalogError::SeedUrl { refusal, .. } = error;
    assert!(refusal.to_string().contains("mailto"));
    assert_eq!(catalog.seed("a").unwrap().url, url("vg.no/a"), "nothing has changed");
}

#[test]
fn f8_politeness_of_group_host_and_installation() {
    let slow = |n| Politeness { min: Span::seconds(n), ..Politeness::default() };
    let group = |name: &str, hosts: &[&str], n| {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        Change::PutGroup(HostGroup { name: name.into(), hosts, politeness: slow(n), way: Way::default() })
    };
    let mut catalog = Catalog::new();
    let settings = Settings { politeness: slow(1), session_ids: vec!["SID".into()], ..Settings::default() };
    for change in [
        Change::PutSettings(Box::new(settings)),
        Change::PutHostPoliteness { host: "WWW.vg.no".into(), politeness: slow(2), way: Way::default() },
        Change::PutHostPoliteness { host: "nrk.no".into(), politeness: slow(3), way: Way::default() },
        group("group b", &["www.VG.no", "a.no"], 5),
        group("group a", &["a.no"], 4),
    ] {
        catalog.apply(change).unwrap();
    }
    let min = |catalog: &Catalog, site: &str| catalog.politeness(site).min;
    assert_eq!(min(&catalog, "vg.no"), Span::seconds(5), "the group goes before the host");
    assert_eq!(min(&catalog, "nrk.no"), Span::seconds(3));
    assert_eq!(min(&catalog, "cnn.com"), Span::seconds(1));
    assert_eq!(catalog.group_of("a.no").unwrap().name, "group a", "of two groups the first by name");
    assert_eq!(catalog.url_rules().session_ids, ["sid"]);

    catalog.apply(Change::DeleteGroup("group a".into())).unwrap();
    assert_eq!(catalog.group_of("a.no").unwrap().name, "group b");
    catalog.apply(group("group b", &["a.no"], 5)).unwrap();
    assert_eq!(min(&catalog, "vg.no"), Span::seconds(2));
    catalog.apply(Change::DeleteHostPoliteness("vg.no".into())).unwrap();
    assert_eq!(min(&catalog, "vg.no"), Span::seconds(1));
}

#[test]
fn a_change_survives_being_stored() {
    for line in
        ["collection k off", "profile p k every=2d length=1 exclude=vg.no/x", "seed a http://vg.no/ p"]
    {
        let change = change(line);
        let stored = serde_json::to_string(&change).unwrap();
        assert_eq!(serde_json::from_str::<Change>(&stored).unwrap(), change);
    }
}

/// B as the specification words it, over all seeds.
fn best_by_definition<'a>(catalog: &'a Catalog, target: &CrawlUrl) -> Option<&'a str> {
    let trimmed = |url: &CrawlUrl| url.path().strip_suffix('/').unwrap_or(url.path()).to_owned();
    let is_above = |seed: &CrawlUrl| match seed.query() {
        Some(_) => (seed.site(), seed.path_and_query()) == (target.site(), target.path_and_query()),
        None => {
            let path = trimmed(target);
            let rest = path.strip_prefix(trimmed(seed).as_str());
            seed.site() == target.site() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
    };
    let of_collection = |name: &str| catalog.profiles_of(name, "k").next().is_some();
    let matching = catalog.seeds().filter(|e| of_collection(&e.seed.name) && is_above(&e.url));
    let best = matching.min_by_key(|entry| {
        let specificity = (entry.url.query().is_some(), trimmed(&entry.url).len());
        (std::cmp::Reverse(specificity), entry.url != *target, entry.seed.name.as_str())
    });
    best.map(|entry| entry.seed.name.as_str())
}

fn any_place() -> impl Strategy<Value = String> {
    let host =
        prop::sample::select(vec!["http://vg.no", "https://www.vg.no", "http://vg.no:81", "http://a.no"]);
    let path = prop::sample::select(vec!["/", "/a", "/a/", "/a/b", "/ab", "/a/b/c", "/a?x", "/a//b", "//"]);
    (host, path).prop_map(|(host, path)| format!("{host}{path}"))
}

fn any_change() -> impl Strategy<Value = String> {
    let key = 0..8;
    let profile = prop::sample::select(vec!["p", "q", "p,q", "gone"]);
    prop_oneof![
        4 => (key.clone(), any_place(), profile).prop_map(|(k, at, p)| format!("seed s{k} {at} {p}")),
        2 => key.prop_map(|k| format!("-seed s{k}")),
        1 => prop::sample::select(vec!["profile p k", "profile p k2", "profile q k", "-profile q"])
            .prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn o_the_index_agrees_with_the_definition_after_any_changes(
        changes in prop::collection::vec(any_change(), 0..40),
        places in prop::collection::vec(any_place(), 8),
    ) {
        let mut catalog = world("profile p k\nprofile q k2");
        for line in &changes {
            catalog.apply(change(line)).unwrap();
        }
        for place in places {
            let target = url(&place);
            let found = catalog.best_match("k", &target).map(String::as_str);
            prop_assert_eq!(found, best_by_definition(&catalog, &target), "{}", place);
        }
    }
}
