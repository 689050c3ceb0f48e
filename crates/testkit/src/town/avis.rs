//! `avis.test`: the newspaper.
//!
//! Its front page is another one each time, its articles stay as they are (`ETag`). Drafts are for
//! nobody (robots.txt), notices stand in the feed alone.

mod articles;

use crate::web::{Answer, Ask};

use super::html::{Site, list, number, prose};
use super::reply::Reply;
use super::{Memory, bilder};
use articles::{ARTICLES, Article};

const SITE: Site = Site {
    name: "Skurdvik Avis",
    motto: "all the news that fits the fjord",
    colour: "#8a1c1c",
    menu: "[Front](/) · [Nyheter](/nyheter) · [Sport](/sport) · [Kultur](/kultur) · [Været](/vaeret) · [Debatt](/debatt)",
    foot: "Old issues: [the town archive](http://arkiv.test/) and [Skurdvik library](http://bibliotek.test/) · \
           [About us](/om)",
};

const SECTIONS: [(&str, &str); 5] = [
    ("nyheter", "Nyheter"),
    ("sport", "Sport"),
    ("kultur", "Kultur"),
    ("vaeret", "Været"),
    ("debatt", "Debatt"),
];

const NOTICES: [(&str, &str); 4] = [
    ("Lost: one mitten", "Red, left hand, on the ferry. Reward: the right one."),
    ("Found: one mitten", "Red, right hand. Whoever has lost the left one may keep looking."),
    (
        "Choir seeks bass",
        "Or anyone who stands at the back. Thursdays at [the library](http://bibliotek.test/).",
    ),
    ("For sale: trap", "Barely used calendar, runs for ever. Ask at [felle.test](http://felle.test/)."),
];

const ROBOTS: &str = "User-agent: *\nDisallow: /utkast/\nAllow: /utkast/tidlig-ute\n\n\
    User-agent: snushane\nDisallow: /\n\nSitemap: http://avis.test/feed.xml\n";

pub(super) fn answer(ask: &Ask, memory: &Memory) -> Answer {
    match ask.path.as_str() {
        "/" => front(memory.count("front page")).header("Cache-Control", "no-cache").send(),
        "/pulsen" => pulse(memory.count("pulse")).header("Cache-Control", "no-store").send(),
        "/robots.txt" => Reply::text(ROBOTS).send(),
        path => steady(path).unless_same(ask).send(),
    }
}

/// What is the same whenever one asks.
fn steady(path: &str) -> Reply {
    match path {
        "/om" => SITE.reply("Om avisen", &prose(articles::ABOUT)),
        "/feed.xml" => Reply::new(200, "application/rss+xml", feed()),
        "/utkast/" => SITE.reply("Utkast", &prose("Half of this is [not true yet](/utkast/ordfoereren).")),
        "/utkast/ordfoereren" => {
            SITE.reply("Draft: the mayor", &prose("The mayor has, or has not, said something."))
        }
        "/utkast/tidlig-ute" => SITE.reply("Early: spring", &prose("This draft was let out on purpose.")),
        _ => article(path)
            .or_else(|| section(path))
            .or_else(|| notice(path))
            .unwrap_or_else(|| SITE.not_found()),
    }
}

fn front(edition: u64) -> Reply {
    let lead = usize::try_from(edition).unwrap_or(0) % ARTICLES.len();
    let latest = ARTICLES.iter().cycle().skip(lead).take(10);
    let body =
        prose(&format!("Edition no. {edition} of this visit. The town at a glance: [the pulse](/pulsen)."))
            + &list(latest.map(|article| (url(article), article.title)))
            + &prose(articles::FRONT);
    let feed =
        "<link rel=\"alternate\" type=\"application/rss+xml\" href=\"/feed.xml\" title=\"Skurdvik Avis\">\n";
    Reply::html(SITE.page_with(feed, "Forsiden", &body))
}

fn pulse(beat: u64) -> Reply {
    let body = format!(
        "The heart of Skurdvik has been asked after {beat} times. Ferry: {} min late. Gulls: {}.\n\
         The exact time hangs on [the town hall](http://tregt.test/klokke), when it gets round to it.",
        beat * 7 % 13,
        40 + beat * 31 % 17
    );
    SITE.reply("Pulsen", &prose(&body))
}

fn section(path: &str) -> Option<Reply> {
    let (slug, name) = SECTIONS.iter().find(|(slug, _)| path.strip_prefix('/') == Some(slug))?;
    let articles = ARTICLES.iter().filter(|article| article.section == *slug);
    Some(SITE.reply(name, &list(articles.map(|article| (url(article), article.title)))))
}

fn url(article: &Article) -> String {
    format!("/sak/{}", article.slug)
}

fn article(path: &str) -> Option<Reply> {
    let slug = path.strip_prefix("/sak/")?;
    let (place, article) = (1u32..).zip(ARTICLES).find(|(_, article)| article.slug == slug)?;
    let picture = bilder::url_of(place % bilder::PICTURES + 1);
    let same_section = ARTICLES.iter().cycle().skip(usize::try_from(place).unwrap_or(0));
    let more = same_section.filter(|other| other.section == article.section && other.slug != slug).take(2);
    let body = format!("<p><img src=\"{picture}\" alt=\"Skurdhøgda, as seen from the newsroom\"></p>\n")
        + &prose(article.text)
        + "<h2>Mer</h2>\n"
        + &list(more.map(|other| (url(other), other.title)));
    Some(SITE.reply(article.title, &body))
}

fn notice(path: &str) -> Option<Reply> {
    let number = number(path, "/kunngjoring/", 4)?;
    let (title, text) = NOTICES.get(usize::try_from(number - 1).ok()?)?;
    Some(SITE.reply(title, &prose(text)))
}

fn feed() -> String {
    let item = |title: &str, path: &str| {
        format!(
            "<item><title>{title}</title><link>http://avis.test{path}</link><guid>http://avis.test{path}</guid></item>\n"
        )
    };
    let notices =
        (1..).zip(NOTICES).map(|(number, (title, _))| item(title, &format!("/kunngjoring/{number}")));
    let articles = ARTICLES.iter().take(6).map(|article| item(article.title, &url(article)));
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\"><channel><title>Skurdvik Avis</title>\
         <link>http://avis.test/</link><description>All the news that fits the fjord</description>\n{}</channel></rss>\n",
        notices.chain(articles).collect::<String>()
    )
}
