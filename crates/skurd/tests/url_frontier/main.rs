//! The frontier of other crawlers by way of the real binary (page 9 of the specification): what the
//! API, the pages and the commands say of it, and what a kill leaves.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod client;
mod killed;

use client::{Client, Process, discovered, info, known, of};
use serde_json::{Value, json};
use testkit::web::Answer;
use testkit::world::{Request, Response, World};

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");
const CONFIG: &str = "collections: [{name: web}]\n";

fn world() -> World {
    let world = World::new(SKURD, |_| Answer::not_found());
    world.write("c.yaml", CONFIG);
    world
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

impl Process {
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Response {
        let request = Request::new(self.api, method, &format!("/api/v1/url-frontier{path}"));
        match body {
            Some(body) => request.json(body).send(),
            None => request.send(),
        }
    }

    fn json(&self, path: &str) -> Value {
        let answer = self.ask("GET", path, None);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    fn page(&self, path: &str) -> String {
        let answer = Request::new(self.api, "GET", path).send();
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.text()
    }

    /// Sends the form of a page whose button says this.
    fn press(&self, page: &str, label: &str) -> Response {
        let html = self.page(page);
        let form = html.split("<form").find(|form| form.contains(&format!("aria-label=\"{label}\"")));
        let form = form.unwrap_or_else(|| panic!("{page} has no button {label}: {html}"));
        let mut body = String::new();
        for field in form.split("<input").skip(1) {
            let value = |name: &str| field.split(&format!("{name}=\"")).nth(1)?.split('"').next();
            if let (Some(name), Some(given)) = (value("name"), value("value")) {
                let given: String =
                    url::form_urlencoded::byte_serialize(given.replace("&amp;", "&").as_bytes()).collect();
                body += &format!("{name}={given}&");
            }
        }
        let action = form.split("action=\"").nth(1).unwrap().split('"').next().unwrap();
        Request::new(self.api, "POST", action)
            .header("Origin", &format!("http://{}", self.api))
            .body("application/x-www-form-urlencoded", body)
            .send()
    }
}

#[test]
fn g10_crawls_are_seen_in_the_api_on_pages_and_by_commands() {
    let world = world();
    let process = Process::start(&world);
    assert_eq!(process.json("/crawls"), json!({ "items": [], "next": null }));
    assert!(process.page("/crawls").contains("No other crawler has URLs here."));
    let url = |n: usize| format!("https://h{}.example/{n}", n % 6);
    let odd = "<b>&\u{202e}'";
    runtime().block_on(async {
        let client = Client::connect(process.urls).await;
        client.put_all((0..30).map(|n| discovered(info("news", "", &url(n)))).collect()).await;
        client.put_all(vec![discovered(info(odd, odd, "https://x.example/"))]).await;
        let got = client.get(of("news", 6, 2)).await.unwrap();
        assert_eq!(got.len(), 12);
        client.put_all(got.into_iter().take(5).map(|info| known(info, 0)).collect()).await;
    });

    let crawls = process.json("/crawls");
    assert_eq!(crawls["items"][0]["crawl"], json!(odd));
    let news = &crawls["items"][1];
    let expected = [
        ("crawl", json!("news")),
        ("queues", json!(6)),
        ("active_queues", json!(6)),
        ("blocked_queues", json!(0)),
        ("urls", json!(30)),
        ("active", json!(25)),
        ("in_process", json!(7)),
        ("completed", json!(5)),
    ];
    for (field, value) in &expected {
        assert_eq!(&news[*field], value, "{field}");
    }
    assert!(
        news["put_per_s"].as_f64().unwrap() > 0.0 && news["handed_per_s"].as_f64().unwrap() > 0.0,
        "{news}"
    );
    let state = process.json("");
    assert_eq!(state, json!({ "active": true, "delay_s": 1, "address": process.urls.to_string() }));

    // Page by page, the crawls, and the queues of one.
    let first = process.json("/crawls?limit=1");
    let second = process.json(&format!("/crawls?limit=1&cursor={}", first["next"].as_str().unwrap()));
    assert_eq!((&second["items"][0]["crawl"], &second["next"]), (&json!("news"), &json!(null)));
    let (mut keys, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = process.json(&format!("/queues?crawl=news&limit=4{cursor}"));
        keys.extend(page["items"].as_array().unwrap().iter().map(|queue| queue["key"].clone()));
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(keys, (0..6).map(|n| json!(format!("h{n}.example"))).collect::<Vec<_>>());
    let some = process.json("/queues?crawl=news&key=h3");
    assert_eq!((some["items"].as_array().unwrap().len(), &some["items"][0]["active"]), (1, &json!(5)));

    // What is done about a queue, by the API, a page and a command.
    let block = json!({ "crawl": "news", "key": "h0.example", "for": "1h" });
    let blocked = process.ask("POST", "/block", Some(&block));
    assert!(blocked.status == 200 && blocked.json()["blocked_until"].is_string(), "{}", blocked.text());
    assert_eq!(process.press("/crawls?crawl=news&key=h1", "Block 1 h h1.example").status, 303);
    let told = world.good(&["url-frontier", "block", "news", "h2.example", "--for", "2h"]);
    assert!(told.contains("h2.example of news is blocked until"), "{told}");
    assert_eq!(process.json("/crawls")["items"][1]["blocked_queues"], json!(3));
    let blocked = process.json("/queues?crawl=news&blocked=true&limit=2");
    let rest = format!("/queues?crawl=news&blocked=true&cursor={}", blocked["next"].as_str().unwrap());
    let rest = process.json(&rest);
    assert_eq!(blocked["items"].as_array().unwrap().len(), 2);
    assert_eq!((&rest["items"][0]["key"], &rest["next"]), (&json!("h2.example"), &json!(null)));
    world.good(&["url-frontier", "unblock", "news", "h2.example"]);
    assert_eq!(process.press("/crawls?crawl=news&blocked=yes", "Unblock h1.example").status, 303);
    assert_eq!(process.json("/crawls")["items"][1]["blocked_queues"], json!(1));

    // Commands say what the API says; pages show what may stand in names as what it is.
    assert_eq!(
        world.json(&["url-frontier", "queues", "news"]),
        process.json("/queues?crawl=news")["items"].as_array().unwrap().clone()
    );
    assert_eq!(world.json(&["url-frontier", "list"])[1]["urls"], json!(30));
    let page = process.page("/crawls");
    assert!(page.contains("&lt;b&gt;&amp;") && page.contains("U+202E") && !page.contains("<b>"), "{page}");

    // Nothing is handed out while it is not active.
    assert_eq!(process.press("/crawls", "Deactivate the frontier of other crawlers").status, 303);
    assert_eq!(process.json("")["active"], json!(false));
    world.good(&["url-frontier", "activate"]);
    assert_eq!(process.json("")["active"], json!(true));

    let gone = world.good(&["url-frontier", "delete", "news", "--key", "h0.example"]);
    assert!(gone.contains("with 5 URLs"), "{gone}");
    assert_eq!(process.json("/crawls")["items"][1]["blocked_queues"], json!(0), "the block went with it");
    let gone = process.ask("POST", "/delete", Some(&json!({ "crawl": "news" })));
    assert_eq!(gone.json(), json!({ "urls": 25 }));
    assert_eq!(process.ask("GET", "/queues?crawl=news", None).status, 404);
    assert_eq!(process.ask("GET", "/queues?crawl=news&cursor=AAAA", None).status, 404);
    assert_eq!(process.ask("POST", "/block", Some(&json!({ "crawl": "x", "key": "" }))).status, 422);
    let unknown = json!({ "crawl": "x", "key": "k" });
    assert_eq!(process.ask("POST", "/block", Some(&unknown)).status, 404, "no block to end");
    let wrong = json!({ "crawl": "x", "key": "k", "for": "soon" });
    assert_eq!(process.ask("POST", "/block", Some(&wrong)).status, 422);
    process.stop();
    assert!(world.good(&["url-frontier", "list"]).contains("<b>&"), "and without a server");
    assert!(world.good(&["store", "check", "skurd-data"]).contains("sound"));
}
