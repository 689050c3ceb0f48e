//! What is declared, thing by thing: seeds, profiles, collections, host groups.

use clap::Subcommand;

use super::value::DataDir;

/// Adding a thing of some kind, and what can be done with those there are.
#[derive(Debug, Subcommand)]
pub(crate) enum ThingCommand<A: clap::Args, S: Subcommand = SwitchedCommand> {
    Add(A),
    #[command(flatten)]
    Same(S),
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
