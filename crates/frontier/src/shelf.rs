//! What the store knows of the archive's files (A13, A14): whose each is, and up to where it is
//! committed.
//!
//! A file's row is written in the transaction of the captures that are in it, so it never says more
//! or less than they do. The archive counts its batches and says with each the number; the highest
//! that a row has is how far the store has come, and whoever has the files can tell from it whether
//! the store knows what it should. What is in the files and not in the store can be
//! [taken in](Frontier::adopt), as often as one likes.

use std::collections::{BTreeMap, BTreeSet};

use store::table::KeyRange;
use store::{Order, Result, Tx};

use crate::Frontier;
use crate::counts::{Counted, Stripe};
use crate::ports::CaptureKey;
use crate::schema::{ArchiveFile, CAPTURES, COUNTERS, Capture, FILES, surt_in_key};

/// The number the archive and its store have in common.
const ARCHIVE: &str = "archive";
/// Rows looked at in one go.
const PAGE: usize = 1000;

/// Captures that were found in a file.
#[derive(Clone, Copy, Debug)]
pub struct Adoption<'a> {
    pub file: &'a str,
    pub collection: &'a str,
    pub captures: &'a [(CaptureKey, Capture)],
    /// Up to here the file was read.
    pub end: u64,
    /// The last batch the store has.
    pub batch: u64,
}

impl Frontier {
    /// What is known of an archive file.
    #[crate::boxed]
    pub async fn archive_file(&self, file: &str) -> Result<Option<ArchiveFile>> {
        FILES.get(&self.store.begin().await?, (file,)).await
    }

    /// A page of the archive's files, in the order of their names.
    #[crate::boxed]
    pub async fn archive_files(
        &self,
        rest: Option<KeyRange>,
        limit: usize,
    ) -> Result<(Vec<(String, ArchiveFile)>, Option<KeyRange>)> {
        let tx = self.store.begin().await?;
        let page = FILES.scan(&tx, &rest.unwrap_or_else(|| FILES.range(())), limit, Order::Forward).await?;
        Ok((page.rows.into_iter().map(|((name,), row)| (name, row)).collect(), page.rest))
    }

    /// Those of this node, and such as say nothing of one; where one is alone, all.
    #[crate::boxed]
    pub async fn own_archive_files(&self) -> Result<BTreeMap<String, ArchiveFile>> {
        let (mut files, node) = (self.all_archive_files().await?, self.share.node());
        if self.store.is_shared() {
            files.retain(|_, row| row.node.is_empty() || row.node == node);
        }
        Ok(files)
    }

    /// All of them, read page by page.
    #[crate::boxed]
    pub async fn all_archive_files(&self) -> Result<BTreeMap<String, ArchiveFile>> {
        let (page, mut rest) = self.archive_files(None, PAGE).await?;
        let mut files: BTreeMap<String, ArchiveFile> = page.into_iter().collect();
        while rest.is_some() {
            let (page, next) = self.archive_files(rest, PAGE).await?;
            files.extend(page);
            rest = next;
        }
        Ok(files)
    }

    /// The number of the archive this store belongs to, if it has had one; with many machines each
    /// has its own.
    #[crate::boxed]
    pub async fn archive_id(&self) -> Result<Option<u64>> {
        COUNTERS.get(&self.store.begin().await?, (&self.archive_key(),)).await
    }

    fn archive_key(&self) -> String {
        match self.store.is_shared() {
            true => format!("{ARCHIVE} {}", self.share.node()),
            false => ARCHIVE.to_owned(),
        }
    }

    /// From now on the store belongs to the archive of that number, or of one that is drawn; gives
    /// it.
    #[crate::boxed]
    pub async fn set_archive_id(&self, id: Option<u64>) -> Result<u64> {
        let id = id.unwrap_or_else(|| self.draw());
        let key = &self.archive_key();
        let set = self.store.transact_idempotent(|tx| async move {
            COUNTERS.lock(&tx, (key,)).await?;
            COUNTERS.put(&tx, (key,), &id)
        });
        set.await.map(|()| id)
    }

    /// Takes captures in that are in a file and may not be in the store; says how many were new.
    /// Nothing is counted or taken in twice.
    #[crate::boxed]
    pub async fn adopt(&self, adoption: &Adoption<'_>) -> Result<u64> {
        let Adoption { file, collection, captures, end, batch } = *adoption;
        let adopt = self.store.transact_idempotent(|tx| async move {
            let mut row = FILES.lock(&tx, (file,)).await?.unwrap_or_default();
            let mut new = 0;
            let mut counted = Counted::default();
            for (key, capture) in captures {
                let place = (collection, surt_in_key(&key.surt), key.time.0, capture.offset);
                match CAPTURES.lock(&tx, place).await? {
                    Some(stored) if stored.file == capture.file => continue,
                    Some(stored) => point_elsewhere(&tx, &stored.file).await?,
                    None => counted.captured(collection, 1),
                }
                CAPTURES.put(&tx, place, capture)?;
                new += 1;
            }
            row.collection.get_or_insert_with(|| collection.to_owned());
            row.end = row.end.max(end);
            row.batch = row.batch.max(batch);
            row.node = self.share.node();
            row.captures += new;
            FILES.put(&tx, (file,), &row)?;
            counted.write(&tx, Stripe::Drawn(0)).await?;
            Ok(new)
        });
        adopt.await
    }

    /// Fills in what rows older than these fields do not say: their captures know. Reads all
    /// captures, once in the life of a store.
    #[crate::boxed]
    pub async fn describe_files(&self) -> Result<()> {
        let files = self.all_archive_files().await?.into_iter();
        let lacking: BTreeSet<String> =
            files.filter(|(_, row)| row.collection.is_none()).map(|(name, _)| name).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let found = &self.captures_by_file(&lacking).await?;
        for names in lacking.into_iter().collect::<Vec<_>>().chunks(PAGE) {
            let describe = self.store.transact_idempotent(|tx| async move {
                for name in names {
                    let Some(row) = FILES.lock(&tx, (name,)).await? else { continue };
                    // Of a file without captures nobody is the owner, and need not be looked for again.
                    let (collection, captures) = found.get(name).cloned().unwrap_or_default();
                    FILES.put(
                        &tx,
                        (name,),
                        &ArchiveFile { collection: Some(collection), captures, ..row },
                    )?;
                }
                Ok(())
            });
            describe.await?;
        }
        Ok(())
    }

    /// Whose the captures in these files are, and how many.
    async fn captures_by_file(&self, files: &BTreeSet<String>) -> Result<BTreeMap<String, (String, u64)>> {
        let mut found: BTreeMap<String, (String, u64)> = BTreeMap::new();
        let mut rest = Some(CAPTURES.range(()));
        while let Some(range) = rest {
            let tx = self.store.begin().await?;
            let page = CAPTURES.scan(&tx, &range, PAGE, Order::Forward).await?;
            for ((collection, ..), capture) in page.rows {
                if files.contains(&capture.file) {
                    found.entry(capture.file).or_insert((collection, 0)).1 += 1;
                }
            }
            rest = page.rest;
        }
        Ok(found)
    }
}

/// A capture that was in this file is in another one. A file that nothing points to any more need
/// not be known.
async fn point_elsewhere(tx: &Tx, file: &str) -> Result<()> {
    let Some(row) = FILES.lock(tx, (file,)).await? else { return Ok(()) };
    match row.captures {
        0 | 1 => FILES.delete(tx, (file,)),
        captures => FILES.put(tx, (file,), &ArchiveFile { captures: captures - 1, ..row }),
    }
}
