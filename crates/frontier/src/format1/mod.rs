//! Rows as format 1 wrote them, and what they mean now.
//!
//! **Nothing here changes** but the right-hand sides of the conversions: these are the types as
//! they were when format 1 ended, so that its rows are read the same way whatever becomes of the
//! present types. A field that is added to a present type makes its conversion here fail to
//! compile: say there what an old row means. (How rows get versions: [`store::table`].)
//!
//! Tables that are still as they were in format 1 (walks, counters) are not here. Who changes one
//! of them copies its type into this module first; the test of golden rows notices who does not.
//!
//! Format 1 was not always the same: fields were added at the end of rows without a word. Rows of
//! those first days are told by the bytes they lack, and get them here.

mod cookies;
mod declared;

use policy::budget::Charges;
use policy::changes::Changes;
use policy::contract::Owed;
use policy::hint::Trust;
use policy::model;
use policy::owner::Via;
use policy::time::{Span, Time};
use serde::Deserialize;
use store::table::read;

use crate::schema;

pub(crate) use cookies::cookies;
pub(crate) use declared::{PUT_SETTINGS, Settings, change, whole_change};

pub(crate) fn url_state(row: &[u8]) -> Option<schema::UrlState> {
    read::<UrlState>(row).map(Into::into)
}

/// The first rows did not say whether the last slot was a walk's.
pub(crate) fn host(row: &[u8]) -> Option<schema::Host> {
    read::<Host>(row).or_else(|| read(&[row, &[0]].concat())).map(Into::into)
}

pub(crate) fn group(row: &[u8]) -> Option<schema::Group> {
    read::<Group>(row).map(Into::into)
}

pub(crate) fn blacklist_entry(row: &[u8]) -> Option<model::BlacklistEntry> {
    read::<BlacklistEntry>(row).map(Into::into)
}

/// The same in format 2, but for the first rows.
pub(crate) fn whole_capture(row: &[u8]) -> Option<schema::Capture> {
    read::<Capture>(row).map(Into::into)
}

/// The first rows had an empty type where the answer gave none.
pub(crate) fn capture(row: &[u8]) -> Option<schema::Capture> {
    read::<Capture>(row).or_else(|| read::<FirstCapture>(row).map(Into::into)).map(Into::into)
}

pub(crate) fn lease(row: &[u8]) -> Option<schema::Lease> {
    let (unit, host) = read(row)?;
    Some(schema::Lease { unit, host, node: String::new() })
}

pub(crate) fn traffic(row: &[u8]) -> Option<schema::Traffic> {
    read::<Traffic>(row).map(Into::into)
}

/// Rows said up to where a file was committed and no more: whose it is its captures say, and
/// batches were not counted.
pub(crate) fn archive_file(row: &[u8]) -> Option<schema::ArchiveFile> {
    read::<u64>(row).map(|end| schema::ArchiveFile { end, ..schema::ArchiveFile::default() })
}

#[derive(Deserialize)]
enum UrlState {
    Queued(Record),
    Done { run: u64 },
    Blacklisted(Record),
}

impl From<UrlState> for schema::UrlState {
    fn from(old: UrlState) -> schema::UrlState {
        match old {
            UrlState::Queued(record) => schema::UrlState::Queued(record.into()),
            UrlState::Done { run } => schema::UrlState::Done { run, known_to: Vec::new() },
            UrlState::Blacklisted(record) => schema::UrlState::Blacklisted(record.into()),
        }
    }
}

#[derive(Deserialize)]
struct Record {
    seed: String,
    position: Position,
    due: Time,
    run: u64,
    cycles: u32,
    linked: Time,
    last: Option<LastFetch>,
    errors: u32,
    not_found: u32,
    digest: Option<String>,
    etag: Option<String>,
    last_modified: Option<String>,
    problem: Option<String>,
}

#[derive(Deserialize)]
struct Position {
    depth: u32,
    hops: u32,
    chain: u32,
    requisite: bool,
}

#[derive(Deserialize)]
struct LastFetch {
    at: Time,
    due: Time,
}

impl From<Record> for model::Record {
    fn from(old: Record) -> model::Record {
        let Position { depth, hops, chain, requisite } = old.position;
        model::Record {
            seed: old.seed,
            position: model::Position { depth, hops, chain, requisite },
            via: Via::Start,
            due: old.due,
            run: old.run,
            cycles: old.cycles,
            linked: old.linked,
            last: old.last.map(|last| model::LastFetch { at: last.at, due: last.due }),
            errors: old.errors,
            not_found: old.not_found,
            digest: old.digest,
            etag: old.etag,
            last_modified: old.last_modified,
            problem: old.problem,
            // Nobody kept account of it: the upgrade begins to.
            owed: Owed::Nothing,
            terms: None,
            changes: Changes::default(),
            charges: Charges::default(),
            sketch: None,
            hint: None,
            moved: None,
        }
    }
}

#[derive(Deserialize)]
struct Slot {
    lease: u64,
    until: Time,
    host: String,
    collection: String,
    url: String,
    due: Time,
}

impl From<Slot> for schema::Slot {
    fn from(old: Slot) -> schema::Slot {
        schema::Slot {
            lease: old.lease,
            until: old.until,
            host: old.host,
            collection: old.collection,
            url: old.url,
            due: old.due,
        }
    }
}

/// The same in format 2.
#[derive(Deserialize)]
pub(crate) struct Slots {
    taken: Vec<Slot>,
    next_free: Time,
    queued_at: Option<Time>,
    response_time: Span,
}

impl From<Slots> for schema::Slots {
    fn from(old: Slots) -> schema::Slots {
        schema::Slots {
            taken: old.taken.into_iter().map(Into::into).collect(),
            next_free: old.next_free,
            queued_at: old.queued_at,
            response_time: old.response_time,
        }
    }
}

#[derive(Deserialize)]
struct Host {
    slots: Slots,
    group: Option<(String, Time)>,
    head: Time,
    head_age: u32,
    backoff_until: Option<Time>,
    crawl_delay: Option<Span>,
    failures: u32,
    walked: bool,
}

impl From<Host> for schema::Host {
    fn from(old: Host) -> schema::Host {
        schema::Host {
            slots: old.slots.into(),
            group: old.group,
            head: old.head,
            head_age: old.head_age,
            backoff_until: old.backoff_until,
            deferred_until: None,
            crawl_delay: old.crawl_delay,
            failures: old.failures,
            walked: old.walked,
            trust: Trust::default(),
        }
    }
}

#[derive(Deserialize)]
struct Group {
    slots: Slots,
    head: Time,
}

impl From<Group> for schema::Group {
    fn from(old: Group) -> schema::Group {
        schema::Group { slots: old.slots.into(), head: old.head }
    }
}

#[derive(Deserialize)]
struct BlacklistEntry {
    reason: BlacklistReason,
    since: Time,
    until: Option<Time>,
}

#[derive(Deserialize)]
enum BlacklistReason {
    Robots,
    NotFound,
    Errors,
    Operator(String),
}

impl From<BlacklistEntry> for model::BlacklistEntry {
    fn from(old: BlacklistEntry) -> model::BlacklistEntry {
        let reason = match old.reason {
            BlacklistReason::Robots => model::BlacklistReason::Robots,
            BlacklistReason::NotFound => model::BlacklistReason::NotFound,
            BlacklistReason::Errors => model::BlacklistReason::Errors,
            BlacklistReason::Operator(reason) => model::BlacklistReason::Operator(reason),
        };
        model::BlacklistEntry { reason, since: old.since, until: old.until }
    }
}

#[derive(Deserialize)]
struct Capture {
    url: String,
    file: String,
    offset: u64,
    length: u64,
    status: u16,
    mime: Option<String>,
    digest: String,
    revisit: bool,
}

#[derive(Deserialize)]
struct FirstCapture {
    url: String,
    file: String,
    offset: u64,
    length: u64,
    status: u16,
    mime: String,
    digest: String,
    revisit: bool,
}

impl From<FirstCapture> for Capture {
    fn from(old: FirstCapture) -> Capture {
        Capture {
            url: old.url,
            file: old.file,
            offset: old.offset,
            length: old.length,
            status: old.status,
            mime: Some(old.mime).filter(|mime| !mime.is_empty()),
            digest: old.digest,
            revisit: old.revisit,
        }
    }
}

impl From<Capture> for schema::Capture {
    fn from(old: Capture) -> schema::Capture {
        schema::Capture {
            url: old.url,
            file: old.file,
            offset: old.offset,
            length: old.length,
            status: old.status,
            mime: old.mime,
            digest: old.digest,
            revisit: old.revisit,
            refers: None,
            moved: None,
            cut: false,
        }
    }
}

/// The same in format 2.
#[derive(Deserialize)]
pub(crate) struct Traffic {
    requests: u64,
    statuses: Vec<(u16, u64)>,
    errors: Vec<(ErrorKind, u64)>,
    bytes: u64,
    new: u64,
    changed: u64,
    unchanged: u64,
    response_ms_log2: Vec<u64>,
}

#[derive(Deserialize)]
enum ErrorKind {
    Dns,
    Connect,
    Timeout,
    Broken,
    Robots,
}

impl From<ErrorKind> for schema::ErrorKind {
    fn from(old: ErrorKind) -> schema::ErrorKind {
        match old {
            ErrorKind::Dns => schema::ErrorKind::Dns,
            ErrorKind::Connect => schema::ErrorKind::Connect,
            ErrorKind::Timeout => schema::ErrorKind::Timeout,
            ErrorKind::Broken => schema::ErrorKind::Broken,
            ErrorKind::Robots => schema::ErrorKind::Robots,
        }
    }
}

impl From<Traffic> for schema::Traffic {
    fn from(old: Traffic) -> schema::Traffic {
        schema::Traffic {
            requests: old.requests,
            statuses: old.statuses,
            errors: old.errors.into_iter().map(|(kind, count)| (kind.into(), count)).collect(),
            bytes: old.bytes,
            new: old.new,
            changed: old.changed,
            unchanged: old.unchanged,
            response_ms_log2: old.response_ms_log2,
            saved_bytes: 0,
            changed_little: 0,
        }
    }
}
