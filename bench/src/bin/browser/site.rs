//! The web of this bench: every page alike, but for its address.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Result;
use testkit::coding;
use testkit::web::{Answer, Ask};

/// Of a page, the document among them.
pub(super) const REQUESTS: u32 = 11;
/// Those that the document has, and those that are scrolled to.
const PICTURES: u32 = 4;
const LATER: u32 = 3;

const STYLE: &str = "body { font: 16px/1.5 sans-serif; max-width: 60rem; margin: 1rem auto }
img { width: 320px; height: 200px; object-fit: cover } .later { margin-top: 60rem }
li { display: inline-block; width: 12rem; padding: .5rem; border-bottom: 1px solid #ccc }";

const SCRIPT: &str = "const list = document.querySelector('ul');
fetch('words.json').then(answer => answer.json()).then(words => {
  for (let n = 0; n < 200; n++) {
    const item = document.createElement('li');
    item.innerHTML = `<a href=\"/p/x${n}\">${words[n % words.length]} ${n}</a>`;
    list.append(item);
  }
});";

pub(super) fn serve(port: u16) -> Result<()> {
    let picture = picture();
    let site = move |ask: &Ask| answer(ask, &picture);
    skurd_bench::web::serve(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), site)
}

fn answer(ask: &Ask, picture: &[u8]) -> Answer {
    let of = |kind: &str, body: &[u8]| Answer::of(200, &[("Content-Type", kind)], body);
    let last = ask.path.rsplit('/').next().unwrap_or_default();
    match last {
        "style.css" => of("text/css", STYLE.as_bytes()),
        "script.js" => of("text/javascript", SCRIPT.as_bytes()),
        "words.json" => of("application/json", br#"["skurd","avling","onn","lo","nek","staur"]"#),
        _ if last.ends_with(".png") => of("image/png", picture),
        _ if ask.path.starts_with("/p/") => Answer::html(page(last)),
        _ => Answer::not_found(),
    }
}

fn page(name: &str) -> String {
    let picture = |number: u32, lazily: &str| format!("<img src=\"/a/{name}/{number}.png\" {lazily} alt>\n");
    let now: String = (0..PICTURES).map(|number| picture(number, "")).collect();
    let later: String = (PICTURES..PICTURES + LATER)
        .map(|number| format!("<p class=\"later\">{}</p>\n", picture(number, "loading=\"lazy\"")))
        .collect();
    let text = "Grain is cut when the dew is off. ".repeat(60);
    format!(
        "<!doctype html><meta charset=utf-8><title>Page {name}</title><base href=\"/a/{name}/\">\n\
         <link rel=stylesheet href=\"style.css\"><script src=\"script.js\" defer></script>\n\
         <h1>Page {name}</h1><p>{text}</p><ul></ul>\n{now}{later}"
    )
}

/// Of a usual size on the wire, 48 kB.
fn picture() -> Vec<u8> {
    let (width, height) = (160_u32, 100_u32);
    let pixels: Vec<u8> = (0..width * height)
        .flat_map(|at| {
            let (x, y) = (at % width, at / width);
            let shade = |by: u32| u8::try_from((x * by / 7 + y * by / 5 + (x ^ y) % 23) % 256).unwrap_or(0);
            [shade(1), shade(2), shade(3)]
        })
        .collect();
    coding::png(width, &pixels)
}
