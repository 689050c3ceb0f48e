//! What must hold between the tables at every commit, checked by reading all of them.
//!
//! Used by the simulator after every step, by tests, and by `skurd store check`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use policy::model::BlacklistReason;
use policy::time::Time;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::key::Key;
use store::table::Table;
use store::{Order, Result, Tx};

use crate::Frontier;
use crate::budgets::id_of;
use crate::hosts::Unit;
use crate::patterns::pattern_id;
use crate::recount::differences;
use crate::robots::server_of;
use crate::schema::{
    BARRED_URLS, BLACKLIST, BLACKLIST_ENDS, DENIED, GROUP_QUEUE, GROUPS, HELD_BACK, HOST_QUEUE, HOSTS, Host,
    LEASES, QUEUE, SILENT_QUEUE, URLS, UrlState,
};
use crate::shard::shard_of;
use crate::transaction::stored_url;

/// Something that must not be, in a sentence.
pub type Finding = String;

/// A consistent picture of the frontier, for checkers.
#[derive(Debug)]
pub struct Ledger {
    pub urls: BTreeMap<(String, String), UrlState>,
    pub queue: Vec<(String, Time, String, String)>,
    pub hosts: BTreeMap<String, Host>,
    pub findings: Vec<Finding>,
}

fn place_of_group(name: &str, at: Time) -> (u8, i64, String) {
    let unit = Unit::Group(name.to_owned()).to_string();
    (shard_of(&unit), at.0, unit)
}

pub(crate) async fn all<K: Key + 'static, V: Serialize + DeserializeOwned>(
    tx: &Tx,
    table: &Table<K, V>,
) -> Result<Vec<(K, V)>> {
    let mut rows = Vec::new();
    let mut rest = Some(store::table::KeyRange::prefix(vec![table.id()]));
    while let Some(range) = rest {
        let page = table.scan(tx, &range, 10_000, Order::Forward).await?;
        rows.extend(page.rows);
        rest = page.rest;
    }
    Ok(rows)
}

impl Frontier {
    /// Reads everything and says what does not fit.
    #[crate::boxed]
    pub async fn audit(&self) -> Result<Ledger> {
        let tx = self.store.begin().await?;
        let urls: BTreeMap<_, _> = all(&tx, &URLS).await?.into_iter().collect();
        let queue: Vec<_> =
            all(&tx, &QUEUE).await?.into_iter().map(|((h, due, c, u), ())| (h, Time(due), c, u)).collect();
        let hosts: BTreeMap<_, _> =
            all(&tx, &HOSTS).await?.into_iter().map(|((name,), row)| (name, row)).collect();
        let mut ledger = Ledger { urls, queue, hosts, findings: Vec::new() };
        ledger.urls_and_queue_agree()?;
        ledger.blacklist_agrees(&tx).await?;
        self.declared.catch_up(&tx).await?;
        let opening = |unit: &str, at: Time| {
            let catalog = self.declared.catalog.read();
            let politeness = catalog.group(unit).map(|group| &group.politeness);
            politeness.unwrap_or_else(|| catalog.politeness(unit)).hours().opening(at)
        };
        ledger.hosts_stand_where_they_should(&tx, self.clock.now(), &opening).await?;
        ledger.leases_agree(&tx).await?;
        ledger.held_back_agrees(&tx).await?;
        ledger.findings.extend(differences(&tx, &ledger.urls).await?);
        Ok(ledger)
    }
}

impl Ledger {
    fn find(&mut self, finding: String) {
        self.findings.push(finding);
    }

    fn urls_and_queue_agree(&mut self) -> Result<()> {
        let mut places = HashMap::new();
        let mut findings = Vec::new();
        for (host, due, collection, url) in &self.queue {
            if let Some(other) = places.insert((collection.clone(), url.clone()), (host.clone(), *due)) {
                findings.push(format!("{url} in {collection} is queued twice: at {due} and {}", other.1));
            }
        }
        for ((collection, url), state) in &self.urls {
            let place = places.remove(&(collection.clone(), url.clone()));
            match (state, place) {
                (UrlState::Queued(record), Some((host, due))) => {
                    if record.due != due {
                        findings.push(format!("{url} is due {} but queued at {due}", record.due));
                    }
                    if stored_url(url)?.site() != host {
                        findings.push(format!("{url} is queued at host {host}"));
                    }
                }
                (UrlState::Queued(_), None) => {
                    findings.push(format!("{url} in {collection} is lost from the queue"));
                }
                (_, Some((_, due))) => {
                    findings.push(format!("{url} is not queued, but stands there at {due}"));
                }
                (_, None) => {}
            }
        }
        findings.extend(places.into_keys().map(|(_, url)| format!("{url} is in the queue without a record")));
        self.findings.extend(findings);
        Ok(())
    }

    async fn blacklist_agrees(&mut self, tx: &Tx) -> Result<()> {
        let entries: BTreeMap<_, _> = all(tx, &BLACKLIST).await?.into_iter().collect();
        let ends: BTreeSet<_> = all(tx, &BLACKLIST_ENDS).await?.into_iter().map(|(key, ())| key).collect();
        let mut barred: BTreeSet<_> = all(tx, &BARRED_URLS).await?.into_iter().map(|(key, ())| key).collect();
        for ((collection, url), entry) in &entries {
            if !matches!(self.urls.get(&(collection.clone(), url.clone())), Some(UrlState::Blacklisted(_))) {
                self.find(format!("{url} is on the blacklist, but its state is another"));
            }
            let denied = DENIED.get(tx, (server_of(&stored_url(url)?), collection, url)).await?.is_some();
            if denied != (entry.reason == BlacklistReason::Robots) {
                self.find(format!("{url} is blacklisted ({}), and denied by robots: {denied}", entry.reason));
            }
            if let BlacklistReason::Pattern(name) = &entry.reason
                && !barred.remove(&(pattern_id(name), collection.clone(), url.clone()))
            {
                self.find(format!("{url} is held by {name}, which does not know"));
            }
            if let Some(until) = entry.until
                && !ends.contains(&(until.0, collection.clone(), url.clone()))
            {
                self.find(format!("the blacklisting of {url} would never end"));
            }
        }
        self.findings
            .extend(barred.into_iter().map(|(_, _, url)| format!("a pattern holds {url}, which is not so")));
        let orphans = self
            .urls
            .iter()
            .filter(|(key, state)| matches!(state, UrlState::Blacklisted(_)) && !entries.contains_key(*key));
        let orphans: Vec<_> =
            orphans.map(|((_, url), _)| format!("{url} is blacklisted without an entry")).collect();
        self.findings.extend(orphans);
        for ((_, collection, url), ()) in all(tx, &DENIED).await? {
            if !entries.contains_key(&(collection, url.clone())) {
                self.find(format!("{url} is denied by robots, but not on the blacklist"));
            }
        }
        Ok(())
    }

    /// F5, F6: a host with waiting URLs stands in a queue, early enough, unless it is full; and
    /// nothing else stands there.
    async fn hosts_stand_where_they_should(
        &mut self,
        tx: &Tx,
        now: Time,
        opening: &(dyn Fn(&str, Time) -> Time + Sync),
    ) -> Result<()> {
        let mut first: HashMap<&str, (Option<Time>, Time)> = HashMap::new();
        for (host, due, collection, url) in &self.queue {
            let in_flight = self.hosts.get(host).is_some_and(|row| row.is_in_flight(collection, url));
            let entry = first.entry(host).or_insert((None, *due));
            entry.1 = entry.1.min(*due);
            if !in_flight {
                entry.0 = Some(entry.0.map_or(*due, |earliest| earliest.min(*due)));
            }
        }
        let mut host_queue: BTreeSet<_> =
            all(tx, &HOST_QUEUE).await?.into_iter().map(|(key, ())| key).collect();
        let silent = all(tx, &SILENT_QUEUE).await?.into_iter().map(|(key, ())| key);
        let twice: Vec<_> = silent.filter(|key| !host_queue.insert(key.clone())).collect();
        let mut group_queue: BTreeSet<_> =
            all(tx, &GROUP_QUEUE).await?.into_iter().map(|(key, ())| key).collect();
        let mut findings: Vec<_> =
            twice.iter().map(|entry| format!("{entry:?} stands in both lanes of the host queue")).collect();
        for (name, (waiting, earliest)) in &first {
            let Some(host) = self.hosts.get(*name) else {
                findings.push(format!("{name} has URLs but no row"));
                continue;
            };
            if host.head > *earliest {
                findings.push(format!("{name}: scans begin at {}, but a URL is due {earliest}", host.head));
            }
            let Some(waiting) = waiting else { continue };
            // Where it stands before now does not matter: it is its turn.
            let limit = host.ready(*waiting).max(host.slots.next_free).max(now);
            let limit = if host.group.is_some() { limit } else { opening(name, limit) };
            match (host.group.as_ref(), host.slots.queued_at) {
                (None, Some(at)) if at <= limit => {}
                (Some((_, at)), None) if *at <= limit => {}
                (None, None) if !host.slots.taken.is_empty() => {}
                (group, at) => findings.push(format!(
                    "{name} has a URL waiting since {waiting} and stands at {at:?} {group:?} instead of {limit}"
                )),
            }
        }
        for (name, host) in &self.hosts {
            if let Some(at) = host.slots.queued_at
                && !host_queue.remove(&(shard_of(name), at.0, name.clone()))
            {
                findings.push(format!("{name} says it stands in the host queue at {at}, but does not"));
            }
            if let Some((group, at)) = &host.group
                && !group_queue.remove(&(group.clone(), at.0, name.clone()))
            {
                findings.push(format!("{name} says it stands in group {group} at {at}, but does not"));
            }
        }
        let groups = all(tx, &GROUPS).await?;
        let members = all(tx, &GROUP_QUEUE).await?;
        for ((name,), group) in &groups {
            if let Some(at) = group.slots.queued_at
                && !host_queue.remove(&place_of_group(name, at))
            {
                findings.push(format!("group {name} says it stands in the host queue at {at}, but does not"));
            }
            let first =
                members.iter().find(|((group, ..), ())| group == name).map(|((_, at, _), ())| Time(*at));
            if let Some(first) = first
                && group.slots.taken.is_empty()
                && group
                    .slots
                    .queued_at
                    .is_none_or(|at| at > opening(name, first.max(group.slots.next_free).max(now)))
            {
                findings.push(format!(
                    "group {name} has a host waiting since {first} and stands at {:?} (free from {})",
                    group.slots.queued_at, group.slots.next_free
                ));
            }
        }
        findings
            .extend(host_queue.iter().map(|entry| format!("{entry:?} stands in the host queue for nothing")));
        findings
            .extend(group_queue.iter().map(|entry| format!("{entry:?} stands in a group queue for nothing")));
        self.findings.extend(findings);
        Ok(())
    }

    /// F36: who waits for a budget is listed with it, and nobody else.
    async fn held_back_agrees(&mut self, tx: &Tx) -> Result<()> {
        let mut listed: BTreeSet<_> = all(tx, &HELD_BACK).await?.into_iter().map(|(key, ())| key).collect();
        let mut findings = Vec::new();
        for ((collection, url), state) in &self.urls {
            if let UrlState::Queued(record) = state
                && let Some(holder) = &record.charges.held_by
                && !listed.remove(&(id_of(holder), collection.clone(), url.clone()))
            {
                findings.push(format!("{url} waits for the budget of {holder}, which does not know"));
            }
        }
        findings.extend(listed.into_iter().map(|(_, _, url)| format!("{url} does not wait for a budget")));
        self.findings.extend(findings);
        Ok(())
    }

    async fn leases_agree(&mut self, tx: &Tx) -> Result<()> {
        let mut leases: HashMap<u64, i64> =
            all(tx, &LEASES).await?.into_iter().map(|((_, until, id), _)| (id, until)).collect();
        let mut findings = Vec::new();
        for ((name,), group) in all(tx, &GROUPS).await? {
            for slot in &group.slots.taken {
                let host = self.hosts.get(&slot.host);
                if !host.is_some_and(|host| host.slots.taken.contains(slot)) {
                    findings.push(format!("group {name}: the slot of {} is not that of its host", slot.url));
                }
            }
        }
        for (name, host) in &self.hosts {
            let mut urls = BTreeSet::new();
            for slot in &host.slots.taken {
                if leases.remove(&slot.lease) != Some(slot.until.0) {
                    findings.push(format!("{name}: a slot has no lease"));
                }
                if !urls.insert((&slot.collection, &slot.url)) {
                    findings.push(format!("{name}: {} is in flight twice", slot.url));
                }
            }
        }
        findings.extend(leases.into_keys().map(|lease| format!("lease {lease} holds nothing")));
        self.findings.extend(findings);
        Ok(())
    }
}
