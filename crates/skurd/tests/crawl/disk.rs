//! A full disk: the harvest says so and ends, and goes on when there is room.

use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use testkit::web::{Answer, Ask};
use testkit::world::{Disk, World, breathe, fill};

const PAGES: usize = 200;

/// What does not get smaller by packing.
fn noise(seed: usize) -> Vec<u8> {
    let mut state = seed as u64 * 2 + 1;
    let mut next = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (state >> 56) as u8
    };
    (0..64 << 10).map(|_| next()).collect()
}

fn page(number: usize) -> Answer {
    let next = (number + 1..number + 4).filter(|next| *next < PAGES);
    let links: String = next.map(|next| format!("<a href='/{next}'>next</a>")).collect();
    // The one that finds no room is too large to be held in memory.
    let times = if number == PAGES / 2 { 32 } else { 1 };
    Answer::html([links.as_bytes(), b"<!--", &noise(number).repeat(times)].concat())
}

/// One at a time, what finds no room is alone in its batch; with more, it comes together with what
/// is archived.
#[test]
fn a8_f7_a_full_disk_ends_the_harvest_and_loses_nothing() {
    for parallel in ["1", "4"] {
        fill_and_go_on(parallel);
    }
}

fn fill_and_go_on(parallel: &str) {
    let place = TempDir::new().unwrap();
    let Some(_disk) = Disk::mount(place.path(), "100m") else {
        eprintln!("skipped: no file system can be mounted here");
        return;
    };
    let ballast = place.path().join("ballast");
    let filling = Arc::new(Mutex::new(ballast.clone()));
    let filled = Arc::clone(&filling);
    let site = move |ask: &Ask| match ask.path[1..].parse::<usize>() {
        Ok(number) if number < PAGES => {
            // In the middle of the run somebody else takes the rest, so that any write may fail.
            if number == PAGES / 2 && ask.nth == 0 {
                fill(&filled.lock().unwrap());
            }
            page(number)
        }
        _ => Answer::not_found(),
    };
    let world = World::new_in(place.path(), crate::SKURD, site);
    let args = ["http://a.test/0", "--delay", "0s", "--parallel", parallel];
    world.crawl(&args).assert_full();
    // It may have ended before the last of the room was taken.
    drop(filling.lock().unwrap());
    // Once more without room, it must not get worse.
    world.crawl(&args).assert_full();
    // Room, but for the harvest to go on to the store's reserve only.
    std::fs::write(&ballast, vec![0; 25 << 20]).unwrap();
    world.crawl(&args).assert_full();

    std::fs::remove_file(&ballast).unwrap();
    let told = world.crawl(&args);
    assert_eq!(told.code, Some(0), "{told:?}");
    let mut urls: Vec<String> =
        world.captures().iter().map(|capture| capture["url"].as_str().unwrap().to_owned()).collect();
    urls.sort();
    let mut expected: Vec<String> = (0..PAGES).map(|number| format!("http://a.test/{number}")).collect();
    expected.sort();
    assert_eq!(urls, expected);
    world.check();
}

/// With a floor, the same harvest waits for room instead, and goes on by itself.
#[test]
fn i9_below_its_floor_a_harvest_waits_for_room_and_goes_on() {
    let place = TempDir::new().unwrap();
    let Some(_disk) = Disk::mount(place.path(), "150m") else {
        eprintln!("skipped: no file system can be mounted here");
        return;
    };
    let ballast = place.path().join("ballast");
    let filling = ballast.clone();
    let site = move |ask: &Ask| match ask.path[1..].parse::<usize>() {
        Ok(number) if number < PAGES => {
            if number == 20 && ask.nth == 0 {
                std::fs::write(&filling, vec![0; 80 << 20]).unwrap();
            }
            page(number)
        }
        _ => Answer::not_found(),
    };
    let world = World::new_in(place.path(), crate::SKURD, site);
    let run = world.start(&["http://a.test/0", "--delay", "20ms", "--disk-floor", "70MB"]);
    while !run.told().err.contains("70.0 MB are to stay free (--disk-floor): nothing is harvested") {
        assert!(run.is_running(), "{:?}", run.told());
        breathe();
    }
    // What was under way comes home, and then nothing is asked for.
    let asked = loop {
        let before = world.web().count();
        (0..30).for_each(|_| breathe());
        if world.web().count() == before {
            break before;
        }
    };
    assert!(asked < PAGES, "{asked}");
    std::fs::remove_file(&ballast).unwrap();
    let told = run.end();
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(told.err.contains("there is room again"), "{}", told.err);
    assert_eq!(world.captures().len(), PAGES);
    world.check();
}
