//! Figures as they come: events, history, metrics (I4).

use std::io::BufRead;

use serde_json::Value;
use testkit::world::Served;

use crate::site::world;

/// The next event of a stream: its name and its data.
fn next(lines: &mut impl Iterator<Item = String>) -> (String, String) {
    let (mut name, mut data) = (String::new(), String::new());
    for line in lines {
        if let Some(rest) = line.strip_prefix("event: ") {
            name = rest.to_owned();
        } else if let Some(rest) = line.strip_prefix("data: ") {
            data = rest.to_owned();
        } else if line.is_empty() && !name.is_empty() {
            return (name, data);
        }
    }
    panic!("the stream ended");
}

#[test]
fn i4_events_tell_of_figures_and_harvests() {
    let world = world(10_000);
    let served = Served::start(&world);
    let (response, reader) = served.request("GET", "/api/v1/events").open().unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("text/event-stream"), "{response:?}");
    let mut lines = reader.lines().map(Result::unwrap);
    let (mut figures, mut harvests) = (Vec::new(), Vec::new());
    while figures.len() < 4 || harvests.len() < 5 {
        let (name, data) = next(&mut lines);
        let data: Value = serde_json::from_str(&data).unwrap();
        match name.as_str() {
            "figures" => figures.push(data["harvests"].as_u64().unwrap()),
            "harvest" => harvests.push(data["url"].as_str().unwrap().to_owned()),
            other => panic!("{other}"),
        }
    }
    assert!(figures.is_sorted() && figures.last() > figures.first(), "{figures:?}");
    assert!(harvests.iter().all(|url| url.contains(".test/")), "{harvests:?}");
    let history = served.json("history?step=second");
    assert!(history.as_array().unwrap().len() >= 3);
    assert!(!served.json("history").as_array().unwrap().is_empty());
    let status = served.json("status");
    assert_eq!(status["state"], "harvesting");
    assert!(status["figures"]["harvests_per_second"].as_f64().unwrap() > 0.0);
    assert!(status["statuses"]["200"].as_u64().unwrap() > 0);
}

#[test]
fn i4_a_listener_that_does_not_listen_holds_up_nobody() {
    let world = world(10_000);
    let served = Served::start(&world);
    let deaf: Vec<_> = (0..50).map(|_| served.request("GET", "/api/v1/events").open().unwrap()).collect();
    world.web().wait_for(100);
    assert!(served.get("/healthz").status == 200);
    drop(deaf);
    served
        .until("all are gone", |served| served.get("/metrics").text().contains("skurd_event_listeners 0\n"));
}

#[test]
fn i4_metrics_are_in_the_form_of_prometheus() {
    let world = world(3);
    let served = Served::start(&world);
    served.until("something is harvested", |served| served.json("status")["figures"]["harvests"] != 0);
    let answer = served.get("/metrics");
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4"));
    let text = answer.text();
    let mut last = "";
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(
                matches!(kind, "counter" | "gauge") && (kind == "counter") == name.ends_with("_total"),
                "{line}"
            );
            last = name;
        } else if !line.starts_with("# HELP ") {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert_eq!(name.split('{').next().unwrap(), last, "{line}");
            value.parse::<f64>().expect(line);
        }
    }
    for name in ["skurd_harvests_total", "skurd_answers_total{status=\"200\"}", "skurd_store_commits_total"] {
        let line = text.lines().find(|line| line.starts_with(name)).expect(name);
        assert!(!line.ends_with(" 0"), "{line}");
    }
}

#[test]
fn i4_a_signal_ends_it_cleanly_and_streams_too() {
    for signal in ["-TERM", "-INT"] {
        let world = world(10_000);
        let mut served = Served::start(&world);
        let notice = world.data().join("serve.json");
        assert!(notice.exists());
        let (_, reader) = served.request("GET", "/api/v1/events").open().unwrap();
        world.web().wait_for(20);
        served.signal(signal);
        let ended = reader.lines().map_while(Result::ok).count();
        assert!(ended > 0);
        assert!(served.wait().success(), "{signal}");
        assert!(!notice.exists());
        world.check();
        assert_eq!(world.json(&["queue", "--state", "in-flight"]).len(), 0);
    }
}
