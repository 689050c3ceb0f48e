//! `tregt.test`: the town hall, which takes its time.
//!
//! Nothing comes before 300 ms, and then only bit by bit. The clock on its tower is the one page
//! that is never the same.

use std::time::Duration;

use crate::web::{Answer, Ask};

use super::Memory;
use super::html::{Site, list, number, prose};
use super::reply::Reply;

const SITE: Site = Site {
    name: "Skurdvik rådhus",
    motto: "we shall see",
    colour: "#555555",
    menu: "[Counter](/) · [Forms](/skjema) · [Tower clock](/klokke)",
    foot: "Waiting room reading: [Skurdvik Avis](http://avis.test/), [a long book](http://bibliotek.test/bok/det-lange-trekket)",
};

const FIRST_BYTE: Duration = Duration::from_millis(300);
const DRIP: Duration = Duration::from_millis(20);
const DRIPS: usize = 8;
const FORMS: u32 = 4;

pub(super) fn answer(ask: &Ask, memory: &Memory) -> Answer {
    if ask.path == "/robots.txt" {
        return Reply::text("User-agent: *\nCrawl-delay: 0.1\nDisallow: /arkivskap/\n").send();
    }
    let page = page(&ask.path, memory);
    let (status, text) =
        page.unwrap_or_else(|| (404, SITE.page("Ukjent sak", &prose("Your case is not known to us yet."))));
    let each = text.len() / DRIPS + 1;
    Reply::html(text).status(status).drip(each, DRIP).after(FIRST_BYTE)
}

fn page(path: &str, memory: &Memory) -> Option<(u16, String)> {
    let page = match path {
        "/" => SITE.page(
            "Skranken",
            &prose(
                "Take a number. You are next, in a way. [All forms](/skjema), or [the locker](/arkivskap/a).",
            ),
        ),
        "/skjema" => SITE.page("Skjemaer", &forms()),
        "/klokke" => SITE.page(
            "Tårnklokka",
            &prose(&format!("{} ms since the town woke up.", memory.elapsed().as_millis())),
        ),
        _ => form(path)?,
    };
    Some((200, page))
}

fn forms() -> String {
    let names = ["Application to apply", "Notice of notice", "Complaint about waiting", "Permission to ask"];
    list((1u32..).zip(names).map(|(number, name)| (format!("/skjema/{number}"), name)))
}

fn form(path: &str) -> Option<String> {
    let number = number(path, "/skjema/", FORMS)?;
    let next = number % FORMS + 1;
    let text = format!(
        "To fill in this form, first fill in [form {next}](/skjema/{next}). Blank copies: [the shop](http://www.butikk.test/vare/skjema)."
    );
    Some(SITE.page(&format!("Skjema {number}"), &prose(&text)))
}
