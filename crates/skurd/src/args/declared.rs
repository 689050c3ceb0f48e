//! What is declared, thing by thing: seeds, profiles, collections, host groups.

use clap::Subcommand;

use super::add::{CollectionArgs, GroupArgs, ProfileArgs, SeedArgs};
use super::value::DataDir;

#[derive(Debug, Subcommand)]
pub(crate) enum SeedCommand {
    /// Add a place to start at
    ///
    /// It is harvested from the next `skurd start` on.
    #[command(after_help = "Examples:\n  skurd seed add https://vg.no/ --profile daily
  skurd seed add https://nrk.no/ --name nrk --profile daily --profile weekly --inactive")]
    Add(SeedArgs),
    #[command(flatten)]
    Same(SwitchedCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// Add a way to harvest: a collection, a scope, a frequency
    ///
    /// What has no option here (fetch limits and the like) is set in a config file, see `skurd
    /// config apply`.
    #[command(after_help = "Examples:\n  skurd profile add daily --collection news --every 1d
  skurd profile add once --collection news --every 1d --length 1 --max-depth 20 --off-domain-hops 1
  skurd profile add papers --collection pdf --every 4w --within any --include 'regex:\\.pdf$'")]
    Add(ProfileArgs),
    #[command(flatten)]
    Same(SwitchedCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum CollectionCommand {
    /// Add a collection: what is harvested together and apart from the rest
    #[command(after_help = "Examples:\n  skurd collection add news
  skurd collection add intranet --warc-prefix INTRA --user-agent 'archive/1.0' --no-index")]
    Add(CollectionArgs),
    #[command(flatten)]
    Same(SwitchedCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum GroupCommand {
    /// Add a group of hosts that share one politeness slot
    ///
    /// Its name is one that no host can have: with a colon, a slash or a blank in it.
    #[command(
        after_help = "Examples:\n  skurd host-group add group:shops --host a.example.org --host b.example.org
  skurd host-group add group:cdn --host cdn.example.org --delay 2s..1m --parallel 2"
    )]
    Add(GroupArgs),
    #[command(flatten)]
    Same(SameCommand),
}

/// What can be done with every kind of thing that has a switch.
#[derive(Debug, Subcommand)]
pub(crate) enum SwitchedCommand {
    /// Switch on again: it continues where it was
    #[command(
        after_help = "Examples:\n  skurd seed enable https://vg.no/\n  skurd profile enable daily weekly
  skurd collection enable news"
    )]
    Enable(NamesArgs),
    /// Switch off: everything it covers waits, nothing is lost
    #[command(
        after_help = "Examples:\n  skurd seed disable https://vg.no/\n  skurd profile disable daily weekly
  skurd collection disable news"
    )]
    Disable(NamesArgs),
    #[command(flatten)]
    Same(SameCommand),
}

/// What can be done with every kind of thing.
#[derive(Debug, Subcommand)]
pub(crate) enum SameCommand {
    /// List all
    #[command(after_help = "Examples:\n  skurd seed list\n  skurd profile list --json
  skurd host-group list --data /srv/skurd")]
    List {
        #[command(flatten)]
        data: DataDir,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Show one with everything it says, as the config file writes it
    #[command(after_help = "Examples:\n  skurd seed show https://vg.no/\n  skurd profile show daily --json
  skurd collection show news")]
    Show {
        #[command(flatten)]
        data: DataDir,
        /// Its name; for a seed also its URL
        name: String,
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Delete
    ///
    /// Deletion is lazy: URLs that nothing covers any more leave the queue when they are next
    /// looked at. With `--sweep` they go now, which reads the whole queue.
    #[command(
        after_help = "Examples:\n  skurd seed delete https://vg.no/\n  skurd profile delete daily weekly
  skurd collection delete news --sweep"
    )]
    Delete {
        #[command(flatten)]
        names: NamesArgs,
        /// Remove the URLs it leaves behind now
        #[arg(long)]
        sweep: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct NamesArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// Names; for seeds also their URLs
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
}
