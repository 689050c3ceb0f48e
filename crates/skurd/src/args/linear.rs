//! Walking the ids of URL templates, and looking at walks.
//!
//! What is said of a walk is kept as text: `linear::asked` reads it, so that every bad value gets a
//! sentence with the name of its flag (L14).

use std::path::PathBuf;

use clap::Subcommand;
use policy::time::Span;
use policy::walk::{Direction, Resume, Retry};

use super::harvest::HarvestArgs;
use super::value::{DataDir, duration, one_of, pause};

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct LinearArgs {
    #[command(subcommand)]
    pub(crate) command: Option<LinearCommand>,
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LinearCommand {
    /// Show a walk: content map, found and missing, heads, holes; without a name, all walks
    #[command(
        after_help = "Examples:\n  skurd linear show\n  skurd linear show 'https://example.org/notice/{id}'
  skurd linear show notices --json | jq .holes"
    )]
    Show {
        /// Its name: the template, unless it was given another
        walk: Option<String>,
        #[command(flatten)]
        data: DataDir,
        /// Print one JSON object per walk
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct WalkArgs {
    /// URLs with `{id}` where the number stands, or `{id:08}` for eight digits
    #[arg(value_name = "TEMPLATE", required = true)]
    pub(crate) templates: Vec<String>,
    /// What to do with a walk that was there before
    #[arg(long, value_name = "HOW", default_value = "continue", value_parser = one_of(RESUMES))]
    pub(crate) resume: Resume,
    /// End after this time
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    pub(crate) length: Option<Span>,
    /// Write the body of each id that exists to a file of its own, named by the id
    #[arg(long, value_name = "DIR")]
    pub(crate) files: Vec<PathBuf>,
    /// Write a JSON line for each id that exists: id, url, status, digest, time
    #[arg(long, value_name = "FILE")]
    pub(crate) jsonl: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) harvest: HarvestArgs,
    #[command(flatten)]
    pub(crate) ids: IdArgs,
    #[command(flatten)]
    pub(crate) existence: ExistenceArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Ids (each flag once for all templates, or once for each in their order)")]
pub(crate) struct IdArgs {
    /// The lowest id
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) min: Vec<String>,
    /// The highest id
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max: Vec<String>,
    /// An id to begin with; both ways from it unless a direction is given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) from: Vec<String>,
    /// Which way the ids go; up if not given, both with --from
    #[arg(long, value_name = "WAY", value_parser = one_of(DIRECTIONS))]
    pub(crate) direction: Vec<Direction>,
    /// From one id to the next [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) step: Vec<String>,
    /// Stop after so many ids in a row that are not known to exist
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) margin: Vec<String>,
    /// Try an id that was not found so many times in all [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) attempts: Vec<String>,
    /// Pause before an id is tried again [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = pause)]
    pub(crate) cooldown: Vec<Span>,
    /// Which ids are tried again [default: all]
    #[arg(long, value_name = "WHICH", value_parser = one_of(RETRIES))]
    pub(crate) retry: Vec<Retry>,
    /// Fetches of a walk in its turn, where several take turns [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) rate: Vec<String>,
    /// What the walk is called; its template if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(
    next_help_heading = "Existence (200 with a body exists; no answer, 5xx, 429, 403 failed; anything else is absent)"
)]
pub(crate) struct ExistenceArgs {
    /// Statuses that mean the id exists: `200,301`, `200-299`, `2xx`
    #[arg(long, value_name = "STATUSES")]
    pub(crate) exists: Vec<String>,
    /// Statuses that mean there is no such id
    #[arg(long, value_name = "STATUSES")]
    pub(crate) absent: Vec<String>,
    /// Statuses that say nothing about the id
    #[arg(long, value_name = "STATUSES")]
    pub(crate) failed: Vec<String>,
    /// A redirect to a URL with this in it means the id exists
    #[arg(long, value_name = "REGEX")]
    pub(crate) redirect_exists: Vec<String>,
    /// A redirect to a URL with this in it means there is no such id
    #[arg(long, value_name = "REGEX")]
    pub(crate) redirect_absent: Vec<String>,
    /// An id exists only with this in its body
    #[arg(long, value_name = "REGEX")]
    pub(crate) body_has: Vec<String>,
    /// An id exists only without this in its body: a page that says 200 and "not found"
    #[arg(long, value_name = "REGEX")]
    pub(crate) body_lacks: Vec<String>,
}

const RESUMES: [(Resume, &str, &str); 3] = [
    (
        Resume::Continue,
        "continue",
        "The remaining bound: where it was interrupted, or beyond the margin it had ended at",
    ),
    (Resume::Holes, "holes", "Only the ids that were missed, with all their attempts anew"),
    (Resume::Both, "both", "Both"),
];

const DIRECTIONS: [(Direction, &str, &str); 3] =
    [(Direction::Up, "up", ""), (Direction::Down, "down", ""), (Direction::Both, "both", "")];

const RETRIES: [(Retry, &str, &str); 2] = [
    (Retry::All, "all", "Also those that are absent: a 404 may be early"),
    (Retry::Failed, "failed", "Only those that failed"),
];
