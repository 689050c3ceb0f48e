//! The store against plain fjall used well, in the same run, on 80-byte URL-like keys.
//!
//! (a) batches of 50 keys from 64 concurrent writers, each commit on disk before it is acknowledged
//! (b) point look-ups on many keys, half of them misses
//! (c) queue churn: pop the smallest key of a host, put it back later; does the cost per pop grow?
//! (d) memory
//!
//! "Used well": the baseline groups its fsyncs as ours does (a batch is written by each thread; one
//! thread at a time syncs for all who have written), reads without a snapshot, and starts each scan
//! of its queue at the last position.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use skurd_bench::{Stopwatch, memory_mib, number_flag, scratch};
use store::table::Table;
use store::{Durability, Options, Store};

const WRITERS: u64 = 64;
const BATCH: u64 = 50;
const ROWS: Table<Vec<u8>, Vec<u8>> = Table::new(1, "rows");
const QUEUE: Table<(u32, u64), Vec<u8>> = Table::new(2, "queue");

/// 80 bytes, in no order, as URLs of many hosts are.
fn url(n: u64) -> Vec<u8> {
    let mixed = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut key =
        format!("https://host{:05}.example.org/section/{:016x}/", mixed % 50_000, mixed).into_bytes();
    key.resize(80, b'x');
    key
}

fn value(n: u64) -> Vec<u8> {
    n.to_le_bytes().repeat(4)
}

fn main() -> Result<()> {
    let batches = number_flag("--batches", 40_000);
    let keys = number_flag("--keys", 5_000_000);
    let lookups = number_flag("--lookups", 1_000_000);
    let pops = number_flag("--pops", 1_000_000);
    let large = number_flag("--large", 10_000_000);
    let only = std::env::args().skip_while(|arg| arg != "--only").nth(1).unwrap_or_else(|| "abcd".into());

    if only.contains('a') {
        let ours = writes_ours(batches)?;
        let plain = writes_plain(batches)?;
        report("(a) durable writes, keys/s", ours, plain);
    }
    if only.contains('b') {
        let (ours, plain) = lookups_both(keys, lookups)?;
        report("(b) look-ups, half misses, /s", ours, plain);
    }
    if only.contains('c') {
        churn_plain(pops)?;
        churn_ours(pops)?;
    }
    if only.contains('d') {
        memory(large)?;
    }
    Ok(())
}

fn report(what: &str, ours: f64, plain: f64) {
    println!("{what}: ours {ours:.0}, plain fjall {plain:.0}, ratio {:.2}", ours / plain);
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?)
}

fn plain(dir: &std::path::Path) -> Result<(Database, Keyspace)> {
    let options = Options::default();
    let db = Database::builder(dir)
        .cache_size(options.cache_bytes)
        .worker_threads(2)
        .manual_journal_persist(true)
        .open()?;
    let rows = db.keyspace("rows", || {
        KeyspaceCreateOptions::default()
            .manual_journal_persist(true)
            .max_memtable_size(options.write_buffer_bytes)
    })?;
    Ok((db, rows))
}

fn writes_ours(batches: u64) -> Result<f64> {
    let dir = scratch()?;
    let store = Store::open(dir.path(), &Options::default())?;
    let next = Arc::new(AtomicU64::new(0));
    let watch = Stopwatch::start();
    runtime()?.block_on(async {
        let writers = (0..WRITERS).map(|_| {
            let (store, next) = (store.clone(), Arc::clone(&next));
            tokio::spawn(async move {
                loop {
                    let batch = next.fetch_add(1, Ordering::Relaxed);
                    if batch >= batches {
                        return Ok::<(), store::Error>(());
                    }
                    let write = store.transact(|tx| async move {
                        for n in batch * BATCH..(batch + 1) * BATCH {
                            ROWS.put(&tx, &url(n), &value(n))?;
                        }
                        Ok(())
                    });
                    write.await?;
                }
            })
        });
        let writers: Vec<_> = writers.collect();
        for writer in writers {
            writer.await??;
        }
        anyhow::Ok(())
    })?;
    let rate = watch.per_second(batches * BATCH);
    let figures = store.figures();
    println!(
        "    ours: {} commits in {} syncs, {} conflicts",
        figures.commits, figures.syncs, figures.conflicts
    );
    Ok(rate)
}

/// One sync for all who wrote before it began.
struct GroupSync {
    written: AtomicU64,
    synced: parking_lot::Mutex<u64>,
}

fn writes_plain(batches: u64) -> Result<f64> {
    let dir = scratch()?;
    let (db, rows) = plain(dir.path())?;
    let next = AtomicU64::new(0);
    let group = GroupSync { written: AtomicU64::new(0), synced: parking_lot::Mutex::new(0) };
    let watch = Stopwatch::start();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    loop {
                        let batch = next.fetch_add(1, Ordering::Relaxed);
                        if batch >= batches {
                            return Ok(());
                        }
                        let mut write = db.batch();
                        for n in batch * BATCH..(batch + 1) * BATCH {
                            write.insert(&rows, url(n), value(n));
                        }
                        write.commit()?;
                        let mine = group.written.fetch_add(1, Ordering::SeqCst) + 1;
                        let mut synced = group.synced.lock();
                        if *synced < mine {
                            let upto = group.written.load(Ordering::SeqCst);
                            db.persist(PersistMode::SyncData)?;
                            *synced = upto;
                        }
                    }
                })
            })
            .collect();
        writers
            .into_iter()
            .try_for_each(|writer| writer.join().map_err(|_| anyhow::anyhow!("a writer panicked"))?)
    })?;
    Ok(watch.per_second(batches * BATCH))
}

async fn load(store: &Store, keys: u64) -> Result<()> {
    for first in (0..keys).step_by(5_000) {
        let write = store.transact(|tx| async move {
            tx.set_durability(Durability::Relaxed);
            for n in first..(first + 5_000).min(keys) {
                ROWS.put(&tx, &url(n), &value(n))?;
            }
            Ok(())
        });
        write.await?;
    }
    Ok(store.sync().await?)
}

/// Both hold the same keys, loaded the same way, and take turns, so that background merging
/// disturbs both alike.
fn lookups_both(keys: u64, lookups: u64) -> Result<(f64, f64)> {
    let (ours_dir, plain_dir) = (scratch()?, scratch()?);
    let runtime = runtime()?;
    let store = Store::open(ours_dir.path(), &Options::default())?;
    runtime.block_on(load(&store, keys))?;
    let (db, rows) = plain(plain_dir.path())?;
    for first in (0..keys).step_by(5_000) {
        let mut write = db.batch();
        for n in first..(first + 5_000).min(keys) {
            write.insert(&rows, url(n), value(n));
        }
        write.commit()?;
    }
    db.persist(PersistMode::SyncAll)?;
    let (mut ours, mut plain) = (0f64, 0f64);
    for round in 0..4 {
        let (one, found) = runtime.block_on(lookup_ours(&store, keys, lookups, round))?;
        let (other, found_plain) = lookup_plain(&rows, keys, lookups, round)?;
        anyhow::ensure!(found == found_plain, "{found} and {found_plain} keys found");
        println!("    round {round}: ours {one:.0}, plain {other:.0}; {found} of {lookups} found");
        ours = ours.max(one);
        plain = plain.max(other);
    }
    Ok((ours, plain))
}

fn draw(rng: &mut fastrand::Rng, keys: u64) -> Vec<u8> {
    let n = rng.u64(0..keys);
    url(if rng.bool() { n } else { n + keys })
}

/// As the frontier reads: one transaction and one multi-get for the links of a page.
async fn lookup_ours(store: &Store, keys: u64, lookups: u64, seed: u64) -> Result<(f64, u64)> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut found = 0;
    let watch = Stopwatch::start();
    for _ in 0..lookups / BATCH {
        let tx = store.begin().await?;
        let wanted: Vec<Vec<u8>> = (0..BATCH).map(|_| draw(&mut rng, keys)).collect();
        let values = ROWS.multi_get(&tx, wanted.iter().map(Vec::as_slice)).await?;
        found += values.iter().flatten().count() as u64;
    }
    Ok((watch.per_second(lookups), found))
}

fn lookup_plain(rows: &Keyspace, keys: u64, lookups: u64, seed: u64) -> Result<(f64, u64)> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut found = 0;
    let watch = Stopwatch::start();
    for _ in 0..lookups {
        found += u64::from(rows.get(draw(&mut rng, keys))?.is_some());
    }
    Ok((watch.per_second(lookups), found))
}

const HOSTS: u32 = 10_000;
const URLS_PER_HOST: u64 = 20;
const WINDOWS: u64 = 10;

fn churn_report(who: &str, rates: &[f64]) {
    let (first, last) = (rates[0], rates[rates.len() - 1]);
    let shown: Vec<String> = rates.iter().map(|rate| format!("{rate:.0}")).collect();
    println!(
        "(c) queue churn, {who}: pops/s by tenth [{}]; cost at the end / at the start {:.2}",
        shown.join(" "),
        first / last
    );
}

/// Each pop is a transaction of its own, on disk before the next of its worker; 64 workers share
/// the hosts, as in a harvest.
fn churn_ours(pops: u64) -> Result<()> {
    let dir = scratch()?;
    let store = Store::open(dir.path(), &Options::default())?;
    runtime()?.block_on(async {
        for first in (0..HOSTS).step_by(500) {
            let fill = store.transact(|tx| async move {
                for host in first..first + 500 {
                    for due in 0..URLS_PER_HOST {
                        QUEUE.put(&tx, (host, due), &value(due))?;
                    }
                }
                Ok(())
            });
            fill.await?;
        }
        let mut workers: Vec<Worker> = (0..WRITERS).map(Worker::new).collect();
        let mut rates = Vec::new();
        for _ in 0..WINDOWS {
            let watch = Stopwatch::start();
            let running = workers.drain(..).map(|mut worker| {
                let store = store.clone();
                tokio::spawn(async move {
                    for _ in 0..pops / WINDOWS / WRITERS {
                        worker.pop(&store).await?;
                    }
                    Ok::<Worker, store::Error>(worker)
                })
            });
            let running: Vec<_> = running.collect();
            for worker in running {
                workers.push(worker.await??);
            }
            rates.push(watch.per_second(pops / WINDOWS));
        }
        churn_report("ours, 64 workers, durable", &rates);
        anyhow::Ok(())
    })
}

/// Owns every 64th host, and remembers where each of their queues begins.
struct Worker {
    hosts: Vec<(u32, u64)>,
    rng: fastrand::Rng,
}

impl Worker {
    fn new(number: u64) -> Worker {
        let hosts =
            (0..HOSTS).filter(|host| u64::from(*host) % WRITERS == number).map(|host| (host, 0)).collect();
        Worker { hosts, rng: fastrand::Rng::with_seed(number) }
    }

    async fn pop(&mut self, store: &Store) -> store::Result<()> {
        let at = self.rng.usize(0..self.hosts.len());
        let (host, head) = self.hosts[at];
        let pop = store.transact(|tx| async move {
            let range = QUEUE.range_from((host,), (host, head));
            let Some(((_, due), row)) = QUEUE.first(&tx, &range).await? else {
                return Err(store::Error::Corrupt("a queue ran empty".into()));
            };
            QUEUE.delete(&tx, (host, due))?;
            QUEUE.put(&tx, (host, due + URLS_PER_HOST), &row)?;
            Ok(due)
        });
        self.hosts[at].1 = pop.await?;
        Ok(())
    }
}

fn churn_plain(pops: u64) -> Result<()> {
    let dir = scratch()?;
    let (db, rows) = plain(dir.path())?;
    for host in 0..HOSTS {
        for due in 0..URLS_PER_HOST {
            rows.insert(QUEUE.key((host, due)), value(due))?;
        }
    }
    let mut heads = vec![0u64; HOSTS as usize];
    let mut rng = fastrand::Rng::with_seed(7);
    let mut rates = Vec::new();
    for _ in 0..WINDOWS {
        let watch = Stopwatch::start();
        for _ in 0..pops / WINDOWS {
            let host = rng.u32(0..HOSTS);
            let range = QUEUE.range_from((host,), (host, heads[host as usize]));
            let row = rows.range(range.from..range.to).next();
            let (key, row) = row.ok_or_else(|| anyhow::anyhow!("a queue ran empty"))?.into_inner()?;
            let (_, due) = QUEUE.key_from(&key)?;
            let mut write = db.batch();
            write.remove(&rows, key);
            write.insert(&rows, QUEUE.key((host, due + URLS_PER_HOST)), row);
            write.durability(Some(PersistMode::Buffer)).commit()?;
            heads[host as usize] = due;
        }
        rates.push(watch.per_second(pops / WINDOWS));
    }
    churn_report("plain fjall", &rates);
    Ok(())
}

fn memory(keys: u64) -> Result<()> {
    let dir = scratch()?;
    let (before, _) = memory_mib();
    let store = Store::open(dir.path(), &Options::default())?;
    runtime()?.block_on(async {
        load(&store, keys).await?;
        let tx = store.begin().await?;
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..100_000 {
            ROWS.get(&tx, &url(rng.u64(0..keys))).await?;
        }
        anyhow::Ok(())
    })?;
    let (now, peak) = memory_mib();
    println!(
        "(d) memory with {keys} keys: {} MiB more than at the start, peak of the process {peak} MiB",
        now - before.min(now)
    );
    Ok(())
}
