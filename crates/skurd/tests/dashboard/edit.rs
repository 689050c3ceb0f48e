//! What is declared is added, changed, taken back and deleted in the dashboard (I8), without a
//! script.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::town::Town;

/// A browser without script, and the town it looks at.
fn open() -> Option<(Town, Browser)> {
    let town = Town::open();
    let browser = Browser::open(town.served.address)?;
    browser.script_off(true);
    Some((town, browser))
}

/// A form that is not taken is told to the console, too.
fn calm(browser: &Browser) {
    let said: Vec<String> = browser.console().into_iter().filter(|line| !line.contains("422")).collect();
    assert!(said.is_empty(), "the console says at {}: {said:#?}", browser.place());
}

/// Waits until the page says it: the one before may still be there.
fn says(browser: &Browser, part: &str) {
    browser.until(&format!("the page says {part:?}"), |browser| browser.main().contains(part));
}

/// Waits until a form has come to this.
fn told(browser: &Browser, notice: &str) {
    browser.until(&format!("the notice {notice:?}"), |browser| {
        browser.has(".notice") && browser.text(".notice").starts_with(notice)
    });
}

const LOOK: &str = "button[value=look]";
const SAVE: &str = "button[value=save]";
const UNDO: &str = ".undo button";

#[test]
fn i8_a_seed_is_added_changed_and_a_change_undone() {
    let Some((town, browser)) = open() else { return };
    browser.go("/seeds");
    browser.follow("New seed");
    browser.fill("#f-url", "gopher://c.test/");
    browser.fill("#f-name", "c");
    browser.click(LOOK);
    says(&browser, "Nothing is saved yet");
    for (field, said) in [("#f-url-about", "gopher"), ("#f-profiles-about", "profiles")] {
        assert!(browser.text(&format!("{field} .error")).contains(said), "{}", browser.main());
    }
    assert_eq!(town.served.get("/api/v1/seeds/c").status, 404);
    browser.fill("#f-url", "http://c.test/");
    browser.click("input[name=profiles][value=daily]");
    browser.click(LOOK);
    assert!(browser.text(".diff").contains("+ url: \"http://c.test/\""), "{}", browser.main());
    assert_eq!(town.served.get("/api/v1/seeds/c").status, 404, "looking changes nothing");
    browser.click(SAVE);
    told(&browser, "c is added");
    assert_eq!(town.served.json("seeds/c")["profiles"], json!(["daily"]));

    browser.follow("Edit");
    browser.click("input[name=profiles][value=weekly]");
    browser.click(LOOK);
    assert!(browser.text(".diff ins").contains("weekly"), "{}", browser.main());
    browser.click("button[value=back]");
    browser.until("what was written is there", |browser| {
        browser.has("input[name=profiles][value=weekly]:checked")
    });
    browser.click(LOOK);
    browser.click(SAVE);
    told(&browser, "c is changed");
    assert_eq!(town.served.json("seeds/c")["profiles"], json!(["daily", "weekly"]));
    browser.click(UNDO);
    told(&browser, "seed `c` is as it was");
    assert_eq!(town.served.json("seeds/c")["profiles"], json!(["daily"]));

    browser.follow("Edit");
    browser.click(LOOK);
    says(&browser, "Nothing would change");
    assert!(!browser.has(SAVE));
    calm(&browser);
}

#[test]
fn i8_what_somebody_else_changed_meanwhile_is_noticed() {
    let Some((town, browser)) = open() else { return };
    let put = |every: &str| {
        let body = json!({ "collection": "news", "every": every });
        let put = town.served.request("PUT", "/api/v1/profiles/daily").json(&body).send();
        assert_eq!(put.status, 200);
    };
    let every = || town.served.json("profiles/daily")["every"].clone();
    // Before it is looked at, and between that and saving.
    for (is_early, wanted) in [(true, "3h"), (false, "5h")] {
        browser.go("/edit/profiles/daily");
        browser.fill("#f-every", "2h");
        if is_early {
            put(wanted);
            browser.click(LOOK);
        } else {
            browser.click(LOOK);
            browser.until("it has been looked at", |browser| browser.has(SAVE));
            put(wanted);
            browser.click(SAVE);
        }
        says(&browser, "Somebody changed it");
        assert!(browser.has("#f-every[value='2h']"), "what was written is not lost");
        assert_eq!(every(), Value::from(wanted));
    }
    browser.follow("Open it anew");
    browser.until("it is open anew", |browser| !browser.main().contains("Somebody changed it"));
    browser.fill("#f-every", "2h");
    browser.click(LOOK);
    browser.click(SAVE);
    told(&browser, "daily is changed");
    put("6h");
    browser.click(UNDO);
    told(&browser, "profile `daily` was changed since, and nothing is undone");
    assert_eq!(every(), "6h");
    browser.go("/new/collections");
    browser.fill("#f-name", "news");
    browser.click(LOOK);
    says(&browser, "There is a collection of this name already");
    calm(&browser);
}

#[test]
fn i8_a_profile_is_changed_seeing_which_urls_that_concerns() {
    let Some((town, browser)) = open() else { return };
    town.harvested(20);
    // So that nothing moves between two looks.
    assert_eq!(town.served.post("pause", &json!({ "what": "everything" })).status, 200);
    browser.go("/edit/profiles/daily");
    browser.click("#f-scope > summary");
    browser.fill("#f-scope-exclude", "prefix: a.test/\nhost:");
    browser.fill("#f-scope-max_depth", "deep");
    browser.click(LOOK);
    assert!(browser.text("#f-scope-exclude-about .error").starts_with("Line 2:"), "{}", browser.main());
    assert!(browser.text("#f-scope-max_depth-about .error").contains("max_depth"), "{}", browser.main());
    browser.fill("#f-scope-exclude", "prefix: a.test/");
    browser.fill("#f-scope-max_depth", "");
    browser.click(LOOK);
    says(&browser, "Out of scope from then on");
    let main = browser.main();
    assert!(main.contains("http://a.test/") && !main.contains("In scope from then on"), "{main}");
    browser.click(SAVE);
    told(&browser, "daily is changed");
    let scope = town.served.json("profiles/daily")["scope"].clone();
    assert_eq!((&scope["exclude"], &scope["max_depth"]), (&json!([{ "prefix": "a.test/" }]), &Value::Null));
    // The other way round: they come back, and what was linked to comes too.
    browser.follow("Edit");
    browser.fill("#f-scope-exclude", "");
    browser.fill("#f-scope-off_domain_hops", "1");
    browser.click(LOOK);
    says(&browser, "In scope from then on");
    says(&browser, "http://a.test/");
    calm(&browser);
}

#[test]
fn i8_something_is_deleted_after_a_question_and_comes_back() {
    let Some((town, browser)) = open() else { return };
    let before = town.served.json("profiles/weekly");
    browser.go("/profiles/weekly");
    browser.follow("Delete");
    says(&browser, "2 seeds still name it");
    assert_eq!(town.served.get("/api/v1/profiles/weekly").status, 200, "asking changes nothing");
    browser.click("button.danger");
    told(&browser, "weekly is deleted");
    assert_eq!(town.served.get("/api/v1/profiles/weekly").status, 404);
    browser.click(UNDO);
    told(&browser, "profile `weekly` is as it was");
    assert_eq!(town.served.json("profiles/weekly"), before);
    calm(&browser);
}

#[test]
fn i8_pasted_seeds_are_looked_at_line_by_line() {
    let Some((town, browser)) = open() else { return };
    browser.go("/seeds");
    browser.follow("Paste a list");
    browser.fill("#f-seeds", "http://a.test/\nnew.test\nnot one\nhttp://new2.test/ a note\nhttp://b.test/");
    browser.click(LOOK);
    says(&browser, "at least one profile");
    browser.click("input[name=profiles][value=weekly]");
    browser.click(LOOK);
    says(&browser, "2 seeds new, 1 got profiles they lacked, 1 there already, 1 wrong");
    says(&browser, "neither URL nor domain");
    assert_eq!(town.served.items("seeds").len(), 3, "looking changes nothing");
    browser.click(SAVE);
    told(&browser, "2 seeds new");
    assert_eq!(town.served.json("seeds/a")["profiles"], json!(["daily", "weekly"]));
    assert_eq!(town.served.json("seeds/https%3A%2F%2Fnew.test%2F")["profiles"], json!(["weekly"]));
    assert_eq!(town.served.items("seeds").len(), 5);
    browser.click(UNDO);
    told(&browser, "3 things are as they were");
    assert_eq!(town.served.items("seeds").len(), 3);
    assert_eq!(town.served.json("seeds/a")["profiles"], json!(["daily"]));
    calm(&browser);
}

/// Every key of a thing can be seen and saved in its form, and saving what is there changes nothing.
#[test]
fn i8_forms_say_what_the_file_says() {
    let Some((town, browser)) = open() else { return };
    let body = json!({
        "every": "1d", "collection": "news", "length": 7, "robots": { "as": "Other" }, "at": "03:00",
        "weekdays": ["mon", "fri"], "timezone": "Europe/Oslo", "traps": "hold", "active": false,
        "windows": [{ "from": "22:00", "to": "06:00", "weekdays": ["sun"] }, { "from": "12:00", "to": "13:00" }],
        "scope": { "within": "host", "max_depth": 3, "include": [{ "host": "*.a.test" }, { "regex": "\\.pdf$" }], "schemes": ["https"] },
        "limits": { "max_errors": 3, "blacklist_for": "30d", "max_bytes": "10MB" }, "budget": { "max_urls": 5000 },
    });
    let group = json!({ "hosts": ["x.test", "y.test"], "politeness": { "factor": 2.5, "min": "20ms" }, "proxy": "socks5://u:secret@127.0.0.1:9",
        "windows": [{ "from": "00:00", "to": "24:00" }] });
    let collection = json!({ "headers": { "X-A": "b" }, "cookies": [{ "host": "a.test", "name": "n", "value": "v" }], "engine": "browser",
        "browser": { "viewport": { "width": 800 }, "screenshot": "none" }, "user_agent": "x/1", "index": false });
    for (path, body) in
        [("profiles/rich", body), ("host-groups/group%3Ax", group), ("collections/rich", collection)]
    {
        let put = town.served.request("PUT", &format!("/api/v1/{path}")).json(&body).send();
        assert_eq!(put.status, 201, "{path}: {}", put.text());
        let before = town.served.get(&format!("/api/v1/{path}"));
        browser.go(&format!("/edit/{path}"));
        browser.click(LOOK);
        browser.until(&format!("{path} is as it was"), |browser| {
            browser.main().contains("Nothing would change")
        });
        let after = town.served.get(&format!("/api/v1/{path}"));
        assert_eq!(before.header("etag"), after.header("etag"), "{path}");
    }
    calm(&browser);
}
