//! What an operator does: watch, pause, switch, ask why.

use testkit::web::{Answer, Ask};
use testkit::world::{Served, World};

use crate::browser::Browser;
use crate::town::Town;

#[test]
fn i5_figures_move_and_the_harvest_can_be_paused_and_resumed() {
    let town = Town::open();
    let Some(browser) = Browser::open(town.served.address) else { return };
    browser.go("/");
    let harvests = |browser: &Browser| {
        browser.text("[data-figure=total_harvests]").replace('\u{202F}', "").parse::<u64>().unwrap()
    };
    let first = harvests(&browser);
    browser.until("the figures move by themselves", |browser| harvests(browser) > first + 3);
    browser.until("the stream is open", |browser| browser.has("[data-live]:not([hidden])"));
    browser.until("harvests are told", |browser| browser.has("[data-latest] a"));
    browser.until("something is drawn", |browser| browser.has(".spark .stroke[d*=L]"));
    browser.click("main .actions button");
    assert!(browser.notice().contains("paused"), "{}", browser.main());
    assert!(browser.text("main .title").contains("paused"));
    assert_eq!(town.served.json("status")["state"], "paused");
    browser.click("main .actions button");
    browser.until("it goes on", |browser| browser.text("main .title").contains("harvesting"));
    browser.calm();
}

/// From nothing to a page in the archive, without a terminal.
#[test]
fn i8_the_first_page_takes_a_url_and_harvests_it() {
    let site = |ask: &Ask| match ask.path.as_str() {
        "/" => Answer::html("<title>First</title><a href='/next'>next</a>"),
        "/next" => Answer::html("the next"),
        _ => Answer::not_found(),
    };
    let world = World::new(crate::SKURD, site);
    let served = Served::with(&world, &[], None);
    let Some(browser) = Browser::open(served.address) else { return };
    browser.script_off(true);
    browser.go("/");
    assert!(browser.main().contains("Harvest your first site"), "{}", browser.main());
    browser.fill("input[name=url]", "http://localhost:0x/");
    browser.click(".first button");
    assert!(browser.has(".notice.bad") || browser.has("input[name=url]:invalid"), "{}", browser.main());
    browser.go("/");
    browser.fill("input[name=url]", "http://first.test/");
    browser.click(".first button");
    assert!(browser.notice().contains("seed http://first.test/ started as run 1"), "{}", browser.notice());
    assert!(!browser.has(".first"), "{}", browser.main());
    served.until("all of it is harvested", |_| world.web().times("http://first.test/next") == 1);
    assert_eq!(served.json("profiles/once")["collection"], "web");
    browser.go("/seeds");
    assert!(browser.main().contains("http://first.test/"), "{}", browser.main());
    browser.calm();
}

#[test]
fn i5_a_seed_is_disabled_and_enabled_and_what_it_covers_waits() {
    let town = Town::open();
    let Some(browser) = Browser::open(town.served.address) else { return };
    town.harvested(5);
    browser.go("/seeds?q=a.test");
    assert!(
        browser.main().contains("http://a.test/") && !browser.main().contains("http://b.test/"),
        "{}",
        browser.main()
    );
    browser.click("[aria-label='Disable a']");
    assert_eq!(browser.notice(), "a is disabled");
    assert_eq!(town.served.json("seeds/a")["active"], false);
    let asked = |town: &Town| {
        town.world
            .web()
            .seen()
            .iter()
            .filter(|seen| seen.ask.host == "a.test" && !seen.ask.path.contains("item"))
            .count()
    };
    town.served.until("what is in flight comes home", |served| {
        let hosts = served.json("hosts?busy=true");
        !hosts["items"].as_array().unwrap().iter().any(|host| host["host"] == "a.test")
    });
    let before = asked(&town);
    let harvests = town.served.json("status")["figures"]["harvests"].as_u64().unwrap();
    town.harvested(harvests + 10);
    assert!(asked(&town) <= before + 1, "nothing more is asked of it");
    browser.go("/inspect?url=http://a.test/1");
    assert!(browser.main().contains("F11") || browser.main().contains("disabled"), "{}", browser.main());
    browser.go("/seeds?q=a.test");
    browser.click("[aria-label='Enable a']");
    assert_eq!(browser.notice(), "a is enabled");
    browser.click("[aria-label='Start a']");
    assert!(browser.notice().contains("seed a started as run"), "{}", browser.notice());
    browser.calm();
}

#[test]
fn i5_every_form_works_without_script() {
    let town = Town::open();
    let Some(browser) = Browser::open(town.served.address) else { return };
    browser.script_off(true);
    for (page, button, said) in [
        ("/", "main .actions button", "everything is paused"),
        ("/", "main .actions button", "everything is resumed"),
        ("/profiles", "[aria-label='Disable daily']", "daily is disabled"),
        ("/profiles/daily", "[aria-label='Enable daily']", "daily is enabled"),
        ("/collections/law", "[aria-label='Pause law']", "collection law is paused"),
        ("/", "[aria-label='Resume collection law']", "collection law is resumed"),
        ("/walks/items", "[aria-label='Pause items']", "walk items is paused"),
        ("/walks/items", "[aria-label='Resume items']", "walk items is resumed"),
        ("/walks/items", "[aria-label='Disable items']", "items is disabled"),
        ("/walks/items", "[aria-label='Enable items']", "items is enabled"),
    ] {
        browser.go(page);
        browser.click(button);
        assert_eq!(browser.notice(), said);
    }
    browser.script_off(false);
}

#[test]
fn i5_a_host_is_paused_from_its_row() {
    let town = Town::open();
    let Some(browser) = Browser::open(town.served.address) else { return };
    town.harvested(3);
    browser.go("/hosts?q=b.te");
    browser.click("[aria-label='Pause b.test']");
    assert_eq!(browser.notice(), "host b.test is paused");
    assert!(browser.place().starts_with("/hosts?q=b.te"), "{}", browser.place());
    assert!(browser.text("tbody").contains("paused"));
    browser.click("[aria-label='Resume b.test']");
    browser.calm();
}

#[test]
fn i5_the_inspector_says_why_a_url_was_not_harvested() {
    let town = Town::open();
    let Some(browser) = Browser::open(town.served.address) else { return };
    town.served.until("robots.txt denies it", |served| {
        let answer = served.get("/api/v1/why?url=http://a.test/secret&collection=news");
        answer.text().contains("robots")
    });
    browser.go("/");
    browser.follow("Why");
    browser.fill("#field-url", "http://a.test/secret");
    browser.press(crate::browser::ENTER);
    browser.until("it says why", |browser| browser.main().contains("robots"));
    assert!(browser.has(".rule"), "each rule is named");
    assert!(browser.main().contains("Nothing was archived of this URL"));
    browser.go("/inspect?url=nonsense:");
    assert!(browser.has("[role=alert]"), "{}", browser.main());
    browser.calm();
}

#[test]
fn i8_seeds_profiles_and_collections_show_what_came_of_them() {
    let town = Town::open();
    let Some(browser) = Browser::open(town.served.address) else { return };
    town.harvested(20);
    town.served.until("somebody failed", |served| {
        served.items("queue?host=gone.test").iter().any(|item| item["not_found"].as_u64() > Some(0))
    });
    assert_eq!(town.served.post("pause", &serde_json::json!({ "what": "everything" })).status, 200);
    town.served.until("all is home", |served| served.items("hosts?busy=true").is_empty());
    let of_a = town.served.items("queue?collection=news&host=a.test");
    let last = of_a.iter().filter_map(|item| item["last_fetch"].as_str()).max().unwrap();
    browser.go("/seeds/a");
    let told = browser.text("section[aria-labelledby=results]");
    assert!(told.contains(&last.replace('T', " ").replace('Z', "")), "{last}: {told}");
    assert!(
        told.contains(&format!("URLs\n{}", of_a.len())) && told.contains("Run 1"),
        "{}: {told}",
        of_a.len()
    );
    browser.go("/seeds/gone");
    let told = browser.text("section[aria-labelledby=results]");
    assert!(told.contains("Failing\n1") && told.contains("http://gone.test/"), "{told}");
    browser.go("/collections/news");
    let counts = town.served.json("status")["collections"]["news"].clone();
    let told = browser.text("section[aria-labelledby=results]").replace('\u{202F}', "");
    assert!(told.contains(&format!("Captures\n{}", counts["captures"])), "{counts}: {told}");
    browser.calm();
}

#[test]
fn i8_something_is_left_alone_and_lifted_without_script() {
    let town = Town::open();
    let Some(browser) = Browser::open(town.served.address) else { return };
    browser.script_off(true);
    browser.go("/blacklist?patterns=yes");
    browser.click("#f-kind option[value=prefix]");
    browser.fill("#f-what", "a.test/evil");
    browser.fill("#f-reason", "it is");
    browser.click(".sheet button");
    assert_eq!(browser.notice(), "prefix:a.test/evil is left alone");
    assert!(browser.text("tbody").contains("it is"), "{}", browser.main());
    let listed = || town.served.items("blacklist/patterns").len();
    assert_eq!(listed(), 1);
    browser.click("td.do button");
    browser.until("it is lifted", |browser| browser.notice().starts_with("prefix:a.test/evil is lifted"));
    assert_eq!(listed(), 0);
    browser.calm();
}

#[test]
fn i8_what_somebody_knows_a_part_of_is_found_by_keyboard() {
    let town = Town::open();
    let Some(browser) = Browser::open(town.served.address) else { return };
    town.served.until("the first page is archived", |served| {
        !served.json("captures?url=http://a.test/&collection=news")["items"].as_array().unwrap().is_empty()
    });
    for (typed, headings, link) in [
        ("item", &["Declared"][..], "/walks/items"),
        ("a.test", &["Declared", "Hosts", "Known URLs", "Captures"], "/seeds/a"),
        ("http://a.test/1", &["Known URLs"], "/inspect?url=http%3A%2F%2Fa.test%2F1"),
        ("DAIL", &["Declared"], "/profiles/daily"),
    ] {
        browser.go("/reports");
        browser.press("/");
        browser.until("the search box has the focus", |browser| {
            browser.run("return document.activeElement.id") == "find"
        });
        browser.press(typed);
        browser.press(crate::browser::ENTER);
        browser.until("it is found", |browser| browser.place().starts_with("/find?"));
        let main = browser.main();
        assert!(headings.iter().all(|heading| main.contains(heading)), "{typed}: {main}");
        assert!(browser.has(&format!("main a[href='{link}']")), "{typed}: {main}");
    }
    browser.go("/find?q=nothing-like-it");
    assert!(browser.main().contains("Nothing here has that in its name"), "{}", browser.main());
    browser.calm();
}
