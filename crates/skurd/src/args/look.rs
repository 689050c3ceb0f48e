//! Looking at the queue, the hosts and the blacklist, asking why, and starting.

use app::queue::Word;
use clap::Subcommand;
use policy::time::{Span, Time};

use super::value::{self, DataDir};

#[derive(Debug, clap::Args)]
pub(crate) struct StartArgs {
    /// A name alone does not say of what
    #[arg(hide = true, value_name = "NAME")]
    pub(crate) name: Option<String>,
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

#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// List the runs, the latest first: each start is one
    #[command(after_help = "Examples:\n  skurd run list\n  skurd run list --limit 5 --json")]
    List {
        #[command(flatten)]
        data: DataDir,
        /// Print at most so many
        #[arg(long, value_name = "N")]
        limit: Option<u64>,
        /// Print one JSON object per run
        #[arg(long)]
        json: bool,
    },
    /// Show what a run has come to, beside the run before of the same thing
    #[command(after_help = "Examples:\n  skurd run show 7\n  skurd run show 7 --json")]
    Show {
        /// Its number
        run: u64,
        #[command(flatten)]
        data: DataDir,
        /// Print it as a JSON object
        #[arg(long)]
        json: bool,
    },
}

/// What is paused or resumed; everything if nothing is named.
#[derive(Debug, clap::Args)]
pub(crate) struct PausableArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// This collection (repeatable)
    #[arg(long = "collection", value_name = "NAME")]
    pub(crate) collections: Vec<String>,
    /// This host (repeatable)
    #[arg(long = "host", value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// This walk (repeatable)
    #[arg(long = "walk", value_name = "NAME")]
    pub(crate) walks: Vec<String>,
    /// Print one JSON object for each thing that is paused then
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    pub(crate) which: PausableArgs,
    /// Only list what is paused, and since when
    #[arg(long, conflicts_with_all = ["collections", "hosts", "walks"])]
    pub(crate) list: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    pub(crate) which: PausableArgs,
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
    /// Take queued URLs out of the queue, or leave URLs alone by pattern, for a time or until lifted
    ///
    /// A pattern holds for known and for new URLs: what is queued leaves the queue when its turn
    /// comes and comes back when the pattern ends; what is new is not queued.
    #[command(after_help = "Examples:\n  skurd blacklist add https://vg.no/trap/ --reason 'endless calendar'
  skurd blacklist add https://vg.no/a --reason 'asked by owner' --for 7d --collection news
  skurd blacklist add --host '*.ads.example' --prefix vg.no/kalender/ --reason trap --until 2027-01-31")]
    Add {
        #[command(flatten)]
        which: WhichArgs,
        /// Why, for whoever wonders
        #[arg(long, value_name = "TEXT", value_parser = value::line)]
        reason: String,
        /// How long; until it is lifted if not given
        #[arg(long = "for", value_name = "DURATION", value_parser = value::duration, conflicts_with = "until")]
        span: Option<Span>,
        /// Until when: a day like 2027-01-31, or a moment
        #[arg(long, value_name = "TIME", value_parser = value::period_begin)]
        until: Option<Time>,
    },
    /// Bring URLs back into the queue, due now; lift patterns, with all that they hold
    #[command(after_help = "Examples:\n  skurd blacklist lift https://vg.no/a
  skurd blacklist lift https://vg.no/a https://vg.no/b --collection news
  skurd blacklist lift --prefix vg.no/kalender/")]
    Lift(WhichArgs),
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
    /// List the patterns instead of the URLs
    #[arg(long)]
    pub(crate) patterns: bool,
    /// Print one JSON object per URL or pattern
    #[arg(long)]
    pub(crate) json: bool,
}

/// URLs, or patterns for them.
#[derive(Debug, clap::Args)]
pub(crate) struct WhichArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// The URLs
    #[arg(value_name = "URL", required_unless_present_any = ["hosts", "prefixes", "regexes"])]
    pub(crate) urls: Vec<String>,
    /// All of a host, `www.` or not; `*.` in front: of its subdomains too (repeatable)
    #[arg(long = "host", value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// All that begins so; without a scheme, from the host on (repeatable)
    #[arg(long = "prefix", value_name = "PREFIX")]
    pub(crate) prefixes: Vec<String>,
    /// All in which this is found (repeatable)
    #[arg(long = "regex", value_name = "EXPRESSION")]
    pub(crate) regexes: Vec<String>,
    /// Only in this collection; in each if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: Option<String>,
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

#[derive(Debug, Subcommand)]
pub(crate) enum TrapsCommand {
    /// Hosts that bring ever more URLs and nothing new, with the line that would end it
    ///
    /// A suspicion comes from what pages say: calendars without end, paths that grow, session ids,
    /// filters in every order, the same page under many URLs. With `traps: hold`, a profile keeps such
    /// URLs in the queue until somebody decides.
    List(TrapsArgs),
    /// It is no trap: what was held for it is due now
    Release {
        /// As the list shows it
        id: String,
        /// Where several collections have it
        #[arg(long, value_name = "NAME")]
        collection: Option<String>,
        #[command(flatten)]
        data: DataDir,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// End it: its line is added to a profile's `exclude`, or to `session_ids` of the settings
    Exclude {
        /// As the list shows it
        id: String,
        /// The profile that gets the line, where the collection has several
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Where several collections have it
        #[arg(long, value_name = "NAME")]
        collection: Option<String>,
        #[command(flatten)]
        data: DataDir,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum UrlFrontierCommand {
    /// The crawls of other crawlers, by name, with their figures
    ///
    /// Rates are of the process that serves them, in the last minute.
    List {
        #[command(flatten)]
        data: DataDir,
        /// Print one JSON object per crawl
        #[arg(long)]
        json: bool,
    },
    /// The queues of a crawl, by key, with their figures
    Queues {
        /// As the list shows it
        crawl: String,
        /// Only those whose key begins so
        #[arg(long, value_name = "BEGINNING")]
        key: Option<String>,
        /// Only those that are blocked now, the first to be free first
        #[arg(long)]
        blocked: bool,
        /// At most so many
        #[arg(long)]
        limit: Option<u64>,
        #[command(flatten)]
        data: DataDir,
        /// Print one JSON object per queue
        #[arg(long)]
        json: bool,
    },
    /// Let a queue give nothing for a while
    Block {
        /// As the list shows it
        crawl: String,
        /// The key of the queue
        key: String,
        /// How long, like `1h`
        #[arg(long = "for", value_name = "DURATION")]
        span: String,
        #[command(flatten)]
        data: DataDir,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// End the block of a queue
    Unblock {
        /// As the list shows it
        crawl: String,
        /// The key of the queue
        key: String,
        #[command(flatten)]
        data: DataDir,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Delete a crawl with all its queues and URLs, or one of its queues
    Delete {
        /// As the list shows it
        crawl: String,
        /// Only this queue
        #[arg(long)]
        key: Option<String>,
        #[command(flatten)]
        data: DataDir,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Hand out URLs again
    Activate {
        #[command(flatten)]
        data: DataDir,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Hand out nothing more until it is activated; what is put is taken
    Deactivate {
        #[command(flatten)]
        data: DataDir,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct TrapsArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// Only of this host
    #[arg(long)]
    pub(crate) host: Option<String>,
    /// Those too that were decided
    #[arg(long)]
    pub(crate) all: bool,
    /// Print one JSON object per suspicion
    #[arg(long)]
    pub(crate) json: bool,
}
