//! `skurd simulate` as a person meets it: the examples of the specification, the forecast, and what
//! is wrong with a web.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn examples() -> String {
    format!("{}/../../examples", env!("CARGO_MANIFEST_DIR"))
}

fn skurd(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skurd")).current_dir(dir).arg("simulate").args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Runs an example of the specification; `more` are further arguments.
fn example(number: u8, more: &[&str]) -> String {
    let dir = examples();
    let (config, web) =
        (format!("{dir}/spec2-example{number}.yaml"), format!("{dir}/spec2-example{number}-web.yaml"));
    ok(&skurd(Path::new("."), &[&[config.as_str(), "--web", &web, "--links"], more].concat()))
}

/// The rows of the link table, without the column that groups them.
fn rows(printed: &str) -> Vec<String> {
    let table = printed.lines().filter(|line| line.starts_with("| "));
    let cells = |line: &str| line.split('|').skip(2).map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    table.skip(1).map(|line| cells(line).join(" | ").trim_end_matches(" | ").to_owned()).collect()
}

fn assert_rows(printed: &str, expected: &[&str]) {
    let rows = rows(printed);
    for row in expected {
        assert!(rows.contains(&(*row).to_owned()), "no row {row}\n{printed}");
    }
}

const DAY_1: [&str; 6] = [
    "faktisk.no | – | – | faktisk.no | faktisk.no (O1) | faktisk.no",
    "faktisk.no/artikkel | faktisk.no | – | faktisk.no | faktisk.no (O3) | faktisk.no",
    "vg.no/artikkel | faktisk.no | – | vg.no | faktisk.no (O4) | faktisk.no",
    "vg.no/artikkel2 | faktisk.no | – | vg.no | vg.no (O5) | vg.no",
    "cnn.com/article | faktisk.no | – | – | faktisk.no (O2) | faktisk.no",
    "vg.no | faktisk.no | – | vg.no | faktisk.no (O4) | faktisk.no",
];

#[test]
fn o1_o2_o3_o4_o5_example_1_first_harvest_of_faktisk() {
    let printed = example(1, &["--for", "2h", "--start", "faktisk.no@0"]);
    assert_rows(&printed, &DAY_1);
    assert_eq!(rows(&printed).len(), DAY_1.len(), "{printed}");
}

#[test]
fn o4_example_1_second_harvest_of_faktisk_changes_nothing() {
    let printed = example(1, &["--for", "26h", "--start", "faktisk.no@0"]);
    assert_rows(
        &printed,
        &[
            "faktisk.no/artikkel | faktisk.no | faktisk.no | faktisk.no | faktisk.no (O3) | faktisk.no",
            "vg.no/artikkel | faktisk.no | faktisk.no | vg.no | faktisk.no (O4) | faktisk.no",
            "cnn.com/article | faktisk.no | faktisk.no | – | faktisk.no (O2) | faktisk.no",
            "vg.no | faktisk.no | faktisk.no | vg.no | faktisk.no (O4) | faktisk.no",
        ],
    );
}

#[test]
fn o1_o3_o6_example_1_harvest_of_vg_takes_over() {
    let printed = example(1, &["--for", "3d", "--start", "faktisk.no@0", "--start", "vg.no@2d"]);
    assert_rows(&printed, &DAY_1);
    assert_rows(
        &printed,
        &[
            "vg.no | – | faktisk.no | vg.no | vg.no (O1) | vg.no",
            "vg.no/artikkel | vg.no | faktisk.no | vg.no | vg.no (O3) | vg.no",
            "vg.no/artikkel2 | vg.no | vg.no | vg.no | vg.no (O3) | vg.no",
        ],
    );
    let owners: Vec<Vec<&str>> = printed
        .lines()
        .skip_while(|line| !line.starts_with("cnn.com"))
        .take(6)
        .map(|line| line.split_whitespace().take(2).collect())
        .collect();
    let expected = [
        ["cnn.com/article", "faktisk.no"],
        ["faktisk.no", "faktisk.no"],
        ["faktisk.no/artikkel", "faktisk.no"],
        ["vg.no", "vg.no"],
        ["vg.no/artikkel", "vg.no"],
        ["vg.no/artikkel2", "vg.no"],
    ];
    assert_eq!(owners, expected, "{printed}");
}

#[test]
fn o5_f27_example_2_without_off_domain_hops() {
    let printed = example(2, &["--for", "2h", "--start", "faktisk.no@0"]);
    assert_rows(
        &printed,
        &[
            "vg.no/artikkel | faktisk.no | – | vg.no | vg.no (O5) | vg.no",
            "cnn.com/article | faktisk.no | – | – | faktisk.no (O2) | – (F27)",
        ],
    );
    assert!(!printed.contains("\ncnn.com"), "{printed}");
}

#[test]
fn i1_what_is_wrong_with_a_web_is_told_with_place_and_remedy() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("c.yaml"), SMALL).unwrap();
    let mut failed = String::new();
    for case in include_str!("simulate/web.txt").split("====\n") {
        let (file, expected) = case.rsplit_once("----\n").unwrap();
        fs::write(dir.path().join("web.yaml"), file).unwrap();
        let output = skurd(dir.path(), &["c.yaml", "--web", "web.yaml", "--for", "1d"]);
        let told = text(&output.stderr);
        let (_, problems) = told.split_once('\n').unwrap_or_default();
        let problems = problems.replace("web.yaml:", "");
        if output.status.code() != Some(1) || problems.trim_end() != expected.trim_end() {
            failed.push_str(&format!("{file}---- told\n{told}---- expected\n{expected}====\n"));
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

const SMALL: &str = "\
collections: [{name: news}]
profiles: [{name: daily, collection: news, every: 1d}]
seeds:
- {name: a, url: 'https://a.no/', profiles: [daily]}
- {name: b, url: 'https://b.no/', profiles: [daily]}
";

fn small(config: &str, more: &[&str]) -> (TempDir, String) {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("c.yaml"), config).unwrap();
    let mut args = [&["c.yaml"], more].concat();
    for (option, value) in [("--for", "10d"), ("--urls", "100")] {
        if !args.contains(&option) {
            args.extend([option, value]);
        }
    }
    let printed = ok(&skurd(dir.path(), &args));
    (dir, printed)
}

#[test]
fn i2_the_same_seed_gives_the_same_bytes() {
    for more in [&["--links", "--svg", "out.svg"][..], &["--json", "--links"]] {
        let once = |seed: &str| {
            let (dir, printed) = small(SMALL, &[more, &["--seed", seed]].concat());
            (printed, fs::read(dir.path().join("out.svg")).unwrap_or_default())
        };
        assert_eq!(once("7"), once("7"));
        assert_ne!(once("7").0, once("8").0);
    }
}

fn events(printed: &str) -> BTreeMap<String, Vec<Value>> {
    let mut events: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in printed.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        events.entry(event["event"].as_str().unwrap().to_owned()).or_default().push(event);
    }
    events
}

#[test]
fn i2_json_lines_carry_every_event() {
    let (_dir, printed) = small(SMALL, &["--json", "--links"]);
    let events = events(&printed);
    let kinds: Vec<&str> = events.keys().map(String::as_str).collect();
    assert_eq!(kinds, ["end", "feasibility", "harvest", "host", "link", "profile", "url"]);
    assert!(printed.lines().last().unwrap().contains("\"event\":\"end\""));
    for harvest in &events["harvest"] {
        for field in ["time", "collection", "url", "host", "seed", "due", "late_ms"] {
            assert!(!harvest[field].is_null(), "{field}: {harvest}");
        }
        assert_ne!(harvest["status"].is_null(), harvest["error"].is_null(), "{harvest}");
    }
    assert_eq!(events["end"][0]["harvests"], events["harvest"].len());
    assert_eq!(events["end"][0]["urls"], events["url"].len());
}

/// F31 from the harvest lines alone: promised, on time, late, missed, and first harvests, of URLs
/// that come every day.
fn promises(events: &BTreeMap<String, Vec<Value>>) -> [u64; 5] {
    const DAY: i64 = 86_400_000;
    let end = millis(&events["end"][0]["time"]);
    let queued: Vec<&Value> = events["url"].iter().filter(|url| url["state"] == "queued").collect();
    let (mut on_time, mut late, mut missed, mut first, mut open) = (0, 0, 0, 0, 0);
    let urls: std::collections::BTreeSet<&str> =
        events["harvest"].iter().map(|harvest| harvest["url"].as_str().unwrap()).collect();
    for url in urls {
        let (mut promise, mut slot, mut errors) = (None::<i64>, 0, 0);
        for harvest in events["harvest"].iter().filter(|harvest| harvest["url"] == url) {
            let (at, due) = (millis(&harvest["time"]), millis(&harvest["due"]));
            if errors == 0 {
                slot = due;
            }
            while let Some(open) = promise.filter(|open| open + DAY <= at) {
                missed += 1;
                promise = Some(open + DAY);
            }
            let status = harvest["status"].as_u64();
            errors = if status.is_none_or(|status| status >= 500) { errors + 1 } else { 0 };
            if status.is_none() {
                continue;
            }
            match promise {
                None => first += 1,
                Some(promise) if at - promise > 600_000 => late += 1,
                Some(promise) if at >= promise => on_time += 1,
                Some(_) => {}
            }
            promise = Some(if slot + DAY > at { slot + DAY } else { at + DAY });
        }
        let waits = queued.iter().any(|row| row["url"] == url);
        open += u64::from(waits && promise.is_some_and(|promise| promise + 60_000 < end));
    }
    [on_time + late + missed + open, on_time, late, missed, first]
}

fn millis(time: &Value) -> i64 {
    let text = time.as_str().unwrap();
    let number = |from: usize, to: usize| text[from..to].parse::<i64>().unwrap();
    // All within one month: what counts is how far they are apart.
    (((number(8, 10) * 24 + number(11, 13)) * 60 + number(14, 16)) * 60 + number(17, 19)) * 1000
}

#[test]
fn f31_the_forecast_counts_what_the_harvests_say() {
    let (_dir, printed) = small(SMALL, &["--json"]);
    let events = events(&printed);
    let profile = &events["profile"][0];
    assert_eq!((&profile["profile"], &profile["overdue"]), (&Value::from("daily"), &Value::from(0)));
    let told = ["promised", "on_time", "late", "missed", "first"].map(|name| profile[name].as_u64().unwrap());
    assert_eq!(told, promises(&events));
    assert!(told[0] > 500 && told[4] > 90, "{told:?}");
    let (_dir, table) = small(SMALL, &[]);
    assert!(table.contains("Contract forecast") && table.contains("\ndaily "), "{table}");
    assert!(table.contains("Feasibility: every host has room for what is asked of it"), "{table}");
}

#[test]
fn f31_f33_a_config_that_asks_too_much_is_warned_of() {
    let config = SMALL.replace("every: 1d", "every: 1m")
        + "hosts: [{host: a.no, politeness: {factor: 0, min: 10s, max: 10s}}]\nsettings: {on_time: 1m}\n";
    let (_dir, table) = small(&config, &["--for", "6h"]);
    // 50 URLs, each 1440 times a day; a request every 10 s, and the answer takes a while too.
    let warning = table.lines().find(|line| line.starts_with("warning: a.no: ")).expect(&table);
    assert!(warning.contains(" harvests a day, but 10s between requests allow 8,"), "{warning}");
    let (_dir, printed) = small(&config, &["--for", "6h", "--json"]);
    let events = events(&printed);
    let row = events["feasibility"].iter().find(|row| row["host"] == "a.no").unwrap();
    assert_eq!(row["feasible"], false);
    assert!(row["load"].as_f64().unwrap() > 2.0, "{row}");
    let profile = &events["profile"][0];
    assert!(
        profile["missed"].as_u64() > Some(100) && profile["share_on_time"].as_f64() < Some(0.9),
        "{profile}"
    );
    assert!(profile["late_p99_s"].as_u64() >= Some(31), "{profile}");
}

#[test]
fn i2_the_picture_is_well_formed_and_bounded() {
    let name = "a & <b>";
    let config = SMALL.replace("name: a,", &format!("name: '{name}',"));
    let (dir, _) = small(&config, &["--urls", "3000", "--for", "2d", "--svg", "out.svg"]);
    let svg = fs::read_to_string(dir.path().join("out.svg")).unwrap();
    assert!(svg.contains("a &amp; &lt;b&gt;") && svg.contains("more URLs</text>"), "{}", &svg[..3000]);
    assert!(svg.len() < 2 << 20);
    let mut reader = quick_xml::Reader::from_str(&svg);
    let mut depth = 0;
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Start(_) => depth += 1,
            quick_xml::events::Event::End(_) => depth -= 1,
            quick_xml::events::Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
}

#[test]
fn i1_usage_errors_and_starts_that_lead_nowhere_are_told() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("c.yaml"), SMALL).unwrap();
    let table: [(&[&str], i32, &str); 6] = [
        (&["c.yaml"], 2, "--for"),
        (&["c.yaml", "--for", "30"], 2, "30s, 30m, 30h or 30d"),
        (&["c.yaml", "--for", "1d", "--start", "a"], 2, "SEED@TIME"),
        (&["c.yaml", "--for", "1d", "--start", "aa@1h"], 1, "there is no seed `aa`"),
        (&["c.yaml", "--for", "1d", "--start", "a@2d"], 1, "is after the end"),
        (&["c.yaml", "--for", "1d", "--web", "none.yaml"], 1, "cannot read none.yaml"),
    ];
    for (args, code, expected) in table {
        let output = skurd(dir.path(), args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(text(&output.stderr).contains(expected), "{args:?}: {}", text(&output.stderr));
    }
    assert!(ok(&skurd(dir.path(), &["--help"])).contains("Examples:\n  skurd simulate config.yaml"));
}

#[test]
fn an_empty_config_is_no_failure() {
    let (_dir, printed) = small("collections: [{name: news}]\n", &["--svg", "out.svg"]);
    assert!(printed.contains("0 harvests of 0 URLs"), "{printed}");
}

/// The figures in a sentence of an adaptive profile: harvests, seen, missed, of both ways.
fn figures(line: &Value, way: &str) -> [u64; 3] {
    ["harvests", "changes_seen", "changes_missed"].map(|name| line[way][name].as_u64().unwrap())
}

#[test]
fn f41_an_adaptive_frequency_is_held_against_a_fixed_one() {
    let dir = TempDir::new().unwrap();
    let config = "collections: [{name: k}]\nprofiles: [{name: p, collection: k, every: 6h..30d}]\n\
                  seeds: [{url: https://a.test/, profiles: [p]}]\nsettings: {politeness: {min: 100ms}}\n";
    fs::write(dir.path().join("c.yaml"), config).unwrap();
    let run = |more: &[&str]| {
        ok(&skurd(dir.path(), &[&["c.yaml", "--for", "60d", "--urls", "100"], more].concat()))
    };
    let told = run(&["--svg", "t.svg"]);
    assert!(told.contains("Adaptive frequency, beside the fixed one"), "{told}");
    assert!(told.contains("p 6h..4w2d: ") || told.contains("p 6h..30d: "), "{told}");
    let svg = fs::read_to_string(dir.path().join("t.svg")).unwrap();
    assert!(svg.contains("changes seen"), "the picture tells it too");
    // Both ways are drawn, of what is seen and of what is spent, and grow to what is told.
    let paths = |class: &str| {
        let begin = format!("<path class=\"{class}\" d=\"M380 ");
        svg.lines().filter(|line| line.starts_with(&begin)).map(str::to_owned).collect::<Vec<_>>()
    };
    for class in ["adaptive", "fixed"] {
        assert_eq!(paths(class).len(), 2, "{class}");
        for path in paths(class) {
            let heights = path.split('L').skip(1).map(|point| point.split([' ', '"']).nth(1).unwrap());
            let heights: Vec<f64> = heights.map(|y| y.parse().unwrap()).collect();
            assert!(heights.len() > 20 && heights.is_sorted_by(|a, b| a >= b), "{path}");
        }
    }
    let json = run(&["--json"]);
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let line = lines.iter().find(|line| line["type"] == "adaptive").unwrap();
    let [adaptive, fixed] = ["adaptive", "fixed"].map(|way| figures(line, way));
    assert!(adaptive[0] > 100 && fixed[0] > 100, "{line}");
    // For each harvest it sees more of what happens.
    assert!(adaptive[1] * fixed[0] > fixed[1] * adaptive[0], "{line}");
    // The harvests that are told are those that are counted.
    let harvests = lines.iter().filter(|line| line["event"] == "harvest").count();
    assert_eq!(adaptive[0], harvests as u64);
}

#[test]
fn f38_a_simulated_month_keeps_to_the_hours() {
    let dir = TempDir::new().unwrap();
    let config = "collections: [{name: k}]\nprofiles: [{name: p, collection: k, every: 1d, at: '03:00', timezone: Europe/Oslo, \
                  windows: [{from: '03:00', to: '05:00'}]}]\nseeds: [{url: https://a.test/, profiles: [p]}]\n\
                  hosts: [{host: a.test, politeness: {min: 100ms}, windows: [{from: '01:30', to: '04:30'}]}]\n";
    fs::write(dir.path().join("c.yaml"), config).unwrap();
    let json = ok(&skurd(dir.path(), &["c.yaml", "--for", "30d", "--urls", "20", "--json"]));
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let harvests: Vec<&Value> = lines.iter().filter(|line| line["event"] == "harvest").collect();
    assert!(harvests.len() > 20, "{}", harvests.len());
    for harvest in harvests {
        // In January 03:00–05:00 in Oslo is 02:00–04:00 in UTC; the host is open from 01:30 to 04:30.
        let time = harvest["time"].as_str().unwrap();
        let hour: u32 = time[11..13].parse().unwrap();
        assert!((2..4).contains(&hour), "{harvest}");
    }
    let on_time = lines.iter().find(|line| line["profile"] == "p" && line["on_time"].is_u64()).unwrap();
    assert!(on_time["on_time"].as_u64() > Some(20) && on_time["missed"] == 0, "{on_time}");
}
