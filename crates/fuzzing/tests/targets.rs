//! A bounded share of the fuzzing, with every build (A11, A12). How to do more of it:
//! `fuzz/README.md`.

use std::path::Path;

use fuzzing::{Target, runner};

fn run(target: &Target) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let inputs = runner::run(target, &kept);
    println!("{}: {inputs} inputs", target.name);
}

/// A test for each of these targets, named by the rule it is about.
macro_rules! targets {
    ($($test:ident: $target:expr,)*) => {
        $(#[test] fn $test() { run(&$target); })*

        #[test]
        fn every_target_has_a_test() {
            let mut tested: Vec<&str> = vec![$($target.name),*];
            let mut all: Vec<&str> = fuzzing::TARGETS.iter().map(|target| target.name).collect();
            (tested.sort(), all.sort());
            assert_eq!(tested, all);
        }
    };
}

targets! {
    a12_answer: fuzzing::ANSWER,
    i4_api: fuzzing::API,
    a13_archive: fuzzing::ARCHIVE,
    a4_chunked: fuzzing::CHUNKED,
    i3_config: fuzzing::CONFIG,
    a10_css: fuzzing::CSS,
    a5_decode: fuzzing::DECODE,
    a10_html: fuzzing::HTML,
    a4_http: fuzzing::HTTP,
    i3_import: fuzzing::IMPORT,
    a13_journal: fuzzing::JOURNAL,
    a13_recovery: fuzzing::RECOVERY,
    a3_robots: fuzzing::ROBOTS,
    a10_sitemap: fuzzing::SITEMAP,
    f29_url: fuzzing::URL,
    a8_warc: fuzzing::WARC,
    a11_window: fuzzing::WINDOW,
    a10_xml: fuzzing::XML,
}
