//! B18: a disk that runs full in mid-page, on which the browser lives too: the harvest says so and
//! ends, nothing is half there, and it goes on when there is room.

use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use testkit::web::Ask;
use testkit::world::{Disk, World, fill};

use crate::has_browser;
use crate::parts::{self, Pages};

/// Requests after which somebody else takes all the room: of a document, of a part, of a picture.
const MOMENTS: [(&str, &str); 3] = [("h0.test", "/p2"), ("h1.test", "/p1.b"), ("h1.test", "/p3.png")];

#[test]
fn b18_a_full_disk_in_mid_page_ends_the_harvest_and_leaves_nothing_half_there() {
    if !has_browser() {
        return;
    }
    for moment in MOMENTS {
        fill_and_go_on(moment);
    }
}

fn fill_and_go_on((host, path): (&'static str, &'static str)) {
    let place = TempDir::new().unwrap();
    let Some(_disk) = Disk::mount(place.path(), "200m") else {
        eprintln!("skipped: no file system can be mounted here");
        return;
    };
    let ballast = place.path().join("ballast");
    let filling = Arc::new(Mutex::new(ballast.clone()));
    let filled = Arc::clone(&filling);
    let site = move |ask: &Ask| {
        if (ask.host.as_str(), ask.path.as_str()) == (host, path) && ask.nth == 0 {
            fill(&filled.lock().unwrap());
        }
        parts::site(ask)
    };
    let mut pages = Pages::new(World::new_in(place.path(), crate::SKURD, site), 2);
    let args = ["c.yaml", "--until-done"];
    pages.world.crawl(&args).assert_full();
    // It may have ended before the last of the room was taken.
    drop(filling.lock().unwrap());
    // Once more without room, it must not get worse.
    pages.world.crawl(&args).assert_full();
    std::fs::remove_file(&ballast).unwrap();
    pages.check();
    let told = pages.world.crawl(&args);
    assert_eq!(told.code, Some(0), "{told:?}");
    pages.end();
}
