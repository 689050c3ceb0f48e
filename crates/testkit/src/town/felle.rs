//! `felle.test`: a trap. A calendar without end, a staircase that repeats itself, and a list with
//! always one more page.
//!
//! A harvester leaves it by depth, by counting repeats, or by a rule; never by having seen it all.

use crate::web::{Answer, Ask};

use super::html::{Site, list, prose};
use super::reply::Reply;

const SITE: Site = Site {
    name: "Kalenderlauget",
    motto: "tomorrow, and tomorrow, and tomorrow",
    colour: "#7a1f5c",
    menu: "[Start](/) · [This month](/kalender/2026/11)",
    foot: "A calendar that ends: [in the shop](http://www.butikk.test/vare/kalender)",
};

const DAYS: [u32; 3] = [1, 13, 24];

pub(super) fn answer(ask: &Ask) -> Answer {
    page(ask).unwrap_or_else(|| SITE.not_found()).send()
}

fn page(ask: &Ask) -> Option<Reply> {
    match ask.path.as_str() {
        "/" => Some(SITE.reply("Velkommen", &prose(WELCOME))),
        "/robots.txt" => Some(Reply::text("User-agent: *\nDisallow: /bakdoer/\n")),
        "/bakdoer/" => Some(SITE.reply("Bakdøra", &prose("The way out was [here](/bakdoer/) all the time."))),
        "/liste" => Some(endless_list(&ask.query)),
        path if path.starts_with("/trapp/") => staircase(path),
        path => calendar(path),
    }
}

const WELCOME: &str = "\
    Enter where you like: [the calendar](/kalender/2026/11), [the stairs](/trapp/opp/), [the list](/liste?side=1).
    Only [the back door](/bakdoer/) is closed to robots.
    People have written [to the paper](http://avis.test/sak/kalender) about this.";

fn endless_list(query: &str) -> Reply {
    let side: u64 = query.strip_prefix("side=").and_then(|number| number.parse().ok()).unwrap_or(1);
    let next = side.saturating_add(1);
    SITE.reply(
        &format!("Side {side}"),
        &prose(&format!("Nothing on this page, but see [the next one](/liste?side={next}).")),
    )
}

/// Every step has the same link, which leads one step further up.
fn staircase(path: &str) -> Option<Reply> {
    let steps = path.strip_prefix("/trapp/")?.strip_suffix('/')?;
    let all_alike = steps.split('/').all(|step| step == "opp");
    all_alike.then(|| SITE.reply("Trappen", &prose("Just [a little further up](opp/).")))
}

fn calendar(path: &str) -> Option<Reply> {
    let parts: Option<Vec<u32>> =
        path.strip_prefix("/kalender/")?.split('/').map(|part| part.parse().ok()).collect();
    match *parts?.as_slice() {
        [year @ 1..=9999, month @ 1..=12] => Some(month_page(year, month)),
        [year @ 1..=9999, month @ 1..=12, day @ 1..=31] => Some(day_page(year, month, day)),
        _ => None,
    }
}

fn month_page(year: u32, month: u32) -> Reply {
    let before = if month == 1 { (year - 1, 12) } else { (year, month - 1) };
    let after = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let months = [(before, "Earlier"), (after, "Later")]
        .map(|((year, month), name)| (format!("/kalender/{year}/{month}"), name));
    let days = DAYS.map(|day| (format!("/kalender/{year}/{month}/{day}"), "A day like any other"));
    SITE.reply(&format!("{month}/{year}"), &list(months.into_iter().chain(days)))
}

fn day_page(year: u32, month: u32, day: u32) -> Reply {
    let text = format!(
        "Nothing happens on this day. [The next year](/kalender/{}/{month}/{day}) it happens again.",
        year + 1
    );
    SITE.reply(&format!("{day}.{month}.{year}"), &prose(&text))
}
