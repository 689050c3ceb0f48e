//! Starting, pausing, resuming, moving, blacklisting (I4).

use serde_json::{Value, json};
use testkit::web::Answer;
use testkit::world::{Served, World};

use crate::site::{CONFIG, world};

fn harvests(served: &Served) -> u64 {
    served.json("status")["figures"]["harvests"].as_u64().unwrap()
}

/// Pauses; then waits until all that was in flight has come home.
fn pause(served: &Served, what: &Value) {
    let answer = served.post("pause", what);
    assert_eq!((answer.status, &answer.json()["changed"]), (200, &json!(true)), "{}", answer.text());
    assert_eq!(served.post("pause", what).json()["changed"], json!(false));
    assert_eq!(answer.json()["paused"][0]["target"], *what);
    served.until("all is home", |served| {
        served.json("queue?state=in-flight&limit=1000")["items"].as_array().unwrap().iter().all(|item| {
            match what["what"].as_str() {
                Some("host") => item["host"] != what["name"],
                Some("collection") => item["collection"] != what["name"],
                _ => false,
            }
        })
    });
}

fn resume(served: &Served, what: &Value) {
    let answer = served.post("resume", what);
    assert_eq!((answer.status, &answer.json()["changed"]), (200, &json!(true)), "{}", answer.text());
    assert_eq!(answer.json()["paused"], json!([]));
    assert_eq!(served.post("resume", what).json()["changed"], json!(false));
}

fn count(world: &testkit::world::World, host: &str) -> usize {
    world.web().seen().iter().filter(|seen| seen.ask.host == host && seen.ask.path != "/robots.txt").count()
}

/// A host that nobody knows is probably misspelt; one that is known in any way can be paused.
#[test]
fn i7_only_a_host_that_is_known_is_paused() {
    let world = world(3);
    let walk =
        "walks: [{template: 'http://w.test/{id}', name: w, profile: daily, active: no, min: 1, max: 3}]\n";
    let groups = "host_groups: [{name: 'group:g', hosts: [g.test]}]\nhosts: [{host: o.test}]\n";
    world.write("c.yaml", &format!("{CONFIG}{walk}{groups}"));
    let served = Served::start(&world);
    served.until("the seeds are harvested", |served| {
        !served.json("captures?url=http://b.test/")["items"][0].is_null()
    });
    for (host, known) in [
        ("a.test", true),
        ("www.b.test", true),
        ("w.test", true),
        ("g.test", true),
        ("o.test", true),
        ("aa.test", false),
        ("test", false),
        ("nowhere.example", false),
    ] {
        let body = json!({ "what": "host", "name": host });
        let answer = served.post("pause", &body);
        assert_eq!(answer.status, if known { 200 } else { 404 }, "{host}: {}", answer.text());
        assert!(known || answer.text().contains(&format!("host `{host}` is not known")), "{}", answer.text());
        // Going on is always well.
        assert_eq!(served.post("resume", &body).status, 200, "{host}");
    }
    assert_eq!(served.json("pauses"), json!([]));
}

#[test]
fn i4_a_paused_host_is_left_alone_and_the_others_are_not() {
    let world = world(100_000);
    let served = Served::start(&world);
    world.web().wait_for(20);
    let host = json!({ "what": "host", "name": "a.test" });
    pause(&served, &host);
    let (at, others) = (count(&world, "a.test"), count(&world, "b.test"));
    served.until("the other goes on", |_| count(&world, "b.test") > others + 50);
    assert_eq!(count(&world, "a.test"), at, "nothing was asked of it");
    let hosts = served.json("hosts");
    let row = hosts["items"].as_array().unwrap().iter().find(|item| item["host"] == "a.test").unwrap();
    assert_eq!(row["paused"], true);
    let why = served.json("why?url=http://a.test/");
    assert_eq!(why[0]["paused"], json!(["host"]));
    resume(&served, &host);
    served.until("it goes on", |_| count(&world, "a.test") > at + 5);
}

#[test]
fn i4_a_paused_collection_is_left_alone_and_the_others_are_not() {
    let world = world(100_000);
    let served = Served::start(&world);
    world.web().wait_for(30);
    let law = json!({ "what": "collection", "name": "law" });
    pause(&served, &law);
    let captures = |served: &Served, name: &str| {
        served.json(&format!("captures?collection={name}&limit=1000"))["items"].as_array().unwrap().len()
    };
    let (at, others) = (captures(&served, "law"), captures(&served, "news"));
    served.until("the other goes on", |served| captures(served, "news") > others + 30);
    assert_eq!(captures(&served, "law"), at);
    resume(&served, &law);
    served.until("it goes on", |served| captures(served, "law") > at + 3);
}

#[test]
fn i4_a_pause_of_everything_outlasts_the_process() {
    let world = world(100_000);
    let served = Served::start(&world);
    world.web().wait_for(20);
    let everything = json!({ "what": "everything" });
    pause(&served, &everything);
    assert_eq!(served.json("status")["state"], "paused");
    let at = world.web().count();
    assert!(served.stop().success());
    let served = Served::start(&world);
    let ticks = |served: &Served| served.json("history?step=second").as_array().unwrap().len();
    served.until("some seconds have passed", |served| ticks(served) >= 4);
    assert_eq!((world.web().count(), harvests(&served)), (at, 0));
    let paused = served.json("pauses");
    assert_eq!(paused[0]["target"], everything);
    resume(&served, &everything);
    world.web().wait_for(at + 10);
}

#[test]
fn i4_starting_moving_and_blacklisting() {
    let world = world(3);
    let served = Served::start(&world);
    served.until("all is harvested", |served| {
        let queue = served.json("queue?limit=1000");
        let all = queue["items"].as_array().unwrap();
        all.len() == 12 && all.iter().all(|item| !item["last_fetch"].is_null() && item["state"] == "queued")
    });
    let seed = json!({ "url": "http://c.test/", "profiles": ["daily"] });
    assert_eq!(served.request("PUT", "/api/v1/seeds/c").json(&seed).send().status, 201);
    let answer = served.post("start", &json!({ "seed": "c" }));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json(), json!([{ "run": 2, "started": "seed c", "seeds": 1, "changed": 1 }]));
    served.until("it is harvested", |_| world.web().times("http://c.test/") == 1);

    let moved =
        served.post("queue/move", &json!({ "url": "http://b.test/1", "to": "now", "collection": "law" }));
    assert_eq!((moved.status, &moved.json()["collections"]), (200, &json!(["law"])), "{}", moved.text());
    served.until("it is harvested again", |_| world.web().times("http://b.test/1") == 3);

    let body = json!({ "url": "http://b.test/2", "reason": "a test", "for": "7d" });
    let added = served.post("blacklist", &body);
    assert_eq!(
        (added.status, &added.json()["collections"]),
        (200, &json!(["law", "news"])),
        "{}",
        added.text()
    );
    let listed = served.json("blacklist");
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    assert_eq!(served.json("why?url=http://b.test/2&collection=law")[0]["situation"], "blacklisted");
    let lifted = served.post("blacklist/lift", &json!({ "url": "http://b.test/2" }));
    assert_eq!((lifted.status, &lifted.json()["collections"]), (200, &json!(["law", "news"])));
    assert_eq!(served.json("blacklist")["items"], json!([]));
}

/// Without a contact the server is there and says what is missing; nothing is asked for before, and
/// no URL has failed for it. (Loopback is not allowed here, so nothing is asked for afterwards
/// either.)
#[test]
fn a1_i8_a_harvest_waits_until_somebody_says_who_asks() {
    let world = World::new(crate::SKURD, |_| Answer::html("never asked for"));
    let mut command = world.command();
    let resolve = format!("*.test={}", world.web().address());
    command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--resolve", &resolve]);
    let served = Served::launch(command, None);
    served.until("it waits", |served| served.json("status")["state"] == "waiting");
    let refused = served.post("harvest", &json!({ "url": "http://a.test/" }));
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert_eq!(refused.json()["errors"][0]["pointer"], "/contact");
    for (body, pointer) in [
        (json!({ "url": "ftp://a.test/" }), "/url"),
        (json!({ "url": "http://a.test/", "contact": "nobody" }), "/contact"),
    ] {
        let refused = served.post("harvest", &body);
        assert!((400..500).contains(&refused.status), "{}", refused.text());
        assert_eq!(refused.json()["errors"][0]["pointer"], pointer, "{}", refused.text());
    }
    assert_eq!(served.items("seeds").len() + served.items("profiles").len(), 0, "nothing is half declared");
    world.good(&["collection", "add", "web"]);
    world.good(&["profile", "add", "early", "--collection", "web", "--every", "1d"]);
    world.good(&["seed", "add", "http://early.test/", "--profile", "early"]);
    world.good(&["start"]);
    let waits = &served.items("queue")[0];
    assert_eq!((&waits["url"], &waits["errors"]), (&json!("http://early.test/"), &json!(0)));
    let body = json!({ "url": "http://a.test/", "contact": "me@a.test", "often": "weekly" });
    let runs = served.post("harvest", &body);
    assert_eq!(runs.status, 200, "{}", runs.text());
    assert_eq!(runs.json()[0]["changed"], 1);
    served.until("it goes on", |served| served.json("status")["state"] == "harvesting");
    served.until("what waited is asked for", |served| {
        served.items("queue").iter().all(|url| url["errors"].as_u64() > Some(0))
    });
    assert_eq!(served.json("settings")["contact"], "me@a.test");
    assert_eq!(served.json("profiles/weekly")["every"], "1w");
    assert!(world.web().seen().is_empty(), "loopback is not asked");
    assert!(served.stop().success());
}
