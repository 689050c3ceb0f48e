//! A harvest without anything around it: first come, first harvested.

use std::collections::{HashSet, VecDeque};

use policy::model::LinkKind;
use policy::outlink::Outlink;
use policy::time::Time;
use policy::trap::text::Sketcher;
use policy::trap::{Observed, Sense, Suspicion};
use policy::url::{CrawlUrl, UrlRules, normalise};

/// What a URL answers.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) text: String,
    pub(crate) links: Vec<String>,
    pub(crate) pictures: Vec<String>,
}

impl Page {
    pub(crate) fn new(text: impl Into<String>, links: Vec<String>) -> Page {
        Page { text: text.into(), links, pictures: Vec::new() }
    }
}

pub(crate) struct Told {
    /// Harvests until then.
    pub(crate) after: usize,
    pub(crate) suspicion: Suspicion,
}

/// 18 November 2026.
pub(crate) const NOW: Time = Time(1_795_000_000_000);

pub(crate) fn url(text: &str, base: Option<&CrawlUrl>) -> Option<CrawlUrl> {
    normalise(text, base, &UrlRules::default()).ok()
}

/// Harvests up to so many pages of a site; what it has found is a queue of at most a million.
pub(crate) fn harvest(start: &[&str], harvests: usize, page: impl FnMut(&CrawlUrl) -> Page) -> Vec<Told> {
    let mut sense = Sense::default();
    harvest_run(&mut sense, 1, start, harvests, page)
}

/// The same in a run; what a host has is new in the first only.
pub(crate) fn harvest_run(
    sense: &mut Sense,
    run: u64,
    start: &[&str],
    harvests: usize,
    mut page: impl FnMut(&CrawlUrl) -> Page,
) -> Vec<Told> {
    let mut known: HashSet<String> = start.iter().map(|text| (*text).to_owned()).collect();
    let mut queue: VecDeque<CrawlUrl> = start.iter().map(|text| url(text, None).unwrap()).collect();
    let mut told = Vec::new();
    for after in 1..=harvests {
        let Some(own) = queue.pop_front() else { break };
        let page = page(&own);
        let mut links = Vec::new();
        for (kind, texts) in [(LinkKind::Link, &page.links), (LinkKind::Requisite, &page.pictures)] {
            let found = texts.iter().filter_map(|text| url(text, Some(&own)));
            links.extend(found.map(|url| Outlink::new(url, kind)));
        }
        let mut found = Vec::new();
        for link in links.iter().filter(|link| link.kind == LinkKind::Link && link.url.site() == own.site()) {
            if known.insert(link.url.as_str().to_owned()) {
                found.push(link.url.clone());
            }
        }
        if queue.len() < 1_000_000 {
            queue.extend(found.iter().cloned());
        }
        let new = if run == 1 { found.as_slice() } else { &[] };
        let mut sketcher = Sketcher::at(&own);
        sketcher.text(page.text.as_bytes());
        let mut text = sketcher.finish();
        if let Some(text) = &mut text {
            text.show(links.iter().map(|link| (&link.url, link.kind)));
        }
        let seen = Observed { url: &own, text: text.as_ref(), found: new, run, at: NOW };
        told.extend(sense.observe(&seen).into_iter().map(|suspicion| Told { after, suspicion }));
    }
    told
}
