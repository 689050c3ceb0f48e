//! `bilder.avis.test`: the newspaper's pictures, and the style sheet that the whole town shares.
//!
//! Pictures are drawn when asked for: mountains from a number, as SVG, and every third as PNG. They
//! never change and say so by their `ETag`. There is no robots.txt.

use crate::coding;
use crate::web::{Answer, Ask};

use super::html::{Site, list, number, prose};
use super::reply::Reply;

pub(super) const PICTURES: u32 = 24;
const A_GALLERY: u32 = 8;

const SITE: Site = Site {
    name: "Bildearkivet",
    motto: "every picture shows the same mountain",
    colour: "#5b4a72",
    menu: "[All galleries](/) · [Skurdvik Avis](http://avis.test/)",
    foot: "Prints can be looked at in [the library](http://bibliotek.test/) and bought in \
           [the shop](http://www.butikk.test/vare/postkort).",
};

const STYLE: &str = "\
body { max-width: 40rem; margin: 0 auto; padding: 1rem; font: 17px/1.5 Georgia, serif; color: #222;
  background: #fbfaf6 url(/papir.svg) }
header { border-bottom: 3px solid var(--farge) }
nav, footer { font-size: 85% }
h1 { color: var(--farge) }
a { color: var(--farge) }
img { max-width: 100%; border: 1px solid #ccc }
li::marker { content: url(\"/punkt.svg\") }
";

/// Where a picture is; the ending says what it is.
pub(super) fn url_of(picture: u32) -> String {
    let ending = if picture.is_multiple_of(3) { "png" } else { "svg" };
    format!("http://bilder.avis.test/bilde/{picture}.{ending}")
}

pub(super) fn answer(ask: &Ask) -> Answer {
    reply(&ask.path).unless_same(ask).send()
}

fn reply(path: &str) -> Reply {
    match path {
        "/" => SITE.reply("Galleriene", &galleries()),
        "/stil.css" => Reply::new(200, "text/css", STYLE),
        "/papir.svg" => svg(
            [40, 40],
            40,
            "<rect width=\"40\" height=\"40\" fill=\"#fbfaf6\"/><path d=\"M0 40 40 0\" stroke=\"#f3f1e9\"/>",
        ),
        "/punkt.svg" => svg([10, 10], 10, "<circle cx=\"5\" cy=\"5\" r=\"4\" fill=\"#888\"/>"),
        _ => numbered(path).unwrap_or_else(|| SITE.not_found()),
    }
}

fn numbered(path: &str) -> Option<Reply> {
    if let Some(gallery) = number(path, "/galleri/", PICTURES / A_GALLERY) {
        return Some(SITE.reply(&format!("Galleri {gallery}"), &pictures_of(gallery)));
    }
    let (stem, ending) = path.rsplit_once('.')?;
    let picture = number(stem, "/bilde/", PICTURES)?;
    url_of(picture).ends_with(ending).then(|| match ending {
        "png" => Reply::new(200, "image/png", coding::png(WIDTH, &pixels(picture))),
        _ => svg([160, 100], 320, &mountains(picture)),
    })
}

fn galleries() -> String {
    let links = (1..=PICTURES / A_GALLERY)
        .map(|gallery| (format!("/galleri/{gallery}"), "Eight views of Skurdhøgda"));
    list(links)
        + &prose("The mountain has been in [the paper](http://avis.test/kultur) more often than the mayor.")
}

fn pictures_of(gallery: u32) -> String {
    let first = (gallery - 1) * A_GALLERY + 1;
    let pictures = first..first + A_GALLERY;
    // Small ones are for narrow windows only, and are found in `srcset`.
    pictures
        .map(|picture| {
            let (src, other) = (url_of(picture), url_of(picture % PICTURES + 1));
            format!("<p><img src=\"{src}\" srcset=\"{src} 1x, {other} 2x\" alt=\"View {picture}\"></p>\n")
        })
        .collect()
}

fn svg([across, down]: [u32; 2], width: u32, inside: &str) -> Reply {
    let text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {across} {down}\" width=\"{width}\">{inside}</svg>\n"
    );
    Reply::new(200, "image/svg+xml", text)
}

/// Three ridges under a sun, all placed by the number.
fn mountains(picture: u32) -> String {
    let sun = 20 + picture * 37 % 120;
    let ridge = |height: u32, shift: u32, colour: &str| {
        let peak = 20 + (picture * shift) % 120;
        format!("<path d=\"M0 100 L{peak} {height} L160 100Z\" fill=\"{colour}\"/>")
    };
    let ridges = [ridge(25, 29, "#b9c6d3"), ridge(40, 53, "#7d93a8"), ridge(60, 71, "#3f566b")].concat();
    format!(
        "<rect width=\"160\" height=\"100\" fill=\"#eef3f7\"/><circle cx=\"{sun}\" cy=\"22\" r=\"9\" fill=\"#f2c14e\"/>{ridges}"
    )
}

const WIDTH: u32 = 96;
const HEIGHT: u32 = 60;

/// Sky, one mountain and its reflection in the fjord.
fn pixels(picture: u32) -> Vec<u8> {
    let peak = 16 + picture * 23 % 64;
    let colour = |x: u32, y: u32| -> [u8; 3] {
        let shore = HEIGHT * 2 / 3;
        let over_water = if y < shore { y } else { (2 * shore).saturating_sub(y) };
        match (x.abs_diff(peak) < over_water, y < shore) {
            (true, true) => [63, 86, 107],
            (true, false) => [84, 110, 128],
            (false, true) => [238, 243, 247],
            (false, false) => [150, 180, 196],
        }
    };
    (0..HEIGHT).flat_map(|y| (0..WIDTH).flat_map(move |x| colour(x, y))).collect()
}
