//! What is in the directory, what the store knows of it, and what the archive remembers: the three
//! that have to agree.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use declare::counted;
use declare::text::bytes_text;
use frontier::{ArchiveFile, Frontier};
use net::warc::{self, Behind, Deed, Held, Known, Remembered, Stage, Standing, Why};

use super::health::{Damage, Loss};

pub(super) struct Picture {
    pub(super) files: Vec<Held>,
    pub(super) rows: BTreeMap<String, ArchiveFile>,
    pub(super) journal: Option<Remembered>,
    pub(super) standing: Standing,
}

impl Picture {
    pub(super) async fn take(frontier: &Frontier, dir: &Path) -> Result<Picture> {
        let mut rows = frontier.own_archive_files().await?;
        let batch = rows.values().map(|row| row.batch).max().unwrap_or(0);
        let standing = Standing { id: frontier.archive_id().await?, batch };
        let journal = warc::remembered(dir)?;
        // Last, so that no file is older than its row.
        let files = warc::survey(dir)?;
        // Of rows from before there were nodes, only those are this one's whose files it has.
        if frontier.store().is_shared() {
            rows.retain(|name, row| !row.node.is_empty() || files.iter().any(|held| held.name == *name));
        }
        Ok(Picture { files, rows, journal, standing })
    }

    /// What is to be done with each file, or why nothing is.
    pub(super) fn judged(&self) -> Result<Vec<Deed>, Behind> {
        let known = |name: &str| self.rows.get(name).map(|row| Known { end: row.end });
        warc::judge(&self.files, known, self.standing, self.journal.as_ref())
    }

    /// Whether the store is the one the archive was last written with.
    pub(super) fn is_same(&self) -> bool {
        warc::is_same(self.standing, self.journal.as_ref())
    }

    /// Files that are not there, or shorter than they were (A14).
    pub(super) fn losses(&self) -> Vec<Loss> {
        let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
        for held in self.files.iter().filter(|held| held.stage != Stage::Aside) {
            bytes.entry(&held.name).or_insert(held.bytes);
        }
        let lost = self.rows.iter().filter_map(|(name, row)| {
            let damage = match bytes.get(name.as_str()) {
                None if row.end > 0 => Damage::Missing,
                Some(bytes) if *bytes < row.end => Damage::Short { bytes: *bytes, known: row.end },
                _ => return None,
            };
            Some(Loss { file: name.clone(), damage, captures: row.captures })
        });
        lost.collect()
    }

    /// Up to which byte the store knows the file. An open file beside a complete one of its name is
    /// not the one that is known.
    pub(super) fn known(&self, held: &Held) -> u64 {
        let first = self.files.get(self.files.partition_point(|other| other.name < held.name));
        let row = self.rows.get(&held.name).filter(|_| held.stage != Stage::Aside && first == Some(held));
        row.map_or(0, |row| row.end)
    }
}

/// What is wrong with the store, and what can be done about it.
pub(super) fn told(behind: &Behind, data: &Path) -> (String, String) {
    let Behind { why, files, bytes } = behind;
    let why = match why {
        Why::New => "it is a new one, or was emptied".to_owned(),
        Why::Another => {
            "it is that of another archive, or a copy from before captures were read back into it".to_owned()
        }
        Why::Older { batch, certain } => format!(
            "it has batches up to {batch} and had them up to {certain}: it was cut off, or is an older copy"
        ),
        Why::NoJournal => "and the archive's own journal is gone, which could say why".to_owned(),
    };
    let at = data.display();
    let what = format!(
        "the store of {at} knows less than its archive: {} in {} of {} are not in it ({why}); nothing was changed",
        bytes_text(*bytes),
        counted(*files, "file"),
        super::warc_dir(data).display(),
    );
    let hint = format!(
        "put the store back as it was; or `skurd archive adopt --data {at}` reads what is in the files back into the captures, and the harvest goes on from what the store knows"
    );
    (what, hint)
}
