//! `ferie.test`: an island on holiday. Its robots.txt is out of order at first, so nothing there
//! may be taken until it answers.

use crate::web::{Answer, Ask};

use super::Memory;
use super::html::{Site, prose};
use super::reply::Reply;

const SITE: Site = Site {
    name: "Ferieøya",
    motto: "back soon",
    colour: "#c98a00",
    menu: "[Jetty](/) · [Beach](/strand) · [Cabin](/hytte)",
    foot: "Sent from the island to [Skurdvik Avis](http://avis.test/) and [the library](http://bibliotek.test/)",
};

/// How often robots.txt fails before it works.
const OUT_OF_ORDER: u64 = 2;

pub(super) fn answer(ask: &Ask, memory: &Memory) -> Answer {
    let (title, text) = match ask.path.as_str() {
        "/robots.txt" => return robots(memory.count("robots of ferie.test")),
        "/" => (
            "Brygga",
            "Sunny, as [the paper](http://avis.test/sak/sol) could not confirm. [A postcard](/postkort).",
        ),
        "/strand" => ("Stranda", "Eleven grains of sand, all named."),
        "/hytte" => ("Hytta", "One book: [Stillhet](http://bibliotek.test/bok/stillhet)."),
        "/postkort" => {
            ("Postkort", "Wish you were here. From [the shop](http://www.butikk.test/vare/postkort).")
        }
        _ => return SITE.not_found().send(),
    };
    SITE.reply(title, &prose(text)).unless_same(ask).send()
}

fn robots(time: u64) -> Answer {
    let reply = match time {
        ..=OUT_OF_ORDER => Reply::text("On holiday.\n").status(503),
        _ => Reply::text("User-agent: *\nDisallow: /hengekoeye/\n"),
    };
    reply.send()
}
