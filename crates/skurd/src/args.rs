//! The command line, in one definition: help and errors come from here.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// A continuous, polite, crash-proof web harvester.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, disable_help_subcommand = true, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Look after the store of a data directory
    #[command(subcommand, arg_required_else_help = true)]
    Store(StoreCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Read every row of a data directory's store and say whether it is sound
    ///
    /// Checks the lock, the format, the checksums of all blocks, the order of keys and the size limits. Nothing
    /// is changed. Exits with 0 if all is well, 1 if not, 2 if the command line is wrong.
    #[command(
        after_help = "Examples:\n  skurd store check ./skurd-data\n  skurd store check ./skurd-data --json"
    )]
    Check {
        /// The data directory
        dir: PathBuf,
        /// Print one JSON object per table
        #[arg(long)]
        json: bool,
    },
}
