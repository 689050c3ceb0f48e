//! `bibliotek.test`: the library, which half the town links to.
//!
//! Its robots.txt wants some time between requests, closes the stacks and names a sitemap: an index
//! of two, one of them packed, with rare books that no page links to. Everything has a
//! `Last-Modified`.

mod books;

use crate::coding;
use crate::web::{Answer, Ask};

use super::html::{Site, list, number, prose};
use super::reply::Reply;
use books::{AUTHORS, BOOKS, Book};

const SITE: Site = Site {
    name: "Skurdvik bibliotek",
    motto: "hysj",
    colour: "#1d5c3a",
    menu: "[Catalogue](/) · [Authors](/forfattere) · [Opening hours](/apent)",
    foot: "Reviews in [Skurdvik Avis](http://avis.test/kultur) · Bookmarks in [the shop](http://www.butikk.test/vare/bokmerke)",
};

const RARE: u32 = 6;

const MODIFIED: &str = "Mon, 02 Nov 2026 09:00:00 GMT";

const ROBOTS: &str = "# Hysj.\nUser-agent: *\nDisallow: /lager/\nCrawl-delay: 0.05\n\nSitemap: http://bibliotek.test/sitemap.xml\n";

pub(super) fn answer(ask: &Ask) -> Answer {
    let reply = match ask.path.as_str() {
        "/robots.txt" => Reply::text(ROBOTS),
        "/sitemap.xml" => xml(&sitemap_index()),
        "/sitemap-sider.xml" => xml(&sitemap(["/", "/forfattere", "/apent"].map(str::to_owned).into_iter())),
        "/sitemap-boker.xml.gz" => {
            Reply::new(200, "application/gzip", coding::gzip(sitemap(all_books()).as_bytes()))
        }
        path => page(path),
    };
    reply.unless_since(ask, MODIFIED).send()
}

fn page(path: &str) -> Reply {
    match path {
        "/" => SITE.reply("Katalogen", &catalogue()),
        "/forfattere" => SITE.reply("Forfatterne", &list(AUTHORS.iter().map(|(slug, name)| (format!("/forfatter/{slug}"), *name)))),
        "/apent" => SITE.reply("Åpningstider", &prose("When the lamp is lit. Closed when the ferry is on time, so far [once](http://avis.test/sak/fergen).")),
        "/lager/" | "/lager/kjeller" => SITE.reply("Lageret", &prose("Closed stacks. If a harvester reads this, it did not read robots.txt. [Further down](/lager/kjeller).")),
        _ => book(path).or_else(|| author(path)).or_else(|| rare(path)).unwrap_or_else(|| SITE.not_found()),
    }
}

fn catalogue() -> String {
    list(BOOKS.iter().map(|book| (url(book), book.title)))
        + &prose(
            "The rest is in [the closed stacks](/lager/). Old minutes are in [the archive](http://arkiv.test/).",
        )
}

fn url(book: &Book) -> String {
    format!("/bok/{}", book.slug)
}

fn book(path: &str) -> Option<Reply> {
    let slug = path.strip_prefix("/bok/")?;
    let place = BOOKS.iter().position(|book| book.slug == slug)?;
    let (book, next) = (&BOOKS[place], &BOOKS[(place + 1) % BOOKS.len()]);
    let (author, name) = AUTHORS.iter().find(|(author, _)| *author == book.author)?;
    let by = format!("By [{name}](/forfatter/{author}). Next on the shelf: [{}]({}).", next.title, url(next));
    Some(SITE.reply(book.title, &prose(&format!("{}\n{by}", book.text))))
}

fn author(path: &str) -> Option<Reply> {
    let slug = path.strip_prefix("/forfatter/")?;
    let (_, name) = AUTHORS.iter().find(|(author, _)| *author == slug)?;
    let books = BOOKS.iter().filter(|book| book.author == slug);
    Some(SITE.reply(name, &list(books.map(|book| (url(book), book.title)))))
}

fn rare(path: &str) -> Option<Reply> {
    let number = number(path, "/sjelden/", RARE)?;
    let text = "Shown on request. No page links here; only [the sitemap](/sitemap.xml) knows. See also [the catalogue](/).";
    Some(SITE.reply(&format!("Sjelden bok nr. {number}"), &prose(text)))
}

fn all_books() -> impl Iterator<Item = String> {
    BOOKS.iter().map(url).chain((1..=RARE).map(|number| format!("/sjelden/{number}")))
}

fn xml(text: &str) -> Reply {
    Reply::new(200, "application/xml", text)
}

fn sitemap(paths: impl Iterator<Item = String>) -> String {
    let urls: String =
        paths.map(|path| format!("<url><loc>http://bibliotek.test{path}</loc></url>\n")).collect();
    format!("{XML}<urlset xmlns=\"{SITEMAPS}\">\n{urls}</urlset>\n")
}

fn sitemap_index() -> String {
    let maps = ["/sitemap-sider.xml", "/sitemap-boker.xml.gz"];
    let maps =
        maps.map(|path| format!("<sitemap><loc>http://bibliotek.test{path}</loc></sitemap>\n")).concat();
    format!("{XML}<sitemapindex xmlns=\"{SITEMAPS}\">\n{maps}</sitemapindex>\n")
}

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const SITEMAPS: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
