//! The description, the reader, the schema and the example agree; what is read is what was written.

use std::collections::BTreeSet;

use policy::browser::{
    Behaviours, BrowserLimits, BrowserProgram, BrowserSettings, ColorScheme, Device, Engine,
    RobotsRequisites, Screenshot, Viewport, WhenUnchanged,
};
use policy::catalog::Catalog;
use policy::hours::Weekday;
use policy::model::{Dedup, RobotsPolicy};
use policy::scope::{Pattern, Within};
use policy::time::Span;
use proptest::prelude::*;

use super::keys::{Kind, Need, Table};
use super::tables::ROOT;
use super::yaml::Documents;
use super::*;

fn good(text: &str) -> Declared {
    parse("c.yaml", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The example as JSON, which is YAML too.
fn example_json() -> Value {
    let text = example();
    let node = Documents::new(&text).next(&mut Problems::default()).unwrap().unwrap();
    json_of(&node)
}

/// Every key of the description, as a path of names.
fn paths(table: &Table, above: &str, found: &mut BTreeSet<String>) {
    for key in table.keys {
        let path = format!("{above}/{}", key.name);
        if let Some(table) = inner(&key.kind) {
            paths(table, &path, found);
        }
        found.insert(path);
    }
}

fn inner(kind: &Kind) -> Option<&'static Table> {
    match kind {
        Kind::Table(table) | Kind::OneOf(table) | Kind::ChoiceOr(_, table) => Some(*table),
        Kind::List { of, .. } => inner(of),
        _ => None,
    }
}

/// Every key of a JSON value, and of a schema's properties, as the same paths.
fn keys_of(value: &Value, above: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            found.insert(format!("{above}/{key}"));
            keys_of(value, &format!("{above}/{key}"), found);
        }),
        Value::Array(items) => items.iter().for_each(|item| keys_of(item, above, found)),
        _ => {}
    }
}

fn properties_of(schema: &Value, above: &str, found: &mut BTreeSet<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        for (key, schema) in properties {
            assert!(schema["description"].as_str().is_some_and(|text| text.ends_with('.')), "{above}/{key}");
            found.insert(format!("{above}/{key}"));
            properties_of(schema, &format!("{above}/{key}"), found);
        }
    }
    let inside = schema["anyOf"].as_array().into_iter().flatten().chain(schema.get("items"));
    inside.for_each(|schema| properties_of(schema, above, found));
}

#[test]
fn i3_schema_and_example_have_every_key() {
    let (mut described, mut in_schema, mut in_example) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    paths(&ROOT, "", &mut described);
    properties_of(&schema(), "", &mut in_schema);
    keys_of(&example_json(), "", &mut in_example);
    in_example.retain(|path| !path.contains("/headers/"));
    assert_eq!(described, in_schema);
    assert_eq!(described, in_example);
    assert!(described.len() > 60, "{}", described.len());
}

#[test]
fn i3_the_example_is_good_by_reader_and_schema() {
    let declared = good(&example());
    assert_eq!((declared.collections.len(), declared.profiles.len(), declared.seeds.len()), (2, 3, 2));
    assert_eq!((declared.groups.len(), declared.hosts.len(), declared.walks.len()), (1, 1, 1));
    let schema = schema();
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&example_json()).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn i3_the_schema_refuses_what_the_reader_refuses() {
    let validator = jsonschema::draft202012::new(&schema()).unwrap();
    let table = [
        ("/settings/recheck", "30"),
        ("/settings/recheck", "1h1d"),
        ("/settings/rechek", "1h"),
        ("/settings/politeness/parallel", "0"),
        ("/collections/0/active", "perhaps"),
        ("/collections/0/headers", "[]"),
        ("/settings/browser/tabs", "65"),
        ("/settings/browser/sandbox", "perhaps"),
        ("/collections/0/engine", "firefox"),
        ("/collections/0/browser/viewport/width", "99"),
        ("/collections/0/browser/viewport/height", "10001"),
        ("/collections/0/browser/device/scale", "0.05"),
        ("/collections/0/browser/device/scale", "11"),
        ("/collections/0/browser/language", "nb;q=0.8"),
        ("/collections/0/browser/timezone", "oslo"),
        ("/collections/0/browser/timezone", "+02:00"),
        ("/collections/0/browser/screenshot", "all"),
        ("/collections/0/browser/behaviours/click", "''"),
        ("/collections/0/browser/limits/requests", "0"),
        ("/collections/0/browser/limits/bytes", "1G"),
        ("/profiles/0/every", "{}"),
        ("/profiles/0/every", "1h.."),
        ("/profiles/0/every", "..30d"),
        ("/profiles/0/every", "1h...30d"),
        ("/profiles/0/at", "3"),
        ("/profiles/0/weekdays", "[monday]"),
        ("/profiles/0/windows", "[{from: '22:00'}]"),
        ("/hosts/0/windows", "[{from: '22', to: '06:00'}]"),
        ("/profiles/0/length", "0"),
        ("/profiles/0/robots", "{like: x}"),
        ("/profiles/0/scope/within", "planet"),
        ("/profiles/0/scope/schemes", "[]"),
        ("/profiles/0/scope/exclude", "[{prefix: a, host: b.no}]"),
        ("/profiles/0/limits/max_bytes", "1G"),
        ("/seeds/0/url", "vg.no"),
        ("/seeds/0/profiles", "[]"),
        ("/host_groups/0/name", "vg.no"),
        ("/walks/0/template", "https://example.org/"),
        ("/walks/0/min", "-1"),
        ("/walks/0/max", "9223372036854775808"),
        ("/walks/0/step", "0"),
        ("/walks/0/attempts", "1001"),
        ("/walks/0/exists", "[6xx]"),
        ("/walks/0/absent", "[99]"),
        ("/walks/0/direction", "sideways"),
    ];
    for (pointer, text) in table {
        let mut config = example_json();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let text = text.to_owned();
        let node = Documents::new(&text).next(&mut Problems::default()).unwrap().unwrap();
        config.pointer_mut(parent).unwrap()[key] = json_of(&node);
        assert!(!validator.is_valid(&config), "{pointer}: {text}");
        assert!(parse("c", config.to_string().as_bytes()).is_err(), "{pointer}: {text}");
    }
}

/// All keys with a default, at their default, as YAML on one line.
fn defaults(table: &Table) -> String {
    let given = table.keys.iter().filter_map(|key| match (key.need, &key.kind) {
        (Need::Default, _) => Some(format!("{}: {}", key.name, table.default_text(key)?)),
        (Need::Optional, kind) if !matches!(kind, Kind::Text(_)) => Some(format!("{}: none", key.name)),
        (Need::Optional, _) => Some(format!("{}: ~", key.name)),
        (Need::Empty, Kind::Table(table)) => Some(format!("{}: {{{}}}", key.name, defaults(table))),
        _ => None,
    });
    given.collect::<Vec<String>>().join(", ")
}

fn defaults_of(section: &str) -> String {
    defaults(inner(&ROOT.key(section).unwrap().kind).unwrap())
}

#[test]
fn i3_what_is_written_reads_back_as_the_same() {
    let declared = good(&example());
    assert_eq!(good(&declared.to_json().to_string()), declared);
}

fn without(value: &impl serde::Serialize, field: &str) -> Value {
    let mut value = json!(value);
    value.as_object_mut().unwrap().remove(field).unwrap();
    value
}

/// Each field of the model has a key: what the model says of itself, and what is written of it, are
/// the same names.
#[test]
fn i3_every_field_of_the_model_is_written() {
    let declared = good(&example());
    let names = |value: &Value| -> BTreeSet<String> {
        let mut fields = value.as_object().unwrap().clone();
        // A17: its keys stand beside the others.
        if let Some(Value::Object(way)) = fields.remove("way") {
            fields.extend(way);
        }
        fields.keys().cloned().collect()
    };
    for (model, written) in [
        (json!(declared.settings), written(&declared.settings)),
        (without(&declared.settings.politeness, "budget"), written(&declared.settings.politeness)),
        (json!(declared.seeds[0].budget), written(&declared.seeds[0].budget)),
        (json!(declared.collections[0]), written(&declared.collections[0])),
        (json!(declared.settings.browser), written(&declared.settings.browser)),
        (json!(declared.collections[0].browser), written(&declared.collections[0].browser)),
        (
            json!(declared.collections[0].browser.viewport),
            written(&declared.collections[0].browser)["viewport"].clone(),
        ),
        (
            json!(declared.collections[0].browser.device),
            written(&declared.collections[0].browser)["device"].clone(),
        ),
        (
            json!(declared.collections[0].browser.behaviours),
            written(&declared.collections[0].browser)["behaviours"].clone(),
        ),
        (
            json!(declared.collections[0].browser.limits),
            written(&declared.collections[0].browser)["limits"].clone(),
        ),
        (json!(declared.collections[0].cookies[0]), written(&declared.collections[0])["cookies"][0].clone()),
        (json!(declared.profiles[0]), written(&declared.profiles[0])),
        (json!(declared.profiles[0].scope), written(&declared.profiles[0])["scope"].clone()),
        (json!(declared.profiles[0].limits), written(&declared.profiles[0])["limits"].clone()),
        (json!(declared.seeds[0]), written(&declared.seeds[0])),
        // Its budget is a field of its politeness.
        (json!(declared.groups[0]), without(&written(&declared.groups[0]), "budget")),
    ] {
        // A range says both its ends in one key, and the windows of a group stand beside its hosts.
        let (mut model, mut written) = (names(&model), names(&written));
        model.remove("slowest");
        if written.contains("hosts") {
            written.retain(|key| !["windows", "timezone"].contains(&key.as_str()));
        }
        assert_eq!(model, written);
    }
}

#[test]
fn f38_time_of_day_is_read_and_written() {
    let config = "collections: [{name: c}]\nprofiles: [{name: p, collection: c, every: 1d, at: 3:00, weekdays: [fri, mon, mon], \
        timezone: europe/oslo, windows: [{from: '22:00', to: '06:00'}, {from: '00:00', to: '24:00', weekdays: [sat]}]}]\n\
        host_groups: [{name: 'g:', hosts: [a.no], windows: [{from: '20:00', to: '08:00'}], timezone: UTC}]\n\
        hosts: [{host: b.no, windows: [{from: '01:00', to: '02:00'}]}, {host: c.no}]\n\
        settings: {politeness: {windows: [{from: '02:00', to: '03:00'}]}}";
    let declared = good(config);
    let profile = &declared.profiles[0];
    assert_eq!(profile.at.unwrap().to_string(), "03:00");
    assert_eq!(profile.weekdays, [Weekday::Mon, Weekday::Fri]);
    assert_eq!(profile.timezone.as_ref().unwrap().name(), "Europe/Oslo");
    assert_eq!(profile.windows[1].to_string(), "00:00–24:00 sat");
    assert_eq!(declared.groups[0].politeness.windows[0].to_string(), "20:00–08:00");
    let of = |at: usize| declared.hosts[at].1.windows[0].to_string();
    assert_eq!([of(0), of(1)], ["01:00–02:00", "02:00–03:00"], "what is not given is as in the settings");
    assert_eq!(good(&declared.to_json().to_string()), declared);
}

#[test]
fn f41_a_frequency_may_be_a_range() {
    let config = |every: &str| {
        format!(
            "collections: [{{name: c}}]\nprofiles: [{{name: p, collection: c, every: 1h..30d}}, {{name: q, extends: p{every}}}]"
        )
    };
    let declared = good(&config(""));
    assert_eq!(
        (declared.profiles[1].every, declared.profiles[1].slowest),
        (Span::hours(1), Some(Span::days(30)))
    );
    assert_eq!(written(&declared.profiles[1])["every"], "1h..30d");
    assert_eq!(good(&declared.to_json().to_string()), declared);
    let fixed = good(&config(", every: 1d"));
    assert_eq!((fixed.profiles[1].every, fixed.profiles[1].slowest), (Span::days(1), None));
}

#[test]
fn f38_f41_contradictions_are_told_with_place_and_hint() {
    let table = [
        ("every: 30d..1h", "`every`: 30d is longer than 1h", "perhaps the other way round: `1h..30d`"),
        ("every: 1d..1d", "`every`: both ends are 1d", "a fixed frequency is `1d`"),
        ("every: 1h..", "`every`: `` is not a duration: it is empty", "write whole numbers"),
        (
            "every: 1h..30d, at: 03:00",
            "`at` counts one frequency from a moment, and `every` is a range (1h..30d)",
            "leave `at` out",
        ),
        ("every: 36h, at: 03:00", "with `at`, 1d12h is neither days nor less than one", "`1d` or `2d`"),
        (
            "every: 1d, at: 25:00",
            "`at`: `25:00` is not a time of day: hours are from 0 to 24",
            "like `03:00`",
        ),
        ("every: 1d, at: 24:00", "`at`: a day begins at 00:00", "write `00:00`"),
        (
            "every: 1d, weekdays: [mon]",
            "`weekdays` are those of a moment, and there is none",
            "add the moment",
        ),
        (
            "every: 1d, at: 03:00, weekdays: [monday]",
            "`weekdays`: `monday` is unknown here",
            "one of: mon, tue",
        ),
        (
            "every: 1d, timezone: Europe/Olso",
            "`timezone`: there is no time zone `Europe/Olso`",
            "did you mean `Europe/Oslo`?",
        ),
        (
            "every: 1d, timezone: oslo",
            "`timezone`: there is no time zone `oslo`",
            "did you mean `Europe/Oslo`?",
        ),
        (
            "every: 1d, windows: [{from: '03:00', to: '03:00'}]",
            "a window from 03:00 to 03:00",
            "a whole day is from",
        ),
        (
            "every: 1d, windows: [{from: '03:00', to: '03:10'}]",
            "the window 03:00–03:10 is 10m long, and one harvest may take 20m",
            "total_timeout: 10m",
        ),
        ("every: 1d, windows: [{from: '03:00'}]", "this window lacks `to`", "for example"),
        (
            "every: 1d, at: 12:00, windows: [{from: '22:00', to: '06:00'}]",
            "its moment, 12:00, is in none of its windows (22:00–06:00 (UTC))",
            "move the moment",
        ),
    ];
    for (keys, what, hint) in table {
        let config = format!("collections: [{{name: c}}]\nprofiles: [{{name: p, collection: c, {keys}}}]");
        let told = parse("c.yaml", config.as_bytes()).expect_err(keys).to_string();
        assert!(told.contains("\nc.yaml:2:") && told.contains(what) && told.contains(hint), "{keys}\n{told}");
    }
    let hosts = "hosts: [{host: a.no, windows: [{from: '03:00', to: '03:00'}]}]";
    let told = parse("c.yaml", hosts.as_bytes()).expect_err(hosts).to_string();
    assert!(told.contains("c.yaml:1:") && told.contains("a window from 03:00 to 03:00"), "{told}");
}

#[test]
fn i3_every_default_is_the_real_one() {
    let short = good(
        "collections: [{name: c}]\nprofiles: [{name: p, collection: c, every: 1d}]\n\
         seeds: [{url: https://vg.no/, profiles: [p]}]\nhost_groups: [{name: 'g:', hosts: [a.no]}]\nhosts: [{host: b.no}]\n\
         walks: [{template: 'https://vg.no/{id}', profile: p, min: 1, max: 9}]",
    );
    let long = format!(
        "settings: {{{}}}\ncollections: [{{name: c, {}}}]\nprofiles: [{{name: p, collection: c, every: 1d, {}}}]\n\
         seeds: [{{url: https://vg.no/, profiles: [p], {}}}]\nhost_groups: [{{name: 'g:', hosts: [a.no], {}}}]\n\
         hosts: [{{host: b.no, {}}}]\nwalks: [{{template: 'https://vg.no/{{id}}', profile: p, {}}}]",
        defaults_of("settings"),
        defaults_of("collections"),
        defaults_of("profiles"),
        defaults_of("seeds"),
        defaults_of("host_groups"),
        defaults_of("hosts"),
        defaults_of("walks").replace("min: none", "min: 1").replace("max: none", "max: 9"),
    );
    assert!(long.contains("max_header_bytes: 256KiB"), "{long}");
    assert_eq!(good(&long), short);
}

/// A key that is left out is as by default, whatever stands beside it, and each word is one.
#[test]
fn b2_a_browser_is_set_up_key_by_key() {
    let read = |text: &str| good(&format!("collections: [{{name: c, {text}}}]")).collections.remove(0);
    let plain = read("active: yes");
    assert_eq!((plain.engine, &plain.browser), (Engine::Http, &BrowserSettings::default()));
    let set = |change: fn(&mut BrowserSettings)| {
        let mut browser = BrowserSettings::default();
        change(&mut browser);
        browser
    };
    let table = [
        ("user_agent: x/1", set(|own| own.user_agent = Some("x/1".into()))),
        ("language: 'nb-NO , nb,en'", set(|own| own.language = Some("nb-NO,nb,en".into()))),
        ("language: no", set(|own| own.language = Some("no".into()))),
        ("language: zh-Hant-TW", set(|own| own.language = Some("zh-Hant-TW".into()))),
        ("timezone: America/Argentina/Buenos_Aires", {
            set(|own| own.timezone = Some("America/Argentina/Buenos_Aires".into()))
        }),
        ("timezone: Etc/GMT+3", set(|own| own.timezone = Some("Etc/GMT+3".into()))),
        ("timezone: EST5EDT", set(|own| own.timezone = Some("EST5EDT".into()))),
        ("viewport: {width: 100}", set(|own| own.viewport.width = 100)),
        ("viewport: {height: 10000}", set(|own| own.viewport.height = 10_000)),
        ("device: {touch: yes}", set(|own| own.device.touch = true)),
        ("device: {scale: 0.1}", set(|own| own.device.scale = 0.1)),
        ("device: {scale: 10}", set(|own| own.device.scale = 10.0)),
        ("color_scheme: dark", set(|own| own.color_scheme = ColorScheme::Dark)),
        ("color_scheme: light", BrowserSettings::default()),
        ("behaviours: {scroll: no}", set(|own| own.behaviours.scroll = false)),
        ("behaviours: {click: '#more > a'}", set(|own| own.behaviours.click = Some("#more > a".into()))),
        ("screenshot: full", set(|own| own.screenshot = Screenshot::Full)),
        ("screenshot: none", set(|own| own.screenshot = Screenshot::None)),
        ("screenshot: view", BrowserSettings::default()),
        ("dom: no", set(|own| own.dom = false)),
        ("when_unchanged: skip", set(|own| own.when_unchanged = WhenUnchanged::Skip)),
        ("when_unchanged: render", BrowserSettings::default()),
        ("robots_requisites: ignore", set(|own| own.robots_requisites = RobotsRequisites::Ignore)),
        ("robots_requisites: obey", BrowserSettings::default()),
        ("fresh: 0s", set(|own| own.fresh = Span::ZERO)),
        ("limits: {load: 90s}", set(|own| own.limits.load = Span::seconds(90))),
        ("limits: {quiet: 0s}", set(|own| own.limits.quiet = Span::ZERO)),
        ("limits: {behave: 0s}", set(|own| own.limits.behave = Span::ZERO)),
        ("limits: {collect: 1s}", set(|own| own.limits.collect = Span::seconds(1))),
        ("limits: {total: 30s}", set(|own| own.limits.total = Span::seconds(30))),
        ("limits: {requests: 1}", set(|own| own.limits.requests = 1)),
        ("limits: {bytes: 1MB}", set(|own| own.limits.bytes = 1_000_000)),
        ("limits: {media_bytes: 2MB}", set(|own| own.limits.media_bytes = 2_000_000)),
        ("limits: ~", BrowserSettings::default()),
    ];
    for (text, expected) in table {
        let own = read(&format!("engine: browser, browser: {{{text}}}"));
        assert_eq!((own.engine, &own.browser), (Engine::Browser, &expected), "{text}");
        let again = read(&format!("engine: browser, browser: {}", written(&own.browser)));
        assert_eq!(again, own, "{text}");
    }
}

#[test]
fn b19_the_program_is_set_up_key_by_key() {
    let read = |text: &str| good(&format!("settings: {{browser: {{{text}}}}}")).settings.browser;
    let plain = BrowserProgram::default();
    assert_eq!(read(""), plain);
    for (text, expected) in [
        (
            "path: /opt/chrome/chrome",
            BrowserProgram { path: Some("/opt/chrome/chrome".into()), ..plain.clone() },
        ),
        ("sandbox: off", BrowserProgram { sandbox: false, ..plain.clone() }),
        ("tabs: 1", BrowserProgram { tabs: 1, ..plain.clone() }),
        ("tabs: 64", BrowserProgram { tabs: 64, ..plain.clone() }),
    ] {
        assert_eq!(read(text), expected, "{text}");
        assert_eq!(
            good(&format!("settings: {{browser: {}}}", written(&expected))).settings.browser,
            expected
        );
    }
}

#[test]
fn b1_settings_of_a_browser_that_is_not_used_are_warned_of() {
    let warned = |collections: &str| {
        let text = format!(
            "collections: [{collections}]\nprofiles: [{{name: p, collection: c, every: 1d}}]\n\
             seeds: [{{url: https://a.no/, profiles: [p]}}]"
        );
        good(&text).warnings().into_iter().map(|(what, _)| what).collect::<Vec<String>>()
    };
    for quiet in
        ["{name: c}", "{name: c, engine: browser, browser: {dom: no}}", "{name: c, browser: {dom: yes}}"]
    {
        assert_eq!(warned(quiet), Vec::<String>::new(), "{quiet}");
    }
    assert_eq!(
        warned("{name: c, browser: {dom: no}}"),
        ["collection `c` has `browser` settings that nothing uses: the engine is http"]
    );
    assert_eq!(
        warned("{name: c, browser: {dom: no}}, {name: d}, {name: e, engine: http, browser: {fresh: 0s}}"),
        ["collection `c` and 1 other have `browser` settings that nothing uses: the engine is http"]
    );
}

fn file_of(declared: &Declared) -> String {
    let mut text = Vec::new();
    declared.write(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn i8_a_file_that_is_written_says_what_is_declared_and_no_more() {
    let declared = good(&example());
    let text = file_of(&declared);
    assert_eq!(good(&text), declared, "{text}");
    assert_eq!(good(&file_of(&Declared::default())), Declared::default());
    let short = "\
collections:
  - name: c
profiles:
  - name: p
    collection: c
    every: 1d12h
    scope:
      within: host
seeds:
  - url: \"https://vg.no/\"
    profiles: [\"p\"]
";
    let text = file_of(&good(short));
    // A seed that is named by its URL says so: that is a name like any other.
    assert_eq!(text.replace("  - name: \"https://vg.no/\"\n    url", "  - url"), short);
}

/// Takes each key out of the example in turn (a switch is turned off instead): what is declared
/// must change.
#[test]
fn i3_every_key_has_an_effect() {
    let whole = good(&example_json().to_string());
    let mut pointers = Vec::new();
    pointers_of(&example_json(), "", &mut pointers);
    let mut tried = 0;
    for pointer in pointers {
        let key = pointer.rsplit('/').next().unwrap();
        // Required, or the same with and without where the example stands.
        if ["name", "extends", "collection", "collections", "profiles", "host"].contains(&key) {
            continue;
        }
        let mut config = example_json();
        let (parent, _) = pointer.rsplit_once('/').unwrap();
        let Some(Value::Object(map)) = config.pointer_mut(parent) else { continue };
        match map[key].as_str() {
            Some("yes") => drop(map.insert(key.to_owned(), Value::from("no"))),
            _ => drop(map.remove(key)),
        }
        let Ok(changed) = parse("c", config.to_string().as_bytes()) else { continue };
        assert_ne!(changed, whole, "{pointer}");
        tried += 1;
    }
    assert!(tried > 50, "{tried}");
}

fn pointers_of(value: &Value, above: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        _ => return,
    };
    for (key, value) in children {
        let path = format!("{above}/{key}");
        pointers_of(value, &path, found);
        found.push(path);
    }
}

#[test]
fn i3_profiles_inherit_key_by_key() {
    let declared = good(
        "collections: [{name: c}, {name: d}]\n\
         profiles:\n\
         - {name: grandchild, extends: child, length: none, scope: {include: []}}\n\
         - {name: child, extends: base, every: 1w, scope: {max_depth: 3}, limits: {max_bytes: 1MB}}\n\
         - {name: base, collection: c, every: 1d, length: 5, active: no, robots: {as: b},\n   \
            scope: {within: host, include: [{regex: x}]}, limits: {max_errors: 1}}\n",
    );
    let names: Vec<&str> = declared.profiles.iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(names, ["grandchild", "child", "base"]);
    let [grandchild, child, base] = &declared.profiles[..] else { panic!() };
    assert_eq!((child.every, child.length, child.active), (Span::days(7), Some(5), false));
    assert_eq!(
        (child.scope.within, child.scope.max_depth, base.scope.max_depth),
        (Within::Host, Some(3), None)
    );
    assert_eq!((child.limits.max_errors, child.limits.max_bytes), (1, 1_000_000));
    assert_eq!(child.robots, RobotsPolicy::ObeyAs("b".to_owned()));
    assert_eq!(child.scope.include, [Pattern::regex("x").unwrap()]);
    assert_eq!(
        (grandchild.length, grandchild.scope.include.len(), grandchild.scope.max_depth),
        (None, 0, Some(3))
    );
    assert_eq!(grandchild.collection, "c");
}

#[test]
fn i3_hosts_and_urls_are_taken_in_the_spelling_of_urls() {
    let declared = good(
        "settings: {session_ids: [sid], politeness: {min: 2s}}\ncollections: [{name: 2024}]\n\
         profiles: [{name: no, collection: '2024', every: 1d}]\n\
         seeds: [{url: 'HTTPS://VG.no?sid=1', profiles: [no]}]\n\
         host_groups: [{name: my group, hosts: [WWW.Blåbær.no, '[::1]']}]\n\
         hosts: [{host: vg.no, politeness: {max: 5s}}]",
    );
    assert_eq!(declared.seeds[0].name, "https://vg.no/");
    assert_eq!(declared.seeds[0].url, "HTTPS://VG.no?sid=1");
    assert_eq!(declared.groups[0].hosts, ["xn--blbr-roah.no", "[::1]"]);
    assert_eq!(declared.hosts[0].1.min, Span::seconds(2));
    assert_eq!(declared.hosts[0].1.max, Span::seconds(5));
    assert_eq!(declared.into_changes().len(), 6);
}

#[test]
fn i3_anchors_and_aliases_work() {
    let declared = good(
        "collections: [{name: c}]\nprofiles: [{name: p, collection: c, every: &d 1d, ttl: *d}]\n\
         seeds:\n- {url: https://a.no/, profiles: &p [p]}\n- {url: https://b.no/, profiles: *p}",
    );
    assert_eq!(declared.profiles[0].ttl, Some(Span::days(1)));
    assert_eq!(declared.seeds[1].profiles, ["p"]);
}

fn spans() -> impl Strategy<Value = Span> {
    (1..200_000u64).prop_map(Span)
}

prop_compose! {
    fn browsers()(
        (user_agent, language, timezone, click) in (
            proptest::option::of("[!-~]{1,20}"),
            proptest::option::of("[a-z]{2,3}(-[A-Z]{2})?(,[a-z]{2}){0,3}"),
            proptest::option::of("[A-Z][a-z]{0,9}/[A-Z][A-Za-z_]{0,9}"),
            proptest::option::of("[!-~]([ -~]{0,20}[!-~])?"),
        ),
        (width, height, touch, tenths, dark, scroll, dom) in
            (100..=10_000u32, 100..=10_000u32, any::<bool>(), 1..=100u32, any::<bool>(), any::<bool>(), any::<bool>()),
        (shot, skip, ignore, fresh) in (0..3usize, any::<bool>(), any::<bool>(), spans()),
        (phases, rest) in ([spans(), spans(), spans(), spans()], spans()),
        (requests, bytes, media_bytes) in (1..=u32::MAX, 1..=1u64 << 50, 1..=1u64 << 50),
    ) -> BrowserSettings {
        let [load, quiet, behave, collect] = phases;
        let total = Span(phases.iter().map(|span| span.0).max().unwrap() + rest.0);
        BrowserSettings {
            user_agent,
            language,
            timezone,
            viewport: Viewport { width, height },
            device: Device { touch, scale: f64::from(tenths) / 10.0 },
            color_scheme: if dark { ColorScheme::Dark } else { ColorScheme::Light },
            behaviours: Behaviours { scroll, click },
            screenshot: [Screenshot::View, Screenshot::Full, Screenshot::None][shot],
            dom,
            when_unchanged: if skip { WhenUnchanged::Skip } else { WhenUnchanged::Render },
            robots_requisites: if ignore { RobotsRequisites::Ignore } else { RobotsRequisites::Obey },
            fresh,
            limits: BrowserLimits { load, quiet, behave, collect, total, requests, bytes, media_bytes },
        }
    }
}

proptest! {
    /// As JSON, and as the YAML that people are shown.
    #[test]
    fn b2_what_is_written_of_a_browser_reads_back_as_the_same(browser in browsers(), used: bool) {
        let engine = if used { Engine::Browser } else { Engine::Http };
        let own = Collection { name: "c".to_owned(), engine, browser, ..Collection::default() };
        let json = json!({ "collections": [written(&own)] }).to_string();
        prop_assert_eq!(&good(&json).collections[0], &own);
        let mut yaml = Vec::new();
        to_yaml(&mut yaml, &written(&own)).unwrap();
        let yaml = String::from_utf8(yaml).unwrap().replace('\n', "\n  ");
        prop_assert_eq!(&good(&format!("collections:\n- {yaml}")).collections[0], &own);
    }

    /// Of the example, with some keys taken out and odd names put in.
    #[test]
    fn i8_whatever_is_declared_is_written_so_that_it_reads_back_as_the_same(
        gone in proptest::collection::vec(any::<proptest::sample::Index>(), 0..40),
        name in "[!-~æøå•]([ -~æøå•]{0,12}[!-~æøå•])?",
        value in "[!-~]([ -~]{0,12}[!-~])?",
    ) {
        let mut config = example_json();
        let mut pointers = Vec::new();
        pointers_of(&config, "", &mut pointers);
        for index in gone {
            let (parent, key) = index.get(&pointers).rsplit_once('/').unwrap();
            if let Some(Value::Object(map)) = config.pointer_mut(parent) {
                map.remove(key);
            }
        }
        if let Some(collections) = config["collections"].as_array_mut() {
            let headers = json!({ "X-Odd": value, "X-#": "yes" });
            collections.push(json!({ "name": name, "headers": headers, "user_agent": value }));
        }
        if let Ok(declared) = parse("c", config.to_string().as_bytes()) {
            let text = file_of(&declared);
            prop_assert_eq!(parse("c", text.as_bytes()).map_err(|error| error.to_string()), Ok(declared), "{}", text);
        }
    }

    #[test]
    fn i3_no_bytes_are_too_much(bytes: Vec<u8>) {
        let _ = parse("c", &bytes);
    }

    /// The example with one piece of it replaced: whatever comes of it, it comes in order and on
    /// single lines.
    #[test]
    fn i3_a_broken_example_is_explained(from in 0..6000usize, len in 0..40usize, with in "[ \\t\\n:,\\[\\]{}&*!'\"#a-z0-9-]{0,12}") {
        let text: Vec<char> = example().chars().collect();
        let from = from.min(text.len());
        let to = (from + len).min(text.len());
        let broken: String = text[..from].iter().chain(&with.chars().collect::<Vec<char>>()).chain(&text[to..]).collect();
        if let Err(error) = parse("c", broken.as_bytes()) {
            prop_assert!(error.problems.is_sorted());
            for problem in &error.problems {
                prop_assert!(!problem.what.contains('\n') && !problem.hint.contains('\n'), "{problem:?}");
                prop_assert!(!problem.hint.is_empty());
            }
        }
    }
}

#[test]
fn a16_a17_ways_and_deduplication_are_read_and_written() {
    let text = "collections: [{name: c, dedup: payload, proxy: 'http://u:p%40@Proxy.test:3128/', resolver: 192.0.2.53, source_address: '2001:DB8::7'}]
host_groups: [{name: 'group:g', hosts: [g.no], proxy: 'socks5://[::1]:1080', resolver: '[::1]:5353'}]
hosts: [{host: h.no, proxy: direct}, {host: i.no, source_address: 192.0.2.7}]";
    let declared = good(text);
    let own = &declared.collections[0];
    assert_eq!(
        (own.dedup, written(own)["proxy"].as_str()),
        (Dedup::Payload, Some("http://u:p%40@proxy.test:3128"))
    );
    let catalog = |declared: &Declared| {
        let mut catalog = Catalog::new();
        declared.clone().into_changes().into_iter().for_each(|change| catalog.apply(change).unwrap());
        catalog
    };
    let catalog = catalog(&declared);
    for (host, way) in [
        (
            "a.no",
            "through the proxy http://proxy.test:3128, names looked up by 192.0.2.53, from the address 2001:db8::7",
        ),
        (
            "g.no",
            "through the proxy socks5://[::1]:1080, names looked up by [::1]:5353, from the address 2001:db8::7",
        ),
        ("h.no", "names looked up by 192.0.2.53, from the address 2001:db8::7"),
        (
            "i.no",
            "through the proxy http://proxy.test:3128, names looked up by 192.0.2.53, from the address 192.0.2.7",
        ),
    ] {
        assert_eq!(catalog.way("c", host).told().as_deref(), Some(way), "{host}");
    }
    assert_eq!(catalog.way("other", "a.no").told(), None);
    assert_eq!(good(&declared.to_json().to_string()), declared);
}
