//! `skurd blacklist`: look, add, lift.

use std::io::Write;

use anyhow::Result;
use frontier::BlacklistRow;
use policy::time::Time;
use policy::url::CrawlUrl;
use serde_json::{Value, json};

use crate::args::{BlacklistArgs, BlacklistCommand, BlacklistList, UrlArgs};
use crate::hint::hinted;
use crate::output::{Column, Table, left, time_json, time_text};
use crate::session::{PAGE_ROWS, Session, note, stdout};

const COLUMNS: [Column; 5] = [left("since"), left("until"), left("reason"), left("collection"), left("url")];

pub(crate) fn run(args: &BlacklistArgs) -> Result<()> {
    match &args.command {
        None => list(&args.list),
        Some(BlacklistCommand::List(args)) => list(args),
        Some(BlacklistCommand::Add { which, reason, span }) => {
            let session = Session::open(&which.data.dir)?;
            let until = span.map(|span| session.frontier.now().plus(span));
            let end = until.map_or_else(|| "until it is lifted".to_owned(), |until| format!("until {until}"));
            each(&session, which, "queued", &format!("is blacklisted {end}"), |url, collection| {
                Ok(session.wait(session.frontier.blacklist_add(collection, url, reason, until))?)
            })
        }
        Some(BlacklistCommand::Lift(which)) => {
            let session = Session::open(&which.data.dir)?;
            each(&session, which, "blacklisted", "is back in the queue", |url, collection| {
                Ok(session.wait(session.frontier.blacklist_lift(collection, url))?)
            })
        }
    }
}

/// Does it to each URL in each collection; a URL to which it cannot be done in any is an error.
pub(super) fn each(
    session: &Session,
    which: &UrlArgs,
    wanted: &str,
    now: &str,
    act: impl Fn(&CrawlUrl, &str) -> Result<bool>,
) -> Result<()> {
    let urls: Vec<CrawlUrl> = which.urls.iter().map(|url| session.url(url)).collect::<Result<_>>()?;
    let collections = match &which.collection {
        Some(name) => {
            session.collection(name)?;
            vec![name.clone()]
        }
        None => session.collections_with_urls()?,
    };
    let mut out = stdout();
    for url in urls {
        let mut done = false;
        for collection in &collections {
            if act(&url, collection)? {
                done = true;
                writeln!(out, "{url} {now} in {collection}")?;
            }
        }
        out.flush()?;
        if !done {
            let place =
                which.collection.as_ref().map_or("any collection".to_owned(), |name| format!("`{name}`"));
            return Err(hinted(
                format!("{url} is not {wanted} in {place}"),
                format!("`skurd why {url}` says where it stands"),
            ));
        }
    }
    Ok(())
}

fn list(args: &BlacklistList) -> Result<()> {
    let session = Session::open(&args.data.dir)?;
    if let Some(name) = &args.collection {
        session.collection(name)?;
    }
    let mut out = stdout();
    let mut table = Table::new(&COLUMNS);
    let mut left = args.limit.unwrap_or(u64::MAX);
    let (mut rest, mut found) = (None, false);
    while left > 0 {
        let rows = PAGE_ROWS.min(usize::try_from(left).unwrap_or(PAGE_ROWS));
        let (rows, next) =
            session.wait(session.frontier.blacklist(args.collection.as_deref(), rest, rows))?;
        left -= u64::try_from(rows.len()).unwrap_or(left).min(left);
        found |= !rows.is_empty();
        match args.json {
            true => rows.iter().try_for_each(|row| writeln!(out, "{}", object(row)))?,
            false => table.page(&mut out, &rows.iter().map(cells).collect::<Vec<_>>())?,
        }
        match next {
            Some(next) => rest = Some(next),
            None => break,
        }
    }
    out.flush()?;
    match found || args.json {
        true => Ok(()),
        false => note("nothing is blacklisted"),
    }
}

fn object(row: &BlacklistRow) -> Value {
    json!({
        "collection": row.collection,
        "url": row.url,
        "reason": row.entry.reason.to_string(),
        "since": time_json(Some(row.entry.since)),
        "until": time_json(row.entry.until),
    })
}

fn cells(row: &BlacklistRow) -> Vec<String> {
    let until =
        |until: Option<Time>| until.map_or_else(|| "lifted".to_owned(), |until| time_text(Some(until)));
    vec![
        row.entry.since.to_string(),
        until(row.entry.until),
        row.entry.reason.to_string(),
        row.collection.clone(),
        row.url.clone(),
    ]
}
