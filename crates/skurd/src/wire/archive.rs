//! The archive of a data directory: one set of WARC files per collection, written one batch at a time.
//!
//! At start, files that were open when the last process ended are cut back to what the store says is committed and gone on with. A batch is
//! appended and synced; what the store did not commit of it is cut off again. So at every moment the store and the files agree on what is
//! archived, but for the batch in hand.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use frontier::Frontier;
use frontier::ports::{Archive, CaptureKey, Clock, FileEnd, Kept, Order};
use frontier::schema::Capture;
use net::warc::{self, Compression, FileError, FileSet, FileSettings, Found, Kind, Mark};
use parking_lot::Mutex;

use super::identity::Identity;
use super::pack::Haul;
use super::{WireSettings, warc_dir};
use crate::clock::SystemClock;

/// Lengths of host and prefix in file names.
const HOST_BYTES_MAX: usize = 60;

pub(crate) struct WarcArchive {
    dir: PathBuf,
    /// None: nothing is archived.
    compression: Option<Compression>,
    identity: Identity,
    host: String,
    frontier: Arc<Frontier>,
    sets: Mutex<Sets>,
}

#[derive(Default)]
struct Sets {
    by_collection: HashMap<String, FileSet>,
    /// The sets the last batch was written to, and where it began.
    batch: Vec<(String, Mark)>,
}

/// What the last process left behind, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recovered {
    pub(crate) files: usize,
    pub(crate) bytes_cut: u64,
}

impl WarcArchive {
    pub(super) fn new(settings: &WireSettings, frontier: Arc<Frontier>) -> Result<WarcArchive> {
        let dir = warc_dir(&settings.dir);
        std::fs::create_dir_all(&dir)
            .with_context(|| format!("cannot make the directory {}", dir.display()))?;
        Ok(WarcArchive {
            dir,
            compression: settings.compression,
            identity: settings.identity.clone(),
            host: host_name(),
            frontier,
            sets: Mutex::default(),
        })
    }

    /// Puts right what the last process left open (A8). To be called before anything is archived.
    pub(crate) async fn recover(&self) -> Result<Recovered> {
        let mut committed = HashMap::new();
        for name in warc::open_files(&self.dir).map_err(explained)? {
            if let Some(end) = self.frontier.archived(&name).await? {
                committed.insert(name, end);
            }
        }
        let found = warc::recover(&self.dir, |name| committed.get(name).copied()).map_err(explained)?;
        let mut recovered = Recovered { files: found.len(), bytes_cut: 0 };
        for file in &found {
            match file.found {
                Found::Intact { .. } => {}
                Found::CutBack { cut, .. } => recovered.bytes_cut += cut,
                Found::Removed { bytes } => {
                    recovered.bytes_cut += bytes;
                    continue;
                }
                Found::Short { bytes, committed } => anyhow::bail!(
                    "{} has {bytes} bytes, but {committed} were archived: the file was changed or the disk is damaged\n\
                     hint: put back the file as it was, or move the data directory away and begin anew",
                    file.name
                ),
            }
            self.resume(&file.name).await?;
        }
        Ok(recovered)
    }

    /// Goes on with the file, if its collection is still written the same way; else completes it.
    async fn resume(&self, name: &str) -> Result<()> {
        let collections: Vec<String> = self
            .frontier
            .with_catalog(|catalog| catalog.collections().map(|c| c.name.clone()).collect())
            .await?;
        let mut sets = self.sets.lock();
        for collection in collections {
            let Some(settings) = self.file_settings(&collection) else { break };
            if !settings.owns(name) || sets.by_collection.contains_key(&collection) {
                continue;
            }
            let mut set = FileSet::new(settings).map_err(explained)?;
            if set.resume(name).is_ok() {
                sets.by_collection.insert(collection, set);
                return Ok(());
            }
        }
        warc::complete(&self.dir, name).map_err(explained)
    }

    /// Completes all files: nothing more comes.
    pub(crate) fn close(&self) -> Result<()> {
        let mut sets = self.sets.lock();
        for (_, mut set) in sets.by_collection.drain() {
            set.close().map_err(explained)?;
        }
        Ok(())
    }

    fn file_settings(&self, collection: &str) -> Option<FileSettings> {
        let prefix = self.frontier.peek_catalog(|catalog| {
            catalog.collection(collection).and_then(|found| found.warc_prefix.clone())
        });
        let mut info = warc::Fields::new();
        info.add("software", concat!("skurd/", env!("CARGO_PKG_VERSION")));
        info.add("format", "WARC File Format 1.1");
        info.add(
            "conformsTo",
            "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        );
        info.add("isPartOf", collection);
        info.add("hostname", &self.host);
        info.add("http-header-user-agent", &self.identity.user_agent(None));
        if let Some(contact) = &self.identity.contact {
            info.add("operator", contact);
        }
        let profiles = self.frontier.peek_catalog(|catalog| -> Vec<String> {
            catalog.profiles_of_collection(collection).map(describe).collect()
        });
        for profile in profiles {
            info.add("description", &profile);
        }
        Some(FileSettings {
            dir: self.dir.clone(),
            prefix: prefix.unwrap_or_else(|| "skurd".to_owned()),
            collection: collection.to_owned(),
            host: self.host.clone(),
            compression: self.compression?,
            bytes_max: FileSettings::BYTES_MAX,
            age_max: FileSettings::AGE_MAX,
            info,
        })
    }

    fn keep_all(&self, batch: &[(&Order, &Haul)]) -> Result<Kept, FileError> {
        let mut sets = self.sets.lock();
        let Sets { by_collection, batch: begun } = &mut *sets;
        begun.clear();
        let mut kept = Kept::default();
        for (order, haul) in batch {
            let Some(settings) =
                self.compression.and_then(|_| self.file_settings_once(by_collection, &order.collection))
            else {
                kept.captures.push(Vec::new());
                continue;
            };
            if let Some(settings) = settings {
                by_collection.insert(order.collection.clone(), FileSet::new(settings)?);
            }
            let Some(set) = by_collection.get_mut(&order.collection) else { continue };
            if !begun.iter().any(|(collection, _)| *collection == order.collection) {
                begun.push((order.collection.clone(), set.begin(SystemClock.now())?));
            }
            let mut captures = Vec::new();
            let Haul::Groups(groups) = haul else { continue };
            for group in groups {
                let place = set.append(group)?;
                captures.extend(group.entries.iter().map(|entry| capture(entry, &place)));
            }
            kept.captures.push(captures);
        }
        for (collection, _) in begun.iter() {
            let Some(set) = by_collection.get_mut(collection) else { continue };
            let end = set.sync()?;
            kept.files.push(FileEnd { file: end.file.to_string(), end: end.offset });
        }
        Ok(kept)
    }

    /// `Some(None)`: the set is there already.
    #[allow(clippy::option_option, reason = "none to be had, there already, or to be made")]
    fn file_settings_once(
        &self,
        sets: &HashMap<String, FileSet>,
        collection: &str,
    ) -> Option<Option<FileSettings>> {
        if sets.contains_key(collection) { Some(None) } else { self.file_settings(collection).map(Some) }
    }

    fn abandon_all(&self) -> Result<(), FileError> {
        let mut sets = self.sets.lock();
        let Sets { by_collection, batch } = &mut *sets;
        for (collection, mark) in batch.drain(..) {
            if let Some(set) = by_collection.get_mut(&collection) {
                set.cut_back(&mark)?;
            }
        }
        Ok(())
    }
}

impl Archive<Haul> for WarcArchive {
    async fn keep(&self, batch: &[(&Order, &Haul)]) -> Result<Kept, String> {
        if let Some(reason) = batch.iter().find_map(|(_, haul)| match haul {
            Haul::Failed(reason) => Some(reason),
            Haul::Groups(_) => None,
        }) {
            self.sets.lock().batch.clear();
            return Err(format!("an answer could not be kept: {reason}"));
        }
        // Writing and syncing take their time, and other fetches go on meanwhile.
        let kept = tokio::task::block_in_place(|| self.keep_all(batch));
        kept.map_err(|error| {
            let reason = told(&error);
            match tokio::task::block_in_place(|| self.abandon_all()) {
                Ok(()) => reason,
                Err(again) => {
                    format!("{reason}; and what was written of it could not be taken back: {}", told(&again))
                }
            }
        })
    }

    async fn abandon(&self) -> Result<(), String> {
        tokio::task::block_in_place(|| self.abandon_all()).map_err(|error| told(&error))
    }
}

fn capture(entry: &warc::Entry, place: &warc::Place) -> (CaptureKey, Capture) {
    let key = CaptureKey { surt: entry.surt.clone(), time: entry.time };
    let capture = Capture {
        url: entry.url.clone(),
        file: place.file.to_string(),
        offset: place.offset + entry.offset,
        length: entry.length,
        status: entry.status.unwrap_or(0),
        mime: entry.mime.clone(),
        digest: entry.digest.clone(),
        revisit: entry.kind == Kind::Revisit,
    };
    (key, capture)
}

fn describe(profile: &policy::model::Profile) -> String {
    let robots = match &profile.robots {
        policy::model::RobotsPolicy::Obey => "obey".to_owned(),
        policy::model::RobotsPolicy::Ignore => "ignore".to_owned(),
        policy::model::RobotsPolicy::ObeyAs(agent) => format!("obey as {agent}"),
    };
    format!(
        "profile {}: every {}, robots {robots}",
        profile.name,
        crate::config::print_duration(profile.every)
    )
}

fn host_name() -> String {
    let name = rustix::system::uname();
    let mut name = name.nodename().to_string_lossy().into_owned();
    name.truncate(name.char_indices().map(|(at, _)| at).take(HOST_BYTES_MAX).last().map_or(0, |at| at + 1));
    name
}

fn told(error: &FileError) -> String {
    format!("{:#}", anyhow::anyhow!("{error}").context("archiving failed")) + &source_text(error)
}

fn source_text(error: &FileError) -> String {
    std::error::Error::source(error).map_or_else(String::new, |source| format!(": {source}"))
}

fn explained(error: FileError) -> anyhow::Error {
    anyhow::Error::new(error)
}
