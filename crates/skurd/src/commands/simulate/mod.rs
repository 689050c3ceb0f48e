//! `skurd simulate`: reads the files, lets the time pass, shows what came of it.

mod tables;

use std::io::{BufWriter, IsTerminal, Write, stderr, stdout};

use anyhow::{Context, Result};
use declare::hint::{hinted, unknown};
use frontier::Target;
use harvest::session::note;
use plan::adaptive::{self, Compared, Observed};
use plan::drive::{self, Moment, Plan};
use plan::forecast::Forecast;
use plan::ledger::Ledger;
use plan::timeline::Look;
use plan::{Grid, lines, picture, timeline, webfile};
use policy::catalog::Catalog;
use policy::time::Span;
use policy::unit::print_duration;
use sim::web::Web;

use super::config::taken_in;
use crate::args::simulate::SimulateArgs;

/// Link decisions kept for the table; JSON lines have them all.
const LINKS_SHOWN: usize = 1000;
const LINKS_SHOWN_ALL: usize = 100_000;
const WIDTH_USUAL: usize = 80;

pub(crate) fn run(args: &SimulateArgs) -> Result<()> {
    let mut declared = declare::load(&args.config)?;
    if !std::mem::take(&mut declared.walks).is_empty() {
        note("walks are left out: a synthetic web has no ids to count")?;
    }
    let changes = declared.into_changes();
    let catalog = taken_in(&changes)?;
    let other = adaptive::fixed(&changes);
    let web = match &args.web {
        Some(path) => webfile::load(path, catalog.url_rules())?,
        None => sim::generate(&catalog, usize::try_from(args.urls)?, args.seed),
    };
    let settings = sim::Settings {
        workers: usize::try_from(args.workers)?,
        seed: args.seed,
        keep_captures: false,
        trace_links: args.links,
        ..sim::Settings::default()
    };
    // Where nothing adapts, nobody asks how often pages change.
    let web = if other.is_some() { web.changing(args.seed, settings.start) } else { web };
    let grid = Grid::new(settings.start, args.length);
    let heading = heading(args, &web);
    let starts = starts(args, &catalog)?;
    let fixed = other.map(|(changes, compared)| {
        let settings = sim::Settings { trace_links: false, ..settings.clone() };
        let plan = Plan { changes, web: web.clone(), length: args.length, starts: starts.clone(), settings };
        (plan, compared)
    });
    let plan = Plan { changes, web, length: args.length, starts, settings };
    let kept = if args.all { LINKS_SHOWN_ALL } else { LINKS_SHOWN };
    let mut ledger = Ledger::new(grid, if args.links && !args.json { kept } else { 0 });
    let mut out = BufWriter::new(stdout().lock());
    let mut observed = Observed::on(grid);
    let forecast = simulate(args, plan, &catalog, &mut ledger, &mut observed, &mut out)?;
    let compared = fixed.map(|(plan, compared)| compare(plan, compared, &observed, grid)).transpose()?;
    let compared = compared.unwrap_or_default();
    if let Some(path) = &args.svg {
        let subtitle = format!("{}; {}", heading, picture::step_text(&grid));
        let title = format!("What {} harvests in {}", args.config.display(), print_duration(args.length));
        let caption = picture::Caption { title: &title, subtitle: &subtitle };
        let svg = picture::draw(&forecast, &grid, caption, &compared)?;
        std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))?;
    }
    match args.json {
        true => {
            lines::write_compared(&mut out, &compared)?;
            lines::write_summaries(&mut out, &ledger, &forecast, args.seed)?;
        }
        false => {
            show(args, &heading, &ledger, &forecast, &mut out)?;
            if !compared.is_empty() {
                writeln!(out)?;
                adaptive::write(&mut out, &compared)?;
            }
        }
    }
    Ok(out.flush()?)
}

/// Lets the same time pass once more, with fixed frequencies.
fn compare(
    plan: Plan,
    mut compared: Vec<Compared>,
    observed: &Observed,
    grid: Grid,
) -> Result<Vec<Compared>> {
    let mut other = Observed::on(grid);
    sim::virtual_time(async {
        let mut tell = |moment: Moment| -> Result<()> {
            if let Moment::Harvested(harvest) = moment {
                other.harvested(&harvest);
            }
            Ok(())
        };
        drive::run(plan, &mut tell).await.map(|_| ())
    })??;
    for own in &mut compared {
        own.adaptive = observed.by_profile.get(&own.profile).cloned().unwrap_or_default();
        own.fixed = other.by_profile.remove(&own.profile).unwrap_or_default();
    }
    Ok(compared)
}

fn starts(args: &SimulateArgs, catalog: &Catalog) -> Result<Vec<(Span, Target)>> {
    if args.starts.is_empty() {
        return Ok(drive::start_everything(catalog));
    }
    let mut starts = Vec::with_capacity(args.starts.len());
    for (name, after) in &args.starts {
        if catalog.seed(name).is_none() {
            return Err(unknown("seed", name, catalog.seeds().map(|entry| entry.seed.name.as_str())));
        }
        if *after >= args.length {
            let (after, length) = (print_duration(*after), print_duration(args.length));
            let what = format!("`--start {name}@{after}` is after the end");
            return Err(hinted(what, format!("the simulation is over after {length}: see --for")));
        }
        starts.push((*after, Target::Seed { name: name.clone(), profiles: None }));
    }
    Ok(starts)
}

fn simulate(
    args: &SimulateArgs,
    plan: Plan,
    catalog: &Catalog,
    ledger: &mut Ledger,
    observed: &mut Observed,
    out: &mut impl Write,
) -> Result<Forecast> {
    let mut progress = Progress::new(args.length);
    sim::virtual_time(async {
        let mut tell = |moment: Moment| -> Result<()> {
            match moment {
                Moment::Started { at, links } => {
                    if args.json {
                        lines::write_links(out, at, &links)?;
                    }
                    ledger.linked(links);
                }
                Moment::Harvested(harvest) => {
                    if args.json {
                        lines::write_harvest(out, &harvest)?;
                        lines::write_links(out, harvest.ended, &harvest.links)?;
                    }
                    observed.harvested(&harvest);
                    ledger.harvested(catalog, *harvest);
                }
                Moment::Passed(span) => progress.passed(span),
            }
            Ok(())
        };
        let simulation = drive::run(plan, &mut tell).await?;
        progress.end();
        Forecast::read(&simulation, catalog, ledger).await
    })?
}

fn heading(args: &SimulateArgs, web: &Web) -> String {
    let web = match &args.web {
        Some(path) => path.display().to_string(),
        None => format!("a made-up web of {} pages", web.len()),
    };
    format!("{} on {web}, {} workers, seed {}", args.config.display(), args.workers, args.seed)
}

fn show(
    args: &SimulateArgs,
    heading: &str,
    ledger: &Ledger,
    forecast: &Forecast,
    out: &mut impl Write,
) -> Result<()> {
    let length = print_duration(args.length);
    writeln!(out, "{length} of {heading}: {} harvests of {} URLs\n", ledger.harvests, forecast.urls.len())?;
    let rows = if args.all { usize::MAX } else { timeline::ROWS_SHOWN };
    timeline::write(out, forecast, &ledger.grid, look(), rows)?;
    writeln!(out)?;
    tables::write_hosts(out, ledger, args.all)?;
    writeln!(out)?;
    tables::write_contract(out, forecast)?;
    writeln!(out)?;
    tables::write_feasibility(out, &forecast.feasibility, args.all)?;
    tables::write_budgets(out, ledger, forecast)?;
    if args.links {
        writeln!(out)?;
        tables::write_links(out, ledger)?;
    }
    Ok(())
}

/// A pipe is read by programs: it has the usual width and no colours.
fn look() -> Look {
    if !stdout().is_terminal() {
        return Look { width: WIDTH_USUAL, colours: false };
    }
    let width = terminal_size::terminal_size().map_or(WIDTH_USUAL, |(width, _)| usize::from(width.0));
    let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Look { width: width.max(WIDTH_USUAL), colours }
}

/// How far it is, on a terminal only.
struct Progress {
    length: Span,
    shown: u64,
    visible: bool,
}

impl Progress {
    fn new(length: Span) -> Progress {
        Progress { length, shown: 0, visible: stderr().is_terminal() && stdout().is_terminal() }
    }

    fn passed(&mut self, span: Span) {
        let percent = span.0.saturating_mul(100) / self.length.0.max(1);
        if self.visible && percent > self.shown {
            self.shown = percent;
            eprint!("\rsimulated {percent} % of {}", print_duration(self.length));
        }
    }

    fn end(&self) {
        if self.shown > 0 {
            eprint!("\r\u{1b}[K");
        }
    }
}
