//! Old versions of rows are removed, by one process of all.
//!
//! TiKV keeps every version of a row until it is told up to which moment nobody reads any more. TiDB
//! does that where there is one; here a process that holds the **lease** does: a key of the engine's
//! own names it and when the lease ends, by the clock of the cluster. Who finds it ended takes it.
//! Should two ever do it at once, no harm is done: the moment only ever moves forward.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tikv_client::{Timestamp, TimestampExt, Transaction};

use super::{Cluster, Tikv, failed};
use crate::error::{Error, Result};

/// How often old versions are removed.
const EVERY: Duration = Duration::from_secs(600);
/// How long a version is kept after it was replaced: no snapshot is held for longer.
const KEPT: Duration = Duration::from_secs(1200);
/// For as long nobody else does it.
const LEASE: Duration = Duration::from_secs(1500);

const LEASE_KEY: &[u8] = b"GC";

/// For as long as the store is open.
pub(super) fn collect(cluster: &Arc<Cluster>) {
    let cluster = Arc::downgrade(cluster);
    let me = fastrand::u64(1..);
    // Within the runtime of the connections.
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(EVERY).await;
            let Some(tikv) = opened(&cluster) else { return };
            // What could not be removed this time will be the next.
            let _ = turn(&tikv, me, KEPT).await;
        }
    });
}

fn opened(cluster: &Weak<Cluster>) -> Option<Tikv> {
    cluster.upgrade().map(|cluster| Tikv { cluster })
}

/// Removes what was replaced longer ago than `kept`, if it is for this process to do. Says whether
/// the cluster took that moment: where another has asked for a later one, it stands.
pub(super) async fn turn(tikv: &Tikv, me: u64, kept: Duration) -> Result<bool> {
    let mut transaction = tikv.begin().await?;
    let now = transaction.start_timestamp();
    if !take_lease(tikv, &mut transaction, me, now.physical).await? {
        return Ok(false);
    }
    let kept = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
    let safe = Timestamp { physical: now.physical.saturating_sub(kept), ..Timestamp::from_version(0) };
    tikv.cluster.client.gc(safe).await.map_err(|error| failed(&error))
}

async fn take_lease(tikv: &Tikv, transaction: &mut Transaction, me: u64, now: i64) -> Result<bool> {
    let key = tikv.own_key(LEASE_KEY);
    let held = transaction.get(key.clone()).await.map_err(|error| failed(&error))?;
    let held: Option<(u64, i64)> = held.and_then(|bytes| postcard::from_bytes(&bytes).ok());
    if held.is_some_and(|(owner, until)| owner != me && until > now) {
        return Ok(false);
    }
    let ends = now.saturating_add(i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX));
    let lease = postcard::to_stdvec(&(me, ends)).map_err(|error| Error::Corrupt(error.to_string()))?;
    transaction.put(key, lease).await.map_err(|error| failed(&error))?;
    tikv.cluster.commit(transaction).await?;
    Ok(true)
}
