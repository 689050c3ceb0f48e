//! What a suspicion says.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::hash;
use crate::time::Time;

/// Of what kind a trap is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    Calendar,
    Growing,
    Sessions,
    Facets,
    Alike,
}

impl Kind {
    pub const ALL: [Kind; 5] = [Kind::Calendar, Kind::Growing, Kind::Sessions, Kind::Facets, Kind::Alike];

    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Calendar => "calendar",
            Kind::Growing => "growing-path",
            Kind::Sessions => "session-ids",
            Kind::Facets => "facets",
            Kind::Alike => "alike",
        }
    }

    /// In a sentence.
    pub fn says(self) -> &'static str {
        match self {
            Kind::Calendar => "a calendar without end, whose pages are nearly the same",
            Kind::Growing => "paths that repeat their own segments and grow",
            Kind::Sessions => "session ids: the same pages under ever new values",
            Kind::Facets => "the same parameters in ever new orders or combinations",
            Kind::Alike => "nearly the same page under many URLs",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What would end it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Remedy {
    /// A line for `exclude`, by this expression.
    Exclude(String),
    /// A parameter for `session_ids`; its URLs are those that the expression finds.
    SessionId { name: String, pattern: String },
}

impl Remedy {
    /// What finds the URLs that are suspected: a regular expression.
    pub fn pattern(&self) -> &str {
        match self {
            Remedy::Exclude(pattern) | Remedy::SessionId { pattern, .. } => pattern,
        }
    }

    /// As a line of the config file.
    pub fn line(&self) -> String {
        match self {
            Remedy::Exclude(pattern) => format!("exclude: [{{regex: '{}'}}]", pattern.replace('\'', "''")),
            Remedy::SessionId { name, .. } => format!("session_ids: ['{}']", name.replace('\'', "''")),
        }
    }
}

/// What a suspicion rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// URLs found that are like it.
    pub found: u32,
    /// Those that were harvested, and had text.
    pub pages: u32,
    /// Of the last pages, in hundredths: those that said nothing new, and those that were nearly the
    /// same as one shortly before.
    pub stale: u8,
    pub alike: u8,
    /// URLs like it that a page like it brings, in hundredths.
    pub brings: u32,
    /// Of the URLs that the host brought lately, in hundredths.
    pub of_new: u8,
    /// The first and the last month in its URLs, as `2031-04`.
    pub dates: Option<(String, String)>,
    /// Segments of the longest path; 0 where that is not counted.
    pub deepest: u32,
    /// URLs that differ from another in the order of their parameters only.
    pub reordered: u32,
    /// Sets of parameters.
    pub combinations: u32,
    /// Values of what seems to be a session id, and pages that were the same under another.
    pub values: u32,
    pub same: u32,
}

/// Something that may be a trap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspicion {
    pub kind: Kind,
    /// For people.
    pub template: String,
    pub remedy: Remedy,
    /// 0–100.
    pub score: u8,
    pub figures: Figures,
    pub examples: Vec<String>,
    /// When it was first told, and last.
    pub since: Time,
    pub seen: Time,
    pub decision: Decision,
}

/// What somebody made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decision {
    #[default]
    Open,
    /// It is none: what it covers is harvested.
    Released(Time),
    /// What ends it was declared.
    Excluded(Time),
}

impl Decision {
    pub fn as_str(&self) -> &'static str {
        match self {
            Decision::Open => "open",
            Decision::Released(_) => "released",
            Decision::Excluded(_) => "excluded",
        }
    }
}

impl Suspicion {
    /// Names it on its host: the same for the same remedy.
    pub fn id(&self) -> String {
        format!("{:08x}", hash(self.remedy.pattern().as_bytes()))
    }

    /// Told again: what was decided and when it began stays.
    pub fn renewed(self, before: &Suspicion) -> Suspicion {
        Suspicion { since: before.since, decision: before.decision.clone(), ..self }
    }
}

impl Figures {
    /// In a few words.
    pub fn says(&self, kind: Kind) -> String {
        let mut words = vec![format!("{} URLs found", self.found)];
        let pages = format!("{} pages read, {} % of the last without anything new", self.pages, self.stale);
        match kind {
            Kind::Calendar => {
                words.push(pages);
                if let Some((first, last)) = &self.dates {
                    words.push(format!("dates from {first} to {last}"));
                }
            }
            Kind::Growing => words.extend([format!("up to {} segments", self.deepest), pages]),
            Kind::Sessions => {
                let same = format!("{} values, {} pages the same under another", self.values, self.same);
                words.push(same);
            }
            Kind::Facets => {
                words.push(format!("{} in another order only", self.reordered));
                words.push(format!("{} combinations", self.combinations));
            }
            Kind::Alike => words.push(pages),
        }
        words.push(format!("{} % of the host's new URLs", self.of_new));
        words.join(", ")
    }
}
