//! Checking a config, applying it, and seeing what it would harvest.

pub mod apply;

use std::io::{self, Write};

pub use apply::{Applied, AppliedKind, How, apply_config};
use declare::given::duration;
use declare::{self, ConfigError, Declared};
use frontier::ports::Clock;
use harvest::clock::SystemClock;
use plan::drive::{self, Moment, Plan};
use plan::forecast::Forecast;
use plan::ledger::Ledger;
use plan::{Grid, lines, picture, webfile};
use policy::catalog::Catalog;
use policy::time::{Span, Time};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Answer, App, Problem};

/// The most pages of a made-up web, the longest time and the most work of a simulation on request.
const URLS_MAX: u32 = 20_000;

const LENGTH_MAX: Span = Span::days(366);

const SIMULATED_WITHIN: Span = Span::seconds(20);

const OUTPUT_BYTES_MAX: usize = 32 << 20;

/// What a config declares, or what is wrong with it.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct Checked {
    pub good: bool,
    pub problems: Vec<ConfigProblem>,
    /// Problems beyond those told.
    pub more: usize,
    /// What is no mistake for certain, but hardly meant.
    pub warnings: Vec<String>,
    /// What it declares, if it is good.
    pub declares: Option<Declares>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ConfigProblem {
    /// Counted from 1, as is the column.
    pub line: u32,
    pub column: u32,
    pub problem: String,
    pub hint: String,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Declares {
    pub collections: usize,
    pub profiles: usize,
    pub seeds: usize,
    pub host_groups: usize,
    pub hosts: usize,
}

/// Check a config: every problem with its place and what would be right
#[crate::boxed]
pub async fn check(text: Vec<u8>) -> Answer<Checked> {
    let checked = tokio::task::spawn_blocking(move || checked(&text));
    checked.await.map_err(|error| Problem::internal(&error))
}

fn checked(text: &[u8]) -> Checked {
    match declare::parse("config", text) {
        Ok(declared) => Checked {
            good: true,
            warnings: declared.warnings().into_iter().map(|(what, _)| what).collect(),
            declares: Some(Declares {
                collections: declared.collections.len(),
                profiles: declared.profiles.len(),
                seeds: declared.seeds.len(),
                host_groups: declared.groups.len(),
                hosts: declared.hosts.len(),
            }),
            ..Checked::default()
        },
        Err(ConfigError { problems, more, .. }) => {
            let told = problems.into_iter().map(|found| ConfigProblem {
                line: found.at.line,
                column: found.at.column,
                problem: found.what,
                hint: found.hint,
            });
            Checked { problems: told.collect(), more, ..Checked::default() }
        }
    }
}

/// The config file that declares what is declared now
#[crate::boxed]
pub async fn export(app: &App) -> Answer<Vec<u8>> {
    app.heavy(async move |app| {
        let declared = app.look(Declared::of).await?;
        let mut text = Vec::new();
        declared.write(&mut text).map_err(|error| Problem::internal(&error))?;
        Ok(text)
    })
    .await
}

/// What to simulate.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Simulation {
    /// A config, in YAML.
    pub config: String,
    /// How long, in simulated time, like `30d`; a year at most.
    #[serde(rename = "for")]
    pub length: String,
    /// What the web answers, in YAML; without it, one is made up.
    #[serde(default)]
    pub web: Option<String>,
    /// About how many pages a web that is made up has.
    #[serde(default = "thousand")]
    #[schema(minimum = 1, maximum = 20_000, default = 1000)]
    pub urls: u32,
    /// Fetches under way at the same time.
    #[serde(default = "fifty")]
    #[schema(minimum = 1, maximum = 1000, default = 50)]
    pub workers: u16,
    /// Where everything random comes from: the same number, the same answer.
    #[serde(default = "one")]
    pub seed: u64,
    /// Draw the timeline instead.
    #[serde(default)]
    pub svg: bool,
}

fn thousand() -> u32 {
    1000
}

fn fifty() -> u16 {
    50
}

fn one() -> u64 {
    1
}

/// See what a config would harvest: the real frontier on a virtual clock
#[crate::boxed]
pub async fn simulate(app: &App, wanted: Simulation) -> Answer<Simulated> {
    let length =
        duration(&wanted.length).map_err(|wrong| Problem::invalid(wrong.clone()).field("/for", wrong))?;
    let in_range = [
        (length <= LENGTH_MAX, "/for", "this is longer than a year"),
        ((1..=URLS_MAX).contains(&wanted.urls), "/urls", "from 1 to 20000"),
        ((1..=1000).contains(&wanted.workers), "/workers", "from 1 to 1000"),
    ];
    if let Some((_, pointer, what)) = in_range.iter().find(|(is_right, ..)| !is_right) {
        return Err(Problem::invalid(*what).field(*pointer, *what));
    }
    let turn = std::sync::Arc::clone(&app.simulations).try_acquire_owned();
    let turn = turn.map_err(|_| Problem::unavailable("another simulation is running"))?;
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        simulated(&wanted, length)
    });
    done.await.map_err(|error| Problem::internal(&error))?
}

/// What came of it: summaries as JSON lines, or the timeline drawn.
#[derive(Clone, Debug)]
pub enum Simulated {
    Lines(Vec<u8>),
    Svg(String),
}

fn simulated(wanted: &Simulation, length: Span) -> Answer<Simulated> {
    let changes =
        declare::parse("config", wanted.config.as_bytes()).map_err(|error| wrong("/config", &error))?;
    let changes = changes.into_changes();
    let mut catalog = Catalog::new();
    for change in changes.clone() {
        catalog.apply(change).map_err(|error| Problem::invalid(error.to_string()))?;
    }
    let web = match &wanted.web {
        Some(text) => webfile::read("web", text.as_bytes(), catalog.url_rules())
            .map_err(|error| wrong("/web", &error))?,
        None => sim::generate(&catalog, usize::try_from(wanted.urls).unwrap_or(1), wanted.seed),
    };
    let settings = sim::Settings {
        workers: usize::from(wanted.workers),
        seed: wanted.seed,
        keep_captures: false,
        ..sim::Settings::default()
    };
    let grid = Grid::new(settings.start, length);
    let starts = drive::start_everything(&catalog);
    let plan = Plan { changes, web, length, starts, settings };
    let mut ledger = Ledger::new(grid, 0);
    let forecast = pass(plan, &catalog, &mut ledger)?;
    if wanted.svg {
        let subtitle = picture::step_text(&grid);
        let caption = picture::Caption { title: "What the config harvests", subtitle: &subtitle };
        let svg = picture::draw(&forecast, &grid, caption, &[])
            .map_err(|error| Problem::invalid(format!("{error:#}")))?;
        return Ok(Simulated::Svg(svg));
    }
    let mut out = Bounded(Vec::new());
    let written = lines::write_summaries(&mut out, &ledger, &forecast, wanted.seed);
    written.map_err(|_| {
        Problem::invalid("there is more to tell than fits an answer").hint("simulate fewer URLs")
    })?;
    Ok(Simulated::Lines(out.0))
}

/// Lets the time pass, as long as that does not take too much of ours.
fn pass(plan: Plan, catalog: &Catalog, ledger: &mut Ledger) -> Answer<Forecast> {
    let deadline: Time = SystemClock.now().plus(SIMULATED_WITHIN);
    let too_much = |error: anyhow::Error| {
        Problem::invalid(format!("{error:#}"))
            .hint("simulate a shorter time or fewer URLs, or run `skurd simulate`")
    };
    let done = sim::virtual_time(async {
        let mut tell = |moment: Moment| -> anyhow::Result<()> {
            match moment {
                Moment::Started { links, .. } => ledger.linked(links),
                Moment::Harvested(harvest) => ledger.harvested(catalog, *harvest),
                Moment::Passed(span) if SystemClock.now() > deadline => {
                    anyhow::bail!("only {span} could be simulated in the time there is")
                }
                Moment::Passed(_) => {}
            }
            Ok(())
        };
        let simulation = drive::run(plan, &mut tell).await.map_err(too_much)?;
        Forecast::read(&simulation, catalog, ledger).await.map_err(|error| Problem::internal(&error))
    });
    done.map_err(|error| Problem::internal(&error))?
}

fn wrong(pointer: &str, error: &ConfigError) -> Problem {
    error.problems.iter().fold(Problem::invalid("the text is not right"), |problem, found| {
        let at = found.at;
        problem
            .field(pointer, format!("line {}, column {}: {}; {}", at.line, at.column, found.what, found.hint))
    })
}

/// Takes no more than fits.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > OUTPUT_BYTES_MAX {
            return Err(io::Error::other("more than fits"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
