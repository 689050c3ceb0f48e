//! What the command line may get wrong, and what it may ask for.

use serde_json::Value;
use testkit::web::{Answer, Ask};
use testkit::world::{World, json_lines};

fn numbered(ask: &Ask) -> Answer {
    match ask.path[1..].parse::<usize>() {
        Ok(number) => {
            Answer::html(format!("<a href='/{}'>next</a> <a href='/{}'>n</a>", number + 1, number + 2))
        }
        Err(_) => Answer::not_found(),
    }
}

#[test]
fn i1_a1_wrong_command_lines_say_what_would_be_right() {
    let world = World::new(crate::SKURD, numbered);
    world.write("broken.yaml", "collections: [{nam: c}]\n");
    let cases: [(&[&str], i32, &str); 10] = [
        (&["http://a.test/0"], 1, "hint: --contact https://your.site/bot"),
        (&["http://a.test/0", "--resolve", "nonsense"], 2, "--resolve"),
        (&["http://a.test/0", "--resolve", "a.test=nowhere"], 2, "--resolve"),
        (&["http://a.test/0", "--allow-net", "localhost"], 2, "hint: write an address"),
        (&["http://a.test/0", "--allow-net", "127.0.0.0/40"], 2, "hint: write an address"),
        (&["http://a.test/0", "--delay", "soon"], 2, "--delay"),
        (&["http://a.test/0", "--contact", "me"], 2, "neither a URL nor a mail address"),
        (&["nothing.yaml", "--allow-net", "127.0.0.0/8"], 1, "nothing.yaml"),
        (&["broken.yaml", "--allow-net", "127.0.0.0/8"], 1, "broken.yaml:1"),
        (&["a.test", "--allow-net", "127.0.0.0/8"], 1, "hint: write `https://a.test/`"),
    ];
    for (args, code, expected) in cases {
        let told = world.skurd(&[&["crawl"], args].concat());
        assert_eq!(told.code, Some(code), "{args:?}: {told:?}");
        assert!(told.err.contains(expected) && told.out.is_empty(), "{args:?}: {told:?}");
        assert!(!told.err.contains("panicked"), "{args:?}: {told:?}");
    }
    assert_eq!(world.web().count(), 0);
}

#[test]
fn i1_a_data_directory_is_used_by_one_process() {
    let world = World::new(crate::SKURD, numbered);
    let first = world.start(&["http://a.test/0", "--delay", "100ms"]);
    world.web().wait_for(2);
    let second = world.crawl(&["http://b.test/0", "--delay", "0s"]);
    assert_eq!(second.code, Some(1), "{second:?}");
    let error = second.err.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(error, 1, "{second:?}");
    assert!(second.err.contains("skurd-data"), "{second:?}");
    assert_eq!(world.web().times("http://b.test/0"), 0);
    first.interrupt();
    assert_eq!(first.end().code, Some(0));
}

#[test]
fn i2_a_harvest_ends_when_told_and_prints_json_lines() {
    let world = World::new(crate::SKURD, numbered);
    let told = world.crawl(&["http://a.test/0", "--delay", "0s", "--max-urls", "5", "--json"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    let events = json_lines(&told.out);
    let harvests = events.iter().filter(|event| event["event"] == "harvest").count();
    assert_eq!(harvests, 5);
    let last: &Value = events.last().unwrap();
    assert_eq!(
        (&last["event"], &last["harvests"], &last["pages"]),
        (&"summary".into(), &5.into(), &5.into())
    );
    assert_eq!(world.captures().len(), 5);

    // The pages never end, but the time does.
    let before = tokio::time::Instant::now();
    let events = world.crawl_json(&["http://a.test/0", "--delay", "50ms", "--for", "2s"]);
    assert!(before.elapsed().as_secs() >= 2);
    assert_eq!(events.last().unwrap()["event"], "summary");
    assert!(world.captures().len() > 5);
    assert_eq!(world.json(&["queue", "--state", "in-flight"]).len(), 0);
    world.check();
}

#[test]
fn a8_archives_are_zstd_or_none_on_request() {
    let world = World::new(crate::SKURD, numbered);
    let args = ["http://a.test/0", "--delay", "0s", "--max-urls", "20", "--warc", "zstd"];
    world.crawl_json(&args);
    world.check();
    let names = |world: &World| -> Vec<String> {
        world.warc_files().iter().map(|path| path.to_string_lossy().into_owned()).collect()
    };
    assert!(names(&world).iter().all(|name| name.ends_with(".warc.zst")), "{:?}", names(&world));
    assert_eq!(world.captures().len(), 20);
    // Another format another time: the files lie beside each other.
    world.crawl_json(&["http://a.test/0", "--delay", "0s", "--max-urls", "20"]);
    assert_eq!(names(&world).iter().filter(|name| name.ends_with(".warc.gz")).count(), 1);
    world.check();

    let world = World::new(crate::SKURD, numbered);
    let events =
        world.crawl_json(&["http://a.test/0", "--delay", "0s", "--max-urls", "20", "--warc", "none"]);
    assert_eq!(events.last().unwrap()["pages"], 20);
    assert_eq!((world.warc_files().len(), world.json(&["captures"]).len()), (0, 0));
    world.check();
}

/// A file of a thousand bytes must not cost more than other files of a thousand bytes do.
#[test]
fn i3_an_alias_bomb_costs_next_to_nothing() {
    let world = World::new(crate::SKURD, numbered);
    let level = |n: u8| {
        format!("{0}: &{0} [{1}]\n", char::from(b'b' + n), format!("*{}, ", char::from(b'a' + n)).repeat(9))
    };
    world.write("bomb.yaml", &format!("a: &a [x, x, x, x, x]\n{}", (0..20).map(level).collect::<String>()));
    let told = world.skurd(&["config", "check", "bomb.yaml"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.err.contains("use fewer aliases"), "{told:?}");
    // The memory is looked at now and then: what is over at once is not even seen.
    assert!(told.peak_kib < 64 << 10, "{} KiB of memory", told.peak_kib);
}

#[test]
fn i1_a_data_directory_that_cannot_be_is_told() {
    let world = World::new(crate::SKURD, numbered);
    world.write("file", "");
    let way = world.way();
    let mut args = vec!["crawl", "http://a.test/0", "--data", "file/data"];
    args.extend(way.iter().map(String::as_str));
    let told = world.run(&args).end();
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.err.starts_with("error: ") && told.err.contains("file/data"), "{told:?}");
}
