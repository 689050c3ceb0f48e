//! What is shown can be put back, and what is wrong with a body has its place.

use serde_json::json;

use super::*;

fn catalog() -> Catalog {
    let text = "
settings: {session_ids: [sid], contact: 'https://a.test/', on_time: 0s, robots_cache: 90m}
collections: [{name: c, user_agent: 'x/1', headers: {A: b}, cookies: [{host: vg.no, name: a, value: b}], warc_prefix: P, index: no}, {name: d}]
profiles:
  - {name: daily, collection: c, every: 1d12h, length: 3, ttl: 4w, robots: {as: Bot}, scope: {within: host, max_depth: 3, include: [{regex: 'a\\d'}], exclude: [{host: '*.x.no'}, {prefix: vg.no/a}], schemes: [https]}, limits: {blacklist_for: 30d, max_bytes: 5MB}}
  - {name: plain, collection: d, every: 1h, robots: ignore, active: no}
seeds: [{url: 'https://vg.no/', name: 'a \"seed\": #1', profiles: [daily, plain]}, {url: 'https://nrk.no/?sid=1', profiles: [plain], active: no}]
host_groups: [{name: 'group:a', hosts: [a.no, b.no], politeness: {min: 0s, max: 1m, factor: 0.5, parallel: 2}}]
hosts: [{host: h.no, politeness: {parallel: 3}, proxy: 'socks5://u:p@192.0.2.8:1080', windows: [{from: '21:00', to: '05:00'}], timezone: Europe/Oslo, budget: {max_bytes: 5MB}}]
";
    let mut catalog = Catalog::new();
    for change in crate::parse("t", text.as_bytes()).unwrap().into_changes() {
        catalog.apply(change).unwrap();
    }
    catalog
}

#[test]
fn i4_what_is_shown_can_be_put_back_and_is_the_same() {
    let catalog = catalog();
    for kind in [Kind::Seed, Kind::Profile, Kind::Collection, Kind::Group, Kind::Host] {
        for name in kind.names(&catalog) {
            let before = shown(&catalog, kind, name);
            let mut again = self::catalog();
            again.apply(read(&catalog, kind, name, before.clone()).unwrap()).unwrap();
            assert_eq!(shown(&again, kind, name), before);
            match kind {
                Kind::Seed => {
                    assert_eq!(again.seed(name).unwrap().seed, catalog.seed(name).unwrap().seed);
                }
                Kind::Profile => assert_eq!(again.profile(name), catalog.profile(name)),
                Kind::Collection => assert_eq!(again.collection(name), catalog.collection(name)),
                Kind::Group => assert_eq!(again.group(name), catalog.group(name)),
                Kind::Host => assert_eq!(again.host_override(name), catalog.host_override(name)),
            }
        }
    }
    let shown = written(catalog.settings());
    assert_eq!(read_settings(&shown).unwrap(), *catalog.settings());
}

#[test]
fn i4_problems_point_to_the_field() {
    let catalog = catalog();
    let table = [
        (Kind::Seed, json!({}), "", "url"),
        (Kind::Seed, json!({"url": "ftp://a", "profiles": ["daily"]}), "/url", ""),
        (Kind::Seed, json!({"url": "https://a.no/", "profiles": ["dayly"]}), "/profiles/0", "daily"),
        (Kind::Seed, json!({"url": "https://a.no/", "profiles": ["daily", "daily"]}), "/profiles/1", "twice"),
        (
            Kind::Seed,
            json!({"url": "https://a.no/", "profiles": ["daily"], "activ": true}),
            "/activ",
            "active",
        ),
        (
            Kind::Seed,
            json!({"url": "https://a.no/", "profiles": ["daily"], "name": "other"}),
            "/name",
            "other",
        ),
        (
            Kind::Seed,
            json!({"url": "http://a.no/", "profiles": ["daily"]}),
            "/url",
            "`daily`: scheme http is not allowed",
        ),
        (Kind::Profile, json!({"collection": "c", "every": "soon"}), "/every", ""),
        (Kind::Profile, json!({"collection": "x", "every": "1d"}), "/collection", "x"),
        (
            Kind::Profile,
            json!({"collection": "c", "every": "1d", "scope": {"include": [{"host": "a.no"}, {"regex": "["}]}}),
            "/scope/include/1/regex",
            "",
        ),
        (Kind::Profile, json!({"extends": "daily"}), "/extends", "daily"),
        (Kind::Collection, json!({"a/b~": 1}), "/a~1b~0", ""),
        (Kind::Group, json!({"hosts": ["c.no", "b.no"]}), "/hosts/1", "group:a"),
    ];
    for (kind, body, pointer, word) in table {
        let name = if kind == Kind::Group { "group:new" } else { "new" };
        let problem = read(&catalog, kind, name, body.clone()).expect_err(&body.to_string());
        assert_eq!(problem.0[0].pointer, pointer, "{body}: {problem:?}");
        assert!(format!("{problem:?}").contains(word), "{body}: {problem:?}");
    }
    assert!(read(&catalog, Kind::Collection, "", json!({})).is_err());
    for (host, body, pointer, part) in [
        ("a.no", json!({"politeness": {"parallel": 2}}), "/host", "group"),
        ("www.h.no", json!({"politeness": {"parallel": 2}}), "/host", "h.no"),
        ("h.no", json!({"politeness": {"paralel": 2}}), "/politeness/paralel", "parallel"),
        ("h.no", json!({"budget": {"max_bytes": "0B"}}), "/budget/max_bytes", ""),
    ] {
        let problem = read(&catalog, Kind::Host, host, body).unwrap_err().0.remove(0);
        assert_eq!(problem.pointer, pointer, "{problem:?}");
        assert!(problem.what.contains(part) || problem.hint.contains(part), "{problem:?}");
    }
    assert!(read(&catalog, Kind::Group, "no.group", json!({"hosts": ["x.no"]})).is_err());
    assert_eq!(
        read_settings(&json!({"politeness": {"min": "1m", "max": "1s"}})).unwrap_err().0[0].pointer,
        "/politeness/max"
    );
}

#[test]
fn i4_all_problems_of_a_body_are_told_in_its_order() {
    let catalog = catalog();
    let body = json!({"url": "ftp://a", "profiles": ["dayly", "plain", "plain"], "activ": true});
    let problems = read(&catalog, Kind::Seed, "new", body).unwrap_err().0;
    let told: Vec<(&str, &str)> =
        problems.iter().map(|field| (field.pointer.as_str(), field.hint.as_str())).collect();
    assert_eq!(told.len(), 4, "{told:?}");
    assert_eq!(told[0], ("/activ", "did you mean `active`?"));
    assert_eq!(told[1], ("/profiles/0", "did you mean `daily`?"));
    assert_eq!(told[2], ("/profiles/2", "name it once"));
    assert_eq!(told[3].0, "/url");
    let twice = json!({"hosts": ["c.no", "d.no", "WWW.C.no"]});
    let problems = read(&catalog, Kind::Group, "group:new", twice).unwrap_err().0;
    assert_eq!(problems[0].hint, "it is in `group:new` at /hosts/0 too");
}
