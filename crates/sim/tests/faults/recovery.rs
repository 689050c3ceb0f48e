//! A start on what the last process left of store and archive, as the binary does it (A8, A13,
//! A14): what is to be done is decided by the very function that decides for it
//! ([`net::warc::judge`]), and taken in by the very transaction; only the files are ours.

use std::collections::BTreeMap;

use frontier::{Adoption, ArchiveFile, Frontier};
use net::warc::{self, Deed, Known, Standing, Why};
use sim::{Shelf, Stage};

/// The number an archive begins with.
const FIRST: u64 = 0;

/// What a start found and did.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// Nothing was done: the store knows less than it should, and somebody has to decide.
    pub(crate) behind: Option<Why>,
    pub(crate) cut_back: Vec<String>,
    pub(crate) taken_in: u64,
    pub(crate) set_aside: Vec<String>,
    /// Shorter than it was (A14).
    pub(crate) short: Vec<String>,
    /// Not there any more (A14).
    pub(crate) missing: Vec<String>,
    /// The process was killed before it was done.
    pub(crate) killed: bool,
}

/// Store and archive, each as it says it is.
struct Picture {
    files: Vec<warc::Held>,
    rows: BTreeMap<String, ArchiveFile>,
    journal: Option<warc::Remembered>,
    standing: Standing,
}

impl Picture {
    async fn take(frontier: &Frontier, shelf: &Shelf) -> Picture {
        let (rows, rest) = frontier.archive_files(None, 100_000).await.unwrap();
        assert!(rest.is_none());
        let rows: BTreeMap<_, _> = rows.into_iter().collect();
        let batch = rows.values().map(|row| row.batch).max().unwrap_or(0);
        let standing = Standing { id: frontier.archive_id().await.unwrap(), batch };
        Picture {
            files: shelf.held().into_iter().map(held).collect(),
            rows,
            journal: journal(shelf),
            standing,
        }
    }

    fn judged(&self) -> Result<Vec<Deed>, Why> {
        let known = |name: &str| self.rows.get(name).map(|row| Known { end: row.end });
        warc::judge(&self.files, known, self.standing, self.journal.as_ref()).map_err(|behind| behind.why)
    }

    fn known(&self, name: &str) -> u64 {
        self.rows.get(name).map_or(0, |row| row.end)
    }
}

fn held(held: sim::Held) -> warc::Held {
    let stage = match held.stage {
        Stage::Open => warc::Stage::Open,
        Stage::Complete => warc::Stage::Complete,
        Stage::Aside => warc::Stage::Aside,
    };
    warc::Held { name: held.name, stage, bytes: held.bytes }
}

fn journal(shelf: &Shelf) -> Option<warc::Remembered> {
    let sim::Remembered { id, batches, certain, rebooted } = shelf.remembered()?;
    let part = |(file, begin, end)| warc::Part { file, begin, end };
    let batch = |batch: sim::Batch| warc::Batch {
        number: batch.number,
        parts: batch.parts.into_iter().map(part).collect(),
        settled: batch.settled,
    };
    Some(warc::Remembered { id, batches: batches.into_iter().map(batch).collect(), certain, rebooted })
}

/// The first start of all.
pub(crate) async fn begin(frontier: &Frontier) {
    frontier.set_archive_id(Some(FIRST)).await.unwrap();
}

/// A start, which is killed after so many files if it has more.
pub(crate) async fn start(frontier: &Frontier, shelf: &Shelf, files_max: usize) -> Recovered {
    let picture = Picture::take(frontier, shelf).await;
    let mut recovered = Recovered { missing: missing(&picture), ..Recovered::default() };
    let deeds = match picture.judged() {
        Ok(deeds) => deeds,
        Err(why) => return Recovered { behind: Some(why), ..recovered },
    };
    let (mut files, mut read_back) = (0, false);
    for (held, deed) in picture.files.iter().zip(deeds) {
        let name = held.name.clone();
        files += usize::from(!matches!(deed, Deed::Nothing));
        if files > files_max {
            return Recovered { killed: true, ..recovered };
        }
        match deed {
            Deed::Nothing => {}
            Deed::Remove => shelf.cut_back(&name, 0),
            Deed::CutBack { to } => {
                shelf.cut_back(&name, to);
                recovered.cut_back.push(name);
            }
            Deed::TakeIn { from } => {
                read_back = true;
                recovered.taken_in += take_in(frontier, shelf, held, from, picture.standing.batch).await;
            }
            Deed::SetAside => {
                shelf.put(&name, Stage::Aside);
                recovered.set_aside.push(name);
            }
            Deed::Short { .. } => {
                // Nothing is appended to what ends in the middle of something.
                shelf.put(&name, Stage::Complete);
                recovered.short.push(name);
            }
        }
    }
    let id = match picture.standing.id {
        Some(id) if !read_back && warc::is_same(picture.standing, picture.journal.as_ref()) => id,
        _ => frontier.set_archive_id(None).await.unwrap(),
    };
    let now = Picture::take(frontier, shelf).await.standing.batch;
    // What the journal calls certain is on disk: commits that a killed process left may not be yet.
    frontier.store().sync().await.unwrap();
    shelf.begin(id, now);
    recovered
}

fn missing(picture: &Picture) -> Vec<String> {
    let there = |name: &String| picture.files.iter().any(|held| held.name == *name);
    picture
        .rows
        .iter()
        .filter(|(name, row)| row.end > 0 && !there(name))
        .map(|(name, _)| name.clone())
        .collect()
}

async fn take_in(frontier: &Frontier, shelf: &Shelf, held: &warc::Held, from: u64, batch: u64) -> u64 {
    let records = shelf.records_from(&held.name, from);
    let captures: Vec<_> =
        records.iter().map(|record| (record.key.clone(), record.capture.clone())).collect();
    let end = match held.stage {
        warc::Stage::Open => {
            shelf.set_end_aside(&held.name);
            records.last().map_or(from, |last| last.capture.offset + last.capture.length)
        }
        _ => held.bytes,
    };
    // Whose it is stands in the head of the file.
    let row = frontier.archive_file(&held.name).await.unwrap().and_then(|row| row.collection);
    let head = shelf.records_from(&held.name, 0).first().map(|record| record.collection.clone());
    let collection = row.or(head).unwrap_or_default();
    let adoption = Adoption { file: &held.name, collection: &collection, captures: &captures, end, batch };
    frontier.adopt(&adoption).await.unwrap()
}

/// `skurd archive adopt`: what is in the files and not in the store is taken in, also what was set
/// aside.
pub(crate) async fn adopt(frontier: &Frontier, shelf: &Shelf) -> u64 {
    let picture = Picture::take(frontier, shelf).await;
    let behind = picture.judged().is_err();
    let deeds = picture.judged().unwrap_or_default();
    let mut adopted = 0;
    for (at, held) in picture.files.iter().enumerate() {
        let in_hand = matches!(deeds.get(at), Some(Deed::CutBack { .. } | Deed::Remove));
        let known = if held.stage == warc::Stage::Aside { 0 } else { picture.known(&held.name) };
        if held.bytes <= known || in_hand {
            continue;
        }
        let mut held = held.clone();
        if held.stage == warc::Stage::Aside {
            shelf.put(&held.name, Stage::Complete);
            held.stage = warc::Stage::Complete;
        }
        adopted += take_in(frontier, shelf, &held, known, picture.standing.batch).await;
    }
    let picture = Picture::take(frontier, shelf).await;
    if behind {
        let id = frontier.set_archive_id(None).await.unwrap();
        frontier.store().sync().await.unwrap();
        shelf.begin(id, picture.standing.batch);
    }
    adopted
}
