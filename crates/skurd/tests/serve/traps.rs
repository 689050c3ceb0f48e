//! A trap, from the harvest that finds it to the command that ends it (F37).

use serde_json::json;
use testkit::web::{Answer, Ask};
use testkit::world::{Request, Served, World};

const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 1ms, max: 1ms}}
collections: [{name: news}]
profiles: [{name: daily, collection: news, every: 1d, length: 1, traps: hold}]
seeds: [{url: 'http://a.test/', name: a, profiles: [daily]}]
";

/// A front page, ten articles, and a page for each id, which is always the same.
fn site(ask: &Ask) -> Answer {
    match ask.path.as_str() {
        "/" => Answer::html(
            (0..10).map(|n| format!("<a href='/sak/{n}'>{n}</a> ")).collect::<String>()
                + "<a href='/vis?id=1'>show</a>",
        ),
        "/vis" => {
            let n: u64 = ask.query.trim_start_matches("id=").parse().unwrap_or(0);
            let (one, other) = (n * 2, n * 2 + 1);
            Answer::html(format!(
                "<p>There is no article {n}, but see <a href='/vis?id={one}'>this</a> and <a href='/vis?id={other}'>that</a>"
            ))
        }
        path if path.starts_with("/sak/") => Answer::html(format!("<p>Article of {path} and what it says")),
        _ => Answer::not_found(),
    }
}

#[test]
fn f37_a_trap_is_found_shown_and_ended() {
    let world = World::new(crate::SKURD, site);
    world.write("c.yaml", CONFIG);
    let served = Served::start(&world);
    served.until("the trap is found", |served| served.json("traps")["items"].as_array().unwrap().len() == 1);
    let trap = served.json("traps")["items"][0].clone();
    assert_eq!((&trap["kind"], &trap["host"]), (&json!("alike"), &json!("a.test")), "{trap}");
    assert_eq!(trap["template"], json!("/vis?id"));
    let id = trap["id"].as_str().unwrap();
    served
        .until("what is due is held", |served| served.json("traps")["items"][0]["held"].as_u64() > Some(10));

    let example = world.json(&["queue", "--host", "a.test", "--state", "queued"]);
    let example =
        example.iter().filter_map(|row| row["url"].as_str()).rfind(|url| url.contains("vis?id")).unwrap();
    assert!(world.good(&["why", example]).contains(id), "why names it");
    let table = world.good(&["report", "traps"]);
    assert!(table.contains(id) && table.contains("exclude: [{regex:"), "{table}");
    assert_eq!(world.json(&["traps", "list", "--host", "a.test"]).len(), 1);
    let page = Request::new(served.address, "GET", "/traps").send().text();
    assert!(page.contains("/vis?id") && page.contains("Release"), "{page}");
    let overview = Request::new(served.address, "GET", "/").send().text();
    assert!(overview.contains("Suspected traps"));

    let wrong = world.skurd(&["traps", "exclude", "nothing"]);
    assert!(wrong.err.contains("there is no suspicion"), "{}", wrong.err);
    let told = world.good(&["traps", "exclude", id]);
    assert!(told.contains("in the scope of profile daily") && told.contains("due now"), "{told}");
    let exclude = served.json("profiles/daily")["scope"]["exclude"].clone();
    assert!(trap["line"].as_str().unwrap().contains(exclude[0]["regex"].as_str().unwrap()), "{exclude}");
    served.until("what was held is gone", |served| {
        let queue = served.json("queue?state=queued&limit=1000");
        queue["items"].as_array().unwrap().iter().all(|row| !row["url"].as_str().unwrap().contains("vis?id"))
    });
    assert_eq!(served.json("traps")["items"], json!([]));
    assert_eq!(served.json("traps?all=true")["items"][0]["state"], json!("excluded"));
    assert!(served.stop().success());
    assert!(world.good(&["traps", "list", "--all"]).contains("excluded"), "and without a server");
    assert!(world.good(&["store", "check", "skurd-data"]).contains("sound"));
}
