//! The machines that share a store (M2, M9).

use frontier::{NODE_LEASE, NodeRow};
use http::StatusCode;
use policy::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Answer, App, Problem};
use crate::page::{Page, Paging};

/// A machine, or rather a process, that works on the store.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct NodeItem {
    pub name: String,
    /// It was heard of within its lease.
    pub alive: bool,
    /// It is the one that answers.
    pub here: bool,
    #[schema(format = DateTime)]
    pub since: String,
    /// Its last sign of life.
    #[schema(format = DateTime)]
    pub heard: String,
    /// How many of the 256 shards of hosts it works on.
    pub shards: u32,
    /// Requests under way.
    pub in_flight: u64,
    /// Harvests since it joined.
    pub harvests: u64,
    pub bytes: u64,
    /// Harvests a minute, since it joined.
    pub per_minute: f64,
    /// Where its API is.
    pub address: Option<String>,
}

/// A node that is no longer on the list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Forgotten {
    pub name: String,
    /// Archive files that only it had, and the captures in them: known, but not to be read.
    pub files: u64,
    pub captures: u64,
}

/// List the machines that share the store
#[crate::boxed]
pub async fn list_nodes(app: &App, paging: Paging) -> Answer<Page<NodeItem>> {
    let (here, now) = (app.frontier.node(), app.frontier.now());
    let rows = app.frontier.nodes().await?;
    let (names, next) = paging.names(rows.iter().map(|(name, _)| name.as_str()).collect())?;
    let wanted = rows.iter().filter(|(name, _)| names.contains(&name.as_str()));
    Ok(Page { items: wanted.map(|(name, row)| item(name, row, &here, now)).collect(), next })
}

fn item(name: &str, row: &NodeRow, here: &str, now: Time) -> NodeItem {
    let heard = Time(row.until.0.saturating_sub_unsigned(NODE_LEASE.0));
    #[allow(clippy::cast_precision_loss, reason = "a rate")]
    let minutes = heard.since(row.since).0.max(1000) as f64 / 60_000.0;
    #[allow(clippy::cast_precision_loss, reason = "a rate")]
    let per_minute = row.figures.harvests as f64 / minutes;
    NodeItem {
        name: name.to_owned(),
        alive: row.until > now,
        here: name == here,
        since: row.since.to_string(),
        heard: heard.to_string(),
        shards: if row.until > now { row.shards } else { 0 },
        in_flight: row.figures.in_flight,
        harvests: row.figures.harvests,
        bytes: row.figures.bytes,
        per_minute: (per_minute * 10.0).round() / 10.0,
        address: row.address.clone(),
    }
}

/// Take a machine off the list that will not come back
#[crate::boxed]
pub async fn forget_node(app: &App, name: String) -> Answer<Forgotten> {
    let nodes = app.frontier.nodes().await?;
    if !nodes.iter().any(|(known, _)| *known == name) {
        return Err(Problem::new(StatusCode::NOT_FOUND, format!("there is no node {name:?}")));
    }
    if !app.frontier.forget_node(&name).await? {
        let told = format!("node {name:?} is at work: stop it first");
        return Err(Problem::new(StatusCode::CONFLICT, told));
    }
    let files = app.frontier.all_archive_files().await?;
    let lost = files.values().filter(|row| row.node == name);
    let (files, captures) = lost.fold((0, 0), |(files, captures), row| (files + 1, captures + row.captures));
    Ok(Forgotten { name, files, captures })
}
