//! Lets the simulated time pass: declares, starts, steps, and tells of everything as it happens.

use anyhow::{Context, Result};
use frontier::{LinkTrace, Target};
use policy::catalog::{Catalog, Change};
use policy::time::{Span, Time};
use sim::web::Web;
use sim::{Harvest, Settings, Simulation};

/// What is to be simulated.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) changes: Vec<Change>,
    pub(crate) web: Web,
    pub(crate) length: Span,
    /// What is started, and how long after the beginning.
    pub(crate) starts: Vec<(Span, Target)>,
    pub(crate) settings: Settings,
}

/// What happens on the way.
#[derive(Debug)]
pub(crate) enum Moment {
    Started {
        at: Time,
        links: Vec<LinkTrace>,
    },
    Harvested(Box<Harvest>),
    /// Simulated time went by.
    Passed(Span),
}

/// Everything there is, in the order of names.
pub(crate) fn start_everything(catalog: &Catalog) -> Vec<(Span, Target)> {
    let mut names: Vec<&str> = catalog.collections().map(|collection| collection.name.as_str()).collect();
    names.sort_unstable();
    names.into_iter().map(|name| (Span::ZERO, Target::Collection(name.to_owned()))).collect()
}

/// Runs the plan; the simulation stands at its end.
pub(crate) async fn run(plan: Plan, tell: &mut impl FnMut(Moment) -> Result<()>) -> Result<Simulation> {
    let Plan { changes, web, length, mut starts, settings } = plan;
    let mut simulation = Simulation::new(web, settings);
    simulation.frontier.declare(&changes).await.context("the config cannot be taken in")?;
    drop(changes);
    simulation.begin_run().await?;
    let begin = simulation.now();
    starts.sort_by_key(|(after, _)| *after);
    for (after, target) in starts {
        advance(&mut simulation, begin, begin.plus(after), tell).await?;
        simulation.frontier.start(&target).await?;
        let links = simulation.frontier.take_traces();
        tell(Moment::Started { at: simulation.now(), links })?;
    }
    advance(&mut simulation, begin, begin.plus(length), tell).await?;
    Ok(simulation)
}

async fn advance(
    simulation: &mut Simulation,
    begin: Time,
    end: Time,
    tell: &mut impl FnMut(Moment) -> Result<()>,
) -> Result<()> {
    while simulation.now() < end && simulation.step(end).await? {
        for harvest in simulation.harvests.drain(..) {
            tell(Moment::Harvested(Box::new(harvest)))?;
        }
        tell(Moment::Passed(simulation.now().since(begin)))?;
    }
    // Where nothing was left to do, time goes by all the same.
    simulation.clock.set(end);
    Ok(())
}
