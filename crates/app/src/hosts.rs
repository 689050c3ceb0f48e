//! Who has URLs, and when each can next be asked.

use std::collections::BTreeSet;

use frontier::{HostRow, Pause, ranges};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Answer, App};
use crate::page::{self, Page, ROWS_READ_MAX};

/// A host that has URLs.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct HostItem {
    pub host: String,
    /// The group it shares its slots with.
    pub group: Option<String>,
    /// When it can next be asked; none while all its slots are taken.
    #[schema(format = DateTime)]
    pub next: Option<String>,
    /// The URLs that are being fetched.
    pub in_flight: Vec<String>,
    #[schema(format = DateTime)]
    pub busy_until: Option<String>,
    pub response_ms: u64,
    #[schema(format = DateTime)]
    pub backoff_until: Option<String>,
    /// Harvests without an answer since the last answer.
    pub failures: u32,
    pub paused: bool,
}

impl HostItem {
    pub(super) fn new(row: &HostRow, paused: bool) -> HostItem {
        HostItem {
            host: row.host.clone(),
            group: row.group.clone(),
            next: row.next.map(|time| time.to_string()),
            in_flight: row.in_flight.clone(),
            busy_until: row.busy_until.map(|time| time.to_string()),
            response_ms: row.response_time.0,
            backoff_until: row.backoff_until.map(|time| time.to_string()),
            failures: row.failures,
            paused,
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Only hosts that are being asked just now.
    #[serde(default)]
    pub busy: bool,
    /// The `next` of the page before.
    pub cursor: Option<String>,
    /// How many items at most; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
}

/// List the hosts that have URLs
#[crate::boxed]
pub async fn list_hosts(app: &App, filter: Filter) -> Answer<Page<HostItem>> {
    let limit = page::limit(filter.limit)?;
    let mut rest = Some(page::rest(filter.cursor.as_deref(), &ranges::hosts())?);
    let paused: BTreeSet<Pause> = app.frontier.paused().await?.into_iter().map(|(pause, _)| pause).collect();
    let item = |row: &HostRow| HostItem::new(row, paused.contains(&Pause::Host(row.host.clone())));
    let (mut items, mut read) = (Vec::new(), 0);
    while let Some(range) = rest.take_if(|_| items.len() < limit && read < ROWS_READ_MAX) {
        let (rows, next) = app.frontier.hosts(Some(range), limit - items.len()).await?;
        read += rows.len();
        let wanted = rows.iter().filter(|row| !filter.busy || !row.in_flight.is_empty());
        items.extend(wanted.map(item));
        rest = next;
    }
    Ok(Page { items, next: page::next(rest) })
}
