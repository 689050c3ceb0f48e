//! The index of the archive for replay, through a server and without one (A8, I4).

use serde_json::json;
use testkit::web::Answer;
use testkit::world::{Served, World};

use crate::site::told;

const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: news}, {name: law}]
profiles:
  - {name: daily, collection: news, every: 1d}
  - {name: weekly, collection: law, every: 7d}
seeds:
  - {url: 'http://a.test/', profiles: [daily, weekly]}
  - {url: 'http://b.test/', profiles: [weekly]}
";

/// Enough pages for an answer of several pieces.
const PAGES: usize = 240;

fn world() -> World {
    let world = World::new(crate::SKURD, |ask| match (ask.path.as_str(), ask.path[1..].parse::<usize>()) {
        ("/robots.txt", _) => Answer::text(""),
        ("/", _) => Answer::html((1..PAGES).map(|n| format!("<a href='/{n}'>x</a>")).collect::<String>()),
        (_, Ok(number)) if number < PAGES => Answer::html(format!("page {number}")),
        _ => Answer::not_found(),
    });
    world.write("c.yaml", CONFIG);
    world
}

#[test]
fn i4_cdx_export_is_the_same_with_and_without_a_server() {
    let world = world();
    let served = Served::start(&world);
    let lines = |text: &str| text.lines().count();
    served.until("all is archived", |served| lines(&served.get("/api/v1/cdx").text()) >= 3 * PAGES);
    assert_eq!(served.post("pause", &json!({ "what": "everything" })).status, 200);
    served.until("nothing is in flight", |served| served.json("status")["figures"]["in_flight"] == 0);

    let commands: &[&[&str]] = &[
        &["cdx", "export"],
        &["cdx", "export", "--collection", "news"],
        &["cdx", "export", "--collection", "law"],
        &["cdx", "export", "--collection", "lav"],
        &["cdx", "export", "--output", "no/such/place"],
    ];
    let through: Vec<_> = commands.iter().map(|command| told(&world, command)).collect();
    let whole = &through[0].1;
    assert!(lines(whole) >= 3 * PAGES && whole.len() > 2 << 16, "{} bytes", whole.len());
    assert!(whole.lines().is_sorted(), "merged as a whole");
    assert_eq!(lines(whole), lines(&through[1].1) + lines(&through[2].1));
    assert!(
        through[3].2.contains("there is no collection `lav`\nhint: did you mean `law`?"),
        "{}",
        through[3].2
    );
    assert!(through[4].2.contains("cannot write no/such/place"), "{}", through[4].2);
    world.good(&["cdx", "export", "--output", "out.cdxj"]);
    let file = || std::fs::read_to_string(world.dir.path().join("out.cdxj")).unwrap();
    assert_eq!(file(), *whole);

    let answer = served.get("/api/v1/cdx");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    assert_eq!(answer.text(), *whole);
    assert_eq!(served.get("/api/v1/cdx?collection=law").text(), through[2].1);
    assert_eq!(served.get("/api/v1/cdx?collection=lav").status, 404);
    assert_eq!(served.get("/api/v1/cdx?colection=law").status, 400);

    assert!(served.stop().success());
    for (command, through) in commands.iter().zip(&through) {
        assert_eq!(told(&world, command), *through, "{command:?}");
    }
    std::fs::remove_file(world.dir.path().join("out.cdxj")).unwrap();
    world.good(&["cdx", "export", "--output", "out.cdxj"]);
    assert_eq!(file(), *whole);
}
