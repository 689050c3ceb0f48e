//! What a load has counted.

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
    not_http: u64,
    user_info: u64,
    unparsable: u64,
    too_long: u64,
    over_limit: u64,
    /// What the extraction could not make a URL of, images and the like among it.
    unusable: u64,
    /// Lines and records that were left out.
    pub(super) broken: u64,
    /// Places where a file could not be read.
    pub(super) damaged: u64,
}

impl Tally {
    pub(super) fn skip(&mut self, skipped: &Skipped) {
        self.not_http += skipped.not_http;
        self.user_info += skipped.user_info;
        self.unparsable += skipped.unparsable;
        self.too_long += skipped.too_long;
        self.over_limit += skipped.over_limit;
    }

    pub(super) fn extraction(&mut self, dropped: u64, unusable: u64) {
        self.over_limit += dropped;
        self.unusable += unusable;
    }

    pub(super) fn add(&mut self, other: &Tally) {
        self.pages += other.pages;
        self.deletes += other.deletes;
        self.changed += other.changed;
        self.links += other.links;
        self.not_http += other.not_http;
        self.user_info += other.user_info;
        self.unparsable += other.unparsable;
        self.too_long += other.too_long;
        self.over_limit += other.over_limit;
        self.unusable += other.unusable;
        self.broken += other.broken;
        self.damaged += other.damaged;
    }

    /// Links that are not in the index, by reason.
    fn skipped(&self) -> [(&'static str, &'static str, u64); 6] {
        [
            ("not_http", "not http", self.not_http),
            ("user_info", "with user info", self.user_info),
            ("unparsable", "no URL", self.unparsable),
            ("too_long", "too long", self.too_long),
            ("over_limit", "beyond the limits of a page", self.over_limit),
            ("unusable", "not harvestable", self.unusable),
        ]
    }

    pub(super) fn skipped_json(&self) -> Value {
        self.skipped().iter().map(|(key, _, n)| ((*key).to_owned(), json!(n))).collect()
    }

    pub(super) fn skipped_text(&self) -> String {
        let reasons = self.skipped();
        let some: Vec<String> =
            reasons.iter().filter(|(.., n)| *n > 0).map(|(_, words, n)| format!("{words}: {n}")).collect();
        if some.is_empty() { "none".to_owned() } else { some.join(", ") }
    }
}
