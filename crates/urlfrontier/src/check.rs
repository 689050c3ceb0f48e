//! What must hold between the tables, worked out from all of their rows.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::de::DeserializeOwned;
use store::key::Key;
use store::table::Table;
use store::{Order, Result, Store, Tx};

use crate::tables::{
    BLOCKS, COUNTS, CRAWL_COUNTS, CRAWLS, Counts, CrawlCounts, LEASES, PLACES, QUEUES, READY, REMOVED, State,
    Sum, URLS,
};

async fn all<K, V>(tx: &Tx, table: &Table<K, V>) -> Result<Vec<(K, V)>>
where
    K: Key + 'static,
    V: Serialize + DeserializeOwned,
{
    let (mut rest, mut rows) = (Some(table.range(())), Vec::new());
    while let Some(range) = rest {
        let page = table.scan(tx, &range, 4096, Order::Forward).await?;
        rows.extend(page.rows);
        rest = page.rest;
    }
    Ok(rows)
}

/// What a queue has, by the states of its URLs.
#[derive(Default)]
struct Has {
    places: BTreeSet<(i64, String)>,
    leases: BTreeSet<(i64, String)>,
    counts: Counts,
}

fn summed<V: Sum>(rows: &[((u64, u32), V)]) -> BTreeMap<u64, V> {
    let mut sums: BTreeMap<u64, V> = BTreeMap::new();
    rows.iter().for_each(|((id, _), row)| sums.entry(*id).or_default().plus(row));
    sums.retain(|_, sum| *sum != V::default());
    sums
}

/// Contradictions between the tables, of what is not still to be swept up.
pub async fn check(store: &Store) -> Result<Vec<String>> {
    let tx = store.begin().await?;
    let mut found = Vec::new();
    let mut has: BTreeMap<u64, Has> = BTreeMap::new();
    let mut rest = Some(URLS.range(()));
    while let Some(range) = rest {
        let page = tx.scan(&range, 4096, Order::Forward).await?;
        for (key, stored) in &page.items {
            let (queue, url) = URLS.key_from(key)?;
            let (state, _) = State::read(stored)?;
            let has = has.entry(queue).or_default();
            match state {
                State { until: 1.., .. } => drop(has.leases.insert((state.until, url))),
                state if state.is_completed() => {}
                state => drop(has.places.insert((state.due(), url))),
            }
            *(if state.is_completed() { &mut has.counts.completed } else { &mut has.counts.active }) += 1;
        }
        rest = page.rest;
    }
    let mut places: BTreeMap<u64, BTreeSet<(i64, String)>> = BTreeMap::new();
    for ((queue, due, url), ()) in all(&tx, &PLACES).await? {
        places.entry(queue).or_default().insert((due, url));
    }
    let mut leases: BTreeMap<u64, BTreeSet<(i64, String)>> = BTreeMap::new();
    for ((_, queue, until, url), ()) in all(&tx, &LEASES).await? {
        leases.entry(queue).or_default().insert((until, url));
    }
    let mut ready: BTreeSet<(u64, i64, String)> =
        all(&tx, &READY).await?.into_iter().map(|(k, ())| k).collect();
    let mut blocks: BTreeSet<(u64, u64, String)> =
        all(&tx, &BLOCKS).await?.into_iter().map(|(key, ())| key).collect();
    let mut counts = summed(&all(&tx, &COUNTS).await?);
    let crawl_counts = summed(&all(&tx, &CRAWL_COUNTS).await?);
    let crawls: BTreeMap<u64, String> =
        all(&tx, &CRAWLS).await?.into_iter().map(|((n,), id)| (id, n)).collect();
    let removed: BTreeSet<(u64, u64)> = all(&tx, &REMOVED).await?.into_iter().map(|(key, ())| key).collect();
    let mut expected: BTreeMap<u64, CrawlCounts> = BTreeMap::new();
    for ((crawl, key), row) in all(&tx, &QUEUES).await? {
        if !crawls.contains_key(&crawl) {
            ready.retain(|(of, ..)| *of != crawl);
            blocks.retain(|(of, ..)| *of != crawl);
            counts.remove(&row.id);
            has.remove(&row.id);
            if !removed.contains(&(crawl, crate::tables::WHOLE_CRAWL)) {
                found.push(format!("queue {key} is of a crawl that is not there"));
            }
            continue;
        }
        let name = format!("queue {key} of crawl {}", crawls[&crawl]);
        let mine = has.remove(&row.id).unwrap_or_default();
        if places.remove(&row.id).unwrap_or_default() != mine.places {
            found.push(format!("{name}: what waits is not what its URLs say"));
        }
        if leases.remove(&row.id).unwrap_or_default() != mine.leases {
            found.push(format!("{name}: its leases are not what its URLs say"));
        }
        if counts.remove(&row.id).unwrap_or_default() != mine.counts {
            found.push(format!("{name} is counted wrong"));
        }
        let moments = mine.places.iter().chain(&mine.leases).map(|(moment, _)| *moment);
        if row.first != moments.min() {
            found.push(format!("{name} begins at {:?}, and says otherwise", row.first));
        }
        if row.ready.is_some_and(|when| !ready.remove(&(crawl, when, key.clone()))) {
            found.push(format!("{name} is not where it says it is ready"));
        }
        if row.blocked_until_s > 0 && !blocks.remove(&(crawl, row.blocked_until_s, key)) {
            found.push(format!("{name} is blocked and not on the list of those"));
        }
        if row.id != 0 {
            let crawl = expected.entry(crawl).or_default();
            crawl.queues += 1;
            crawl.active_queues += i64::from(row.first.is_some());
            crawl.urls.plus(&mine.counts);
        }
    }
    if expected != crawl_counts {
        found.push("the counters of crawls are not what their queues say".to_owned());
    }
    found.extend(ready.iter().map(|(_, _, key)| format!("queue {key} is ready where it does not say")));
    found.extend(blocks.iter().map(|(.., key)| format!("queue {key} is blocked where it does not say")));
    found.extend(counts.keys().map(|id| format!("counters of queue {id}, which is not there")));
    let known: BTreeSet<u64> = removed.iter().map(|(_, queue)| *queue).collect();
    let left = has.keys().filter(|id| !known.contains(id));
    found.extend(left.map(|id| format!("URLs of queue {id}, which is not there")));
    Ok(found)
}
