//! What is known of a host in a collection: its templates, and what its pages said.

use serde::{Deserialize, Serialize};

use super::dates::{month_of, written};
use super::facets::{Facets, PATHS_MAX};
use super::growing::Growing;
use super::sessions::Sessions;
use super::shape::{ANY, Shape};
use super::text::Text;
use super::track::{Said, Track, WINDOW};
use super::{Decision, EXAMPLES_MAX, Figures, Kind, Remedy, Suspicion, remedy};
use crate::scope::Pattern;
use crate::time::Time;
use crate::url::CrawlUrl;

/// Templates of a host that are known at once.
pub const TEMPLATES_MAX: usize = 48;
/// New URLs of a page that are looked at: the others are like them.
pub const FOUND_MAX: usize = 256;
/// Templates that differ in the same segment only before they become one.
const SIBLINGS_MAX: usize = 8;
/// Templates with so many URLs stay what they are.
const SETTLED: u32 = 64;
/// New URLs after which older ones count half.
const RECENT_MAX: u32 = 2048;

/// A calendar: pages, URLs, shares in hundredths, and months ahead of the present.
const CALENDAR_PAGES_MIN: u32 = 40;
const CALENDAR_FOUND_MIN: u32 = 60;
const CALENDAR_ALIKE_MIN: u8 = 85;
const CALENDAR_DATED_MIN: u8 = 90;
const AHEAD_MONTHS: i32 = 24;
const BEFORE_MONTH: i32 = 1900 * 12;
/// Pages that are alike: of the last 64, and URLs, fewer where each page brings the next.
const ALIKE_MIN: u8 = 95;
const ALIKE_FOUND_MIN: u32 = 200;
const ALIKE_FOUND_BRED_MIN: u32 = 100;
/// URLs that a page of the template brings, in hundredths, so that it never ends.
const ENDLESS: u32 = 90;

/// A host in a collection, in bounded memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sense {
    /// Harvests and found URLs since the beginning.
    pages: u64,
    found: u64,
    run: u64,
    recent: u32,
    templates: Vec<Template>,
    growing: Growing,
    facets: Vec<Facets>,
    sessions: Sessions,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Template {
    pieces: Vec<String>,
    query: Option<String>,
    track: Track,
    #[serde(skip)]
    shape: Option<Shape>,
}

/// A harvest, as far as it is of interest here.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    pub url: &'a CrawlUrl,
    /// What it said, where that was its first harvest; none: nothing that can be read, or known.
    pub text: Option<&'a Text>,
    /// URLs of its own host that were not known before.
    pub found: &'a [CrawlUrl],
    /// The start it belongs to: in a later run, pages are harvested for the first time again.
    pub run: u64,
    pub at: Time,
}

impl Sense {
    /// Learns from a harvest; returns what is suspected now and was not told yet, or of which there is
    /// twice as much by now.
    pub fn observe(&mut self, seen: &Observed<'_>) -> Vec<Suspicion> {
        if seen.run > self.run {
            self.run = seen.run;
            self.forget_pages();
        }
        let own = Shape::of(seen.url);
        let template = self.place_of(&own).and_then(|at| self.templates[at].shape.clone());
        let mut leads = false;
        let mut bred = 0;
        for url in seen.found.iter().take(FOUND_MAX) {
            let shape = Shape::of(url);
            let same = shape.is_of(template.as_ref().unwrap_or(&own));
            let stale = self.find(url, shape);
            bred += u32::from(same);
            leads |= !same && !stale;
        }
        if let Some(text) = seen.text {
            self.page(seen, &own, text, leads, bred);
        }
        self.fade();
        if seen.text.is_none() && seen.found.is_empty() {
            return Vec::new();
        }
        self.judge(seen.url, &own, seen.at)
    }

    /// A URL that was not known; true if it is not worth a harvest, as far as is known.
    fn find(&mut self, url: &CrawlUrl, shape: Shape) -> bool {
        self.found += 1;
        self.recent = self.recent.saturating_add(1);
        if shape.grows {
            self.growing.find(url);
            return true;
        }
        if let Some(parameters) = Facets::parameters(url) {
            self.facets_of(&shape).find(url, parameters);
        }
        let track = self.track(shape);
        track.find(url);
        track.is_stale()
    }

    fn page(&mut self, seen: &Observed<'_>, own: &Shape, text: &Text, leads: bool, bred: u32) {
        self.pages += 1;
        // What a path that grows shows is relative to it, and new each time.
        let shows = !own.grows;
        let track = if own.grows { &mut self.growing.track } else { self.track(own.clone()) };
        track.page(&Said { text, shows, leads: leads && !own.grows });
        track.bred(bred);
        self.sessions.page(seen.url, text.sketch);
    }

    fn facets_of(&mut self, shape: &Shape) -> &mut Facets {
        let at = self.facets.iter().position(|known| known.is_of(shape));
        let at = at.unwrap_or_else(|| {
            if self.facets.len() == PATHS_MAX {
                let quiet = (0..PATHS_MAX).min_by_key(|at| self.facets[*at].found()).unwrap_or(0);
                self.facets.swap_remove(quiet);
            }
            self.facets.push(Facets::of(shape));
            self.facets.len() - 1
        });
        &mut self.facets[at]
    }

    fn place_of(&self, shape: &Shape) -> Option<usize> {
        let exact = self.templates.iter().position(|known| known.shape().is_some_and(|known| known == shape));
        exact.or_else(|| {
            self.templates.iter().position(|known| known.shape().is_some_and(|known| shape.is_of(known)))
        })
    }

    /// Its template, which is made if there is none.
    fn track(&mut self, shape: Shape) -> &mut Track {
        let at = match self.place_of(&shape) {
            Some(at) => at,
            None => self.admit(shape),
        };
        &mut self.templates[at].track
    }

    fn admit(&mut self, shape: Shape) -> usize {
        let mut template = Template::of(shape);
        if let Some(at) = self.crowded(&template) {
            let Some(own) = template.shape.take() else { return 0 };
            let mut pieces = own.pieces.clone();
            pieces[at] = ANY.into();
            let mut merged = Template::of(Shape { pieces, ..own.clone() });
            self.templates.retain_mut(|known| {
                let joins = known.track.found < SETTLED
                    && known
                        .shape
                        .as_ref()
                        .is_some_and(|known| Some(known.differs_at(&own)) == Some(Some(at)));
                if joins {
                    merged.track.merge(std::mem::take(&mut known.track));
                }
                !joins
            });
            template = merged;
        }
        if self.templates.len() >= TEMPLATES_MAX {
            let weight = |template: &Template| template.track.recent.saturating_add(template.track.pages);
            let quiet = (0..self.templates.len()).min_by_key(|at| weight(&self.templates[*at])).unwrap_or(0);
            self.templates.remove(quiet);
        }
        self.templates.push(template);
        self.templates.len() - 1
    }

    /// The segment in which too many small templates differ.
    fn crowded(&self, new: &Template) -> Option<usize> {
        let shape = new.shape.as_ref()?;
        let small = self.templates.iter().filter(|known| known.track.found < SETTLED);
        let mut counts = vec![0; shape.pieces.len()];
        for at in small.filter_map(|known| known.shape.as_ref()?.differs_at(shape)) {
            counts[at] += 1;
        }
        counts.iter().rposition(|count| *count >= SIBLINGS_MAX)
    }

    /// What was said in an earlier run is said again in the next, and is no sign of a trap.
    fn forget_pages(&mut self) {
        self.growing.track.forget_pages();
        self.templates.iter_mut().for_each(|template| template.track.forget_pages());
    }

    fn fade(&mut self) {
        if self.recent < RECENT_MAX {
            return;
        }
        self.recent /= 2;
        self.growing.track.recent /= 2;
        for template in &mut self.templates {
            template.track.recent /= 2;
        }
    }

    /// What the harvest of this URL may have changed.
    fn judge(&mut self, url: &CrawlUrl, own: &Shape, now: Time) -> Vec<Suspicion> {
        let site = url.site().to_owned();
        let mut told = Vec::new();
        let recent = self.recent;
        let of = |kind, remedy, track: &Track| suspicion(kind, remedy, track, recent, now);
        if self.growing.track.found > 0
            && self.growing.track.found >= self.growing.track.told.saturating_mul(2)
            && let Some(found) = self.growing.judge(&site, of)
        {
            self.growing.track.told = self.growing.track.found;
            told.push(found);
        }
        told.extend(self.sessions.judge(&site, of));
        let at = self.place_of(own);
        if url.query().is_some()
            && let Some(facets) = self.facets.iter_mut().find(|known| known.is_of(own))
        {
            let pages = at.map(|at| &self.templates[at].track);
            told.extend(facets.judge(&site, pages, of));
        }
        if let Some(at) = at {
            let template = &mut self.templates[at];
            let kind = kind_of(&template.track, now)
                .filter(|_| template.track.found >= template.track.told.saturating_mul(2));
            if let Some(kind) = kind
                && let Some(shape) = template.shape()
            {
                let remedy = Remedy::Exclude(remedy::template(&site, shape));
                if let Some(mut found) = of(kind, remedy, &template.track) {
                    found.template = shape.written();
                    template.track.told = template.track.found;
                    told.push(found);
                }
            }
        }
        told.retain_mut(keep_examples);
        told
    }

    /// Reads back what was stored.
    pub fn restored(mut self) -> Sense {
        for template in &mut self.templates {
            template.restore();
        }
        self
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        let templates: usize = self.templates.iter().map(Template::bytes).sum();
        let facets: usize = self.facets.iter().map(Facets::bytes).sum();
        size_of::<Sense>() + templates + facets + self.growing.bytes() + self.sessions.bytes()
    }

    /// Whether there is enough in it to be worth a row.
    pub fn is_busy(&self) -> bool {
        self.pages >= u64::from(WINDOW) || self.found >= u64::from(WINDOW)
    }
}

impl Template {
    fn of(shape: Shape) -> Template {
        Template {
            pieces: shape.pieces.iter().map(|piece| piece.to_string()).collect(),
            query: shape.query.as_deref().map(str::to_owned),
            track: Track::default(),
            shape: Some(shape),
        }
    }

    fn restore(&mut self) {
        let pieces = self.pieces.iter().map(|piece| piece.as_str().into()).collect();
        self.shape = Some(Shape { pieces, query: self.query.as_deref().map(Into::into), grows: false });
    }

    fn shape(&self) -> Option<&Shape> {
        self.shape.as_ref()
    }

    fn bytes(&self) -> usize {
        let text: usize = self.pieces.iter().map(|piece| 2 * (piece.len() + 24)).sum();
        size_of::<Template>() - size_of::<Track>() + text + self.track.bytes()
    }
}

/// What a template seems to be, by its own URLs and pages.
fn kind_of(track: &Track, now: Time) -> Option<Kind> {
    let endless = track.brings >= ENDLESS;
    if let Some((first, last)) = track.dates
        && track.seen >= CALENDAR_PAGES_MIN
        && track.found >= CALENDAR_FOUND_MIN
        && track.alike() >= CALENDAR_ALIKE_MIN
        && super::percent(track.dated, track.found) >= CALENDAR_DATED_MIN
    {
        let outwards = last > month_of(now).saturating_add(AHEAD_MONTHS) || first < BEFORE_MONTH;
        if outwards || endless {
            return Some(Kind::Calendar);
        }
    }
    let found_min = if endless { ALIKE_FOUND_BRED_MIN } else { ALIKE_FOUND_MIN };
    let alike = track.seen >= WINDOW && track.alike() >= ALIKE_MIN && track.found >= found_min;
    alike.then_some(Kind::Alike)
}

fn suspicion(kind: Kind, remedy: Remedy, track: &Track, recent: u32, now: Time) -> Option<Suspicion> {
    let figures = Figures {
        found: track.found,
        pages: track.pages,
        stale: track.stale(),
        alike: track.alike(),
        brings: track.brings,
        of_new: super::percent(track.recent, recent),
        dates: track.dates.map(|(first, last)| (written(first), written(last))),
        ..Figures::default()
    };
    Some(Suspicion {
        kind,
        template: String::new(),
        remedy,
        score: 0,
        figures,
        examples: track.examples().to_vec(),
        since: now,
        seen: now,
        decision: Decision::Open,
    })
}

/// Only what the remedy finds is an example of it; without any, it is no suspicion. With the score,
/// which counts everything that was found out in the end.
fn keep_examples(found: &mut Suspicion) -> bool {
    let Ok(pattern) = Pattern::regex(found.remedy.pattern()) else { return false };
    found.examples.retain(|url| CrawlUrl::from_normal(url.as_str()).is_ok_and(|url| pattern.matches(&url)));
    found.examples.truncate(EXAMPLES_MAX);
    found.score = score(found);
    !found.examples.is_empty()
}

/// Half for what its pages do not say, the rest for how it grows and how much of the host it is.
fn score(found: &Suspicion) -> u8 {
    let figures = &found.figures;
    let certain = match found.kind {
        Kind::Facets if figures.reordered > 0 => 50,
        _ => u32::from(figures.stale) / 2,
    };
    let grows = figures.brings.min(100) / 5;
    let large = (figures.found.max(1).ilog2() * 2).min(20);
    let of_new = u32::from(figures.of_new) / 10;
    u8::try_from((certain + grows + large + of_new).min(100)).unwrap_or(100)
}
