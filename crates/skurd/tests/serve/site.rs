//! What most tests serve: two collections, three hosts, and pages one after the other.

use testkit::web::Answer;
use testkit::world::World;

/// Two collections, three hosts; slow enough that something is always left.
pub(crate) const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 20ms, max: 20ms}}
collections: [{name: news}, {name: law}]
profiles:
  - {name: daily, collection: news, every: 1d}
  - {name: weekly, collection: law, every: 7d}
seeds:
  - {url: 'http://a.test/', name: a, profiles: [daily]}
  - {url: 'http://b.test/', profiles: [daily, weekly]}
";

/// The pages of a host, one after the other: `/`, `/1`, `/2`, …
pub(crate) fn world(pages: usize) -> World {
    let world =
        World::new(crate::SKURD, move |ask| match (ask.path.as_str(), ask.path[1..].parse::<usize>()) {
            ("/robots.txt", _) => Answer::text(""),
            ("/", _) => Answer::html("<title>First</title><script>alert(1)</script><a href='/1'>on</a>"),
            (_, Ok(number)) if number < pages => Answer::html(format!("<a href='/{}'>on</a>", number + 1)),
            _ => Answer::not_found(),
        });
    world.write("c.yaml", CONFIG);
    world
}

/// What a command came to: its exit code and what it said.
pub(crate) fn told(world: &World, args: &[&str]) -> (Option<i32>, String, String) {
    let told = world.skurd(args);
    (told.code, told.out, told.err)
}
