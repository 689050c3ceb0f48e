//! `havn.test`: the harbour, whose pages are made by script. Who does not run it finds an empty quay.
//!
//! What a browser has to do there: run a script, fetch what it asks for, scroll until the pictures
//! of the quays are loaded, load a frame of another host, and follow links that no document has. One
//! request is denied by robots.txt, another is a beacon: both are asked for, and refused.

use crate::web::{Answer, Ask};

use super::html::{Site, number};
use super::reply::Reply;

pub(super) const SHIPS: [(&str, &str); 5] = [
    ("Skurdfjord", "carries gravel, and on Sundays the choir"),
    ("Bokbåten", "the library's own, with eleven meters of shelves"),
    ("Stille II", "nobody has heard her arrive"),
    ("Måken", "named by a child, captained by the same child"),
    ("Ferie", "leaves for the island when the island wants her"),
];
const QUAYS: u32 = 6;

const SITE: Site = Site {
    name: "Skurdvik havn",
    motto: "what comes in by sea",
    colour: "#1f6f78",
    menu: "[Arrivals](/) · [Skurdvik Avis](http://avis.test/)",
    foot: "Tide tables are in [the library](http://bibliotek.test/).",
};

const STYLE: &str = "<style>.skip { display: flex; gap: 1rem; align-items: center; margin: .5rem 0 }
.skip b { background: var(--farge); color: #fff; padding: .2rem .6rem; border-radius: 1rem }
.kai { margin-top: 12rem } .kai img { width: 320px; height: 200px } iframe { width: 100%; height: 14rem }
</style>\n<script src=\"/havn.js\" defer></script>\n";

/// Addresses are put together, so that nobody finds them by reading.
const SCRIPT: &str = "\
'use strict';
const at = (...parts) => '/' + parts.join('/');
const make = (tag, inside, more) => Object.assign(document.createElement(tag), more, { textContent: inside });

async function arrivals(list) {
  const { ships } = await (await fetch(at('anlop.json'))).json();
  list.replaceChildren(...ships.map(ship => {
    const row = make('div', '', { className: 'skip' });
    row.append(make('b', ship.at), make('a', ship.name, { href: at('skip', ship.id) }));
    return row;
  }));
  const said = await fetch(at('vakt', 'kamera.json')).then(answer => answer.ok, () => false);
  list.append(make('p', said ? 'The camera is on.' : 'The camera is not for robots.'));
  navigator.sendBeacon(at('teller'), 'seen');
}

async function ship(place) {
  const ship = await (await fetch(at('skip', place.dataset.skip + '.json'))).json();
  place.replaceChildren(make('p', ship.name + ' ' + ship.text + '.'));
}

function quays() {
  const seen = new IntersectionObserver(entries => entries.filter(entry => entry.isIntersecting).forEach(entry => {
    seen.unobserve(entry.target);
    entry.target.append(make('img', '', { src: at('kai', entry.target.dataset.kai + '.svg'), alt: 'A quay' }));
  }));
  document.querySelectorAll('[data-kai]').forEach(place => seen.observe(place));
}

const list = document.getElementById('anlop');
const place = document.querySelector('[data-skip]');
if (list) arrivals(list);
if (place) ship(place);
quays();
";

pub(super) fn answer(ask: &Ask) -> Answer {
    reply(&ask.path).unwrap_or_else(|| SITE.not_found()).send()
}

fn reply(path: &str) -> Option<Reply> {
    Some(match path {
        "/" => front(),
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /vakt/\n"),
        "/havn.js" => Reply::new(200, "text/javascript; charset=utf-8", SCRIPT),
        "/anlop.json" => json(&format!("{{\"ships\":[{}]}}", ships())),
        _ => return numbered(path),
    })
}

fn numbered(path: &str) -> Option<Reply> {
    if let Some(quay) = path.strip_suffix(".svg").and_then(|stem| number(stem, "/kai/", QUAYS)) {
        return Some(picture(quay));
    }
    let (stem, is_json) = path.strip_suffix(".json").map_or((path, false), |stem| (stem, true));
    let id = number(stem, "/skip/", u32::try_from(SHIPS.len()).unwrap_or(u32::MAX))?;
    let (name, text) = SHIPS[id as usize - 1];
    Some(match is_json {
        true => json(&format!("{{\"name\":\"{name}\",\"text\":\"{text}\"}}")),
        false => {
            let body = format!("<div data-skip=\"{id}\"></div>\n<div data-kai=\"{id}\"></div>\n");
            Reply::html(SITE.page_with(STYLE, name, &body))
        }
    })
}

fn front() -> Reply {
    let quays: String =
        (1..=QUAYS).map(|quay| format!("<div class=\"kai\" data-kai=\"{quay}\"></div>\n")).collect();
    let frame = "<iframe src=\"http://bilder.avis.test/galleri/2\" title=\"The mountain\"></iframe>\n";
    let body = format!("<div id=\"anlop\">The board is dark without script.</div>\n{frame}{quays}");
    Reply::html(SITE.page_with(STYLE, "Anløp", &body))
}

fn ships() -> String {
    let ship = |(at, (name, _)): (usize, &(&str, &str))| {
        let id = at + 1;
        format!("{{\"id\":{id},\"name\":\"{name}\",\"at\":\"{:02}:{:02}\"}}", 6 + 3 * at, 7 * at)
    };
    SHIPS.iter().enumerate().map(ship).collect::<Vec<_>>().join(",")
}

fn json(text: &str) -> Reply {
    Reply::new(200, "application/json", text)
}

/// A quay with as many bollards as its number.
fn picture(quay: u32) -> Reply {
    let bollards: String = (0..quay)
        .map(|n| format!("<rect x=\"{}\" y=\"52\" width=\"8\" height=\"12\" fill=\"#333\"/>", 12 + n * 24))
        .collect();
    let text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 160 100\"><rect width=\"160\" height=\"100\" fill=\"#dfeef0\"/>\
         <rect y=\"64\" width=\"160\" height=\"12\" fill=\"#8a7f72\"/><rect y=\"76\" width=\"160\" height=\"24\" fill=\"#1f6f78\"/>{bollards}</svg>\n"
    );
    Reply::new(200, "image/svg+xml", text)
}
