//! Looking at the queue, the hosts and the blacklist, asking why, and starting.

use app::queue::Word;
use clap::Subcommand;
use policy::time::Span;

use super::value::{self, DataDir};

#[derive(Debug, clap::Args)]
pub(crate) struct StartArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// Start this seed, by name or URL, in the context of its profiles
    #[arg(long, value_name = "NAME", conflicts_with = "collection")]
    pub(crate) seed: Option<String>,
    /// Start all seeds of this profile; with --seed, only that one (repeatable)
    #[arg(long = "profile", value_name = "NAME", conflicts_with = "collection")]
    pub(crate) profiles: Vec<String>,
    /// Start all profiles of this collection
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: Option<String>,
    /// Print one JSON object per run
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct QueueArgs {
    #[command(subcommand)]
    pub(crate) command: Option<QueueCommand>,
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// Only of this collection
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: Option<String>,
    /// Only of this host; what is queued comes first, in the order of due times
    #[arg(long, value_name = "HOST", value_parser = value::host)]
    pub(crate) host: Option<String>,
    /// Only in this state
    #[arg(long, value_parser = value::choice(&Word::ALL, Word::as_str))]
    pub(crate) state: Option<Word>,
    /// Print at most so many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Print one JSON object per URL
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum QueueCommand {
    /// Move queued URLs to another due time: now, or later
    #[command(after_help = "Examples:\n  skurd queue move https://vg.no/ --to now
  skurd queue move https://vg.no/a https://vg.no/b --to 2d --collection news")]
    Move {
        #[command(flatten)]
        which: UrlArgs,
        /// `now`, or how long from now
        #[arg(long, value_name = "DURATION", value_parser = value::from_now)]
        to: Span,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct HostsArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// Only hosts that are being asked just now
    #[arg(long)]
    pub(crate) busy: bool,
    /// Print at most so many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Print one JSON object per host
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct NodesArgs {
    #[command(subcommand)]
    pub(crate) command: Option<NodesCommand>,
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// Print one JSON object per node
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum NodesCommand {
    /// Take a machine off the list that will not come back, and say what can no longer be read
    ///
    /// Its captures stay known. The others have its part of the hosts already.
    Forget {
        name: String,
        #[command(flatten)]
        data: DataDir,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct BlacklistArgs {
    #[command(subcommand)]
    pub(crate) command: Option<BlacklistCommand>,
    #[command(flatten)]
    pub(crate) list: BlacklistList,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BlacklistCommand {
    /// List what is blacklisted, why, and until when
    #[command(
        after_help = "Examples:\n  skurd blacklist list\n  skurd blacklist list --collection news --json"
    )]
    List(BlacklistList),
    /// Take queued URLs out of the queue, for a time or until lifted
    #[command(after_help = "Examples:\n  skurd blacklist add https://vg.no/trap/ --reason 'endless calendar'
  skurd blacklist add https://vg.no/a --reason 'asked by owner' --for 7d --collection news")]
    Add {
        #[command(flatten)]
        which: UrlArgs,
        /// Why, for whoever wonders
        #[arg(long, value_name = "TEXT", value_parser = value::line)]
        reason: String,
        /// How long; until it is lifted if not given
        #[arg(long = "for", value_name = "DURATION", value_parser = value::duration)]
        span: Option<Span>,
    },
    /// Bring URLs back into the queue, due now
    #[command(after_help = "Examples:\n  skurd blacklist lift https://vg.no/a
  skurd blacklist lift https://vg.no/a https://vg.no/b --collection news")]
    Lift(UrlArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct BlacklistList {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// Only of this collection
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: Option<String>,
    /// Print at most so many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Print one JSON object per URL
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UrlArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// The URLs
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Only in this collection; in each if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// The URL that is, or is not, harvested
    pub(crate) url: String,
    /// Only in this collection; in each if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: Option<String>,
    /// Print one JSON object per collection
    #[arg(long)]
    pub(crate) json: bool,
}
