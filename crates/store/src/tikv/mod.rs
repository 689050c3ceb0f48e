//! The engine for many machines: a TiKV cluster, over its transactional client.
//!
//! A transaction here is one there: optimistic, begun with a timestamp of the placement driver's,
//! which is its snapshot. Reads are made at that timestamp, beside the transaction, whose own cache
//! would keep every row of a long scan. The commit hands all writes over at once: prewrite, then
//! commit of the first key, after which it is decided.
//!
//! What that client does in its own way, and is made good here:
//!
//! - Only an error of a key says for certain that nothing was committed. After any other the commit
//!   is **undetermined**, whatever the client calls it, until it is rolled back: what was committed
//!   after all cannot be, and what is can never be committed, however late its packets arrive. So
//!   where that succeeds nothing happened, and others do not wait for its locks.
//! - A scan asks every region of its range for as many rows as it wants in all, so pages are small.
//! - Every packet of a prewrite names all keys of the transaction, so a transaction is smaller here
//!   ([`TXN_BYTES_MAX`]), and keys weigh more than their bytes in it.
//! - Calls have a time limit of their own; a cluster that does not answer is waited for, and a person
//!   is told once.
//! - Its connections belong to the runtime they were made on. So the engine has a small one of its
//!   own, and whoever calls does so [within](Home) it, from whatever runtime.
//! - Old versions are removed by nobody unless somebody asks for it: see [`garbage`].
//!
//! Every key begins with the prefix of the installation. Beside its rows there are few keys of the
//! engine's own: the format, as a data directory has it in a file, and who removes old versions.

mod garbage;
mod home;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use tikv_client::{
    Backoff, BoundRange, CheckLevel, Config, Error as ClientError, Key, KvPair, RetryOptions, Timestamp,
    Transaction, TransactionClient, TransactionOptions,
};
use tokio::sync::Mutex;

use crate::cluster::{Address, Certificates};
use crate::embedded::Missing;
use crate::engine::Found;
use crate::error::{Error, OpenError, Result};
use crate::notice::Notice;
use crate::recent::key_hash;
use crate::stats::{Operations, Stats};
use crate::table::KeyRange;
use crate::txn::{Bytes, Order, Write, WriteSet};
use crate::upgrade::{self, FORMAT};
use home::Home;

/// Keys and values of a transaction, together, and what each key takes beside its bytes: many small
/// rows are what costs.
pub(crate) const TXN_BYTES_MAX: usize = 8 << 20;
pub(crate) const KEY_BYTES: usize = 512;
/// Rows of one scan: so many are asked of every region that its range touches.
const PAGE_ROWS_MAX: usize = 256;
/// A page that would be larger is asked for again with fewer rows.
const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// A single request, as the client sees it.
const REQUEST_MAX: Duration = Duration::from_secs(5);
/// A whole call, with all that the client retries by itself.
const CALL_MAX: Duration = Duration::from_secs(20);
/// Who opens a store waits no longer for the cluster to answer: the address may be wrong.
const OPEN_MAX: Duration = Duration::from_secs(15);
/// How long a cluster that does not answer is left in peace.
const WAIT: Duration = Duration::from_secs(1);

/// Reads of one row before it is an error: for as long as old versions are kept, about.
const READ_TRIES_MAX: u32 = 300;

/// Before the rows, and before the engine's own keys.
const ROWS: u8 = 1;
const OWN: u8 = 0;
const FORMAT_KEY: &[u8] = b"FORMAT";

#[derive(Clone)]
pub(crate) struct Tikv {
    cluster: Arc<Cluster>,
}

struct Cluster {
    client: TransactionClient,
    home: Home,
    address: Address,
    stats: Arc<Stats>,
    operations: Operations,
    notice: fn(&Notice),
    /// Whether it did not answer when it was last asked.
    silent: AtomicBool,
    /// See [`Tikv::be_alone`].
    alone: AtomicBool,
}

/// A transaction under way, read at its beginning.
pub(crate) struct TikvSnapshot {
    tikv: Tikv,
    at: Timestamp,
    transaction: Mutex<Transaction>,
}

fn options() -> TransactionOptions {
    let (region, lock) = (Backoff::no_jitter_backoff(2, 500, 20), Backoff::no_jitter_backoff(2, 200, 20));
    TransactionOptions::new_optimistic()
        .drop_check(CheckLevel::None)
        .retry_options(RetryOptions { region_backoff: region, lock_backoff: lock })
}

impl Tikv {
    /// Connects, and sees that what is under the prefix is a store of ours, or nothing yet where one
    /// may be made. Gives its format.
    pub(crate) fn open(
        address: &Address,
        stats: Arc<Stats>,
        notice: fn(&Notice),
        missing: Missing,
    ) -> Result<(Tikv, u8), OpenError> {
        let home = Home::new().map_err(|error| OpenError::Unreachable {
            address: address.to_string(),
            reason: error.to_string(),
        })?;
        let here = home.clone();
        upgrade::wait(here.within(Tikv::connect(address, home, stats, notice, missing)))
    }

    async fn connect(
        address: &Address,
        home: Home,
        stats: Arc<Stats>,
        notice: fn(&Notice),
        missing: Missing,
    ) -> Result<(Tikv, u8), OpenError> {
        let mut config = Config::default()
            .with_timeout(REQUEST_MAX)
            .with_grpc_max_decoding_message_size(MESSAGE_BYTES_MAX)
            .with_grpc_max_encoding_message_size(MESSAGE_BYTES_MAX);
        if let Some(tls) = &address.tls {
            check_certificates(tls)?;
            config = config.with_security(&tls.ca, &tls.cert, &tls.key);
        }
        let unreachable = |reason: String| OpenError::Unreachable { address: address.to_string(), reason };
        let connect = TransactionClient::new_with_config(address.placement_drivers.clone(), config);
        let client = match tokio::time::timeout(OPEN_MAX, connect).await {
            Ok(connected) => connected.map_err(|error| unreachable(error.to_string()))?,
            Err(_) => return Err(unreachable(format!("no answer in {} s", OPEN_MAX.as_secs()))),
        };
        let cluster = Cluster {
            client,
            home,
            address: address.clone(),
            stats,
            operations: Operations::default(),
            notice,
            silent: AtomicBool::new(false),
            alone: AtomicBool::new(false),
        };
        let tikv = Tikv { cluster: Arc::new(cluster) };
        let format = tikv.format_in_time(missing).await?;
        if address.collects_garbage {
            garbage::collect(&tikv.cluster);
        }
        Ok((tikv, format))
    }

    /// A server that moves, or a region that is being split, is no reason not to start.
    async fn format_in_time(&self, missing: Missing) -> Result<u8, OpenError> {
        let mut reason = "its servers do not answer".to_owned();
        let known = async {
            loop {
                match self.format(missing).await {
                    Err(OpenError::Unreachable { reason: now, .. }) => reason = now,
                    known => return known,
                }
                tokio::time::sleep(WAIT).await;
            }
        };
        match tokio::time::timeout(OPEN_MAX, known).await {
            Ok(known) => known,
            Err(_) => Err(OpenError::Unreachable { address: self.cluster.address.to_string(), reason }),
        }
    }

    /// The format under the prefix; written, where there is nothing and one may be made.
    async fn format(&self, missing: Missing) -> Result<u8, OpenError> {
        let address = self.cluster.address.to_string();
        let unreachable =
            |error: Error| OpenError::Unreachable { address: address.clone(), reason: error.to_string() };
        let key = self.own_key(FORMAT_KEY);
        let mut transaction = self.begin().await.map_err(unreachable)?;
        let found = transaction.get(key.clone()).await.map_err(|error| unreachable(failed(&error)))?;
        if let Some(text) = found {
            let Some(found) = upgrade::read_format(&String::from_utf8_lossy(&text)) else {
                return Err(OpenError::ForeignPrefix { address });
            };
            return match u8::try_from(found) {
                Ok(known) if (1..=FORMAT).contains(&known) => Ok(known),
                _ => Err(OpenError::UnknownFormatThere { address, found, newest: FORMAT }),
            };
        }
        let all = self.bounds(&KeyRange { from: Vec::new(), to: vec![0xFF] });
        let others =
            transaction.scan_keys(all, 1).await.map_err(|error| unreachable(failed(&error)))?.count();
        if others > 0 {
            return Err(OpenError::ForeignPrefix { address });
        }
        if missing == Missing::Refuse {
            return Err(OpenError::NotAStoreThere { address });
        }
        let line = upgrade::format_line().into_bytes();
        transaction.put(key, line).await.map_err(|error| unreachable(failed(&error)))?;
        match self.cluster.commit(&mut transaction).await {
            Ok(()) => Ok(FORMAT),
            // Somebody else makes it at this very moment: what they wrote says which it is.
            Err(Error::Conflict { .. }) => Box::pin(self.format(missing)).await,
            Err(error) => Err(unreachable(error)),
        }
    }

    /// Says that the store has the present format from now on, and with the same commit writes that
    /// its upgrade has begun. Of several that open it at once, one does.
    pub(crate) async fn begin_upgrade(&self, begun: &WriteSet) -> Result<()> {
        let write = async {
            loop {
                match self.upgrade_begun(begun).await {
                    // Another was first, and what it wrote says so.
                    Err(Error::Conflict { .. }) => {}
                    written => return written,
                }
            }
        };
        self.cluster.home.within(write).await
    }

    async fn upgrade_begun(&self, begun: &WriteSet) -> Result<()> {
        let (key, line) = (self.own_key(FORMAT_KEY), upgrade::format_line().into_bytes());
        let mut transaction = self.begin().await?;
        let found = transaction.get(key.clone()).await.map_err(|error| failed(&error))?;
        if found.as_ref() == Some(&line) {
            return Ok(());
        }
        self.buffer(&mut transaction, begun).await?;
        transaction.put(key, line).await.map_err(|error| failed(&error))?;
        self.cluster.commit(&mut transaction).await
    }

    /// For tests of one process that move its clock by hand: nobody else is there, and the placement
    /// driver's clock is not told.
    #[cfg(feature = "contract")]
    pub(crate) fn be_alone(&self) {
        self.cluster.alone.store(true, Relaxed);
    }

    /// For tests, which cannot wait for a turn to come.
    #[cfg(feature = "contract")]
    pub(crate) async fn collect_garbage(&self, me: u64, kept: Duration) -> Result<bool> {
        self.cluster.home.within(garbage::turn(self, me, kept)).await
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.cluster.alone.load(Relaxed)
    }

    pub(crate) fn operations(&self) -> &Operations {
        &self.cluster.operations
    }

    /// Waits for as long as the cluster does not answer.
    pub(crate) async fn snapshot(&self) -> Result<TikvSnapshot> {
        self.cluster.home.within(self.newest()).await
    }

    async fn newest(&self) -> Result<TikvSnapshot> {
        loop {
            match self.begin().await {
                Ok(transaction) => {
                    self.cluster.answers();
                    let at = transaction.start_timestamp();
                    return Ok(TikvSnapshot { tikv: self.clone(), at, transaction: Mutex::new(transaction) });
                }
                Err(error) => {
                    self.cluster.is_silent(&error);
                    tokio::time::sleep(WAIT).await;
                }
            }
        }
    }

    async fn begin(&self) -> Result<Transaction> {
        self.cluster.operations.begins.fetch_add(1, Relaxed);
        // It is one question: who waits longer for its answer tells nobody that there is none.
        match tokio::time::timeout(REQUEST_MAX, self.cluster.client.begin_with_options(options())).await {
            Ok(begun) => begun.map_err(|error| failed(&error)),
            Err(_) => Err(Error::transient(no_answer(REQUEST_MAX))),
        }
    }

    pub(crate) async fn commit(&self, snapshot: &TikvSnapshot, set: WriteSet) -> Result<()> {
        self.cluster.home.within(self.committed(snapshot, set)).await
    }

    async fn committed(&self, snapshot: &TikvSnapshot, set: WriteSet) -> Result<()> {
        let mut transaction = snapshot.transaction.lock().await;
        self.buffer(&mut transaction, &set).await?;
        drop(set);
        self.cluster.commit(&mut transaction).await?;
        let committed = self.cluster.stats.committed.fetch_add(1, Relaxed) + 1;
        self.cluster.stats.durable.fetch_max(committed, Relaxed);
        Ok(())
    }

    /// What is to be committed; nothing is sent yet.
    async fn buffer(&self, transaction: &mut Transaction, set: &WriteSet) -> Result<()> {
        for (key, write) in &set.writes {
            let key = self.key(key);
            let buffered = match write {
                Write::Put(value) => transaction.put(key, value.to_vec()).await,
                Write::Delete => transaction.delete(key).await,
                Write::Lock => transaction.lock_keys([key]).await,
            };
            buffered.map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    fn key(&self, key: &[u8]) -> Key {
        self.prefixed(ROWS, key)
    }

    fn own_key(&self, key: &[u8]) -> Key {
        self.prefixed(OWN, key)
    }

    fn prefixed(&self, kind: u8, key: &[u8]) -> Key {
        let prefix = self.cluster.address.prefix.as_bytes();
        let mut whole = Vec::with_capacity(prefix.len() + 2 + key.len());
        whole.extend_from_slice(prefix);
        whole.push(0);
        whole.push(kind);
        whole.extend_from_slice(key);
        whole.into()
    }

    fn bounds(&self, range: &KeyRange) -> BoundRange {
        (self.key(&range.from)..self.key(&range.to)).into()
    }

    /// The key of a row, as its table knows it.
    fn stripped(&self, key: &Key) -> Result<Bytes> {
        let whole: &[u8] = key.into();
        match whole.get(self.cluster.address.prefix.len() + 2..) {
            Some(key) => Ok(key.into()),
            None => Err(Error::Corrupt("the cluster gave a key that is not under the prefix".to_owned())),
        }
    }
}

impl Cluster {
    /// Told once, until it answers again.
    fn is_silent(&self, error: &Error) {
        if !self.silent.swap(true, Relaxed) {
            let (address, reason) = (self.address.to_string(), error.to_string());
            (self.notice)(&Notice::Silent { address, reason });
        }
    }

    fn answers(&self) {
        if self.silent.swap(false, Relaxed) {
            (self.notice)(&Notice::Answers { address: self.address.to_string() });
        }
    }

    async fn commit(&self, transaction: &mut Transaction) -> Result<()> {
        self.operations.commits.fetch_add(1, Relaxed);
        let error = match tokio::time::timeout(CALL_MAX, transaction.commit()).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => self.refused(&error),
            Err(_) => Error::Undetermined(no_answer(CALL_MAX)),
        };
        // Others wait for its locks otherwise. If this fails too, they find out by themselves.
        let rolled_back = tokio::time::timeout(CALL_MAX, transaction.rollback()).await;
        Err(match (error, rolled_back) {
            (Error::Undetermined(_), Ok(Ok(()))) => Error::Conflict { key_hash: 0 },
            (error, _) => error,
        })
    }

    /// What an error of a commit means.
    fn refused(&self, error: &ClientError) -> Error {
        match error {
            ClientError::KeyError(key_error) => match &key_error.conflict {
                Some(conflict) => {
                    let own = conflict.key.get(self.address.prefix.len() + 2..).unwrap_or_default();
                    Error::Conflict { key_hash: key_hash(own) }
                }
                // Locked by another, or told to run again.
                None => Error::Conflict { key_hash: 0 },
            },
            ClientError::MultipleKeyErrors(errors) | ClientError::ExtractedErrors(errors) => {
                let meanings: Vec<Error> = errors.iter().map(|error| self.refused(error)).collect();
                let unsure = meanings.iter().find(|error| !matches!(error, Error::Conflict { .. }));
                let lost = meanings
                    .iter()
                    .find(|error| matches!(error, Error::Conflict { key_hash } if *key_hash != 0));
                unsure
                    .or(lost)
                    .or(meanings.first())
                    .cloned()
                    .unwrap_or_else(|| Error::Undetermined(error.to_string()))
            }
            other => Error::Undetermined(other.to_string()),
        }
    }
}

impl TikvSnapshot {
    fn reader(&self) -> tikv_client::Snapshot {
        self.tikv.cluster.client.snapshot(self.at, options().read_only())
    }

    /// The placement driver's clock.
    pub(crate) fn time(&self) -> Option<i64> {
        (!self.tikv.is_alone()).then_some(self.at.physical)
    }

    pub(crate) async fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let key = self.tikv.key(key);
        let read = async {
            let mut patience = Patience::default();
            loop {
                self.tikv.cluster.operations.gets.fetch_add(1, Relaxed);
                match in_time(self.reader().get(key.clone())).await {
                    Ok(value) => return Ok(self.answered(value)),
                    Err(error) => patience.after(error, &self.tikv.cluster).await?,
                }
            }
        };
        Ok(self.tikv.cluster.home.within(read).await?.map(Bytes::from))
    }

    pub(crate) async fn multi_get(&self, keys: &[&[u8]]) -> Result<Vec<Option<Bytes>>> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<Key> = keys.iter().map(|key| self.tikv.key(key)).collect();
        let read = async {
            let mut patience = Patience::default();
            loop {
                self.tikv.cluster.operations.multi_gets.fetch_add(1, Relaxed);
                match in_time(self.reader().batch_get(wanted.clone())).await {
                    Ok(found) => return Ok(self.answered(found.collect::<Vec<_>>())),
                    Err(error) => patience.after(error, &self.tikv.cluster).await?,
                }
            }
        };
        let found = self.tikv.cluster.home.within(read).await?;
        let found: std::collections::HashMap<Key, Bytes> =
            found.into_iter().map(|KvPair(key, value)| (key, Bytes::from(value))).collect();
        Ok(wanted.iter().map(|key| found.get(key).cloned()).collect())
    }

    pub(crate) async fn scan(&self, range: &KeyRange, limit: usize, order: Order) -> Result<Found> {
        let read = async {
            let mut patience = Patience::default();
            loop {
                match self.scanned(range, limit, order).await {
                    Ok(found) => return Ok(self.answered(found)),
                    Err(error) => patience.after(error, &self.tikv.cluster).await?,
                }
            }
        };
        self.tikv.cluster.home.within(read).await
    }

    fn answered<T>(&self, answer: T) -> T {
        self.tikv.cluster.answers();
        answer
    }

    async fn scanned(&self, range: &KeyRange, limit: usize, order: Order) -> Result<Found, Unread> {
        let mut limit = limit.min(PAGE_ROWS_MAX);
        let pairs = loop {
            match self.page(range, limit, order).await {
                Err(error) if is_too_large(&error) && limit > 1 => limit = limit.div_ceil(16),
                Err(error) => return Err(Unread::because(&error)),
                Ok(pairs) => break pairs,
            }
        };
        let complete = pairs.len() < limit;
        let items =
            pairs.into_iter().map(|KvPair(key, value)| Ok((self.tikv.stripped(&key)?, Bytes::from(value))));
        Ok(Found { items: items.collect::<Result<_>>()?, complete })
    }

    async fn page(
        &self,
        range: &KeyRange,
        limit: usize,
        order: Order,
    ) -> std::result::Result<Vec<KvPair>, ClientError> {
        self.tikv.cluster.operations.scans.fetch_add(1, Relaxed);
        let (rows, bounds) = (u32::try_from(limit).unwrap_or(u32::MAX), self.tikv.bounds(range));
        let mut reader = self.reader();
        let page = async {
            Ok(match order {
                Order::Forward => reader.scan(bounds, rows).await?.collect(),
                Order::Backward => reader.scan_reverse(bounds, rows).await?.collect(),
            })
        };
        match tokio::time::timeout(CALL_MAX, page).await {
            Ok(answer) => answer,
            Err(_) => Err(ClientError::StringError(no_answer(CALL_MAX))),
        }
    }
}

/// Why a read gave nothing.
enum Unread {
    /// A transaction of somebody else is about to be committed, longer than the client waits for it.
    Locked(Error),
    Failed(Error),
}

impl Unread {
    fn because(error: &ClientError) -> Unread {
        let unread = if is_locked(error) { Unread::Locked } else { Unread::Failed };
        unread(failed(error))
    }
}

impl From<Error> for Unread {
    fn from(error: Error) -> Unread {
        Unread::Failed(error)
    }
}

/// A read changes nothing, and its snapshot stays: while the cluster does not answer, or rows are
/// locked, it is made again and again.
#[derive(Default)]
struct Patience {
    tries: u32,
}

impl Patience {
    async fn after(&mut self, unread: Unread, cluster: &Cluster) -> Result<()> {
        self.tries += 1;
        let (Unread::Locked(error) | Unread::Failed(error)) = &unread;
        if self.tries >= READ_TRIES_MAX || !matches!(error, Error::Unavailable { .. }) {
            return Err(error.clone());
        }
        match unread {
            Unread::Locked(_) => cluster.answers(),
            Unread::Failed(error) => cluster.is_silent(&error),
        }
        tokio::time::sleep(WAIT).await;
        Ok(())
    }
}

/// A call that changes nothing: it may be made again, so whatever goes wrong passes.
async fn in_time<T>(call: impl Future<Output = std::result::Result<T, ClientError>>) -> Result<T, Unread> {
    match tokio::time::timeout(CALL_MAX, call).await {
        Ok(answer) => answer.map_err(|error| Unread::because(&error)),
        Err(_) => Err(Unread::Failed(Error::transient(no_answer(CALL_MAX)))),
    }
}

/// What the client says of files that are not what they should be tells nobody which.
fn check_certificates(tls: &Certificates) -> std::result::Result<(), OpenError> {
    let kinds = [(&tls.ca, "CERTIFICATE"), (&tls.cert, "CERTIFICATE"), (&tls.key, "PRIVATE KEY")];
    for (path, kind) in kinds {
        let bad = |problem: String| OpenError::Certificate { path: path.clone(), problem };
        let text = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
        let lines = String::from_utf8_lossy(&text);
        if !lines.lines().any(|line| line.starts_with("-----BEGIN ") && line.contains(kind)) {
            return Err(bad(format!("there is no {kind} in it, as PEM has it")));
        }
    }
    Ok(())
}

/// Of a message that is over [`MESSAGE_BYTES_MAX`].
fn is_too_large(error: &ClientError) -> bool {
    const OUT_OF_RANGE: i32 = 11;
    matches!(error, ClientError::GrpcAPI(status) if i32::from(status.code()) == OUT_OF_RANGE)
}

/// The cluster answers: that a row is locked.
fn is_locked(error: &ClientError) -> bool {
    match error {
        ClientError::ResolveLockError(_) => true,
        ClientError::KeyError(error) => error.locked.is_some(),
        ClientError::MultipleKeyErrors(errors) | ClientError::ExtractedErrors(errors) => {
            !errors.is_empty() && errors.iter().all(is_locked)
        }
        _ => false,
    }
}

fn failed(error: &ClientError) -> Error {
    Error::transient(error.to_string())
}

fn no_answer(limit: Duration) -> String {
    format!("no answer in {} s", limit.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m10_a_row_that_is_locked_is_no_cluster_that_does_not_answer() {
        let locked = || ClientError::ResolveLockError(Vec::new());
        let silent = || ClientError::StringError("connection refused".to_owned());
        for (error, is_waited_for) in [
            (locked(), true),
            (ClientError::ExtractedErrors(vec![locked(), locked()]), true),
            (ClientError::MultipleKeyErrors(vec![ClientError::ExtractedErrors(vec![locked()])]), true),
            (ClientError::ExtractedErrors(vec![locked(), silent()]), false),
            (ClientError::ExtractedErrors(Vec::new()), false),
            (silent(), false),
            (ClientError::LeaderNotFound { region: Default::default() }, false),
        ] {
            assert_eq!(matches!(Unread::because(&error), Unread::Locked(_)), is_waited_for, "{error}");
        }
    }
}
