//! Paths that grow: a relative link that leads one level deeper each time it is followed.
//!
//! What repeats itself right away, or too often, never becomes a URL (see [`crate::url::trap`]). But
//! two relative links on a page make paths of two segments in every order, of which most keep within
//! those rules: a thousand at ten segments, and ever more. So the segments that come again are
//! counted here, and how deep it went.

use serde::{Deserialize, Serialize};

use super::shape::{repeated, variable_run};
use super::track::Track;
use super::{Kind, Remedy, Suspicion, remedy};
use crate::url::CrawlUrl;

/// Segments that are counted.
const SEGMENTS_MAX: usize = 16;
/// Segments of the expression.
const NAMED_MAX: usize = 6;
const FOUND_MIN: u32 = 48;
const PAGES_MIN: u32 = 24;
const STALE_MIN: u8 = 80;
/// Levels between the shortest of these paths and the longest.
const LEVELS_MIN: u32 = 3;
/// Without having seen that pages say nothing: so many URLs, and so deep.
const BLIND_FOUND_MIN: u32 = 400;
const BLIND_DEPTH_MIN: u32 = 12;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Growing {
    pub(super) track: Track,
    shortest: u32,
    deepest: u32,
    /// Those that come again, and how often.
    segments: Vec<(String, u32)>,
    /// The shape of segments of which there are many in a row.
    run: Option<String>,
}

impl Growing {
    pub(super) fn find(&mut self, url: &CrawlUrl) {
        self.track.find(url);
        let depth = u32::try_from(url.path().split('/').filter(|segment| !segment.is_empty()).count());
        let depth = depth.unwrap_or(u32::MAX);
        self.shortest = if self.shortest == 0 { depth } else { self.shortest.min(depth) };
        self.deepest = self.deepest.max(depth);
        let mut again = repeated(url.path());
        again.sort_unstable();
        again.dedup();
        for segment in &again {
            self.count(segment);
        }
        if again.is_empty() {
            self.run = variable_run(url.path()).or(self.run.take());
        }
    }

    /// Those that come most often stay.
    fn count(&mut self, segment: &str) {
        match self.segments.iter().position(|(known, _)| known == segment) {
            Some(at) => self.segments[at].1 = self.segments[at].1.saturating_add(1),
            None if self.segments.len() < SEGMENTS_MAX => self.segments.push((segment.to_owned(), 1)),
            None => {
                for (_, times) in &mut self.segments {
                    *times = times.saturating_sub(1);
                }
                self.segments.retain(|(_, times)| *times > 0);
            }
        }
    }

    pub(super) fn judge(
        &self,
        site: &str,
        of: impl FnOnce(Kind, Remedy, &Track) -> Option<Suspicion>,
    ) -> Option<Suspicion> {
        let track = &self.track;
        let grows = self.deepest >= self.shortest + LEVELS_MIN && track.found >= FOUND_MIN;
        let is_seen = track.seen >= PAGES_MIN && track.stale() >= STALE_MIN;
        let is_plain = track.found >= BLIND_FOUND_MIN && self.deepest >= BLIND_DEPTH_MIN && track.seen == 0;
        if !grows || !(is_seen || is_plain) {
            return None;
        }
        let mut segments: Vec<&(String, u32)> = self.segments.iter().collect();
        segments.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        let named: Vec<&str> = segments.iter().take(NAMED_MAX).map(|(segment, _)| segment.as_str()).collect();
        let pattern = match (&self.run, named.is_empty()) {
            (Some(piece), true) => remedy::running(site, piece, super::shape::RUN_MIN),
            (_, true) => return None,
            _ => remedy::repeating(site, &named),
        };
        let mut suspicion = of(Kind::Growing, Remedy::Exclude(pattern), track)?;
        suspicion.figures.deepest = self.deepest;
        suspicion.template = match named.as_slice() {
            [] => format!("…/{0}/{0}/…", self.run.as_deref().unwrap_or_default()),
            named => named.iter().take(3).map(|segment| format!("…/{segment}")).collect::<String>() + "/…",
        };
        Some(suspicion)
    }

    pub(super) fn bytes(&self) -> usize {
        self.track.bytes() + self.segments.iter().map(|(segment, _)| segment.len() + 32).sum::<usize>()
    }
}
