//! The frequency contract as it stands (F31): what was settled, and what the open promises have
//! come to by now.
//!
//! `CONTRACT` has what harvests settled. What nobody has tried since (its host backs off, nothing
//! runs, there is too much to do) is still open in `OPEN`, and a promise there whose next one has
//! fallen due is missed all the same: so is one of a site that never answers, while it does not.
//! Both are counters; the queue is not read.

use std::collections::BTreeMap;

use policy::catalog::Catalog;
use policy::contract::{Missed, missed_in};
use policy::rhythm::Rhythm;
use policy::time::{Span, Time};
use store::{Order, Result, Tx};

use crate::Frontier;
use crate::counts::{ALL_DOMAINS, BY_DOMAIN, moment_width, unstriped};
use crate::schema::{CONTRACT, OPEN, Promises};
use crate::stats::{BUCKET, bucket};

const PAGE: usize = 5000;
/// Hours that open promises are spread over: more than a report can be asked for.
const HOURS_MAX: u64 = 20_000;

/// What became of promises, and what is still to become of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contract {
    /// With what was missed by now, settled or not.
    pub promises: Promises,
    /// Fallen due, and neither kept nor missed yet.
    pub open: u64,
    /// Of those, and of those from before the report begins, the ones that can only be kept late.
    pub overdue: u64,
}

/// In one hour, of one profile, and of one domain (or of all: then it has no name).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractRow {
    pub profile: String,
    pub hour: Time,
    pub domain: String,
    pub contract: Contract,
}

impl Contract {
    pub fn merge(&mut self, other: &Contract) {
        self.promises.merge(&other.promises);
        self.open += other.open;
        self.overdue += other.overdue;
    }

    /// All that fell due.
    pub fn promised(&self) -> u64 {
        self.promises.on_time + self.promises.late + self.promises.missed + self.open
    }

    /// Those of which it is known whether they were on time.
    pub fn decided(&self) -> u64 {
        self.promises.on_time + self.promises.late + self.promises.missed + self.overdue
    }

    /// The share on time of those of which it is known; none where there is none.
    #[allow(clippy::cast_precision_loss, reason = "a share, shown with a few digits")]
    pub fn share_on_time(&self) -> Option<f64> {
        let decided = self.decided();
        (decided > 0).then(|| self.promises.on_time as f64 / decided as f64)
    }

    pub fn is_empty(&self) -> bool {
        *self == Contract::default()
    }
}

type Sums = BTreeMap<(Time, String, String), Contract>;

impl Frontier {
    /// By hour, profile and domain, from `since` on.
    #[crate::boxed]
    pub async fn contract(&self, since: Time) -> Result<Vec<ContractRow>> {
        self.contract_at(BY_DOMAIN, since).await
    }

    /// By hour and profile: a few rows an hour, however many domains there are.
    #[crate::boxed]
    pub async fn contract_by_hour(&self, since: Time) -> Result<Vec<ContractRow>> {
        self.contract_at(ALL_DOMAINS, since).await
    }

    /// All of it in one.
    #[crate::boxed]
    pub async fn contract_sum(&self, since: Time) -> Result<Contract> {
        let mut sum = Contract::default();
        for row in self.contract_by_hour(since).await? {
            sum.merge(&row.contract);
        }
        Ok(sum)
    }

    async fn contract_at(&self, level: u8, since: Time) -> Result<Vec<ContractRow>> {
        let tx = self.store.begin().await?;
        self.declared.catch_up(&tx).await?;
        let since = bucket(since);
        let mut sums = settled(&tx, level, since).await?;
        let mut rest = Some(OPEN.range_before((level,), (level, self.clock.now().0.saturating_add(1))));
        // Stripes of one moment may come one after the other, and one may be below nothing.
        let mut stripes: Stripes = None;
        loop {
            let page = match rest {
                Some(range) => Some(OPEN.scan(&tx, &range, PAGE, Order::Forward).await?),
                None => None,
            };
            let catalog = self.declared.catalog.read();
            let open = Opening { catalog: &catalog, since, now: self.clock.now() };
            let Some(page) = page else {
                open.add_all(&mut sums, stripes);
                break;
            };
            for ((_, moment, profile, every, domain), count) in page.rows {
                let key = (moment, every, (profile, unstriped(&domain).to_owned()));
                match &mut stripes {
                    Some((before, sum)) if *before == key => *sum += count,
                    _ => open.add_all(&mut sums, stripes.replace((key, count))),
                }
            }
            rest = page.rest;
        }
        let row = |((hour, profile, domain), contract)| ContractRow { profile, hour, domain, contract };
        Ok(sums.into_iter().map(row).collect())
    }
}

async fn settled(tx: &Tx, level: u8, since: Time) -> Result<Sums> {
    let mut sums = Sums::new();
    let mut rest = Some(CONTRACT.range_from((level,), (level, since.0)));
    while let Some(range) = rest {
        let page = CONTRACT.scan(tx, &range, PAGE, Order::Forward).await?;
        for ((_, hour, profile, domain, _), promises) in page.rows {
            sums.entry((Time(hour), profile, domain)).or_default().promises.merge(&promises);
        }
        rest = page.rest;
    }
    Ok(sums)
}

/// Moment, frequency, profile and domain, and how many are open.
type Stripes = Option<((i64, u64, (String, String)), i64)>;

/// Looks at open promises.
struct Opening<'a> {
    catalog: &'a Catalog,
    since: Time,
    now: Time,
}

impl Opening<'_> {
    fn add_all(&self, sums: &mut Sums, stripes: Stripes) {
        if let Some(((moment, every, whose), count)) = stripes
            && let Ok(count) = u64::try_from(count)
        {
            self.add(sums, Time(moment), Span(every), &whose, count);
        }
    }

    /// So many open promises that lie in the same moment.
    fn add(&self, sums: &mut Sums, moment: Time, every: Span, whose: &(String, String), count: u64) {
        // Fallen due when the moment is over.
        let due = moment.plus(Span(moment_width(every).0 - 1));
        if due > self.now || !self.is_made_by(&whose.0) {
            return;
        }
        let mut at = |hour: Time, change: &dyn Fn(&mut Contract)| {
            let (profile, domain) = whose.clone();
            change(sums.entry((hour.max(self.since), profile, domain)).or_default());
        };
        let profile = self.catalog.profile(&whose.0).filter(|profile| profile.is_timed());
        if let Some(profile) = profile {
            return self.add_timed(&Rhythm::in_force(profile, every), moment, due, whose, count, sums);
        }
        let missed = Missed::up_to(due, every, self.now);
        let open = missed.next(due);
        let shown = Missed { first: moment, ..missed }.from(self.since);
        for (hour, missed) in shown.spread(BUCKET, HOURS_MAX) {
            at(hour, &|contract| contract.promises.missed += missed * count);
        }
        let is_overdue = open.plus(self.catalog.settings().on_time) < self.now;
        let hour = bucket(Time(open.0 - due.0 + moment.0));
        if hour >= self.since {
            at(hour, &|contract| contract.open += count);
        }
        if is_overdue {
            at(hour, &|contract| contract.overdue += count);
        }
    }

    /// F38: the same where one is not as far from the next as another.
    fn add_timed(
        &self,
        rhythm: &Rhythm<'_>,
        moment: Time,
        due: Time,
        whose: &(String, String),
        count: u64,
        sums: &mut Sums,
    ) {
        let (missed, open) = missed_in(rhythm, due, self.now);
        let since = self.since;
        let mut add = |hour: Time, change: &dyn Fn(&mut Contract)| {
            let (profile, domain) = whose.clone();
            change(sums.entry((hour.max(since), profile, domain)).or_default());
        };
        let shown = |time: Time| bucket(if time == due { moment } else { time });
        for time in missed.into_iter().filter(|time| *time >= self.since) {
            add(shown(time), &|contract| contract.promises.missed += count);
        }
        if shown(open) >= self.since {
            add(shown(open), &|contract| contract.open += count);
        }
        if open.plus(self.catalog.settings().on_time) < self.now {
            add(shown(open), &|contract| contract.overdue += count);
        }
    }

    /// A promise stands only while an active profile makes it.
    fn is_made_by(&self, profile: &str) -> bool {
        let profile = self.catalog.profile(profile).filter(|profile| profile.active);
        let collection = profile.and_then(|profile| self.catalog.collection(&profile.collection));
        collection.is_some_and(|collection| collection.active)
    }
}
