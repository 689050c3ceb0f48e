//! What goes wrong, and how it is told: one line a case (I4).

use serde_json::{Value, json};
use testkit::world::Served;

use crate::site::world;

#[test]
fn i4_every_problem_has_its_status_and_says_what_would_be_right() {
    let world = world(3);
    let served = Served::start(&world);
    let large = format!("\"{}\"", "x".repeat(1 << 20));
    let json_kind = "application/json";
    #[rustfmt::skip]
    let table: &[(&str, &str, &str, &str, u16, &str)] = &[
        ("GET", "/nothing", "", "", 404, "nothing at this path"),
        ("GET", "/api/v1/nothing", "", "", 404, "nothing at this path"),
        ("GET", "/api/v2/queue", "", "", 404, "nothing at this path"),
        ("POST", "/api/v1/queue", json_kind, "{}", 405, "does not take this method"),
        ("DELETE", "/api/v1/settings", "", "", 405, "does not take this method"),
        ("POST", "/api/v1/seeds/a", json_kind, "{}", 405, "does not take this method"),
        ("GET", "/api/v1/seeds/aa", "", "", 404, "there is no seed `aa`"),
        ("GET", "/api/v1/profiles/dayly", "", "", 404, "did you mean `daily`?"),
        ("DELETE", "/api/v1/host-groups/x", "", "", 404, "there is no host group `x`"),
        ("POST", "/api/v1/collections/x/disable", "", "", 404, "there is no collection `x`"),
        ("GET", "/api/v1/queue?collection=x", "", "", 404, "there is no collection `x`"),
        ("GET", "/api/v1/queue?limit=0", "", "", 400, "from 1 to 1000"),
        ("GET", "/api/v1/queue?limit=1001", "", "", 400, "from 1 to 1000"),
        ("GET", "/api/v1/queue?limit=x", "", "", 400, "limit"),
        ("GET", "/api/v1/queue?limt=1", "", "", 400, "limt"),
        ("GET", "/api/v1/queue?state=lost", "", "", 400, "lost"),
        ("GET", "/api/v1/queue?cursor=AAAA", "", "", 400, "cursor"),
        ("GET", "/api/v1/queue?cursor=MDp4", "", "", 400, "cursor"),
        ("GET", "/api/v1/captures?cursor=%00", "", "", 400, "cursor"),
        ("GET", "/api/v1/why", "", "", 400, "url"),
        ("GET", "/api/v1/why?url=nothing", "", "", 400, "hint"),
        ("GET", "/api/v1/why?url=http://a.test/&collection=x", "", "", 404, "there is no collection `x`"),
        ("GET", "/api/v1/captures/x", "", "", 404, "no such capture"),
        ("GET", "/api/v1/captures/GwAA/content", "", "", 404, "no such capture"),
        ("GET", "/api/v1/reports/contract?since=soon", "", "", 400, "hint"),
        ("GET", "/api/v1/reports/contract?by=week", "", "", 400, "week"),
        ("GET", "/api/v1/reports/domains?limit=100001", "", "", 400, "100000"),
        ("GET", "/api/v1/reports/domains?format=png", "", "", 400, "png"),
        ("GET", "/api/v1/seeds/%FF", "", "", 400, "UTF-8"),
        ("PUT", "/api/v1/collections/c", "text/plain", "{}", 415, "application/json"),
        ("PUT", "/api/v1/collections/c", "", "{}", 415, "application/json"),
        ("PUT", "/api/v1/collections/c", json_kind, "{", 400, "not JSON"),
        ("PUT", "/api/v1/collections/c", json_kind, "{} {}", 400, "not JSON"),
        ("PUT", "/api/v1/collections/c", json_kind, "[]", 422, "a JSON object is wanted"),
        ("PUT", "/api/v1/collections/c", json_kind, &large, 413, "larger than 1048576 bytes"),
        ("PUT", "/api/v1/collections/c", json_kind, "{\"activ\": true}", 422, "\"pointer\":\"/activ\""),
        ("PUT", "/api/v1/collections/c", json_kind, "{\"headers\": {\"Connection\": \"close\"}}", 422, "\"pointer\":\"/headers/Connection\""),
        ("PUT", "/api/v1/collections/c", json_kind, "{\"headers\": {\"host\": \"a\"}}", 422, "is sent by skurd itself"),
        ("PUT", "/api/v1/collections/c", json_kind, "{\"cookies\": [{\"host\": \"a.no\", \"name\": \"a\", \"value\": \"b;c\"}]}", 422, "\"pointer\":\"/cookies/0/value\""),
        ("PUT", "/api/v1/settings", json_kind, "{\"contact\": \"me\"}", 422, "\"pointer\":\"/contact\""),
        ("PUT", "/api/v1/profiles/p", json_kind, "{\"collection\": \"x\", \"every\": \"1d\"}", 422, "there is no collection `x`"),
        ("PUT", "/api/v1/profiles/p", json_kind, "{\"collection\": \"news\", \"every\": \"1 fortnight\"}", 422, "\"pointer\":\"/every\""),
        ("PUT", "/api/v1/seeds/s", json_kind, "{\"url\": \"gopher://a\", \"profiles\": [\"daily\"]}", 422, "\"pointer\":\"/url\""),
        ("PUT", "/api/v1/settings", json_kind, "{\"lease\": \"0s\"}", 422, "\"pointer\":\"/lease\""),
        ("POST", "/api/v1/start", json_kind, "{\"seed\": \"aa\"}", 404, "there is no seed `aa`"),
        ("POST", "/api/v1/start", json_kind, "{\"sed\": \"a\"}", 422, "sed"),
        ("POST", "/api/v1/start", json_kind, "{\"seed\": 7}", 422, "\"pointer\":\"/seed\""),
        ("POST", "/api/v1/start", json_kind, "{\"seed\": \"a\", \"profiles\": [\"weekly\"]}", 404, "it has: daily"),
        ("POST", "/api/v1/start", json_kind, "{\"seed\": \"a\", \"collection\": \"news\"}", 422, "as a whole"),
        ("POST", "/api/v1/pause", json_kind, "{\"what\": \"moon\"}", 422, "moon"),
        ("POST", "/api/v1/pause", json_kind, "{\"what\": \"collection\", \"name\": \"x\"}", 404, "there is no collection `x`"),
        ("POST", "/api/v1/pause", json_kind, "{\"what\": \"host\", \"name\": \"a b\"}", 400, "host"),
        ("POST", "/api/v1/queue/move", json_kind, "{\"url\": \"http://x.test/\", \"to\": \"now\"}", 409, "is not queued in any collection"),
        ("POST", "/api/v1/queue/move", json_kind, "{\"url\": \"http://a.test/\", \"to\": \"then\"}", 422, "\"pointer\":\"/to\""),
        ("POST", "/api/v1/blacklist/lift", json_kind, "{\"url\": \"http://a.test/\"}", 409, "is not blacklisted in any collection"),
        ("POST", "/api/v1/blacklist", json_kind, "{\"url\": \"http://a.test/\", \"reason\": \"a\\nb\"}", 422, "\"pointer\":\"/reason\""),
        ("POST", "/api/v1/config/check", json_kind, "{}", 415, "application/yaml"),
        ("POST", "/api/v1/simulate", json_kind, "{\"config\": \"x\", \"for\": \"1d\"}", 422, "\"pointer\":\"/config\""),
        ("POST", "/api/v1/simulate", json_kind, "{\"config\": \"\", \"for\": \"2000d\"}", 422, "\"pointer\":\"/for\""),
        ("POST", "/api/v1/simulate", json_kind, "{\"config\": \"\", \"for\": \"1d\", \"urls\": 20001}", 422, "\"pointer\":\"/urls\""),
    ];
    for (method, path, kind, body, status, words) in table {
        let mut request = served.request(method, path);
        if !kind.is_empty() {
            request = request.body(kind, body.as_bytes());
        }
        let answer = request.send();
        let told = answer.text();
        let case = format!("{method} {path} {:.80}: {told}", body);
        assert_eq!(answer.status, *status, "{case}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{case}");
        assert!(told.contains(words), "{case}: {words}");
        let problem: Value = answer.json();
        assert_eq!((&problem["status"], &problem["type"]), (&json!(status), &json!("about:blank")), "{case}");
        assert!(problem["title"].is_string() && problem["detail"].is_string(), "{case}");
    }
    assert_eq!(served.request("POST", "/api/v1/queue").send().header("allow"), Some("GET,HEAD"));
}

#[test]
fn i4_nothing_is_stored_sniffed_or_framed() {
    let world = world(3);
    let served = Served::start(&world);
    for path in ["/api/v1/status", "/api/openapi.json", "/metrics", "/nowhere", "/healthz"] {
        let answer = served.get(path);
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
            ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}");
        }
    }
}
