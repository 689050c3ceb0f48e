//! Rule A9: keys as Python's `surt` makes them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use proptest::prelude::*;

/// `SKURD_SURT_VECTORS` names a file of further vectors, made like the one here.
#[test]
fn a9_keys_are_those_of_the_python_package() {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/surt.jsonl").to_owned();
    let more = std::env::var("SKURD_SURT_VECTORS").ok();
    let mut wrong = Vec::new();
    for path in std::iter::once(own).chain(more) {
        let text = std::fs::read_to_string(path).unwrap();
        for line in text.lines() {
            let [url, key]: [String; 2] = serde_json::from_str(line).unwrap();
            let got = net::surt::key(&url);
            if got != key {
                wrong.push(format!("{url:?}\n  expected {key:?}\n  got      {got:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a11_nested_escapes_are_taken_off_in_one_pass() {
    let url = format!("http://example.com/%{}41", "25".repeat(200_000));
    assert_eq!(net::surt::key(&url), "com,example)/a");
}

proptest! {
    #[test]
    fn a11_any_text_has_a_key(url in ".{0,60}", scheme in prop::sample::select(vec!["", "http://", "https://www.", "dns:"])) {
        let key = net::surt::key(&format!("{scheme}{url}"));
        prop_assert!(net::surt::surt(&url).is_none_or(|key| key.is_ascii() || url.starts_with("filedesc")));
        prop_assert!(!key.is_empty());
    }

    #[test]
    fn a11_any_text_of_the_web_has_a_key(url in "http://[a-zA-Z0-9ü.:/?#&=%@\\[\\]()_ -]{0,60}") {
        prop_assert!(!net::surt::key(&url).is_empty());
    }
}

/// The vectors of the Internet Archive's `surt`, where they are at hand: keys, and spellings that
/// are one URL.
#[test]
fn a9_agrees_with_the_vectors_of_the_internet_archive() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/url-urlcanon/surt.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("skipped: no {path}");
        return;
    };
    let sections: serde_json::Value = serde_json::from_str(&text).unwrap();
    let pairs = |name: &str| -> Vec<(String, String)> {
        let section = sections[name].as_object().unwrap();
        section.iter().map(|(from, to)| (from.clone(), to.as_str().unwrap().to_owned())).collect()
    };
    for (url, expected) in pairs("defaultIASurt") {
        // The empty URL has no key of its own anywhere else.
        if !url.is_empty() {
            assert_eq!(net::surt::key(&url), expected, "{url:?}");
        }
    }
    for section in ["Canonicalizer.DefaultIA", "google", "Canonicalizer.IA"] {
        for (url, same) in pairs(section) {
            // A raw byte of 0x80, which neither a text of ours nor one of Python's can hold.
            if !url.contains('\u{80}') {
                assert_eq!(net::surt::key(&url), net::surt::key(&same), "{section}: {url:?} and {same:?}");
            }
        }
    }
}
