//! Who may ask: tokens, names, origins (I4).

use serde_json::json;
use testkit::world::{Request, Served};

use crate::site::world;

const TOKEN: &str = "a-token-for-the-test-0123";

#[test]
fn i4_an_address_that_others_reach_wants_a_token() {
    let world = world(3);
    for args in [
        &["serve", "c.yaml", "--listen", "0.0.0.0:0"][..],
        &["serve", "c.yaml", "--listen", "[::]:0"],
        &["serve", "c.yaml", "--listen", "192.0.2.1:80"],
    ] {
        let told = world.skurd(&[args, &["--allow-net", "127.0.0.0/8"]].concat());
        assert_eq!(told.code, Some(2), "{args:?}: {}", told.err);
        assert!(
            told.err.contains("there is no token") && told.err.contains("hint: --token-file"),
            "{}",
            told.err
        );
        assert!(!world.data().exists(), "nothing was made");
    }
    world.write("short", "abc\n");
    let told = world.skurd(&["serve", "c.yaml", "--listen", "0.0.0.0:0", "--token-file", "short"]);
    assert_eq!(told.code, Some(2), "{}", told.err);
}

/// Begins to post to the login, and does not go on.
fn knock(address: std::net::SocketAddr) -> std::net::TcpStream {
    use std::io::Write;
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let head = "POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\ntoken=";
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

#[test]
fn i4_strangers_who_knock_slowly_keep_nobody_out() {
    let world = world(3);
    let served = Served::with(&world, &["c.yaml"], Some(TOKEN));
    let knocking: Vec<_> = (0..200).map(|_| knock(served.address)).collect();
    // They are in: whoever knocks now is told that there are too many.
    let stranger = || Request::new(served.address, "GET", "/login").send().status;
    served.until("there are too many of them", |_| stranger() == 503);
    for path in ["/healthz", "/readyz"] {
        assert_eq!(Request::new(served.address, "GET", path).send().status, 200, "{path}");
    }
    for path in ["/api/v1/status", "/metrics", "/api/v1/queue"] {
        assert_eq!(served.get(path).status, 200, "{path}");
    }
    drop(knocking);
    served.until("there is room again", |_| stranger() == 200);
}

#[test]
fn i4_with_a_token_only_the_right_one_is_let_in() {
    let world = world(3);
    let served = Served::with(&world, &["c.yaml", "--listen", "0.0.0.0:0"], Some(TOKEN));
    let ask = |path: &str| Request::new(served.address, "GET", path);
    for path in ["/api/v1/status", "/metrics", "/api/openapi.json", "/api/v1/queue", "/nowhere"] {
        let right = ask(path).header("Authorization", &format!("Bearer {TOKEN}")).send().status;
        assert_eq!(right, if path == "/nowhere" { 404 } else { 200 }, "{path}");
        for (name, value) in [
            ("X-None", String::new()),
            ("Authorization", "Bearer".to_owned()),
            ("Authorization", format!("Bearer {TOKEN}x")),
            ("Authorization", format!("Bearer {}", &TOKEN[1..])),
            ("Authorization", format!("Basic {TOKEN}")),
            ("Authorization", TOKEN.to_owned()),
            ("Cookie", format!("skurd_session={}", "x".repeat(32))),
        ] {
            let answer = ask(path).header(name, &value).send();
            assert_eq!(answer.status, 401, "{path} {name}: {value}");
            assert_eq!(answer.header("content-type"), Some("application/problem+json"));
            assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"));
        }
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(ask(path).send().status, 200, "{path}");
    }
    // Any name will do for who has the token.
    let elsewhere = ask("/api/v1/status").header("Host", "archive.example.org");
    assert_eq!(elsewhere.header("Authorization", &format!("Bearer {TOKEN}")).send().status, 200);
}

#[test]
fn i4_a_browser_exchanges_the_token_for_a_cookie() {
    let world = world(3);
    let served = Served::with(&world, &["c.yaml"], Some(TOKEN));
    let session = |body| Request::new(served.address, "POST", "/api/v1/session").json(&body).send();
    assert_eq!(session(json!({ "token": "wrong" })).status, 401);
    let answer = session(json!({ "token": TOKEN }));
    assert_eq!(answer.status, 204, "{}", answer.text());
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains(TOKEN),
        "{cookie}"
    );
    let cookie = cookie.split(';').next().unwrap();
    let ask = |method: &str, path: &str| Request::new(served.address, method, path).header("Cookie", cookie);
    assert_eq!(ask("GET", "/api/v1/status").send().status, 200);
    let pause = |origin: &str| {
        ask("POST", "/api/v1/pause")
            .header("Origin", origin)
            .json(&json!({ "what": "everything" }))
            .send()
            .status
    };
    assert_eq!(pause("http://evil.test"), 403);
    assert_eq!(pause(&format!("http://{}", served.address)), 200);
}

#[test]
fn i4_pages_of_other_origins_can_neither_read_nor_change_anything() {
    let world = world(3);
    let served = Served::start(&world);
    let port = served.address.port();
    for (host, status) in [
        (format!("127.0.0.1:{port}"), 200),
        (format!("localhost:{port}"), 200),
        (format!("[::1]:{port}"), 200),
        (format!("evil.test:{port}"), 403),
        ("evil.test".to_owned(), 403),
        ("localhost.evil.test".to_owned(), 403),
        ("192.168.0.1".to_owned(), 403),
    ] {
        let answer = served.request("GET", "/api/v1/status").header("Host", &host).send();
        assert_eq!(answer.status, status, "{host}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    let own = format!("http://{}", served.address);
    for (name, value, status) in [
        ("Origin", own.as_str(), 200),
        ("Origin", "http://evil.test", 403),
        ("Origin", "null", 403),
        ("Origin", "http://localhost:1", 403),
        ("Sec-Fetch-Site", "same-origin", 200),
        ("Sec-Fetch-Site", "none", 200),
        ("Sec-Fetch-Site", "cross-site", 403),
        ("Sec-Fetch-Site", "same-site", 403),
        ("X-Script", "curl", 200),
    ] {
        for (method, path, body) in [
            ("POST", "/api/v1/resume", json!({ "what": "everything" })),
            ("PUT", "/api/v1/collections/new", json!({})),
            ("POST", "/api/v1/seeds/a/enable", json!({})),
        ] {
            let answer = served.request(method, path).header(name, value).json(&body).send();
            let status = if status == 200 && method == "PUT" { [200, 201] } else { [status; 2] };
            assert!(status.contains(&answer.status), "{method} {path} {name}: {value}: {}", answer.text());
        }
    }
    // What a form of another page could send without being asked for leave.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let answer = served.request("POST", "/api/v1/pause").body(kind, "{\"what\": \"everything\"}").send();
        assert_eq!(answer.status, 415, "{kind}");
    }
    assert_eq!(served.json("pauses"), json!([]));
}
