//! Starting, and looking at the queue, the hosts and the blacklist.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::process::Command;

use policy::time::Span;
use serde_json::{Value, json};
use testkit::world::{World, now, page};

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");

const CONFIG: &str = "
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

fn urls(rows: &[Value]) -> Vec<String> {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    rows.iter().map(|row| format!("{} {}", text(row, "collection"), text(row, "url"))).collect()
}

#[test]
fn f1_f3_starting_queues_seeds_once_per_collection() {
    let world = World::declared(SKURD, CONFIG);
    assert_eq!(world.good(&["start", "--seed", "vg"]), "run 1: started seed vg: 2 seeds, 2 queued\n");
    assert_eq!(urls(&world.json(&["queue"])), ["law https://vg.no/", "news https://vg.no/"]);
    let started = world.json(&["start", "--profile", "daily"]);
    assert_eq!(started, [json!({"run": 2, "started": "profile daily", "seeds": 2, "changed": 2})]);
    assert_eq!(
        world.good(&["start"]),
        "run 3: started collection law: 1 seed, 1 queued\nrun 4: started collection news: 3 seeds, 3 queued\n"
    );
    assert_eq!(world.json(&["queue"]).len(), 4);
}

#[test]
fn f1_a_seed_is_started_in_the_context_of_the_profiles_named() {
    let world = World::declared(SKURD, CONFIG);
    world.good(&["start", "--seed", "https://vg.no", "--profile", "weekly"]);
    assert_eq!(urls(&world.json(&["queue"])), ["law https://vg.no/"]);
}

/// The queue with a URL in each state: vg.no harvested, nrk.no in flight, once.no done, vg.no/a
/// blacklisted.
fn lively() -> World {
    let world = World::declared(SKURD, CONFIG);
    world.good(&["start", "--collection", "news"]);
    let at = now().plus(Span::minutes(1));
    world.work(at, async |frontier, _| {
        for order in frontier.reserve(10).await.unwrap().orders {
            if order.host != "nrk.no" {
                let report = page(at, 200, &["https://vg.no/a", "http://vg.no/b"]);
                frontier.complete(&order, &report, &[]).await.unwrap();
            }
        }
    });
    world.good(&["blacklist", "add", "https://vg.no/a", "--reason", "a trap", "--for", "7d"]);
    world
}

#[test]
fn i2_queue_prints_the_fields_that_scripts_rely_on() {
    let world = lively();
    let rows = world.json(&["queue"]);
    let fields = [
        "collection",
        "cycles",
        "depth",
        "due",
        "errors",
        "hops",
        "host",
        "last_fetch",
        "not_found",
        "seed",
        "state",
        "url",
    ];
    for row in &rows {
        assert_eq!(row.as_object().unwrap().keys().collect::<Vec<_>>(), fields);
    }
    let of = |url: &str| rows.iter().find(|row| row["url"] == url).unwrap();
    let vg = of("https://vg.no/");
    assert_eq!(
        (&vg["state"], &vg["host"], &vg["seed"], &vg["cycles"]),
        (&json!("queued"), &json!("vg.no"), &json!("vg"), &json!(1))
    );
    let is_time = |value: &Value| value.as_str().is_some_and(|text| text.len() == 20 && text.ends_with('Z'));
    assert!(is_time(&vg["due"]) && is_time(&vg["last_fetch"]), "{vg}");
    assert_eq!(
        (&of("http://vg.no/b")["depth"], &of("http://vg.no/b")["last_fetch"]),
        (&json!(1), &Value::Null)
    );
    assert_eq!(of("https://www.nrk.no:8443/a")["state"], "in-flight");
    let done = of("https://once.no/");
    assert_eq!((&done["state"], &done["due"], &done["seed"]), (&json!("done"), &Value::Null, &Value::Null));
    assert_eq!(
        (&of("https://vg.no/a")["state"], &of("https://vg.no/a")["due"]),
        (&json!("blacklisted"), &Value::Null)
    );
}

#[test]
fn i2_the_queue_is_filtered() {
    let world = lively();
    let table: [(&[&str], &[&str]); 9] = [
        (&["--state", "done"], &["news https://once.no/"]),
        (&["--state", "in-flight"], &["news https://www.nrk.no:8443/a"]),
        (&["--state", "blacklisted"], &["news https://vg.no/a"]),
        (&["--state", "queued"], &["news http://vg.no/b", "news https://vg.no/"]),
        (&["--host", "www.VG.no"], &["news http://vg.no/b", "news https://vg.no/", "news https://vg.no/a"]),
        (&["--host", "vg.no", "--state", "blacklisted"], &["news https://vg.no/a"]),
        (&["--host", "nrk.no"], &["news https://www.nrk.no:8443/a"]),
        (&["--collection", "law"], &[]),
        (&["--limit", "1"], &["news http://vg.no/b"]),
    ];
    for (filter, expected) in table {
        assert_eq!(urls(&world.json(&[&["queue"], filter].concat())), expected, "{filter:?}");
    }
    let table = world.good(&["queue", "--state", "done"]);
    assert_eq!(
        table,
        "state  due  last fetch  depth  errors  cycles  collection  seed  url\n\
         done   –    –               –       –       –  news        –     https://once.no/\n"
    );
    let told = world.skurd(&["queue", "--collection", "law"]);
    assert_eq!((told.code, told.out.as_str()), (Some(0), ""));
    assert!(told.err.contains("no URL is there"));
    assert!(world.skurd(&["queue", "--collection", "lav"]).err.contains("did you mean `law`?"));
}

#[test]
fn f5_hosts_say_whether_they_are_busy() {
    let world = lively();
    let busy = world.json(&["hosts", "--busy"]);
    assert_eq!(busy.len(), 1);
    assert_eq!(busy[0]["host"], "nrk.no");
    assert_eq!(busy[0]["in_flight"], json!(["https://www.nrk.no:8443/a"]));
    assert!(busy[0]["busy_until"].is_string() && busy[0]["next"].is_null(), "{busy:?}");
    let all = world.json(&["hosts"]);
    let vg = all.iter().find(|host| host["host"] == "vg.no").unwrap();
    assert_eq!(
        (&vg["response_ms"], &vg["failures"], &vg["busy_until"]),
        (&json!(120), &json!(0), &Value::Null)
    );
    assert!(world.good(&["hosts"]).starts_with("host "));
}

#[test]
fn f21_the_blacklist_is_listed_and_lifted() {
    let world = lively();
    let list = world.json(&["blacklist"]);
    assert_eq!(list, world.json(&["blacklist", "list", "--collection", "news"]));
    assert_eq!(
        (&list[0]["url"], &list[0]["reason"]),
        (&json!("https://vg.no/a"), &json!("operator: a trap"))
    );
    assert!(list[0]["until"].is_string());
    assert_eq!(
        world.good(&["blacklist", "lift", "https://vg.no/a"]),
        "https://vg.no/a is back in the queue in news\n"
    );
    assert!(world.json(&["blacklist"]).is_empty());
    assert_eq!(world.json(&["queue", "--state", "queued"]).len(), 3);
    for args in [
        ["blacklist", "lift", "https://vg.no/a"].as_slice(),
        &["blacklist", "add", "https://x.no/", "--reason", "r"],
    ] {
        let told = world.skurd(args);
        assert!(
            told.code == Some(1) && told.err.contains(" in any collection\nhint: `skurd why "),
            "{told:?}"
        );
    }
    assert_eq!(world.skurd(&["blacklist", "add", "https://vg.no/"]).code, Some(2), "a reason is needed");
    assert!(
        world
            .skurd(&["blacklist", "add", "vg.no", "--reason", "r"])
            .err
            .contains("hint: write `https://vg.no/`")
    );
}

#[test]
fn f15_a_url_is_moved_to_another_time() {
    let world = lively();
    let due = || world.json(&["queue", "--state", "queued", "--host", "vg.no"])[0]["due"].clone();
    let before = due();
    let told = world.good(&["queue", "move", "http://vg.no/b", "--to", "3d"]);
    assert!(told.contains("http://vg.no/b is due "), "{told}");
    assert_ne!(due(), before);
    assert_eq!(world.skurd(&["queue", "move", "https://vg.no/", "--to", "soon"]).code, Some(2));
    let told = world.skurd(&["queue", "move", "https://nobody.no/", "--to", "2d"]);
    assert!(told.code == Some(1) && told.err.contains("is not queued in any collection"), "{told:?}");
}

#[test]
fn i2_a_reader_that_stops_early_is_no_failure() {
    let world = World::declared(SKURD, CONFIG);
    world.good(&["start"]);
    let script = format!("set -o pipefail; '{}' queue --json | true", env!("CARGO_BIN_EXE_skurd"));
    let output = Command::new("bash").current_dir(world.dir.path()).args(["-c", &script]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn i2_long_queues_are_printed_page_by_page() {
    let seeds: String =
        (0..2500).map(|n| format!("  - {{url: 'https://s{n}.no/', profiles: [p]}}\n")).collect();
    let world = World::declared(
        SKURD,
        &format!(
            "collections: [{{name: c}}]\nprofiles: [{{name: p, collection: c, every: 1d}}]\nseeds:\n{seeds}"
        ),
    );
    world.good(&["start", "--profile", "p"]);
    assert_eq!(world.json(&["queue"]).len(), 2500);
    assert_eq!(world.json(&["queue", "--limit", "1500"]).len(), 1500);
    assert_eq!(world.good(&["hosts"]).lines().count(), 2501);
}

#[test]
fn f7_store_check_reports_what_does_not_fit() {
    let world = lively();
    assert_eq!(world.skurd(&["store", "check", "skurd-data"]).code, Some(0));
    world.work(now(), async |frontier, _| {
        let tx = frontier.store().begin().await.unwrap();
        frontier::schema::URLS.delete(&tx, ("news", "https://vg.no/")).unwrap();
        frontier.store().commit(&tx).await.unwrap();
    });
    let told = world.skurd(&["store", "check", "skurd-data"]);
    assert!(
        told.code == Some(1) && told.out.contains("https://vg.no/ is in the queue without a record\n"),
        "{told:?}"
    );
    // And it was counted: among the URLs of its collection and of its run, in what its host has to do,
    // and twice among what is promised.
    assert_eq!(told.out.lines().filter(|line| line.starts_with("counters of ")).count(), 5, "{}", told.out);
    assert_eq!(told.err, "error: skurd-data is not sound: 6 contradictions between its tables\n");
    assert!(world.skurd(&["store", "check", "skurd-data", "--json"]).out.contains("{\"finding\":"));
}
