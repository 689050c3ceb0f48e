//! `skurd archive`.

use std::path::PathBuf;

use super::value::{DataDir, name};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ArchiveCommand {
    /// Hold every capture against the files of the archive: is it there, as long and as it was?
    ///
    /// Every record is read and its digests recomputed; a harvest may go on meanwhile. What is
    /// wrong is summed up by file, and --json names every capture. Exits with 0 if all is well,
    /// 1 if not, 2 if the command line is wrong.
    #[command(
        after_help = "Examples:\n  skurd archive check\n  skurd archive check --quick --data /srv/skurd
  skurd archive check --json | jq 'select(.event == \"capture\").url'"
    )]
    Check {
        #[command(flatten)]
        data: DataDir,
        /// Only whether each file is there and as long as it was, as at every start
        #[arg(long)]
        quick: bool,
        /// Print one JSON object per file and capture that is not as it should be, and a summary
        #[arg(long)]
        json: bool,
    },
    /// Read what is in the archive and not in the store back into the captures
    ///
    /// For a store that was lost, cut off, or put back from an older copy, and for files that were
    /// set aside. Every record is checked. It can be interrupted and run again, and does
    /// nothing twice. What it does not bring back is the queue: the harvest goes on from what the
    /// store knows. Where the store is gone, an empty one is made.
    #[command(after_help = "Examples:\n  skurd archive adopt\n  skurd archive adopt --data /srv/skurd
  skurd archive adopt skurd-news-20240229123456789-00000-host.warc.gz.aside")]
    Adopt {
        /// Files of the archive, read from their beginning; all that is not known if none is given
        files: Vec<PathBuf>,
        #[command(flatten)]
        data: DataDir,
        /// Whose the captures are, where neither the store nor the file says so
        #[arg(long, value_name = "NAME", value_parser = name)]
        collection: Option<String>,
        /// Print one JSON object per file, and a summary
        #[arg(long)]
        json: bool,
    },
}
