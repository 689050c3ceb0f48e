//! Ctrl-C, and what service managers and terminals send: a clean end, and the same command goes on.

use testkit::web::Answer;
use testkit::world::{Run, World};

const PAGES: usize = 300;

#[test]
fn i1_f7_ctrl_c_ends_cleanly_and_the_same_command_goes_on() {
    let world = World::new(crate::SKURD, |ask| match ask.path[1..].parse::<usize>() {
        Ok(number) if number < PAGES => {
            Answer::html(format!("<a href='/{}'>next</a> <a href='/{}'>far</a>", number + 1, number * 2 + 1))
        }
        _ if ask.path == "/robots.txt" => Answer::text(""),
        _ => Answer::not_found(),
    });
    world.write(
        "c.yaml",
        "
settings: {politeness: {factor: 0, min: 0s, max: 0s, parallel: 3}}
collections: [{name: c}]
profiles:
  - name: p
    collection: c
    every: 1d
    length: 1
    scope: {exclude: [{regex: '/(3[0-9][0-9]|[4-9][0-9][0-9])$'}]}
seeds: [{url: 'http://a.test/0', profiles: [p]}, {url: 'http://b.test/0', profiles: [p]}]
",
    );
    let args = ["c.yaml", "--until-done"];
    for stops in 1..=3 {
        let run = world.start(&args);
        world.web().wait_for(stops * 100);
        run.interrupt();
        let told = run.end();
        assert_eq!(told.code, Some(0), "{told:?}");
        assert!(told.out.contains("URLs harvested in"), "{}", told.out);
        assert!(told.err.contains("stopping"), "{}", told.err);
        assert_eq!(world.json(&["queue", "--state", "in-flight"]).len(), 0);
        // Complete files, and what was asked for is archived: nothing was thrown away.
        world.check();
        let asked = world.web().seen().iter().filter(|seen| seen.ask.path != "/robots.txt").count();
        assert_eq!(world.captures().len(), asked);
        assert!(asked < 2 * PAGES, "it was to be stopped in the middle");
    }
    let told = world.crawl(&args);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert_eq!(world.captures().len(), 2 * PAGES);
    for host in ["a", "b"] {
        for number in 0..PAGES {
            assert_eq!(world.web().times(&format!("http://{host}.test/{number}")), 1, "{host} {number}");
        }
    }
    world.check();
}

/// Pages without an end.
fn endless() -> World {
    World::new(crate::SKURD, |ask| match ask.path[1..].parse::<usize>() {
        Ok(number) => Answer::html(format!("<a href='/{}'>next</a>", number + 1)),
        _ if ask.path == "/robots.txt" => Answer::text(""),
        _ => Answer::not_found(),
    })
}

#[test]
fn i1_f7_every_signal_ends_cleanly() {
    let world = endless();
    for (round, signal) in ["-HUP", "-TERM", "-INT"].into_iter().enumerate() {
        let run = world.start(&["http://a.test/0", "--delay", "0s"]);
        world.web().wait_for((round + 1) * 20);
        run.signal(signal);
        let told = run.end();
        assert_eq!(told.code, Some(0), "{signal}: {told:?}");
        assert!(
            told.err.contains("stopping") && told.out.contains("URLs harvested in"),
            "{signal}: {told:?}"
        );
        assert_eq!(world.json(&["queue", "--state", "in-flight"]).len(), 0, "{signal}");
        world.check();
    }
}

/// Who begins it so wants it to outlive its terminal.
#[test]
fn i1_a_signal_that_was_ignored_from_the_start_stays_so() {
    let world = endless();
    let way = world.way();
    let skurd = format!(
        "trap '' HUP; exec {} crawl http://a.test/0 --delay 0s {}",
        crate::SKURD,
        way.map(|word| format!("'{word}'")).join(" ")
    );
    let run = Run::of("sh", world.dir.path(), &["-c", &skurd]);
    world.web().wait_for(20);
    run.signal("-HUP");
    world.web().wait_for(world.web().count() + 50);
    run.interrupt();
    assert_eq!(run.end().code, Some(0));
}

/// While the directory is opened, recovered, checked and filled: whichever step the signal meets,
/// the end is clean.
#[test]
fn i1_a_signal_during_the_start_ends_cleanly() {
    let world = endless();
    let seeds: String =
        (0..20_000).map(|n| format!("  - {{url: 'http://s{n}.test/', profiles: [p]}}\n")).collect();
    let config = "settings: {politeness: {factor: 0, min: 0s, max: 0s}}\ncollections: [{name: c}]\nprofiles: [{name: p, collection: c, every: 1d, length: 1}]\n";
    world.write("c.yaml", &format!("{config}seeds:\n{seeds}"));
    for signal in ["-INT", "-TERM", "-HUP"] {
        let run = world.start(&["c.yaml", "--until-done"]);
        // From when the directory is its own, which is long before it fetches anything.
        let lock = world.data().join("LOCK");
        let own = format!("{}", run.id());
        while std::fs::read_to_string(&lock).ok().is_none_or(|text| text.trim() != own) {
            assert!(run.is_running(), "it ended");
            std::thread::yield_now();
        }
        run.signal(signal);
        let told = run.end();
        assert_eq!(told.code, Some(0), "{signal}: {told:?}");
        assert!(
            told.err.contains("stopped before the harvest began") || told.err.contains("stopping"),
            "{signal}: {told:?}"
        );
        world.good(&["store", "check", world.data().to_str().unwrap()]);
    }
    let told = world.crawl(&["c.yaml", "--max-urls", "5", "--json"]);
    assert_eq!(told.code, Some(0), "{told:?}");
}
