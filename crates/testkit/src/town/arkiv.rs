//! `arkiv.test`: the town archive, in the encodings of its time.
//!
//! Years in UTF-8, letters in Latin-1 (said in the header, or only in the page), a telegram in
//! UTF-16, two megabytes of tides, a map that is gone, and minutes by number with holes, of which
//! only the first are linked: a series to walk along.

use crate::web::{Answer, Ask};

use super::html::{Site, list, number, prose};
use super::reply::Reply;

const SITE: Site = Site {
    name: "Skurdvik byarkiv",
    motto: "damp but complete",
    colour: "#3d4f63",
    menu: "[Years](/) · [Minutes](/protokoll/) · [Letters](/brev/1893) · [Tides](/tidevann.csv)",
    foot: "Reading room: [the library](http://bibliotek.test/) · Younger than a day: [Skurdvik Avis](http://avis.test/)",
};

const YEARS: std::ops::RangeInclusive<u32> = 1891..=1902;
const MINUTES: u32 = 40;
const MINUTES_LINKED: u32 = 5;
const TIDES_BYTES: usize = 2 << 20;
const MODIFIED: &str = "Tue, 07 Jun 1994 12:00:00 GMT";

pub(super) fn answer(ask: &Ask) -> Answer {
    match ask.path.as_str() {
        "/robots.txt" => Reply::text("User-agent: *\nDisallow:\n").send(),
        "/katalog" => Reply::redirect(301, "http://bibliotek.test/").send(),
        "/fjernet/kart" => {
            SITE.reply("Borte", &prose("The map was here. It is gone for good.")).status(410).send()
        }
        path => kept(path).unless_since(ask, MODIFIED).send(),
    }
}

fn kept(path: &str) -> Reply {
    match path {
        "/" => SITE.reply("Årene", &years()),
        "/protokoll/" => SITE.reply("Protokoller", &minutes_list()),
        "/tidevann.csv" => Reply::new(200, "text/csv; charset=utf-8", tides(TIDES_BYTES)),
        "/brev/1893" => Reply::new(200, "text/html; charset=iso-8859-1", latin1(LETTER)),
        "/brev/l%C3%B8vetann" => Reply::new(200, "text/html", latin1(DANDELION)),
        "/telegram/1905" => Reply::new(200, "text/html", utf16(TELEGRAM)),
        _ => year(path).or_else(|| minutes(path)).unwrap_or_else(|| SITE.not_found()),
    }
}

fn years() -> String {
    let years: Vec<String> = YEARS.map(|year| year.to_string()).collect();
    list(years.iter().map(|year| (format!("/{year}"), year.as_str())))
        + &prose(
            "Also: [a letter](/brev/1893), [a telegram](/telegram/1905), [a map](/fjernet/kart) and \
             [the old catalogue](/katalog), which has moved.",
        )
}

fn year(path: &str) -> Option<Reply> {
    let year = number(path, "/", *YEARS.end()).filter(|year| YEARS.contains(year))?;
    let text = match year {
        1893 => "A nail was bought. It was decided to write this down; see [minutes no. 3](/protokoll/3)."
            .to_owned(),
        _ if year % 2 == 0 => "A dry year for the archive: nothing was written down.".to_owned(),
        _ => format!("It rained, and the fjord was {} fathoms deep. Compare [1893](/1893).", year % 97),
    };
    let near = [year - 1, year + 1].map(|other| match YEARS.contains(&other) {
        true => format!("[{other}](/{other}) "),
        false => "(not kept) ".to_owned(),
    });
    Some(SITE.reply(&year.to_string(), &prose(&format!("{text}\nBefore and after: {}", near.concat()))))
}

fn minutes_list() -> String {
    let names: Vec<String> = (1..=MINUTES_LINKED).map(|number| format!("No. {number}")).collect();
    let links = (1u32..).zip(&names).map(|(number, name)| (format!("/protokoll/{number}"), name.as_str()));
    list(links)
        + &prose(
            "The others are there, but nobody has got round to linking them. Some were lost in the damp.",
        )
}

/// Every seventh and all from 23 to 27 are lost.
fn minutes(path: &str) -> Option<Reply> {
    let number = number(path, "/protokoll/", MINUTES).filter(|id| id % 7 != 0 && !(23..=27).contains(id))?;
    let text =
        "Present: most. Decided: to meet again. The coffee was [for forty](http://bibliotek.test/bok/kaffe).";
    Some(SITE.reply(&format!("Protokoll nr. {number}"), &prose(text)))
}

const LETTER: &str = "<!doctype html>\n<html lang=\"nb\"><head><title>Brev, 1893</title></head><body><h1>Kjære ordfører</h1>\n\
    <p>Været er grått. Jeg sender Dem en løvetann: <a href=\"/brev/løvetann\">løvetannen på øya</a>.</p>\n\
    <p><a href=\"http://bibliotek.test/\">Biblioteket</a> får en kopi.</p></body></html>\n";

const DANDELION: &str = "<!doctype html>\n<html lang=\"nb\"><head><meta http-equiv=\"Content-Type\" content=\"text/html; charset=iso-8859-1\">\
    <title>Løvetann</title></head><body><h1>Løvetann</h1><p>Tørket. <a href=\"/1893\">Året på øya</a>.</p></body></html>\n";

const TELEGRAM: &str = "<!doctype html>\n<html lang=\"nb\"><head><title>Telegram</title></head><body><h1>TELEGRAM</h1>\
    <p>ØYA FRI STOPP <a href=\"/1902\">SE ÅRET 1902</a> STOPP <a href=\"http://avis.test/\">AVISEN VET MER</a> STOPP</p></body></html>\n";

/// The texts here hold nothing beyond Latin-1.
fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect()
}

/// Little-endian, with its mark.
fn utf16(text: &str) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// A table of tides of at least so many bytes.
pub(super) fn tides(bytes: usize) -> String {
    let mut table = String::with_capacity(bytes + 64);
    table.push_str("day,hour,centimetres\n");
    let mut hour = 0u64;
    while table.len() < bytes {
        let height = (hour * 29 % 745).abs_diff(372) / 2;
        table.push_str(&format!("{},{},{height}\n", hour / 24 + 1, hour % 24));
        hour += 1;
    }
    table
}
