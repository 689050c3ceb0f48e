//! The demo as somebody sees it who has never seen Skurd: one command, and a browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use testkit::world::Served;

use crate::browser::Browser;

fn demo(dir: &Path) -> Served {
    let mut command = Command::new(crate::SKURD);
    command.args(["demo", "--json", "--listen", "127.0.0.1:0", "--data"]).arg(dir);
    Served::launch(command, None)
}

/// The pictures of the README are of this visit, where `SKURD_SCREENSHOTS` says.
fn photograph(browser: &Browser, name: &str) {
    if let Some(dir) = std::env::var_os("SKURD_SCREENSHOTS").map(PathBuf::from) {
        std::fs::create_dir_all(&dir).unwrap();
        browser.photograph(&dir.join(format!("demo-{name}.png")));
    }
}

fn start_again(browser: &Browser) {
    browser.go("/collections");
    browser.click("[aria-label='Start open']");
    assert!(browser.notice().contains("started as run"), "{}", browser.notice());
}

#[test]
fn i5_a_visit_to_the_demo() {
    let dir = TempDir::new().unwrap();
    let served = demo(&dir.path().join("demo"));
    let Some(browser) = Browser::open(served.address) else { return };
    let harvests = |browser: &Browser| {
        browser.text("[data-figure=total_harvests]").replace('\u{202F}', "").parse::<u64>().unwrap()
    };
    // However quick the demo was: once more.
    start_again(&browser);
    browser.go("/");
    let first = harvests(&browser);
    browser.until("the figures move", |browser| harvests(browser) > first + 10);

    // The newspaper's front page is due for as long as the demo runs.
    browser.go("/seeds?q=avis");
    browser.click("[aria-label='Disable avis']");
    assert_eq!(browser.notice(), "avis is disabled");
    let why = "/inspect?url=http://avis.test/";
    browser.go(why);
    assert!(browser.main().contains("`avis` is switched off"), "{}", browser.main());
    browser.go("/seeds?q=avis");
    browser.click("[aria-label='Enable avis']");
    assert_eq!(browser.notice(), "avis is enabled");
    browser.go(why);
    assert!(browser.main().contains("`avis` is active"), "{}", browser.main());

    browser.until("the draft was denied", |browser| {
        browser.go("/inspect?url=http://avis.test/utkast/&collection=open");
        browser.main().contains("robots")
    });
    assert!(browser.has(".rule"), "each rule is named: {}", browser.main());

    browser.until("the walk has found something", |browser| {
        browser.go("/walks/minutes");
        browser.has(".map .cell .good") && browser.has(".map .cell .bad")
    });

    browser.until("the town is linked", |browser| {
        browser.go("/links?index=open");
        browser.main().contains("http://avis.test/")
    });
    browser.follow("http://avis.test/");
    assert!(browser.main().contains("Who links to it"));
    browser.until("somebody does", |browser| browser.has("#inlinks ~ * tbody td"));
    photograph(&browser, "links");

    browser.go("/captures?url=http://avis.test/&collection=open");
    browser.click("tbody th a");
    assert!(browser.main().contains("WARC-Type: response"), "{}", browser.main());

    start_again(&browser);
    browser.go("/");
    browser.until("harvests are told", |browser| browser.has("[data-latest] li:nth-child(3)"));
    photograph(&browser, "overview");
    browser.go("/walks/minutes");
    photograph(&browser, "walk");
    browser.calm();
    assert!(served.stop().success());
}

#[test]
fn b21_a_page_is_shown_as_its_browser_saw_it() {
    let program = policy::browser::BrowserProgram { sandbox: false, ..Default::default() };
    if harvest::wire::check_browser(&program).is_err() && std::env::var_os("SKURD_BROWSER_TESTS").is_none() {
        eprintln!("skipped: no browser to harvest with");
        return;
    }
    let dir = TempDir::new().unwrap();
    let served = demo(&dir.path().join("demo"));
    let Some(browser) = Browser::open(served.address) else { return };
    let why = "/inspect?url=http://havn.test/";
    browser.until("the harbour was rendered", |browser| {
        browser.go(why);
        browser.has(".seen .shot img")
    });
    let is_loaded = |browser: &Browser, selector: &str| {
        let script = format!("return document.querySelector('{selector}').naturalWidth");
        browser.run(&script).as_u64().unwrap() > 0
    };
    // A second time without script, and as a phone shows it.
    for (name, width, is_off) in [("seen", 1280, false), ("seen-bare", 1280, true), ("seen-phone", 390, true)]
    {
        browser.size(width, 900);
        browser.script_off(is_off);
        browser.go(why);
        browser.script_off(false);
        browser.until("the small picture is there", |browser| is_loaded(browser, ".shot img"));
        for phase in ["load", "behaviours", "collect", "in all"] {
            assert!(browser.text(".seen .legend").contains(phase), "{name}: {}", browser.text(".seen"));
        }
        browser.click(".requests summary");
        let rows = browser.run("return document.querySelectorAll('.requests tbody tr').length");
        let told = browser.text(".requests table");
        assert_eq!(rows.as_u64().unwrap(), requests(&served).len() as u64, "{told}");
        for said in
            ["http://havn.test/anlop.json", "http://havn.test/kai/6.svg", "a beacon", "robots.txt", "refused"]
        {
            assert!(told.contains(said), "{name} {said}: {told}");
        }
        let room = browser.run("return innerWidth - document.documentElement.scrollWidth");
        assert!(room.as_i64().unwrap() >= 0, "{name}: the page is wider than its window");
        photograph(&browser, name);
    }
    browser.size(1280, 900);
    browser.click(".shot");
    assert!(browser.place().ends_with("/picture"), "{}", browser.place());
    let picture = served.request("GET", &browser.place()).send();
    assert_eq!(picture.header("content-type"), Some("image/jpeg"));
    assert_eq!(picture.header("x-content-type-options"), Some("nosniff"));
    assert!(picture.header("content-security-policy").unwrap().contains("sandbox"));

    browser.go("/captures?url=urn:view:http://havn.test/");
    browser.click("tbody th a");
    browser
        .until("the picture is there", |browser| browser.has(".shot img") && is_loaded(browser, ".shot img"));
    photograph(&browser, "picture");
    browser.calm();
    assert!(served.stop().success());
}

/// Of the harbour, as the archive has them.
fn requests(served: &Served) -> Vec<serde_json::Value> {
    let captures = served.json("captures?url=urn:pageinfo:http://havn.test/");
    let last = captures["items"].as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned();
    let text = served.request("GET", &format!("/api/v1/captures/{last}/content")).send().text();
    let info: serde_json::Value = serde_json::from_str(&text).unwrap();
    info["requests"].as_array().unwrap().clone()
}

#[test]
fn i5_a_demo_is_for_this_machine_only() {
    let dir = TempDir::new().unwrap();
    let told = Command::new(crate::SKURD)
        .args(["demo", "--until-done", "--listen", "0.0.0.0:0", "--data"])
        .arg(dir.path().join("demo"))
        .output()
        .unwrap();
    let says = String::from_utf8_lossy(&told.stderr).into_owned();
    assert_eq!(told.status.code(), Some(2), "{says}");
    assert!(says.contains("a demo has no token"), "{says}");
    assert!(!dir.path().join("demo").exists(), "nothing was begun");
}
