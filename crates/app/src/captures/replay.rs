//! The capture of a URL that is nearest to a time, with those beside it, and what it answered (R2, R3,
//! R6).
//!
//! A URL is looked for as the store spells it. Only where it has no capture under that spelling,
//! another counts that has the same key (`http` and `https`, with `www.` and without), and then none
//! that only leads on: it would lead back here.
//!
//! What a capture that is the same as before says of itself is in its own record, its body in the one
//! it refers to. A 304 says nothing: there the other answers as a whole.

use std::io::{self, Read};

use data_encoding::BASE64URL_NOPAD;
use frontier::{Capture, CaptureId, ranges};
use harvest::page_info::DOM;
use harvest::wire::{referred, warc_dir};
use http::StatusCode;
use net::exchange::Head;
use net::http::Dechunk;
use net::http::head::Layout;
use net::warc::StoredRecord;
use policy::time::{Span, Time};
use replay::memento::Neighbours;
use replay::moment::While;
use store::Order;
use store::table::KeyRange;

use super::{StoredPart, open_file};
use crate::{Answer, App, Problem};

/// Rows of a key that are looked at for one: beyond, a URL with so many spellings is not found.
const ROWS_MAX: usize = 2000;
const PAGE_ROWS: usize = 20;
const LIST_ROWS: usize = 1000;
/// Content beyond this is cut off.
const CONTENT_BYTES_MAX: u64 = 1 << 30;
/// A page is rendered, and its final DOM archived, so soon after it was asked for.
const RENDERED_WITHIN: Span = Span(3_600_000);

type Row = (CaptureId, Capture);

/// The time that is wanted.
#[derive(Clone, Copy, Debug)]
pub enum At {
    /// The first in this while, or the nearest to its beginning.
    In(While),
    Nearest(Time),
    Last,
}

/// A capture that was looked for.
#[derive(Clone, Debug)]
pub struct Found {
    spelling: Spelling,
    row: Row,
    /// As it was captured.
    pub url: String,
    pub time: Time,
    pub beside: Neighbours,
    /// For its pages and paths.
    pub id: String,
}

/// What counts as a capture of the URL.
#[derive(Clone, Debug)]
struct Spelling {
    collection: String,
    surt: String,
    /// None: any that has this key and does not lead on.
    url: Option<String>,
}

impl Spelling {
    fn is(&self, row: &Capture) -> bool {
        match &self.url {
            Some(url) => row.url == *url,
            None => !(300..400).contains(&row.status) || row.status == 304,
        }
    }

    fn all(&self) -> KeyRange {
        ranges::captures_of(&self.collection, &self.surt)
    }

    fn since(&self, time: Time) -> KeyRange {
        ranges::captures_since(&self.collection, &self.surt, time)
    }

    fn before(&self, time: Time) -> KeyRange {
        ranges::captures_before(&self.collection, &self.surt, time)
    }
}

/// The spellings to look under, in their order.
async fn spellings(app: &App, collection: &str, url: &str) -> Answer<Vec<Spelling>> {
    let new = |url: &str, exactly: bool| Spelling {
        collection: collection.to_owned(),
        surt: net::surt::key(url),
        url: exactly.then(|| url.to_owned()),
    };
    // What a browser asked for itself is archived as it spelled it.
    let mut all = vec![new(url, true)];
    match app.url(url).await {
        Ok(own) if own.as_str() != url => all.extend([true, false].map(|exactly| new(own.as_str(), exactly))),
        _ => {}
    }
    all.push(new(url, false));
    Ok(all)
}

/// The capture nearest to that time; none if there is none of the URL.
#[crate::boxed]
pub async fn find(app: &App, collection: &str, url: &str, at: At) -> Answer<Option<Found>> {
    for spelling in spellings(app, collection, url).await? {
        if let Some(row) = pick(app, &spelling, at).await? {
            return Ok(Some(described(app, spelling, row).await?));
        }
    }
    Ok(None)
}

async fn pick(app: &App, spelling: &Spelling, at: At) -> Answer<Option<Row>> {
    match at {
        At::Last => seek(app, spelling, spelling.all(), Order::Backward).await,
        At::Nearest(time) => {
            let after = seek(app, spelling, spelling.since(time), Order::Forward).await?;
            nearer(app, spelling, time, after).await
        }
        At::In(period) => {
            let after = seek(app, spelling, spelling.since(period.from), Order::Forward).await?;
            if after.as_ref().is_some_and(|(id, _)| period.has(id.time)) {
                return Ok(after);
            }
            nearer(app, spelling, period.from, after).await
        }
    }
}

/// The last before a time, or this one after it.
async fn nearer(app: &App, spelling: &Spelling, time: Time, after: Option<Row>) -> Answer<Option<Row>> {
    let before = seek(app, spelling, spelling.before(time), Order::Backward).await?;
    Ok(match (before, after) {
        (Some(before), Some(after)) => {
            let is_after = after.0.time.since(time) < time.since(before.0.time);
            Some(if is_after { after } else { before })
        }
        (before, after) => before.or(after),
    })
}

async fn seek(app: &App, spelling: &Spelling, range: KeyRange, order: Order) -> Answer<Option<Row>> {
    first_that(app, range, order, |row| spelling.is(row)).await
}

async fn first_that(
    app: &App,
    range: KeyRange,
    order: Order,
    is_wanted: impl Fn(&Capture) -> bool,
) -> Answer<Option<Row>> {
    let (mut rest, mut seen) = (Some(range), 0);
    while let Some(range) = rest.take().filter(|_| seen < ROWS_MAX) {
        // Nearly always the first.
        let limit = if seen == 0 { 1 } else { PAGE_ROWS };
        let (rows, more) = app.frontier.captures_by(&range, limit, order).await?;
        seen += rows.len().max(1);
        if let Some(found) = rows.into_iter().find(|(_, row)| is_wanted(row)) {
            return Ok(Some(found));
        }
        rest = more;
    }
    Ok(None)
}

async fn described(app: &App, spelling: Spelling, row: Row) -> Answer<Found> {
    let time = row.0.time;
    let time_of = |row: Option<Row>| row.map(|(id, _)| id.time);
    let seek = async |range, order| Ok::<_, Problem>(time_of(seek(app, &spelling, range, order).await?));
    let prev = seek(spelling.before(time), Order::Backward).await?;
    let next = seek(spelling.since(Time(time.0 + 1)), Order::Forward).await?;
    let first = if prev.is_some() { seek(spelling.all(), Order::Forward).await? } else { Some(time) };
    let last = if next.is_some() { seek(spelling.all(), Order::Backward).await? } else { Some(time) };
    Ok(Found {
        url: row.1.url.clone(),
        time,
        beside: Neighbours { first, prev, next, last },
        id: BASE64URL_NOPAD.encode(&row.0.to_bytes()),
        spelling,
        row,
    })
}

/// The times of all captures of the same URL, in their order, a page at a time.
#[derive(Debug)]
pub struct Times {
    spelling: Spelling,
    rest: Option<KeyRange>,
}

impl Times {
    pub fn of(found: &Found) -> Times {
        Times { spelling: found.spelling.clone(), rest: Some(found.spelling.all()) }
    }

    /// None at the end.
    #[crate::boxed]
    pub async fn next(&mut self, app: &App) -> Answer<Option<Vec<Time>>> {
        let Some(range) = self.rest.take() else { return Ok(None) };
        let (rows, rest) = app.frontier.captures_by(&range, LIST_ROWS, Order::Forward).await?;
        self.rest = rest;
        let own = rows.into_iter().filter(|(_, row)| self.spelling.is(row)).map(|(id, _)| id.time);
        Ok(Some(own.collect()))
    }
}

/// Where what a capture answered lies.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The record that has the body.
    content: StoredPart,
    /// Of one that is the same as before, its own.
    own: Option<StoredPart>,
}

/// An answer as it was captured.
pub struct Opened {
    pub head: Head,
    /// Without transfer coding; without content codings unless it was opened raw.
    pub body: Box<dyn Read>,
}

/// What a capture answered.
#[crate::boxed]
pub async fn answer_of(app: &App, found: &Found) -> Answer<Stored> {
    let (id, row) = &found.row;
    let part = |row: &Capture| StoredPart {
        file: warc_dir(&app.data).join(&row.file),
        offset: row.offset,
        length: row.length,
        name: String::new(),
    };
    if !row.revisit {
        return Ok(Stored { content: part(row), own: None });
    }
    // A16: it may lie under another URL.
    let named = referred(&app.frontier, &warc_dir(&app.data), &id.collection, row).await;
    let content = match named {
        Some((_, named)) => Some(named),
        None => {
            let range = ranges::captures_before(&id.collection, &id.surt, id.time);
            let holds = |other: &Capture| {
                !other.revisit && other.url == row.url && (200..300).contains(&other.status)
            };
            first_that(app, range, Order::Backward, holds).await?.map(|(_, row)| row)
        }
    };
    let content = content.ok_or_else(|| {
        Problem::new(StatusCode::GONE, "what this capture is the same as is not in the archive any more")
    })?;
    Ok(Stored { content: part(&content), own: Some(part(row)) })
}

/// The final DOM of a page, where a browser kept it (B16).
#[crate::boxed]
pub async fn final_dom(app: &App, found: &Found) -> Answer<Option<Stored>> {
    let (id, row) = &found.row;
    let name = format!("{DOM}{}", row.url);
    let range = ranges::captures_since(&id.collection, &net::surt::key(&name), found.time);
    let dom = first_that(app, range, Order::Forward, |row| row.url == name && !row.revisit).await?;
    let end = found.time.plus(RENDERED_WITHIN);
    let end = found.beside.next.map_or(end, |next| next.min(end));
    Ok(dom.filter(|(id, _)| id.time < end).map(|(_, row)| Stored {
        content: StoredPart {
            file: warc_dir(&app.data).join(&row.file),
            offset: row.offset,
            length: row.length,
            name: String::new(),
        },
        own: None,
    }))
}

impl Stored {
    /// Reads it; to be done where waiting for a disk holds nobody.
    pub fn open(&self, is_raw: bool) -> Answer<Opened> {
        let content = open_record(&self.content)?;
        let opened = opened(content, is_raw).map_err(|error| Problem::internal(&error))?;
        let Some(own) = &self.own else { return Ok(opened) };
        let own = open_record(own)?.revisited_head().map_err(|error| Problem::internal(&error))?;
        Ok(match own.map(|parsed| parsed.head).filter(|head| head.status != 304) {
            Some(head) => Opened { head, ..opened },
            None => opened,
        })
    }
}

fn open_record(part: &StoredPart) -> Answer<StoredRecord> {
    let record = StoredRecord::open(open_file(&part.file)?, part.offset, part.length);
    record.map_err(|error| Problem::internal(&error))
}

fn opened(mut record: StoredRecord, is_raw: bool) -> io::Result<Opened> {
    let is_answer = record.head.kind() == "response";
    let Some(parsed) = record.http_head()? else {
        let said = record.head.get("Content-Type").filter(|_| !is_answer);
        let kind = said.unwrap_or("application/octet-stream").as_bytes().to_vec();
        let head = Head { status: 200, headers: vec![("Content-Type".to_owned(), kind)], bytes: 0 };
        return Ok(Opened { head, body: Box::new(record.take(CONTENT_BYTES_MAX)) });
    };
    let body: Box<dyn Read> = match parsed.layout {
        Layout::Chunked => Box::new(Dechunk::new(record)),
        Layout::Empty => Box::new(io::empty()),
        _ => Box::new(record),
    };
    let body: Box<dyn Read> = match is_raw {
        true => Box::new(body.take(CONTENT_BYTES_MAX)),
        false => Box::new(net::decode::decoded(parsed.head.all("content-encoding"), body, CONTENT_BYTES_MAX)),
    };
    Ok(Opened { head: parsed.head, body })
}
