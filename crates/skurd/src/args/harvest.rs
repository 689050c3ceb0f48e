//! What every command that harvests can be told.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use declare::given::{Delay, contact, delay, duration, line, size};
use harvest::Wanted;
use ipnet::IpNet;
use net::dns::Overrides;
use net::warc::Compression;
use policy::model::RobotsPolicy;
use policy::time::{Span, Time};

use super::value::{self, DataDir};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct HarvestArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// Where the store is, if many machines share one: tikv://PD1:2379,PD2:2379/PREFIX
    ///
    /// With certificates tikv://…?ca=FILE&cert=FILE&key=FILE. Said once: the data directory remembers
    /// it, and holds this machine's part of the archive.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) store: Option<String>,
    /// What this machine is called among those that share the store; its host name and data
    /// directory if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,
    /// Where a host is, instead of asking DNS (repeatable); `*.test=127.0.0.1:8080` for all below a
    /// name
    #[arg(long, value_name = "HOST=ADDR[:PORT]", value_parser = resolve)]
    pub(crate) resolve: Vec<String>,
    /// Allow addresses that are refused otherwise: loopback, private, link-local (repeatable)
    #[arg(long, value_name = "CIDR", value_parser = network)]
    pub(crate) allow_net: Vec<IpNet>,
    /// Pause between two requests to a host: one duration, or the shortest and the longest
    #[arg(long, value_name = "MIN[..MAX]", value_parser = delay)]
    pub(crate) delay: Option<Delay>,
    /// Requests to a host at the same time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) parallel: Option<u32>,
    /// Requests at the same time, to hosts that answer; beside them, eight times as many hosts that
    /// have not answered yet are waited for
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) workers: u16,
    /// Whether robots.txt is obeyed, for all profiles
    #[arg(long, value_name = "obey|ignore", value_parser = robots)]
    pub(crate) robots: Option<RobotsPolicy>,
    /// How requests introduce themselves
    #[arg(long, value_name = "TEXT", value_parser = line)]
    pub(crate) user_agent: Option<String>,
    /// Where site owners can reach you: a web page or mail address
    #[arg(long, value_name = "URL", value_parser = contact)]
    pub(crate) contact: Option<String>,
    /// Leave the link index alone
    #[arg(long)]
    pub(crate) no_index: bool,
    /// How answers are archived
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = WarcArg::Gzip)]
    pub(crate) warc: WarcArg,
    /// How much of the disk stays free, like 20GB: with less, nothing is harvested until there is room again
    ///
    /// Without it a disk that is full ends the harvest. Nothing is lost either way.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) disk_floor: Option<u64>,
    /// Print what happens as JSON lines
    #[arg(long)]
    pub(crate) json: bool,
}

impl HarvestArgs {
    /// What of it the harvest itself is told; the rest is about what is declared and printed.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted {
            dir: self.data.dir.clone(),
            store: self.store.clone(),
            node: self.node.clone(),
            user_agent: self.user_agent.clone(),
            contact: self.contact.clone(),
            resolve: self.resolve.clone(),
            allow_net: self.allow_net.clone(),
            compression: match self.warc {
                WarcArg::Gzip => Some(Compression::Gzip(Compression::GZIP_LEVEL)),
                WarcArg::Zstd => Some(Compression::Zstd(Compression::ZSTD_LEVEL)),
                WarcArg::None => None,
            },
            workers: usize::from(self.workers),
            disk_floor: self.disk_floor,
            waits_for_contact: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WarcArg {
    /// WARC files with each record in a gzip member
    Gzip,
    /// WARC files with each record in a zstd frame
    Zstd,
    /// No archive: the harvest only keeps its books
    None,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CrawlArgs {
    /// URLs to begin with, or one config file
    #[arg(value_name = "URL|CONFIG", required = true)]
    pub(crate) what: Vec<String>,
    #[command(flatten)]
    pub(crate) harvest: HarvestArgs,
    /// End when everything that is due has been harvested
    ///
    /// What comes due within ten seconds is waited for, and so is the politeness of hosts; what
    /// waits for another try after an error, or for its next cycle, is not. This is so anyway
    /// if URLs are given: each is harvested once.
    #[arg(long)]
    pub(crate) until_done: bool,
    /// End after this time
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    pub(crate) length: Option<Span>,
    /// End after this many harvests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_urls: Option<u64>,
    /// Harvest everything once more, as a new run, instead of going on
    #[arg(long)]
    pub(crate) again: bool,
    /// Links that are followed from a URL that is given; 0 is only the page and what it needs
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<u32>,
}

/// Where a server listens if nobody says.
pub(crate) const USUAL_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8642);

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// What to harvest; without it, what is declared in the data directory
    #[arg(value_name = "CONFIG")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) harvest: HarvestArgs,
    /// Where to listen; any address but loopback wants a token. Port 0 is any that is free
    #[arg(long, value_name = "ADDR:PORT", default_value_t = USUAL_LISTEN, value_parser = value::listen)]
    pub(crate) listen: SocketAddr,
    /// Where what was archived is shown as pages, or `off`; the port after --listen if not given
    ///
    /// On an origin of its own, so that no archived page can reach the dashboard: nothing runs there, and
    /// nothing is asked of the web. Any address but loopback wants the token.
    #[arg(long, value_name = "ADDR:PORT|off", value_parser = replay)]
    pub(crate) replay: Option<Replay>,
    /// What browsers call that address, where something stands in between: https://replay.example.org
    #[arg(long, value_name = "URL", value_parser = origin)]
    pub(crate) replay_url: Option<String>,
    /// The file whose first line is the token that requests must bring; or set SKURD_TOKEN
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Also serve the URL Frontier API (gRPC) of other crawlers here; any address but loopback wants
    /// the token or a certificate
    #[cfg(feature = "url-frontier")]
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) url_frontier: Option<SocketAddr>,
    /// The certificate of that address (PEM, with those that lead to an authority): TLS is spoken there
    #[cfg(feature = "url-frontier")]
    #[arg(long, value_name = "FILE", requires = "url_frontier", requires = "url_frontier_key")]
    pub(crate) url_frontier_cert: Option<PathBuf>,
    /// The private key of that certificate (PEM)
    #[cfg(feature = "url-frontier")]
    #[arg(long, value_name = "FILE", requires = "url_frontier_cert")]
    pub(crate) url_frontier_key: Option<PathBuf>,
}

/// Where the archive is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replay {
    Off,
    At(SocketAddr),
}

fn replay(text: &str) -> Result<Replay, String> {
    match text {
        "off" => Ok(Replay::Off),
        text => value::listen(text).map(Replay::At),
    }
}

/// Scheme, host and port, and nothing else.
fn origin(text: &str) -> Result<String, String> {
    let url = url::Url::parse(text).ok();
    let own = url
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .map(|url| url.origin().ascii_serialization());
    let is_one = |own: &String| text.trim_end_matches('/').eq_ignore_ascii_case(own);
    own.filter(is_one)
        .ok_or_else(|| "write scheme, host and port, like https://replay.example.org".to_owned())
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Where the demo keeps its data; what an earlier demo left there goes
    #[arg(long = "data", value_name = "DIR", default_value = "./skurd-demo")]
    pub(crate) dir: PathBuf,
    /// End when everything is harvested, instead of going on until Ctrl-C
    #[arg(long)]
    pub(crate) until_done: bool,
    /// The port of the web on 127.0.0.1; any that is free if 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    /// Where the dashboard is; 127.0.0.1:8642 if that is free, or any port
    #[arg(long, value_name = "ADDR:PORT", value_parser = value::listen)]
    pub(crate) listen: Option<SocketAddr>,
    /// Print what happens as JSON lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct CapturesArgs {
    #[command(subcommand)]
    pub(crate) command: Option<CapturesCommand>,
    /// The URL; all if none is given
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// Only of this collection
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: Option<String>,
    /// How many at most
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Print one JSON object per capture
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum CapturesCommand {
    /// Print the content of a capture, without codings
    ///
    /// Of a URL that was captured several times, the latest, or the one closest to --time. What was the
    /// same as before is printed as it was then. Standard error says which capture it is.
    #[command(after_help = "Examples:\n  skurd captures get https://vg.no/logo.png --output logo.png
  skurd captures get https://vg.no/ --time 2027-01-31 --collection news | less
  skurd captures get https://vg.no/ --record > page.warc.gz\n  skurd captures get urn:pageinfo:https://vg.no/")]
    Get {
        #[command(flatten)]
        which: CaptureArgs,
        /// The record as it lies in the archive, headers and all, instead of its content
        #[arg(long)]
        record: bool,
    },
    /// Print the text of a capture: what a reader sees, a line for each paragraph, item and row
    #[command(after_help = "Examples:\n  skurd captures text https://vg.no/
  diff <(skurd captures text https://vg.no/ --time 2027-01-31) <(skurd captures text https://vg.no/)
  skurd captures text urn:dom:https://vg.no/")]
    Text(CaptureArgs),
}

/// One capture.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CaptureArgs {
    /// The URL
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// Only of this collection
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: Option<String>,
    /// The capture closest to it: a day like 2027-01-31, or a moment
    #[arg(long, value_name = "TIME", value_parser = value::period_begin)]
    pub(crate) time: Option<Time>,
    /// Where to write it, instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum CdxCommand {
    /// Print the CDXJ index of all captures, sorted, as pywb and OutbackCDX load it
    #[command(
        after_help = "Examples:\n  skurd cdx export > index.cdxj\n  skurd cdx export --collection news --output news.cdxj"
    )]
    Export {
        #[command(flatten)]
        data: DataDir,
        /// Only of this collection
        #[arg(long, value_name = "NAME")]
        collection: Option<String>,
        /// Where to write it, instead of standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum WarcCommand {
    /// Read WARC files through and say whether they are sound: framing, lengths, digests
    #[command(
        after_help = "Examples:\n  skurd warc check skurd-data/warc/*.warc.gz\n  skurd warc check --json FILE"
    )]
    Check {
        /// The files
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Print one JSON object per file
        #[arg(long)]
        json: bool,
    },
}

fn resolve(text: &str) -> Result<String, String> {
    match Overrides::parse([text]) {
        Ok(_) => Ok(text.to_owned()),
        Err(wrong) => Err(wrong.to_string()),
    }
}

/// `10.0.0.0/8`, or a single address.
fn network(text: &str) -> Result<IpNet, String> {
    let single = || text.parse::<std::net::IpAddr>().map(IpNet::from);
    text.parse::<IpNet>().or_else(|_| single()).map_err(|_| {
        "this is no network\nhint: write an address and how many of its bits count, like 127.0.0.0/8"
            .to_owned()
    })
}

fn robots(text: &str) -> Result<RobotsPolicy, String> {
    match text {
        "obey" => Ok(RobotsPolicy::Obey),
        "ignore" => Ok(RobotsPolicy::Ignore),
        _ => Err("write obey or ignore".to_owned()),
    }
}
