//! Lets the simulated time pass: declares, starts, harvests, and tells of everything as it happens.

use std::cell::RefCell;

use anyhow::{Context, Result};
use frontier::{LinkTrace, Target};
use policy::catalog::{Catalog, Change};
use policy::time::{Span, Time};
use sim::web::Web;
use sim::{Harvest, Settings, Simulation};

/// What is to be simulated.
#[derive(Debug)]
pub struct Plan {
    pub changes: Vec<Change>,
    pub web: Web,
    pub length: Span,
    /// What is started, and how long after the beginning.
    pub starts: Vec<(Span, Target)>,
    pub settings: Settings,
}

/// What happens on the way.
#[derive(Debug)]
pub enum Moment {
    Started {
        at: Time,
        links: Vec<LinkTrace>,
    },
    Harvested(Box<Harvest>),
    /// Simulated time went by.
    Passed(Span),
}

/// Everything there is, in the order of names.
pub fn start_everything(catalog: &Catalog) -> Vec<(Span, Target)> {
    let mut names: Vec<&str> = catalog.collections().map(|collection| collection.name.as_str()).collect();
    names.sort_unstable();
    names.into_iter().map(|name| (Span::ZERO, Target::Collection(name.to_owned()))).collect()
}

/// Runs the plan; the simulation stands at its end. To be run in virtual time.
pub async fn run(plan: Plan, tell: &mut impl FnMut(Moment) -> Result<()>) -> Result<Simulation> {
    let Plan { changes, web, length, mut starts, settings } = plan;
    let simulation = Simulation::new(web, settings);
    simulation.frontier.declare(&changes).await.context("the config cannot be taken in")?;
    drop(changes);
    starts.sort_by_key(|(after, _)| *after);
    let begin = simulation.now();
    let tell = RefCell::new(tell);
    let script = async {
        for (after, target) in starts {
            simulation.clock.sleep_until(begin.plus(after)).await;
            simulation.frontier.start(&target).await?;
            let links = simulation.frontier.take_traces();
            (tell.borrow_mut())(Moment::Started { at: simulation.now(), links })?;
        }
        simulation.clock.sleep_until(begin.plus(length)).await;
        anyhow::Ok(())
    };
    let hear = |moment| {
        (tell.borrow_mut())(match moment {
            sim::Moment::Harvested(harvest) => Moment::Harvested(harvest),
            sim::Moment::Passed(now) => Moment::Passed(now.since(begin)),
        })
    };
    simulation.run_while(script, hear).await??;
    Ok(simulation)
}
