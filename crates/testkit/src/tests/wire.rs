//! Every kind of page, as bytes on a connection.

use std::io::Read;

use super::*;
use crate::town::{self, Memory};
use crate::web::{Ask, Step};

#[tokio::test]
async fn every_kind_of_page_is_answered_as_described() {
    let demo = Demo::start_at(0).await.unwrap();
    // Host and target, status, what the headers and the body hold.
    let table = "
        avis.test/                  | 200 | Content-Type: text/html; charset=utf-8 | Edition no. 1
        avis.test/sak/bl%C3%A5b%C3%A6r | 200 | ETag: \"                            | Blåbærrekord
        avis.test/robots.txt        | 200 | Content-Type: text/plain               | Disallow: /utkast/
        avis.test/feed.xml          | 200 | Content-Type: application/rss+xml      | <link>http://avis.test/kunngjoring/4</link>
        avis.test/kunngjoring/5     | 404 | Content-Type: text/html                | Finnes ikke
        bibliotek.test/robots.txt   | 200 | Content-Type: text/plain               | Crawl-delay: 0.05
        bibliotek.test/sitemap.xml  | 200 | Content-Type: application/xml          | http://bibliotek.test/sitemap-boker.xml.gz
        bibliotek.test/sjelden/6    | 200 | Last-Modified: Mon, 02 Nov 2026        | only <a href=\"/sitemap.xml\">the sitemap
        bilder.avis.test/robots.txt | 404 |                                        | Finnes ikke
        bilder.avis.test/stil.css   | 200 | Content-Type: text/css                 | url(/papir.svg)
        bilder.avis.test/bilde/1.svg | 200 | Content-Type: image/svg+xml           | </svg>
        bilder.avis.test/bilde/3.png | 200 | Content-Type: image/png               | IHDR
        bilder.avis.test/bilde/3.svg | 404 |                                       | Finnes ikke
        butikk.test/klaer?sort=pris | 301 | Location: http://www.butikk.test/klaer?sort=pris | Moved
        www.butikk.test/klaer       | 200 | Set-Cookie: kurv=1; Path=/             | /vare/votter
        arkiv.test/katalog          | 301 | Location: http://bibliotek.test/       | Moved
        arkiv.test/fjernet/kart     | 410 |                                        | gone for good
        arkiv.test/protokoll/22     | 200 |                                        | Protokoll nr. 22
        arkiv.test/protokoll/23     | 404 |                                        | Finnes ikke
        arkiv.test/brev/1893        | 200 | charset=iso-8859-1                     | Kj\u{fffd}re
        felle.test/kalender/2026/12 | 200 |                                        | /kalender/2027/1\"
        felle.test/kalender/2026/13 | 404 |                                        | Finnes ikke
        felle.test/trapp/opp/opp/   | 200 |                                        | href=\"opp/\"
        felle.test/liste?side=7     | 200 |                                        | /liste?side=8
        privat.test/                | 200 | Vary: Cookie                           | <form
        privat.test/medlem/tur/1    | 401 |                                        | <form
        omvei.test/gammel-avis      | 301 | Location: http://avis.test/            | Moved
        omvei.test/ferge            | 302 | Location: /ferge/kai                   | Moved
        omvei.test/ferge/kai        | 302 | Location: baat                         | Moved
        omvei.test/ferge/baat       | 303 | Location: http://omvei.test/ferge/fremme | Moved
        omvei.test/ferge/fremme     | 200 |                                        | You have arrived
        omvei.test/rundkjoring/soer | 302 | Location: /rundkjoring                 | Moved
        omvei.test/skilt            | 200 |                                        | http-equiv=\"refresh\" content=\"0; url=/skilt/nytt\"
        omvei.test/sti              | 200 | Link: </sti/videre>; rel=\"next\"      | Stien
        verksted.test/finnes-ikke   | 404 |                                        | Finnes ikke
        verksted.test/borte         | 410 |                                        | Kastet
        verksted.test/feil          | 500 |                                        | Feil
        verksted.test/pause         | 503 | Retry-After: 1                         | Pause
        verksted.test/pause         | 200 |                                        | Etter pausen
        verksted.test/travelt       | 429 | Retry-After: 1                         | Travelt
        verksted.test/travelt       | 200 |                                        | Roligere
        verksted.test/rart-hode     | 200 | x-tool: tongs                          | Tilbake
        verksted.test/suppe/skje    | 200 |                                        | soup
        ferie.test/robots.txt       | 503 |                                        | On holiday
        ferie.test/robots.txt       | 503 |                                        | On holiday
        ferie.test/robots.txt       | 200 |                                        | Disallow: /hengekoeye/
        nobody.test/                | 421 |                                        | Nobody";
    for line in table.lines().filter(|line| line.contains('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (host, path) = cells[0].split_once('/').unwrap();
        let got = get(&demo, host, &format!("/{path}")).await;
        let headers: String = got.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        assert_eq!(got.status.to_string(), cells[1], "{line}\n{got:?}");
        assert!(headers.contains(cells[2]), "{line}\n{headers}");
        assert!(got.text().contains(cells[3]), "{line}\n{}", got.text());
        assert_eq!(got.header("content-length"), got.body.len().to_string(), "{line}");
    }
}

#[tokio::test]
async fn a4_packed_pages_unpack() {
    let demo = Demo::start_at(0).await.unwrap();
    let verksted = async |path: &str| get(&demo, "verksted.test", path).await;
    let coding = |got: &Got| got.header("content-encoding").to_owned();

    let got = verksted("/deflate").await;
    assert_eq!(
        (coding(&got).as_str(), unpacked(flate2::read::ZlibDecoder::new(&got.body[..]))),
        ("deflate", true)
    );
    let got = verksted("/bar-deflate").await;
    assert_eq!(
        (coding(&got).as_str(), unpacked(flate2::read::DeflateDecoder::new(&got.body[..]))),
        ("deflate", true)
    );
    let got = verksted("/brotli").await;
    assert_eq!(
        (coding(&got).as_str(), unpacked(brotli_decompressor::Decompressor::new(&got.body[..], 4096))),
        ("br", true)
    );
    let got = verksted("/zstd").await;
    assert_eq!((coding(&got).as_str(), unpacked(zstd::Decoder::new(&got.body[..]).unwrap())), ("zstd", true));
    let got = verksted("/gzip").await;
    let (body, trailers) = unchunked(&got.body).unwrap();
    assert_eq!((coding(&got).as_str(), unpacked(flate2::read::GzDecoder::new(&body[..]))), ("gzip", true));
    assert_eq!(trailers, "");
    let got = verksted("/ikke-pakket").await;
    assert_eq!((coding(&got).as_str(), got.text().contains("/biter/neste")), ("gzip", true));

    let bomb = verksted("/bombe").await;
    let mut spaces = Vec::new();
    flate2::read::GzDecoder::new(&bomb.body[..]).read_to_end(&mut spaces).unwrap();
    assert!(spaces.len() == 8 << 20 && bomb.body.len() < 100_000, "{}", bomb.body.len());

    let plain = get(&demo, "www.butikk.test", "/").await;
    let packed = get_with(&demo, "www.butikk.test", "/", "Accept-Encoding: br, gzip\r\n").await;
    assert_eq!((coding(&plain).as_str(), coding(&packed).as_str()), ("", "gzip"));
    let mut page = Vec::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut page).unwrap();
    assert_eq!(page, plain.body);
}

/// Whether it is a page of the workshop.
fn unpacked(mut decoder: impl Read) -> bool {
    let mut page = String::new();
    decoder.read_to_string(&mut page).unwrap();
    page.contains("<a href=\"/biter/neste\">") && page.ends_with("</html>\n")
}

/// Body and trailers; none if it ends before its last chunk.
fn unchunked(mut rest: &[u8]) -> Option<(Vec<u8>, String)> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n")?;
        let size = usize::from_str_radix(str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        rest = &rest[end + 2..];
        if size == 0 {
            return Some((body, str::from_utf8(rest).unwrap().strip_suffix("\r\n")?.to_owned()));
        }
        body.extend_from_slice(&rest[..size]);
        assert_eq!(&rest[size..size + 2], b"\r\n");
        rest = &rest[size + 2..];
    }
}

#[tokio::test]
async fn a4_chunks_have_trailers_and_may_break_off() {
    let demo = Demo::start_at(0).await.unwrap();
    let whole = get(&demo, "verksted.test", "/biter").await;
    let (body, trailers) = unchunked(&whole.body).unwrap();
    assert!(String::from_utf8(body).unwrap().ends_with("</html>\n"));
    assert_eq!((whole.header("trailer"), trailers.as_str()), ("X-Sjekksum", "X-Sjekksum: helt sikkert\r\n"));

    let broken = get(&demo, "verksted.test", "/brutte-biter").await;
    assert_eq!((broken.header("transfer-encoding"), unchunked(&broken.body)), ("chunked", None));
    let cut = get(&demo, "verksted.test", "/brutt").await;
    let promised: usize = cut.header("content-length").parse().unwrap();
    assert!(!cut.body.is_empty() && cut.body.len() < promised);
    let open = get(&demo, "verksted.test", "/uten-lengde").await;
    assert!(open.header("content-length").is_empty() && open.text().ends_with("</html>\n"));
    assert_eq!(bytes_of(&demo, "verksted.test", "/tomt", "").await, b"");
}

#[tokio::test]
async fn a11_the_unsound_header_is_no_http() {
    let demo = Demo::start_at(0).await.unwrap();
    let bytes = bytes_of(&demo, "verksted.test", "/ugyldig-hode", "").await;
    let mut headers = [httparse::EMPTY_HEADER; 32];
    assert!(httparse::Response::new(&mut headers).parse(&bytes).is_err());
}

#[tokio::test]
async fn a4_large_and_old_pages_come_whole() {
    let demo = Demo::start_at(0).await.unwrap();
    let tides = get(&demo, "arkiv.test", "/tidevann.csv").await;
    assert!((2_000_000..2_200_000).contains(&tides.body.len()));
    assert_eq!(tides.header("content-length"), tides.body.len().to_string());

    let letter = get(&demo, "arkiv.test", "/brev/1893").await;
    assert!(letter.body.windows(9).any(|bytes| bytes == b"l\xf8vetann\""));
    let dandelion = get(&demo, "arkiv.test", "/brev/l%C3%B8vetann").await;
    assert_eq!((dandelion.status, dandelion.header("content-type")), (200, "text/html"));
    let telegram = get(&demo, "arkiv.test", "/telegram/1905").await;
    let units: Vec<u16> =
        telegram.body.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
    let text = String::from_utf16(&units).unwrap();
    assert!(text.starts_with("\u{feff}<!doctype") && text.contains("ØYA FRI"), "{text}");
}

#[tokio::test]
async fn a4_pages_stay_or_change_as_they_say() {
    let demo = Demo::start_at(0).await.unwrap();
    for (host, path) in [("avis.test", "/"), ("avis.test", "/pulsen"), ("tregt.test", "/klokke")] {
        let (first, second) = (get(&demo, host, path).await, get(&demo, host, path).await);
        assert_ne!(first.body, second.body, "{host}{path}");
        assert_eq!(first.header("etag"), "", "{host}{path}");
    }
    for (host, path, validator, condition) in [
        ("avis.test", "/sak/fergen", "etag", "If-None-Match"),
        ("bilder.avis.test", "/bilde/3.png", "etag", "If-None-Match"),
        ("bibliotek.test", "/bok/skurdonn", "last-modified", "If-Modified-Since"),
        ("arkiv.test", "/1893", "last-modified", "If-Modified-Since"),
    ] {
        let first = get(&demo, host, path).await;
        assert_eq!(first, get(&demo, host, path).await, "{host}{path}");
        let tag = first.header(validator);
        let same = get_with(&demo, host, path, &format!("{condition}: {tag}\r\n")).await;
        assert_eq!((same.status, same.body.len(), same.header(validator)), (304, 0, tag), "{host}{path}");
        let other = get_with(&demo, host, path, &format!("{condition}: \"another\"\r\n")).await;
        assert_eq!(other, first, "{host}{path}");
    }
}

#[test]
fn a5_scripts_that_never_begin_or_never_end_are_long() {
    let play = |path: &str| {
        let ask = Ask { host: "verksted.test".to_owned(), path: path.to_owned(), ..Ask::default() };
        town::answer(&ask, &Memory::default()).steps
    };
    assert!(matches!(play("/taus").first(), Some(Step::Wait(pause)) if *pause >= Duration::from_secs(60)));
    let pauses = |step: &Step| if let Step::Wait(pause) = step { *pause } else { Duration::ZERO };
    assert!(play("/evig").iter().map(pauses).sum::<Duration>() >= Duration::from_secs(60));
    assert!(matches!(play("/evig").first(), Some(Step::Send(_))));
}
