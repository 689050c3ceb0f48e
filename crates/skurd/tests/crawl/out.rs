//! Getting out what was archived: contents, records and texts, by the command line alone.

use testkit::web::{Answer, Ask};
use testkit::world::World;

const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 1s, length: 3}]
seeds:
  - {url: 'http://out.test/', profiles: [p]}
  - {url: 'http://out.test/logo.png', profiles: [p]}
";

const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\xFF no text";

fn web(ask: &Ask) -> Answer {
    match ask.path.as_str() {
        "/" => {
            Answer::html(format!("<title>T</title><p>edition&nbsp;<b>{}</b><script>no()</script>", ask.nth))
        }
        "/logo.png" => Answer::of(200, &[("Content-Type", "image/png")], PICTURE),
        _ => Answer::not_found(),
    }
}

#[test]
fn i10_contents_texts_and_records_are_printed_byte_for_byte() {
    let world = World::new(crate::SKURD, web);
    world.write("c.yaml", CONFIG);
    world.crawl_json(&["c.yaml", "--until-done"]);
    let captures = world.captures_of("http://out.test/");
    let times: Vec<&str> = captures.iter().map(|capture| capture["time"].as_str().unwrap()).collect();
    assert_eq!(times.len(), 3);
    let text = |args: &[&str]| world.good(&[&["captures", "text", "http://out.test/"], args].concat());
    assert_eq!(text(&[]), "T\nedition 2\n", "the latest");
    for (nth, time) in (0..).zip(&times) {
        assert_eq!(text(&["--time", time]), format!("T\nedition {nth}\n"));
    }
    assert_eq!(text(&["--time", "1999-12-31"]), "T\nedition 0\n", "the closest");

    let whole = world.good(&["captures", "get", "http://out.test/", "--time", times[1]]);
    assert_eq!(whole, "<title>T</title><p>edition&nbsp;<b>1</b><script>no()</script>");
    // The later ones are revisits, and have no payload of their own.
    world.good(&["captures", "get", "http://out.test/logo.png", "--output", "logo.png"]);
    assert_eq!(std::fs::read(world.dir.path().join("logo.png")).unwrap(), PICTURE);
    world.good(&["captures", "get", "http://out.test/logo.png", "--record", "-o", "logo.warc.gz"]);
    assert!(world.good(&["warc", "check", "logo.warc.gz"]).contains("1 revisit"));
    let told = world.skurd(&["captures", "get", "http://out.test/", "--time", times[0]]);
    assert!(told.err.starts_with(&format!("{} 200 text/html", times[0])), "{}", told.err);

    for (args, what) in [
        (&["get", "http://other.test/"][..], "nothing is archived of http://other.test/"),
        (&["get", "http://out.test/", "--collection", "x"], "there is no collection"),
        (&["text", "http://out.test/logo.png"], "is no page and no text: it is image/png"),
        (&["get", "http://out.test/", "-o", "no/where"], "cannot write no/where"),
    ] {
        let refused = world.skurd(&[&["captures"], args].concat());
        assert_eq!(refused.code, Some(1), "{args:?}");
        assert!(refused.err.contains(what), "{args:?}: {}", refused.err);
    }
    assert_eq!(world.skurd(&["captures", "get"]).code, Some(2), "a URL is needed");
}
