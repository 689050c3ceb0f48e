//! What pages look like and how they are reached: on a phone, in the dark, by keyboard, for a
//! screen reader.

use std::path::PathBuf;

use serde_json::Value;

use crate::browser::{Browser, ENTER, TAB};
use crate::town::Town;

/// Every kind of page, with a name for its picture.
fn pages(town: &Town) -> Vec<(&'static str, String)> {
    let captures = town.served.json("captures?url=http://a.test/&collection=news");
    let capture = format!("/captures/{}", captures["items"][0]["id"].as_str().unwrap());
    let fixed = [
        ("overview", "/"),
        ("hosts", "/hosts"),
        ("queue", "/queue?host=a.test"),
        ("queue-all", "/queue"),
        ("blacklist", "/blacklist"),
        ("blacklist-patterns", "/blacklist?patterns=yes"),
        ("find-nothing", "/find"),
        ("find", "/find?q=a.test"),
        ("inspect-empty", "/inspect"),
        ("inspect", "/inspect?url=http://a.test/secret"),
        ("seeds", "/seeds"),
        ("seeds-none", "/seeds?q=nothing"),
        ("seed", "/seeds/a"),
        ("profiles", "/profiles"),
        ("profile", "/profiles/daily"),
        ("collections", "/collections"),
        ("collection", "/collections/news"),
        ("crawls", "/crawls"),
        ("host-groups", "/host-groups"),
        ("runs", "/runs"),
        ("run", "/runs/1"),
        ("new-seed", "/new/seeds"),
        ("new-profile", "/new/profiles"),
        ("new-host-group", "/new/host-groups"),
        ("edit-profile", "/edit/profiles/daily"),
        ("edit-collection", "/edit/collections/news"),
        ("delete-profile", "/delete/profiles/daily"),
        ("paste-seeds", "/paste/seeds"),
        ("walks", "/walks"),
        ("walk", "/walks/items"),
        ("captures", "/captures?prefix=http://a.test/"),
        ("captures-none", "/captures?url=http://a.test/none"),
        ("links", "/links?index=news"),
        ("links-missing", "/links?index=news&view=missing"),
        ("links-domains", "/links?index=news&view=domains"),
        ("links-domain", "/links/domain?index=news&name=a.test"),
        ("links-page", "/links/page?index=news&url=http://a.test/"),
        ("links-unknown", "/links/page?index=news&url=http://unknown.test/"),
        ("reports", "/reports"),
        ("not-found", "/nowhere"),
    ];
    let fixed = fixed.map(|(name, path)| (name, path.to_owned()));
    fixed.into_iter().chain([("capture", capture)]).collect()
}

fn at_work() -> Town {
    let town = Town::open();
    town.harvested(30);
    town.served.until("the first page is archived", |served| {
        !served.json("captures?url=http://a.test/&collection=news")["items"].as_array().unwrap().is_empty()
    });
    town.served.until("a link is indexed", |served| {
        served.get("/links/page?index=news&url=http://a.test/1").text().contains("Anchor text")
    });
    town
}

#[test]
fn i5_no_page_is_wider_than_a_phone() {
    let town = at_work();
    let Some(browser) = Browser::open(town.served.address) else { return };
    for width in [360, 390, 768] {
        browser.size(width, 800);
        for (name, path) in pages(&town) {
            browser.go(&path);
            let wide = browser.run("return document.documentElement.scrollWidth");
            assert!(wide.as_u64().unwrap() <= u64::from(width), "{name} is {wide} wide at {width}");
        }
    }
}

#[test]
fn i5_pages_are_built_for_screen_readers() {
    let town = at_work();
    let Some(browser) = Browser::open(town.served.address) else { return };
    for (name, path) in pages(&town) {
        browser.go(&path);
        let wrong = browser.run(STRUCTURE);
        assert_eq!(wrong, Value::Array(Vec::new()), "{name}");
        browser.console();
    }
}

/// What is wrong with the structure of a page, in words.
const STRUCTURE: &str = "
const wrong = [];
const all = (selector) => [...document.querySelectorAll(selector)];
if (document.documentElement.lang !== 'en') wrong.push('no language');
if (all('h1').length !== 1) wrong.push('not one h1');
if (all('main').length !== 1 || all('header nav').length !== 1) wrong.push('landmarks');
if (document.body.firstElementChild.getAttribute('href') !== '#main') wrong.push('no skip link first');
let level = 0;
for (const heading of all('h1, h2, h3')) {
  const own = Number(heading.tagName[1]);
  if (own > level + 1 && level > 0) wrong.push('heading skips: ' + heading.textContent);
  level = own;
}
const isNamed = (element) => element.labels?.length || element.getAttribute('aria-label') || element.textContent.trim();
for (const control of all('button, input:not([type=hidden]), a[href]')) {
  if (!isNamed(control)) wrong.push('no name: ' + control.outerHTML.slice(0, 100));
}
const ids = all('[id]').map((element) => element.id);
if (new Set(ids).size !== ids.length) wrong.push('ids twice: ' + ids);
for (const element of all('[aria-labelledby]')) {
  if (!document.getElementById(element.getAttribute('aria-labelledby'))) wrong.push('labelled by nothing');
}
for (const svg of all('svg')) if (!svg.querySelector('title')) wrong.push('a drawing without a title');
for (const cell of all('thead th')) if (cell.scope !== 'col') wrong.push('a column without scope');
for (const element of all('[aria-live]')) wrong.push('speaks all the time: ' + element.outerHTML.slice(0, 80));
return wrong;
";

#[test]
fn i5_text_can_be_read_in_the_light_and_in_the_dark() {
    let town = at_work();
    let Some(browser) = Browser::open(town.served.address) else { return };
    for dark in [false, true] {
        browser.dark(dark);
        for (name, path) in pages(&town) {
            browser.go(&path);
            let poor = browser.run(CONTRAST);
            assert_eq!(poor, Value::Array(Vec::new()), "{name}, dark: {dark}");
        }
    }
}

/// Texts whose contrast is below 4.5 to 1 (WCAG AA).
const CONTRAST: &str = "
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map((c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; })
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = numbers(getComputedStyle(at).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
};
const poor = [];
for (const element of document.querySelectorAll('main *, header *')) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || element.closest('svg') || !element.checkVisibility()) continue;
  const [a, b] = [light(numbers(getComputedStyle(element).color)), light(ground(element))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) poor.push(ratio.toFixed(2) + ' ' + element.outerHTML.slice(0, 100));
}
return poor;
";

#[test]
fn i5_the_keyboard_alone_reaches_the_main_actions() {
    let town = at_work();
    let Some(browser) = Browser::open(town.served.address) else { return };
    let here = |browser: &Browser| {
        browser.run("return (document.activeElement.getAttribute('aria-label') || document.activeElement.textContent).trim()")
    };
    let tab_to = |browser: &Browser, wanted: &str, most: usize| {
        for _ in 0..most {
            browser.press(TAB);
            let outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle");
            assert_ne!(outline, "none", "the focus is seen at {}", here(browser));
            if here(browser) == wanted {
                return;
            }
        }
        panic!("{wanted} is not within {most} steps at {}", browser.place());
    };
    browser.go("/");
    tab_to(&browser, "Skip to content", 1);
    browser.press(ENTER);
    tab_to(&browser, "Pause everything", 3);
    browser.press(ENTER);
    browser.until("it is paused", |browser| browser.text("main .title").contains("paused"));
    browser.go("/");
    tab_to(&browser, "Seeds", 20);
    browser.press(ENTER);
    browser.until("the seeds are there", |browser| browser.place() == "/seeds");
    tab_to(&browser, "Disable b", 60);
    browser.press(ENTER);
    browser.until("it is disabled", |browser| browser.has(".notice"));
    assert_eq!(browser.notice(), "b is disabled");
    browser.calm();
}

/// Pictures for people to look at: of all pages where `SKURD_SCREENSHOTS` says, of two in any case.
#[test]
fn i5_pages_can_be_photographed() {
    let town = at_work();
    let Some(browser) = Browser::open(town.served.address) else { return };
    let temporary = tempfile::TempDir::new().unwrap();
    let wanted = std::env::var_os("SKURD_SCREENSHOTS").map(PathBuf::from);
    let dir = wanted.clone().unwrap_or(temporary.path().to_owned());
    std::fs::create_dir_all(&dir).unwrap();
    let mut pages = pages(&town);
    pages.retain(|(name, _)| wanted.is_some() || ["overview", "walk"].contains(name));
    for (name, path) in pages {
        for (width, dark, suffix) in SHAPES {
            browser.size(width, 900);
            browser.dark(dark);
            browser.go(&path);
            if name == "overview" {
                browser.until("harvests are told", |browser| browser.has("[data-latest] li:nth-child(8)"));
            }
            let file = dir.join(format!("{name}-{suffix}.png"));
            browser.photograph(&file);
            assert!(std::fs::metadata(&file).unwrap().len() > 5000, "{name} is blank");
        }
    }
}

const SHAPES: [(u32, bool, &str); 4] =
    [(1280, false, "wide"), (1280, true, "wide-dark"), (390, false, "phone"), (390, true, "phone-dark")];
