//! Commands on a data directory that a server has talk to the server (I1, I4).

use serde_json::json;
use testkit::web::Answer;
use testkit::world::{Request, Served, World};

use crate::site::world;

const TOKEN: &str = "a-token-for-the-test-0123";

#[test]
fn i4_commands_go_through_the_server_that_has_the_directory() {
    let world = world(3);
    // The token is not for the commands: they have the key of this run.
    let served = Served::with(&world, &["c.yaml", "--listen", "0.0.0.0:0"], Some(TOKEN));
    let said = |args: &[&str]| world.good(args);
    assert_eq!(said(&["collection", "add", "new", "--warc-prefix", "N"]), "collection new is added\n");
    assert_eq!(
        said(&["profile", "add", "hourly", "--collection", "new", "--every", "1h", "--exclude", "regex:x$"]),
        "profile hourly is added\n"
    );
    assert_eq!(
        said(&["seed", "add", "http://c.test", "--profile", "hourly"]),
        "seed http://c.test/ is added\n"
    );
    assert_eq!(
        said(&["host-group", "add", "group:g", "--host", "x.test", "--delay", "2s"]),
        "host group group:g is added\n"
    );
    assert_eq!(
        said(&["start", "--seed", "http://c.test/"]),
        "run 2: started seed http://c.test/: 1 seed, 1 queued\n"
    );
    world.web().wait_for(1);
    served.until("it is harvested", |_| world.web().times("http://c.test/") == 1);
    assert_eq!(said(&["seed", "disable", "http://c.test/"]), "seed http://c.test/ is switched off\n");
    assert_eq!(served.json("seeds/http%3A%2F%2Fc.test%2F")["active"], json!(false));
    assert!(said(&["seed", "show", "http://c.test/"]).contains("active: no"));
    assert!(said(&["profile", "list"]).contains("hourly"));
    assert!(said(&["queue", "--host", "a.test"]).contains("http://a.test/1"));
    assert!(said(&["hosts"]).contains("a.test"));
    assert!(said(&["why", "http://a.test/"]).contains("verdict"));
    assert!(said(&["captures", "http://c.test/"]).contains("text/html"));
    assert!(said(&["report", "domains"]).contains("a.test"));
    assert!(
        said(&["blacklist", "add", "http://a.test/", "--reason", "why not"])
            .contains("until it is lifted in news")
    );
    assert!(said(&["blacklist"]).contains("why not"));
    assert!(said(&["blacklist", "lift", "http://a.test/"]).contains("is back in the queue in news"));
    assert!(said(&["queue", "move", "http://a.test/", "--to", "2d"]).contains("is due"));
    assert!(
        said(&["collection", "delete", "new", "--sweep"])
            .contains("collection new is deleted\n1 profile still names it")
    );

    let wrong = world.skurd(&["start", "--seed", "nothing"]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.err.contains("error: there is no seed `nothing`\nhint: "), "{}", wrong.err);
    let taken = world.skurd(&["collection", "add", "news"]);
    assert!(taken.err.contains("there is a collection `news` already\nhint: --replace"), "{}", taken.err);
    assert!(served.stop().success());
    assert!(said(&["queue", "--host", "a.test"]).contains("http://a.test/1"), "and without it");
}

/// I8, beside a server and without one: what is exported and applied again changes nothing, also after
/// everything was deleted in between.
#[test]
fn i8_what_is_exported_declares_what_is_declared() {
    let world = World::new(crate::SKURD, |_| Answer::not_found());
    let whole = world.good(&["config", "example"]);
    // Whatever is served there is asked of nobody but the web of this world.
    world.write("whole.yaml", &whole.replace(".no", ".test").replace(".org", ".test"));
    world.good(&["config", "apply", "whole.yaml"]);
    let changed = |file: &str| {
        let kinds = world.json(&["config", "apply", file, "--prune"]);
        let sum = |key: &str| kinds.iter().map(|kind| kind[key].as_u64().unwrap()).sum::<u64>();
        (sum("added"), sum("changed"), sum("deleted"), sum("unchanged"))
    };
    let exported = world.good(&["config", "export"]);
    assert!(exported.contains("•••") && !exported.contains("value: all"), "{exported}");
    world.write("exported.yaml", &exported);
    let (.., all) = changed("exported.yaml");
    assert_eq!(changed("exported.yaml"), (0, 0, 0, all));
    assert!(all > 8, "{all}");

    let served = Served::with(&world, &[], None);
    assert_eq!(served.get("/api/v1/config").text(), exported);
    world.good(&["config", "export", "--output", "again.yaml"]);
    assert_eq!(changed("again.yaml"), (0, 0, 0, all));
    world.write("none.yaml", "collections: []");
    let (_, _, deleted, _) = changed("none.yaml");
    assert_eq!(deleted, all - 1, "all but the settings");
    assert!(served.stop().success());
}

#[test]
fn i8_what_is_paused_stands_still_until_it_is_resumed() {
    let world = world(50);
    let served = Served::with(&world, &["c.yaml"], None);
    world.web().wait_for(3);
    let said = world.good(&["pause", "--host", "a.test", "--collection", "news"]);
    assert!(said.contains("host a.test") && said.contains("collection news"), "{said}");
    assert!(world.good(&["pause", "--list"]).contains("host a.test"));
    assert_eq!(served.json("pauses").as_array().unwrap().len(), 2);
    let nobody = world.skurd(&["pause", "--collection", "nobody"]);
    assert_eq!(nobody.code, Some(1));
    assert!(nobody.err.contains("there is no collection `nobody`"), "{}", nobody.err);
    assert!(
        world.good(&["resume", "--host", "a.test", "--collection", "news"]).contains("nothing is paused")
    );
    // All of it, and it stays so without the server.
    assert!(world.good(&["pause"]).contains("everything"));
    assert!(served.stop().success());
    let paused = world.json(&["pause", "--list"]);
    assert_eq!(paused[0]["target"], json!({ "what": "everything" }));
    assert_eq!(world.good(&["resume"]), "nothing is paused\n");
}

/// Other commands ask a running `crawl` and `linear`, too; nobody else can, though it listens.
#[test]
fn i8_commands_work_beside_a_crawl_and_a_walk() {
    let world = world(100_000);
    // Left behind by a server that is gone.
    world.good(&["collection", "add", "other"]);
    world.write("skurd-data/serve.json", "{\"address\": \"127.0.0.1:1\", \"pid\": 1, \"key\": \"k\"}");
    let run = world.start(&["c.yaml"]);
    world.web().wait_for(5);
    assert!(world.good(&["queue", "--host", "a.test", "--limit", "3"]).contains("http://a.test/"));
    assert!(!world.json(&["captures", "--limit", "1"]).is_empty());
    assert_eq!(
        world.json(&["why", "http://a.test/", "--collection", "news"])[0]["collection"],
        json!("news")
    );
    assert!(world.good(&["seed", "add", "http://late.test/", "--profile", "daily"]).contains("is added"));
    let notice: serde_json::Value =
        serde_json::from_slice(&std::fs::read(world.data().join("serve.json")).unwrap()).unwrap();
    let address = notice["address"].as_str().unwrap().parse().unwrap();
    for path in ["/", "/api/v1/queue", "/metrics"] {
        let told = Request::new(address, "GET", path).send();
        assert_eq!(told.status, 401, "{path}: {}", told.text());
    }
    let second = world.skurd(&["serve", "c.yaml", "--listen", "127.0.0.1:0", "--allow-net", "127.0.0.0/8"]);
    assert_eq!(second.code, Some(1));
    assert!(second.err.contains("is in use by process") && second.err.contains("hint: "), "{}", second.err);
    run.interrupt();
    assert_eq!(run.end().code, Some(0));
    assert!(!world.data().join("serve.json").exists());

    let way = world.way();
    let mut args = vec!["linear", "http://b.test/{id}", "--min", "1", "--max", "100000", "--delay", "5ms"];
    args.extend(way.iter().map(String::as_str));
    let run = world.run(&args);
    let seen = world.web().seen().len();
    world.web().wait_for(seen + 5);
    assert!(world.good(&["linear", "show"]).contains("http://b.test/{id}"));
    run.interrupt();
    assert_eq!(run.end().code, Some(0));
}
