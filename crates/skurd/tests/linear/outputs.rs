//! What is written besides the archive (L13): whole after any kill, and nothing twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use testkit::web::Answer;
use testkit::world::{World, json_lines};

use crate::walker::{Walker, existing, number};

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect()
}

fn lines(world: &World, file: &str) -> Vec<Value> {
    json_lines(&fs::read_to_string(world.dir.path().join(file)).unwrap())
}

#[test]
fn l13_each_id_that_exists_has_its_file_and_its_line() {
    let world = World::new(crate::SKURD, |ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        path => match number(path) {
            1 => Answer::html("<p>one</p>"),
            2 => Answer::not_found(),
            3 => {
                let mut packed = GzEncoder::new(Vec::new(), Compression::default());
                packed.write_all(b"{\"three\": 3}").unwrap();
                let headers = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")];
                Answer::of(200, &headers, packed.finish().unwrap())
            }
            4 => Answer::raw(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nfo\r\n2\r\nur\r\n0\r\n\r\n",
            ),
            _ => Answer::of(200, &[], "whatever"),
        },
    });
    let args =
        ["http://a.test/n/{id}", "--min", "1", "--max", "5", "--files", "out/pages", "--jsonl", "ids.jsonl"];
    world.walk(&args);
    let expected =
        [("1.html", "<p>one</p>"), ("3.json", "{\"three\": 3}"), ("4.txt", "four"), ("5.bin", "whatever")];
    let expected: BTreeMap<String, Vec<u8>> =
        expected.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
    assert_eq!(files(&world.dir.path().join("out/pages")), expected);
    let lines = lines(&world, "ids.jsonl");
    let ids: Vec<u64> = lines.iter().map(|line| line["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [1, 3, 4, 5]);
    for (line, (_, capture)) in lines.iter().zip(world.archived().iter().filter(|(id, _)| *id != 2)) {
        let of_capture = json!({
            "walk": "http://a.test/n/{id}", "id": line["id"], "url": capture["url"], "status": capture["status"],
            "digest": capture["digest"], "time": capture["time"],
        });
        assert_eq!(*line, of_capture);
    }
}

#[test]
fn l13_outputs_are_whole_after_kills() {
    const IDS: u64 = 700;
    let world = existing(|id| !id.is_multiple_of(5));
    let max = IDS.to_string();
    let args = [
        "http://a.test/{id}",
        "--min",
        "1",
        "--max",
        &max,
        "--parallel",
        "4",
        "--files",
        "pages",
        "--jsonl",
        "ids.jsonl",
    ];
    let path = world.dir.path().join("ids.jsonl");
    for kill in 0..4 {
        let run = world.start_linear(&[&args[..], &["--delay", "0"]].concat());
        world.web().wait_for(world.web().count() + 60 + 30 * kill);
        run.kill();
        // As if it had been killed a little earlier, or while it wrote.
        let mut text = fs::read(&path).unwrap_or_default();
        match kill {
            1 => text.extend_from_slice(b"{\"walk\":\"http://a.test/{id}\",\"id\":12"),
            2 => text.truncate(text.len() / 2),
            _ => {}
        }
        fs::write(&path, text).unwrap();
        if kill == 2 {
            for name in files(&world.dir.path().join("pages")).keys().take(20) {
                fs::remove_file(world.dir.path().join("pages").join(name)).unwrap();
            }
            fs::write(world.dir.path().join("pages/.9.html.part"), "half").unwrap();
        }
    }
    world.walk(&args);
    let exist: BTreeSet<u64> = (1..=IDS).filter(|id| !id.is_multiple_of(5)).collect();
    let ids: Vec<u64> = lines(&world, "ids.jsonl").iter().map(|line| line["id"].as_u64().unwrap()).collect();
    assert_eq!(
        (ids.len(), ids.into_iter().collect::<BTreeSet<u64>>()),
        (exist.len(), exist.clone()),
        "each once"
    );
    let expected: BTreeMap<String, Vec<u8>> =
        exist.iter().map(|id| (format!("{id}.html"), format!("<h1>a.test/{id}</h1>").into_bytes())).collect();
    assert_eq!(files(&world.dir.path().join("pages")), expected);
    world.check();
}

#[test]
fn l13_several_walks_keep_apart_what_they_write() {
    let world = existing(|_| true);
    let args = ["http://a.test/{id}", "http://b.test/{id}", "--min", "1", "--max", "3"];
    world.walk(&[&args[..], &["--files", "all", "--jsonl", "all.jsonl"]].concat());
    let dirs: Vec<_> =
        fs::read_dir(world.dir.path().join("all")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(dirs.len(), 2);
    assert!(dirs.iter().all(|dir| files(dir).len() == 3));
    assert_eq!(lines(&world, "all.jsonl").len(), 6);
    // Asked for later, they are made from the archive.
    let again = world.walk(&[&args[..], &["--files", "a", "--files", "b"]].concat());
    assert_eq!(again.fetches.len(), 0);
    assert_eq!(files(&world.dir.path().join("b"))["2.html"], b"<h1>b.test/2</h1>");
}

#[test]
fn l13_a_file_of_somebody_else_is_left_alone() {
    let world = existing(|_| true);
    world.write("mine.txt", "my notes\nmore of them");
    let told = world.linear(&["http://a.test/{id}", "--min", "1", "--max", "3", "--jsonl", "mine.txt"]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(
        told.err.contains("cannot go on with mine.txt: line 1 was not written by a walk\nhint: "),
        "{}",
        told.err
    );
    assert_eq!(fs::read_to_string(world.dir.path().join("mine.txt")).unwrap(), "my notes\nmore of them");
    assert_eq!(world.web().count(), 0);
    let none =
        world.linear(&["http://a.test/{id}", "--min", "1", "--max", "3", "--files", "x", "--warc", "none"]);
    assert_eq!(
        (none.code, none.err.as_str()),
        (Some(2), "error: --warc: --files and --jsonl are made from the archive; it takes gzip or zstd\n")
    );
}
