//! F34: what is in scope, in which order it is decided, and what the verdict says.

use policy::model::Position;
use policy::scope::{Pattern, Scope, ScopeReason, Within};
use policy::url::Scheme;
use proptest::prelude::*;

use crate::world::{position, rows, url, within};

#[test]
fn f34_within() {
    let table = "
        within | seed               | url                       | in scope
        path   | vg.no/a            | vg.no/a                   | yes
        path   | vg.no/a            | vg.no/a/b?c               | yes
        path   | vg.no/a            | vg.no/ab                  | no
        path   | vg.no/a/           | vg.no/a                   | yes
        path   | vg.no/a/index.html | vg.no/a/b                 | yes
        path   | vg.no/a/index.html | vg.no/b                   | no
        path   | vg.no/v1.2         | vg.no/v1.2/x              | yes
        path   | vg.no/v1.2         | vg.no/other               | no
        path   | vg.no              | https://www.vg.no:81/x    | yes
        path   | vg.no              | tv.vg.no/x                | no
        host   | vg.no/a            | www.vg.no/b               | yes
        host   | vg.no/a            | tv.vg.no/b                | no
        domain | www.vg.no/a        | tv.vg.no/b                | yes
        domain | vg.no              | vg.com                    | no
        domain | a.github.io        | b.github.io               | no
        domain | a.co.uk            | b.co.uk                   | no
        domain | 127.0.0.1          | 10.0.0.1                  | no
        any    | vg.no              | cnn.com                   | yes";
    for row in rows(table) {
        let scope = Scope { within: within(row[0]), ..Scope::default() };
        let verdict = scope.check(&url(row[1]), &url(row[2]), &position("d1"));
        assert_eq!(verdict.in_scope, row[3] == "yes", "{row:?}: {verdict}");
    }
}

#[test]
fn f34_the_first_thing_that_decides() {
    let scope = Scope {
        max_depth: Some(2),
        off_domain_hops: 1,
        include: vec![Pattern::Host("cdn.com".into()), Pattern::Prefix("vg.no/deep".into())],
        exclude: vec![Pattern::Prefix("vg.no/cgi".into()), Pattern::regex("logout").unwrap()],
        max_url_length: 60,
        max_repeats: 2,
        ..Scope::default()
    };
    let table = "
        url                   | position | verdict
        vg.no                 | d9       | in scope: is the seed itself
        vg.no/a               | d2       | in scope: within the seed's domain
        vg.no/a               | d3       | out of scope: depth 3, 2 is allowed
        vg.no/deep/a          | d3       | out of scope: depth 3, 2 is allowed
        vg.no/cgi/a           | d1       | out of scope: matches exclude pattern 1
        cdn.com/logout        | d1 h1    | out of scope: matches exclude pattern 2
        cdn.com/a             | d1 h9    | in scope: matches include pattern 1
        a.com/a               | d1 h1    | in scope: 1 of 1 off-domain hops
        a.com/a               | d1 h2    | out of scope: 2 off-domain hops, 1 are allowed
        a.com/a               | d1 h2 c1 r | in scope: is a page requisite
        a.com/a               | d1 h2 c6 r | out of scope: 2 off-domain hops, 1 are allowed
        a.com/a               | d3 h2 c1 r | out of scope: depth 3, 2 is allowed
        a.com/logout          | d1 h2 c1 r | out of scope: matches exclude pattern 2
        cdn.com/a/a/a         | d1       | out of scope: looks like a trap: 1 path segment(s) 3 times in a row, 2 are allowed
        vg.no/123456789012345678901234567890123456789012345678 | d1 | out of scope: 61 bytes long, 60 are allowed";
    for row in rows(table) {
        let verdict = scope.check(&url("vg.no"), &url(row[0]), &position(row[1]));
        assert_eq!(verdict.to_string(), row[2], "{row:?}");
    }
}

#[test]
fn f34_schemes_siblings_and_requisites() {
    let seed = url("vg.no");
    let https_only = Scope { schemes: vec![Scheme::Https], ..Scope::default() };
    assert_eq!(https_only.check(&seed, &seed, &position("")).because, ScopeReason::Scheme(Scheme::Http));
    assert!(https_only.check(&seed, &url("https://vg.no"), &position("d1")).in_scope);

    let host = Scope { within: Within::Host, off_domain_hops: 5, ..Scope::default() };
    let sibling = host.check(&seed, &url("tv.vg.no"), &position("d1"));
    assert_eq!(sibling.because, ScopeReason::Outside(Within::Host), "a sibling is no off-domain hop");

    let without = Scope { requisites: false, ..Scope::default() };
    assert!(!without.check(&seed, &url("cdn.com/x.png"), &position("d0 h1 c1 r")).in_scope);
}

#[test]
fn f34_a_scope_may_be_written_in_part_but_not_misspelt() {
    let scope: Scope = serde_json::from_str(r#"{"within":"host","include":[{"host":"*.cdn.no"}]}"#).unwrap();
    assert_eq!((scope.within, scope.requisites, scope.include.len()), (Within::Host, true, 1));
    assert!(serde_json::from_str::<Scope>(r#"{"max_dept":1}"#).is_err());
    let stored = serde_json::to_string(&scope).unwrap();
    assert_eq!(serde_json::from_str::<Scope>(&stored).unwrap(), scope);
}

fn any_position() -> impl Strategy<Value = Position> {
    (0..4u32, 0..4u32, 0..8u32, any::<bool>()).prop_map(|(depth, hops, chain, requisite)| Position {
        depth,
        hops,
        chain,
        requisite,
    })
}

fn any_scope() -> impl Strategy<Value = Scope> {
    let within = prop::sample::select(vec![Within::Path, Within::Host, Within::Domain, Within::Any]);
    let parts = (within, prop::option::of(0..3u32), 0..3u32, any::<bool>(), any::<bool>());
    parts.prop_map(|(within, max_depth, off_domain_hops, requisites, include)| Scope {
        within,
        max_depth,
        off_domain_hops,
        requisites,
        include: if include { vec![Pattern::Host("*.vg.no".into())] } else { Vec::new() },
        ..Scope::default()
    })
}

const PLACES: [&str; 6] = ["vg.no", "vg.no/a", "vg.no/a/b", "tv.vg.no/x", "cnn.com", "cnn.com/y"];

proptest! {
    #[test]
    fn f34_what_is_excluded_is_never_in(
        scope in any_scope(),
        position in any_position(),
        seed in prop::sample::select(PLACES.to_vec()),
        place in prop::sample::select(PLACES.to_vec()),
    ) {
        let target = url(place);
        let excluding = Scope { exclude: vec![Pattern::Prefix(target.to_string())], ..scope };
        let verdict = excluding.check(&url(seed), &target, &position);
        prop_assert_eq!(verdict.because, ScopeReason::Excluded { pattern: 0 });
        prop_assert!(!verdict.in_scope);
    }

    /// What F23 and O9 rest on. For one URL and seed, hops are always or never zero.
    #[test]
    fn f23_a_position_that_dominates_is_in_scope_wherever_the_other_is(
        scope in any_scope(),
        one in any_position(),
        other in any_position(),
        seed in prop::sample::select(PLACES.to_vec()),
        place in prop::sample::select(PLACES.to_vec()),
    ) {
        let (seed, target) = (url(seed), url(place));
        let inside = target.is_in_domain(seed.domain());
        let placed = |p: Position| Position { hops: if inside { 0 } else { p.hops.max(1) }, ..p };
        let (one, other) = (placed(one), placed(other));
        if one.dominates(&other) && scope.check(&seed, &target, &other).in_scope {
            prop_assert!(scope.check(&seed, &target, &one).in_scope, "{:?} {:?}", one, other);
        }
    }
}
