//! A whole file gone through, every digest recomputed.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use super::head::RecordHead;
use super::read::{ReadError, Reader};
use super::verify::{Digests, Outcome};

/// More than these are counted, not kept.
const PROBLEMS_MAX: usize = 1000;
const KINDS_MAX: usize = 32;
const KIND_CHARS_MAX: usize = 40;

/// What there is in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// By `WARC-Type`.
    pub records: BTreeMap<String, u64>,
    pub digests_right: u64,
    /// Of another algorithm, or of a payload that is elsewhere.
    pub digests_not_checked: u64,
    /// In the order of the file.
    pub problems: Vec<Problem>,
    pub problems_not_kept: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub offset: u64,
    pub reason: String,
}

impl CheckReport {
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    pub fn records_total(&self) -> u64 {
        self.records.values().sum()
    }

    fn record(&mut self, head: &RecordHead) {
        let kind: String = head.kind().chars().take(KIND_CHARS_MAX).collect();
        let known = self.records.len() < KINDS_MAX || self.records.contains_key(&kind);
        *self.records.entry(if known { kind } else { "other".to_owned() }).or_default() += 1;
    }

    fn digests(&mut self, offset: u64, digests: Digests) {
        for (what, outcome) in [("block", digests.block), ("payload", digests.payload)] {
            match outcome {
                Outcome::Absent => {}
                Outcome::NotChecked => self.digests_not_checked += 1,
                Outcome::Right => self.digests_right += 1,
                Outcome::Wrong(found) => self.problem(offset, format!("wrong {what} digest: {found}")),
            }
        }
    }

    fn problem(&mut self, offset: u64, reason: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(Problem { offset, reason });
        } else {
            self.problems_not_kept += 1;
        }
    }
}

/// Reads a file to its end. Records that are broken are problems in the report; a file that cannot
/// be read or is no WARC file is an error.
pub fn check(path: &Path) -> Result<CheckReport, ReadError> {
    let mut reader = Reader::new(File::open(path)?)?;
    let mut report = CheckReport::default();
    let mut whole_file_told = false;
    loop {
        let checked = match reader.next() {
            Ok(None) => return Ok(report),
            Ok(Some(head)) => {
                report.record(&head);
                fields_missing(&mut report, &head);
                reader.verify(&head)
            }
            Err(error) => Err(error),
        };
        match checked {
            Ok((extent, digests)) => {
                report.digests(extent.offset, digests);
                if !extent.seekable && !std::mem::replace(&mut whole_file_told, true) {
                    let reason = "more than one record in a compressed member: no index can point to them";
                    report.problem(extent.offset, reason.to_owned());
                }
            }
            Err(ReadError::Broken { offset, reason }) => report.problem(offset, reason),
            Err(error) => return Err(error),
        }
    }
}

/// WARC 1.1 wants four fields in every record; the length was read already.
fn fields_missing(report: &mut CheckReport, head: &RecordHead) {
    for name in ["WARC-Type", "WARC-Record-ID"] {
        if head.get(name).is_none() {
            report.problem(head.offset, format!("no {name}"));
        }
    }
    if head.time().is_none() {
        report.problem(head.offset, "no WARC-Date that is a date".to_owned());
    }
}
