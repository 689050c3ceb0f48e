//! Files on disk: names, batches, rolling, cutting back, recovery.

use std::fs;
use std::path::Path;

use net::warc::{
    Capture, Compression, Fields, FileError, FileSet, FileSettings, Found, Prepared, check, complete, recover,
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
        assert_eq!(end.offset, second.offset + one.bytes.len());
        let name = format!("t-c-20240229123456789-00000-h{}", compression.suffix());
        assert_eq!((&*first.file, names(dir.path())), (name.as_str(), vec![format!("{name}.open")]));
        let open = dir.path().join(format!("{name}.open"));
        assert_eq!(fs::metadata(&open).unwrap().len(), end.offset);
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
        assert_eq!(files.append(&small).unwrap(), committed);
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
    files.resume(name).unwrap();
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
        files.sync().unwrap();
        let open = dir.path().join(format!("{}.open", committed.file));
        let all = fs::read(&open).unwrap();
        fs::remove_file(&open).unwrap();

        for cut in 0..=all.len() {
            fs::write(&open, &all[..cut]).unwrap();
            let end = |name: &str| (name == &*committed.file).then_some(committed.offset);
            let recovered = recover(dir.path(), end).unwrap();
            let (cut, kept) = (cut as u64, committed.offset);
            let expected = match cut.cmp(&kept) {
                std::cmp::Ordering::Less => Found::Short { bytes: cut, committed: kept },
                std::cmp::Ordering::Equal => Found::Intact { bytes: kept },
                std::cmp::Ordering::Greater => Found::CutBack { bytes: kept, cut: cut - kept },
            };
            assert_eq!((recovered.len(), recovered[0].found), (1, expected));
            assert_eq!(fs::metadata(&open).unwrap().len(), cut.min(kept));
        }
        assert_eq!(fs::read(&open).unwrap(), &all[..usize::try_from(committed.offset).unwrap()]);
        assert_eq!(sound_records(&open), 3);

        let mut files = FileSet::new(settings(dir.path(), compression)).unwrap();
        files.resume(&committed.file).unwrap();
        assert!(files.warcinfo_id().is_some_and(|id| id.starts_with("<urn:uuid:")));
        files.begin(NOON.plus(Span(1))).unwrap();
        assert_eq!(files.append(&one).unwrap(), committed);
        files.close().unwrap();
        assert_eq!(sound_records(&dir.path().join(&*committed.file)), 5);
    }
}

#[test]
fn a8_recovery_removes_what_was_never_committed_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.warc.gz.open", "b.warc.open", "c.warc.zst.open", "d.warc.gz", "e.open", "f.cdxj.open"] {
        fs::write(dir.path().join(name), "12345").unwrap();
    }
    let committed = |name: &str| match name {
        "a.warc.gz" => None,
        "b.warc" => Some(0),
        _ => Some(5),
    };
    let recovered = recover(dir.path(), committed).unwrap();
    let found: Vec<_> = recovered.iter().map(|file| (file.name.as_str(), file.found)).collect();
    let removed = Found::Removed { bytes: 5 };
    let expected = [("a.warc.gz", removed), ("b.warc", removed), ("c.warc.zst", Found::Intact { bytes: 5 })];
    assert_eq!(found, expected);
    complete(dir.path(), "c.warc.zst").unwrap();
    assert_eq!(names(dir.path()), ["c.warc.zst", "d.warc.gz", "e.open", "f.cdxj.open"]);
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
    assert!(matches!(other.resume(name), Err(FileError::NotOurs(_))));
}
