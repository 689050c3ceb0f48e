//! What stores of older formats go through before the frontier works with them.
//!
//! Rows of older versions are read as they are (see [`crate::format1`] and [`crate::format2`]), so there is seldom
//! anything here: only what concerns more than one row. A table whose keys change is rewritten by a
//! step, and a counter that did not use to be kept is counted by one, each in pieces that commit
//! together with how far they have come ([`store::upgrade`]).
//!
//! Format 1 had no [counters](crate::counts): they are counted in one pass over URLs, captures and
//! traffic each, and every queued URL gets what is owed to it. What robots deny is listed by
//! server, too. Its host queue and its leases were not in shards: each row goes to its shard. How late its harvests were says nothing of promises (a site that never answered was
//! on time) and goes.
//!
//! Format 2 did not count URLs by run: that is one pass over them, too. When its runs were started is not known.

use policy::contract::begun;
use policy::model::BlacklistReason;
use policy::standing::Subject;
use store::table::Table;
use store::upgrade::{Step, Working};
use store::{Bytes, Result, Tx};

use crate::counts::{Counted, Stripe};
use crate::declared::Declared;
use crate::robots::server_of;
use crate::schema::{BLACKLIST, CAPTURES, DENIED, HOST_QUEUE, LEASES, Lease, TRAFFIC, URLS, UrlState};
use crate::shard::shard_of;
use crate::transaction::stored_url;

/// How late harvests were, in format 1.
const LATENESS: u8 = 0x1C;
/// Format 1 had one queue of hosts, and one of leases.
const HOST_QUEUE_1: Table<(i64, String), ()> = Table::new(0x13, "host queue of format 1");
const LEASES_1: Table<(i64, u64), (String, String)> = Table::new(0x17, "leases of format 1");

/// In the order they are run.
pub const UPGRADES: &[Step] = &[
    Step { name: "lateness goes", format: 2, table: LATENESS, run: lateness },
    Step { name: "hosts fall into shards", format: 2, table: HOST_QUEUE_1.id(), run: host_queue },
    Step { name: "leases fall into shards", format: 2, table: LEASES_1.id(), run: leases },
    Step { name: "count urls", format: 2, table: URLS.id(), run: urls },
    Step { name: "count captures", format: 2, table: CAPTURES.id(), run: captures },
    Step { name: "list what robots deny", format: 2, table: BLACKLIST.id(), run: denied },
    Step { name: "count traffic", format: 2, table: TRAFFIC.id(), run: traffic },
    Step { name: "count urls of runs", format: 3, table: URLS.id(), run: runs },
];

type Rows<'a> = &'a [(Bytes, Bytes)];

fn lateness<'a>(tx: &'a Tx, rows: Rows<'a>) -> Working<'a> {
    Box::pin(async move { rows.iter().try_for_each(|(key, _)| tx.delete(key.to_vec())) })
}

fn host_queue<'a>(tx: &'a Tx, rows: Rows<'a>) -> Working<'a> {
    Box::pin(async move {
        for (key, _) in rows {
            let (at, unit) = HOST_QUEUE_1.key_from(key)?;
            tx.delete(key.to_vec())?;
            HOST_QUEUE.put(tx, (shard_of(&unit), at, &unit), &())?;
        }
        Ok(())
    })
}

fn leases<'a>(tx: &'a Tx, rows: Rows<'a>) -> Working<'a> {
    Box::pin(async move {
        for (key, value) in rows {
            let ((until, lease), held) = (LEASES_1.key_from(key)?, LEASES_1.value_from(value)?);
            tx.delete(key.to_vec())?;
            let (unit, host) = held;
            LEASES.put(tx, (shard_of(&unit), until, lease), &Lease { unit, host, node: String::new() })?;
        }
        Ok(())
    })
}

fn urls<'a>(tx: &'a Tx, rows: Rows<'a>) -> Working<'a> {
    Box::pin(count_urls(tx, rows))
}

async fn count_urls(tx: &Tx, rows: Rows<'_>) -> Result<()> {
    let declared = Declared::default();
    declared.catch_up(tx).await?;
    let mut counted = Counted::default();
    for (key, value) in rows {
        let (collection, text) = URLS.key_from(key)?;
        let (url, mut state) = (stored_url(&text)?, URLS.value_from(value)?);
        if let UrlState::Queued(record) = &mut state {
            let catalog = declared.catalog.read();
            record.terms = Subject { catalog: &catalog, collection: &collection, url: &url }.terms_of(record);
            record.owed = begun(&catalog, record);
            drop(catalog);
            URLS.put(tx, (&collection, &text), &state)?;
        }
        counted.url(&collection, &url, &state, 1);
    }
    // Those of runs have a step of their own, since format 2 had all the others.
    counted.run_urls.clear();
    counted.write(tx, Stripe::Drawn(0)).await
}

fn runs<'a>(tx: &'a Tx, rows: Rows<'a>) -> Working<'a> {
    Box::pin(async move {
        let mut counted = Counted::default();
        for (key, value) in rows {
            let (collection, text) = URLS.key_from(key)?;
            counted.url(&collection, &stored_url(&text)?, &URLS.value_from(value)?, 1);
        }
        counted.only_of_runs().write(tx, Stripe::Drawn(0)).await
    })
}

fn captures<'a>(tx: &'a Tx, rows: Rows<'a>) -> Working<'a> {
    Box::pin(async move {
        let mut counted = Counted::default();
        for (key, _) in rows {
            counted.captured(&CAPTURES.key_from(key)?.0, 1);
        }
        counted.write(tx, Stripe::Drawn(0)).await
    })
}

fn denied<'a>(tx: &'a Tx, rows: Rows<'a>) -> Working<'a> {
    Box::pin(async move {
        for (key, value) in rows {
            let (collection, url) = BLACKLIST.key_from(key)?;
            if BLACKLIST.value_from(value)?.reason == BlacklistReason::Robots {
                DENIED.put(tx, (server_of(&stored_url(&url)?), &collection, &url), &())?;
            }
        }
        Ok(())
    })
}

fn traffic<'a>(tx: &'a Tx, rows: Rows<'a>) -> Working<'a> {
    Box::pin(async move {
        let mut counted = Counted::default();
        for (key, value) in rows {
            counted.had(TRAFFIC.key_from(key)?.0, &TRAFFIC.value_from(value)?);
        }
        counted.write(tx, Stripe::Drawn(0)).await
    })
}
