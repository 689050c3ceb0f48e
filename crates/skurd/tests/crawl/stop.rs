//! Ctrl-C: a clean end, and the same command goes on.

use crate::reply::Reply;
use crate::world::World;

const PAGES: usize = 300;

#[test]
fn i1_f7_ctrl_c_ends_cleanly_and_the_same_command_goes_on() {
    let world = World::new(|ask| match ask.path[1..].parse::<usize>() {
        Ok(number) if number < PAGES => {
            Reply::html(format!("<a href='/{}'>next</a> <a href='/{}'>far</a>", number + 1, number * 2 + 1))
        }
        _ if ask.path == "/robots.txt" => Reply::text(""),
        _ => Reply::not_found(),
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
        world.web.wait_for(stops * 100);
        run.interrupt();
        let told = run.end();
        assert_eq!(told.code, Some(0), "{told:?}");
        assert!(told.out.contains("URLs harvested in"), "{}", told.out);
        assert!(told.err.contains("stopping"), "{}", told.err);
        assert_eq!(world.json(&["queue", "--state", "in-flight"]).len(), 0);
        // Complete files, and what was asked for is archived: nothing was thrown away.
        world.check();
        let asked = world.web.seen().iter().filter(|seen| seen.ask.path != "/robots.txt").count();
        assert_eq!(world.captures().len(), asked);
        assert!(asked < 2 * PAGES, "it was to be stopped in the middle");
    }
    let told = world.crawl(&args);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert_eq!(world.captures().len(), 2 * PAGES);
    for host in ["a", "b"] {
        for number in 0..PAGES {
            assert_eq!(world.web.times(&format!("http://{host}.test/{number}")), 1, "{host} {number}");
        }
    }
    world.check();
}
