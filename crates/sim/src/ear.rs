use std::sync::Arc;

use frontier::{Frontier, Harvested, LinkTrace, Witness};
use parking_lot::Mutex;

use crate::harvest::Harvest;

/// Hears of harvests, and keeps them until somebody takes them: seldom more than a batch.
#[derive(Debug)]
pub(crate) struct Ear {
    frontier: Arc<Frontier>,
    traces: bool,
    heard: Mutex<Heard>,
}

#[derive(Debug, Default)]
struct Heard {
    harvests: Vec<Harvest>,
    /// Of harvests that were committed together.
    links: Vec<LinkTrace>,
}

impl Ear {
    pub(crate) fn new(frontier: Arc<Frontier>, traces: bool) -> Ear {
        Ear { frontier, traces, heard: Mutex::default() }
    }

    pub(crate) fn take(&self) -> Vec<Harvest> {
        std::mem::take(&mut self.heard.lock().harvests)
    }
}

impl Witness for Ear {
    fn harvested(&self, harvested: &Harvested<'_>) {
        let Heard { harvests, links } = &mut *self.heard.lock();
        let mut own = Vec::new();
        if self.traces {
            links.extend(self.frontier.take_traces());
            let order = harvested.order;
            let is_own = |link: &mut LinkTrace| {
                link.collection == order.collection && link.page.as_deref() == Some(order.url.as_str())
            };
            own.extend(links.extract_if(.., is_own));
        }
        harvests.push(Harvest::of(harvested, own));
    }

    fn turn(&self, _: usize) {}
}
