//! The description, the reader, the schema and the example agree; what is read is what was written.

use std::collections::BTreeSet;

use policy::browser::{
    Behaviours, BrowserLimits, BrowserProgram, BrowserSettings, ColorScheme, Device, Engine,
    RobotsRequisites, Screenshot, Viewport, WhenUnchanged,
};
use policy::model::RobotsPolicy;
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

/// Each field of the model has a key: what the model says of itself, and what is written of it, are
/// the same names.
#[test]
fn i3_every_field_of_the_model_is_written() {
    let declared = good(&example());
    let names = |value: &Value| -> BTreeSet<String> { value.as_object().unwrap().keys().cloned().collect() };
    for (model, written) in [
        (json!(declared.settings), written(&declared.settings)),
        (json!(declared.settings.politeness), written(&declared.settings.politeness)),
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
        (json!(declared.groups[0]), written(&declared.groups[0])),
    ] {
        assert_eq!(names(&model), names(&written));
    }
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
