//! What is written of the ids that exist, besides the archive (L13).
//!
//! Everything is made from the archive: an answer is archived and committed, and then its line or
//! file is written. So whatever a kill kept from being written is made up for at the next start,
//! from the captures of the ids that the store knows to exist.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use declare::counted;
use frontier::ports::CaptureKey;
use frontier::{Capture, Frontier, Harvested};
use harvest::session::note;
use policy::model::DeclaredWalk;
use policy::time::Time;
use policy::url::normalise;
use policy::walk::{Kind, Outcome, Walk};

use super::files::{Files, dir_name};
use super::lines::Lines;

/// What is to be written of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) files: Option<PathBuf>,
    pub(crate) jsonl: Option<PathBuf>,
    /// The directory is for several walks.
    pub(crate) shared: bool,
}

pub(crate) struct Outputs {
    walks: HashMap<String, Output>,
    /// Several walks may write to the same file.
    lines: Vec<Lines>,
}

struct Output {
    files: Option<Files>,
    /// By place in `lines`.
    lines: Option<usize>,
}

impl Outputs {
    /// Opens what is to be written to.
    pub(crate) fn open(walks: &[(DeclaredWalk, Wanted)], warc_dir: &Path) -> Result<Outputs> {
        let mut outputs = Outputs { walks: HashMap::new(), lines: Vec::new() };
        for (walk, Wanted { files, jsonl, shared }) in walks {
            let dir_of = |dir: &PathBuf| if *shared { dir.join(dir_name(&walk.name)) } else { dir.clone() };
            let files = files.as_ref().map(|dir| Files::open(dir_of(dir), warc_dir)).transpose()?;
            let lines = jsonl.as_ref().map(|path| outputs.lines_of(path)).transpose()?;
            if files.is_some() || lines.is_some() {
                outputs.walks.insert(walk.name.clone(), Output { files, lines });
            }
        }
        Ok(outputs)
    }

    fn lines_of(&mut self, path: &Path) -> Result<usize> {
        if let Some(place) = self.lines.iter().position(|lines| lines.path == path) {
            return Ok(place);
        }
        self.lines.push(Lines::open(path)?);
        Ok(self.lines.len() - 1)
    }

    /// Writes what is not written yet of all that is known to exist.
    pub(crate) async fn complete(&mut self, frontier: &Frontier) -> Result<()> {
        let mut names: Vec<String> = self.walks.keys().cloned().collect();
        names.sort_unstable();
        for name in names {
            let sight = frontier.walk(&name).await?;
            let lost = self.complete_walk(frontier, &sight.declared, &sight.walk).await?;
            if lost > 0 {
                let ids = counted(lost, "id");
                note(&format!("{name}: {ids} that exist were not archived, and are not written"))?;
            }
        }
        self.flush()
    }

    /// How many ids have no capture to be written from.
    async fn complete_walk(
        &mut self,
        frontier: &Frontier,
        declared: &DeclaredWalk,
        walk: &Walk,
    ) -> Result<u64> {
        let (rules, collection) = frontier.peek_catalog(|catalog| {
            let profile = catalog.profile(&declared.profile);
            (catalog.url_rules().clone(), profile.map(|own| own.collection.clone()).unwrap_or_default())
        });
        let step = usize::try_from(walk.settings().step()).unwrap_or(usize::MAX);
        let mut lost = 0;
        for id in walk.ranges(Kind::Content, 0).flat_map(|range| range.step_by(step)) {
            if self.is_written(&declared.name, id) {
                continue;
            }
            let Ok(url) = normalise(&walk.settings().template().url(id), None, &rules) else { continue };
            let key = net::surt::key(url.as_str());
            match frontier.original(&collection, &key, url.as_str()).await? {
                Some((time, capture)) => self.write(&declared.name, id, time, &capture)?,
                None => lost += 1,
            }
        }
        Ok(lost)
    }

    /// Writes what came of a request, if it is to be written.
    pub(crate) fn take(&mut self, harvested: &Harvested<'_>) -> Result<()> {
        let Harvested { order, report, captures, .. } = harvested;
        let Some(own) = order.walk.as_ref().filter(|_| report.existence == Some(Outcome::Exists)) else {
            return Ok(());
        };
        let capture = captures.iter().rev().find(|(_, capture)| capture.url == order.url.as_str());
        let Some((CaptureKey { time, .. }, capture)) = capture else { return Ok(()) };
        self.write(&own.walk, own.id, *time, capture)
    }

    /// Nothing more can be written of it, as far as is known without its capture.
    fn is_written(&self, walk: &str, id: u64) -> bool {
        let has_line = |output: &Output| output.lines.is_none_or(|place| self.lines[place].has(walk, id));
        self.walks.get(walk).is_none_or(|output| output.files.is_none() && has_line(output))
    }

    fn write(&mut self, walk: &str, id: u64, time: Time, capture: &Capture) -> Result<()> {
        let Some(output) = self.walks.get(walk) else { return Ok(()) };
        if let Some(files) = output.files.as_ref().filter(|files| !files.has(id, capture)) {
            files.write(id, capture)?;
        }
        match output.lines {
            Some(place) => self.lines[place].write(walk, id, time, capture),
            None => Ok(()),
        }
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        self.lines.iter_mut().try_for_each(Lines::flush)
    }

    /// Nothing more comes.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.lines.iter_mut().try_for_each(Lines::sync)
    }
}
