//! Wrong input: what was wrong, what would be right, and the exit code.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

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
fn i1_wrong_input_says_what_would_be_right() {
    let world = World::declared(SKURD, CONFIG);
    world.write("beans.cxml", "\u{feff}<?xml version=\"1.0\"?>\n<beans/>\n");
    world.write(
        "seeds.json",
        "{\"kind\": \"seed\", \"apiVersion\": \"v1\", \"meta\": {\"name\": \"https://a.no/\"}}",
    );
    let table: [(&[&str], i32, &str); 25] = [
        (
            &["seed", "show", "https://nrk.com/"],
            1,
            "error: there is no seed `https://nrk.com/`\nhint: did you mean `https://nrk.no/`?\n",
        ),
        (
            &["seed", "add", "vg.no", "--profile", "daily"],
            1,
            "error: `vg.no` has no scheme\nhint: write `https://vg.no/`\n",
        ),
        (
            &["seed", "add", "https://x.no/", "--profile", "daly"],
            1,
            "error: there is no profile `daly`\nhint: did you mean `daily`?\n",
        ),
        (
            &["seed", "add", "https://nrk.no", "--profile", "daily"],
            1,
            "error: there is a seed `https://nrk.no/` already\nhint: --replace replaces it; `skurd seed show` shows it\n",
        ),
        (&["seed", "add", "https://x.no/"], 2, "--profile <NAME>"),
        (
            &["profile", "add", "p", "--collection", "other", "--every", "1d"],
            1,
            "error: there is no collection `other`\nhint: there is: news\n",
        ),
        (
            &["profile", "add", "p", "--collection", "news", "--every", "1"],
            2,
            "hint: say of what: 1s, 1m, 1h or 1d",
        ),
        (&["profile", "add", "p", "--collection", "news", "--every", "0s"], 2, "it must be longer than zero"),
        (
            &["profile", "add", " p", "--collection", "news", "--every", "1d"],
            2,
            "begins or ends with a blank",
        ),
        (
            &["profile", "add", "p", "--collection", "news", "--every", "1d", "--exclude", "x"],
            2,
            "write host:HOST",
        ),
        (
            &["profile", "add", "p", "--collection", "news", "--every", "1d", "--robots", "x"],
            2,
            "write obey, ignore or as:AGENT",
        ),
        (
            &["host-group", "add", "x", "--host", "b.no"],
            2,
            "hint: put a colon, slash or blank into it: `group:x`",
        ),
        (
            &["host-group", "add", "group:y", "--host", "a.no"],
            1,
            "host `a.no` is in host group `group:x` already\nhint: ",
        ),
        (
            &["host-group", "add", "group:y", "--host", "b.no", "--delay", "2s..1s"],
            2,
            "the shortest delay is longer",
        ),
        (&["host-group", "enable", "group:x"], 2, "unrecognized subcommand 'enable'"),
        (&["collection", "delete", "nevs"], 1, "hint: did you mean `news`?\n"),
        (
            &["queue", "--data", "nowhere"],
            1,
            "cannot open nowhere: No such file or directory (os error 2)\nhint: `skurd config apply FILE --data nowhere` makes one\n",
        ),
        (
            &["crawl", "nothing.yaml"],
            1,
            "error: cannot read nothing.yaml: No such file or directory (os error 2)\nhint: `skurd config example > nothing.yaml` writes one to begin with\n",
        ),
        (
            &["start", "daily"],
            2,
            "`daily`: of what is this the name?\nhint: --seed daily, --profile daily or ",
        ),
        (&["serve", "--listen", "here"], 2, "write 127.0.0.1:8642, [::1]:8642, or a port alone"),
        (
            &["serve", "--data", "/proc/none", "--listen", "0"],
            1,
            "error: cannot create /proc/none: No such file or directory (os error 2)\nhint: give a directory that can be made there",
        ),
        (&["serve", "--data", "other", "--listen", "192.0.2.1:1"], 2, "can be reached by others"),
        (
            &["config", "check", "beans.cxml"],
            1,
            "this is XML, and a config is YAML\n  hint: crawler-beans.cxml of Heritrix is imported",
        ),
        (
            &["config", "check", "seeds.json"],
            1,
            "hint: objects of Veidemann are imported: `skurd import veidemann",
        ),
        (&["queue", "--state", "waiting"], 2, "[possible values: queued, in-flight, done, blacklisted]"),
    ];
    for (args, code, expected) in table {
        let told = world.skurd(args);
        assert!(told.code == Some(code) && told.err.contains(expected), "{args:?}: {told:?}");
        assert!(told.out.is_empty() && told.err.starts_with("error: "), "{args:?}: {told:?}");
    }
}

#[test]
fn i1_a_port_that_is_taken_is_told() {
    let world = World::declared(SKURD, CONFIG);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let told = world.skurd(&[
        "serve",
        "--listen",
        &port,
        "--allow-net",
        "127.0.0.0/8",
        "--resolve",
        "*.no=127.0.0.1:1",
    ]);
    let expected = format!("error: cannot listen at 127.0.0.1:{port}: something else listens there\nhint: ");
    assert!(told.code == Some(1) && told.err.contains(&expected), "{told:?}");
}

#[test]
fn i1_a_directory_in_use_is_told() {
    let world = World::declared(SKURD, CONFIG);
    let store = store::Store::open(&world.data(), &store::Options::default()).unwrap();
    for args in [["queue"].as_slice(), &["seed", "list"], &["config", "apply", "c.yaml"]] {
        let told = world.skurd(args);
        let expected =
            format!("error: ./skurd-data is in use by process {}\nhint: stop it, ", std::process::id());
        assert!(told.code == Some(1) && told.err.starts_with(&expected), "{args:?}: {told:?}");
    }
    drop(store);
}

const STARTABLE: &str = "
collections: [{name: news}, {name: law}]
profiles:
  - {name: daily, collection: news, every: 1d}
  - {name: once, collection: news, every: 1d, length: 1}
  - {name: weekly, collection: law, every: 7d}
  - {name: idle, collection: law, every: 7d}
seeds:
  - {url: 'https://vg.no/', name: vg, profiles: [daily, weekly]}
  - {url: 'https://once.no/', name: once, profiles: [once]}
  - {url: 'https://www.nrk.no:8443/a', name: nrk, profiles: [daily]}
";

#[test]
fn f1_what_cannot_be_started_is_told() {
    let world = World::declared(SKURD, STARTABLE);
    for (args, expected) in [
        (vec!["start", "--seed", "onec"], "there is no seed `onec`\nhint: did you mean `once`?\n"),
        (
            vec!["start", "--seed", "vg", "--profile", "once"],
            "seed `vg` does not have profile `once`\nhint: it has: daily, weekly\n",
        ),
        (
            vec!["start", "--profile", "idle"],
            "nothing to start: profile `idle` has no seeds\nhint: `skurd seed add URL --profile idle` adds one\n",
        ),
        (vec!["start", "--collection", "lav"], "there is no collection `lav`\nhint: did you mean `law`?\n"),
    ] {
        let told = world.skurd(&args);
        assert_eq!((told.code, told.err), (Some(1), format!("error: {expected}")), "{args:?}");
    }
    let world = World::declared(SKURD, "settings: {}\n");
    let told = world.skurd(&["start"]);
    assert!(
        told.code == Some(1) && told.err.starts_with("error: nothing to start: no seed is declared\nhint: "),
        "{told:?}"
    );
    assert_eq!(world.skurd(&["start", "--seed", "a", "--collection", "b"]).code, Some(2));
}
