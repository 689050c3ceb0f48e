//! Rows as format 2 wrote them, where they are other than now, and what they mean now.
//!
//! As in [`crate::format1`], **nothing here changes** but the right-hand sides of the conversions.
//! What people declared was in format 2 as it was when format 1 ended, but for the settings, which
//! had one field more. So those types are shared: they are frozen there.
//!
//! All other tables are as they were in format 2. Who changes one of them copies its type into this
//! module first, unless it is in [`crate::format1`] and was the same; the test of golden rows
//! notices who does not.

use policy::budget::Charges;
use policy::catalog::Change;
use policy::changes::Changes;
use policy::contract::{self, Owed};
use policy::hint::Trust;
use policy::owner::Via;
use policy::time::{Span, Time};
use policy::{cookies, model};
use serde::Deserialize;
use store::table::read;

use crate::format1::{self, PUT_SETTINGS};
use crate::schema;

pub(crate) fn url_state(row: &[u8]) -> Option<schema::UrlState> {
    read::<UrlState>(row).map(Into::into)
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

/// What its fields are made of was the same when format 2 ended as it is now.
#[derive(Deserialize)]
struct Record {
    seed: String,
    position: model::Position,
    via: Via,
    due: Time,
    run: u64,
    cycles: u32,
    linked: Time,
    last: Option<model::LastFetch>,
    errors: u32,
    not_found: u32,
    digest: Option<String>,
    etag: Option<String>,
    last_modified: Option<String>,
    problem: Option<String>,
    owed: Owed,
    terms: Option<Terms>,
}

#[derive(Deserialize)]
struct Terms {
    every: Span,
    profiles: Vec<String>,
}

impl From<Terms> for contract::Terms {
    fn from(old: Terms) -> contract::Terms {
        contract::Terms { every: old.every, profiles: old.profiles, adaptive: false }
    }
}

impl From<Record> for model::Record {
    fn from(old: Record) -> model::Record {
        model::Record {
            seed: old.seed,
            position: old.position,
            via: old.via,
            due: old.due,
            run: old.run,
            cycles: old.cycles,
            linked: old.linked,
            last: old.last,
            errors: old.errors,
            not_found: old.not_found,
            digest: old.digest,
            etag: old.etag,
            last_modified: old.last_modified,
            problem: old.problem,
            owed: old.owed,
            terms: old.terms.map(Into::into),
            changes: Changes::default(),
            charges: Charges::default(),
            sketch: None,
            hint: None,
            moved: None,
        }
    }
}

pub(crate) fn change(row: &[u8]) -> Option<Change> {
    match row.split_first() {
        Some((&PUT_SETTINGS, settings)) => {
            read::<Settings>(settings).map(|old| Change::PutSettings(Box::new(old.into())))
        }
        _ => format1::whole_change(row),
    }
}

#[derive(Deserialize)]
struct Settings {
    /// Written as its fields, one after the other, with nothing around them.
    first: format1::Settings,
    robots_cache: Span,
}

impl From<Settings> for model::Settings {
    fn from(old: Settings) -> model::Settings {
        model::Settings { robots_cache: old.robots_cache, ..old.first.into() }
    }
}

pub(crate) fn totals(row: &[u8]) -> Option<schema::Totals> {
    let old = read::<Totals>(row)?;
    Some(schema::Totals { traffic: old.traffic.into(), promises: old.promises })
}

/// What was promised was the same when format 2 ended as it is now.
#[derive(Deserialize)]
struct Totals {
    traffic: format1::Traffic,
    promises: schema::Promises,
}

pub(crate) fn capture(row: &[u8]) -> Option<schema::Capture> {
    format1::whole_capture(row)
}

pub(crate) fn host(row: &[u8]) -> Option<schema::Host> {
    read::<Host>(row).map(Into::into)
}

#[derive(Deserialize)]
struct Host {
    slots: format1::Slots,
    group: Option<(String, Time)>,
    head: Time,
    head_age: u32,
    backoff_until: Option<Time>,
    deferred_until: Option<Time>,
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
            deferred_until: old.deferred_until,
            crawl_delay: old.crawl_delay,
            failures: old.failures,
            walked: old.walked,
            trust: Trust::default(),
        }
    }
}

/// Cookies without what only a browser looks at.
pub(crate) fn cookies(row: &[u8]) -> Option<cookies::Row> {
    read::<Row>(row).map(Into::into)
}

#[derive(Deserialize)]
struct Row {
    given: Vec<Given>,
    cookies: Vec<Cookie>,
}

#[derive(Deserialize)]
struct Given {
    name: String,
    value: String,
    path: String,
}

#[derive(Deserialize)]
struct Cookie {
    name: String,
    value: String,
    domain: String,
    host_only: bool,
    path: String,
    secure: bool,
    expires: Option<Time>,
    created: Time,
}

impl From<Row> for cookies::Row {
    fn from(old: Row) -> cookies::Row {
        let given = |old: Given| cookies::Given { name: old.name, value: old.value, path: old.path };
        let cookie = |old: Cookie| cookies::Cookie {
            name: old.name,
            value: old.value,
            domain: old.domain,
            host_only: old.host_only,
            path: old.path,
            secure: old.secure,
            http_only: false,
            same_site: None,
            expires: old.expires,
            created: old.created,
        };
        cookies::Row {
            given: old.given.into_iter().map(given).collect(),
            cookies: old.cookies.into_iter().map(cookie).collect(),
        }
    }
}
