//! Commands on a data directory that a server has talk to the server (I1, I4).

use serde_json::json;
use testkit::world::Served;

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

#[test]
fn i1_a_directory_that_a_harvest_has_is_told_so() {
    let world = world(100_000);
    let run = world.start(&["c.yaml"]);
    world.web().wait_for(5);
    // Left behind by a server that is gone.
    world.write("skurd-data/serve.json", "{\"address\": \"127.0.0.1:1\", \"pid\": 1, \"key\": \"k\"}");
    let told = world.skurd(&["queue"]);
    assert_eq!(told.code, Some(1));
    assert!(told.err.contains("is in use by process") && told.err.contains("hint: "), "{}", told.err);
    let second = world.skurd(&["serve", "c.yaml", "--listen", "127.0.0.1:0", "--allow-net", "127.0.0.0/8"]);
    assert_eq!(second.code, Some(1));
    run.interrupt();
    assert_eq!(run.end().code, Some(0));
}
