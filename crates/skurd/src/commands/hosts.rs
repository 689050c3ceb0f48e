//! `skurd hosts`: who has URLs, and when each can next be asked.

use anyhow::Result;
use app::hosts::HostItem;
use harvest::session::note;
use policy::time::Span;
use server::client::Client;

use super::listing::Listing;
use crate::args::HostsArgs;
use crate::output::{Column, left, right, text_or_dash};

const COLUMNS: [Column; 8] = [
    left("host"),
    left("group"),
    left("next use"),
    right("in flight"),
    left("busy until"),
    right("response"),
    left("backs off until"),
    right("failures"),
];

pub(crate) fn run(args: &HostsArgs) -> Result<()> {
    let query = vec![("busy", args.busy.to_string())];
    let listing = Listing { path: "hosts", query, limit: args.limit, json: args.json, columns: &COLUMNS };
    let found = listing.print(&Client::open(&args.data.dir)?, cells)?;
    match (found || args.json, args.busy) {
        (true, _) => Ok(()),
        (false, true) => note("no host is being asked just now"),
        (false, false) => note("no host has URLs; `skurd start` queues the seeds"),
    }
}

fn cells(item: &HostItem) -> Vec<String> {
    let waits = match item.paused {
        true => "(paused)".to_owned(),
        false => text_or_dash(item.backoff_until.as_deref()),
    };
    vec![
        item.host.clone(),
        text_or_dash(item.group.as_deref()),
        text_or_dash(item.next.as_deref()),
        item.in_flight.len().to_string(),
        text_or_dash(item.busy_until.as_deref()),
        Span(item.response_ms).to_string(),
        waits,
        item.failures.to_string(),
    ]
}
