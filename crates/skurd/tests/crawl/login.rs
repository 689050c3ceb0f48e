//! One site, logged in and logged out, side by side.

use testkit::web::{Answer, Ask};
use testkit::world::World;

const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections:
  - {name: open, warc_prefix: OPEN}
  - name: members
    warc_prefix: MEMBERS
    user_agent: members/1 (+http://archive.test/)
    headers: {X-Key: seven}
    cookies: [{host: club.test, name: member, value: kari}]
profiles:
  - {name: out, collection: open, every: 2s, length: 2}
  - {name: in, collection: members, every: 2s, length: 2}
seeds:
  - {name: out, url: 'http://club.test/', profiles: [out]}
  - {name: in, url: 'http://club.test/', profiles: [in]}
";

/// Each visitor gets a session of its own, so that the page says who is who.
fn site(ask: &Ask) -> Answer {
    if ask.path != "/" {
        return Answer::not_found();
    }
    let cookies = ask.header("cookie").unwrap_or_default();
    let (page, session) = match cookies.contains("member=kari") {
        true => ("welcome, Kari", "session=in; Path=/; Max-Age=3600"),
        false => ("please log in", "session=out; Path=/; Max-Age=3600"),
    };
    let other = "elsewhere=no; Domain=other.test";
    let headers = [("Content-Type", "text/html"), ("Set-Cookie", session), ("Set-Cookie", other)];
    Answer::of(200, &headers, format!("{page} {}", ask.nth))
}

#[test]
fn a7_a_site_is_harvested_logged_in_and_logged_out_with_jars_kept_over_restarts() {
    let world = World::new(crate::SKURD, site);
    world.write("c.yaml", CONFIG);
    // The first visit of each, then another process for the second.
    world.crawl_json(&["c.yaml", "--max-urls", "2"]);
    world.crawl_json(&["c.yaml", "--until-done"]);
    world.check();

    let visits = |key: Option<&str>| -> Vec<Vec<String>> {
        let own = world
            .web()
            .seen()
            .into_iter()
            .filter(|seen| seen.ask.url() == "http://club.test/" && seen.ask.header("x-key") == key);
        own.map(|seen| {
            let cookie = seen.ask.header("cookie").unwrap_or_default();
            let mut pairs: Vec<String> =
                cookie.split("; ").filter(|pair| !pair.is_empty()).map(str::to_owned).collect();
            pairs.sort();
            pairs
        })
        .collect()
    };
    assert_eq!(visits(None), [vec![], vec!["session=out"]]);
    assert_eq!(visits(Some("seven")), [vec!["member=kari"], vec!["member=kari", "session=in"]]);
    for seen in world.web().seen() {
        let agent = seen.ask.header("user-agent").unwrap();
        let expected = if seen.ask.header("x-key").is_some() { "members/1 (+http" } else { "skurd/" };
        assert!(agent.starts_with(expected) || seen.ask.path == "/robots.txt", "{agent}");
    }

    let captures = world.captures();
    assert_eq!(captures.len(), 4);
    for capture in &captures {
        let file = capture["file"].as_str().unwrap();
        let prefix = if capture["collection"] == "open" { "OPEN-" } else { "MEMBERS-" };
        assert!(file.starts_with(prefix), "{capture}");
    }
    let of_open = world.json(&["captures", "--collection", "open", "http://club.test/"]);
    assert_eq!(of_open.len(), 2, "{of_open:?}");
}

/// One host sets cookies for itself and for its domain; a sibling is asked by another process.
#[test]
fn a7_a_cookie_of_the_domain_reaches_sibling_hosts_also_after_a_restart() {
    let site = |ask: &Ask| match (ask.path.as_str(), ask.url().contains("//one.")) {
        ("/", true) => {
            let headers = [
                ("Content-Type", "text/html"),
                ("Set-Cookie", "own=1; Path=/"),
                ("Set-Cookie", "whole=1; Path=/; Domain=club.test"),
                ("Set-Cookie", "other=1; Path=/; Domain=two.club.test"),
            ];
            Answer::of(200, &headers, "one")
        }
        ("/", false) => Answer::of(200, &[("Content-Type", "text/html")], "two"),
        _ => Answer::not_found(),
    };
    let world = World::new(crate::SKURD, site);
    let config = |host: &str| {
        format!(
            "settings: {{politeness: {{factor: 0, min: 0s, max: 0s}}}}\ncollections: [{{name: all}}]\n\
             profiles: [{{name: once, collection: all, every: 1d, length: 1}}]\n\
             seeds: [{{name: {host}, url: 'http://{host}.club.test/', profiles: [once]}}]\n"
        )
    };
    for host in ["one", "two"] {
        world.write(&format!("{host}.yaml"), &config(host));
        world.crawl_json(&[&format!("{host}.yaml"), "--until-done"]);
    }
    world.check();
    let cookies = |url: &str| -> Vec<String> {
        let asked = world.web().seen().into_iter().filter(|seen| seen.ask.url() == url);
        asked.map(|seen| seen.ask.header("cookie").unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(cookies("http://one.club.test/"), [""]);
    assert_eq!(cookies("http://two.club.test/"), ["whole=1"]);
}
