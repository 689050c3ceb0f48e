//! What the web says is text, wherever it is shown.

use crate::browser::Browser;
use crate::town::{EVIL_URL, Town};

#[test]
fn i5_a_script_in_an_anchor_a_title_or_a_url_does_not_run() {
    let town = Town::open();
    let Some(browser) = Browser::open(town.served.address) else { return };
    town.served.until("the hostile page is archived", |served| {
        !served.json(&format!("captures?url={}", encoded(EVIL_URL)))["items"].as_array().unwrap().is_empty()
    });
    let hostile = encoded(EVIL_URL);
    let tag = encoded("\"><script>window.hacked=9</script>");
    let mut pages = vec![
        "/".to_owned(),
        "/queue".to_owned(),
        "/captures".to_owned(),
        "/reports".to_owned(),
        format!("/inspect?url={hostile}"),
        format!("/captures?url={hostile}"),
        format!("/links/page?index=news&url={hostile}"),
        "/links/page?index=news&url=https://nowhere.test/never".to_owned(),
        "/links?index=news".to_owned(),
        format!("/captures?prefix={tag}"),
    ];
    for page in [
        "/inspect?url=",
        "/seeds?q=",
        "/hosts?q=",
        "/links/domain?name=",
        "/links?index=",
        "/walks/",
        "/seeds/",
        "/queue?host=",
        "/captures?prefix=",
        "/login?back=",
        "/",
    ] {
        pages.push(format!("{page}{tag}"));
    }
    for page in &pages {
        browser.go(page);
        assert_eq!(browser.run("return window.hacked === undefined"), true, "{page}");
        assert_eq!(
            browser.run("return document.querySelectorAll('main script, main img, main [onerror]').length"),
            0,
            "{page}"
        );
        let leading_out = browser.run("return [...document.querySelectorAll('a[href]')].filter(a => a.origin !== location.origin).every(a => /^https?:$/.test(a.protocol) && a.rel.includes('noreferrer') && a.rel.includes('noopener'))");
        assert_eq!(leading_out, true, "{page}");
        let refused: Vec<String> =
            browser.console().into_iter().filter(|line| !line.contains("status of 40")).collect();
        assert!(refused.is_empty(), "{page}: {refused:?}");
    }
    let captures = town.served.json(&format!("captures?url={hostile}"));
    let id = captures["items"][0]["id"].as_str().unwrap();
    browser.go(&format!("/captures/{id}"));
    assert!(browser.main().contains("window.hacked"));
    let picture = town.served.request("GET", &format!("/captures/{id}/picture")).send();
    assert_eq!(picture.status, 404, "a page is no picture, whoever says so");
    browser.go(&format!("/api/v1/captures/{id}/content"));
    assert_eq!(browser.run("return window.hacked === undefined && document.contentType"), "text/plain");
}

#[test]
fn i5_what_pages_may_do_is_bounded_by_their_policy() {
    let town = Town::open();
    for (path, kind) in [
        ("/", "text/html"),
        ("/seeds", "text/html"),
        ("/assets/skurd.js", "text/javascript"),
        ("/nowhere", "text/html"),
    ] {
        let answer = town.served.request("GET", path).header("Accept", "text/html").send();
        assert!(answer.header("content-type").unwrap().starts_with(kind), "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        for part in ["default-src 'none'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        if kind == "text/html" {
            for part in [
                "script-src 'self'",
                "style-src 'self'",
                "img-src 'self' data:",
                "connect-src 'self'",
                "form-action 'self'",
                "base-uri 'none'",
            ] {
                assert!(policy.contains(part), "{path}: {policy}");
            }
            let text = answer.text();
            assert!(
                !text.contains("<style") && !text.contains(" style=") && !text.contains("://fonts"),
                "{path}"
            );
        }
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
}

pub(crate) fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
