//! `skurd traps` and `skurd report traps`: what seems to be a trap, and what to do about it.

use anyhow::Result;
use app::traps::{Decided, Exclude, Release, TrapItem};
use axum::http::Method;
use declare::counted;
use serde::Serialize;
use server::client::{Call, Client};

use super::listing::{Listing, given};
use crate::args::look::{TrapsArgs, TrapsCommand};
use crate::args::value::DataDir;
use crate::output::{Column, left, line, right, shown};

const TRAPS: [Column<TrapItem>; 9] = [
    left("id", |trap| shown(&trap.id)),
    left("kind", |trap| shown(&trap.kind)),
    right("score", |trap| shown(trap.score)),
    left("host", |trap| shown(&trap.host)),
    left("template", |trap| shown(&trap.template)),
    right("urls", |trap| shown(trap.figures.found)),
    right("nothing new", |trap| format!("{} %", trap.figures.stale_percent)),
    left("state", |trap| match trap.held {
        0 => shown(&trap.state),
        10_000.. => "10,000 held or more".to_owned(),
        held => format!("{held} held"),
    }),
    left("ends it", |trap| shown(&trap.line)),
];

pub(crate) fn run(command: &TrapsCommand) -> Result<()> {
    match command {
        TrapsCommand::List(args) => list(args),
        TrapsCommand::Release { id, collection, data, json } => {
            let wanted = Release { id: id.clone(), collection: collection.clone() };
            decide(data, "traps/release", &wanted, *json)
        }
        TrapsCommand::Exclude { id, profile, collection, data, json } => {
            let wanted = Exclude { id: id.clone(), collection: collection.clone(), profile: profile.clone() };
            decide(data, "traps/exclude", &wanted, *json)
        }
    }
}

pub(super) fn list(args: &TrapsArgs) -> Result<()> {
    let query = given([("host", args.host.clone()), ("all", args.all.then(|| "true".to_owned()))]);
    let listing = Listing { path: "traps", query, limit: None, json: args.json, columns: &TRAPS };
    listing.print_or(&args.data.dir, "nothing seems to be a trap")
}

fn decide(data: &DataDir, path: &str, wanted: &impl Serialize, json: bool) -> Result<()> {
    let call = Call::new(Method::POST, path).body(&serde_json::to_value(wanted)?);
    let client = Client::open(&data.dir)?;
    if json {
        let answer: serde_json::Value = client.ask(&call)?;
        return line(answer);
    }
    let Decided { id, host, declared, back, .. } = client.ask(&call)?;
    match declared {
        Some(declared) => line(format!("{id} of {host} ends by {declared}"))?,
        None => line(format!("{id} of {host} is released"))?,
    }
    if back > 0 { line(format!("{} that were held are due now", counted(back, "URL"))) } else { Ok(()) }
}
