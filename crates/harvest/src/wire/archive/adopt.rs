//! Captures read back from the files into the store (A13).
//!
//! What is in a file from a byte on is gone through record by record, each with its digests
//! checked, and committed in portions, with how far the file is known by then: so it can be stopped
//! and begun again at any moment, and done twice it does nothing twice. Whose the captures are is
//! what the store says of the file, or what stands in its head. What cannot be read stays where it
//! is and is told; at the end of an open file it is set aside, so that the file can be gone on
//! with.

use std::path::Path;

use anyhow::{Context, Result};
use declare::hint::hinted;
use frontier::ports::CaptureKey;
use frontier::{Adoption, Capture, Frontier};
use net::warc::{self, Deed, Held, Stage, Step, Walk};
use serde::Serialize;

use super::picture::Picture;
use super::warc_dir;

/// The field of `warcinfo` that names the collection.
pub(super) const PART_OF: &str = "isPartOf";
/// The same in the metadata record of a capture.
pub(super) const COLLECTION: &str = "collection";
/// Captures committed together.
const PORTION: usize = 200;
/// Stretches that are told; the rest is counted.
const DAMAGED_TOLD_MAX: usize = 20;

/// Reads files back.
pub struct Adopter<'a> {
    frontier: &'a Frontier,
    dir: &'a Path,
    /// The last batch the store has. What is read back counts as of that one and not of a later
    /// one: so whoever is killed in the middle finds the rest as he found it the first time,
    /// and a store that knows less than it should goes on to be recognised.
    batch: u64,
}

/// What a file gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Adopted {
    /// That the store did not have.
    pub captures: u64,
    /// Captures that were read.
    pub read: u64,
    pub damaged: Vec<Damaged>,
    pub damaged_more: u64,
    /// Where the end of the file is that could not be read, if it could not.
    pub aside: Option<String>,
}

/// Bytes of which nothing could be read, or a record whose digest is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damaged {
    pub from: u64,
    pub to: u64,
    pub reason: String,
}

impl Adopted {
    fn damaged(&mut self, from: u64, to: u64, reason: String) {
        match self.damaged.len() < DAMAGED_TOLD_MAX {
            true => self.damaged.push(Damaged { from, to, reason }),
            false => self.damaged_more += 1,
        }
    }
}

impl<'a> Adopter<'a> {
    pub fn new(frontier: &'a Frontier, dir: &'a Path, batch: u64) -> Adopter<'a> {
        Adopter { frontier, dir, batch }
    }

    /// Takes in what is in the file from a byte on.
    #[crate::boxed]
    pub async fn take_in(&self, held: &Held, from: u64, named: Option<&str>) -> Result<Adopted> {
        let path = held.path(self.dir);
        let cannot = || format!("cannot read {}", path.display());
        let collection = match named {
            Some(name) => name.to_owned(),
            None => self.owner(held).await?,
        };
        // Whoever wrote it may have been killed before it was synced.
        warc::open_file(&path).and_then(|file| file.sync_data()).with_context(cannot)?;
        let mut walk = Walk::new(&path, from, None).with_context(cannot)?;
        let mut adopted = Adopted::default();
        let mut portion = Vec::with_capacity(PORTION);
        // Up to here everything is known, and up to here something could be read.
        let (mut end, mut readable) = (from, from);
        while let Some(step) = walk.next().with_context(cannot)? {
            match step {
                Step::Record(record) => {
                    end = record.next;
                    readable = end;
                    match (record.digests.problem(), &record.entry) {
                        (Some(problem), _) => adopted.damaged(record.extent.offset, end, problem),
                        (None, Some(entry)) => {
                            portion.push(super::capture(entry, &held.name, 0));
                            adopted.read += 1;
                        }
                        (None, None) => {}
                    }
                }
                Step::Damaged { from, to, reason } => {
                    adopted.damaged(from, to, reason);
                    end = to;
                }
            }
            if portion.len() >= PORTION {
                adopted.captures += self.commit(&held.name, &collection, &portion, readable).await?;
                portion.clear();
            }
        }
        if held.stage == Stage::Open && readable < end {
            adopted.aside = Some(warc::set_end_aside(self.dir, held, readable)?);
            end = readable;
        }
        adopted.captures += self.commit(&held.name, &collection, &portion, end).await?;
        Ok(adopted)
    }

    async fn commit(
        &self,
        file: &str,
        collection: &str,
        captures: &[(CaptureKey, Capture)],
        end: u64,
    ) -> Result<u64> {
        let adoption = Adoption { file, collection, captures, end, batch: self.batch };
        Ok(self.frontier.adopt(&adoption).await?)
    }

    /// Whose the file is: as stored, as it says itself, or as that of which it is the end.
    async fn owner(&self, held: &Held) -> Result<String> {
        let mut names = vec![held.name.clone()];
        names.extend(warc::end_of(&held.name));
        for name in &names {
            let row = self.frontier.archive_file(name).await?;
            if let Some(collection) = row.and_then(|row| row.collection).filter(|name| !name.is_empty()) {
                return Ok(collection);
            }
        }
        let path = held.path(self.dir);
        let said = warc::said_first(&path, &[PART_OF, COLLECTION])
            .with_context(|| format!("cannot read {}", path.display()))?;
        match said {
            Some(collection) => Ok(collection),
            None => Err(hinted(
                format!("{} does not say whose captures are in it", held.file_name()),
                "--collection NAME says it",
            )),
        }
    }
}

/// Takes in what is in the archive of a data directory and not in its store: of these files, or of
/// all that are not known or were set aside. `tell` hears of each file; without anything, nothing
/// in it could be read.
pub async fn adopt(
    frontier: &Frontier,
    data: &Path,
    names: &[String],
    collection: Option<&str>,
    mut tell: impl FnMut(&str, Option<&Adopted>) -> Result<()>,
) -> Result<()> {
    let dir = warc_dir(data);
    frontier.describe_files().await?;
    let picture = Picture::take(frontier, &dir).await?;
    let adopter = Adopter::new(frontier, &dir, picture.standing.batch);
    for (held, from) in wanted(&picture, names)? {
        let held = match held.stage {
            Stage::Aside if !has_records(&held.path(&dir))? => {
                tell(&held.file_name(), None)?;
                continue;
            }
            Stage::Aside => {
                // Whose it is must be known before it counts again.
                if collection.is_none() {
                    adopter.owner(&held).await?;
                }
                warc::take_back(&dir, &held.name)?;
                Held { stage: Stage::Complete, ..held }
            }
            _ => held,
        };
        let adopted = adopter.take_in(&held, from, collection).await?;
        tell(&held.name, Some(&adopted))?;
    }
    if picture.judged().is_err() {
        reconcile(frontier, &dir).await?;
    }
    Ok(())
}

/// Which files, and from which byte on.
fn wanted(picture: &Picture, names: &[String]) -> Result<Vec<(Held, u64)>> {
    if names.is_empty() {
        // What is only in hand is harvested again: the next start takes it off.
        let deeds = picture.judged().unwrap_or_default();
        let in_hand = |at: usize| matches!(deeds.get(at), Some(Deed::CutBack { .. } | Deed::Remove));
        let all = picture.files.iter().enumerate().map(|(at, held)| (at, held, picture.known(held)));
        let unknown = all.filter(|(at, held, known)| held.bytes > *known && !in_hand(*at));
        return Ok(unknown.map(|(_, held, known)| (held.clone(), known)).collect());
    }
    let find = |name: &String| {
        let named = |held: &&Held| held.file_name() == *name || held.name == *name;
        picture.files.iter().find(named).map(|held| (held.clone(), 0)).ok_or_else(|| {
            hinted(
                format!("there is no file {name} in the archive"),
                "name a file of the archive's directory; files of others are not read in",
            )
        })
    };
    names.iter().map(find).collect()
}

fn has_records(path: &Path) -> Result<bool> {
    let cannot = || format!("cannot read {}", path.display());
    let mut walk = Walk::new(path, 0, None).with_context(cannot)?;
    while let Some(step) = walk.next().with_context(cannot)? {
        if matches!(step, Step::Record(_)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Once nothing is unknown any more, the store is the archive's again: under a new number, so that
/// no copy of it from before is.
async fn reconcile(frontier: &Frontier, dir: &Path) -> Result<()> {
    let picture = Picture::take(frontier, dir).await?;
    let is_unknown = |held: &Held| held.stage != Stage::Aside && held.bytes > picture.known(held);
    if picture.files.iter().any(is_unknown) {
        return Ok(());
    }
    let id = frontier.set_archive_id(None).await?;
    frontier.store().sync().await?;
    warc::Journal::begin(dir, id, picture.standing.batch)?;
    Ok(())
}
