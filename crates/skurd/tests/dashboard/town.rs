//! A web with something of everything, and a server at work on it that has seeds and a walk.

use testkit::web::{Answer, Ask};
use testkit::world::{Served, World};

/// What would run if anything of it were taken for markup.
pub(crate) const EVIL: &str = "<script>window.hacked=1</script><img src=x onerror=\"window.hacked=2\">";
pub(crate) const EVIL_URL: &str = "http://a.test/evil?x=%22%3E%3Cscript%3Ewindow.hacked=3%3C/script%3E";

const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 60ms, max: 60ms}}
collections: [{name: news}, {name: law}]
profiles:
  - {name: daily, collection: news, every: 1d}
  - {name: weekly, collection: law, every: 7d}
seeds:
  - {url: 'http://a.test/', name: a, profiles: [daily]}
  - {url: 'http://b.test/', name: b, profiles: [daily, weekly]}
  - {url: 'http://gone.test/', name: gone, profiles: [weekly]}
walks:
  - {template: 'http://a.test/item/{id}', name: items, profile: daily, min: 1, max: 60, margin: 12}
";

/// `a.test` and `b.test` go on for ever, page by page, and know each other; the items of `a.test`
/// end at 40, with gaps; nobody is at `gone.test`.
fn site(ask: &Ask) -> Answer {
    let number = ask.path[1..].parse::<usize>();
    let item = ask.path.strip_prefix("/item/").and_then(|id| id.parse::<u64>().ok());
    match (ask.host.as_str(), ask.path.as_str()) {
        (_, "/robots.txt") => Answer::text("User-agent: *\nDisallow: /secret\n"),
        ("gone.test", _) => Answer::not_found(),
        ("a.test", "/") => Answer::html(format!(
            "<title>{0}</title>{EVIL}<a href='/1'>on</a> <a href='/secret'>secret</a> <a href='{EVIL_URL}'>{0}</a> \
             <a href='http://b.test/'>the other town</a>",
            escaped(EVIL)
        )),
        (_, "/") => Answer::html(
            "<a href='/1'>on</a> <a href='http://a.test/'>the \u{202E}first town</a> \
             <a href='https://nowhere.test/never'>never captured</a>",
        ),
        _ if number.is_ok() => {
            let number = number.unwrap_or(0);
            // Few enough that who links to the first page fits on one.
            let back = if number <= 20 { "<a href='/'>back</a>" } else { "" };
            Answer::html(format!("<a href='/{}'>on</a> {back}", number + 1))
        }
        _ if item.is_some_and(|id| id <= 40 && id % 7 != 0) => Answer::html("an item"),
        (_, path) if path.starts_with("/evil") => Answer::html(format!("<title>{EVIL}</title>{EVIL}")),
        _ => Answer::not_found(),
    }
}

/// As a page writes it that means the text.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

pub(crate) struct Town {
    pub(crate) served: Served,
    pub(crate) world: World,
}

impl Town {
    pub(crate) fn open() -> Town {
        Town::with_token(None)
    }

    pub(crate) fn with_token(token: Option<&str>) -> Town {
        let world = World::new(crate::SKURD, site);
        world.write("c.yaml", CONFIG);
        let served = Served::with(&world, &["c.yaml"], token);
        Town { served, world }
    }

    /// Until so many harvests are done.
    pub(crate) fn harvested(&self, count: u64) {
        self.served.until("harvests", |served| {
            served.json("status")["figures"]["harvests"].as_u64().unwrap() >= count
        });
    }
}
