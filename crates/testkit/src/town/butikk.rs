//! `www.butikk.test`: the shop.
//!
//! Everything is packed for those who take gzip. The basket is a cookie that must come back. Goods
//! can be sorted in more ways than there are goods, and some links carry a session in their query:
//! the same page under many names.

use crate::web::{Answer, Ask};

use super::Memory;
use super::html::{Site, list, prose};
use super::reply::Reply;

const SITE: Site = Site {
    name: "Butikken",
    motto: "one of everything, two of some",
    colour: "#9a5b00",
    menu: "[All goods](/) · [Klær](/klaer) · [Papir](/papir) · [Hjem](/hjem) · [Your basket](/kurv)",
    foot: "As advertised in [Skurdvik Avis](http://avis.test/) · Read before you knit: [the library](http://bibliotek.test/bok/strikk)",
};

const CATEGORIES: [(&str, &str); 3] = [("klaer", "Klær"), ("papir", "Papir"), ("hjem", "Hjem")];

/// Slug, category, name, price, and what is to say.
const GOODS: [(&str, &str, &str, u32, &str); 15] = [
    (
        "votter",
        "klaer",
        "Votter, per stykk",
        120,
        "Left or right. Both is [a matter of debate](http://avis.test/sak/priser).",
    ),
    ("regnfrakk", "klaer", "Regnfrakk", 890, "Tested [daily](http://avis.test/vaeret)."),
    ("lue", "klaer", "Lue", 240, "Also for cats with a [library card](http://avis.test/sak/laanekort)."),
    ("sokker", "klaer", "Sokker", 99, "Sold in threes, for losses."),
    (
        "genser",
        "klaer",
        "Islender, nesten",
        1400,
        "The pattern shows the mountain, [naturally](http://bilder.avis.test/).",
    ),
    (
        "postkort",
        "papir",
        "Postkort",
        15,
        "The mountain, from [gallery 3](http://bilder.avis.test/galleri/3).",
    ),
    ("bokmerke", "papir", "Bokmerke", 25, "By appointment to [the library](http://bibliotek.test/)."),
    (
        "regnbok",
        "papir",
        "Regnboka, vanntett",
        310,
        "Can be borrowed dry at [the library](http://bibliotek.test/bok/regnboka).",
    ),
    ("kalender", "papir", "Kalender 2026", 150, "Ends in December, unlike [some](http://felle.test/)."),
    ("skjema", "papir", "Skjema, 50 stk.", 60, "Empty forms for [the town hall](http://tregt.test/)."),
    ("kaffekanne", "hjem", "Kaffekanne", 450, "For forty, see [the book](http://bibliotek.test/bok/kaffe)."),
    ("lampe", "hjem", "Lampe", 620, "Slow to start, like [the town hall](http://tregt.test/)."),
    ("spiker", "hjem", "Spiker", 2, "Modern. For old ones ask [the archive](http://arkiv.test/)."),
    ("tau", "hjem", "Tau", 35, "Per metre, with [instructions](http://bibliotek.test/bok/knuter)."),
    (
        "syltetoey",
        "hjem",
        "Blåbærsyltetøy",
        85,
        "Of [the forty-one litres](http://avis.test/sak/bl%C3%A5b%C3%A6r).",
    ),
];

pub(super) fn answer(ask: &Ask, memory: &Memory) -> Answer {
    if ask.path == "/robots.txt" {
        return Reply::text("No robots here, only mittens.\n").status(404).send();
    }
    let mut reply = page(ask);
    if ask.cookie("kurv").is_none() {
        let basket = memory.count("basket");
        reply = reply.header("Set-Cookie", format!("kurv={basket}; Path=/; HttpOnly"));
    }
    reply.gzip_for(ask).send()
}

fn page(ask: &Ask) -> Reply {
    match ask.path.as_str() {
        "/" => SITE.reply("Alle varer", &shelf(None, &ask.query)),
        "/kurv" => basket(ask),
        path => category(path, &ask.query).or_else(|| goods(path)).unwrap_or_else(|| SITE.not_found()),
    }
}

fn basket(ask: &Ask) -> Reply {
    let text = match ask.cookie("kurv") {
        Some(_) => "Your basket remembers you. It is empty, but it is yours.",
        None => "We have never met. Take this basket and [come back](/kurv).",
    };
    SITE.reply("Kurven", &prose(text)).header("Cache-Control", "private")
}

fn category(path: &str, query: &str) -> Option<Reply> {
    let (slug, name) = CATEGORIES.iter().find(|(slug, _)| path.strip_prefix('/') == Some(slug))?;
    Some(SITE.reply(name, &shelf(Some(slug), query)))
}

fn shelf(category: Option<&str>, query: &str) -> String {
    let mut goods: Vec<_> =
        GOODS.iter().filter(|goods| category.is_none_or(|slug| slug == goods.1)).collect();
    match query {
        "sort=pris" => goods.sort_by_key(|goods| goods.3),
        "sort=navn" => goods.sort_by_key(|goods| goods.2),
        _ => {}
    }
    prose("Sort by [price](?sort=pris) or [name](?sort=navn).")
        + &list(goods.iter().map(|(slug, _, name, ..)| (format!("/vare/{slug}"), *name)))
        + &prose(
            "On offer: [coats, for you alone](/vare/regnfrakk?sid=4711) and [coats, for you too](/vare/regnfrakk?sid=4712).",
        )
}

fn goods(path: &str) -> Option<Reply> {
    let slug = path.strip_prefix("/vare/")?;
    let (_, category, name, price, text) = GOODS.iter().find(|goods| goods.0 == slug)?;
    Some(SITE.reply(name, &prose(&format!("{text}\n{price} kr. More [of this kind](/{category})."))))
}
