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
