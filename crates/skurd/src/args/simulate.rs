//! `skurd simulate`.

use std::path::PathBuf;

use policy::time::Span;
use policy::unit::{DURATION_HINT, parse_duration};

use crate::args::value::duration;

#[derive(Debug, clap::Args)]
pub(crate) struct SimulateArgs {
    /// The config file
    pub(crate) config: PathBuf,
    /// What the web answers; without it, one is made up from the number of `--seed`
    ///
    /// A list of pages: `- {url: https://vg.no/, responses: [{status, count, outlinks, delay, error}]}`. A response is served
    /// `count` times, the last one for ever; a URL that is not there is a 404. `error` is dns,
    /// connect or timeout; an outlink is a URL, or `{url, kind: link|requisite|redirect}`.
    #[arg(long, value_name = "FILE")]
    pub(crate) web: Option<PathBuf>,
    /// How long to harvest, in simulated time from a Monday on
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    pub(crate) length: Span,
    /// Fetches under way at the same time
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) workers: u32,
    /// Where everything random comes from: the same number, the same output
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// About how many pages a web that is made up has
    #[arg(long, value_name = "N", default_value_t = 1000, conflicts_with = "web", value_parser = clap::value_parser!(u32).range(1..=5_000_000))]
    pub(crate) urls: u32,
    /// Start only this seed, this long after the beginning (repeatable); without it, everything
    /// starts at once
    #[arg(long = "start", value_name = "SEED@TIME", value_parser = start)]
    pub(crate) starts: Vec<(String, Span)>,
    /// Print one JSON object per harvest, then the summaries
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw the timeline too
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Show how every link was decided: whose it is, and by which rule
    #[arg(long)]
    pub(crate) links: bool,
    /// Show every URL and host, not only the most telling
    #[arg(long)]
    pub(crate) all: bool,
}

/// `vg.no@2d`; a seed's name may hold an `@` too.
fn start(text: &str) -> Result<(String, Span), String> {
    let form = || format!("write SEED@TIME, like vg.no@2d\nhint: {DURATION_HINT}");
    let (seed, time) = text.rsplit_once('@').ok_or_else(form)?;
    if seed.is_empty() {
        return Err(form());
    }
    let after = if time == "0" {
        Span::ZERO
    } else {
        parse_duration(time).map_err(|why| format!("`{time}`: {why}\nhint: {DURATION_HINT}"))?
    };
    Ok((seed.to_owned(), after))
}
