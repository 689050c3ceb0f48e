//! A walk and a crawl on the same host share it.

use std::time::Duration;

use testkit::web::Answer;
use testkit::world::World;

use crate::walker::Walker;

#[test]
fn l8_a_walk_and_a_crawl_share_their_host_politely() {
    const PAGES: usize = 30;
    let world = World::new(crate::SKURD, |ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        "/" => {
            let links: String = (0..PAGES).map(|page| format!("<a href='/page/{page}'>{page}</a>")).collect();
            Answer::html(links)
        }
        path => Answer::html(path),
    });
    world.write(
        "c.yaml",
        "
settings: {politeness: {factor: 0, min: 20ms, max: 20ms, parallel: 1}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 1d, length: 1}]
seeds: [{url: 'http://a.test/', profiles: [p]}]
walks: [{template: 'http://a.test/id/{id}', profile: p, min: 1, max: 30}]
",
    );
    world.crawl_json(&["c.yaml", "--until-done"]);
    let asked = world.asked();
    assert_eq!(asked.len(), 1 + 2 * PAGES);
    // By turns, as long as both have something to do.
    let kinds: Vec<bool> =
        asked.iter().filter(|url| *url != "a.test/").map(|url| url.contains("/id/")).collect();
    let both =
        kinds.iter().rposition(|walk| *walk).unwrap().min(kinds.iter().rposition(|walk| !*walk).unwrap());
    let changes = kinds[..both].windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes * 10 >= both * 8, "{kinds:?}");
    let seen = world.web().seen();
    for pair in seen.windows(2) {
        let pause = pair[1].begin - pair[0].end.unwrap();
        assert!(pause >= Duration::from_millis(20), "{} {}: {pause:?}", pair[0].ask.path, pair[1].ask.path);
    }
    world.check();
}
