//! The web of the chaos test. Every answer carries a number of its own, which the archive keeps
//! with it: so the test can tell without any clock which answer a record is, and what became of
//! every answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use testkit::web::{Answer, Ask};

/// The head line with the number.
pub(crate) const NUMBER: &str = "X-Answer";
/// Pages of `pages.test` that come to be linked to one after the other.
const LATER_PAGES: usize = 5;
/// So often a page is the same, with the same ETag.
const SAME_TIMES: usize = 4;

/// What was answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// URLs it links to.
    pub(crate) links: Vec<String>,
}

/// By number.
pub(crate) type Log = Arc<Mutex<BTreeMap<usize, Answered>>>;

/// A page: what it links to, and how long it takes.
struct Page {
    links: Vec<String>,
    edition: usize,
    pause: Duration,
}

pub(crate) fn site(log: Log) -> impl Fn(&Ask) -> Answer + Send + Sync + 'static {
    move |ask| {
        let (status, links, reply) = answer(ask);
        log.lock().insert(ask.number, Answered { status, links });
        reply
    }
}

fn answer(ask: &Ask) -> (u16, Vec<String>, Answer) {
    let number = ask.number.to_string();
    let own = (NUMBER, number.as_str());
    let kind = ("Content-Type", "text/html; charset=utf-8");
    let Some(page) = page(ask) else {
        let status = if ask.path.starts_with("/private/") { 403 } else { 404 };
        return (status, Vec::new(), Answer::of(status, &[own, ("Content-Type", "text/plain")], "not here"));
    };
    if ask.path == "/robots.txt" {
        let reply =
            Answer::of(200, &[own, ("Content-Type", "text/plain")], "User-agent: *\nDisallow: /never\n");
        return (200, Vec::new(), reply);
    }
    let links: Vec<String> = page.links.iter().map(|path| format!("http://{}{path}", ask.host)).collect();
    let tag = format!("\"{}\"", page.edition);
    if ask.header("if-none-match") == Some(tag.as_str()) {
        return (304, links, Answer::of(304, &[own, ("ETag", &tag)], ""));
    }
    let anchors: String = page.links.iter().map(|path| format!("<a href='{path}'>{path}</a> ")).collect();
    let body = format!("<title>{} {}</title> {}", ask.url(), page.edition, anchors);
    let session = format!("sid={}; Path=/; Max-Age=86400", collection(ask));
    let mut headers = vec![own, kind];
    if ask.host == "pages.test" {
        headers.push(("ETag", &tag));
    }
    if ask.host == "shared.test" && !cookies(ask).contains("sid=") {
        headers.push(("Set-Cookie", &session));
    }
    (200, links, Answer::of(200, &headers, body).after(page.pause))
}

/// None: it is not there, or not for this one.
fn page(ask: &Ask) -> Option<Page> {
    let plain = |links: Vec<String>| Some(Page { links, edition: 0, pause: Duration::ZERO });
    let numbered =
        |prefix: &str, count: usize| (1..=count).map(|n| format!("/{prefix}{n}")).collect::<Vec<_>>();
    let path = ask.path.as_str();
    if path == "/robots.txt" {
        return plain(Vec::new());
    }
    match ask.host.as_str() {
        "shared.test" => {
            let member = cookies(ask).contains("member=kari");
            match path {
                "/" if member => plain([numbered("a", 4), numbered("private/", 3)].concat()),
                "/" => plain(numbered("a", 4)),
                _ if path.starts_with("/private/") => member.then(|| plain(Vec::new()))?,
                _ if path.starts_with("/a") => plain(vec!["/".to_owned()]),
                _ => path
                    .strip_prefix("/n/")?
                    .parse()
                    .ok()
                    .filter(|id| near(*id))
                    .and_then(|_| plain(Vec::new())),
            }
        }
        "pages.test" => {
            let edition = ask.nth / SAME_TIMES;
            let links = match path {
                "/" => [numbered("p", 5), numbered("later/", edition.min(LATER_PAGES))].concat(),
                _ => vec!["/".to_owned()],
            };
            Some(Page { links, edition, pause: Duration::ZERO })
        }
        // Longer than many a process lives.
        "slow.test" => {
            let links = if path == "/" { numbered("s", 3) } else { Vec::new() };
            Some(Page {
                links,
                edition: ask.nth / 2,
                pause: Duration::from_millis(200 + 250 * (ask.number as u64 % 4)),
            })
        }
        "walk.test" => {
            let id = path.strip_prefix("/w/")?.parse().ok()?;
            found(id, ask.nth).then(|| plain(Vec::new()))?
        }
        host if host.starts_with('e') => plain(if path == "/" { numbered("x", 2) } else { Vec::new() }),
        _ => None,
    }
}

/// Ids of `walk.test` that can be found at all.
pub(crate) fn exists(id: u64) -> bool {
    !id.is_multiple_of(5)
}

/// Some only when they are asked for again.
fn found(id: u64, nth: usize) -> bool {
    exists(id) && (!id.is_multiple_of(7) || nth > 0)
}

/// Ids of `shared.test`, around its middle.
pub(crate) fn near(id: u64) -> bool {
    (30..=75).contains(&id) && !id.is_multiple_of(6)
}

pub(crate) fn cookies(ask: &Ask) -> &str {
    ask.header("cookie").unwrap_or_default()
}

/// On whose behalf: each collection introduces itself by its name.
pub(crate) fn collection(ask: &Ask) -> String {
    ask.header("user-agent").unwrap_or_default().split('/').next().unwrap_or_default().to_owned()
}
