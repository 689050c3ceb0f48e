//! `privat.test`: the rowing club, which shows its members more than others.
//!
//! Who comes with the members' cookie is greeted by name and given a session, without which no
//! members' page opens. Who comes without sees a form. The way out ends the membership for whoever
//! follows it, harvesters included.

use crate::web::{Answer, Ask};

use super::Memory;
use super::html::{Site, list, number, prose};
use super::reply::Reply;

const SITE: Site = Site {
    name: "Skurdvik roklubb",
    motto: "all in the same boat",
    colour: "#0b5d8a",
    menu: "[Boathouse](/) · [About](/om) · [Members](/medlem/)",
    foot: "Knots: [the library](http://bibliotek.test/bok/knuter) · Results: [Skurdvik Avis](http://avis.test/sport)",
};

/// The cookie that logs in, and what it must be.
const LOGIN: (&str, &str) = ("medlem", "kari-aare");
const SESSION: &str = "okt";
const TRIPS: u32 = 5;

pub(super) fn answer(ask: &Ask, memory: &Memory) -> Answer {
    let member = ask.cookie(LOGIN.0) == Some(LOGIN.1);
    let reply = match ask.path.as_str() {
        "/robots.txt" => Reply::text("No rules for robots; mind the oars.\n").status(404),
        "/om" => SITE.reply(
            "Om klubben",
            &prose("Founded in 1896 by people who had missed [the ferry](http://omvei.test/ferge)."),
        ),
        "/logg-ut" => logout(),
        "/" if member => welcome(memory),
        "/" => SITE.reply("Logg inn", LOGIN_FORM),
        path if path.starts_with("/medlem/") && !member => SITE
            .reply("Bare for medlemmer", LOGIN_FORM)
            .status(401)
            .header("WWW-Authenticate", "Cookie realm=\"roklubb\""),
        path if path.starts_with("/medlem/") && !has_session(ask, memory) => lost_session(),
        path => members_page(path).unwrap_or_else(|| SITE.not_found()),
    };
    reply.header("Vary", "Cookie").send()
}

const LOGIN_FORM: &str = "<p>Who goes there?</p>\n<form action=\"/\" method=\"post\"><label>Navn <input name=\"navn\"></label> \
    <button>Ro inn</button></form>\n<p>No boat yet? Read <a href=\"/om\">about us</a>.</p>\n";

fn welcome(memory: &Memory) -> Reply {
    let session = memory.count(SESSION);
    let body = prose("Logged in as Kari Åre. [Members' pages](/medlem/), or [log out](/logg-ut).");
    SITE.reply("Velkommen om bord", &body)
        .header("Set-Cookie", format!("{SESSION}=aare-{session}; Path=/; HttpOnly; SameSite=Lax"))
}

/// Only sessions that were given out count.
fn has_session(ask: &Ask, memory: &Memory) -> bool {
    let number = ask
        .cookie(SESSION)
        .and_then(|value| value.strip_prefix("aare-"))
        .and_then(|number| number.parse().ok());
    number.is_some_and(|number: u64| (1..=memory.counted(SESSION)).contains(&number))
}

fn lost_session() -> Reply {
    SITE.reply(
        "Økten er over bord",
        &prose("You are a member, but came without your session. Start [at the door](/)."),
    )
    .status(403)
}

fn logout() -> Reply {
    let gone = |name: &str| format!("{name}=; Path=/; Max-Age=0");
    SITE.reply("Ha det", &prose("You are logged out, oar and all. [Back to the door](/)."))
        .header("Set-Cookie", gone(LOGIN.0))
        .header("Set-Cookie", gone(SESSION))
}

fn members_page(path: &str) -> Option<Reply> {
    let (title, text) = match path {
        "/medlem/" => return Some(SITE.reply("Medlemssider", &members_list())),
        "/medlem/roller" => {
            ("Rollene", "Kari steers. Everyone else rows, [in a ring](http://avis.test/sak/roing).")
        }
        "/medlem/noekkel" => {
            ("Nøkkelen", "It hangs under the third stone. Do not tell [the paper](http://avis.test/).")
        }
        "/medlem/dans" => (
            "Bildene fra dansen",
            "What happens in the boathouse stays in [gallery 2](http://bilder.avis.test/galleri/2).",
        ),
        _ => return trip(path),
    };
    Some(SITE.reply(title, &prose(text)))
}

fn members_list() -> String {
    let pages =
        [("/medlem/roller", "Who does what"), ("/medlem/noekkel", "The key"), ("/medlem/dans", "The dance")];
    let trips = (1..=TRIPS).map(|trip| (format!("/medlem/tur/{trip}"), "A trip that went well"));
    list(pages.map(|(path, name)| (path.to_owned(), name)).into_iter().chain(trips))
        + &prose("Done? [Log out](/logg-ut).")
}

fn trip(path: &str) -> Option<Reply> {
    let trip = number(path, "/medlem/tur/", TRIPS)?;
    let text = format!(
        "We rowed {} nautical miles and read [Ringene i vannet](http://bibliotek.test/bok/ringene) aloud.",
        trip * 3
    );
    Some(SITE.reply(&format!("Tur {trip}"), &prose(&text)))
}
