//! What can be said of a seed, profile, collection or host group when it is added.

use policy::browser::Engine;
use policy::budget::Budget;
use policy::hours::{TimeOfDay, Weekday, Window};
use policy::model::{Dedup, RobotsPolicy};
use policy::scope::{Pattern, Within};
use policy::time::Span;
use policy::trap::Traps;
use policy::zone::Zone;

use super::value::{self, DataDir, Delay};

/// Add a place to start at
///
/// It is harvested from the next `skurd start` on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  skurd seed add https://vg.no/ --profile daily
  skurd seed add https://nrk.no/ --name nrk --profile daily --profile weekly --inactive")]
pub(crate) struct SeedArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// Where to start, with its scheme
    pub(crate) url: String,
    /// How it is harvested (repeatable)
    #[arg(long = "profile", value_name = "NAME", required = true)]
    pub(crate) profiles: Vec<String>,
    /// Its name; the URL in normal form if none
    #[arg(long, value_parser = value::seed_name)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    #[command(flatten)]
    pub(crate) add: AddArgs,
}

/// How much there is at most.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BudgetArgs {
    /// URLs that are known at a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_urls: Option<u64>,
    /// Harvests of a run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_harvests: Option<u64>,
    /// Bytes of a run
    #[arg(long, value_name = "SIZE", value_parser = value::size)]
    pub(crate) max_bytes: Option<u64>,
    /// From the first harvest of a run on
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) max_duration: Option<Span>,
}

impl From<BudgetArgs> for Budget {
    fn from(args: BudgetArgs) -> Budget {
        let BudgetArgs { max_urls, max_harvests, max_bytes, max_duration } = args;
        Budget { max_urls, max_harvests, max_bytes, max_duration }
    }
}

/// For things that have a switch.
#[derive(Debug, clap::Args)]
pub(crate) struct AddArgs {
    /// Add it switched off
    #[arg(long)]
    pub(crate) inactive: bool,
    /// Replace the one of the same name
    #[arg(long)]
    pub(crate) replace: bool,
}

const ENGINES: [(Engine, &str, &str); 2] =
    [(Engine::Http, "http", "As they are"), (Engine::Browser, "browser", "With pages opened in a browser")];

const DEDUPS: [(Dedup, &str, &str); 2] =
    [(Dedup::Url, "url", "Those of one URL"), (Dedup::Payload, "payload", "All of the collection")];

/// Add a collection: what is harvested together and apart from the rest
///
/// What has no option here (headers, cookies, proxies, how the browser is set up) is set in a config
/// file, see `skurd config apply`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  skurd collection add news
  skurd collection add intranet --warc-prefix INTRA --user-agent 'archive/1.0' --no-index
  skurd collection add shops --engine browser")]
pub(crate) struct CollectionArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    #[arg(value_parser = value::name)]
    pub(crate) name: String,
    /// How its requests introduce themselves
    #[arg(long, value_name = "TEXT", value_parser = value::line)]
    pub(crate) user_agent: Option<String>,
    /// What the names of its WARC files begin with
    #[arg(long, value_name = "TEXT", value_parser = value::file_prefix)]
    pub(crate) warc_prefix: Option<String>,
    /// Keep its pages out of the link index
    #[arg(long)]
    pub(crate) no_index: bool,
    /// How its URLs are fetched
    #[arg(long, default_value = "http", value_parser = value::one_of(ENGINES))]
    pub(crate) engine: Engine,
    /// Of which captures the same payload is stored only once
    #[arg(long, default_value = "url", value_parser = value::one_of(DEDUPS))]
    pub(crate) dedup: Dedup,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    #[command(flatten)]
    pub(crate) add: AddArgs,
}

/// Add a way to harvest: a collection, a scope, a frequency
///
/// What has no option here (fetch limits and the like) is set in a config file, see `skurd
/// config apply`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  skurd profile add daily --collection news --every 1d
  skurd profile add once --collection news --every 1d --length 1 --max-depth 20 --off-domain-hops 1
  skurd profile add papers --collection pdf --every 4w --within any --include 'regex:\\.pdf$'")]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    #[arg(value_parser = value::name)]
    pub(crate) name: String,
    /// Where its harvests belong
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: String,
    /// How often each URL is harvested; two durations (1h..30d): as often as each is seen to change
    #[arg(long, value_name = "DURATION[..DURATION]", value_parser = value::frequency)]
    pub(crate) every: (Span, Option<Span>),
    /// The moment that this counts from, by the clock on the wall
    #[arg(long, value_name = "HH:MM", value_parser = value::moment)]
    pub(crate) at: Option<TimeOfDay>,
    /// The days that have such a moment; every day if not given
    #[arg(long, value_name = "DAY", value_delimiter = ',', value_parser = value::weekday, requires = "at")]
    pub(crate) weekdays: Vec<Weekday>,
    /// Whose clocks moment and windows are by; UTC if not given
    #[arg(long, value_name = "ZONE", value_parser = value::zone)]
    pub(crate) timezone: Option<Zone>,
    /// When its harvests may happen; always if not given (repeatable)
    #[arg(long = "window", value_name = "HH:MM-HH:MM[,DAY…]", value_parser = value::window)]
    pub(crate) windows: Vec<Window>,
    /// How many times each URL is harvested in a run; for ever if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) length: Option<u32>,
    /// A URL that no page has linked to for this long is dropped
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) ttl: Option<Span>,
    /// Whether robots.txt is obeyed
    #[arg(long, value_name = "obey|ignore|as:AGENT", default_value = "obey", value_parser = value::robots)]
    pub(crate) robots: RobotsPolicy,
    /// Whether URLs that seem to be a trap are harvested all the same, or held until somebody decides
    #[arg(long, default_value = "warn", value_parser = value::choice(&Traps::ALL, Traps::as_str))]
    pub(crate) traps: Traps,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    #[command(flatten)]
    pub(crate) add: AddArgs,
}

const WITHIN: [(Within, &str, &str); 4] = [
    (Within::Path, "path", ""),
    (Within::Host, "host", ""),
    (Within::Domain, "domain", ""),
    (Within::Any, "any", ""),
];

#[derive(Debug, clap::Args)]
pub(crate) struct ScopeArgs {
    /// How far around the seed
    #[arg(long, default_value = "domain", value_parser = value::one_of(WITHIN))]
    pub(crate) within: Within,
    /// Links from the seed; no limit if not given
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u32>,
    /// Links that are followed after leaving the seed's domain
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) off_domain_hops: u32,
    /// Take images, styles, scripts and frames only where pages are taken
    #[arg(long)]
    pub(crate) no_requisites: bool,
    /// Taken in although not within: host:, prefix: or regex: (repeatable)
    #[arg(long, value_name = "PATTERN", value_parser = value::pattern)]
    pub(crate) include: Vec<Pattern>,
    /// Never taken in (repeatable)
    #[arg(long, value_name = "PATTERN", value_parser = value::pattern)]
    pub(crate) exclude: Vec<Pattern>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LimitArgs {
    /// Errors in a row after which a URL is blacklisted
    #[arg(long, value_name = "N")]
    pub(crate) max_errors: Option<u32>,
    /// Not-founds in a row after which a URL is blacklisted
    #[arg(long, value_name = "N")]
    pub(crate) max_not_found: Option<u32>,
    /// How long that lasts; until somebody lifts it if not given
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) blacklist_for: Option<Span>,
}

/// Add a group of hosts that share one politeness slot
///
/// Its name is one that no host can have: with a colon, a slash or a blank in it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skurd host-group add group:shops --host a.example.org --host b.example.org
  skurd host-group add group:cdn --host cdn.example.org --delay 2s..1m --parallel 2
  skurd host-group add group:night --host a.example.org --window 21:00-05:00 --timezone Europe/Berlin"
)]
pub(crate) struct GroupArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    #[arg(value_parser = value::group_name)]
    pub(crate) name: String,
    /// A host of the group, `www.` or not, without scheme and port (repeatable)
    #[arg(long = "host", value_name = "HOST", required = true, value_parser = value::host)]
    pub(crate) hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) politeness: PolitenessArgs,
    /// Replace the one of the same name
    #[arg(long)]
    pub(crate) replace: bool,
}

/// How hosts are asked; what is not given is as in the settings.
#[derive(Debug, clap::Args)]
pub(crate) struct PolitenessArgs {
    /// Between two requests; the rest is as in the settings
    #[arg(long, value_name = "MIN[..MAX]", value_parser = value::delay)]
    pub(crate) delay: Option<Delay>,
    /// Simultaneous requests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) parallel: Option<u32>,
    /// When anything at all may be asked for; as in the settings if not given (repeatable)
    #[arg(long = "window", value_name = "HH:MM-HH:MM[,DAY…]", value_parser = value::window)]
    pub(crate) windows: Vec<Window>,
    /// Whose clocks the windows are by; UTC if not given
    #[arg(long, value_name = "ZONE", value_parser = value::zone, requires = "windows")]
    pub(crate) timezone: Option<Zone>,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
}

/// Say how a single host is asked: politeness, windows, budget
///
/// Of a host in a group that of the group counts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  skurd host add slow.example.org --delay 10s..1m
  skurd host add big.example.org --window 22:00-06:00 --timezone Europe/Berlin --max-bytes 2GB")]
pub(crate) struct HostArgs {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// The host, `www.` or not, without scheme and port
    #[arg(value_parser = value::host)]
    pub(crate) host: String,
    #[command(flatten)]
    pub(crate) politeness: PolitenessArgs,
    /// Replace what is declared of it
    #[arg(long)]
    pub(crate) replace: bool,
}
