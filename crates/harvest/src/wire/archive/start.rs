//! What the last process left behind, put right before anything is written (A8, A13, A14).
//!
//! First everything is looked at and nothing touched: a store that knows less than it should ends
//! the start here. Then each file is dealt with as [`net::warc::judge`] says, and those that were
//! open are gone on with. What is missing is told and does not keep anybody from harvesting:
//! archives are moved to other shelves, and what is lost is not brought back by standing still.

use std::path::Path;

use anyhow::Result;
use declare::hint::hinted;
use frontier::ArchiveFile;
use net::warc::{self, Deed, FileSet, Held, Journal, Stage};

use super::adopt::{Adopted, Adopter};
use super::picture::{self, Picture};
use super::{WarcArchive, health};

/// What was found, before anything is done about it.
pub struct Examined {
    picture: Picture,
    deeds: Vec<Deed>,
}

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Of the batch in hand.
    pub bytes_cut: u64,
    /// What else there is to say, in sentences.
    pub notes: Vec<String>,
}

impl WarcArchive {
    /// Looks whether store and archive fit together. Changes nothing.
    #[crate::boxed]
    pub async fn examine(&self, data: &Path) -> Result<Examined> {
        let picture = Picture::take(&self.frontier, &self.dir).await?;
        let deeds = picture.judged().map_err(|behind| {
            let (what, hint) = picture::told(&behind, data);
            hinted(what, hint)
        })?;
        Ok(Examined { picture, deeds })
    }

    /// Puts right what the last process left open. To be called before anything is archived.
    #[crate::boxed]
    pub async fn recover(&self, examined: Examined) -> Result<Recovered> {
        let Examined { picture, deeds } = examined;
        let mut recovered = Recovered::default();
        // From rows older than the field one cannot know whose a file is.
        self.frontier.describe_files().await?;
        let read_back = deeds.iter().any(|deed| matches!(deed, Deed::TakeIn { .. }));
        for (held, deed) in picture.files.iter().zip(deeds) {
            self.put_right(held, deed, &picture, &mut recovered).await?;
        }
        let losses = picture.losses();
        if let Some(complaint) = health::complaint(&losses) {
            recovered.notes.push(format!(
                "warning: {complaint}\nhint: put back what is missing; `skurd archive check` looks at every capture. The harvest goes on"
            ));
        }
        self.health.begin(losses);
        self.begin_journal(&picture, read_back).await?;
        Ok(recovered)
    }

    async fn put_right(
        &self,
        held: &Held,
        deed: Deed,
        picture: &Picture,
        recovered: &mut Recovered,
    ) -> Result<()> {
        match deed {
            Deed::Remove => return Ok(warc::cut_back(&self.dir, &held.name, 0)?),
            Deed::CutBack { to } => {
                recovered.bytes_cut += held.bytes - to;
                warc::cut_back(&self.dir, &held.name, to)?;
                if to == 0 {
                    return Ok(());
                }
            }
            Deed::TakeIn { from } => {
                let adopter = Adopter::new(&self.frontier, &self.dir, picture.standing.batch);
                let adopted = adopter.take_in(held, from, None).await?;
                recovered.notes.push(taken_in(held, &adopted));
            }
            Deed::SetAside => {
                let name = warc::set_aside(&self.dir, held)?;
                recovered.notes.push(format!(
                    "{} is not known to the store: it was set aside as {name}, and `skurd archive adopt` reads it",
                    held.file_name()
                ));
                return Ok(());
            }
            // It ends in the middle of something: nothing is appended to that.
            Deed::Short { .. } if held.stage == Stage::Open => {
                return Ok(warc::complete(&self.dir, &held.name)?);
            }
            Deed::Nothing | Deed::Short { .. } => {}
        }
        match (held.stage, self.frontier.archive_file(&held.name).await?) {
            (Stage::Open, Some(row)) => self.resume(&held.name, &row).await,
            _ => Ok(()),
        }
    }

    /// Goes on with the file, if its collection is still written the same way; else completes it.
    /// Whose it is is stored.
    async fn resume(&self, name: &str, row: &ArchiveFile) -> Result<()> {
        let collection = row.collection.clone().unwrap_or_default();
        let exists = |catalog: &policy::catalog::Catalog| catalog.collection(&collection).is_some();
        let compression = match self.frontier.with_catalog(exists).await? {
            true => self.compression,
            false => None,
        };
        let settings = compression.map(|compression| self.file_settings(&collection, compression));
        let mut writing = self.writing.lock();
        if let Some(settings) = settings.filter(|settings| settings.owns(name))
            && !writing.sets.contains_key(&collection)
        {
            let mut set = FileSet::new(settings)?;
            if set.resume(name, row.captures).is_ok() {
                writing.sets.insert(collection, set);
                return Ok(());
            }
        }
        drop(writing);
        Ok(warc::complete(&self.dir, name)?)
    }

    /// From here on store and archive know each other by number: by a new one if anything was read
    /// back, now or by one who was killed before he could say so. Batches are counted on from
    /// what the store has, and a copy of it from before may have as many.
    async fn begin_journal(&self, picture: &Picture, read_back: bool) -> Result<()> {
        if self.compression.is_none() && picture.journal.is_none() {
            return Ok(());
        }
        let id = match picture.standing.id {
            Some(id) if !read_back && picture.is_same() => id,
            Some(_) => self.frontier.set_archive_id(None).await?,
            None => {
                let id = picture.journal.as_ref().map(|journal| journal.id);
                self.frontier.set_archive_id(id).await?
            }
        };
        // What was taken in counts as of the last batch the store had, and is on disk.
        let now = Picture::take(&self.frontier, &self.dir).await?.standing.batch;
        self.frontier.store().sync().await?;
        let journal = Journal::begin(&self.dir, id, now)?;
        let mut writing = self.writing.lock();
        (writing.number, writing.certain, writing.journal) = (now, now, Some(journal));
        Ok(())
    }
}

fn taken_in(held: &Held, adopted: &Adopted) -> String {
    let Adopted { captures, aside, .. } = adopted;
    let more = aside.as_ref().map_or_else(String::new, |name| {
        format!("; what could not be read at its end was set aside as {name}")
    });
    format!(
        "{}: {captures} captures that the store had not kept were read back from the archive{more}",
        held.name
    )
}
