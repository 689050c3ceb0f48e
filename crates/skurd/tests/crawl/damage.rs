//! A13, A14: whatever becomes of the store or of files of the archive, no archived byte goes, what
//! is wrong is told, and the harvest goes on: by itself, or after `skurd archive adopt`.
//!
//! One data directory is made, once: four collections (spelled alike, two by two), a run that ended
//! well, and one that was killed. Each case takes a copy of it, damages it, and holds what follows
//! against the records that were there, which a small reader of its own ([`crate::members`]) finds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;
use testkit::web::{Answer, Ask};
use testkit::world::{Run, Told, World, json_lines};

use crate::members::{Member, members};

const PAGES: usize = 40;
/// Each with a host of its own.
const COLLECTIONS: [&str; 4] = ["a/b", "a_b", "bø", "bå"];

fn site(ask: &Ask) -> Answer {
    let number = ask.path[1..].parse::<usize>().ok().filter(|number| *number < PAGES);
    let Some(number) = number else { return Answer::not_found() };
    let next = [2 * number + 1, 2 * number + 2].into_iter().filter(|to| *to < PAGES);
    let links: String = next.map(|to| format!("<a href='/{to}'>x</a>")).collect();
    // So that a kill finds something under way.
    let pause = Duration::from_millis(40);
    Answer::html(format!("{links} {number} {}", "filling ".repeat(number * 7))).after(pause)
}

fn config() -> String {
    let mut text =
        "settings: {politeness: {factor: 0, min: 0s, max: 0s, parallel: 2}}\ncollections:\n".to_owned();
    for name in COLLECTIONS {
        text += &format!("  - {{name: '{name}', index: no}}\n");
    }
    text += "profiles:\n";
    for (at, name) in COLLECTIONS.iter().enumerate() {
        text += &format!("  - {{name: p{at}, collection: '{name}', every: 1d, length: 1, robots: ignore}}\n");
    }
    text += "seeds:\n";
    for at in 0..COLLECTIONS.len() {
        text += &format!("  - {{url: 'http://h{at}.test/0', profiles: [p{at}]}}\n");
    }
    text
}

/// The directory that all cases begin with.
struct Base {
    world: World,
    /// The store after the run that ended well.
    older: PathBuf,
    /// The captures when the other one was killed.
    captures: Vec<Value>,
    members: BTreeMap<String, Member>,
    /// Records that were written and never committed.
    in_hand: BTreeSet<String>,
}

static BASE: LazyLock<Base> = LazyLock::new(|| {
    let world = World::new(crate::SKURD, site);
    world.write("c.yaml", &config());
    assert_eq!(world.crawl(&["c.yaml", "--max-urls", "60"]).code, Some(0));
    let older = world.dir.path().join("older");
    copy(&world.data().join("store"), &older);
    let before = world.web().count();
    let run = world.start(&["c.yaml"]);
    world.web().wait_for(before + 40);
    // Less than a tenth of a second is what a power cut may take.
    while certain(&world) < 2 {
        world.web().wait_for(world.web().count() + 1);
    }
    run.kill();
    // Looking at it opens the store, and the cases are to find it as it was left.
    let seen = Case::of(&world);
    let captures = json_lines(&seen.good(&["captures", "--json"]));
    let members = members(&world.data().join("warc"));
    let in_hand = in_hand(&members, &captures);
    assert!(members.len() - in_hand.len() > 200, "{} records", members.len());
    Base { older, captures, members, in_hand, world }
});

/// How many numbers the journal of the archive has called certain.
fn certain(world: &World) -> usize {
    let journal = fs::read_to_string(world.data().join("warc/.journal")).unwrap_or_default();
    let words = journal.lines().filter_map(|line| line.split(' ').skip_while(|w| *w != "certain").nth(1));
    words.collect::<BTreeSet<_>>().len()
}

/// What follows the last capture that the store knows, file by file.
fn in_hand(members: &BTreeMap<String, Member>, captures: &[Value]) -> BTreeSet<String> {
    let known: BTreeSet<(&str, u64)> = captures
        .iter()
        .map(|capture| (capture["file"].as_str().unwrap(), capture["offset"].as_u64().unwrap()))
        .collect();
    let mut by_file: BTreeMap<&str, Vec<&Member>> = BTreeMap::new();
    members.values().for_each(|member| by_file.entry(&member.file).or_default().push(member));
    let mut in_hand = BTreeSet::new();
    for (file, mut members) in by_file {
        members.sort_by_key(|member| member.offset);
        let complete = file.trim_end_matches(".open");
        let is_known = |member: &Member| !member.is_capture() || known.contains(&(complete, member.offset));
        let last = members.iter().skip_while(|member| is_known(member));
        in_hand.extend(last.map(|member| member.id.clone()));
    }
    in_hand
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// A copy of the base with something done to it.
struct Case<'a> {
    dir: TempDir,
    world: &'a World,
}

impl<'a> Case<'a> {
    fn of(world: &'a World) -> Case<'a> {
        let dir = TempDir::new().unwrap();
        copy(&world.data(), &dir.path().join("skurd-data"));
        fs::copy(world.dir.path().join("c.yaml"), dir.path().join("c.yaml")).unwrap();
        Case { dir, world }
    }

    fn store(&self) -> PathBuf {
        self.dir.path().join("skurd-data/store")
    }

    fn warc(&self) -> PathBuf {
        self.dir.path().join("skurd-data/warc")
    }

    /// The first file that is complete, or that is open.
    fn file(&self, suffix: &str) -> PathBuf {
        let files = fs::read_dir(self.warc()).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.to_str().unwrap().ends_with(suffix)).min().unwrap()
    }

    fn skurd(&self, args: &[&str]) -> Told {
        Run::of(crate::SKURD, self.dir.path(), args).end()
    }

    fn good(&self, args: &[&str]) -> String {
        let told = self.skurd(args);
        assert_eq!(told.code, Some(0), "{args:?}: {told:?}");
        told.out
    }

    /// Harvests what is left.
    fn crawl(&self) -> Told {
        self.crawl_as(&["--until-done"])
    }

    fn crawl_as(&self, args: &[&str]) -> Told {
        let way = self.world.way();
        let way: Vec<&str> = way.iter().map(String::as_str).collect();
        self.skurd(&[&["crawl", "c.yaml"], args, &way[..]].concat())
    }
}

/// What a case does, and what is to follow.
struct Expected {
    name: &'static str,
    damage: fn(&Case<'_>),
    /// The first start stops, and adopting lets the next go on.
    stops: bool,
    /// What the first start says.
    says: &'static str,
    /// What `archive check` says when all is done: nothing if it is sound.
    check: &'static str,
}

const STORE: &[Expected] = &[
    Expected { name: "nothing at all", damage: |_| {}, stops: false, says: "", check: "" },
    Expected {
        name: "an older copy of the store",
        damage: |case| {
            fs::remove_dir_all(case.store()).unwrap();
            copy(&BASE.older, &case.store());
        },
        stops: true,
        says: "knows less than its archive",
        check: "",
    },
    Expected {
        name: "the store's journal cut to its half",
        damage: |case| cut(&journal_of(case), 2),
        stops: true,
        says: "",
        check: "",
    },
    Expected {
        name: "the store's journal emptied",
        damage: |case| fs::write(journal_of(case), "").unwrap(),
        stops: true,
        says: "",
        check: "",
    },
    Expected {
        name: "the store's journal deleted",
        damage: |case| fs::remove_file(journal_of(case)).unwrap(),
        stops: true,
        says: "",
        check: "",
    },
    Expected {
        name: "the store deleted",
        damage: |case| fs::remove_dir_all(case.store()).unwrap(),
        stops: true,
        says: "skurd archive adopt",
        check: "",
    },
    Expected {
        name: "the store deleted, with its format",
        damage: |case| {
            fs::remove_dir_all(case.store()).unwrap();
            fs::remove_file(case.dir.path().join("skurd-data/FORMAT")).unwrap();
        },
        stops: true,
        says: "skurd archive adopt",
        check: "",
    },
    Expected {
        name: "a store that never had an archive",
        damage: |case| {
            let other = TempDir::new().unwrap();
            Run::of(crate::SKURD, other.path(), &["start"]).end();
            fs::write(other.path().join("c.yaml"), config()).unwrap();
            Run::of(crate::SKURD, other.path(), &["config", "apply", "c.yaml"]).end();
            fs::remove_dir_all(case.store()).unwrap();
            copy(&other.path().join("skurd-data/store"), &case.store());
        },
        stops: true,
        says: "it is a new one, or was emptied",
        check: "",
    },
    Expected {
        // As somebody leaves it who is killed while he adopts: what is left is still recognised,
        // and not taken for nobody's.
        name: "an older copy of the store, and one file adopted by now",
        damage: |case| {
            fs::remove_dir_all(case.store()).unwrap();
            copy(&BASE.older, &case.store());
            let file = case.file(".open");
            case.good(&["archive", "adopt", file.file_name().unwrap().to_str().unwrap()]);
        },
        stops: true,
        says: "it was cut off, or is an older copy",
        check: "",
    },
    Expected {
        name: "an older copy of the store, and the archive's journal gone",
        damage: |case| {
            fs::remove_dir_all(case.store()).unwrap();
            copy(&BASE.older, &case.store());
            fs::remove_file(case.warc().join(".journal")).unwrap();
        },
        stops: true,
        says: "the archive's own journal is gone",
        check: "",
    },
];

const FILES: &[Expected] = &[
    Expected {
        name: "a complete file deleted",
        damage: |case| fs::remove_file(case.file(".warc.gz")).unwrap(),
        stops: false,
        says: "1 file of the archive, with",
        check: "are not what they were",
    },
    Expected {
        name: "a complete file cut to its half",
        damage: |case| cut(&case.file(".warc.gz"), 2),
        stops: false,
        says: "bytes and had",
        check: "are not what they were",
    },
    Expected {
        name: "a complete file zeroed in the middle",
        damage: |case| {
            let file = case.file(".warc.gz");
            let mut bytes = fs::read(&file).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle..middle + 600].fill(0);
            fs::write(&file, bytes).unwrap();
        },
        stops: false,
        says: "",
        check: "are not what they were",
    },
    Expected {
        name: "a complete file under another name",
        damage: |case| {
            let file = case.file(".warc.gz");
            fs::rename(&file, file.with_file_name("another.warc.gz")).unwrap();
        },
        stops: false,
        says: "another.warc.gz is not known to the store: it was set aside as another.warc.gz.aside",
        check: "",
    },
    Expected {
        name: "an open file with something behind it",
        // More than a batch could have been.
        damage: |case| append(&case.file(".open"), &b"this is no record".repeat(30_000)),
        stops: false,
        says: "set aside as",
        check: "",
    },
    Expected {
        name: "an open file cut to its half",
        damage: |case| cut(&case.file(".open"), 2),
        stops: false,
        says: "bytes and had",
        check: "are not what they were",
    },
    Expected {
        name: "an open file deleted",
        damage: |case| fs::remove_file(case.file(".open")).unwrap(),
        stops: false,
        says: "is missing",
        check: "are not what they were",
    },
    Expected {
        name: "an open file zeroed in the middle, and an older store",
        damage: |case| {
            let file = case.file(".open");
            let mut bytes = fs::read(&file).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle..middle + 300].fill(0);
            fs::write(&file, bytes).unwrap();
            fs::remove_dir_all(case.store()).unwrap();
            copy(&BASE.older, &case.store());
        },
        stops: true,
        says: "knows less than its archive",
        check: "not sound",
    },
    Expected {
        name: "files of somebody else",
        damage: |case| {
            fs::write(case.warc().join("begun.warc.gz.open"), somebody_elses()).unwrap();
            fs::write(case.warc().join("empty.warc.gz.open"), "").unwrap();
        },
        stops: false,
        says: "begun.warc.gz.open is not known to the store: it was set aside as begun.warc.gz.aside",
        check: "",
    },
];

/// A file with one capture that this archive never wrote.
fn somebody_elses() -> Vec<u8> {
    let body = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nelsewhere";
    let sum = net::warc::Digest::of(b"elsewhere");
    let info = "isPartOf: a/b\r\n";
    let records = [
        format!(
            "WARC-Type: warcinfo\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nContent-Type: application/warc-fields\r\nContent-Length: {}\r\n\r\n{info}",
            info.len()
        ),
        format!(
            "WARC-Type: response\r\nWARC-Record-ID: <urn:x:2>\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Target-URI: http://h0.test/0\r\nWARC-Payload-Digest: {sum}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ),
    ];
    let pack = |record: &String| {
        let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(format!("WARC/1.1\r\n{record}\r\n\r\n").as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    records.iter().flat_map(pack).collect()
}

fn journal_of(case: &Case<'_>) -> PathBuf {
    let files = fs::read_dir(case.store()).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "jnl")).max().unwrap()
}

fn cut(path: &Path, parts: u64) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(file.metadata().unwrap().len() / parts).unwrap();
}

fn append(path: &Path, bytes: &[u8]) {
    let whole = [fs::read(path).unwrap(), bytes.to_vec()].concat();
    fs::write(path, whole).unwrap();
}

#[test]
fn a13_whatever_becomes_of_the_store_no_archived_byte_goes_and_all_captures_come_back() {
    STORE.iter().for_each(follow);
}

#[test]
fn a13_a14_whatever_becomes_of_the_files_what_is_left_stays_and_is_told() {
    FILES.iter().for_each(follow);
}

/// Does the damage, and follows what the binary makes of it.
fn follow(expected: &Expected) {
    let Expected { name, damage, stops, says, check } = expected;
    let case = Case::of(&BASE.world);
    damage(&case);
    let left = members(&case.warc());

    let first = case.crawl();
    assert_eq!(first.code, Some(i32::from(*stops)), "{name}: {first:?}");
    assert!(first.err.contains(says), "{name}: {}", first.err);
    assert!(!first.err.contains("panicked"), "{name}: {}", first.err);
    nothing_is_gone(name, &case, &left, !stops);
    if *stops {
        assert!(first.err.contains("hint: "), "{name}: {}", first.err);
        assert_eq!(members(&case.warc()), left, "{name}: a start that stops changes nothing");
        // A store that cannot be read at all has to be put away first.
        if !first.err.contains("skurd archive adopt") {
            assert!(first.err.contains("cannot open the store"), "{name}: {}", first.err);
            fs::remove_dir_all(case.store()).unwrap();
        }
    }
    for _ in 0..2 {
        case.good(&["archive", "adopt"]);
        nothing_is_gone(name, &case, &left, !stops);
    }
    captures_are_back(name, &case, &left);
    let second = case.crawl();
    assert_eq!(second.code, Some(0), "{name}: {second:?}");
    let cut = second.err.contains("cut off") && !second.err.contains(" 0 bytes that");
    let again = cut || ["set aside", "read back", "not known"].iter().any(|word| second.err.contains(word));
    assert!(!again, "{name}, the second time: {}", second.err);
    nothing_is_gone(name, &case, &left, !stops);
    captures_are_back(name, &case, &left);
    whole_harvest(name, &case);
    let checked = case.skurd(&["archive", "check"]);
    assert_eq!(checked.code, Some(i32::from(!check.is_empty())), "{name}: {checked:?}");
    assert!(checked.err.contains(check), "{name}: {checked:?}");
}

/// Every record that was there is there, but for the batch in hand where the store knows of it.
fn nothing_is_gone(name: &str, case: &Case<'_>, left: &BTreeMap<String, Member>, knows: bool) {
    let now = members(&case.warc());
    let gone: Vec<&Member> = left
        .values()
        .filter(|member| !(now.contains_key(&member.id) || knows && BASE.in_hand.contains(&member.id)))
        .collect();
    assert!(gone.is_empty(), "{name}: {} records are gone: {gone:#?}", gone.len());
}

/// Every capture whose record the damage left is there, in its collection, and points to that very
/// record.
fn captures_are_back(name: &str, case: &Case<'_>, left: &BTreeMap<String, Member>) {
    let now = members(&case.warc());
    let at: BTreeMap<(&str, u64), &Member> =
        now.values().map(|member| ((member.file.trim_end_matches(".open"), member.offset), member)).collect();
    let owners: BTreeMap<&str, &str> = now
        .values()
        .filter_map(|member| Some((member.file.trim_end_matches(".open"), member.part_of.as_deref()?)))
        .collect();
    let captures = json_lines(&case.good(&["captures", "--json"]));
    let mut found: BTreeMap<&str, &Value> = BTreeMap::new();
    for capture in &captures {
        let file = capture["file"].as_str().unwrap();
        let Some(member) = at.get(&(file, capture["offset"].as_u64().unwrap())) else { continue };
        assert_eq!(capture["length"].as_u64(), Some(member.length), "{name}: {capture}");
        assert_eq!(capture["url"].as_str(), Some(member.url.as_str()), "{name}: {capture}");
        assert_eq!(capture["collection"].as_str(), owners.get(file).copied(), "{name}: {capture}");
        assert!(found.insert(&member.id, capture).is_none(), "{name}: twice: {capture}");
    }
    let base: BTreeMap<(&str, u64), &Member> =
        BASE.members.values().map(|m| ((m.file.trim_end_matches(".open"), m.offset), m)).collect();
    for was in &BASE.captures {
        let member = base[&(was["file"].as_str().unwrap(), was["offset"].as_u64().unwrap())];
        if !left.contains_key(&member.id) {
            continue;
        }
        let now = found.get(member.id.as_str()).unwrap_or_else(|| panic!("{name}: lost: {was}"));
        for field in ["collection", "url", "time", "status", "mime", "digest", "revisit", "length"] {
            assert_eq!(now[field], was[field], "{name}: {field} of {was}");
        }
    }
}

/// In the end every page was harvested for its collection, and nothing of another is in its files.
fn whole_harvest(name: &str, case: &Case<'_>) {
    let captures = json_lines(&case.good(&["captures", "--json"]));
    for (at, collection) in COLLECTIONS.iter().enumerate() {
        let urls: BTreeSet<&str> = captures
            .iter()
            .filter(|capture| capture["collection"] == *collection)
            .map(|capture| capture["url"].as_str().unwrap())
            .filter(|url| url.starts_with("http"))
            .collect();
        let expected: BTreeSet<String> = (0..PAGES).map(|page| format!("http://h{at}.test/{page}")).collect();
        assert_eq!(urls, expected.iter().map(String::as_str).collect(), "{name}: {collection}");
    }
}

/// What was certain when the journal was begun.
fn first_certain(journal: &str) -> u64 {
    journal.lines().find_map(|line| line.strip_prefix("certain ")?.split(' ').next()?.parse().ok()).unwrap()
}

/// The journal as a power cut would have left it: nothing after the run that ended well is certain,
/// and the machine was started anew.
fn uncertain(journal: &str, certain: u64) -> String {
    let mut text = String::new();
    for line in journal.lines().map(|line| line.rsplit_once(" #").unwrap().0) {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        if let Some(at) = words.iter().position(|word| word == "certain") {
            words[at + 1] = certain.to_string();
        }
        if words[0] == "boot" {
            words[1] = "of-another-day".to_owned();
        }
        let line = words.join(" ");
        let mut sum = flate2::Crc::new();
        sum.update(line.as_bytes());
        text += &format!("{line} #{:08x}\n", sum.sum());
    }
    text
}

/// A13: what a power cut took back from the store is read back by itself, also from files that were
/// completed in those moments.
#[test]
fn a13_a_power_cut_that_takes_the_last_moments_from_the_store_takes_no_bytes() {
    for complete in [false, true] {
        let name = if complete { "completed meanwhile" } else { "still open" };
        let case = Case::of(&BASE.world);
        if complete {
            // Goes on from the kill, and ends well.
            assert_eq!(case.crawl().code, Some(0));
        }
        let left = members(&case.warc());
        let journal = fs::read_to_string(BASE.world.data().join("warc/.journal")).unwrap();
        let certain = first_certain(&journal);
        let now = fs::read_to_string(case.warc().join(".journal")).unwrap();
        fs::write(case.warc().join(".journal"), uncertain(&format!("{journal}{}", later(&now)), certain))
            .unwrap();
        fs::remove_dir_all(case.store()).unwrap();
        copy(&BASE.older, &case.store());

        let told = case.crawl();
        assert_eq!(told.code, Some(0), "{name}: {told:?}");
        assert!(told.err.contains("were read back from the archive"), "{name}: {}", told.err);
        nothing_is_gone(name, &case, &left, true);
        captures_are_back(name, &case, &left);
        whole_harvest(name, &case);
        case.good(&["archive", "check"]);
        let again = case.crawl();
        assert_eq!((again.code, again.err.contains("read back")), (Some(0), false), "{name}: {again:?}");
    }
}

/// A13: batches are counted on from what the store that was put back had. A copy from before, with
/// as many of them, is still not the store that the archive was written with.
#[test]
fn a13_a_copy_from_before_captures_were_read_back_is_recognised_whatever_it_counts() {
    let put_back = |case: &Case<'_>, store: &Path| {
        fs::remove_dir_all(case.store()).unwrap();
        copy(store, &case.store());
    };
    for power_cut in [false, true] {
        let case = Case::of(&BASE.world);
        let journal = case.warc().join(".journal");
        match power_cut {
            // Only the last moments are gone, and a start reads them back by itself.
            true => {
                let text = fs::read_to_string(&journal).unwrap();
                let first = first_certain(&text);
                fs::write(&journal, uncertain(&text, first)).unwrap();
                put_back(&case, &BASE.older);
            }
            false => {
                fs::remove_file(&journal).unwrap();
                put_back(&case, &BASE.older);
                assert_eq!(case.crawl().code, Some(1));
                case.good(&["archive", "adopt"]);
            }
        }
        let on = case.crawl_as(&["--max-urls", "5"]);
        assert_eq!(on.code, Some(0), "{on:?}");
        let left = members(&case.warc());
        // It has more batches than the archive knows of now.
        put_back(&case, &BASE.world.data().join("store"));
        let told = case.crawl();
        assert_eq!(told.code, Some(1), "{told:?}");
        assert!(told.err.contains("a copy from before captures were read back"), "{}", told.err);
        assert_eq!(members(&case.warc()), left, "nothing was changed");
        case.good(&["archive", "adopt"]);
        assert_eq!(case.crawl().code, Some(0));
        captures_are_back("put back twice", &case, &left);
    }
}

/// The batches of a journal, without what begins it.
fn later(journal: &str) -> String {
    journal.lines().skip(3).map(|line| format!("{line}\n")).collect()
}

/// A14: who deletes the archive under a harvest ends it before anything more is taken for archived.
#[test]
fn a14_an_archive_that_is_deleted_while_it_is_written_ends_the_harvest() {
    let world = World::new(crate::SKURD, site);
    world.write("c.yaml", &config());
    let run = world.start(&["c.yaml"]);
    world.web().wait_for(60);
    fs::remove_dir_all(world.data().join("warc")).unwrap();
    let asked = world.web().count();
    let told = run.end();
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.err.contains("was deleted while it was being written"), "{}", told.err);
    assert!(world.web().count() < asked + 40, "it went on for {} requests", world.web().count() - asked);
    let known = world.json(&["captures"]).len();
    assert!(known <= asked * 2, "{known} captures and {asked} requests");

    let quick = world.skurd(&["archive", "check", "--quick"]);
    assert_eq!(quick.code, Some(1), "{quick:?}");
    assert!(quick.out.lines().count() <= COLLECTIONS.len(), "{}", quick.out);
    assert!(quick.err.contains(&format!("{known} of {known} captures")), "{}", quick.err);
    let listed = world.skurd(&["archive", "check", "--json"]);
    let events = json_lines(&listed.out);
    assert_eq!(events.iter().filter(|event| event["event"] == "capture").count(), known);

    // The next start says so, and harvests what is left.
    let next = world.crawl(&["c.yaml", "--until-done"]);
    assert_eq!(next.code, Some(0), "{next:?}");
    let warning = format!("files of the archive, with {known} captures, are not what each was");
    assert!(next.err.contains(&warning), "{}", next.err);
    assert!(world.json(&["captures"]).len() > known);
}
