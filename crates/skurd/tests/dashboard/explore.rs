//! What a curator does: follow links, look at walks, open captures.

use crate::browser::Browser;
use crate::town::Town;

#[test]
fn i5_the_explorer_leads_from_the_top_to_a_page_and_to_who_links_to_it() {
    let town = Town::open();
    let Some(browser) = Browser::open(town.served.address) else { return };
    // So that its pages do not fill the list before the other town is in it.
    town.harvested(5);
    let rest = serde_json::json!({ "what": "host", "name": "a.test" });
    assert_eq!(town.served.post("pause", &rest).status, 200);
    browser.until("both towns are in the index", |browser| {
        browser.go("/links/page?index=news&url=http://a.test/");
        ["first town", "back"].iter().all(|anchor| browser.main().contains(anchor))
    });
    browser.until("its ranks have followed", |browser| {
        browser.go("/links?index=news");
        browser.main().contains("http://a.test/")
    });
    assert!(browser.text(".lead").contains("links between"), "{}", browser.main());
    browser.follow("http://a.test/");
    let main = browser.main();
    assert!(main.contains("Who links to it") && main.contains("back"), "{main}");
    assert!(main.contains("U+202E"), "an anchor that turns text around is shown as what it is: {main}");
    browser.follow("http://b.test/");
    assert!(browser.main().contains("the other town"));
    browser.follow("b.test");
    assert!(browser.place().starts_with("/links/domain"), "{}", browser.place());
    browser.follow("Domains");
    assert!(browser.main().contains("nowhere.test"));
    browser.follow("Never captured");
    assert!(browser.main().contains("https://nowhere.test/never"));
    browser.calm();
}

#[test]
fn i5_a_walk_has_a_map_of_its_ids() {
    let town = Town::open();
    let Some(browser) = Browser::open(town.served.address) else { return };
    browser.until("it has been walked a while", |browser| {
        browser.go("/walks/items");
        browser.has(".map .cell .good") && browser.has(".map .cell .bad")
    });
    browser.go("/walks");
    assert!(browser.main().contains("http://a.test/item/{id}"), "{}", browser.main());
    browser.follow("items");
    assert!(browser.has(".map .frame"), "a head stands somewhere");
    assert_eq!(browser.run("return document.querySelectorAll('.map .cell').length"), 60);
    assert!(browser.main().contains("Stretch by stretch"));
    browser.fill("#from", "1");
    browser.fill("#to", "10");
    browser.press(crate::browser::ENTER);
    browser.until("the map is of these ids", |browser| {
        browser.run("return document.querySelectorAll('.map .cell').length") == 10
    });
    browser.until("its run has ended", |browser| {
        browser.go("/walks/items");
        browser.text("main .title").contains("ended")
    });
    browser.click("#resume ~ .actions form:nth-of-type(2) button");
    assert_eq!(browser.notice(), "items goes on");
    browser.calm();
}

#[test]
fn i5_a_capture_is_opened_with_its_record_and_its_text() {
    let town = Town::open();
    let Some(browser) = Browser::open(town.served.address) else { return };
    town.served.until("the first page is archived", |served| {
        !served.json("captures?url=http://a.test/&collection=news")["items"].as_array().unwrap().is_empty()
    });
    browser.go("/captures");
    browser.fill("#field-prefix", "http://a.test/");
    browser.press(crate::browser::ENTER);
    browser.until("they are listed", |browser| browser.place().contains("prefix="));
    browser.go("/captures?url=http://a.test/&collection=news");
    browser.click("tbody th a");
    let main = browser.main();
    assert!(main.contains("WARC-Type: response") && main.contains("HTTP/1.1 200"), "{main}");
    assert!(main.contains("<script>window.hacked=1</script>"), "the text as it is: {main}");
    assert_eq!(browser.run("return window.hacked === undefined"), true);
    browser.calm();
}

#[test]
fn i5_reports_draw_what_happened() {
    let town = Town::open();
    let Some(browser) = Browser::open(town.served.address) else { return };
    town.harvested(20);
    browser.go("/reports");
    let titles = browser.run(
        "return [...document.querySelectorAll('.plot > svg > title')].map(t => t.textContent).join('; ')",
    );
    for title in [
        "Harvests on time",
        "How late harvests were",
        "Requests by answer",
        "Harvests by domain",
        "Errors by kind",
    ] {
        assert!(titles.as_str().unwrap().contains(title), "{title} in {titles}");
    }
    browser.dark(true);
    let paper = browser.run("return getComputedStyle(document.querySelector('.plot svg > rect')).fill");
    assert_ne!(paper, "rgb(255, 255, 255)", "no white sheet in the dark");
    browser.follow("A day");
    assert!(browser.place().contains("since=1d"));
    browser.calm();
}
