//! `skurd report`: lateness, domains, errors and what politeness allows, as tables, JSON and
//! drawings.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use frontier::ErrorKind;
use frontier::ports::{Fetch, Order, Report};
use policy::time::{Span, Time};
use serde_json::{Value, json};
use testkit::world::{World, before_now, page};

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");

const CONFIG: &str = "
settings: {on_time: 5m}
collections: [{name: news}]
profiles:
  - {name: hourly, collection: news, every: 1h}
  - {name: daily, collection: news, every: 1d}
  - {name: greedy, collection: news, every: 2s}
seeds:
  - {url: 'https://vg.no/', profiles: [hourly]}
  - {url: 'https://nrk.no/', profiles: [hourly]}
  - {url: 'https://db.no/', profiles: [daily]}
  - {url: 'https://down.no/', profiles: [daily]}
";

/// Three days of harvests, the last of them now. Every sixth hour the workers come twenty minutes
/// late.
fn worked() -> World {
    let world = World::declared(SKURD, CONFIG);
    world.work(before_now(Span::days(3)), async |frontier, clock| {
        frontier.start(&frontier::Target::Collection("news".to_owned())).await.unwrap();
        for hour in 0..72u32 {
            for minutes in if hour % 6 == 5 { [21, 39] } else { [1, 59] } {
                clock.advance(Span::minutes(minutes));
                for order in frontier.reserve(10).await.unwrap().orders {
                    let report = answer(&order, hour, frontier.now());
                    frontier.complete(&order, &report, &[]).await.unwrap();
                }
            }
        }
    });
    world
}

fn answer(order: &Order, hour: u32, at: Time) -> Report {
    let mut report = match order.host.as_str() {
        "down.no" => Report::bare(at, Fetch::NoAnswer(ErrorKind::Timeout)),
        "nrk.no" if hour.is_multiple_of(5) => page(at, 503, &[]),
        "vg.no" if hour.is_multiple_of(9) => page(at, 301, &["https://vg.no/ny"]),
        _ => page(at, 200, &["https://vg.no/a", "https://nrk.no/b"]),
    };
    if let Fetch::Answer(facts) = &mut report.result {
        facts.unchanged = order.digest.is_some() && hour.is_multiple_of(2);
    }
    report
}

fn of<'a>(rows: &'a [Value], key: &str, name: &str) -> &'a Value {
    rows.iter().find(|row| row[key] == name).unwrap_or_else(|| panic!("{name} in {rows:?}"))
}

#[test]
fn f31_the_contract_is_reported_by_profile_domain_and_hour() {
    let world = worked();
    let rows = world.json(&["report", "contract"]);
    let hourly = of(&rows, "profile", "hourly");
    let count = |row: &Value, name: &str| row[name].as_u64().unwrap_or_else(|| panic!("{name} in {row}"));
    let [promised, on_time, late, missed, overdue] =
        ["promised", "on_time", "late", "missed", "overdue"].map(|name| count(hourly, name));
    assert!(promised > 100 && late > 0 && on_time + late + missed <= promised, "{hourly}");
    let decided = on_time + late + missed + overdue;
    assert!((hourly["share_on_time"].as_f64().unwrap() - on_time as f64 / decided as f64).abs() < 1e-9);
    assert!(hourly["late_p99_s"].as_u64() >= hourly["late_p50_s"].as_u64());
    assert!(count(hourly, "first") >= 4 && hourly["wait_p50_s"].is_u64(), "{hourly}");
    let greedy = of(&rows, "profile", "greedy");
    assert_eq!(
        (&greedy["promised"], &greedy["share_on_time"]),
        (&json!(0), &Value::Null),
        "not 100 % of nothing"
    );
    let daily = of(&rows, "profile", "daily");
    assert!(count(daily, "promised") >= 2, "{daily}");
    let queue = of(&rows, "collection", "news");
    assert_eq!(queue["kind"], "collection");
    assert!(
        queue["queued"].as_u64().unwrap() >= 4
            && queue["overdue"].is_u64()
            && queue["never_harvested"].is_u64()
            && queue["blacklisted"] == 1
    );
    let by_domain = world.json(&["report", "contract", "--by", "domain"]);
    assert!(of(&by_domain, "domain", "vg.no")["promised"].as_u64().unwrap() > 50);
    let down: Vec<_> = by_domain.iter().filter(|row| row["domain"] == "down.no").collect();
    assert!(down.iter().all(|row| row["on_time"] == 0), "who never answered keeps nothing: {down:?}");
    assert!(world.json(&["report", "contract", "--by", "hour", "--since", "1d"]).len() < 30);
    let text = world.good(&["report", "contract"]);
    assert!(
        text.starts_with("profile  promised  on time  late  missed  overdue  on time %  late p50 ≤"),
        "{text}"
    );
    assert!(
        text.contains("\nqueue now\ncollection  queued  never harvested  overdue  done  blacklisted\nnews "),
        "{text}"
    );
}

#[test]
fn f32_domains_are_reported_with_statuses_bytes_and_times() {
    let world = worked();
    let rows = world.json(&["report", "domains"]);
    let nrk = of(&rows, "domain", "nrk.no");
    let requests = nrk["requests"].as_u64().unwrap();
    let answered: u64 = nrk["statuses"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(requests, answered);
    assert_eq!(nrk["bytes"], requests * 20_000);
    assert_eq!(
        (&nrk["response_p50_ms"], &nrk["response_p95_ms"]),
        (&json!(127), &json!(127)),
        "120, exact to a power of two"
    );
    assert!(
        nrk["unchanged"].as_u64().unwrap() > 0
            && nrk["new"].as_u64().unwrap() > 0
            && nrk["changed"].as_u64().unwrap() > 0
    );
    assert!(of(&rows, "domain", "down.no")["errors"].as_u64().unwrap() > 0);
    assert!(rows[0]["requests"].as_u64() >= rows[1]["requests"].as_u64(), "the busiest first");
    assert_eq!(world.json(&["report", "domains", "--limit", "2"]).len(), 2);
    assert!(world.good(&["report", "domains"]).starts_with("domain "));
}

#[test]
fn f32_the_same_by_time_and_by_both() {
    let world = worked();
    let sum = |rows: &[Value], name: &str| rows.iter().map(|row| row[name].as_u64().unwrap()).sum::<u64>();
    let domains = world.json(&["report", "domains"]);
    for (by, step, rows_max) in
        [("time", "hour", 80), ("time", "day", 5), ("both", "hour", 320), ("both", "day", 20)]
    {
        let rows = world.json(&["report", "domains", "--by", by, "--step", step]);
        assert!(rows.len() > 2 && rows.len() <= rows_max, "{by} {step}: {}", rows.len());
        for name in
            ["requests", "bytes", "new", "changed", "unchanged", "errors", "not_found", "error_answers"]
        {
            assert_eq!(sum(&rows, name), sum(&domains, name), "{name} by {by}, {step}");
        }
        let seconds = if step == "hour" { ":00:00Z" } else { "T00:00:00Z" };
        assert!(rows.iter().all(|row| row["time"].as_str().unwrap().ends_with(seconds)), "{rows:?}");
        assert_eq!(rows.iter().all(|row| row["domain"].is_string()), by == "both");
    }
    let nrk = of(&domains, "domain", "nrk.no");
    let content =
        nrk["new"].as_u64().unwrap() + nrk["changed"].as_u64().unwrap() + nrk["unchanged"].as_u64().unwrap();
    assert_eq!(Some(content), nrk["statuses"]["200"].as_u64(), "a 503 is nothing new");
    assert_eq!(nrk["error_answers"], nrk["statuses"]["503"]);
    assert!(world.good(&["report", "domains", "--by", "both"]).starts_with("time "));
}

#[test]
fn f32_errors_are_reported_by_kind_and_domain() {
    let world = worked();
    let rows = world.json(&["report", "errors"]);
    let timeouts = of(&rows, "kind", "timeout");
    assert_eq!((&timeouts["domain"], &timeouts["count"]), (&json!("down.no"), &timeouts["requests"]));
    assert_eq!(of(&rows, "kind", "http 503")["domain"], "nrk.no");
    assert_eq!(rows.len(), 2);
    let text = world.good(&["report", "errors"]);
    assert!(text.contains("timeout ") && text.contains("100.0 %  down.no\n"), "{text}");
}

#[test]
fn f33_what_cannot_be_kept_is_marked() {
    let world = World::declared(
        SKURD,
        &CONFIG.replace("'https://vg.no/', profiles: [hourly]", "'https://vg.no/', profiles: [greedy]"),
    );
    world.good(&["start"]);
    let rows = world.json(&["report", "feasibility"]);
    let vg = of(&rows, "unit", "vg.no");
    assert_eq!(
        (&vg["urls"], &vg["wanted_per_day"], &vg["possible_per_day"], &vg["kept"]),
        (&json!(1), &json!(43200.0), &json!(86400.0), &json!(true))
    );
    world.write("slow.yaml", "hosts: [{host: vg.no, politeness: {min: 10s}}]\n");
    world.good(&["config", "apply", "slow.yaml"]);
    let rows = world.json(&["report", "feasibility"]);
    assert_eq!(
        (&rows[0]["unit"], &rows[0]["load"], &rows[0]["kept"]),
        (&json!("vg.no"), &json!(5.0), &json!(false))
    );
    let text = world.good(&["report", "feasibility"]);
    assert!(
        text.contains("vg.no             1       43200          8640  500.0 %    10s  CANNOT BE KEPT\n"),
        "{text}"
    );
    assert!(text.contains("\n1 of 4 cannot be kept: "), "{text}");
}

#[test]
fn i2_reports_are_drawn() {
    let world = worked();
    for (report, expected) in [
        ("contract", ["Harvests on time", "100 %", "hourly"]),
        ("domains", ["Requests by answer", "2xx answers", "time (UTC)"]),
        ("errors", ["Errors by kind", "timeout", "http 503"]),
        ("feasibility", ["Load of hosts", "what politeness allows", "nrk.no"]),
    ] {
        let file = format!("{report}.svg");
        let told = world.skurd(&["report", report, "--plot", &file]);
        assert_eq!((told.code, told.err), (Some(0), format!("drawn: {file}\n")));
        let svg = std::fs::read_to_string(world.dir.path().join(&file)).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        for text in expected {
            assert!(svg.contains(&format!(">{text}</text>")), "{report}: {text}");
        }
        if let Ok(keep) = std::env::var("SKURD_TEST_PLOTS") {
            std::fs::copy(world.dir.path().join(&file), std::path::Path::new(&keep).join(&file)).unwrap();
        }
    }
}

#[test]
fn i2_reports_of_nothing_are_empty_and_can_be_drawn() {
    let world = World::declared(SKURD, "settings: {}\n");
    for report in ["contract", "domains", "errors", "feasibility"] {
        let told = world.skurd(&["report", report, "--plot", "p.svg", "--json"]);
        assert_eq!((told.code, told.out.as_str()), (Some(0), ""), "{told:?}");
    }
    let told = world.skurd(&["report", "domains", "--plot", "no/such/dir/p.svg"]);
    assert!(told.code == Some(1) && told.err.contains("error: cannot write no/such/dir/p.svg"), "{told:?}");
    assert!(world.skurd(&["report", "domains", "--since", "7"]).err.contains("hint: say of what: 7s"));
}
