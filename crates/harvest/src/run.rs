//! From declared things to a running harvest and its end.
//!
//! The order matters: the store is opened (and with it the directory locked) and held against the
//! archive, reservations of a process that is gone are taken back, things are declared, what it
//! left in the archive is put right, things are started, and only then is anything fetched. The end
//! is the same way back: what is in flight comes home, files are completed, figures are told.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use declare::counted;
use declare::hint::hinted;
use declare::secret::restore_all;
use frontier::ports::Clock;
use frontier::{End, Frontier, Harvester, IDLE_MAX, JoinError, NODE_LEASE, Started, Tally, Target, Witness};
use ipnet::IpNet;
use net::dns::Overrides;
use net::http::check_header;
use net::warc::Compression;
use policy::browser::Engine;
use policy::catalog::{Catalog, Change};
use policy::model::{Collection, Settings};
use policy::time::{Span, Time};
use store::Options;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::figures::Figures;
use super::indexing::{keep_current, to_rest};
use super::room::keep_free;
use super::signals::Signals;
use crate::clock::SystemClock;
use crate::data_dir::{self, explain};
use crate::node::Node;
use crate::session::{frontier_of, note};
use crate::wire::{self, Introduction, WarcArchive, WireFetcher, WireSettings};

/// What comes due so soon is waited for by a harvest that runs until it is done.
const DONE_GRACE: Span = Span::seconds(10);

/// Between two looks whether somebody said who asks.
const CONTACT_LOOK: Duration = Duration::from_millis(200);

/// An opened data directory, ready to harvest.
pub struct Harvest {
    runtime: Runtime,
    pub frontier: Arc<Frontier>,
    fetcher: Arc<WireFetcher>,
    pub archive: Arc<WarcArchive>,
    workers: usize,
    pub figures: Arc<Figures>,
    signals: Signals,
    /// None: nothing depends on who asks.
    introduction: Option<Introduction>,
    dir: PathBuf,
    disk_floor: Option<u64>,
}

/// How to harvest, and where to keep it.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The data directory.
    pub dir: PathBuf,
    /// Where the store is, if it is not in the directory, and what this node is called there; as the
    /// directory remembers it if it is not said.
    pub store: Option<String>,
    pub node: Option<String>,
    /// These go before what is declared.
    pub user_agent: Option<String>,
    pub contact: Option<String>,
    /// Addresses of hosts that DNS is not asked for.
    pub resolve: Vec<String>,
    /// Networks that are not public, and may be asked all the same.
    pub allow_net: Vec<IpNet>,
    /// Of the archive; none: nothing is archived.
    pub compression: Option<Compression>,
    pub workers: usize,
    /// Bytes of the data directory's disk that stay free: with less, nothing is harvested for now.
    pub disk_floor: Option<u64>,
    /// Where nobody says how to reach who asks, wait until somebody does, instead of refusing (A1).
    pub waits_for_contact: bool,
}

/// When to end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Until {
    pub done: bool,
    pub length: Option<Span>,
    pub max_urls: Option<u64>,
}

/// What a harvest came to.
pub struct Outcome {
    pub figures: Arc<Figures>,
    pub tally: Tally,
    pub began: Time,
    pub ended: Time,
    /// Somebody asked it to stop.
    pub interrupted: bool,
}

/// What keeps collections that want a browser waiting, if there are any.
fn missing_browser(catalog: &Catalog) -> Option<String> {
    let wants = |collection: &&Collection| collection.active && collection.engine == Engine::Browser;
    let names: Vec<&str> = catalog.collections().filter(wants).map(|one| one.name.as_str()).collect();
    let missing = wire::check_browser(&catalog.settings().browser).err().filter(|_| !names.is_empty())?;
    let hint = missing.hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    Some(format!(
        "collections that are harvested with a browser wait ({}): {}{hint}",
        names.join(", "),
        missing.reason
    ))
}

impl Harvest {
    /// Opens the data directory and declares `changes`. Nothing is fetched yet.
    pub fn open(wanted: &Wanted, changes: &[Change]) -> Result<Harvest> {
        let given = changes.iter().rev().find_map(|change| match change {
            Change::PutSettings(settings) => Some(settings.as_ref().clone()),
            _ => None,
        });
        // Before anything is made on disk.
        let introduction =
            Introduction { user_agent: wanted.user_agent.clone(), contact: wanted.contact.clone() };
        if let Some(settings) = &given {
            must_be_reachable(&introduction, settings, wanted)?;
        }
        let runtime = Builder::new_multi_thread().enable_all().thread_name("skurd").build()?;
        let signals = Signals::listen(&runtime)?;
        let dir = &wanted.dir;
        let node = Node::settle(dir, wanted.store.as_deref(), wanted.node.as_deref())?;
        let store =
            data_dir::create_of(dir, &node, Options::default()).map_err(|error| explain(dir, error))?;
        let frontier = Arc::new(frontier_of(store));
        let name = node.name_in(dir);
        runtime.block_on(frontier.join(&name, node.home.unwrap_or_default())).map_err(refused)?;
        node.keep(dir)?;
        let settings = match given {
            Some(settings) => settings,
            None => runtime.block_on(frontier.with_catalog(|catalog| catalog.settings().clone()))?,
        };
        must_be_reachable(&introduction, &settings, wanted)?;
        let settings = WireSettings {
            certificates: settings.certificates,
            dir: dir.clone(),
            introduction: introduction.clone(),
            overrides: Overrides::parse(wanted.resolve.iter().map(String::as_str))?,
            allowed: wanted.allow_net.clone(),
            compression: wanted.compression,
            workers: wanted.workers,
            node: (node.name.is_some() || node.store.is_some()).then(|| plain(&name)),
        };
        signals.check()?;
        let _inside = runtime.enter();
        let (fetcher, archive) = wire::open(&settings, &frontier)?;
        drop(_inside);
        runtime.block_on(async {
            // Before anything is changed: a store that is not what it was is to be put back as it is (A13).
            let examined = archive.examine(dir).await?;
            signals.check()?;
            let taken_back = frontier.recover().await?;
            let mut changes = changes.to_vec();
            frontier.with_catalog(|catalog| restore_all(&mut changes, catalog)).await??;
            frontier.declare(&changes).await?;
            // B20: the others go on.
            if let Some(missing) = frontier.with_catalog(missing_browser).await? {
                note(&missing)?;
            }
            signals.check()?;
            let recovered = archive.recover(examined).await?;
            if taken_back > 0 || recovered.bytes_cut > 0 {
                note(&format!(
                    "the last harvest did not end well: {taken_back} reservations taken back, {} bytes that were not committed cut off",
                    recovered.bytes_cut
                ))?;
            }
            for text in &recovered.notes {
                note(text)?;
            }
            for unsent in frontier.with_catalog(unsent_headers).await? {
                note(&format!("warning: {unsent}"))?;
            }
            let paused = frontier.paused().await?.len();
            if paused > 0 {
                let told = counted(paused, "pause");
                note(&format!("{told} in effect: `skurd pause --list` shows them, `skurd resume` ends them"))?;
            }
            anyhow::Ok(())
        })?;
        let figures = Arc::new(Figures::default());
        let introduction = wanted.allow_net.is_empty().then_some(introduction);
        let workers = wanted.workers;
        let (dir, disk_floor) = (dir.clone(), wanted.disk_floor);
        Ok(Harvest {
            figures,
            signals,
            runtime,
            frontier,
            fetcher,
            archive,
            workers,
            introduction,
            dir,
            disk_floor,
        })
    }

    /// Starts what was never started, or everything anew.
    pub fn start(&self, again: bool) -> Result<Started> {
        self.runtime.block_on(async {
            if !again {
                return Ok(self.frontier.start_new().await?);
            }
            let collections: Vec<String> = self
                .frontier
                .with_catalog(|catalog| catalog.collections().map(|found| found.name.clone()).collect())
                .await?;
            let mut all = Started::default();
            for collection in collections {
                let started = self.frontier.start(&Target::Collection(collection)).await?;
                all.run = all.run.max(started.run);
                all.seeds += started.seeds;
                all.changed += started.changed;
            }
            Ok(all)
        })
    }

    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Waits until a site owner could find who asks, or the harvest is over. Before that nothing is
    /// asked for, and so no URL has failed.
    async fn reachable(&self, stopped: &watch::Receiver<bool>) -> Result<()> {
        let Some(introduction) = &self.introduction else { return Ok(()) };
        let is_reachable = |catalog: &Catalog| introduction.with(catalog.settings()).is_reachable();
        if !self.frontier.with_catalog(is_reachable).await? {
            note(
                "nothing is harvested until site owners can reach you: the dashboard asks for a contact; or start with --contact https://your.site/bot",
            )?;
        }
        while !*stopped.borrow() && !self.frontier.with_catalog(is_reachable).await? {
            self.figures.wait_for_contact(true);
            tokio::time::sleep(CONTACT_LOOK).await;
        }
        self.figures.wait_for_contact(false);
        Ok(())
    }

    /// Harvests until its end, or until a signal or the holder of `stop` asks it to. The witness
    /// hears of every harvest.
    pub fn run<W: Witness>(
        &self,
        until: &Until,
        witness: &Arc<W>,
        stop: watch::Sender<bool>,
    ) -> Result<Outcome> {
        let figures = Arc::clone(&self.figures);
        let began = SystemClock.now();
        let harvester = Harvester {
            frontier: Arc::clone(&self.frontier),
            fetcher: Arc::clone(&self.fetcher),
            archive: Arc::clone(&self.archive),
            witness: Arc::clone(witness),
            workers: self.workers,
            idle_max: IDLE_MAX,
            end: End { idle_for: until.done.then_some(DONE_GRACE), max_harvests: until.max_urls },
        };
        self.signals.begin();
        let stopped = stop.subscribe();
        let length = until.length;
        let ran = self.runtime.block_on(async {
            figures.look(&self.frontier, true).await?;
            tokio::select! {
                ran = async {
                    self.reachable(&stopped).await?;
                    harvester.run(stopped).await.context("the harvest ended")
                } => ran,
                error = stop_when_asked(&self.signals, stop, length, &figures) => Err(error),
                ended = keep_free(&self.frontier, &self.dir, self.disk_floor, &figures) => Err(ended),
                ended = keep_current(&self.frontier) => Err(ended.context("the link index stopped")),
                error = figures.keep_current(&self.frontier) => Err(error).context("the figures cannot be read"),
            }
        });
        let tally = ran?;
        self.archive.close()?;
        let interrupted = figures.was_stopped();
        if !interrupted {
            self.runtime.block_on(to_rest(&self.frontier))?;
        }
        self.runtime.block_on(figures.look(&self.frontier, true))?;
        self.runtime.block_on(self.frontier.depart())?;
        self.runtime.block_on(self.frontier.store().sync())?;
        self.archive.rest()?;
        Ok(Outcome { figures, tally, began, ended: SystemClock.now(), interrupted })
    }
}

/// As it stands in the names of files.
fn plain(node: &str) -> String {
    node.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-").trim_matches('-').to_owned()
}

fn refused(error: JoinError) -> anyhow::Error {
    match error {
        JoinError::NameTaken { .. } => hinted(
            error.to_string(),
            format!(
                "--node gives this one another name; if that one is dead, its name is free {NODE_LEASE} after it was last heard of"
            ),
        ),
        error => error.into(),
    }
}

/// Headers that were declared when that was not yet refused: they are left out of requests.
fn unsent_headers(catalog: &Catalog) -> Vec<String> {
    let of_one = |collection: &Collection| -> Vec<String> {
        let own = collection.headers.iter();
        let unsent = own.filter_map(|(name, value)| check_header(name, value).err());
        unsent.map(|why| format!("collection `{}`: {why}, and is not sent", collection.name)).collect()
    };
    catalog.collections().flat_map(of_one).collect()
}

/// Refuses who could not be reached, unless that can still be said.
fn must_be_reachable(introduction: &Introduction, settings: &Settings, wanted: &Wanted) -> Result<()> {
    let is_reachable = introduction.with(settings).is_reachable();
    if !is_reachable && wanted.allow_net.is_empty() && !wanted.waits_for_contact {
        return Err(hinted(
            "no contact is given: site owners must be able to reach you",
            "--contact https://your.site/bot, or `contact` in the settings of the config; without it, only networks of --allow-net are asked",
        ));
    }
    Ok(())
}

/// Passes on a signal, or that the time is up; ends itself only at a second signal, with which the
/// harvest is dropped as it is.
async fn stop_when_asked(
    signals: &Signals,
    stop: watch::Sender<bool>,
    length: Option<Span>,
    figures: &Figures,
) -> anyhow::Error {
    let time_is_up = async {
        match length {
            Some(length) => tokio::time::sleep(Duration::from_millis(length.0)).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = time_is_up => {}
        () = signals.asked(1) => {
            figures.stop();
            let _ = note("stopping: what is under way comes home first; once more to stop at once");
        }
    }
    // The harvest may have ended by itself just now.
    let _ = stop.send(true);
    signals.asked(2).await;
    anyhow::anyhow!("stopped at once; the same command takes back what was under way and goes on")
}
