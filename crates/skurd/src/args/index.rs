//! The link index: loading it from files, and asking it.

use std::path::PathBuf;

use clap::Subcommand;
use policy::time::Time;

use super::value::{self, DataDir};

/// Where pages go that are loaded without a collection being named.
pub(crate) const COLLECTION: &str = "web";

#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Load pages and their links from WARC, WAT and JSON lines files
    ///
    /// What a file is, is seen in its first bytes; gzip and zstd are unpacked. Of WARC files,
    /// answers 200 with HTML are pages, and `a` and `area` elements are links; other answers,
    /// 404 among them, change nothing. JSON lines are
    /// `{"op":"put","url":…,"links":[{"url":…,"anchor":…}]}` and `{"op":"delete","url":…}`,
    /// either with a `"time"` (RFC 3339) if there is one.
    ///
    /// A page that is loaded replaces what it said before; the same page loaded twice changes
    /// nothing. Ctrl-C stops cleanly, and the same command goes on where it stopped, also after
    /// a crash. A file that was loaded to its end is loaded anew from its beginning, and so
    /// is one that has changed. Broken lines are told and left out; a damaged file is loaded as far
    /// as it can be read, and the exit code is 1.
    #[command(after_help = "Examples:
  skurd index load skurd-data/warc/*.warc.gz
  skurd index load CC-MAIN-*.warc.wat.gz --collection commoncrawl
  zcat pages.jsonl.gz | skurd index load - --data /srv/skurd --json")]
    Load(LoadArgs),
    /// List the pages that are linked to most, or the domains with the most pages
    #[command(after_help = "Examples:\n  skurd index top\n  skurd index top --by score --limit 100
  skurd index top --domains --json")]
    Top {
        /// By what pages are ranked
        #[arg(long, default_value = "incount", value_parser = value::one_of(RANKS), conflicts_with = "domains")]
        by: &'static str,
        /// Domains by the number of their pages, instead of pages
        #[arg(long)]
        domains: bool,
        #[command(flatten)]
        list: ListArgs,
    },
    /// List the pages of a domain, the highest score first
    #[command(
        after_help = "Examples:\n  skurd index domain example.com\n  skurd index domain bbc.co.uk --json"
    )]
    Domain {
        /// The registrable domain, like example.com or bbc.co.uk
        domain: String,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Show a page: how often it is linked to, from where, and where it links to
    #[command(after_help = "Examples:\n  skurd index page https://example.com/
  skurd index page https://example.com/ --inlinks --since 2024 --until 2024
  skurd index page https://example.com/ --outlinks --json")]
    Page(PageArgs),
    /// List what is linked to most but was never loaded: what an archive lacks
    #[command(after_help = "Examples:\n  skurd index missing\n  skurd index missing --limit 1000 --json")]
    Missing(ListArgs),
    /// Print the whole index as lines of row, family, qualifier and value, sorted
    #[command(after_help = "Examples:\n  skurd index dump > index.tsv\n  skurd index dump | grep '^t:score'")]
    Dump(WhichArgs),
    /// Compare the index with what its pages say, from scratch
    ///
    /// Exits with 0 if they agree, 1 if they do not; with --repair the index is made to agree.
    #[command(
        after_help = "Examples:\n  skurd index verify\n  skurd index verify --repair --collection news"
    )]
    Verify {
        /// Make the index agree with its pages
        #[arg(long)]
        repair: bool,
        #[command(flatten)]
        which: WhichArgs,
    },
    /// Count pages, links, domains, and what still waits to be worked in
    #[command(after_help = "Examples:\n  skurd index stats\n  skurd index stats --json")]
    Stats(WhichArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct LoadArgs {
    /// The files; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The index to load into; it need not be a declared collection
    #[arg(long, value_name = "NAME", default_value = COLLECTION, value_parser = value::name)]
    pub(crate) collection: String,
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// Print what happens as JSON lines
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which index, and how it is printed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct WhichArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// The index of this collection; not needed if there is only one
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub(crate) collection: Option<String>,
    /// The index across all collections
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) which: WhichArgs,
    /// Print at most so many; 50 if not given, but all with --json
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Go on after this row: the `cursor` of its JSON
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<String>,
}

const RANKS: [(&str, &str, &str); 2] = [
    ("incount", "incount", "How many pages link to it"),
    ("score", "score", "That, and one more if the page itself was loaded"),
];

#[derive(Debug, clap::Args)]
pub(crate) struct PageArgs {
    /// The page
    pub(crate) url: String,
    /// List all pages that link to it, with their anchor texts
    #[arg(long, conflicts_with = "outlinks")]
    pub(crate) inlinks: bool,
    /// List all it links to
    #[arg(long)]
    pub(crate) outlinks: bool,
    /// Only inlinks that were seen then or later: 2024, 2024-02, 2024-02-29, or a time
    #[arg(long, value_name = "TIME", value_parser = value::period_begin, requires = "inlinks")]
    pub(crate) since: Option<Time>,
    /// Only inlinks that were seen then or earlier; a year, month or day counts to its end
    #[arg(long, value_name = "TIME", value_parser = value::period_end, requires = "inlinks")]
    pub(crate) until: Option<Time>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}
