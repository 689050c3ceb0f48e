//! X11: a load that is interrupted or killed at any moment goes on where it was, and ends as one
//! that was not.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use serde_json::Value;
use testkit::world::World;
use tokio::time::Instant;

use crate::{dump, verify};

const PAGES: u64 = 20_000;
const KILLS: u32 = 6;

/// Pages with some links to hubs, some to neighbours, some into the void; a tenth is put twice, a
/// twentieth deleted.
fn lines() -> String {
    let mut text = String::new();
    let mut random: u64 = 7;
    let mut next = |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    let url = |n: u64| format!("http://h{}.d{}.no/{n}", n % 7, n % 211);
    for page in 0..PAGES {
        let links: Vec<String> = (0..4)
            .map(|_| match next(3) {
                0 => url(next(20)),
                1 => url(next(PAGES)),
                _ => format!("https://void{}.com/", next(500)),
            })
            .map(|to| format!(r#"{{"url":"{to}","anchor":"to {to}"}}"#))
            .collect();
        let put = format!(r#"{{"op":"put","url":"{}","links":[{}]}}"#, url(page), links.join(","));
        text.push_str(&put);
        text.push('\n');
        match next(20) {
            0 | 1 => {
                text.push_str(&format!(r#"{{"op":"put","url":"{}","links":[]}}{}"#, url(next(PAGES)), "\n"));
            }
            2 => text.push_str(&format!(r#"{{"op":"delete","url":"{}"}}{}"#, url(next(page + 1)), "\n")),
            _ => {}
        }
    }
    text
}

fn start(dir: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_skurd"))
        .current_dir(dir)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for the child to end, but no longer than this; a thread tells.
fn wait(never: &Receiver<()>, patience: Duration) {
    let _ = never.recv_timeout(patience);
}

#[test]
fn x11_a_killed_load_goes_on_and_counts_nothing_twice() {
    let (undisturbed, world) = (World::empty(crate::SKURD), World::empty(crate::SKURD));
    let text = lines();
    let half = text.len() / 2 + text[text.len() / 2..].find('\n').unwrap() + 1;
    for at in [&undisturbed, &world] {
        at.write("a.jsonl", &text[..half]);
        at.write("b.jsonl", &text[half..]);
    }
    let args = ["index", "load", "a.jsonl", "b.jsonl"];
    let began = Instant::now();
    let whole = undisturbed.json(&args).pop().unwrap();
    let took = began.elapsed();
    let (_sender, never) = sync_channel::<()>(1);
    let mut went_on = 0;
    for kill in 0..KILLS {
        let mut run = start(world.dir.path(), &args);
        wait(&never, took * (2 + kill % 3) / 12);
        if kill == 2 {
            assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
        } else {
            run.kill().unwrap();
        }
        let told = run.wait_with_output().unwrap();
        let err = String::from_utf8(told.stderr).unwrap();
        went_on +=
            u32::from(err.contains(": going on at ") || err.contains("loaded before the interruption"));
        if kill == 2 && !told.stdout.is_empty() {
            assert_eq!(told.status.code(), Some(0), "{err}");
        }
    }
    let summary: Value = world.json(&args).pop().unwrap();
    assert!(went_on >= 2, "the kills came in the middle: {went_on}");
    for key in ["pages", "deleted", "links", "uris", "loaded", "broken"] {
        assert_eq!(summary[key], whole[key], "{key}");
    }
    assert_eq!(dump(&world), dump(&undisturbed));
    verify(&world);
    verify(&undisturbed);

    let again = world.json(&args).pop().unwrap();
    assert_eq!(again["pages"], whole["pages"], "a finished load is loaded anew");
    assert_eq!(dump(&world), dump(&undisturbed));
}

#[test]
fn x11_a_file_that_changed_is_read_from_its_beginning_and_standard_input_too() {
    let world = World::empty(crate::SKURD);
    let put = |n: u32| format!("{{\"op\":\"put\",\"url\":\"http://a.no/{n}\",\"links\":[]}}\n");
    world.write("a.jsonl", &put(1));
    world.good(&["index", "load", "a.jsonl"]);
    world.write("a.jsonl", &(put(2) + &put(1)));
    let told = world.good(&["index", "load", "a.jsonl"]);
    assert!(
        told.starts_with("loaded 2 pages with 0 links in ") && told.contains("changed   1 page new"),
        "{told}"
    );
    let script = format!("printf '%s' '{}' | '{}' index load - --json", put(3), env!("CARGO_BIN_EXE_skurd"));
    let output = Command::new("bash").current_dir(world.dir.path()).args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let script = format!("'{}' index load <(printf '%s' '{}')", env!("CARGO_BIN_EXE_skurd"), put(4));
    let output = Command::new("bash").current_dir(world.dir.path()).args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(dump(&world).lines().filter(|line| line.ends_with("\tpage\tscore\t1")).count(), 4);
    verify(&world);
}
