//! `skurd queue`: the URLs that are known, page by page; and moving them.

use std::io::Write;

use anyhow::Result;
use app::queue::{Moved, QueueItem};
use axum::http::Method;
use harvest::session::{note, stdout};
use policy::unit::print_duration;
use serde_json::json;
use server::client::{Call, Client};

use super::listing::Listing;
use crate::args::{QueueArgs, QueueCommand, UrlArgs};
use crate::output::{Column, left, number_or_dash, right, text_or_dash};

const COLUMNS: [Column; 9] = [
    left("state"),
    left("due"),
    left("last fetch"),
    right("depth"),
    right("errors"),
    right("cycles"),
    left("collection"),
    left("seed"),
    left("url"),
];

pub(crate) fn run(args: &QueueArgs) -> Result<()> {
    match &args.command {
        None => list(args),
        Some(QueueCommand::Move { which, to }) => {
            let to = if to.0 == 0 { "now".to_owned() } else { print_duration(*to) };
            each(which, |ask, url| {
                let body = json!({ "url": url, "collection": which.collection, "to": to });
                let moved: Moved = ask.ask(&Call::new(Method::POST, "queue/move").body(&body))?;
                Ok((format!("is due {}", moved.due), moved.url, moved.collections))
            })
        }
    }
}

/// Does it to each URL, and says what was done in which collection.
pub(super) fn each(
    which: &UrlArgs,
    act: impl Fn(&Client, &str) -> Result<(String, String, Vec<String>)>,
) -> Result<()> {
    let ask = Client::open(&which.data.dir)?;
    let mut out = stdout();
    for url in &which.urls {
        let (now, url, collections) = act(&ask, url)?;
        for collection in collections {
            writeln!(out, "{url} {now} in {collection}")?;
        }
        out.flush()?;
    }
    Ok(())
}

fn list(args: &QueueArgs) -> Result<()> {
    let mut query = Vec::new();
    query.extend(args.collection.clone().map(|name| ("collection", name)));
    query.extend(args.host.clone().map(|host| ("host", host)));
    query.extend(args.state.map(|state| ("state", state.as_str().to_owned())));
    let listing = Listing { path: "queue", query, limit: args.limit, json: args.json, columns: &COLUMNS };
    let found = listing.print(&Client::open(&args.data.dir)?, cells)?;
    match found || args.json {
        true => Ok(()),
        false => note("no URL is there; `skurd start` queues the seeds"),
    }
}

fn cells(item: &QueueItem) -> Vec<String> {
    vec![
        item.state.as_str().to_owned(),
        text_or_dash(item.due.as_deref()),
        text_or_dash(item.last_fetch.as_deref()),
        number_or_dash(item.depth),
        number_or_dash(item.errors),
        number_or_dash(item.cycles),
        item.collection.clone(),
        text_or_dash(item.seed.as_deref()),
        item.url.clone(),
    ]
}
