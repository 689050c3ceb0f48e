//! What the host of a URL is doing, and the group it shares its slots with.

use anyhow::Result;
use frontier::schema::{GROUPS, Slots};
use frontier::{HostRow, HostSituation};
use policy::time::Time;
use serde_json::{Value, json};

use super::when;
use crate::commands::hosts;
use crate::output::time_json;
use crate::session::Session;

pub(super) struct HostState {
    name: String,
    /// None: it has no URLs.
    row: Option<HostRow>,
    /// Of its group, if it is in one that is in use.
    group: Option<Slots>,
}

impl HostState {
    pub(super) fn read(session: &Session, host: &HostSituation) -> Result<HostState> {
        let group = match host.row.as_ref().and_then(|row| row.group.as_deref()) {
            Some(name) => session.wait(async {
                let tx = session.frontier.store().begin().await?;
                GROUPS.get(&tx, (name,)).await
            })?,
            None => None,
        };
        Ok(HostState { name: host.host.clone(), row: host.row.clone(), group: group.map(|row| row.slots) })
    }

    pub(super) fn object(&self) -> Value {
        let Some(row) = &self.row else { return json!({ "host": self.name, "idle": true }) };
        let mut object = hosts::object(row);
        if let Some(slots) = &self.group {
            object["group_next"] = time_json(slots.queued_at);
            object["group_in_flight"] = slots.taken.iter().map(|slot| slot.url.as_str()).collect();
        }
        object
    }

    pub(super) fn sentence(&self, now: Time) -> String {
        let Some(row) = &self.row else { return format!("{} has no URLs waiting", self.name) };
        let mut parts = vec![self.name.clone()];
        if let Some(group) = &row.group {
            parts[0].push_str(&format!(" (in group {group})"));
        }
        parts.extend(busy("busy with", &row.in_flight, row.busy_until));
        if let Some(slots) = &self.group {
            let others = slots.taken.iter().filter(|slot| slot.host != self.name);
            let (urls, ends): (Vec<String>, Vec<Time>) =
                others.map(|slot| (slot.url.clone(), slot.until)).unzip();
            parts.extend(busy("its group is busy with", &urls, ends.into_iter().min()));
        }
        if let Some(until) = row.backoff_until.filter(|until| *until > now) {
            parts.push(format!("backs off until {} after {} failures", when(until, now), row.failures));
        }
        parts.push(match self.next() {
            Some(next) if next > now => format!("can next be asked {}", when(next, now)),
            Some(_) => "can be asked now".to_owned(),
            None => "no slot is free".to_owned(),
        });
        parts.join(", ")
    }

    /// When it can next be asked; a host in a group waits for the group too.
    fn next(&self) -> Option<Time> {
        let own = self.row.as_ref().and_then(|row| row.next);
        match &self.group {
            Some(slots) => own.zip(slots.queued_at).map(|(own, group)| own.max(group)),
            None => own,
        }
    }
}

fn busy(how: &str, urls: &[String], until: Option<Time>) -> Option<String> {
    let (first, until) = urls.first().zip(until)?;
    let more = if urls.len() > 1 { format!(" and {} more", urls.len() - 1) } else { String::new() };
    Some(format!("{how} {first}{more}, reserved until {until}"))
}
