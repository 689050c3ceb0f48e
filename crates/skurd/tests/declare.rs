//! Declaring things live: `config apply`, and `seed|profile|collection|host-group` with their
//! verbs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use serde_json::json;
use testkit::world::World;

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");

const CONFIG: &str = "
collections: [{name: news}]
profiles:
  - {name: daily, collection: news, every: 1d}
  - {name: weekly, collection: news, every: 7d}
seeds:
  - {url: 'https://vg.no/', name: vg, profiles: [daily]}
  - {url: 'https://nrk.no/', profiles: [daily, weekly]}
host_groups: [{name: 'group:x', hosts: [a.no]}]
hosts: [{host: slow.no, politeness: {min: 10s}}]
";

#[test]
fn i1_a_config_is_applied_and_says_what_changed() {
    let world = World::empty(SKURD);
    world.write("c.yaml", CONFIG);
    let added = world.good(&["config", "apply", "c.yaml"]);
    assert!(added.contains("seed            2        0          0        0\n"), "{added}");
    assert!(world.good(&["config", "apply", "c.yaml"]).ends_with("everything was as c.yaml says\n"));

    world.write("c.yaml", &CONFIG.replace("every: 7d", "every: 14d").replace("name: vg, ", ""));
    let counts = world.json(&["config", "apply", "c.yaml"]);
    let of = |kind: &str| counts.iter().find(|count| count["kind"] == kind).unwrap().clone();
    assert_eq!(
        of("profile"),
        json!({"kind": "profile", "added": 0, "changed": 1, "unchanged": 1, "deleted": 0})
    );
    assert_eq!(of("seed"), json!({"kind": "seed", "added": 1, "changed": 0, "unchanged": 1, "deleted": 0}));
    assert_eq!(world.json(&["seed", "list"]).len(), 3, "without --prune nothing goes");

    let counts = world.json(&["config", "apply", "c.yaml", "--prune"]);
    assert_eq!(counts.iter().map(|count| count["deleted"].as_u64().unwrap()).sum::<u64>(), 1);
    world.write("c.yaml", "settings: {on_time: 1m}\n");
    world.good(&["config", "apply", "c.yaml", "--prune"]);
    for kind in ["seed", "profile", "collection", "host-group"] {
        assert!(world.json(&[kind, "list"]).is_empty(), "{kind}");
    }
}

#[test]
fn i1_a_wrong_config_changes_nothing() {
    let world = World::declared(SKURD, CONFIG);
    world.write("bad.yaml", "collections: [{nam: x}]\n");
    let told = world.skurd(&["config", "apply", "bad.yaml", "--prune"]);
    assert!(told.code == Some(1) && told.err.contains("bad.yaml:1:"), "{told:?}");
    assert_eq!(world.json(&["seed", "list"]).len(), 2);
}

#[test]
fn i1_things_are_added_switched_and_deleted() {
    let world = World::empty(SKURD);
    let steps: [(&[&str], &str); 17] = [
        (&["collection", "add", "news", "--warc-prefix", "N"], "collection news is added\n"),
        (&["collection", "add", "shops", "--engine", "browser"], "collection shops is added\n"),
        (
            &[
                "profile",
                "add",
                "daily",
                "--collection",
                "news",
                "--every",
                "1d",
                "--ttl",
                "30d",
                "--max-depth",
                "3",
            ],
            "profile daily is added\n",
        ),
        (&["seed", "add", "https://VG.no", "--profile", "daily"], "seed https://vg.no/ is added\n"),
        (&["seed", "disable", "https://vg.no"], "seed https://vg.no/ is switched off\n"),
        (&["seed", "disable", "https://vg.no/"], "seed https://vg.no/ is switched off already\n"),
        (&["seed", "enable", "https://vg.no/"], "seed https://vg.no/ is active\n"),
        (&["profile", "disable", "daily"], "profile daily is switched off\n"),
        (&["collection", "disable", "news"], "collection news is switched off\n"),
        (
            &["host-group", "add", "group:x", "--host", "www.A.no", "--delay", "2s..1m", "--parallel", "2"],
            "host group group:x is added\n",
        ),
        (
            &["seed", "add", "https://vg.no/", "--profile", "daily", "--inactive", "--replace"],
            "seed https://vg.no/ is replaced\n",
        ),
        (&["host-group", "delete", "group:x"], "host group group:x is deleted\n"),
        (
            &[
                "host",
                "add",
                "www.B.no",
                "--window",
                "21:00-05:00",
                "--timezone",
                "Europe/Oslo",
                "--max-bytes",
                "5MB",
            ],
            "host b.no is added\n",
        ),
        (
            &["host", "add", "b.no", "--delay", "2s..1m", "--max-harvests", "7", "--replace"],
            "host b.no is replaced\n",
        ),
        (
            &["host", "list"],
            "host  parallel  delay   windows  budget\nb.no         1  2s..1m           max_harvests 7\n",
        ),
        (&["host", "delete", "b.no"], "host b.no is deleted\n"),
        (
            &["profile", "delete", "daily", "--sweep"],
            "profile daily is deleted\n1 seed still names it\n0 URLs removed from the queue\n",
        ),
    ];
    for (args, expected) in steps {
        assert_eq!(world.good(args), expected, "{args:?}");
    }
    assert!(world.good(&["seed", "delete", "https://vg.no/"]).contains("--sweep removes them now"));
}

/// F36, F38: budget and windows of single hosts and of groups, as the config file would say them.
#[test]
fn f36_f38_hosts_and_groups_are_declared_with_budgets_and_windows() {
    let world = World::declared(SKURD, CONFIG);
    let own = [
        "--window",
        "21:00-05:00,sat",
        "--timezone",
        "Europe/Oslo",
        "--parallel",
        "2",
        "--max-duration",
        "1h",
    ];
    world.good(&[&["host", "add", "b.no"], &own[..]].concat());
    world.good(&[&["host-group", "add", "group:n", "--host", "c.no"], &own[..]].concat());
    for thing in
        [&world.json(&["host", "show", "b.no"])[0], &world.json(&["host-group", "show", "group:n"])[0]]
    {
        assert_eq!(
            thing["windows"],
            json!([{"from": "21:00", "to": "05:00", "weekdays": ["sat"]}]),
            "{thing}"
        );
        let found = (&thing["timezone"], &thing["budget"]["max_duration"], &thing["politeness"]["parallel"]);
        assert_eq!(found, (&json!("Europe/Oslo"), &json!("1h"), &json!(2)), "{thing}");
    }
    let told = world.skurd(&["host", "add", "c.no", "--parallel", "3"]);
    assert!(told.code == Some(1) && told.err.contains("whose politeness counts"), "{told:?}");
    let told = world.skurd(&["host", "add", "b.no", "--parallel", "3"]);
    assert!(told.code == Some(1) && told.err.contains("--replace replaces it"), "{told:?}");
}

#[test]
fn i2_things_are_listed_and_shown() {
    let world = World::declared(SKURD, CONFIG);
    assert_eq!(
        world.good(&["seed", "list"]),
        "name             active  profiles       url\n\
         https://nrk.no/  yes     daily, weekly  https://nrk.no/\n\
         vg               yes     daily          https://vg.no/\n"
    );
    let budget = json!({"max_urls": null, "max_harvests": null, "max_bytes": null, "max_duration": null});
    let seed = json!({"name": "vg", "url": "https://vg.no/", "active": true, "profiles": ["daily"], "budget": budget});
    assert_eq!(world.json(&["seed", "show", "vg"]), std::slice::from_ref(&seed));
    assert_eq!(world.json(&["seed", "show", "HTTPS://VG.no/a/.."]), [seed], "by another spelling of its URL");
    assert_eq!(world.json(&["profile", "show", "weekly"])[0]["every"], "1w");
}

#[test]
fn i3_what_is_shown_can_be_applied_again() {
    let world = World::declared(SKURD, CONFIG);
    let entry = |kind: &str, name: &str| {
        let shown = world.good(&[kind, "show", name]);
        shown
            .lines()
            .enumerate()
            .map(|(n, line)| format!("  {} {line}\n", if n == 0 { '-' } else { ' ' }))
            .collect::<String>()
    };
    let config = format!(
        "collections:\n{}profiles:\n{}{}seeds:\n{}host_groups:\n{}",
        entry("collection", "news"),
        entry("profile", "daily"),
        entry("profile", "weekly"),
        entry("seed", "vg"),
        entry("host-group", "group:x")
    );
    world.write("again.yaml", &config);
    let counts = world.json(&["config", "apply", "again.yaml"]);
    let changed: u64 =
        counts.iter().map(|c| c["changed"].as_u64().unwrap() + c["added"].as_u64().unwrap()).sum();
    assert_eq!(changed, 0, "{counts:?}\n{config}");
}

/// B1, B2: what is shown of a browser, in YAML, is applied again without a change; what is not said
/// stays as it is by default.
#[test]
fn b2_a_browser_that_is_shown_can_be_applied_again() {
    let world = World::empty(SKURD);
    let browser = "
settings: {browser: {path: /opt/chrome, sandbox: off, tabs: 3}}
collections:
  - name: news
    engine: browser
    browser:
      language: nb-NO,nb
      timezone: Europe/Oslo
      viewport: {width: 390}
      device: {touch: yes, scale: 2.5}
      behaviours: {click: 'a[title=\"#1: more\"]'}
      screenshot: none
      limits: {total: 2m, media_bytes: 5MB}
";
    world.write("c.yaml", browser);
    world.good(&["config", "apply", "c.yaml"]);
    let own = &world.json(&["collection", "show", "news"])[0];
    assert_eq!((&own["engine"], &own["browser"]["screenshot"]), (&json!("browser"), &json!("none")));
    assert_eq!(own["browser"]["viewport"], json!({"width": 390, "height": 1024}));
    assert_eq!(own["browser"]["limits"]["load"], "30s");
    let shown = world.good(&["collection", "show", "news"]).replace('\n', "\n    ");
    world.write("again.yaml", &format!("collections:\n  - {shown}"));
    let count = |file: &str, kind: &str| {
        let counts = world.json(&["config", "apply", file]);
        counts.into_iter().find(|count| count["kind"] == kind).unwrap()["unchanged"].clone()
    };
    assert_eq!(count("again.yaml", "collection"), 1, "{shown}");
    assert_eq!(count("c.yaml", "collection"), 1);
    world.good(&["collection", "add", "plain", "--engine", "http"]);
    assert_eq!(
        world.good(&["collection", "list"]),
        "name   active  profiles  engine   warc prefix\n\
         news   yes            0  browser  –\n\
         plain  yes            0  http     –\n"
    );
}

#[test]
fn i1_every_subcommand_has_examples() {
    let world = World::empty(SKURD);
    let mut commands: Vec<Vec<&str>> =
        ["start", "queue", "hosts", "blacklist", "why"].map(|c| vec![c]).to_vec();
    for kind in ["seed", "profile", "collection", "host-group", "host"] {
        commands.extend(["add", "list", "show", "delete"].map(|verb| vec![kind, verb]));
    }
    for kind in ["seed", "profile", "collection"] {
        commands.extend(["enable", "disable"].map(|verb| vec![kind, verb]));
    }
    commands.extend(["list", "add", "lift"].map(|verb| vec!["blacklist", verb]));
    commands.extend(["contract", "domains", "errors", "feasibility"].map(|report| vec!["report", report]));
    commands.push(vec!["config", "apply"]);
    for command in commands {
        let help = world.good(&[command.as_slice(), &["--help"]].concat());
        assert!(help.contains("Examples:\n  skurd "), "{command:?}: {help}");
    }
}

#[test]
fn i1_imported_seeds_are_declared() {
    let world = World::declared(SKURD, CONFIG);
    world.write("list.txt", "db.no\nnrk.no\n");
    let import = ["import", "urls", "list.txt", "--data", "skurd-data", "--profile", "daily"];
    assert_eq!(world.good(&import), "seeds: 1 added, 0 changed, 1 unchanged\n");
    assert_eq!(world.good(&import), "seeds: 0 added, 0 changed, 2 unchanged\n");
    let weekly = world.json(&["import", "urls", "list.txt", "--data", "skurd-data", "--profile", "weekly"]);
    assert_eq!(weekly, [json!({"added": 0, "changed": 1, "unchanged": 1})]);
    assert_eq!(world.json(&["seed", "show", "https://db.no/"])[0]["profiles"], json!(["daily", "weekly"]));
    let told = world.skurd(&["import", "urls", "list.txt", "--data", "skurd-data", "--profile", "x"]);
    assert!(
        told.code == Some(1) && told.err.contains("there is no profile `x`\nhint: there are: daily, weekly"),
        "{told:?}"
    );
}
