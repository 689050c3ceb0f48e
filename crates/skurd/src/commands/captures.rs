//! `skurd captures`: what was archived.

use std::io::Write;

use anyhow::Result;
use app::captures::CaptureItem;
use harvest::session::stdout;
use server::client::Client;

use super::listing::Listing;
use crate::args::CapturesArgs;
use crate::output::{Column, left, number_or_dash, right, text_or_dash};

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
    let mut query = Vec::new();
    query.extend(args.url.clone().map(|url| ("url", url)));
    query.extend(args.collection.clone().map(|name| ("collection", name)));
    let limit = args.limit.map(|limit| u64::try_from(limit).unwrap_or(u64::MAX));
    let listing = Listing { path: "captures", query, limit, json: args.json, columns: &COLUMNS };
    let found = listing.print(&Client::open(&args.data.dir)?, cells)?;
    if !found && !args.json {
        let of = args.url.as_ref().map_or_else(String::new, |url| format!(" of {url}"));
        let mut out = stdout();
        writeln!(out, "nothing is archived{of}")?;
        out.flush()?;
    }
    Ok(())
}

fn cells(item: &CaptureItem) -> Vec<String> {
    let mime = if item.revisit { "(as before)".to_owned() } else { text_or_dash(item.mime.as_deref()) };
    vec![
        item.time.clone(),
        item.collection.clone(),
        number_or_dash(item.status),
        mime,
        item.url.clone(),
        item.file.clone(),
        item.offset.to_string(),
    ]
}
