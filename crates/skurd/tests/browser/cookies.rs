//! Cookies on their way between the jar of a collection and its pages (B15).

use testkit::web::{Answer, Ask};
use testkit::world::World;

use crate::{config, harvest, has_browser, page_info};

const COLLECTIONS: &str = "  - name: member
    engine: browser
    cookies: [{host: site.test, name: login, value: kari}]
    browser: {limits: {quiet: 500ms}}
  - {name: guest, engine: browser, browser: {limits: {quiet: 500ms}}}
";

/// Sets and shows cookies of three hosts: the page's own, one that it names, and one that only its
/// script knows.
const FIRST: &str = "<!DOCTYPE html><a href=/next>next</a><iframe src=https://named.test/frame></iframe>
  <script>
    document.cookie = 'script=own; max-age=3600';
    fetch('https://scripted.test/set', {credentials: 'include', mode: 'no-cors'});
  </script>";
const NEXT: &str = "<!DOCTYPE html><img src=https://named.test/pixel><img src=/own>
  <iframe src=https://named.test/shown></iframe>
  <script>
    fetch('https://scripted.test/get', {credentials: 'include', mode: 'no-cors'});
    fetch('/seen', {method: 'POST', body: document.cookie});
  </script>";

fn set(cookies: &[&str], body: &str) -> Answer {
    let mut headers = vec![("Content-Type", "text/html")];
    headers.extend(cookies.iter().map(|cookie| ("Set-Cookie", *cookie)));
    Answer::of(200, &headers, body)
}

fn site(ask: &Ask) -> Answer {
    match (ask.host.as_str(), ask.path.as_str()) {
        (_, "/robots.txt") => Answer::not_found(),
        ("site.test", "/") if ask.cookie("login").is_some() => set(
            &[
                "member=yes; Max-Age=3600",
                "hidden=h; HttpOnly; Secure; Max-Age=3600",
                "strict=s; SameSite=Strict; Max-Age=3600",
            ],
            FIRST,
        ),
        ("site.test", "/") => set(&[], FIRST),
        ("site.test", "/next") => Answer::html(NEXT),
        ("named.test", "/frame") => set(
            &["abroad=n; SameSite=None; Secure; Max-Age=3600", "home=n; Secure; Max-Age=3600"],
            "<script>document.cookie = 'framed=n; SameSite=None; Secure; max-age=3600'</script>",
        ),
        ("named.test", "/shown") => {
            Answer::html("<script>fetch('/told', {method: 'POST', body: document.cookie})</script>")
        }
        ("scripted.test", "/set") => set(&["abroad=s; SameSite=None; Secure; HttpOnly; Max-Age=3600"], ""),
        _ => Answer::text(""),
    }
}

/// The cookies that came with requests for this, in the order of their names; one line each.
fn came_with(world: &World, host: &str, path: &str) -> Vec<String> {
    let seen = world.web().seen().into_iter().filter(|seen| seen.ask.host == host && seen.ask.path == path);
    let mut lines: Vec<String> =
        seen.map(|seen| sorted(seen.ask.header("cookie").unwrap_or_default())).collect();
    lines.sort();
    lines
}

fn sorted(cookies: &str) -> String {
    let mut pairs: Vec<&str> = cookies.split(';').map(str::trim).collect();
    pairs.sort_unstable();
    pairs.join("; ")
}

fn told(world: &World, path: &str) -> Vec<String> {
    let seen = world.web().seen().into_iter().filter(|seen| seen.ask.path == path);
    let mut lines: Vec<String> =
        seen.map(|seen| sorted(&String::from_utf8(seen.ask.body).unwrap())).collect();
    lines.sort();
    lines
}

#[test]
fn b15_cookies_of_all_hosts_are_there_on_the_next_page_for_whom_they_are_and_in_their_collection() {
    if !has_browser() {
        return;
    }
    let world = World::secure(crate::SKURD, site);
    let url = "https://site.test/";
    harvest(&world, &config(COLLECTIONS, &[("member", url), ("guest", url)]));
    let info = page_info(&world, "https://site.test/next");
    assert_eq!(info["ending"], "ok", "{info:#}");

    // What servers and scripts set on the first page came with the second, of the member and of the
    // guest: the login and what it brought are nobody else's.
    let member = "hidden=h; login=kari; member=yes; script=own; strict=s";
    for path in ["/next", "/own"] {
        assert_eq!(came_with(&world, "site.test", path), [member, "script=own"], "{path}: {info:#}");
    }
    // Scripts do not see what is not for them.
    assert_eq!(told(&world, "/seen"), ["login=kari; member=yes; script=own; strict=s", "script=own"]);

    // Of the others: what may go abroad does, in each collection what was set in it, and to the
    // frame what it may see.
    let abroad = "abroad=n; framed=n";
    for path in ["/pixel", "/shown"] {
        assert_eq!(came_with(&world, "named.test", path), [abroad, abroad], "{path}: {info:#}");
    }
    assert_eq!(told(&world, "/told"), [abroad, abroad]);
    assert_eq!(came_with(&world, "scripted.test", "/get"), ["abroad=s", "abroad=s"], "{info:#}");
    world.check();
}
