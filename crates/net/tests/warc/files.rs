//! Files on disk: names, batches, rolling, cutting back, recovery.

use std::fs;
use std::path::Path;

use net::warc::{
    Batch, Capture, Compression, Deed, Fields, FileError, FileSet, FileSettings, Held, Journal, Known, Part,
    Prepared, Stage, Standing, check, complete, cut_back, end_of, judge, remembered, set_aside,
    set_end_aside, survey, take_back,
};
use policy::time::{Span, Time};

use crate::make::{self, COMPRESSIONS, HEAD, NOON};

fn settings(dir: &Path, compression: Compression) -> FileSettings {
    let mut info = Fields::new();
    info.add("software", "Skurd").add("format", "WARC File Format 1.1");
    FileSettings {
        dir: dir.to_owned(),
        prefix: "t".into(),
        collection: "c".into(),
        host: "h".into(),
        compression,
        bytes_max: FileSettings::BYTES_MAX,
        age_max: FileSettings::AGE_MAX,
        info,
    }
}

fn group(compression: Compression, body: &[u8], dir: &Path) -> Prepared {
    let mut packer = make::packer(compression, 1 << 20, dir);
    let mut group = packer.group(None);
    group.exchange(&make::exchange("http://example.com/", HEAD, body), &Capture::default()).unwrap();
    group.finish()
}

/// In memory where that is possible: syncing thousands of times is no part of what is tested.
fn quick_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn sound_records(path: &Path) -> u64 {
    let report = check(path).unwrap();
    assert!(report.is_sound(), "{report:?}");
    report.records_total()
}

#[test]
fn a8_a_file_is_open_until_complete() {
    for compression in COMPRESSIONS {
        let dir = tempfile::tempdir().unwrap();
        let mut files = FileSet::new(settings(dir.path(), compression)).unwrap();
        files.begin(NOON).unwrap();
        let one = group(compression, b"1", dir.path());
        let first = files.append(&one).unwrap();
        let second = files.append(&one).unwrap();
        let end = files.sync().unwrap();
        assert_eq!(second.offset, first.offset + one.bytes.len());
        assert_eq!((end.end, end.entries), (second.offset + one.bytes.len(), 2));
        let name = format!("t-c-20240229123456789-00000-h{}", compression.suffix());
        assert_eq!((&*first.file, names(dir.path())), (name.as_str(), vec![format!("{name}.open")]));
        let open = dir.path().join(format!("{name}.open"));
        assert_eq!(fs::metadata(&open).unwrap().len(), end.end);
        assert_eq!(sound_records(&open), 5);
        files.close().unwrap();
        assert_eq!(names(dir.path()).join(" "), name);
        assert_eq!(sound_records(&dir.path().join(name)), 5);
        files.close().unwrap();
    }
}

#[test]
fn a8_files_roll_by_size_and_age_between_batches_only() {
    let dir = tempfile::tempdir().unwrap();
    let compression = Compression::Gzip(1);
    let one = group(compression, b"1", dir.path());
    let bytes_max = 1000 + one.bytes.len();
    let mut files = FileSet::new(FileSettings {
        bytes_max,
        age_max: Span::hours(1),
        ..settings(dir.path(), compression)
    })
    .unwrap();
    let mut batch = |now: Time, groups: usize| {
        files.begin(now).unwrap();
        let places: Vec<_> = (0..groups).map(|_| files.append(&one).unwrap().file).collect();
        assert!(places.iter().all(|place| *place == places[0]));
        files.sync().unwrap();
        places[0].clone()
    };
    let first = batch(NOON, 1);
    assert_eq!(batch(NOON.plus(Span(1)), 20), first);
    let second = batch(NOON.plus(Span(2)), 1);
    assert_ne!(second, first);
    assert_eq!(batch(NOON.plus(Span::minutes(59)), 1), second);
    let third = batch(NOON.plus(Span::minutes(61)), 1);
    let expected = [first.to_string(), second.to_string(), format!("{third}.open")];
    assert_eq!(names(dir.path()), expected);
    for (name, records) in expected.iter().zip([1 + 21 * 2, 1 + 2 * 2, 1 + 2]) {
        assert_eq!(sound_records(&dir.path().join(name)), records);
    }
}

#[test]
fn a8_a_batch_that_was_not_committed_is_cut_back() {
    for compression in COMPRESSIONS {
        let dir = tempfile::tempdir().unwrap();
        let mut files = FileSet::new(settings(dir.path(), compression)).unwrap();
        let small = group(compression, b"1", dir.path());
        let noise: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(400_000).collect();
        let large = group(compression, &noise, dir.path());

        let mark = files.begin(NOON).unwrap();
        files.append(&large).unwrap();
        files.cut_back(&mark).unwrap();
        assert_eq!(names(dir.path()), [""; 0], "the file was of this batch");

        files.begin(NOON).unwrap();
        files.append(&small).unwrap();
        let committed = files.sync().unwrap();
        for _ in 0..2 {
            for lost in [vec![&small], vec![&large], vec![&small, &large, &small]] {
                let mark = files.begin(NOON).unwrap();
                for group in lost {
                    files.append(group).unwrap();
                }
                files.cut_back(&mark).unwrap();
            }
            let mark = files.begin(NOON).unwrap();
            files.append(&large).unwrap();
            files.sync().unwrap();
            files.cut_back(&mark).unwrap();
        }
        files.begin(NOON).unwrap();
        assert_eq!(files.append(&small).unwrap().offset, committed.end);
        assert_eq!(files.sync().unwrap().entries, 2, "what was cut off does not count");
        files.close().unwrap();
        assert_eq!(sound_records(&dir.path().join(&*committed.file)), 5);
        assert!(matches!(files.cut_back(&mark), Err(FileError::StrangeMark)));
    }
}

#[test]
fn a8_after_a_full_disk_the_batch_is_cut_back_and_another_file_begun() {
    let dir = tempfile::tempdir().unwrap();
    let compression = Compression::None;
    let name = "t-c-20240229123456789-00000-h.warc";
    std::os::unix::fs::symlink("/dev/full", dir.path().join(format!("{name}.open"))).unwrap();
    let mut files = FileSet::new(settings(dir.path(), compression)).unwrap();
    files.resume(name, 0).unwrap();
    let mark = files.begin(NOON).unwrap();
    let small = group(compression, b"1", dir.path());
    files.append(&small).unwrap();
    let full = files.sync().unwrap_err();
    let text = format!("{full}: {}", std::error::Error::source(&full).unwrap());
    assert!(text.starts_with("writing /") && text.contains("No space left"), "{text}");
    assert!(matches!(files.append(&small), Err(FileError::NotCutBack)));
    assert!(matches!(files.begin(NOON), Err(FileError::NotCutBack)));
    assert!(matches!(files.close(), Err(FileError::NotCutBack)));
    files.cut_back(&mark).unwrap();
    files.begin(NOON).unwrap();
    let place = files.append(&small).unwrap();
    files.close().unwrap();
    assert_eq!(sound_records(&dir.path().join(&*place.file)), 3);
}

#[test]
fn a8_wherever_a_crash_cuts_the_file_ends_at_the_last_commit() {
    for compression in COMPRESSIONS {
        let dir = quick_dir();
        let mut files = FileSet::new(settings(dir.path(), compression)).unwrap();
        files.begin(NOON).unwrap();
        let one = group(compression, b"1", dir.path());
        files.append(&one).unwrap();
        let committed = files.sync().unwrap();
        files.begin(NOON).unwrap();
        files.append(&one).unwrap();
        let end = files.sync().unwrap().end;
        let open = dir.path().join(format!("{}.open", committed.file));
        let all = fs::read(&open).unwrap();
        let part = Part { file: committed.file.to_string(), begin: committed.end, end };
        let batch = Batch { number: 2, parts: vec![part], settled: false };
        let mut journal = Journal::begin(dir.path(), 7, 1).unwrap();
        journal.batch(batch, 1).unwrap();
        drop(files);

        for cut in 0..=all.len() {
            fs::write(&open, &all[..cut]).unwrap();
            let (cut, kept) = (cut as u64, committed.end);
            let expected = match cut.cmp(&kept) {
                std::cmp::Ordering::Less => Deed::Short { known: kept },
                std::cmp::Ordering::Equal => Deed::Nothing,
                std::cmp::Ordering::Greater => Deed::CutBack { to: kept },
            };
            let known = |name: &str| (name == &*committed.file).then_some(Known { end: kept });
            let store = Standing { id: Some(7), batch: 1 };
            let remembered = remembered(dir.path()).unwrap();
            let deeds = judge(&survey(dir.path()).unwrap(), known, store, remembered.as_ref()).unwrap();
            assert_eq!(deeds, [expected]);
            if let Deed::CutBack { to } = deeds[0] {
                cut_back(dir.path(), &committed.file, to).unwrap();
            }
            assert_eq!(fs::metadata(&open).unwrap().len(), cut.min(kept));
        }
        assert_eq!(fs::read(&open).unwrap(), &all[..usize::try_from(committed.end).unwrap()]);
        assert_eq!(sound_records(&open), 3);

        let mut files = FileSet::new(settings(dir.path(), compression)).unwrap();
        files.resume(&committed.file, 1).unwrap();
        assert!(files.warcinfo_id().is_some_and(|id| id.starts_with("<urn:uuid:")));
        files.begin(NOON.plus(Span(1))).unwrap();
        assert_eq!(files.append(&one).unwrap().offset, committed.end);
        assert_eq!(files.sync().unwrap().entries, 2);
        files.close().unwrap();
        assert_eq!(sound_records(&dir.path().join(&*committed.file)), 5);
    }
}

#[test]
fn a13_what_nobody_knows_is_set_aside_and_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    for name in ["a.warc.gz.open", "b.warc", "c.warc.zst.aside", "e.open", "f.cdxj.open", ".journal"] {
        write(name, name);
    }
    let files = survey(dir.path()).unwrap();
    let found: Vec<_> = files.iter().map(|held| (held.name.as_str(), held.stage)).collect();
    assert_eq!(
        found,
        [("a.warc.gz", Stage::Open), ("b.warc", Stage::Complete), ("c.warc.zst", Stage::Aside)]
    );

    assert_eq!(set_aside(dir.path(), &files[0]).unwrap(), "a.warc.gz.aside");
    // The same once more, and once more beside a complete one.
    write("a.warc.gz.open", "again");
    assert_eq!(set_aside(dir.path(), &files[0]).unwrap(), "a-2.warc.gz.aside");
    write("b.warc.open", "open");
    let beside = Held { stage: Stage::Open, ..files[1].clone() };
    assert_eq!(set_aside(dir.path(), &beside).unwrap(), "b-2.warc.aside");
    assert_eq!(set_aside(dir.path(), &files[1]).unwrap(), "b.warc.aside");
    take_back(dir.path(), "b.warc").unwrap();
    write("b.warc.aside", "other");
    assert!(matches!(take_back(dir.path(), "b.warc"), Err(FileError::Exists(_))));

    write("d.warc.open", "0123456789");
    let held = Held { name: "d.warc".into(), stage: Stage::Open, bytes: 10 };
    assert_eq!(set_end_aside(dir.path(), &held, 4).unwrap(), "d-from-4.warc.aside");
    write("d.warc.open", "0123abc");
    assert_eq!(set_end_aside(dir.path(), &held, 4).unwrap(), "d-from-4-2.warc.aside");
    assert_eq!(end_of("d-from-4.warc").as_deref(), Some("d.warc"));
    assert_eq!(end_of("d-from-4-2.warc").as_deref(), Some("d.warc"));
    assert_eq!(end_of("d-from-here.warc"), None);

    let expected = [
        ("a-2.warc.gz.aside", "again"),
        ("a.warc.gz.aside", "a.warc.gz.open"),
        ("b-2.warc.aside", "open"),
        ("b.warc", "b.warc"),
        ("b.warc.aside", "other"),
        ("c.warc.zst.aside", "c.warc.zst.aside"),
        ("d-from-4-2.warc.aside", "abc"),
        ("d-from-4.warc.aside", "456789"),
        ("d.warc.open", "0123"),
    ];
    for (name, text) in expected {
        assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), text, "{name}");
    }
    assert_eq!(names(dir.path()).len(), expected.len() + 3);
}

/// What somebody does to the file that is being written, and what is said of it.
type Meddling = (&'static str, fn(&Path));

#[test]
fn a14_bytes_that_cannot_be_found_any_more_are_not_archived() {
    let meddling: [Meddling; 6] = [
        ("deleted", |open| fs::remove_file(open).unwrap()),
        ("deleted", |open| fs::remove_dir_all(open.parent().unwrap()).unwrap()),
        ("moved away", |open| fs::rename(open, open.with_extension("elsewhere")).unwrap()),
        ("replaced by another file", |open| {
            fs::rename(open, open.with_extension("elsewhere")).unwrap();
            fs::write(open, "another").unwrap();
        }),
        ("changed by somebody else", |open| {
            fs::OpenOptions::new().write(true).open(open).unwrap().set_len(10).unwrap();
        }),
        ("changed by somebody else", |open| {
            let longer = [fs::read(open).unwrap(), b"more".to_vec()].concat();
            fs::write(open, longer).unwrap();
        }),
    ];
    for (what, meddle) in meddling {
        for before_batch in [true, false] {
            let place = tempfile::tempdir().unwrap();
            let dir = place.path().join("warc");
            net::warc::private_dir(&dir).unwrap();
            let mut files = FileSet::new(settings(&dir, Compression::Gzip(1))).unwrap();
            let one = group(Compression::Gzip(1), b"1", place.path());
            files.begin(NOON).unwrap();
            let file = files.append(&one).unwrap().file;
            files.sync().unwrap();
            let open = dir.join(format!("{file}.open"));
            let refused = if before_batch {
                meddle(&open);
                files.begin(NOON).unwrap_err()
            } else {
                let mark = files.begin(NOON).unwrap();
                meddle(&open);
                let meddled = fs::read(&open).ok();
                files.append(&one).unwrap();
                let refused = files.sync().unwrap_err();
                files.cut_back(&mark).unwrap();
                assert!(fs::read(&open).ok() == meddled, "{what}: left as it was found");
                refused
            };
            let source = std::error::Error::source(&refused).map(ToString::to_string);
            let told = format!("{refused} {}", source.unwrap_or_default());
            assert!(told.contains(what), "{told}");
            let elsewhere = open.with_extension("elsewhere");
            if elsewhere.exists() {
                assert_eq!(sound_records(&elsewhere), 3, "what was archived before is as it was");
            }
        }
    }
}

#[test]
fn i7_only_the_owner_can_read_what_is_archived() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("data/warc");
    net::warc::private_dir(&dir).unwrap();
    assert_eq!(mode(&dir), 0o700);
    let mut files = FileSet::new(settings(&dir, Compression::Gzip(1))).unwrap();
    files.begin(NOON).unwrap();
    files.append(&group(Compression::Gzip(1), b"1", place.path())).unwrap();
    files.sync().unwrap();
    Journal::begin(&dir, 1, 0).unwrap();
    let held = survey(&dir).unwrap().remove(0);
    set_end_aside(&dir, &held, 5).unwrap();
    for name in names(&dir) {
        assert_eq!(mode(&dir.join(&name)), 0o600, "{name}");
    }
    // A directory that somebody has opened to others stays so.
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o750)).unwrap();
    net::warc::private_dir(&dir).unwrap();
    assert_eq!(mode(&dir), 0o750);
}

#[test]
fn a8_a_complete_file_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let compression = Compression::Gzip(1);
    let name = "t-c-20240229123456789-00000-h.warc.gz";
    fs::write(dir.path().join(name), "complete").unwrap();
    let mut files = FileSet::new(settings(dir.path(), compression)).unwrap();
    files.begin(NOON).unwrap();
    let place = files.append(&group(compression, b"1", dir.path())).unwrap();
    assert_eq!(&*place.file, "t-c-20240229123456789-00001-h.warc.gz");
    files.close().unwrap();
    fs::write(dir.path().join(format!("{name}.open")), "open").unwrap();
    assert!(matches!(complete(dir.path(), name), Err(FileError::Exists(_))));
    assert_eq!(fs::read(dir.path().join(name)).unwrap(), b"complete");
    let mut other = FileSet::new(settings(dir.path(), Compression::None)).unwrap();
    assert!(matches!(other.resume(name, 0), Err(FileError::NotOurs(_))));
}
