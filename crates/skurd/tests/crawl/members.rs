//! What is in archive files, read without any of the code under test: gzip members one after the
//! other, and the few fields that matter.

use std::collections::BTreeMap;
use std::path::Path;

use testkit::gzip;

/// A record in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) file: String,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) kind: String,
    pub(crate) id: String,
    pub(crate) url: String,
    /// Of a `warcinfo` record: whose the file is.
    pub(crate) part_of: Option<String>,
}

impl Member {
    /// Whether an index has something to say about it.
    pub(crate) fn is_capture(&self) -> bool {
        ["response", "revisit", "resource"].contains(&self.kind.as_str())
    }
}

/// Every record of every file of a directory, whatever the file is called, by its id.
pub(crate) fn members(dir: &Path) -> BTreeMap<String, Member> {
    let mut all = BTreeMap::new();
    let entries = std::fs::read_dir(dir).into_iter().flatten();
    for path in entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        all.extend(members_of(name, &std::fs::read(&path).unwrap()).into_iter().map(|m| (m.id.clone(), m)));
    }
    all
}

fn members_of(file: &str, bytes: &[u8]) -> Vec<Member> {
    let members = gzip::members(bytes);
    members.iter().filter_map(|packed| member(file, packed)).collect()
}

fn member(file: &str, packed: &gzip::Member) -> Option<Member> {
    let (offset, length) = (packed.offset as u64, packed.length as u64);
    let text = String::from_utf8_lossy(&packed.bytes);
    let (head, block) = text.strip_prefix("WARC/1.1\r\n")?.split_once("\r\n\r\n")?;
    let field = |lines: &str, name: &str| {
        lines.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
    };
    let kind = field(head, "WARC-Type")?;
    let part_of = field(block, "isPartOf").filter(|_| kind == "warcinfo");
    let (id, url) = (field(head, "WARC-Record-ID")?, field(head, "WARC-Target-URI").unwrap_or_default());
    Some(Member { file: file.to_owned(), offset, length, kind, id, url, part_of })
}
