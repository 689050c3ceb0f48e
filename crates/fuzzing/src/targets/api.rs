//! Requests to the API (I4): whatever they say, the answer is no server error and can be read; and
//! what was put is shown, and what is shown can be put back. An input is a few requests: `METHOD
//! /path`, then the body up to a line `---`.

use std::path::Path;

use crate::{Seeds, Target, first_line};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Method, Request, StatusCode, Uri, header};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use super::RUNTIME;
use harvest::session::frontier_of;

const REQUESTS_MAX: usize = 4;

pub const API: Target = Target {
    name: "api",
    run: |input| RUNTIME.block_on(requests(input)),
    seeds,
    words: &[
        "PUT /api/v1/seeds/s\n",
        "PUT /api/v1/profiles/p\n",
        "PUT /api/v1/collections/c\n",
        "PUT /api/v1/host-groups/g:\n",
        "GET ",
        "DELETE ",
        "POST ",
        "\n---\n",
        "\"name\":",
        "\"url\":\"https://a.no/\"",
        "\"profiles\":[\"p\"]",
        "null",
        "true",
        "{",
        "}",
        "[",
        "]",
        ",",
        "\"",
        "?limit=",
        "&cursor=",
        "%00",
        "%2F",
        "?collection=c",
        "?url=https://a.no/",
        "1e400",
        "\\u0000",
        "\\ud800",
    ],
    runs: 300,
};

fn seeds(seeds: &mut Seeds) {
    seeds.each(&[
        "PUT /api/v1/collections/c\n{\"headers\":{\"A\":\"b\"},\"cookies\":[{\"host\":\"a.no\",\"name\":\"n\",\"value\":\"v\"}]}\n---\nPUT /api/v1/profiles/p\n{\"collection\":\"c\",\"every\":\"1d\"}\n---\nPUT /api/v1/seeds/s\n{\"url\":\"https://a.no/\",\"profiles\":[\"p\"]}\n---\nDELETE /api/v1/seeds/s\n",
        "POST /api/v1/config/check\ncollections: [{name: c}]\n---\nPUT /api/v1/config\ncollections: [{name: c}]\nprofiles: [{name: p, collection: c, every: 1d}]\nseeds: [{url: 'https://a.no/', profiles: [p]}]\n---\nPOST /api/v1/start\n{\"seed\":\"https://a.no/\"}\n---\nGET /api/v1/queue?limit=10\n",
        "PUT /api/v1/settings\n{\"recheck\":\"1h\",\"politeness\":{\"min\":\"1s\"}}\n---\nGET /api/v1/settings\n",
        "POST /api/v1/blacklist\n{\"url\":\"https://a.no/\",\"collection\":\"c\"}\n---\nGET /api/v1/blacklist?limit=5\n---\nPOST /api/v1/blacklist/lift\n{\"url\":\"https://a.no/\"}\n",
        "POST /api/v1/pause\n{\"host\":\"a.no\"}\n---\nGET /api/v1/pauses\n---\nPOST /api/v1/resume\n{\"everything\":true}\n",
        "GET /api/v1/why?url=https://a.no/\n---\nGET /api/v1/captures?url=https://a.no/&limit=2\n---\nGET /api/v1/cdx?url=a.no\n---\nGET /api/v1/captures/abc\n",
        "GET /api/v1/hosts?cursor=AAAA\n---\nGET /api/v1/walks\n---\nGET /api/v1/index/pages?by=score\n---\nGET /api/v1/reports/contract?since=1d\n",
        "POST /api/v1/queue/move\n{\"url\":\"https://a.no/\",\"to\":\"now\"}\n---\nPOST /api/v1/seeds\n{\"profiles\":[\"p\"],\"urls\":[\"https://a.no/\"]}\n---\nPUT /api/v1/host-groups/g:\n{\"hosts\":[\"a.no\"]}\n---\nGET /metrics\n",
        "GET /api/v1/status\n---\nGET /api/v1/reports/domains?limit=3\n---\nGET /api/v1/index/inlinks?url=https://a.no/\n---\nGET /api/v1/index/domains/a.no/pages\n",
    ]);
}

async fn requests(input: &[u8]) {
    let frontier = frontier_of(store::Store::in_memory(1));
    let api = server::client::in_process(frontier, Path::new("/nonexistent/skurd"));
    let mut rest = input;
    for _ in 0..REQUESTS_MAX {
        let end = rest.windows(5).position(|window| window == b"\n---\n");
        let one = &rest[..end.unwrap_or(rest.len())];
        let (line, body) = first_line(one);
        request(&api, line, body).await;
        match end {
            Some(end) => rest = &rest[end + 5..],
            None => return,
        }
    }
}

async fn request(api: &Router, line: &[u8], body: &[u8]) {
    let Some((method, uri)) = std::str::from_utf8(line).ok().and_then(|line| line.split_once(' ')) else {
        return;
    };
    let (Ok(method), Ok(uri)) = (method.parse::<Method>(), uri.parse::<Uri>()) else { return };
    // One never ends, and the other is long.
    if uri.path().contains("events") || uri.path().contains("simulate") {
        return;
    }
    let (status, answer) = ask(api, &method, &uri, body).await;
    if method == Method::PUT && status.is_success() && !uri.path().ends_with("/config") {
        let _ = answer;
        let (status, shown) = ask(api, &Method::GET, &uri, b"").await;
        assert_eq!(status, StatusCode::OK, "{uri} was put, and is not there");
        let (status, problem) = ask(api, &Method::PUT, &uri, &shown).await;
        assert!(status.is_success(), "{uri}: what is shown cannot be put: {problem:?}");
        let (_, again) = ask(api, &Method::GET, &uri, b"").await;
        assert_eq!(again, shown, "{uri}: what was shown was put, and is another");
    }
}

async fn ask(api: &Router, method: &Method, uri: &Uri, body: &[u8]) -> (StatusCode, Bytes) {
    let yaml = uri.path().contains("/config");
    let kind = if yaml { "application/yaml" } else { "application/json" };
    let request = Request::builder().method(method).uri(uri).header(header::CONTENT_TYPE, kind);
    let request = request.body(Body::from(body.to_vec())).expect("a request");
    let response = api.clone().oneshot(request).await.expect("the router never fails");
    let status = response.status();
    let kind = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    let answer = response.into_body().collect().await.expect("it comes whole").to_bytes();
    // Not ready is a proper answer of one path.
    let is_fault =
        status.is_server_error() && !(status == StatusCode::SERVICE_UNAVAILABLE && uri.path() == "/readyz");
    assert!(!is_fault, "{method} {uri}: {status}: {answer:?}");
    if kind.contains("json") && !kind.contains("ndjson") {
        let read: Value = serde_json::from_slice(&answer)
            .unwrap_or_else(|error| panic!("{method} {uri}: {error}: {answer:?}"));
        let explained = read["detail"].as_str().is_some_and(|detail| !detail.is_empty());
        assert!(status.is_success() || explained, "{method} {uri}: {status} without a reason: {read}");
    }
    (status, answer)
}
