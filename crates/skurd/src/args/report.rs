//! Reports over what was harvested, and over what can be.

use std::path::PathBuf;

use app::reports::{ContractBy, DomainsBy, TimeStep};
use clap::Subcommand;
use policy::time::Span;

use super::value::{self, DataDir};

#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Which promised harvests were kept, late or missed, and what is overdue now
    ///
    /// Each due time that a profile's frequency sets is a promise. It is kept by the first answer
    /// at or after it, whatever its status; when the next one falls due, it is missed. On time
    /// is what is no later than `on_time` of the settings. First harvests of new URLs are
    /// promised by nobody: how long they waited is told apart. Percentiles are upper bounds, exact
    /// to a power of two. The plot shows the share on time over time.
    #[command(
        after_help = "Examples:\n  skurd report contract\n  skurd report contract --since 1d --by domain --json
  skurd report contract --since 30d --plot contract.svg"
    )]
    Contract {
        #[command(flatten)]
        report: ReportArgs,
        /// What a row stands for
        #[arg(long, default_value = "profile", value_parser = value::choice(&ContractBy::ALL, ContractBy::as_str))]
        by: ContractBy,
    },
    /// Requests, statuses, bytes, what changed, errors and response times by domain, by time, or by
    /// both
    ///
    /// New, changed and unchanged are of answers with content (2xx or 304). The plot shows requests
    /// over time by kind of answer.
    #[command(
        after_help = "Examples:\n  skurd report domains --limit 20\n  skurd report domains --since 1d --by both --step hour --json
  skurd report domains --by time --since 30d\n  skurd report domains --plot domains.svg"
    )]
    Domains {
        #[command(flatten)]
        report: ReportArgs,
        /// What a row stands for
        #[arg(long, default_value = "domain", value_parser = value::one_of(DOMAINS_BY))]
        by: DomainsBy,
        /// How long a time a row stands for; by days if it goes back further than two of them
        #[arg(long, value_parser = value::choice(&TimeStep::ALL, TimeStep::as_str))]
        step: Option<TimeStep>,
    },
    /// Failed requests and error statuses by kind and domain
    ///
    /// The plot shows errors over time by kind.
    #[command(after_help = "Examples:\n  skurd report errors --since 1d\n  skurd report errors --json
  skurd report errors --plot errors.svg")]
    Errors(ReportArgs),
    /// What is used of each budget, and what it keeps back
    ///
    /// One row for each limit of a seed, profile, collection, host or host group; below what is used
    /// up, the URLs that wait and the links that were not queued, by host and path. Waiting URLs go on
    /// as soon as the budget is raised or left out; links that were not queued come with the next
    /// page that has them.
    #[command(after_help = "Examples:\n  skurd report budgets\n  skurd report budgets --json")]
    Budgets {
        #[command(flatten)]
        data: DataDir,
        /// Print at most so many rows
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Print one JSON object per row
        #[arg(long)]
        json: bool,
    },
    /// Hosts that are asked for more than their politeness allows
    ///
    /// Sets the harvests a day that frequencies add up to against those that delays leave room for.
    /// The plot shows the load of the most loaded hosts.
    #[command(
        after_help = "Examples:\n  skurd report feasibility\n  skurd report feasibility --limit 10 --json
  skurd report feasibility --plot feasibility.svg"
    )]
    Feasibility {
        #[command(flatten)]
        data: DataDir,
        #[command(flatten)]
        print: PrintArgs,
    },
    /// What seems to be a trap: hosts that bring ever more URLs and nothing new
    ///
    /// `skurd traps` decides about them.
    #[command(after_help = "Examples:\n  skurd report traps\n  skurd report traps --all --json")]
    Traps(super::look::TrapsArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// How far back
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = value::duration)]
    pub(crate) since: Span,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PrintArgs {
    /// Print at most so many rows
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print one JSON object per row
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw it too, as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
}

const DOMAINS_BY: [(DomainsBy, &str, &str); 3] = [
    (DomainsBy::Domain, "domain", ""),
    (DomainsBy::Time, "time", "Of all domains together"),
    (DomainsBy::Both, "both", "Each domain at each time"),
];
