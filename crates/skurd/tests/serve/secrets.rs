//! Secrets are declared and sent, and shown to nobody (I7).

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use testkit::web::Answer;
use testkit::world::{Served, World};

use crate::site::told;

const TOKEN: &str = "t0ken-of-the-test-0123456";
const SECRETS: [&str; 4] = ["s3cret-header", "s3cret-key", "s3cret-cookie", TOKEN];
const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 20ms, max: 20ms}}
collections:
  - name: members
    headers: {Authorization: Basic s3cret-header, X-Api-Key: s3cret-key, Accept-Language: nb}
    cookies: [{host: club.test, name: sid, value: s3cret-cookie}, {host: club.test, name: sid, value: s3cret-cookie-2, path: /x}]
profiles: [{name: p, collection: members, every: 1s}]
seeds: [{url: 'http://club.test/', profiles: [p]}]
";

fn world() -> World {
    let world = World::new(crate::SKURD, |ask| match ask.path.as_str() {
        "/" => Answer::html("members only"),
        _ => Answer::not_found(),
    });
    world.write("c.yaml", CONFIG);
    world
}

#[track_caller]
fn hides(what: &str, text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{what} shows {secret}: {text}");
    }
}

/// How often the site was asked so far with everything a member has, and how often without.
fn visits(world: &World) -> (usize, usize) {
    let pages: Vec<_> = world.web().seen().into_iter().filter(|seen| seen.ask.path == "/").collect();
    let whole = pages.iter().filter(|seen| {
        let is = |name, value| seen.ask.header(name) == Some(value);
        is("authorization", "Basic s3cret-header")
            && is("x-api-key", "s3cret-key")
            && is("cookie", "sid=s3cret-cookie")
    });
    let whole = whole.count();
    (whole, pages.len() - whole)
}

#[test]
fn i7_secrets_are_masked_wherever_something_is_shown() {
    let world = world();
    let served = Served::with(&world, &["c.yaml"], Some(TOKEN));
    for path in [
        "/api/v1/collections",
        "/api/v1/collections/members",
        "/api/v1/settings",
        "/api/v1/status",
        "/api/v1/seeds",
        "/api/v1/profiles",
        "/api/v1/why?url=http://club.test/",
        "/api/openapi.json",
        "/metrics",
        "/",
        "/collections",
        "/collections/members",
        "/seeds/http%3A%2F%2Fclub.test%2F",
        "/inspect?url=http://club.test/",
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, 200, "{path}");
        hides(path, &answer.text());
    }
    let shown = served.json("collections/members");
    assert_eq!(
        shown["headers"],
        json!({"Authorization": "•••", "X-Api-Key": "•••", "Accept-Language": "nb"})
    );
    assert_eq!(shown["cookies"][0]["value"], "•••");
    assert!(served.get("/collections/members").text().contains("•••"));
    for command in [
        &["collection", "list"][..],
        &["collection", "list", "--json"],
        &["collection", "show", "members"],
        &["collection", "show", "members", "--json"],
        &["config", "apply", "c.yaml", "--json"],
    ] {
        let (code, out, err) = told(&world, command);
        assert_eq!(code, Some(0), "{command:?}: {err}");
        hides(&command.join(" "), &(out + &err));
    }
}

#[test]
fn i7_secrets_are_in_no_log_and_no_message() {
    let world = world();
    let told = world.crawl(&["c.yaml", "--max-urls", "2", "--json", "-vv"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    hides("a log", &(told.out + &told.err));
    let wrong = CONFIG
        .replace("value: s3cret-cookie}", "value: 's3cret-cookie;'}")
        .replace("Basic s3cret-header", "\"s3cret-header\\n\"");
    world.write("wrong.yaml", &wrong);
    let told = world.skurd(&["config", "check", "wrong.yaml"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.err.contains("`headers`") && told.err.contains("`value`"), "{told:?}");
    hides("a problem", &told.err);
}

#[test]
fn i7_a_mask_that_is_put_back_leaves_the_secret_as_it_is() {
    let world = world();
    let served = Served::with(&world, &["c.yaml"], Some(TOKEN));
    let path = "/api/v1/collections/members";
    let put = |body: &Value, tag: &str| served.request("PUT", path).json(body).header("If-Match", tag).send();
    let tag = |served: &Served| served.get(path).header("etag").unwrap().to_owned();

    let mut shown = served.json("collections/members");
    shown["user_agent"] = json!("other/1 (+http://a.test/)");
    let first = tag(&served);
    let answer = put(&shown, &first);
    assert_eq!(answer.status, 200, "{}", answer.text());
    hides("an answer", &answer.text());
    world.write(
        "masked.yaml",
        &SECRETS.iter().fold(CONFIG.to_owned(), |text, secret| {
            text.replace("s3cret-cookie-2", "•••")
                .replace(&format!("Basic {secret}"), "•••")
                .replace(secret, "•••")
        }),
    );
    served.until("it is asked with what is put back", |_| visits(&world).0 > 2);
    let (code, _, err) = told(&world, &["config", "apply", "masked.yaml"]);
    assert_eq!(code, Some(0), "{err}");
    let before = visits(&world).0;
    served.until("and with what a file says", |_| visits(&world).0 > before + 1);
    assert_eq!(visits(&world).1, 0, "never without");

    // Another secret is another thing, though it looks the same.
    let second = tag(&served);
    let mut other = served.json("collections/members");
    other["headers"]["X-Api-Key"] = json!("another");
    assert_eq!(put(&other, &second).status, 200);
    assert_ne!(tag(&served), second);
    assert_eq!(put(&other, &second).status, 412);
    served.until("it is asked with the other", |_| {
        world.web().seen().iter().any(|seen| seen.ask.header("x-api-key") == Some("another"))
    });

    // A mask that stands for nothing is no value.
    for (pointer, body) in [
        ("/headers/X-New", json!({"headers": {"X-New": "•••"}})),
        ("/cookies/0/value", json!({"cookies": [{"host": "else.test", "name": "sid", "value": "•••"}]})),
    ] {
        let answer = served.request("PUT", path).json(&body).send();
        assert_eq!(answer.status, 422, "{}", answer.text());
        assert_eq!(answer.json()["errors"][0]["pointer"], pointer, "{}", answer.text());
    }
    world.write("new.yaml", &CONFIG.replace("X-Api-Key: s3cret-key", "X-New: •••"));
    let (code, _, err) = told(&world, &["config", "apply", "new.yaml"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("the header `X-New` of collection `members` is a mask"), "{err}");
}

#[test]
fn i7_what_a_server_writes_is_for_its_owner_only() {
    let world = world();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    world.write("token", TOKEN);
    let file = world.dir.path().join("token");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    let served = Served::with(&world, &["c.yaml", "--token-file", "token"], None);
    assert_eq!(mode(&world.data().join("serve.json")), 0o600);
    assert_eq!(mode(&world.data().join("tmp")), 0o700);
    drop(served);
    for (permissions, warned) in [(0o644, true), (0o600, false)] {
        std::fs::set_permissions(&file, PermissionsExt::from_mode(permissions)).unwrap();
        let args = ["serve", "none.yaml", "--allow-net", "127.0.0.0/8", "--token-file", "token"];
        let told = world.skurd(&args);
        assert_eq!(
            told.err.contains("warning: others can read token\n  hint: chmod 600 token"),
            warned,
            "{told:?}"
        );
        hides("a warning", &told.err);
    }
}
