//! A command that achieved nothing it was asked for fails, and says for which host and why (I7).

use anyhow::{Result, anyhow};
use declare::hint::hinted;

use super::run::Harvest;
use super::{Outcome, figures::Counts};

/// Hosts told; the rest is counted.
const TOLD_MAX: usize = 5;

/// Refuses a harvest that had no answer at all: of these seeds, or of all.
pub fn achieved(harvest: &Harvest, outcome: &Outcome, seeds: Option<&[String]>) -> Result<()> {
    let counts = outcome.figures.now();
    if outcome.interrupted || !counts.statuses.is_empty() {
        return Ok(());
    }
    if counts.harvests > 0 {
        return Err(hinted(unanswered(&counts), "the same command tries again"));
    }
    // Nothing was due. That is well if there was an answer before.
    let seeds = harvest.wait(harvest.frontier.unanswered(seeds))?;
    if seeds.is_empty() {
        return Ok(());
    }
    let blacklisted = seeds.iter().any(|seed| seed.blacklisted);
    let told = seeds.iter().map(|seed| {
        let why = seed.problem.as_deref().unwrap_or("it was not asked");
        let end = if seed.blacklisted { ", and it is blacklisted" } else { "" };
        format!("{}: {why}{end}", seed.url)
    });
    let told = listed("nothing was harvested", &told.collect::<Vec<_>>());
    Err(match blacklisted {
        true => hinted(told, "`skurd blacklist lift URL` puts one back, `skurd why URL` says more"),
        false => anyhow!(told),
    })
}

/// Which hosts did not answer, and why.
pub fn unanswered(counts: &Counts) -> String {
    let told = counts.unanswered.iter().map(|(host, why)| format!("{host}: {why}"));
    listed("nothing was answered", &told.collect::<Vec<_>>())
}

fn listed(what: &str, lines: &[String]) -> String {
    let mut text = what.to_owned();
    for line in lines.iter().take(TOLD_MAX) {
        text.push_str(&format!("\n  {line}"));
    }
    match lines.len().saturating_sub(TOLD_MAX) {
        0 => text,
        more => format!("{text}\n  … and {more} more"),
    }
}
