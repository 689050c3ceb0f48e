//! `skurd blacklist`: look, add, lift.

use anyhow::Result;
use app::blacklist::{Added, BlacklistItem, Lifted};
use axum::http::Method;
use harvest::session::note;
use policy::unit::print_duration;
use serde_json::json;
use server::client::{Call, Client};

use super::listing::Listing;
use super::queue::each;
use crate::args::{BlacklistArgs, BlacklistCommand, BlacklistList};
use crate::output::{Column, left};

const COLUMNS: [Column; 5] = [left("since"), left("until"), left("reason"), left("collection"), left("url")];

pub(crate) fn run(args: &BlacklistArgs) -> Result<()> {
    match &args.command {
        None => list(&args.list),
        Some(BlacklistCommand::List(args)) => list(args),
        Some(BlacklistCommand::Add { which, reason, span }) => each(which, |ask, url| {
            let span = span.map(print_duration);
            let body = json!({ "url": url, "collection": which.collection, "reason": reason, "for": span });
            let added: Added = ask.ask(&Call::new(Method::POST, "blacklist").body(&body))?;
            let end = added.until.map_or("until it is lifted".to_owned(), |until| format!("until {until}"));
            Ok((format!("is blacklisted {end}"), added.url, added.collections))
        }),
        Some(BlacklistCommand::Lift(which)) => each(which, |ask, url| {
            let body = json!({ "url": url, "collection": which.collection });
            let lifted: Lifted = ask.ask(&Call::new(Method::POST, "blacklist/lift").body(&body))?;
            Ok(("is back in the queue".to_owned(), lifted.url, lifted.collections))
        }),
    }
}

fn list(args: &BlacklistList) -> Result<()> {
    let query = args.collection.clone().map(|name| ("collection", name)).into_iter().collect();
    let listing = Listing { path: "blacklist", query, limit: args.limit, json: args.json, columns: &COLUMNS };
    let found = listing.print(&Client::open(&args.data.dir)?, cells)?;
    match found || args.json {
        true => Ok(()),
        false => note("nothing is blacklisted"),
    }
}

fn cells(item: &BlacklistItem) -> Vec<String> {
    let until = item.until.clone().unwrap_or_else(|| "lifted".to_owned());
    vec![item.since.clone(), until, item.reason.clone(), item.collection.clone(), item.url.clone()]
}
