//! Runs are told with what came of them (I8).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use testkit::web::Answer;
use testkit::world::{Served, World};

const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 5ms, max: 5ms}}
collections: [{name: news}]
profiles: [{name: monthly, collection: news, every: 30d}]
seeds: [{url: 'http://a.test/', name: a, profiles: [monthly]}]
";

#[test]
fn i8_a_run_says_what_came_of_it_and_of_the_one_before() {
    let later = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&later);
    let world = World::new(crate::SKURD, move |ask| {
        let later = now.load(Ordering::SeqCst);
        let links = "<a href='/same'>s</a> <a href='/other'>o</a> <a href='/goes'>g</a>";
        match ask.path.as_str() {
            "/robots.txt" => Answer::text(""),
            "/" if later => Answer::html(format!("{links} <a href='/comes'>c</a>")),
            "/" => Answer::html(links),
            "/same" => Answer::html("the same"),
            "/other" if later => Answer::html("another"),
            "/other" => Answer::html("one"),
            "/goes" if !later => Answer::html("here"),
            "/comes" if later => Answer::html("new"),
            _ => Answer::not_found(),
        }
    });
    world.write("c.yaml", CONFIG);
    let served = Served::with(&world, &["c.yaml"], None);
    let asked = |run: u64, harvests: u64| {
        let path = format!("runs/{run}");
        served.until("all of the run is asked", |served| {
            let answer = served.get(&format!("/api/v1/{path}"));
            answer.status == 200 && answer.json()["harvests"] == harvests
        });
        served.json(&path)
    };
    let figures = |run: &Value| {
        ["new", "changed", "unchanged", "gone", "urls", "waiting"].map(|name| run[name].as_u64().unwrap())
    };

    let first = asked(1, 4);
    assert_eq!(
        (&first["of"], &first["state"], &first["before"]),
        (&json!("new"), &json!("repeating"), &Value::Null)
    );
    assert_eq!((figures(&first), &first["progress"]), ([4, 0, 0, 0, 4, 0], &json!(1.0)));
    // What a page links to joins its run, and comes when it is due; so that is moved to now.
    let start = |run: u64| {
        assert_eq!(served.post("start", &json!({ "profiles": ["monthly"] })).status, 200);
        let path = format!("runs/{run}");
        served
            .until("the links have joined the run", |served| served.json(&path)["urls"].as_u64() >= Some(4));
        for page in ["same", "other", "goes"] {
            let body = json!({ "url": format!("http://a.test/{page}"), "to": "now" });
            assert_eq!(served.post("queue/move", &body).status, 200);
        }
    };
    start(2);
    assert_eq!(figures(&asked(2, 4)), [0, 0, 4, 0, 4, 0]);
    later.store(true, Ordering::SeqCst);
    start(3);
    let third = asked(3, 5);
    assert_eq!(figures(&third)[..4], [1, 2, 1, 1]);
    assert_eq!((&third["of"], &third["name"]), (&json!("profile"), &json!("monthly")));
    assert_eq!(third["by_collection"]["news"]["harvests"], 5);
    let before = &third["before"];
    assert_eq!((&before["run"], &before["unchanged"]), (&json!(2), &json!(4)));
    // All of its URLs belong to later runs by now; what it has asked is still its own.
    let first = served.json("runs/1");
    assert_eq!((figures(&first), &first["state"]), ([4, 0, 0, 0, 0, 0], &json!("ended")));
    let harvests: u64 =
        served.items("runs?limit=2").iter().map(|run| run["harvests"].as_u64().unwrap()).sum();
    let seen = world.web().seen();
    assert_eq!(harvests, seen.iter().filter(|seen| seen.ask.path != "/robots.txt").count() as u64);

    assert_eq!(served.json("runs?limit=2")["items"].as_array().unwrap().len(), 2);
    assert_eq!(world.json(&["run", "list"]), served.items("runs"));
    assert_eq!(world.json(&["run", "show", "3"])[0], third);
    let text = world.good(&["run", "show", "3"]);
    assert!(text.contains("profile monthly") && text.contains("the run before"), "{text}");
    for run in ["4", "0", "x"] {
        assert_eq!(served.get(&format!("/api/v1/runs/{run}")).status, 404, "{run}");
    }
    let page = served.get("/runs/3").text();
    assert!(page.contains("The run before") && page.contains("+1"), "{page}");
}
