//! The command line, in one definition: help and errors come from here.

pub(crate) mod add;
pub(crate) mod archive;
pub(crate) mod declared;
pub(crate) mod harvest;
pub(crate) mod index;
pub(crate) mod linear;
pub(crate) mod look;
pub(crate) mod report;
pub(crate) mod simulate;
pub(crate) mod value;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use declared::{SameCommand, ThingCommand};
use value::DataDir;

/// A continuous, polite, crash-proof web harvester.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, disable_help_subcommand = true, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Say more on standard error, twice everything; RUST_LOG has its say too
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Harvest a small web on loopback and open the dashboard, without any network
    ///
    /// Thirteen hosts with redirects, robots, sitemaps, cookies, errors, a trap: everything a harvest
    /// meets, in three collections, one of them logged in.
    #[command(after_help = "Examples:\n  skurd demo\n  skurd demo --until-done --data /tmp/demo")]
    Demo(harvest::DemoArgs),
    /// Harvest: URLs, each once, or what a config file says, for ever
    ///
    /// Everything is archived as WARC in the data directory. Ctrl-C stops cleanly, and so does a
    /// second one at once; the same command goes on where it stopped, also after a crash.
    /// Private and loopback addresses are refused unless --allow-net names them.
    #[command(after_help = "Examples:
  skurd crawl https://example.org/ --contact https://my.site/bot
  skurd crawl config.yaml --until-done
  skurd crawl config.yaml --for 8h --data /srv/skurd --json
  skurd crawl http://shop.test/ --resolve '*.test=127.0.0.1:8080' --allow-net 127.0.0.0/8 --delay 0")]
    Crawl(Box<harvest::CrawlArgs>),
    /// Harvest for ever, with the dashboard, the HTTP API, metrics and health beside it
    ///
    /// The API is at /api/v1, its description at /api/openapi.json. Loopback is open to whoever is
    /// on this machine; any other address wants a token. Other commands on the same data
    /// directory talk to the server by themselves. Ctrl-C stops cleanly.
    #[command(after_help = "Examples:\n  skurd serve config.yaml
  skurd serve --data /srv/skurd --contact https://my.site/bot
  skurd serve config.yaml --listen 0.0.0.0:8642 --token-file /etc/skurd/token
  curl http://127.0.0.1:8642/api/v1/status")]
    Serve(Box<harvest::ServeArgs>),
    /// Walk the ids of URL templates: content that no page links to
    ///
    /// Ids are fetched one after the other, politely, and archived like everything else. Bounds are
    /// inclusive; with a margin a walk stops by itself. Several templates take turns. Ctrl-C
    /// stops cleanly, and the same command goes on, also after a crash: a walk that was
    /// interrupted continues exactly where it was, one that had ended at its margin begins a new
    /// run of misses there, and one that has reached its bound has nothing left to do. --resume
    /// holes tries what was missed once more instead, --resume both does both.
    #[command(after_help = "Examples:
  skurd linear 'https://example.org/notice/{id}' --min 1 --max 20000 --contact https://my.site/bot
  skurd linear 'https://example.org/doc/{id:08}' --from 4711 --margin 50 --attempts 3 --cooldown 1h
  skurd linear 'https://a.org/{id}' 'https://b.org/{id}' --min 1 --margin 100 --rate 1 --rate 2
  skurd linear 'https://example.org/forum?t={id}' --min 1 --max 9999 --body-lacks 'No such topic' --files pages
  skurd linear show")]
    Linear(Box<linear::LinearArgs>),
    /// List what was archived, of a URL or all; print the content or the text of one
    #[command(
        after_help = "Examples:\n  skurd captures https://vg.no/\n  skurd captures --collection news --json
  skurd captures get https://vg.no/logo.png > logo.png\n  skurd captures text https://vg.no/ --time 2027-01-31"
    )]
    Captures(harvest::CapturesArgs),
    /// Index the archive for replay
    #[command(subcommand, arg_required_else_help = true)]
    Cdx(harvest::CdxCommand),
    /// Look after the archive: check it against the captures, read files back into them
    #[command(subcommand, arg_required_else_help = true)]
    Archive(archive::ArchiveCommand),
    /// Look after WARC files
    #[command(subcommand, arg_required_else_help = true)]
    Warc(harvest::WarcCommand),
    /// Check config files, learn how they are written, and apply them
    #[command(subcommand, arg_required_else_help = true)]
    Config(ConfigCommand),
    /// Add, list, show, switch and delete seeds: where to start
    #[command(subcommand, arg_required_else_help = true)]
    Seed(ThingCommand<add::SeedArgs>),
    /// Add, list, show, switch and delete profiles: how to harvest
    #[command(subcommand, arg_required_else_help = true)]
    Profile(ThingCommand<add::ProfileArgs>),
    /// Add, list, show, switch and delete collections: what belongs together
    #[command(subcommand, arg_required_else_help = true)]
    Collection(ThingCommand<add::CollectionArgs>),
    /// Add, list, show and delete groups of hosts that share one politeness slot
    #[command(subcommand, arg_required_else_help = true)]
    HostGroup(ThingCommand<add::GroupArgs, SameCommand>),
    /// Add, list, show and delete what holds for single hosts: politeness, windows, budget
    #[command(subcommand, arg_required_else_help = true)]
    Host(ThingCommand<add::HostArgs, SameCommand>),
    /// Start a seed, a profile or a collection as a new run; all if none is named
    #[command(
        after_help = "Examples:\n  skurd start\n  skurd start --collection news\n  skurd start --profile daily
  skurd start --seed https://vg.no/ --profile weekly"
    )]
    Start(look::StartArgs),
    /// List the runs, and show what one has come to, beside the one before
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_help = "Examples:\n  skurd run list\n  skurd run show 7\n  skurd run list --json"
    )]
    Run(look::RunCommand),
    /// Pause everything, or a collection, host or walk
    ///
    /// Nothing more of it is fetched until it is resumed. What is in flight comes home. A pause lasts over restarts. With --list, only says what is
    /// paused.
    #[command(
        after_help = "Examples:\n  skurd pause\n  skurd pause --collection news --host vg.no\n  skurd pause --list"
    )]
    Pause(look::PauseArgs),
    /// Resume what is paused: it goes on at once
    #[command(after_help = "Examples:\n  skurd resume\n  skurd resume --collection news --host vg.no")]
    Resume(look::ResumeArgs),
    /// List the URLs that are known, with their state
    #[command(after_help = "Examples:\n  skurd queue --limit 20\n  skurd queue --host vg.no --state queued
  skurd queue --collection news --state blacklisted --json")]
    Queue(look::QueueArgs),
    /// List the hosts that have URLs, and when each can next be asked
    #[command(after_help = "Examples:\n  skurd hosts --limit 20\n  skurd hosts --busy --json")]
    Hosts(look::HostsArgs),
    /// List the machines that share the store, and forget those that will not come back
    #[command(after_help = "Examples:\n  skurd nodes\n  skurd nodes --json\n  skurd nodes forget vm3")]
    Nodes(look::NodesArgs),
    /// What seems to be a trap, and what to do about it
    #[command(
        subcommand,
        after_help = "Examples:\n  skurd traps list\n  skurd traps exclude 5f3a01c2 --profile daily\n  skurd traps release 5f3a01c2"
    )]
    Traps(look::TrapsCommand),
    /// The frontier of other crawlers: what their crawls and queues hold
    ///
    /// It is served to them with `skurd serve --url-frontier`.
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_help = "Examples:\n  skurd url-frontier list\n  skurd url-frontier queues news --blocked
  skurd url-frontier block news vg.no --for 1h"
    )]
    UrlFrontier(look::UrlFrontierCommand),
    /// List the blacklist, add to it, lift from it
    #[command(after_help = "Examples:\n  skurd blacklist --collection news
  skurd blacklist add https://vg.no/trap/ --reason 'endless calendar' --for 7d
  skurd blacklist lift https://vg.no/trap/")]
    Blacklist(look::BlacklistArgs),
    /// Explain why a URL is, or is not, harvested: every rule that decides
    #[command(
        after_help = "Examples:\n  skurd why https://vg.no/sport\n  skurd why https://vg.no/ --collection news --json"
    )]
    Why(look::WhyArgs),
    /// Load the link index, and ask it: what links where, what matters, what is missing
    #[command(subcommand, arg_required_else_help = true)]
    Index(index::IndexCommand),
    /// Report on lateness, domains, errors, and what politeness allows
    #[command(subcommand, arg_required_else_help = true)]
    Report(report::ReportCommand),
    /// See in seconds what a config would harvest in a month
    ///
    /// The real frontier on a virtual clock. Nothing is fetched and nothing is stored. Shows when each URL is harvested, the load of each
    /// host, how well each profile's frequency is kept, and what is asked of hosts beyond their
    /// politeness.
    #[command(after_help = "Examples:\n  skurd simulate config.yaml --for 30d
  skurd simulate config.yaml --for 30d --urls 10000 --svg timeline.svg
  skurd simulate config.yaml --web web.yaml --for 3d --start vg.no@0 --start nrk.no@2d --links
  skurd simulate config.yaml --for 1w --json | jq 'select(.event == \"feasibility\" and (.feasible | not))'")]
    Simulate(Box<simulate::SimulateArgs>),
    /// Turn seed lists of other tools into seeds
    #[command(subcommand, arg_required_else_help = true)]
    Import(ImportCommand),
    /// Look after the store of a data directory
    #[command(subcommand, arg_required_else_help = true)]
    Store(StoreCommand),
    /// Print what a shell needs to complete these commands
    #[command(
        hide = true,
        after_help = "Examples:\n  skurd completions bash > /etc/bash_completion.d/skurd
  skurd completions zsh > \"${fpath[1]}/_skurd\"\n  skurd completions fish > ~/.config/fish/completions/skurd.fish"
    )]
    Completions { shell: clap_complete::Shell },
    /// Write the manual pages of all commands into a directory
    #[command(
        hide = true,
        after_help = "Examples:\n  skurd man /usr/local/share/man/man1\n  skurd man . && man ./skurd-crawl.1"
    )]
    Man {
        /// The directory, which must be there
        dir: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Read every row of a data directory's store and say whether it is sound
    ///
    /// Checks the lock, the format, the checksums of all blocks, the order of keys and the size
    /// limits, and that what the tables say of URLs, hosts and the blacklist fits together.
    /// Nothing is changed. Exits with 0 if all is well, 1 if not, 2 if the command line is wrong.
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
    /// Go on from the last state that reads, when the store's journal is damaged
    ///
    /// What does not read, and what came after it, is kept in files beside the journal, and the
    /// store is what it was before. A store that is sound is left as it is. What the WARC files
    /// have of the time that is lost comes back with `skurd archive adopt`.
    #[command(after_help = "Examples:\n  skurd store repair ./skurd-data")]
    Repair {
        /// The data directory
        dir: PathBuf,
    },
    /// Copy a store to another place, on this machine or on a cluster, and compare every row
    ///
    /// Stopped or killed at any moment, the same command goes on where it was; nothing else opens
    /// the copy before it is whole. Nothing else may use what is copied meanwhile: a data directory
    /// is locked, the nodes of a cluster are to be stopped. It stays as it is, but for a store of an
    /// older format, which is upgraded first, as by every command.
    ///
    /// Only the store is copied. The WARC files are not: put those of FROM/warc into TO/warc before
    /// TO is used. Exits with 0 if all rows are the same, 1 if not, 2 if the command line is wrong.
    #[command(after_help = "Examples:\n  skurd store copy ./skurd-data /srv/skurd
  skurd store copy ./skurd-data tikv://pd1:2379,pd2:2379/skurd
  skurd store copy tikv://pd1:2379,pd2:2379/skurd ./skurd-data --json")]
    Copy {
        /// What is copied: a data directory, or tikv://PD:PORT,…/PREFIX
        from: PathBuf,
        /// Where to: a directory, or an address, with nothing there yet
        to: PathBuf,
        /// Print one JSON object per event: progress, and what came of it
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Read a config file and explain everything that is wrong with it
    ///
    /// Every problem is told with its line and column and with what would be right. Nothing is
    /// changed. Exits with 0 if the file is good, 1 if not, 2 if the command line is wrong.
    #[command(
        after_help = "Examples:\n  skurd config check config.yaml\n  skurd config check config.yaml --json"
    )]
    Check {
        /// The config file
        file: PathBuf,
        /// Print one JSON object per problem, or one that counts what is declared
        #[arg(long)]
        json: bool,
    },
    /// Declare everything a config file says, in effect at once
    ///
    /// The file is checked first. What has changed since is replaced, what is the same is left
    /// alone; with `--prune`, what the file does not have is deleted. Nothing is started: see
    /// `skurd start`.
    #[command(
        after_help = "Examples:\n  skurd config apply config.yaml\n  skurd config apply config.yaml --prune --data /srv/skurd"
    )]
    Apply {
        /// The config file
        file: PathBuf,
        #[command(flatten)]
        data: DataDir,
        /// Delete what the file does not have
        #[arg(long)]
        prune: bool,
        /// Print one JSON object per kind of thing
        #[arg(long)]
        json: bool,
    },
    /// Print the config that declares what is declared now
    ///
    /// Applied, it changes nothing. What is as it would be without a word is not said. Values that
    /// may be secret are shown as `•••`: put back into the same data directory, that means the value
    /// there is; for another, write the values themselves.
    #[command(after_help = "Examples:\n  skurd config export > config.yaml
  skurd config export --data /srv/skurd --output config.yaml")]
    Export {
        #[command(flatten)]
        data: DataDir,
        /// Write to this file instead of standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Print the JSON Schema of config files, for editors
    #[command(after_help = "Examples:\n  skurd config schema > skurd.schema.json
  # then, as the first line of config.yaml:
  # yaml-language-server: $schema=skurd.schema.json")]
    Schema,
    /// Print a commented config that has every key
    #[command(after_help = "Examples:\n  skurd config example > config.yaml\n  skurd config example | less")]
    Example,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// One URL or domain a line; `#` begins a comment
    ///
    /// `vg.no` becomes `https://vg.no/`. What follows the URL on its line is kept as a note.
    #[command(after_help = "Examples:\n  skurd import urls domains.txt --profile daily >> config.yaml
  skurd import urls domains.txt --profile daily --profile weekly --json
  skurd import urls domains.txt --profile daily --data ./skurd-data")]
    Urls(ImportArgs),
    /// Heritrix 3: seeds.txt or crawler-beans.cxml
    ///
    /// Bare hosts become http URLs, as they do in Heritrix. SURT directives (`+http://(no,vg,`) are not seeds: they
    /// are skipped, and the pattern for the profile's `include` that says the same is told.
    #[command(after_help = "Examples:\n  skurd import heritrix seeds.txt --profile daily
  skurd import heritrix crawler-beans.cxml --profile daily")]
    Heritrix(ImportArgs),
    /// Veidemann: config objects in YAML, JSON or JSON lines
    ///
    /// Objects of kind seed become seeds, with the name of their crawlEntity and their labels as a
    /// note.
    #[command(after_help = "Examples:\n  veidemannctl get seed -o yaml > seeds.yaml
  skurd import veidemann seeds.yaml --profile daily")]
    Veidemann(ImportArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The file to read; `-` is standard input
    pub(crate) file: PathBuf,
    /// A profile the seeds get (repeatable)
    #[arg(long = "profile", value_name = "NAME", required = true)]
    pub(crate) profiles: Vec<String>,
    /// Declare the seeds in this data directory instead of printing them
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Print one JSON object per seed instead of YAML; with --data, the counts
    #[arg(long)]
    pub(crate) json: bool,
}
