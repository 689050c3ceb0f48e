//! Large sites that are none: nothing may be suspected of them, however many URLs they have.

use policy::trap::Sense;
use policy::url::CrawlUrl;
use testkit::random::Random;

use crate::walk::{Page, harvest, harvest_run};

/// What stands on every page of a site.
const FRAME: &str = "Home News Sport Culture About us Contact Log in Register Search Privacy Terms of \
    use Cookies All rights reserved Follow us on the usual places Subscribe to our newsletter and never \
    miss anything Site map Accessibility Help and support Imprint Work with us Press Partners ";

/// A word that is the same for its number; there are more of them than of any language.
pub(crate) fn word(n: u64) -> String {
    const PARTS: [&str; 16] =
        ["ba", "ke", "li", "mo", "ru", "sa", "te", "vi", "no", "pu", "da", "fe", "gi", "ho", "ja", "kry"];
    let mut word = String::new();
    let mut rest = n + 16;
    while rest > 0 {
        word.push_str(PARTS[usize::try_from(rest % 16).unwrap()]);
        rest /= 16;
    }
    word
}

/// So many words out of a vocabulary, as common as words are: the smaller the number, the more.
fn prose(random: &mut Random, words: u64, vocabulary: u64) -> String {
    (0..words).map(|_| word(random.below(vocabulary).min(random.below(vocabulary))) + " ").collect()
}

fn number_in(url: &CrawlUrl) -> u64 {
    let digits: String = url.path_and_query().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

fn query(url: &CrawlUrl, key: &str) -> Option<u64> {
    let mut pairs = url.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(known, _)| *known == key)?.1.parse().ok()
}

fn nothing_of(site: &str, start: &[&str], harvests: usize, page: impl FnMut(&CrawlUrl) -> Page) {
    let told = harvest(start, harvests, page);
    let told: Vec<String> = told
        .iter()
        .map(|told| {
            let of = &told.suspicion;
            format!("after {}: {} {} ({})", told.after, of.kind, of.template, of.figures.says(of.kind))
        })
        .collect();
    assert!(told.is_empty(), "{site}: {told:#?}");
}

#[test]
fn f37_a_forum_with_100000_threads_is_not_suspected() {
    const THREADS: u64 = 100_000;
    nothing_of("forum", &["https://forum.no/"], 30_000, |url| {
        let mut random = Random(number_in(url) ^ url.path().len() as u64);
        let segments: Vec<&str> = url.path().split('/').skip(1).collect();
        match segments[0] {
            "" => Page::new(FRAME, (0..50).map(|n| format!("/board/{n}?page=1")).collect()),
            "board" => {
                let (board, page) = (segments[1].parse::<u64>().unwrap(), query(url, "page").unwrap_or(1));
                let first = (board * THREADS / 50) + (page - 1) * 40;
                let last = (first + 40).min((board + 1) * THREADS / 50);
                let mut links: Vec<String> = (first..last).map(|n| format!("/thread/{n}")).collect();
                let titles: String =
                    (first..last).map(|n| prose(&mut Random(n), 5, 4000) + "replies ").collect();
                if last < (board + 1) * THREADS / 50 {
                    links.push(format!("/board/{board}?page={}", page + 1));
                }
                Page::new(format!("{FRAME} {titles}"), links)
            }
            "thread" => {
                let n = segments[1].parse::<u64>().unwrap();
                let posts = 1 + random.below(4);
                let words = 4 + random.below(25) * posts;
                let mut links: Vec<String> =
                    (0..posts).map(|_| format!("/user/{}", random.below(20_000))).collect();
                if n % 7 == 0 {
                    links.push(format!("/thread/{n}?page=2"));
                }
                let title = prose(&mut Random(n), 5, 4000);
                Page::new(
                    format!("{FRAME} {title} {} {n} reply quote", prose(&mut random, words, 4000)),
                    links,
                )
            }
            _ => {
                let name = word(50_000 + random.below(1_000_000));
                let posts = random.below(5000);
                Page::new(format!("{FRAME} {name} {posts} posts {}", prose(&mut random, 6, 4000)), Vec::new())
            }
        }
    });
}

/// Filters: at most two, in one order, and a sort.
#[test]
fn f37_a_shop_with_50000_products_is_not_suspected() {
    const PRODUCTS: u64 = 50_000;
    const CATEGORIES: u64 = 100;
    let name = |n: u64| format!("{} {}", word(n % 223), word(300 + n / 223 % 225));
    nothing_of("shop", &["https://butikk.no/"], 30_000, |url| {
        let segments: Vec<&str> = url.path().split('/').skip(1).collect();
        match segments[0] {
            "" => Page::new(FRAME, (0..CATEGORIES).map(|n| format!("/c/{}", word(n))).collect()),
            "c" => {
                let category = (0..CATEGORIES).find(|n| word(*n) == segments[1]).unwrap();
                let (page, colour, sort) =
                    (query(url, "page").unwrap_or(1), query(url, "colour"), query(url, "sort"));
                let colour_fits = |n: &u64| colour.is_none_or(|colour| n % 8 == colour);
                let mut own: Vec<u64> = (0..PRODUCTS)
                    .skip(usize::try_from(category).unwrap())
                    .step_by(100)
                    .filter(colour_fits)
                    .collect();
                if sort == Some(2) {
                    own.reverse();
                }
                let shown: Vec<u64> =
                    own.iter().copied().skip(usize::try_from((page - 1) * 24).unwrap()).take(24).collect();
                let mut links: Vec<String> =
                    shown.iter().map(|n| format!("/p/{n}-{}", name(*n).replace(' ', "-"))).collect();
                let query_of = |colour: Option<u64>, sort: Option<u64>, page: u64| {
                    let colour = colour.map(|colour| format!("colour={colour}&")).unwrap_or_default();
                    let sort = sort.map(|sort| format!("sort={sort}&")).unwrap_or_default();
                    format!("/c/{}?{colour}{sort}page={page}", segments[1])
                };
                if !shown.is_empty() {
                    links.push(query_of(colour, sort, page + 1));
                }
                links.extend((0..8).map(|colour| query_of(Some(colour), sort, 1)));
                links.extend((1..3).map(|sort| query_of(colour, Some(sort), 1)));
                let lines: String =
                    shown.iter().map(|n| format!("{} kr {} ", name(*n), n * 7 % 900 + 39)).collect();
                Page::new(format!("{FRAME} {} {lines}", segments[1]), links)
            }
            _ => {
                let n: u64 = segments[1].split('-').next().unwrap().parse().unwrap();
                let mut random = Random(n);
                let said = prose(&mut random, 8, 1500);
                let text = format!(
                    "{FRAME} {} kr {} in stock add to basket delivery two to four days free returns {said}",
                    name(n),
                    n * 7 % 900 + 39
                );
                let others = (0..4).map(|_| random.below(PRODUCTS));
                Page::new(text, others.map(|n| format!("/p/{n}-{}", name(n).replace(' ', "-"))).collect())
            }
        }
    });
}

/// Every day since 1945, of which some brought nothing, and every month of them.
#[test]
fn f37_a_newspaper_archive_by_date_is_not_suspected() {
    let articles = |year: u64, month: u64, day: u64| {
        let mut random = Random(year * 10_000 + month * 100 + day);
        (0..random.below(9)).map(|n| (year * 372 + month * 31 + day) * 10 + n).collect::<Vec<u64>>()
    };
    let title = |n: u64| prose(&mut Random(n), 6, 8000);
    nothing_of("archive", &["https://avis.no/arkiv/"], 40_000, |url| {
        let segments: Vec<&str> = url.path().split('/').filter(|s| !s.is_empty()).collect();
        match *segments.as_slice() {
            ["arkiv"] => Page::new(FRAME, (1945..=2026).map(|year| format!("/arkiv/{year}/")).collect()),
            ["arkiv", year] => Page::new(
                format!("{FRAME} {year}"),
                (1..=12).map(|m| format!("/arkiv/{year}/{m}/")).collect(),
            ),
            ["arkiv", year, month] => {
                let links = (1..=28).map(|day| format!("/arkiv/{year}/{month}/{day}/")).collect();
                Page::new(format!("{FRAME} {month} {year} Mon Tue Wed Thu Fri Sat Sun"), links)
            }
            ["arkiv", year, month, day] => {
                let own = articles(year.parse().unwrap(), month.parse().unwrap(), day.parse().unwrap());
                let titles: String = own.iter().map(|n| title(*n)).collect();
                let links = own.iter().map(|n| format!("/sak/{n}")).collect();
                Page::new(format!("{FRAME} {day} {month} {year} the paper of the day {titles}"), links)
            }
            _ => {
                let n = number_in(url);
                Page::new(format!("{FRAME} {} {}", title(n), prose(&mut Random(n + 1), 80, 8000)), Vec::new())
            }
        }
    });
}

/// With the history of each article, and its versions.
#[test]
fn f37_a_wiki_is_not_suspected() {
    const ARTICLES: u64 = 40_000;
    nothing_of("wiki", &["https://wiki.no/wiki/ba"], 30_000, |url| {
        let of = |title: &str| {
            title.bytes().fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)))
        };
        let title = url.path().trim_start_matches("/wiki/").to_owned();
        let mut random = Random(of(url.path_and_query()));
        match url.query() {
            None => {
                let mut links: Vec<String> = (0..20)
                    .map(|_| format!("/wiki/{}", word(random.below(ARTICLES).min(random.below(ARTICLES)))))
                    .collect();
                links.push(format!("/wiki/{title}?action=history"));
                links.push(format!("/wiki/Talk:{title}"));
                Page::new(format!("{FRAME} {title} {}", prose(&mut random, 120, 8000)), links)
            }
            Some(query) if query.contains("history") => {
                let links =
                    (0..6).map(|_| format!("/wiki/{title}?oldid={}", random.below(9_000_000))).collect();
                let lines: String = (0..6)
                    .map(|_| {
                        format!(
                            "{} talk contribs {} bytes {} ",
                            word(60_000 + random.below(9000)),
                            random.below(90_000),
                            word(random.below(900))
                        )
                    })
                    .collect();
                Page::new(format!("{FRAME} {title} revision history {lines}"), links)
            }
            // A version is nearly what the article is.
            Some(_) => {
                let text = prose(&mut Random(of(url.path())), 110, 8000);
                Page::new(format!("{FRAME} {title} {text} {}", prose(&mut random, 10, 8000)), Vec::new())
            }
        }
    });
}

/// Pages without words: a picture each.
#[test]
fn f37_a_gallery_is_not_suspected() {
    nothing_of("gallery", &["https://bilder.no/foto/1"], 5000, |url| {
        let n = number_in(url);
        Page {
            text: format!("Photo {n} of 5000 previous next"),
            links: vec![format!("/foto/{}", n + 1)],
            pictures: vec![format!("/img/{n}.jpg"), "/logo.png".to_owned()],
        }
    });
}

/// Articles whose ids look drawn, as session ids do.
#[test]
fn f37_ids_that_look_drawn_are_no_session_ids() {
    let id = |n: u64| format!("{:016x}", Random(n).draw() | 0xA1);
    nothing_of("ids", &["https://doc.no/doc?id=0"], 10_000, |url| {
        let own = url
            .query()
            .unwrap_or_default()
            .bytes()
            .fold(3u64, |sum, byte| sum.wrapping_mul(31) ^ u64::from(byte));
        let mut random = Random(own);
        let pages = ["doc", "print", "cite"];
        let links = (0..3).flat_map(|_| {
            let n = random.below(100_000);
            pages.map(|page| format!("/{page}?id={}", id(n)))
        });
        let links = links.collect();
        Page::new(format!("{FRAME} {} {}", url.path(), prose(&mut Random(own ^ 9), 60, 6000)), links)
    });
}

/// 300 short pages of one frame, harvested anew in each of five runs.
#[test]
fn f37_what_is_harvested_again_in_a_later_run_is_not_suspected() {
    let mut sense = Sense::default();
    for run in 1..=5 {
        let told = harvest_run(&mut sense, run, &["https://liten.no/p/0"], 1000, |url| {
            let n = number_in(url);
            let links = (1..4).map(|k| format!("/p/{}", (n * 3 + k) % 300)).collect();
            Page::new(format!("{FRAME} {FRAME} {} {}", word(n), word(n + 1000)), links)
        });
        assert!(told.is_empty(), "run {run}: {:?}", told[0].suspicion);
    }
}
