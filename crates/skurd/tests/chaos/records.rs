//! What is in the archive files, read without any of the code under test: gzip members one after
//! the other, and the few lines that matter.

use std::collections::BTreeMap;
use std::path::Path;

use testkit::gzip;

use crate::site::NUMBER;

/// A record that is a capture.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) file: String,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) url: String,
    /// Whose the file is.
    pub(crate) collection: String,
    pub(crate) revisit: bool,
    /// Which answer of the web it is; none of one that is no answer (a look-up).
    pub(crate) number: Option<usize>,
}

/// A record as it is read.
struct Raw {
    offset: u64,
    length: u64,
    head: String,
    block: String,
}

impl Raw {
    fn field(&self, name: &str) -> Option<&str> {
        line(&self.head, name)
    }
}

fn line<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// The captures of all files of a directory, which must all be complete.
pub(crate) fn records(dir: &Path) -> Vec<Record> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with('.') {
            continue;
        }
        assert!(name.ends_with(".warc.gz"), "{name} is left");
        all.extend(captures(&name, &raw(&name, &std::fs::read(&path).unwrap())));
    }
    all
}

/// Every byte of the file belongs to a record.
fn raw(name: &str, bytes: &[u8]) -> Vec<Raw> {
    let record = |member: gzip::Member| {
        let (offset, length) = (member.offset as u64, member.length as u64);
        let text = String::from_utf8_lossy(&member.bytes);
        let (head, block) =
            text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{name} at {offset}: no head"));
        assert!(head.starts_with("WARC/1.1\r\n"), "{name} at {offset}: {head}");
        Raw { offset, length, head: head.to_owned(), block: block.to_owned() }
    };
    gzip::whole(name, bytes).into_iter().map(record).collect()
}

fn captures(file: &str, raw: &[Raw]) -> Vec<Record> {
    let info = raw.iter().find(|record| record.field("WARC-Type") == Some("warcinfo"));
    let collection = info.and_then(|info| line(&info.block, "isPartOf")).expect(file).to_owned();
    // The head of a 304 is kept beside it.
    let beside: BTreeMap<&str, &str> = raw
        .iter()
        .filter(|record| record.field("WARC-Type") == Some("metadata"))
        .filter_map(|record| {
            let number = line(&record.block, &format!("response: {NUMBER}"))?;
            Some((record.field("WARC-Concurrent-To")?, number))
        })
        .collect();
    let record = |raw: &Raw| {
        let kind = raw.field("WARC-Type")?;
        if !["response", "revisit", "resource"].contains(&kind) {
            return None;
        }
        let id = raw.field("WARC-Record-ID").expect(file);
        let number = line(&raw.block, NUMBER).or_else(|| beside.get(id).copied());
        Some(Record {
            file: file.to_owned(),
            offset: raw.offset,
            length: raw.length,
            url: raw.field("WARC-Target-URI").expect(file).to_owned(),
            collection: collection.clone(),
            revisit: kind == "revisit",
            number: number.map(|number| number.trim().parse().expect(number)),
        })
    };
    raw.iter().filter_map(record).collect()
}
