//! Who gets in, and which forms are taken.

use testkit::world::{Request, Response};

use crate::browser::Browser;
use crate::town::Town;

const TOKEN: &str = "a-token-for-this-test";

fn form(town: &Town, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let mut request = Request::new(town.served.address, "POST", path).header("Accept", "text/html");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.body("application/x-www-form-urlencoded", body).send()
}

/// The token of the forms, as a page has it.
fn form_token(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"form\" value=\"").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

#[test]
fn i5_a_form_is_taken_from_pages_of_this_run_only() {
    let town = Town::open();
    let here = format!("http://{}", town.served.address);
    let token = form_token(&town.served.get("/").text());
    let good = format!("form={token}&do=pause&what=everything&back=/");
    for (headers, body, status) in [
        (vec![("Origin", "https://evil.test")], good.as_str(), 403),
        (vec![("Origin", "null")], good.as_str(), 403),
        (vec![("Sec-Fetch-Site", "cross-site")], good.as_str(), 403),
        (vec![("Origin", here.as_str())], "do=pause&what=everything", 403),
        (vec![("Origin", here.as_str())], "form=wrong&do=pause&what=everything", 403),
        (vec![("Host", "evil.test")], good.as_str(), 403),
    ] {
        let answer = form(&town, "/act/pause", &headers, body);
        assert_eq!(answer.status, status, "{headers:?} {body}");
        assert!(answer.text().contains("<h1>"), "a page says so");
        assert_eq!(town.served.json("status")["state"], "harvesting");
    }
    let answer = form(&town, "/act/pause", &[("Origin", &here)], &good);
    assert_eq!((answer.status, answer.header("location").unwrap().starts_with("/?note=")), (303, true));
    assert_eq!(town.served.json("status")["state"], "paused");
    let large = format!("{good}&x={}", "x".repeat(100_000));
    assert_eq!(form(&town, "/act/pause", &[("Origin", &here)], &large).status, 413);
    let answer = form(
        &town,
        "/act/switch",
        &[("Origin", &here)],
        &format!("form={token}&kind=x&name=a&do=disable&back=//evil.test"),
    );
    assert!(answer.header("location").unwrap().starts_with("/?note="), "{answer:?}");
}

#[test]
fn i5_with_a_token_one_logs_in_and_out() {
    let town = Town::with_token(Some(TOKEN));
    let plain = |path: &str| Request::new(town.served.address, "GET", path).header("Accept", "text/html");
    let answer = plain("/seeds?q=a").send();
    assert_eq!((answer.status, answer.header("location")), (303, Some("/login?back=%2Fseeds%3Fq%3Da")));
    assert_eq!(plain("/assets/skurd.css").send().status, 200);
    assert_eq!(plain("/api/v1/seeds").send().status, 401, "for programs it stays as it is");
    let answer = form(&town, "/login", &[], "token=wrong-wrong-wrong&back=/seeds");
    assert_eq!((answer.status, answer.header("set-cookie")), (401, None));
    let answer = form(&town, "/login", &[("Origin", "https://evil.test")], &format!("token={TOKEN}"));
    assert_eq!(answer.status, 403, "nobody is logged in from elsewhere");
    let answer =
        form(&town, "/login", &[("X-Forwarded-Proto", "https")], &format!("token={TOKEN}&back=/seeds"));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Secure"),
        "{cookie}"
    );
    assert!(!cookie.contains(TOKEN), "{cookie}");
    assert_eq!((answer.status, answer.header("location")), (303, Some("/seeds")));
    let cookie = cookie.split(';').next().unwrap();
    let page = plain("/seeds").header("Cookie", cookie).send();
    assert_eq!(page.status, 200);
    assert_eq!(plain("/seeds").header("Cookie", &format!("{cookie}x")).send().status, 303);
    let token = form_token(&page.text());
    assert_eq!(form(&town, "/logout", &[("Cookie", cookie)], &format!("form={token}")).status, 303);
    assert_eq!(plain("/seeds").header("Cookie", cookie).send().status, 303, "it is let in no more");
}

#[test]
fn i5_a_browser_logs_in_and_sees_live_figures() {
    let town = Town::with_token(Some(TOKEN));
    let Some(browser) = Browser::open(town.served.address) else { return };
    browser.go("/?x=1");
    assert!(browser.place().starts_with("/login"), "{}", browser.place());
    browser.fill("#token", "not the token at all");
    browser.press(crate::browser::ENTER);
    browser.until("it is refused", |browser| browser.has("[role=alert]"));
    let said = browser.console();
    assert!(said.iter().all(|line| line.contains("401")), "{said:?}");
    browser.fill("#token", TOKEN);
    browser.press(crate::browser::ENTER);
    browser.until("it is in", |browser| browser.place() == "/?x=1");
    browser.until("the stream is open", |browser| browser.has("[data-live]:not([hidden])"));
    browser.calm();
    browser.click(".leave button");
    browser.until("it is out", |browser| browser.place() == "/login");
    browser.go("/seeds");
    assert!(browser.place().starts_with("/login"));
}
