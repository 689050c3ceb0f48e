//! `skurd captures`: what was archived.

use std::io::Write;

use anyhow::Result;
use frontier::schema::Capture;
use policy::time::Time;
use serde_json::json;
use store::table::KeyRange;

use crate::args::CapturesArgs;
use crate::output::{Column, Table, left, right, text_or_dash, time_json, time_text};
use crate::session::{PAGE_ROWS, Session, stdout};

const COLUMNS: [Column; 7] = [
    left("time"),
    left("collection"),
    right("status"),
    left("mime"),
    left("url"),
    left("file"),
    right("offset"),
];

pub(crate) fn run(args: &CapturesArgs) -> Result<()> {
    let session = Session::open(&args.data.dir)?;
    let collections = match &args.collection {
        Some(name) => {
            session.collection(name)?;
            vec![name.clone()]
        }
        None => session.collections_with_captures()?,
    };
    let url = args.url.as_deref().map(|url| session.url(url)).transpose()?;
    let key = url.as_ref().map(|url| net::surt::key(url.as_str()));
    let mut left = args.limit.unwrap_or(usize::MAX);
    let mut out = stdout();
    let mut table = Table::new(&COLUMNS);
    let mut found = false;
    for collection in collections {
        let mut pages = Pages::new(&session, &collection, key.as_deref());
        while let Some(rows) = pages.next()? {
            // Two spellings share a key.
            let wanted =
                rows.iter().filter(|(_, _, row)| url.as_ref().is_none_or(|url| row.url == url.as_str()));
            let rows: Vec<_> = wanted.take(left).collect();
            left -= rows.len();
            found |= !rows.is_empty();
            match args.json {
                true => rows.iter().try_for_each(|row| writeln!(out, "{}", as_json(&collection, row)))?,
                false => table
                    .page(&mut out, &rows.iter().map(|row| cells(&collection, row)).collect::<Vec<_>>())?,
            }
            if left == 0 {
                break;
            }
        }
    }
    if !found && !args.json {
        writeln!(out, "nothing is archived{}", url.map_or_else(String::new, |url| format!(" of {url}")))?;
    }
    Ok(out.flush()?)
}

/// The captures of a collection, or of one key in it, page by page.
pub(super) struct Pages<'a> {
    session: &'a Session,
    collection: &'a str,
    rest: Option<KeyRange>,
    begun: bool,
}

pub(super) type Row = (String, Time, Capture);

impl<'a> Pages<'a> {
    pub(super) fn new(session: &'a Session, collection: &'a str, key: Option<&str>) -> Pages<'a> {
        let rest = key.map(|key| frontier::schema::CAPTURES.range((collection, key)));
        Pages { session, collection, rest, begun: false }
    }

    pub(super) fn next(&mut self) -> Result<Option<Vec<Row>>> {
        if self.begun && self.rest.is_none() {
            return Ok(None);
        }
        self.begun = true;
        let page = self.session.frontier.captures(self.collection, self.rest.take(), PAGE_ROWS);
        let (rows, rest) = self.session.wait(page)?;
        self.rest = rest;
        Ok(Some(rows))
    }
}

fn as_json(collection: &str, (_, time, row): &Row) -> serde_json::Value {
    json!({
        "collection": collection,
        "url": row.url,
        "time": time_json(Some(*time)),
        "status": (row.status > 0).then_some(row.status),
        "mime": row.mime,
        "digest": row.digest,
        "file": row.file,
        "offset": row.offset,
        "length": row.length,
        "revisit": row.revisit,
    })
}

fn cells(collection: &str, (_, time, row): &Row) -> Vec<String> {
    let status = if row.status > 0 { row.status.to_string() } else { "–".to_owned() };
    let mime = if row.revisit { "(as before)".to_owned() } else { text_or_dash(row.mime.as_deref()) };
    vec![
        time_text(Some(*time)),
        collection.to_owned(),
        status,
        mime,
        row.url.clone(),
        row.file.clone(),
        row.offset.to_string(),
    ]
}
