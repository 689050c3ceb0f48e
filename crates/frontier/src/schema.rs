//! Every table of the frontier, and what their rows hold.
//!
//! | table | key | value |
//! |---|---|---|
//! | `URLS` | collection, url | what is known of the URL: its record while queued or blacklisted, its run when done |
//! | `QUEUE` | host, due, collection, url | – (the record is in `URLS`, so that a link costs one look-up and a move two small rows) |
//! | `HOSTS` | host | slots, politeness, where its queue begins |
//! | `HOST_QUEUE`, `SILENT_QUEUE` | shard, due, unit | – (a unit is a host, or a group; group names are no domain names): see [`crate::lane`] |
//! | `GROUPS` | group | slots, politeness |
//! | `GROUP_QUEUE` | group, due, host | – |
//! | `ARRIVALS` | shard, host, stripe | never written, only locked: see [`crate::hosts`] |
//! | `LEASES` | shard, until, lease | the unit and host that are reserved, and by whom |
//! | `NODES`, `SHARD_OWNERS`, `BELLS` | node; shard; node | see [`crate::nodes`] |
//! | `BLACKLIST`, `BLACKLIST_ENDS` | collection, url; until, collection, url | reason, since, until |
//! | `DENIED` | server, collection, url | – (what is blacklisted by the robots.txt of that server: see [`crate::robots`]) |
//! | `COOKIES` | collection, host or domain | the cookies that are kept there: see [`policy::cookies`] |
//! | `CAPTURES` | collection, SURT key, time, offset | where it is archived (two spellings of a URL share a SURT key, and may share the moment); see [`surt_in_key`] |
//! | `RENDERINGS` | collection, url | what came of the last time a browser opened it: see [`policy::browser`] |
//! | `PAYLOADS` | collection, place | the captures that have the payloads that fell into that place: see [`crate::payloads`] |
//! | `FILES` | archive file | whose it is, and up to which byte its records are committed: see [`crate::shelf`] |
//! | `WALKS` | walk | where its heads stand, and what its run does |
//! | `WALK_IDS` | walk, stretch of ids | what is known of them |
//! | `URL_COUNTS`, `DEMAND`, `OPEN`, `CONTRACT`, `TRAFFIC`, `HOURS`, `TOTALS`, `LATEST` | see [`crate::counts`] | counters |
//! | `BARRED_URLS`, `LIFTED` | pattern, collection, url; pattern | see [`crate::patterns`] |
//! | `SPENT`, `CHARGED`, `REFUSED`, `HELD_BACK`, `USED_UP` | holder, … | see [`crate::budgets`] |
//! | `TRAPS`, `HELD`, `SENSES` | host, collection, id; host, collection, url; host, collection | suspicions, what they hold back, what is known of the host: see [`crate::traps`] |
//! | `RUNS`, `RUN_URLS`, `RUN_TRAFFIC` | run; run, collection, stripe | what was started when, and what came of it: see [`crate::runs`] |
//! | `PAUSES` | kind, name | since when it is paused: see [`crate::pause`] |
//! | `DECLARED`, `DECLARED_LOG`, `COUNTERS` | see [`crate::declared`] | what people declared |
//!
//! A URL is **queued** (`URLS` has its record and `QUEUE` its place), **done**, **blacklisted**, or
//! unknown. In flight it stays queued, and a slot of its host or group names it.
//!
//! To change a row type, see [`store::table`]: the table gets a new version, and [`crate::format1`]
//! and [`crate::format2`] say what older rows mean.

use policy::browser::Rendering;
use policy::budget::{Holder, Spent};
use policy::catalog::Change;
use policy::cookies;
use policy::hint::Trust;
use policy::model::{BlacklistEntry, Record};
use policy::time::{Span, Time};
use policy::trap::text::Moved;
use policy::trap::{Sense, Suspicion};
use policy::walk::{HeadRow, Resume, StretchRow};
use serde::{Deserialize, Serialize};
use store::table::Table;

use crate::{format1, format2};

pub const URLS: Table<(String, String), UrlState> =
    Table::new(0x10, "urls").version(3, &[(1, format1::url_state), (2, format2::url_state)]);
pub const QUEUE: Table<(String, i64, String, String), ()> = Table::new(0x11, "queue");
pub const HOSTS: Table<(String,), Host> =
    Table::new(0x12, "hosts").version(3, &[(1, format1::host), (2, format2::host)]);
pub const HOST_QUEUE: Table<(u8, i64, String), ()> = Table::new(0x38, "host queue");
pub const SILENT_QUEUE: Table<(u8, i64, String), ()> = Table::new(0x37, "silent host queue");
pub const GROUPS: Table<(String,), Group> = Table::new(0x14, "groups").version(2, &[(1, format1::group)]);
pub const GROUP_QUEUE: Table<(String, i64, String), ()> = Table::new(0x15, "group queue");
pub const ARRIVALS: Table<(u8, String, u32), ()> = Table::new(0x16, "arrivals");
pub const LEASES: Table<(u8, i64, u64), Lease> =
    Table::new(0x39, "leases").version(2, &[(1, format1::lease)]);
pub const NODES: Table<(String,), NodeRow> = Table::new(0x3A, "nodes");
pub const SHARD_OWNERS: Table<(u8,), ShardRow> = Table::new(0x3B, "shard owners");
/// Counts, by shard.
pub const BELLS: Table<(String,), Vec<u32>> = Table::new(0x3C, "bells");
pub const BLACKLIST: Table<(String, String), BlacklistEntry> =
    Table::new(0x18, "blacklist").version(3, &[(1, format1::blacklist_entry), (2, format1::blacklist_entry)]);
pub const BLACKLIST_ENDS: Table<(i64, String, String), ()> = Table::new(0x19, "blacklist ends");
/// Scheme, host and port, as a URL begins.
pub const DENIED: Table<(String, String, String), ()> = Table::new(0x29, "denied by robots");
pub const COOKIES: Table<(String, String), cookies::Row> =
    Table::new(0x1A, "cookies").version(3, &[(1, format1::cookies), (2, format2::cookies)]);
pub const CAPTURES: Table<(String, String, i64, u64), Capture> =
    Table::new(0x1B, "captures").version(3, &[(1, format1::capture), (2, format2::capture)]);
pub const TRAFFIC: Table<(i64, String, u32), Traffic> =
    Table::new(0x1D, "traffic").version(3, &[(1, format1::traffic), (2, format1::traffic)]);
pub const DECLARED: Table<(u8, String), Change> =
    Table::new(0x1E, "declared").version(3, &[(1, format1::change), (2, format2::change)]);
pub const DECLARED_LOG: Table<(u64,), Change> =
    Table::new(0x1F, "declared log").version(3, &[(1, format1::change), (2, format2::change)]);
pub const COUNTERS: Table<(String,), u64> = Table::new(0x20, "counters");
pub const FILES: Table<(String,), ArchiveFile> =
    Table::new(0x21, "files").version(2, &[(1, format1::archive_file)]);
pub const WALKS: Table<(String,), WalkRow> = Table::new(0x22, "walks");
pub const WALK_IDS: Table<(String, u64), StretchRow> = Table::new(0x23, "walk ids");
pub const PAUSES: Table<(u8, String), Time> = Table::new(0x28, "pauses");
/// Level, moment, profile, every, domain.
pub const OPEN: Table<(u8, i64, String, u64, String), i64> = Table::new(0x30, "open promises");
/// Level, hour, profile, domain, stripe.
pub const CONTRACT: Table<(u8, i64, String, String, u32), Promises> = Table::new(0x31, "promises");
pub const HOURS: Table<(i64, u32), Traffic> = Table::new(0x32, "hours").version(3, &[(1, format1::traffic)]);
pub const TOTALS: Table<(u32,), Totals> = Table::new(0x33, "totals").version(3, &[(1, format2::totals)]);
pub const URL_COUNTS: Table<(String, u32), UrlCounts> = Table::new(0x34, "url counts");
pub const RENDERINGS: Table<(String, String), Rendering> = Table::new(0x3D, "renderings").version(3, &[]);
/// Time, lease.
pub const LATEST: Table<(i64, u64), Latest> = Table::new(0x36, "latest");
/// Pattern, collection, URL.
pub const BARRED_URLS: Table<(u64, String, String), ()> = Table::new(0x60, "barred urls").version(3, &[]);
pub const LIFTED: Table<(u64,), String> = Table::new(0x61, "lifted patterns").version(3, &[]);
/// Holder, run, stripe.
pub const SPENT: Table<(u64, u64, u32), Spent> = Table::new(0x62, "spent").version(3, &[]);
/// Holder, stripe.
pub const CHARGED: Table<(u64, u32), Charged> = Table::new(0x63, "charged").version(3, &[]);
/// Holder, host, place, stripe.
pub const REFUSED: Table<(u64, String, u8, u32), Refused> = Table::new(0x64, "refused").version(3, &[]);
/// Holder, collection, URL.
pub const HELD_BACK: Table<(u64, String, String), ()> = Table::new(0x65, "held back").version(3, &[]);
/// Holder, run, limit.
pub const USED_UP: Table<(u64, u64, u8), Exhausted> = Table::new(0x66, "used up").version(3, &[]);
/// Host, profile, stripe.
pub const DEMAND: Table<(String, String, u32), i64> = Table::new(0x35, "demand");

pub const PAYLOADS: Table<(String, u32), Vec<Payload>> = Table::new(0x70, "payloads").version(3, &[]);
/// Host, collection, and what [`Suspicion::id`] says.
pub const TRAPS: Table<(String, String, String), Suspicion> = Table::new(0x68, "traps").version(3, &[]);
pub const HELD: Table<(String, String, String), ()> = Table::new(0x69, "held").version(3, &[]);
pub const SENSES: Table<(String, String), Sense> = Table::new(0x6A, "senses").version(3, &[]);
pub const RUNS: Table<(u64,), RunRow> = Table::new(0x6B, "runs").version(3, &[]);
/// Run, collection, stripe.
pub const RUN_URLS: Table<(u64, String, u32), RunUrls> = Table::new(0x6C, "run urls").version(3, &[]);
/// Run, collection, stripe.
pub const RUN_TRAFFIC: Table<(u64, String, u32), RunTraffic> =
    Table::new(0x6D, "run traffic").version(3, &[]);

/// As much of a SURT key as a row's key takes: `%` alone is three bytes there, so that a URL may
/// have a longer one than fits.
const SURT_BYTES_MAX: usize = 3500;

/// The SURT key of a URL as it stands in the key of its captures. Whoever wants all of it makes it
/// from the capture's URL.
pub fn surt_in_key(surt: &str) -> &str {
    &surt[..surt.floor_char_boundary(SURT_BYTES_MAX)]
}

/// All of them: number, name, version.
pub const TABLES: &[(u8, &str, u8)] = &[
    URLS.facts(),
    QUEUE.facts(),
    HOSTS.facts(),
    HOST_QUEUE.facts(),
    SILENT_QUEUE.facts(),
    GROUPS.facts(),
    GROUP_QUEUE.facts(),
    ARRIVALS.facts(),
    LEASES.facts(),
    BLACKLIST.facts(),
    BLACKLIST_ENDS.facts(),
    DENIED.facts(),
    COOKIES.facts(),
    CAPTURES.facts(),
    TRAFFIC.facts(),
    DECLARED.facts(),
    DECLARED_LOG.facts(),
    COUNTERS.facts(),
    FILES.facts(),
    WALKS.facts(),
    WALK_IDS.facts(),
    PAUSES.facts(),
    OPEN.facts(),
    CONTRACT.facts(),
    HOURS.facts(),
    TOTALS.facts(),
    URL_COUNTS.facts(),
    DEMAND.facts(),
    LATEST.facts(),
    NODES.facts(),
    SHARD_OWNERS.facts(),
    BELLS.facts(),
    RENDERINGS.facts(),
    PAYLOADS.facts(),
    BARRED_URLS.facts(),
    LIFTED.facts(),
    SPENT.facts(),
    CHARGED.facts(),
    REFUSED.facts(),
    HELD_BACK.facts(),
    USED_UP.facts(),
    TRAPS.facts(),
    HELD.facts(),
    SENSES.facts(),
    RUNS.facts(),
    RUN_URLS.facts(),
    RUN_TRAFFIC.facts(),
];

/// What the store knows of a URL in a collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum UrlState {
    Queued(Record),
    Done {
        run: u64,
        /// F36: whose budgets still know it.
        known_to: Vec<Holder>,
    },
    /// The record comes back with the URL when the blacklisting ends.
    Blacklisted(Record),
}

/// A reservation, inside the host or group it reserves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    /// Who holds it: a commit with another number is refused.
    pub lease: u64,
    pub until: Time,
    pub host: String,
    pub collection: String,
    pub url: String,
    /// The due time this harvest has.
    pub due: Time,
}

/// What a lease holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub unit: String,
    pub host: String,
    /// Whoever gave it out; nothing where one is alone.
    pub node: String,
}

/// A process that works on the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRow {
    /// Drawn anew by each process of the name.
    pub process: u64,
    /// The place of its archive.
    pub home: u64,
    pub since: Time,
    /// Until then it is believed to live.
    pub until: Time,
    /// Where its API is reached by the others.
    pub address: Option<String>,
    /// How many it has.
    pub shards: u32,
    pub figures: NodeFigures,
}

/// What a node did since it joined, and does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFigures {
    pub in_flight: u64,
    pub harvests: u64,
    pub bytes: u64,
}

/// Who works on a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardRow {
    /// A node; nothing: nobody has it.
    pub owner: String,
    pub process: u64,
    /// Counts its takings.
    pub epoch: u64,
}

/// The state of a politeness unit: a host on its own, or a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slots {
    pub taken: Vec<Slot>,
    /// No request before this.
    pub next_free: Time,
    /// Where the unit stands in the queue of its lane, if it does.
    pub queued_at: Option<Time>,
    /// Of the last answer; none if the last request brought none.
    pub response_time: Span,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// While the host belongs to a group, its slots are in the group's row too, and the group's
    /// delay counts.
    pub slots: Slots,
    /// The group in whose queue the host stands, and where.
    pub group: Option<(String, Time)>,
    /// No URL of the host is due before this: scans of its queue begin here, past most of the
    /// tombstones.
    pub head: Time,
    /// How often the host was settled, or a slot freed, since `head` was moved up.
    pub head_age: u32,
    pub backoff_until: Option<Time>,
    /// Its URLs wait for something that is not to be had before this, such as a robots.txt on
    /// another host.
    pub deferred_until: Option<Time>,
    pub crawl_delay: Option<Span>,
    /// Harvests without an answer since the last answer.
    pub failures: u32,
    /// The last slot was given to a walk: the next is for a URL, if one waits.
    pub walked: bool,
    /// F41: what the dates came to that its pages name for its URLs.
    pub trust: Trust,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    pub slots: Slots,
    /// No member stands in the group's queue before this.
    pub head: Time,
}

/// A walk and what it does at present.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WalkRow {
    pub head: HeadRow,
    /// What its run takes on (L11).
    pub resume: Resume,
    /// Its run has ended, at a bound or a margin: it stands until somebody resumes it.
    pub ended: bool,
    pub run: WalkRun,
}

/// The present run of a walk in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WalkRun {
    pub requests: u64,
    pub first: Option<Time>,
    pub last: Option<Time>,
}

/// Where a harvest is archived; exports as CDXJ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    pub url: String,
    pub file: String,
    pub offset: u64,
    pub length: u64,
    pub status: u16,
    /// None where the answer did not say.
    pub mime: Option<String>,
    pub digest: String,
    pub revisit: bool,
    /// Of a revisit: the capture that has the payload. None in a row that is older than this field.
    pub refers: Option<Refers>,
    /// F37: how far the text of its page moved since the harvest before.
    pub moved: Option<Moved>,
    /// Not all of the answer is there: nobody may refer to it.
    pub cut: bool,
}

/// What a revisit refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refers {
    /// None: the same as its own.
    pub url: Option<String>,
    pub time: Time,
}

impl Capture {
    /// Whether both are of one record, whatever is known of it beside.
    pub fn is_same_record(&self, other: &Capture) -> bool {
        let bare = |own: &Capture| Capture { refers: None, moved: None, cut: false, ..own.clone() };
        bare(self) == bare(other)
    }
}

/// A payload that is archived (A16), and the capture that has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    /// Of the body without its chunks.
    pub digest: String,
    /// The bytes that are archived have chunks: they serve only an answer that says so of itself, too.
    pub chunked: bool,
    /// Names the capture, with the collection: as much of the SURT key as is in the capture's, time
    /// and offset.
    pub surt: String,
    pub time: Time,
    pub offset: u64,
}

/// A file of the archive, as far as the store knows it (A13).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveFile {
    /// Whose records are in it. None in a row that is older than this field: then its captures say.
    pub collection: Option<String>,
    /// Up to this byte its records are committed.
    pub end: u64,
    /// Rows of `CAPTURES` that point into it.
    pub captures: u64,
    /// The last batch of the archive that was committed to it.
    pub batch: u64,
    /// Where it is; nothing in a row that is older than this field.
    pub node: String,
}

/// F31: what became of promises (see [`policy::contract`]), and how long new URLs waited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promises {
    /// Kept, and on time.
    pub on_time: u64,
    /// Kept, but late.
    pub late: u64,
    pub missed: u64,
    /// How late those were that were kept: counts by power of two of the seconds, `[0]` none, `[n]`
    /// from 2^(n-1) up to 2^n.
    pub late_s_log2: Vec<u64>,
    /// First harvests of newly found URLs, and how long each waited for it.
    pub first: u64,
    pub wait_s_log2: Vec<u64>,
}

/// URLs of a collection by state, and its captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlCounts {
    /// Also those in flight.
    pub queued: i64,
    /// Those of the queued that wait for their first answer.
    pub unharvested: i64,
    pub done: i64,
    pub blacklisted: i64,
    pub captures: i64,
}

/// F36: how many URLs a budget knows, and how many wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charged {
    pub known: i64,
    pub held: i64,
}

/// F36: links that a budget kept from being queued.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    pub links: u64,
    /// The first segment of their paths: of the first that fell here.
    pub path: String,
    /// The first few.
    pub examples: Vec<String>,
    pub last: Time,
}

/// F36: when a run came to the end of a budget, and at which figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exhausted {
    pub at: Time,
    pub used: u64,
    pub max: u64,
}

/// One of the last harvests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latest {
    pub collection: String,
    pub url: String,
    /// None: no answer.
    pub status: Option<u16>,
    /// Why there was none.
    pub error: Option<ErrorKind>,
    pub bytes: u64,
}

/// Everything since the store was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    pub traffic: Traffic,
    /// Those that were settled.
    pub promises: Promises,
}

/// F32: what went over the wire.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    pub requests: u64,
    pub statuses: Vec<(u16, u64)>,
    pub errors: Vec<(ErrorKind, u64)>,
    pub bytes: u64,
    /// Answers with content (2xx or 304) that was not had before, or another than before, or the
    /// same.
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    /// Counts by power of two of the milliseconds, as in [`Promises`].
    pub response_ms_log2: Vec<u64>,
    /// A16: of bodies that came over the wire and were not archived again.
    pub saved_bytes: u64,
    /// F37: of those that changed, those whose text moved a little only.
    pub changed_little: u64,
}

/// What was started as a run, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRow {
    pub started: Time,
    pub of: RunOf,
    /// Seeds and collections that were looked at (F3).
    pub seeds: u64,
}

/// What a run is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunOf {
    /// Seeds that nobody had started yet.
    New,
    /// In the context of these profiles; of all it has if none is named.
    Seed {
        name: String,
        profiles: Vec<String>,
    },
    Profile(String),
    Collection(String),
}

/// URLs of a run, by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunUrls {
    /// Also those in flight.
    pub queued: i64,
    /// Those of the queued that were not answered in this run.
    pub waiting: i64,
    pub done: i64,
    pub blacklisted: i64,
}

/// What a run has asked, and when first and last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunTraffic {
    pub traffic: Traffic,
    pub first: Option<Time>,
    pub last: Option<Time>,
}

/// Why a harvest brought no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ErrorKind {
    Dns,
    Connect,
    Timeout,
    Broken,
    Robots,
}

impl ErrorKind {
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::Dns => "dns",
            ErrorKind::Connect => "connect",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Broken => "broken",
            ErrorKind::Robots => "robots",
        }
    }
}

#[cfg(test)]
mod tests {
    use policy::model::NAME_BYTES_MAX;
    use policy::url::{HOST_BYTES_MAX, URL_BYTES_MAX};

    use super::*;

    #[test]
    fn a12_the_longest_names_make_keys_that_fit() {
        let [name, host] = [NAME_BYTES_MAX, HOST_BYTES_MAX].map(|bytes| "n".repeat(bytes));
        let url = "u".repeat(URL_BYTES_MAX);
        let surt = "%25".repeat(URL_BYTES_MAX);
        for (table, key) in [
            ("urls", URLS.key((&name, &url))),
            ("queue", QUEUE.key((&host, 0, &name, &url))),
            ("blacklist ends", BLACKLIST_ENDS.key((0, &name, &url))),
            ("denied", DENIED.key((&format!("https://{host}:65535"), &name, &url))),
            ("cookies", COOKIES.key((&name, &host))),
            ("payloads", PAYLOADS.key((&name, 0))),
            ("renderings", RENDERINGS.key((&name, &url))),
            ("barred urls", BARRED_URLS.key((0, &name, &url))),
            ("held back", HELD_BACK.key((0, &name, &url))),
            ("refused", REFUSED.key((0, &host, 0, 0))),
            ("captures", CAPTURES.key((&name, surt_in_key(&surt), 0, 0))),
            ("contract", CONTRACT.key((0, 0, &name, &host, 0))),
            ("open promises", OPEN.key((0, 0, &name, 0, &host))),
            ("demand", DEMAND.key((&host, &name, 0))),
            ("traffic", TRAFFIC.key((0, &host, 0))),
            // Seeds and walks may be named by their URLs.
            ("declared", DECLARED.key((0, &url))),
            ("walks", WALK_IDS.key((&url, 0))),
        ] {
            assert!(key.len() <= store::limits::KEY_BYTES_MAX, "{table}: {} bytes", key.len());
        }
    }

    #[test]
    fn no_two_tables_share_a_number() {
        let mut ids: Vec<u8> = TABLES.iter().map(|(id, ..)| *id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
