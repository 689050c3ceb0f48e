//! Bad input (L14): each its sentence, with the flag's name and what it takes.

use crate::walker::{Walker, existing};

/// Nobody listens on that port.
const GONE: [&str; 2] = ["--resolve", "a.test=127.0.0.1:1"];

#[test]
fn i7_a_walk_that_nobody_answers_fails_and_says_why() {
    let world = existing(|id| id == 2);
    let walk = [
        "http://a.test/{id}",
        "--min",
        "1",
        "--max",
        "3",
        "--attempts",
        "1",
        "--cooldown",
        "0s",
        "--delay",
        "0",
    ];
    let told = world.linear(&[&walk[..], &GONE].concat());
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(
        told.err.contains("error: nothing was answered\n  a.test: no connection to 127.0.0.1:1: "),
        "{told:?}"
    );
    // L11: to go on is to go on with the bound, and there is nothing left of it.
    let told = world.linear(&walk);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(
        told.err.contains("nothing was left to ask for") && told.err.contains("--resume holes"),
        "{told:?}"
    );
    assert_eq!(world.asked().len(), 0);
    for (resume, asked) in [("holes", 3), ("continue", 3)] {
        let told = world.linear(&[&walk[..], &["--resume", resume]].concat());
        assert_eq!((told.code, world.asked().len()), (Some(0), asked), "{told:?}");
    }
}

/// A host that another command found gone is asked at once.
#[test]
fn i7_a_walk_does_not_wait_for_the_backoff_of_an_earlier_command() {
    let world = existing(|_| true);
    let told = world.crawl(&[&["http://a.test/9", "--delay", "0s"], &GONE[..]].concat());
    assert_eq!(told.code, Some(1), "{told:?}");
    let told =
        world.linear(&["http://a.test/{id}", "--min", "1", "--max", "3", "--delay", "0", "--for", "20s"]);
    assert_eq!((told.code, world.asked().len()), (Some(0), 3), "{told:?}");
}

#[test]
fn l14_each_bad_input_has_its_sentence() {
    let world = existing(|_| true);
    let t = "http://a.test/{id}";
    let table: [(&[&str], &str); 26] = [
        (
            &["http://a.test/", "--min", "1", "--max", "2"],
            "TEMPLATE: `http://a.test/` has no `{id}`; it takes a URL with exactly one",
        ),
        (
            &["http://a.test/{id}/{id}", "--min", "1", "--max", "2"],
            "TEMPLATE: `http://a.test/{id}/{id}` has `{id}` more than once; it takes a URL with exactly one",
        ),
        (
            &["http://a.test/{id:8}", "--min", "1", "--max", "2"],
            "TEMPLATE: `{id:8}` is no placeholder; it takes `{id}`, or `{id:08}` for eight digits, with a width from 1 to 20",
        ),
        (
            &["ftp://a.test/{id}", "--min", "1", "--max", "2"],
            "TEMPLATE: `ftp://a.test/1` cannot be harvested, it takes an http or https URL",
        ),
        (
            &["http://a.test/#{id}", "--min", "1", "--max", "2"],
            "TEMPLATE: every id gives the same URL http://a.test/",
        ),
        (
            &[t, "--min", "9", "--max", "5"],
            "--min: the lower bound 9 is above the upper bound 5; it takes an id up to that",
        ),
        (
            &[t, "--min", "1", "--margin", "0"],
            "--margin: 0 would stop before the first id; it takes 1 or more misses in a row",
        ),
        (
            &[t, "--min", "1", "--max", "2", "--attempts", "0"],
            "--attempts: 0 would fetch nothing; it takes from 1 to 1000 attempts an id",
        ),
        (
            &[t, "--min", "1", "--max", "2", "--attempts", "1001"],
            "--attempts: 1001 is too many; it takes from 1 to 1000 attempts an id",
        ),
        (
            &[t, "--min", "1", "--max", "2", "--rate", "0"],
            "--rate: 0 would never take a turn; it takes 1 or more fetches a turn",
        ),
        (&[t, "--min", "1", "--max", "2", "--step", "0"], "--step: 0 goes nowhere; it takes 1 or more"),
        (
            &[t, "--min", "1", "--max", "9223372036854775808"],
            "--max: the id 9223372036854775808 is too large: it takes a whole number from 0 to 9223372036854775807",
        ),
        (
            &[t, "--min", "99999999999999999999999", "--max", "2"],
            "--min: the id 99999999999999999999999 is too large: it takes a whole number from 0 to 9223372036854775807",
        ),
        (
            &[t, "--from", "-1", "--max", "2"],
            "--from: `-1` is no id: it takes a whole number from 0 to 9223372036854775807",
        ),
        (
            &[t, "--min", "one", "--max", "2"],
            "--min: `one` is no id: it takes a whole number from 0 to 9223372036854775807",
        ),
        (
            &[t, "--min", "1", "--margin", "x"],
            "--margin: `x` will not do; it takes a whole number from 1 to 4294967295",
        ),
        (
            &[t, "--min", "1", "--max", "5", "--from", "7"],
            "--from: 7 is out of bounds; it takes an id from 1 to 5",
        ),
        (&[t, "--max", "5"], "--min: a walk up needs an id to begin with; give `--min` or `--from`"),
        (
            &[t, "--direction", "down"],
            "--max: a walk down needs an id to begin with; give `--max` or `--from`",
        ),
        (
            &[t, "--direction", "both", "--min", "1"],
            "--from: a walk both ways needs a known id to begin with; give `--from`",
        ),
        (
            &[t, "--min", "5"],
            "--max: a walk up without an end would never stop; give `--max`, or a `--margin` of misses",
        ),
        (
            &[t, "--min", "1", "--max", "2", "--exists", "200,6xx"],
            "--exists: `6xx` is no status; it takes one from 100 to 599, a range (`500-599`) or a class (`5xx`)",
        ),
        (
            &[t, "--min", "1", "--max", "2", "--absent", "404", "--failed", "4xx"],
            "--failed: status 404 is in `--absent` too; it takes statuses of its own",
        ),
        (
            &[t, "--min", "1", "--max", "2", "--body-has", "("],
            "--body-has: `(` is no pattern, it takes a regular expression",
        ),
        (
            &[t, t, "--min", "1", "--max", "2"],
            "--name: two walks are called `http://a.test/{id}`; each template takes a name of its own",
        ),
        (
            &[
                t,
                "http://b.test/{id}",
                "--min",
                "1",
                "--max",
                "2",
                "--rate",
                "1",
                "--rate",
                "2",
                "--rate",
                "3",
            ],
            "--rate: 3 values for 2 templates; it takes one for all of them, or one for each in their order",
        ),
    ];
    for (args, sentence) in table {
        let told = world.linear(args);
        assert_eq!(told.code, Some(2), "{args:?}: {}", told.err);
        assert!(told.err.starts_with(&format!("error: {sentence}")), "{args:?}: {}", told.err);
        assert!(told.out.is_empty());
    }
    assert!(!world.data().exists(), "nothing was begun");
    for args in
        [&[t, "--direction", "sideways"][..], &[t, "--resume", "all"], &[t, "--cooldown", "soon"], &[]]
    {
        assert_eq!(world.linear(args).code, Some(2), "{args:?}");
    }
    let several = world.linear(&[t, "http://b.test/{id}", "--min", "1", "--max", "2", "--max", "0"]);
    assert!(
        several.err.contains("the upper bound 0; it takes an id up to that (of http://b.test/{id})"),
        "{}",
        several.err
    );
}

#[test]
fn l14_a_walk_that_was_begun_keeps_its_ids() {
    let world = existing(|_| true);
    world.walk(&["http://a.test/{id}", "--min", "5", "--max", "8"]);
    for (args, sentence) in [
        (
            ["--min", "6", "--max", "8"],
            "--min: this walk was begun with 5; it takes the same, or another walk of another --name",
        ),
        (
            ["--from", "7", "--max", "8"],
            "--from: this walk was begun with 5; it takes the same, or another walk of another --name",
        ),
    ] {
        let told = world.linear(&[&["http://a.test/{id}"], &args[..]].concat());
        assert_eq!(told.code, Some(2), "{}", told.err);
        assert!(told.err.starts_with(&format!("error: {sentence}")), "{}", told.err);
    }
    let wider = world.walk(&["http://a.test/{id}", "--min", "5", "--max", "10"]);
    assert_eq!(wider.fetches.len(), 2, "a bound may be moved");
}
