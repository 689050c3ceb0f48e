use std::fmt::Display;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use crate::cluster::Address;
use crate::copy;
use crate::embedded::{self, CheckReport, Embedded, Missing, Options};
use crate::engine::Engine;
use crate::error::{Error, OpenError, Result};
use crate::mem::{Faults, Mem, StoreCopy};
use crate::place::Place;
use crate::retry::{Retry, WhenUndetermined};
use crate::stats::{Figures, Progress, RoundTrips, Stats};
#[cfg(feature = "tikv")]
use crate::tikv::Tikv;
use crate::turn::Turns;
use crate::txn::{Bytes, Tx};
use crate::upgrade::{self, FORMAT};

/// A store, whatever its engine. Handles are cheap to clone; the last one to go closes it.
#[derive(Clone)]
pub struct Store {
    engine: Engine,
    turns: Arc<Turns>,
    stats: Arc<Stats>,
    /// What nobody else may have while this is open.
    _held: Option<Arc<File>>,
}

/// What a store is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Use,
    /// As the target of a copy: nothing is upgraded in it.
    Copy,
}

impl Purpose {
    /// Whether a store of that format is good for it.
    async fn check(self, store: &Store, format: u8, place: impl Display) -> Result<Result<(), OpenError>> {
        let place = || place.to_string();
        Ok(match self {
            Purpose::Use => match copy::unfinished(store).await? {
                Some(of) => Err(OpenError::Unfinished { place: place(), of }),
                None => Ok(()),
            },
            // Rows of the present format do not belong there.
            Purpose::Copy if format < FORMAT => Err(OpenError::Occupied { place: place() }),
            Purpose::Copy => Ok(()),
        })
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let engine = match self.engine {
            Engine::Mem(_) => "mem",
            Engine::Embedded(_) => "embedded",
            #[cfg(feature = "tikv")]
            Engine::Tikv(_) => "tikv",
        };
        f.debug_struct("Store").field("engine", &engine).finish()
    }
}

impl Store {
    /// A store that lives and dies with the process; faults and jitter come from `seed`.
    pub fn in_memory(seed: u64) -> Store {
        Store::with(Engine::Mem(Mem::new(seed)), Arc::default())
    }

    /// Opens the store of a data directory, and makes both if they are not there. One of an older
    /// format is upgraded first.
    pub fn open(dir: &Path, options: &Options) -> Result<Store, OpenError> {
        Store::open_or(dir, options, Missing::Create, Purpose::Use)
    }

    /// Opens the store of a data directory; a directory without one is an error.
    pub fn open_existing(dir: &Path, options: &Options) -> Result<Store, OpenError> {
        Store::open_or(dir, options, Missing::Refuse, Purpose::Use)
    }

    /// Opens the store of a data directory; where it is gone and other things are left, an empty
    /// one is made beside them.
    pub fn open_anew(dir: &Path, options: &Options) -> Result<Store, OpenError> {
        Store::open_or(dir, options, Missing::Replace, Purpose::Use)
    }

    pub(crate) fn open_or(
        dir: &Path,
        options: &Options,
        missing: Missing,
        purpose: Purpose,
    ) -> Result<Store, OpenError> {
        let stats = Arc::new(Stats::default());
        let (embedded, format) = Embedded::open(dir, options, missing, Arc::clone(&stats))?;
        let store = Store::with(Engine::Embedded(embedded), stats);
        let unread = |error: Error| OpenError::Engine { dir: dir.to_owned(), problem: error.to_string() };
        upgrade::wait(purpose.check(&store, format, dir.display())).map_err(unread)??;
        if purpose == Purpose::Copy {
            return Ok(store);
        }
        let stopped = |source| OpenError::Upgrade { dir: dir.to_owned(), to: FORMAT, source };
        if format < FORMAT {
            upgrade::wait(upgrade::begin(&store, format)).map_err(stopped)?;
            embedded::write_format(dir)?;
        }
        upgrade::wait(upgrade::go_on(&store, options.upgrades, options.notice)).map_err(stopped)?;
        Ok(store)
    }

    /// Opens the store of many machines that is at an address, and makes it if there is none.
    #[cfg(feature = "tikv")]
    pub fn open_cluster(address: &Address, options: &Options) -> Result<Store, OpenError> {
        Store::open_cluster_or(address, options, Missing::Create, Purpose::Use)
    }

    #[cfg(feature = "tikv")]
    pub(crate) fn open_cluster_or(
        address: &Address,
        options: &Options,
        missing: Missing,
        purpose: Purpose,
    ) -> Result<Store, OpenError> {
        let stats = Arc::new(Stats::default());
        let (tikv, format) = Tikv::open(address, Arc::clone(&stats), options.notice, missing)?;
        let store = Store::with(Engine::Tikv(tikv.clone()), stats);
        let unread =
            |error: Error| OpenError::Unreachable { address: address.to_string(), reason: error.to_string() };
        upgrade::wait(purpose.check(&store, format, address)).map_err(unread)??;
        if purpose == Purpose::Copy {
            return Ok(store);
        }
        let opened = upgrade::wait(async {
            if format < FORMAT {
                tikv.begin_upgrade(&upgrade::begun(&store, format).await?).await?;
            }
            upgrade::go_on(&store, options.upgrades, options.notice).await
        });
        let stopped = |source| OpenError::UpgradeThere { address: address.to_string(), to: FORMAT, source };
        opened.map_err(stopped).map(|()| store)
    }

    /// Says that this program has no engine for it.
    #[cfg(not(feature = "tikv"))]
    pub fn open_cluster(address: &Address, _: &Options) -> Result<Store, OpenError> {
        Err(OpenError::NoEngine { address: address.to_string() })
    }

    /// Opens the store of many machines for one data directory, which nobody else may use meanwhile.
    pub fn open_cluster_for(dir: &Path, address: &Address, options: &Options) -> Result<Store, OpenError> {
        let held = embedded::lock_directory(dir)?;
        let store = Store::open_cluster(address, options)?;
        Ok(Store { _held: Some(Arc::new(held)), ..store })
    }

    /// The same, where a store that is not there is an error.
    pub fn open_existing_cluster_for(
        dir: &Path,
        address: &Address,
        options: &Options,
    ) -> Result<Store, OpenError> {
        let held = embedded::lock_directory(dir)?;
        let store = Place::Cluster(address.clone()).open_existing(options)?;
        Ok(Store { _held: Some(Arc::new(held)), ..store })
    }

    /// For tests of one process that move its clock by hand.
    #[cfg(all(feature = "tikv", feature = "contract"))]
    pub(crate) fn be_alone(&self) {
        if let Engine::Tikv(tikv) = &self.engine {
            tikv.be_alone();
        }
    }

    /// For tests: one turn of removing what was replaced longer ago than `kept`, by a process that
    /// calls itself `me`. Says whether it was its to do.
    #[cfg(all(feature = "tikv", feature = "contract"))]
    pub async fn collect_garbage(&self, me: u64, kept: std::time::Duration) -> Result<bool> {
        match &self.engine {
            Engine::Tikv(tikv) => tikv.collect_garbage(me, kept).await,
            Engine::Mem(_) | Engine::Embedded(_) => Ok(false),
        }
    }

    /// Whether other processes may be at work on it at the same time.
    pub fn is_shared(&self) -> bool {
        match &self.engine {
            Engine::Mem(_) | Engine::Embedded(_) => self.engine.is_far(),
            #[cfg(feature = "tikv")]
            Engine::Tikv(tikv) => !tikv.is_alone(),
        }
    }

    fn with(engine: Engine, stats: Arc<Stats>) -> Store {
        Store { engine, turns: Arc::default(), stats, _held: None }
    }

    /// Runs `run` on a fresh snapshot and commits what it wrote; on conflict, again. `run` must
    /// have no effect but through its transaction.
    ///
    /// [`Error::Undetermined`] is returned, not retried: the writes may be there. Use
    /// [`Store::transact_idempotent`] where running again after success does no harm.
    pub async fn transact<T, F, Fut>(&self, run: F) -> Result<T>
    where
        F: FnMut(Tx) -> Fut,
        Fut: Future<Output = Result<T>>,
    {
        self.retry(WhenUndetermined::Return).transact(run).await
    }

    /// Like [`Store::transact`], for a `run` that finds out by reading whether it was applied
    /// already: an undetermined commit is followed by another run.
    pub async fn transact_idempotent<T, F, Fut>(&self, run: F) -> Result<T>
    where
        F: FnMut(Tx) -> Fut,
        Fut: Future<Output = Result<T>>,
    {
        self.retry(WhenUndetermined::RunAgain).transact(run).await
    }

    fn retry(&self, undetermined: WhenUndetermined) -> Retry<'_> {
        Retry { engine: &self.engine, turns: &self.turns, stats: &self.stats, undetermined }
    }

    /// How many bytes of keys and values a transaction can hold.
    pub fn txn_bytes_max(&self) -> usize {
        self.engine.txn_bytes_max()
    }

    /// A transaction for reading, or for [`Store::commit`] by hand; dropped, it leaves nothing
    /// behind.
    pub async fn begin(&self) -> Result<Tx> {
        Ok(Tx::begin(self.engine.clone(), self.engine.snapshot().await?))
    }

    /// Commits once, without retry.
    pub async fn commit(&self, tx: &Tx) -> Result<()> {
        let set = tx.finish()?;
        if !set.writes.is_empty() {
            self.engine.commit(tx.snapshot(), set).await?;
            Stats::add(&self.stats.commits);
        }
        Ok(())
    }

    /// Returns once everything committed so far, relaxed commits included, is on disk.
    pub async fn sync(&self) -> Result<()> {
        match &self.engine {
            Engine::Mem(mem) => {
                mem.sync();
                Ok(())
            }
            Engine::Embedded(embedded) => embedded.sync().await,
            // A commit is on the disks of a majority before it is acknowledged.
            #[cfg(feature = "tikv")]
            Engine::Tikv(_) => Ok(()),
        }
    }

    /// Reads every row of every table and reports what is there; fails on the first that does not
    /// read.
    pub async fn check(&self) -> Result<CheckReport> {
        embedded::check(self).await
    }

    /// How far commits have come. What was committed when this is asked is on disk for certain once
    /// `durable` has reached what is now `committed`.
    pub fn progress(&self) -> Progress {
        match &self.engine {
            Engine::Mem(mem) => mem.progress(),
            _ => self.stats.progress(),
        }
    }

    /// What went over the network.
    pub fn round_trips(&self) -> RoundTrips {
        match &self.engine {
            Engine::Mem(mem) => mem.operations().counted(),
            Engine::Embedded(_) => RoundTrips::default(),
            #[cfg(feature = "tikv")]
            Engine::Tikv(tikv) => tikv.operations().counted(),
        }
    }

    pub fn figures(&self) -> Figures {
        self.stats.figures()
    }

    /// Makes things go wrong from now on (in-memory engine only).
    pub fn inject(&self, faults: Faults) -> Result<()> {
        self.mem()?.set_faults(faults);
        Ok(())
    }

    /// Gives it a clock of its own, in milliseconds since 1970 (in-memory engine only).
    pub fn keep_time(&self, clock: impl Fn() -> i64 + Send + Sync + 'static) -> Result<()> {
        self.mem()?.set_clock(Arc::new(clock));
        Ok(())
    }

    /// The same store as another process has it that is at work on it, with queues and figures of its
    /// own (in-memory engine only).
    pub fn elsewhere(&self) -> Result<Store> {
        Ok(Store::with(Engine::Mem(self.mem()?.clone()), Arc::default()))
    }

    /// Tells of each commit from now on, in their order: the keys it writes, and what they hold from
    /// then on (in-memory engine only).
    pub fn watch(&self, watcher: impl Fn(&[(Bytes, Option<Bytes>)]) + Send + Sync + 'static) -> Result<()> {
        self.mem()?.set_watcher(Arc::new(watcher));
        Ok(())
    }

    /// Transactions may write no more than this from now on, as on an engine with other limits
    /// (in-memory engine only).
    pub fn limit_transactions(&self, bytes: usize) -> Result<()> {
        self.mem()?.set_txn_bytes_max(bytes);
        Ok(())
    }

    /// Ends every open transaction as a crash would; what was committed stays (in-memory engine
    /// only).
    pub fn crash(&self) -> Result<()> {
        self.mem()?.crash();
        Ok(())
    }

    /// A crash that also takes back some of the last relaxed commits; returns how many (in-memory
    /// engine only).
    pub fn power_cut(&self) -> Result<usize> {
        Ok(self.mem()?.power_cut())
    }

    /// What is in it now, for [`Store::put_back`] (in-memory engine only).
    pub fn copy(&self) -> Result<StoreCopy> {
        Ok(self.mem()?.copy())
    }

    /// A crash, after which the store is what it was when the copy was taken (in-memory engine
    /// only).
    pub fn put_back(&self, copy: &StoreCopy) -> Result<()> {
        self.mem()?.put_back(copy);
        Ok(())
    }

    fn mem(&self) -> Result<&Mem> {
        match &self.engine {
            Engine::Mem(mem) => Ok(mem),
            _ => Err(Error::lasting("faults can be injected into the in-memory engine only")),
        }
    }
}
