//! What came of a walk's orders: for the walk, for its host, and for the links of its pages.

use policy::model::Position;
use policy::owner::Via;
use policy::time::Time;
use policy::walk::{Changes, Outcome, Resume, Walk};
use store::{Result, Tx};

use super::{Strand, Walks};
use crate::complete::{Harvest, Summary};
use crate::links::Page;
use crate::nodes::Claim;
use crate::ports::{Fetch, Order, Report};
use crate::schema::{COUNTERS, ErrorKind, Host, WALK_IDS, WALKS, WalkRow, WalkRun};
use crate::size::Followed;
use crate::start::RUN;
use crate::transaction::{Arrivals, Transaction};

/// Rows of a walk to be written with what changed it.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(super) walk: String,
    pub(super) changes: Changes,
    pub(super) resume: Resume,
    pub(super) ended: bool,
    pub(super) run: WalkRun,
    /// Under what it was walked.
    pub(super) claim: Option<Claim>,
}

impl Step {
    pub(super) fn row(&self) -> WalkRow {
        let Step { changes, resume, ended, run, .. } = self;
        WalkRow { head: changes.head.clone(), resume: *resume, ended: *ended, run: *run }
    }

    pub(crate) fn write(&self, tx: &Tx) -> Result<()> {
        let Step { walk, changes, .. } = self;
        WALKS.put(tx, (walk,), &self.row())?;
        changes.stretches.iter().try_for_each(|(stretch, row)| WALK_IDS.put(tx, (walk, *stretch), row))
    }
}

impl Strand {
    /// What of it is to be written, if anything.
    pub(super) fn step(&mut self) -> Option<Step> {
        close(&mut self.walk);
        let changes = self.walk.dirty()?;
        Some(Step {
            walk: self.declared.name.clone(),
            changes,
            resume: self.resume,
            ended: self.walk.ended().is_some(),
            run: self.run,
            claim: self.claim,
        })
    }
}

/// A walk that has nothing left to do writes down why, with what ended it.
pub(super) fn close(walk: &mut Walk) {
    if walk.ended().is_some() {
        for leg in walk.legs() {
            walk.next(*leg, Time::default());
        }
    }
}

impl Walks {
    /// Tells the walks what came of their orders, and what of them is to be written.
    pub(crate) fn results(&self, harvests: &[Harvest<'_>], now: Time) -> Vec<Step> {
        if harvests.iter().all(|harvest| harvest.order.walk.is_none()) {
            return Vec::new();
        }
        let mut room = self.0.lock();
        for Harvest { order, report, .. } in harvests {
            let Some(own) = &order.walk else { continue };
            let round =
                room.rounds.iter_mut().find_map(|round| Some((round.issued(&own.walk, own.id)?, round)));
            if let Some((turn, round)) = round {
                if matches!(report.result, Fetch::HostAsked) {
                    // That was nobody's turn.
                    round.undo(&turn);
                    continue;
                }
                round.issued.retain(|issued| *issued != turn);
            }
            let Some(strand) = room.strand(&own.walk) else { continue };
            if !report.result.is_harvest() {
                // The id is issued again.
                strand.walk.give_back(own.id);
                continue;
            }
            let outcome = report.existence.unwrap_or(Outcome::Failed);
            strand.walk.result(own.id, outcome, now);
            strand.run.requests += 1;
            strand.run.first.get_or_insert(report.at);
            strand.run.last = Some(report.at);
        }
        room.strands().filter_map(Strand::step).collect()
    }

    /// Their leases ran out: the ids are issued again.
    pub(crate) fn give_back<'a>(&self, harvests: impl Iterator<Item = &'a Harvest<'a>>) {
        let mut room = self.0.lock();
        for (own, claim) in
            harvests.filter_map(|harvest| Some((harvest.order.walk.as_ref()?, harvest.order.claim)))
        {
            // What was read anew since has nothing of it in flight.
            if room.strand(&own.walk).is_none_or(|strand| strand.claim != claim) {
                continue;
            }
            for round in &mut room.rounds {
                let turn = round.issued(&own.walk, own.id);
                round.issued.retain(|issued| Some(*issued) != turn);
            }
            if let Some(strand) = room.strand(&own.walk) {
                strand.walk.give_back(own.id);
            }
        }
    }
}

impl Transaction<'_> {
    /// Writes what changed in walks, but for those that another has by now.
    pub(crate) async fn write_steps(&self, steps: &[Step]) -> Result<()> {
        let claims = steps.iter().filter_map(|step| step.claim).collect();
        let lost = self.lost_claims(&claims).await?;
        let ours = steps.iter().filter(|step| step.claim.is_none_or(|claim| !lost.contains(&claim)));
        ours.into_iter().try_for_each(|step| step.write(self.tx))
    }

    /// What an answer to a walk does besides: to its host, and to the queue if its links are
    /// followed.
    pub(crate) async fn walked(
        &self,
        harvest: &Harvest<'_>,
        alone: bool,
        host: &mut Host,
        arrivals: &mut Arrivals,
    ) -> Result<Summary> {
        let Harvest { order, report, captures } = *harvest;
        match report.result {
            Fetch::Answer(_) => {
                host.failures = 0;
                host.backoff_until = None;
            }
            // As patient as the walk is with an id.
            Fetch::DnsFailed | Fetch::NoAnswer(ErrorKind::Connect | ErrorKind::Dns) => {
                host.failures = host.failures.saturating_add(1);
                host.backoff_until = self.cooldown(order).map(|cooldown| self.now.plus(cooldown));
            }
            Fetch::NoAnswer(_) | Fetch::RobotsDenied { .. } | Fetch::HostAsked | Fetch::Deferred { .. } => {}
        }
        // F36: what robots.txt denies was not asked for.
        if let Some(own) =
            order.walk.as_ref().filter(|_| !matches!(report.result, Fetch::RobotsDenied { .. }))
            && self.catalog().has_budgets()
        {
            let run = self.latest_run().await?;
            let profile = self.catalog().walk(&own.walk).map(|declared| declared.profile.clone());
            self.spend(order, report, run, profile.as_slice());
        }
        let Followed { added, left_out } = self.follow_walk(order, report, alone, arrivals).await?;
        Ok(Summary { captured: !captures.is_empty(), added, left_out, ..Summary::default() })
    }

    fn cooldown(&self, order: &Order) -> Option<policy::time::Span> {
        let walk = order.walk.as_ref()?;
        self.catalog().walk(&walk.walk).map(|declared| declared.settings.cooldown())
    }

    /// That of the last start.
    pub(crate) async fn latest_run(&self) -> Result<u64> {
        Ok(COUNTERS.get(self.tx, (RUN,)).await?.unwrap_or(0))
    }

    async fn follow_walk(
        &self,
        order: &Order,
        report: &Report,
        alone: bool,
        arrivals: &mut Arrivals,
    ) -> Result<Followed> {
        if report.existence != Some(Outcome::Exists) || self.catalog().seed(&order.seed).is_none() {
            return Ok(Followed::default());
        }
        let page = Page {
            seed: &order.seed,
            position: Position::default(),
            run: self.latest_run().await?,
            collection: &order.collection,
            own_url: Some(order.url.as_str()),
            claimed: Via::Start,
            dates: None,
        };
        self.follow_fitting(&page, report.links_within(order), alone, arrivals).await
    }
}
