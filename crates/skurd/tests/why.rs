//! `skurd why`: every rule that can decide about a URL, each seen from stored state.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use frontier::ports::Fetch;
use policy::time::Span;
use serde_json::{Value, json};
use testkit::world::{World, failure, now, page};

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");

const CONFIG: &str = "
collections: [{name: news}]
profiles:
  - {name: daily, collection: news, every: 1d, scope: {max_depth: 1}}
  - {name: once, collection: news, every: 1d, length: 1}
seeds:
  - {url: 'https://vg.no/', name: vg, profiles: [daily]}
  - {url: 'https://once.no/', name: once, profiles: [once]}
";

fn started() -> World {
    let world = World::declared(SKURD, CONFIG);
    world.good(&["start"]);
    world
}

fn why(world: &World, url: &str) -> Value {
    let mut all = world.json(&["why", url]);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// The rule that decides and what it says.
fn verdict(world: &World, url: &str) -> (String, String) {
    let why = why(world, url);
    let text = |key: &str| why["verdict"][key].as_str().unwrap().to_owned();
    (text("rule"), text("text"))
}

#[test]
fn i2_why_has_the_fields_that_scripts_rely_on() {
    let why = why(&started(), "https://VG.no");
    for (field, expected) in [
        ("collection", json!("news")),
        ("url", json!("https://vg.no/")),
        ("situation", json!("queued")),
        ("seed", json!("vg")),
        ("best_seed", json!("vg")),
    ] {
        assert_eq!(why[field], expected, "{field}");
    }
    assert!(
        why["due"].is_string() && why["verdict"]["rule"].is_string() && why["host"]["next"].is_string(),
        "{why}"
    );
    let rules: Vec<&str> =
        why["steps"].as_array().unwrap().iter().map(|step| step["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["F9", "F10", "F11", "F12", "F34", "F13", "F14", "F15", "F16", "F16", "F16"]);
}

#[test]
fn i1_why_reads_like_an_explanation() {
    let text = started().good(&["why", "https://vg.no/"]);
    for expected in [
        "https://vg.no/ in collection news\n  situation  queued, due ",
        "\n  seed       vg (the best match)\n",
        "\n  history    never fetched; run 1: 0 cycles",
        "\n  host       vg.no, can be asked now\n",
        "\n    F11  seed `vg` is active\n",
        "to be harvested now for daily\n",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn f9_to_f14_what_is_gone_or_switched_off_decides() {
    let table: [(&str, &[&str], &str, &str); 6] = [
        ("F9", &["seed", "delete", "vg"], "F9", "to be removed"),
        ("F10", &["collection", "delete", "news"], "F10", "to be removed"),
        ("F11", &["seed", "disable", "vg"], "F11", "not harvested; looked at again at "),
        ("F12", &["collection", "disable", "news"], "F12", "not harvested; looked at again at "),
        ("F13", &["profile", "delete", "daily"], "F13", "to be removed"),
        ("F14", &["profile", "disable", "daily"], "F14", "not harvested; looked at again at "),
    ];
    for (case, change, rule, text) in table {
        let world = started();
        world.good(change);
        let (decided, said) = verdict(&world, "https://vg.no/");
        assert!(decided == rule && said.starts_with(text), "{case}: {decided} {said}");
    }
}

#[test]
fn f10_a_deleted_collection_can_still_be_asked_for() {
    let world = started();
    world.good(&["collection", "delete", "news"]);
    assert_eq!(world.json(&["why", "https://vg.no/", "--collection", "news"])[0]["situation"], "queued");
    world.good(&["seed", "delete", "vg", "once", "--sweep"]);
    let told = world.skurd(&["why", "https://vg.no/", "--collection", "news"]);
    assert!(told.code == Some(1) && told.err.contains("there is no collection `news`"), "{told:?}");
    assert!(world.skurd(&["why", "https://vg.no/"]).err.contains("hint: declare what to harvest"));
}

#[test]
fn f13_a_queued_url_that_a_changed_profile_leaves_out_is_told() {
    let world = started();
    world.harvest(|order| page(now(), 200, if order.host == "vg.no" { &["https://vg.no/a"] } else { &[] }));
    assert_eq!(why(&world, "https://vg.no/a")["depth"], 1);
    let narrow =
        ["profile", "add", "daily", "--collection", "news", "--every", "1d", "--max-depth", "0", "--replace"];
    world.good(&narrow);
    assert_eq!(verdict(&world, "https://vg.no/a").0, "F13");
    let text = world.good(&["why", "https://vg.no/a"]);
    assert!(text.contains("F34  profile `daily` (active): out of scope: "), "{text}");
}

#[test]
fn f15_a_slower_profile_postpones() {
    let world = started();
    world.harvest(|_| page(now(), 200, &[]));
    world.good(&["profile", "add", "daily", "--collection", "news", "--every", "4w", "--replace"]);
    let (rule, text) = verdict(&world, "https://vg.no/");
    assert!(rule == "F15" && text.starts_with("not harvested; looked at again at "), "{rule} {text}");
}

#[test]
fn f16_blacklisted_is_told_with_its_reason_and_end() {
    let world = started();
    world.good(&["blacklist", "add", "https://vg.no/", "--reason", "owner asked", "--for", "7d"]);
    let (rule, text) = verdict(&world, "https://vg.no/");
    assert!(rule == "F16" && text.starts_with("blacklisted (operator: owner asked) until 20"), "{text}");
    let why = why(&world, "https://vg.no/");
    assert_eq!(
        (&why["situation"], &why["seed"], &why["due"]),
        (&json!("blacklisted"), &json!("vg"), &Value::Null)
    );
    assert_eq!(why["blacklist"]["reason"], "operator: owner asked");
}

#[test]
fn f17_unresolvable_hosts_back_off_and_robots_blacklist() {
    let world = started();
    world.harvest(|order| match order.host.as_str() {
        "vg.no" => failure(Fetch::DnsFailed),
        _ => failure(Fetch::RobotsDenied { until: now().plus(Span::days(1)) }),
    });
    let text = world.good(&["why", "https://vg.no/"]);
    assert!(
        text.contains("host       vg.no, backs off until ") && text.contains("after 1 failures"),
        "{text}"
    );
    assert!(why(&world, "https://vg.no/")["host"]["backoff_until"].is_string());
    let (rule, text) = verdict(&world, "https://once.no/");
    assert!(rule == "F16" && text.starts_with("blacklisted (robots) until "), "{text}");
}

#[test]
fn f20_done_says_in_which_run_and_a_start_brings_it_back() {
    let world = started();
    world.harvest(|_| page(now(), 200, &[]));
    assert_eq!(why(&world, "https://once.no/")["situation"], "done");
    assert_eq!(
        verdict(&world, "https://once.no/"),
        ("F20".to_owned(), "it has had its cycles in run 1; a new start brings it back".to_owned())
    );
    world.good(&["start", "--seed", "once"]);
    assert_eq!(why(&world, "https://once.no/")["situation"], "queued", "F4");
}

#[test]
fn f22_f27_unknown_urls_are_judged_as_links() {
    let world = started();
    assert_eq!(
        verdict(&world, "https://vg.no/new"),
        ("F22".to_owned(), "not found yet; a link from seed `vg` would add it".to_owned())
    );
    assert_eq!(verdict(&world, "https://cnn.com/a").0, "F27");
    let text = world.good(&["why", "https://cnn.com/a"]);
    assert!(text.contains("best match no seed matches the URL"), "{text}");
    assert!(
        text.contains(
            "linked from seed `vg`: profile `daily` (active): out of scope: 1 off-domain hops, 0 are allowed"
        ),
        "{text}"
    );
    assert!(text.contains("host       cnn.com has no URLs waiting"), "{text}");
}

#[test]
fn f5_a_busy_host_or_group_is_told() {
    let groups = "host_groups: [{name: 'group:x', hosts: [vg.no, once.no]}]\n";
    for (config, seeds, url, expected) in [
        (
            CONFIG.to_owned(),
            2,
            "https://vg.no/",
            "host       vg.no, busy with https://vg.no/, reserved until ",
        ),
        (format!("{CONFIG}{groups}"), 1, "", "(in group group:x), its group is busy with https://"),
    ] {
        let world = World::declared(SKURD, &config);
        world.good(&["start"]);
        world.work(now().plus(Span::minutes(1)), async |frontier, _| {
            assert_eq!(frontier.reserve(5).await.unwrap().orders.len(), seeds);
        });
        let busy = world.json(&["queue", "--state", "in-flight"])[0]["url"].as_str().unwrap().to_owned();
        let other = if busy == "https://vg.no/" { "https://once.no/" } else { "https://vg.no/" };
        let asked = if url.is_empty() { other } else { url };
        let text = world.good(&["why", asked]);
        assert!(text.contains(expected) && text.contains("no slot is free"), "{text}");
        assert_eq!(why(&world, &busy)["situation"], "in-flight");
    }
}

#[test]
fn o4_o5_the_owner_and_the_best_match_are_told() {
    let world = World::declared(
        SKURD,
        "collections: [{name: c}]
profiles:
  - {name: far, collection: c, every: 1d, scope: {off_domain_hops: 1}}
  - {name: near, collection: c, every: 1d}
seeds:
  - {url: 'https://faktisk.no/', name: faktisk, profiles: [far]}
  - {url: 'https://vg.no/', name: vg, profiles: [near]}\n",
    );
    world.good(&["start", "--seed", "faktisk"]);
    world.harvest(|_| page(now(), 200, &["https://vg.no/artikkel"]));
    let why = why(&world, "https://vg.no/artikkel");
    assert_eq!((&why["seed"], &why["best_seed"]), (&json!("faktisk"), &json!("vg")), "O4");
    let text = world.good(&["why", "https://vg.no/artikkel"]);
    assert!(text.contains("seed       faktisk (the best match is vg)\n"), "{text}");
}

#[test]
fn i1_a_wrong_url_is_told_with_what_would_be_right() {
    let world = started();
    for (url, expected) in [
        ("vg.no", "error: `vg.no` has no scheme\nhint: write `https://vg.no/`\n"),
        ("ftp://vg.no/", "hint: a URL like `https://vg.no/`\n"),
        ("", "error: it is empty\nhint: a URL like `https://vg.no/`\n"),
    ] {
        let told = world.skurd(&["why", url]);
        assert!(told.code == Some(1) && told.err.contains(expected), "{url}: {told:?}");
    }
}
