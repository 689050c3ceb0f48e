//! What a load has counted.

use std::ops::AddAssign;

use index::Skipped;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub(super) pages: u64,
    pub(super) deletes: u64,
    /// Pages, put or deleted, that were not so already.
    pub(super) changed: u64,
    /// Of the pages, each target once.
    pub(super) links: u64,
    pub(super) skipped: Skipped,
    /// What the extraction could not make a URL of, images and the like among it.
    pub(super) unusable: u64,
    /// Lines and records that were left out.
    pub(super) broken: u64,
    /// Places where a file could not be read.
    pub(super) damaged: u64,
    /// Records that say that their page is what another one has.
    pub(super) revisits: u64,
    /// Of those, the ones whose links are not known: the record is in none of the files.
    pub(super) unfollowed: u64,
}

/// As it was until revisits were counted.
#[derive(Deserialize)]
pub(super) struct Tally1 {
    pages: u64,
    deletes: u64,
    changed: u64,
    links: u64,
    skipped: Skipped,
    unusable: u64,
    broken: u64,
    damaged: u64,
}

impl From<Tally1> for Tally {
    fn from(old: Tally1) -> Tally {
        Tally {
            pages: old.pages,
            deletes: old.deletes,
            changed: old.changed,
            links: old.links,
            skipped: old.skipped,
            unusable: old.unusable,
            broken: old.broken,
            damaged: old.damaged,
            revisits: 0,
            unfollowed: 0,
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.pages += other.pages;
        self.deletes += other.deletes;
        self.changed += other.changed;
        self.links += other.links;
        self.skipped += other.skipped;
        self.unusable += other.unusable;
        self.broken += other.broken;
        self.damaged += other.damaged;
        self.revisits += other.revisits;
        self.unfollowed += other.unfollowed;
    }
}

impl Tally {
    /// Links that are not in the index, by reason.
    pub(super) fn skipped_json(&self) -> Value {
        let mut skipped = json!(self.skipped);
        skipped["unusable"] = json!(self.unusable);
        skipped
    }

    pub(super) fn skipped_text(&self) -> String {
        let reasons = [
            ("not http", self.skipped.not_http),
            ("with user info", self.skipped.user_info),
            ("no URL", self.skipped.unparsable),
            ("too long", self.skipped.too_long),
            ("beyond the limits of a page", self.skipped.over_limit),
            ("not harvestable", self.unusable),
        ];
        let some = reasons.iter().filter(|(_, n)| *n > 0).map(|(words, n)| format!("{words}: {n}"));
        let some: Vec<String> = some.collect();
        if some.is_empty() { "none".to_owned() } else { some.join(", ") }
    }
}
