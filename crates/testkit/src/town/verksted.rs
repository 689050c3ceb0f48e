//! `verksted.test`: the workshop, where everything is broken in its own way.

use std::time::Duration;

use crate::coding;
use crate::web::{Answer, Ask, Then};

use super::html::{Site, list, prose};
use super::reply::Reply;
use super::{Memory, arkiv};

const SITE: Site = Site {
    name: "Verkstedet",
    motto: "it worked this morning",
    colour: "#b23a00",
    menu: "[Workbench](/)",
    foot: "Spare parts: [the shop](http://www.butikk.test/hjem) · Manuals: [the library](http://bibliotek.test/)",
};

/// What lies on the workbench.
const BENCH: [(&str, &str); 24] = [
    ("/finnes-ikke", "A tool that was never here (404)"),
    ("/borte", "A tool that was thrown away (410)"),
    ("/forbudt", "Not for you (403)"),
    ("/feil", "Always fails (500)"),
    ("/pause", "Busy the first time (503, Retry-After)"),
    ("/travelt", "Too many customers the first time (429)"),
    ("/brutt", "Breaks in the middle"),
    ("/brutte-biter", "Ends without its last chunk"),
    ("/tomt", "Hangs up without a word"),
    ("/ugyldig-hode", "A header that is none"),
    ("/rart-hode", "Headers of odd habits"),
    ("/biter", "Chunks with a trailer"),
    ("/uten-lengde", "As long as the line holds"),
    ("/gzip", "Packed (gzip)"),
    ("/deflate", "Packed (deflate)"),
    ("/bar-deflate", "Packed (deflate, bare)"),
    ("/brotli", "Packed (br)"),
    ("/zstd", "Packed (zstd)"),
    ("/ikke-pakket", "Says that it is packed, but is not"),
    ("/bombe", "Small, until unpacked"),
    ("/for-mye", "Too much"),
    ("/evig", "Never ends"),
    ("/taus", "Never begins"),
    ("/suppe", "Markup as it is out there"),
];

/// Unpacked; packed it is a few kilobytes.
const BOMB_BYTES: usize = 8 << 20;
const TOO_MUCH_BYTES: usize = 2 << 20;
const SILENCE: Duration = Duration::from_secs(60);
const ENDLESS_PIECES: usize = 600;
const ENDLESS_PAUSE: Duration = Duration::from_millis(100);

pub(super) fn answer(ask: &Ask, memory: &Memory) -> Answer {
    match ask.path.as_str() {
        "/robots.txt" => Reply::text("User-agent: *\nAllow: /\n").send(),
        "/" => SITE.reply("Arbeidsbenken", &list(BENCH.map(|(path, name)| (path.to_owned(), name)))).send(),
        "/biter/neste" => SITE.reply("Neste bit", &prose("Found in a page that came in pieces.")).send(),
        "/suppe/bolle" | "/suppe/skje" => SITE.reply("Servert", &prose("Found in the soup.")).send(),
        path => error(path, memory)
            .or_else(|| break_down(path))
            .or_else(|| coded(path))
            .unwrap_or_else(|| SITE.not_found().send()),
    }
}

fn page(title: &str) -> Reply {
    SITE.reply(title, &prose("It works, in a way. Read on in [the next piece](/biter/neste) or [the paper](http://avis.test/sak/stroembrudd)."))
}

fn error(path: &str, memory: &Memory) -> Option<Answer> {
    let reply = match path {
        "/borte" => page("Kastet").status(410),
        "/forbudt" => page("Forbudt").status(403),
        "/feil" => page("Feil").status(500),
        "/pause" if memory.count("pause") == 1 => page("Pause").status(503).header("Retry-After", "1"),
        "/pause" => page("Etter pausen"),
        "/travelt" if memory.count("busy") == 1 => page("Travelt").status(429).header("Retry-After", "1"),
        "/travelt" => page("Roligere nå"),
        _ => return None,
    };
    Some(reply.send())
}

/// Answers that are wrong as HTTP, or as a conversation.
fn break_down(path: &str) -> Option<Answer> {
    let answer = match path {
        "/brutt" => page("Brutt").cut(),
        "/brutte-biter" => page("Brutte biter").open_chunks(400, Duration::ZERO),
        "/tomt" => Answer::nothing(),
        "/ugyldig-hode" => Answer::bytes(200, UNSOUND, Then::Close),
        "/rart-hode" => Answer::bytes(200, ODD, Then::Close),
        "/uten-lengde" => page("Uten lengde").until_close(),
        "/for-mye" => Reply::text(&arkiv::tides(TOO_MUCH_BYTES)).send(),
        "/evig" => Reply::text(&"og så videre \n".repeat(ENDLESS_PIECES)).open_chunks(15, ENDLESS_PAUSE),
        "/taus" => page("Taus").send().after(SILENCE),
        _ => return None,
    };
    Some(answer)
}

const UNSOUND: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nthis is no header, and \0 is no letter\r\n: nor this\r\n\
    Content-Length: 5\r\n\r\nuff!\n";

/// Sound, though nobody would write it so.
const ODD: &str = "HTTP/1.1 200 \r\ncOnTeNt-tYpE:text/html;charset=UTF-8\r\nX-Tool: hammer\r\nx-tool:\ttongs\t\r\nX-Empty:\r\n\
    Connection: close\r\nCONTENT-LENGTH: 61\r\n\r\n<!doctype html><title>Rart</title><p><a href=\"/\">Tilbake</a>\n";

fn coded(path: &str) -> Option<Answer> {
    let answer = match path {
        "/biter" => {
            page("I biter").header("Trailer", "X-Sjekksum").chunked(256, "X-Sjekksum: helt sikkert\r\n")
        }
        "/gzip" => page("Pakket med gzip").coded("gzip", coding::gzip).chunked(64, ""),
        "/deflate" => page("Pakket med deflate").coded("deflate", coding::zlib).send(),
        "/bar-deflate" => page("Bar deflate").coded("deflate", coding::bare_deflate).send(),
        "/brotli" => page("Pakket med brotli").coded("br", coding::brotli).send(),
        "/zstd" => page("Pakket med zstd").coded("zstd", coding::zstd).send(),
        "/ikke-pakket" => page("Ikke pakket").header("Content-Encoding", "gzip").send(),
        "/bombe" => Reply::html(" ".repeat(BOMB_BYTES)).coded("gzip", coding::gzip).send(),
        "/suppe" => Reply::html(SOUP.to_owned()).send(),
        _ => return None,
    };
    Some(answer)
}

const SOUP: &str = "<TITLE>Suppe</title><base href=http://verksted.test/suppe/><table><p><a href=bolle>a <b>bowl</a> of</b>\n\
    <A HREF='  sk\nje ' >spoon<a href=\"http://[broken\">no<a href=javascript:void(0)>nor this<a href=mailto:kokk@verksted.test>cook\n\
    <a href=//bibliotek.test/apent>&Oslash;pen &amp; lukket</a><img src=data:image/gif;base64,R0lGODlhAQABAAAAACw=>\n\
    <!-- <a href=/kommentar>not a link</a> --><script>\"<a href='/skript'>nor this</a>\"</script><a href=/biter/neste>last, unclosed";
