//! Traps of five kinds, alone and in the midst of an honest site: found within so many harvests, with
//! an expression that ends them and nothing else.

use policy::scope::Pattern;
use policy::trap::{Kind, Remedy, Suspicion};
use policy::url::{CrawlUrl, UrlRules, normalise};
use testkit::random::Random;

use crate::honest::word;
use crate::walk::{Page, Told, harvest, url};

/// In how many harvests each is found at the latest.
const WITHIN: usize = 500;

const FRAME: &str = "Start Calendar Articles Contact Opening hours Find us Sign up for news Search the site ";

fn found(kind: Kind, told: &[Told]) -> &Suspicion {
    let all: Vec<String> = told
        .iter()
        .map(|told| format!("after {}: {} {}", told.after, told.suspicion.kind, told.suspicion.template))
        .collect();
    let first = told.iter().find(|told| told.suspicion.kind == kind);
    let first = first.unwrap_or_else(|| panic!("no {kind} among {all:#?}"));
    println!(
        "{kind}: after {}, score {}, {}",
        first.after,
        first.suspicion.score,
        first.suspicion.remedy.line()
    );
    println!("  {}: {}", first.suspicion.template, first.suspicion.figures.says(kind));
    assert!(first.after <= WITHIN, "{kind} only after {}", first.after);
    &first.suspicion
}

/// Its line ends what it shows, and spares the rest.
fn ends(suspicion: &Suspicion, spared: &[&str]) {
    assert!(!suspicion.examples.is_empty() && suspicion.examples.len() <= 10);
    let pattern = Pattern::regex(suspicion.remedy.pattern()).unwrap();
    for example in &suspicion.examples {
        assert!(pattern.matches(&CrawlUrl::from_normal(example.as_str()).unwrap()), "{example}");
    }
    for spared in spared {
        assert!(!pattern.matches(&url(spared, None).unwrap()), "{} excludes {spared}", pattern_of(suspicion));
    }
}

fn pattern_of(suspicion: &Suspicion) -> &str {
    suspicion.remedy.pattern()
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Days lie in months; some of the past had events.
fn calendar(own: &CrawlUrl) -> Page {
    let parts: Vec<i64> = own.path().split('/').filter_map(|part| part.parse().ok()).collect();
    let (year, month) = match *parts.as_slice() {
        [year, month, ..] => (year, month),
        _ => (2026, 11),
    };
    let name = MONTHS[usize::try_from(month - 1).unwrap()];
    let event = match Random(u64::try_from(year * 12 + month).unwrap()) {
        mut random if year < 2027 => format!("{} {}", word(random.below(5000)), word(random.below(5000))),
        _ => String::new(),
    };
    let (next, before) =
        ((year + month / 12, month % 12 + 1), (year - i64::from(month == 1), (month + 10) % 12 + 1));
    let mut links =
        vec![format!("/kalender/{}/{}", next.0, next.1), format!("/kalender/{}/{}", before.0, before.1)];
    if parts.len() == 2 {
        links.extend((1..=28).step_by(9).map(|day| format!("/kalender/{year}/{month}/{day}")));
    }
    let grid: String = (1..=31).map(|day| format!("{day} ")).collect();
    Page::new(format!("{FRAME} {name} {year} Mo Tu We Th Fr {grid} no events this day {event}"), links)
}

#[test]
fn f37_a_calendar_without_end_is_found() {
    let told = harvest(&["https://a.no/kalender/2026/11"], 600, calendar);
    let suspicion = found(Kind::Calendar, &told);
    ends(
        suspicion,
        &[
            "https://a.no/",
            "https://a.no/kalender/",
            "https://a.no/sak/2026",
            "https://b.no/kalender/2026/11",
        ],
    );
    assert!(suspicion.score >= 60, "{}", suspicion.score);
}

/// A page whose links lack their first slash, on a server that answers everything below it.
fn relative(_: &CrawlUrl) -> Page {
    Page::new(
        format!("{FRAME} About our company"),
        vec!["om/".into(), "kontakt/".into(), "produkter/".into(), "/".into()],
    )
}

#[test]
fn f37_paths_that_grow_are_found() {
    let told = harvest(&["https://a.no/"], 600, relative);
    let suspicion = found(Kind::Growing, &told);
    ends(suspicion, &["https://a.no/om/", "https://a.no/om/kontakt/produkter/", "https://a.no/omtale/om/"]);
}

/// 200 pages, and each visit makes a session of its own.
fn sessions(own: &CrawlUrl, drawn: &mut Random, write: fn(u64, &str) -> String) -> Page {
    let n: u64 = own
        .path()
        .trim_matches('/')
        .split([';', '/'])
        .next()
        .unwrap()
        .trim_start_matches('p')
        .parse()
        .unwrap_or(0);
    let session = format!("{:016x}", drawn.draw() | 0xA1);
    let said = (0..40).map(|k| word(n * 41 + k) + " ").collect::<String>();
    Page::new(format!("{FRAME} {said}"), (1..6).map(|k| write((n * 5 + k) % 60, &session)).collect())
}

#[test]
fn f37_session_ids_in_the_query_are_found() {
    let mut drawn = Random(5);
    let told = harvest(&["https://a.no/p0"], 600, |own| {
        sessions(own, &mut drawn, |n, id| format!("/p{n}?visit={id}"))
    });
    let suspicion = found(Kind::Sessions, &told);
    ends(suspicion, &["https://a.no/p1", "https://a.no/p1?visitor=0123456789abcdef"]);
    let Remedy::SessionId { name, .. } = &suspicion.remedy else { panic!("{:?}", suspicion.remedy) };
    let rules = UrlRules { session_ids: vec![name.clone()], ..UrlRules::default() };
    for example in &suspicion.examples {
        let plain = normalise(example, None, &rules).unwrap();
        assert_eq!(plain.query(), None, "the line ends it: {example}");
    }
}

#[test]
fn f37_session_ids_in_the_path_are_found() {
    let mut drawn = Random(6);
    let told = harvest(&["https://a.no/p0"], 600, |own| {
        sessions(own, &mut drawn, |n, id| format!("/p{n};jsessionid={id}"))
    });
    let suspicion = found(Kind::Sessions, &told);
    assert!(matches!(&suspicion.remedy, Remedy::SessionId { name, .. } if name == "jsessionid"));
    ends(suspicion, &["https://a.no/p1"]);
}

/// A search with filters, each of which is put behind those there are.
fn facets(own: &CrawlUrl) -> Page {
    const KEYS: [&str; 6] = ["colour", "size", "brand", "price", "sort", "stock"];
    let query = own.query().unwrap_or_default();
    let mut links = Vec::new();
    for key in KEYS.iter().filter(|key| !query.contains(**key)) {
        for value in 0..2 {
            let more = if query.is_empty() { String::new() } else { format!("{query}&") };
            links.push(format!("/sok?{more}{key}={value}"));
        }
    }
    let mut pairs: Vec<&str> = query.split('&').collect();
    pairs.sort_unstable();
    let sum = pairs.concat().bytes().fold(1u64, |sum, byte| sum.wrapping_mul(31) ^ u64::from(byte));
    let mut random = Random(sum);
    let shown: String = (0..24).map(|_| word(random.below(300)) + " kr ").collect();
    Page::new(format!("{FRAME} {shown}"), links)
}

#[test]
fn f37_filters_in_every_order_are_found() {
    let told = harvest(&["https://a.no/sok"], 600, facets);
    let suspicion = found(Kind::Facets, &told);
    ends(
        suspicion,
        &["https://a.no/sok", "https://a.no/sok?colour=1&size=2", "https://a.no/sokkel?a=1&b=2&c=3&d=4"],
    );
}

/// In one order only, but all combinations.
#[test]
fn f37_filters_in_every_combination_are_found() {
    const KEYS: [&str; 7] = ["brand", "colour", "heel", "price", "size", "sole", "stock"];
    let told = harvest(&["https://a.no/sok"], 900, |own| {
        let given: Vec<&str> = own.query().into_iter().flat_map(|query| query.split('&')).collect();
        let links =
            KEYS.iter().filter(|key| !given.iter().any(|pair| pair.starts_with(**key))).flat_map(|key| {
                (0..3)
                    .map(|value| {
                        let mut pairs = given.clone();
                        let own = format!("{key}={value}");
                        pairs.push(&own);
                        pairs.sort_unstable();
                        format!("/sok?{}", pairs.join("&"))
                    })
                    .collect::<Vec<_>>()
            });
        let links = links.collect();
        let mut random =
            Random(own.as_str().bytes().fold(1u64, |sum, byte| sum.wrapping_mul(31) ^ u64::from(byte)));
        let shown: String = (0..24)
            .map(|_| {
                let n = random.below(60);
                format!("{} {} kr buy ", word(n), word(n + 100))
            })
            .collect();
        Page::new(format!("{FRAME} {shown}"), links)
    });
    let first = told.iter().find(|told| told.suspicion.kind == Kind::Facets).expect("it is found");
    assert!(first.after <= 900, "{}", first.after);
    ends(&first.suspicion, &["https://a.no/sok?brand=1&colour=2"]);
}

fn same_page(own: &CrawlUrl) -> Page {
    let n: u64 =
        own.query().and_then(|query| query.strip_prefix("id=")).and_then(|id| id.parse().ok()).unwrap_or(0);
    let links = (1..4).map(|k| format!("/vis?id={}", n.wrapping_mul(3).wrapping_add(k))).collect();
    Page::new(format!("{FRAME} Article {n} was not found. Perhaps one of these is?"), links)
}

#[test]
fn f37_the_same_page_under_many_ids_is_found() {
    let told = harvest(&["https://a.no/vis?id=1"], 600, same_page);
    ends(
        found(Kind::Alike, &told),
        &["https://a.no/vis", "https://a.no/vis?id=1&b=2", "https://a.no/vis/?id=1"],
    );
}

/// Half of the harvests go to 5,000 articles; both traps are found, and nothing else.
#[test]
fn f37_a_trap_on_an_honest_site_is_found_and_the_site_is_not() {
    let told = harvest(&["https://a.no/"], 9000, |own| match own.path() {
        "/" => Page::new(FRAME, vec!["/kalender/2026/11".into(), "/sak/1".into(), "/vis?id=1".into()]),
        path if path.starts_with("/kalender") => calendar(own),
        "/vis" => Page { links: same_page(own).links[..1].to_vec(), ..same_page(own) },
        path => {
            let n: u64 = path.trim_start_matches("/sak/").parse().unwrap_or(0);
            let said: String = (0..60).map(|k| word(Random(n * 60 + k).below(6000)) + " ").collect();
            Page::new(
                format!("{FRAME} {said}"),
                (1..4).map(|k| format!("/sak/{}", (n * 3 + k) % 5000)).collect(),
            )
        }
    });
    for kind in [Kind::Calendar, Kind::Alike] {
        assert!(told.iter().any(|told| told.suspicion.kind == kind), "{kind}");
    }
    for told in &told {
        ends(&told.suspicion, &["https://a.no/sak/17", "https://a.no/"]);
    }
}
