//! `skurd index load`: pages from files.
//!
//! A thread reads a file and makes batches of its pages; each batch is loaded in one transaction,
//! together with the place where the file is gone on with; observers work in what is loaded
//! meanwhile, and at the end until nothing waits. Reading goes no further ahead than a few batches,
//! and whoever loads a batch also works in as much.
//!
//! The invariant: whatever happens, what is loaded of a file is what lies before its place. So the
//! same command goes on there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use declare::counted;
use declare::hint::hinted;
use declare::text::bytes_text;
use harvest::session::{Session, note};
use harvest::signal;
use index::{Index, Load, Loaded, Workers};
use policy::url::UrlRules;
use store::{Durability, Options};
use tokio::sync::{mpsc, watch};

use super::feed::{Batch, Item, feed};
use super::place::{LoadFile, Place, command_of};
use super::progress::{Loading, Outcome, Teller};
use super::revisits::{Search, follow};
use super::tally::Tally;
use crate::args::index::LoadArgs;
use crate::pages::{self, Mark};

/// Batches read ahead.
const AHEAD: usize = 2;
/// Observers at work at the same time.
const WORKERS: usize = 2;
/// Steps of an observer that loading a batch is worth.
const STEPS_PER_BATCH: usize = 2;
/// Notes of a shard that are counted to show progress.
const SHARD_NOTES_COUNTED: usize = 8;
/// While only observers are at work.
const TELL_EVERY: Duration = Duration::from_millis(250);

struct Loader<'a> {
    index: &'a Index,
    rules: UrlRules,
    command: u64,
    teller: Teller,
    loading: Loading,
    /// Lengths of the files before the one at hand.
    bytes_before: u64,
    tally: Tally,
    /// Of each file that is loaded.
    revisits_of: Vec<u64>,
    stop: watch::Receiver<bool>,
}

pub(super) fn run(args: &LoadArgs) -> Result<()> {
    let files = args.files.iter().map(|path| LoadFile::new(path)).collect::<Result<Vec<LoadFile>>>()?;
    if files.iter().filter(|file| file.is_stdin()).count() > 1 {
        return Err(hinted("standard input can be read once", "give `-` once"));
    }
    // Before anything is loaded, each is known to be of a kind that can be.
    for file in files.iter().filter(|file| !file.is_stream) {
        pages::open(&file.path, Mark::default(), &UrlRules::default(), &Arc::default())?;
    }
    let session = Session::create(&args.data.dir, Options::bulk())?;
    let rules = session.look(|catalog| catalog.url_rules().clone())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("skurd").build()?;
    let outcome = runtime.block_on(load(&session, args, &files, rules));
    // A thread that waits for standard input is not waited for.
    runtime.shutdown_background();
    match outcome?.damaged {
        0 => Ok(()),
        damaged => {
            bail!("{} could not be read: what is before and after was loaded", counted(damaged, "place"))
        }
    }
}

/// Loads all files, and says what came of it.
async fn load(session: &Session, args: &LoadArgs, files: &[LoadFile], rules: UrlRules) -> Result<Tally> {
    let index = Index::open(session.frontier.store(), &args.collection).await?;
    let (asked, stop) = watch::channel(false);
    let sized = files.iter().all(|file| file.length > 0);
    let total = sized.then(|| files.iter().map(|file| file.length).sum());
    let mut loader = Loader {
        index: &index,
        rules,
        command: command_of(files),
        teller: Teller::new(args.json),
        loading: Loading { bytes_total: total, ..Loading::default() },
        bytes_before: 0,
        tally: Tally::default(),
        revisits_of: Vec::new(),
        stop,
    };
    let workers = Workers::new(&index, WORKERS);
    tokio::select! {
        loaded = loader.all(files) => loaded?,
        ended = workers.run(std::future::pending()) => {
            return Err(ended.err().map_or_else(|| anyhow!("the observers ended"), Into::into));
        }
        error = stop_when_asked(&asked) => return Err(error),
    }
    let interrupted = *asked.borrow();
    let outcome = Outcome {
        collection: &args.collection,
        files: files.len(),
        tally: loader.tally,
        links: loader.loading.links,
        totals: index.totals().await?,
        interrupted,
    };
    loader.teller.summary(&outcome)?;
    let Outcome { tally, .. } = outcome;
    if !interrupted && tally.damaged == 0 && tally.pages + tally.deletes == 0 {
        let names: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
        let why = match tally.broken {
            0 => "there is no page in it".to_owned(),
            broken => format!("{broken} lines or records were left out, and there is nothing else in it"),
        };
        bail!("nothing was loaded from {}: {why}", names.join(", "));
    }
    Ok(tally)
}

impl Loader<'_> {
    async fn all(&mut self, files: &[LoadFile]) -> Result<()> {
        let loaded = match self.each(files).await {
            Ok(()) => self.rest().await,
            failed => failed,
        };
        self.teller.progress.end();
        loaded?;
        if !self.is_stopped() {
            self.forget(files).await?;
        }
        Ok(self.index.store().sync().await?)
    }

    async fn each(&mut self, files: &[LoadFile]) -> Result<()> {
        for file in files {
            if self.is_stopped() {
                return Ok(());
            }
            let mut place = file.place(self.index.store(), self.index.name(), self.command).await?;
            self.tally += place.tally;
            match place.done {
                true => self.teller.say(&format!("{}: loaded before the interruption", file.path.display())),
                false => place.tally = self.file(file, place).await?,
            }
            self.revisits_of.push(place.tally.revisits);
            self.bytes_before += file.length;
        }
        self.revisits(files).await
    }

    /// A16: the links of pages that are what another record has.
    async fn revisits(&mut self, files: &[LoadFile]) -> Result<()> {
        let with: Vec<LoadFile> = files
            .iter()
            .zip(&self.revisits_of)
            .filter(|(_, revisits)| **revisits > 0)
            .map(|(file, _)| file.clone())
            .collect();
        let streamed: u64 =
            files.iter().zip(&self.revisits_of).filter(|(file, _)| file.is_stream).map(|(_, n)| n).sum();
        self.tally.unfollowed += streamed;
        if with.iter().all(|file| file.is_stream) {
            return Ok(());
        }
        let (send, mut batches) = mpsc::channel(AHEAD);
        let search = Search { with, all: files.to_vec(), rules: self.rules.clone() };
        std::thread::Builder::new().name("skurd-read".to_owned()).spawn(move || follow(&search, &send))?;
        let mut stop = self.stop.clone();
        loop {
            let batch = tokio::select! {
                batch = batches.recv() => batch.context("reading ended before the files did")??,
                _ = stop.wait_for(|asked| *asked) => return Ok(()),
            };
            let is_last = batch.is_last;
            let loads: Vec<Load<'_>> = batch.items.iter().map(Item::load).collect();
            let (index, loads) = (self.index, loads.as_slice());
            let changed = index.store().transact_idempotent(|tx| async move {
                tx.set_durability(Durability::Relaxed);
                let loaded = index.load_many(&tx, loads).await?;
                Ok(loaded.iter().filter(|loaded| **loaded == Loaded::Changed).count() as u64)
            });
            let changed = changed.await?;
            // Their pages and links are counted where they are.
            self.tally.unfollowed += batch.tally.unfollowed;
            self.tally.changed += changed;
            self.help().await?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Gives what it has counted.
    async fn file(&mut self, file: &LoadFile, mut place: Place) -> Result<Tally> {
        if place.mark != Mark::default() {
            let (name, pages) = (file.path.display(), place.tally.pages);
            let (at, length) = (bytes_text(place.mark.offset), bytes_text(file.length));
            self.teller.say(&format!("{name}: going on at {at} of {length}, after {pages} pages"));
        }
        let read = Arc::new(AtomicU64::new(0));
        let (send, mut batches) = mpsc::channel(AHEAD);
        let (path, rules, from, counted) =
            (file.path.clone(), self.rules.clone(), place.mark, Arc::clone(&read));
        std::thread::Builder::new().name("skurd-read".to_owned()).spawn(move || {
            match pages::open(&path, from, &rules, &counted) {
                Ok(mut source) => feed(&mut *source, &send),
                // Whoever does not wait for it any more does not miss it.
                Err(error) => drop(send.blocking_send(Err(error))),
            }
        })?;
        let mut stop = self.stop.clone();
        loop {
            let batch = tokio::select! {
                batch = batches.recv() => batch.context("reading ended before the file did")??,
                _ = stop.wait_for(|asked| *asked) => return Ok(place.tally),
            };
            let is_last = batch.is_last;
            self.batch(file, &mut place, batch).await?;
            self.loading.bytes = self.bytes_before + read.load(Ordering::Relaxed);
            self.help().await?;
            if is_last {
                return Ok(place.tally);
            }
        }
    }

    /// Loads pages, and moves the place of the file behind them.
    async fn batch(&mut self, file: &LoadFile, place: &mut Place, batch: Batch) -> Result<()> {
        for problem in &batch.problems {
            self.teller.problem(&file.path, problem);
        }
        let loads: Vec<Load<'_>> = batch.items.iter().map(Item::load).collect();
        place.tally += batch.tally;
        (place.mark, place.done) = (batch.mark, batch.is_last);
        let (index, loads, mut behind) = (self.index, loads.as_slice(), *place);
        let changed = index.store().transact_idempotent(|tx| async move {
            // A crash may take back the last moments, but pages and place together.
            tx.set_durability(Durability::Relaxed);
            let loaded = index.load_many(&tx, loads).await?;
            let changed = loaded.iter().filter(|loaded| **loaded == Loaded::Changed).count() as u64;
            behind.tally.changed += changed;
            file.put(&tx, index.name(), &behind)?;
            Ok(changed)
        });
        let changed = changed.await?;
        place.tally.changed += changed;
        self.tally += batch.tally;
        self.tally.changed += changed;
        self.loading.pages += batch.tally.pages;
        self.loading.links += batch.tally.links;
        Ok(())
    }

    /// Works in about as much as was loaded, besides what the observers do: so what waits does not
    /// grow with the file.
    async fn help(&mut self) -> Result<()> {
        for step in 0..STEPS_PER_BATCH {
            match self.index.step(step).await {
                Ok(true) => {}
                Ok(false) => break,
                // Others had it first.
                Err(store::Error::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.tell().await
    }

    /// Works until nothing waits.
    async fn rest(&mut self) -> Result<()> {
        let rest = self.index.to_rest();
        tokio::pin!(rest);
        loop {
            tokio::select! {
                done = &mut rest => return Ok(done?),
                () = tokio::time::sleep(TELL_EVERY) => self.tell().await?,
            }
        }
    }

    async fn tell(&mut self) -> Result<()> {
        if let Some(passed) = self.teller.progress.due() {
            self.loading.waiting = self.index.waiting(SHARD_NOTES_COUNTED).await?;
            self.teller.tell(&self.loading, passed);
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// All is done: whoever loads these files again means to.
    async fn forget(&self, files: &[LoadFile]) -> Result<()> {
        let index = self.index;
        let forgotten = index.store().transact_idempotent(|tx| async move {
            files.iter().try_for_each(|file| file.forget(&tx, index.name()))
        });
        Ok(forgotten.await?)
    }
}

/// Passes on a signal; ends only at a second one, with which the load is dropped as it is.
async fn stop_when_asked(asked: &watch::Sender<bool>) -> anyhow::Error {
    if let Err(error) = signal().await {
        return error.into();
    }
    asked.send_replace(true);
    let _ = note("stopping: what is loaded is worked in first; once more to stop at once");
    match signal().await {
        Ok(()) => anyhow!("stopped at once; the same command goes on where it was"),
        Err(error) => error.into(),
    }
}
