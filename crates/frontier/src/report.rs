//! Reports (F32, F33) and figures (I7): sums over the counters. None of them reads the queue.

use std::collections::{BTreeMap, HashMap};

use policy::changes::Changes;
use policy::hours::Week;
use policy::model::Politeness;
use policy::rhythm::Rhythm;
use policy::schedule::politeness_delay;
use policy::time::{Span, Time};
use store::{Order, Result};

use crate::Frontier;
use crate::counts::{LATEST_KEPT, demanded};
use crate::schema::{
    DEMAND, HOSTS, HOURS, LATEST, Latest, TOTALS, TRAFFIC, Totals, Traffic, URL_COUNTS, UrlCounts,
};
use crate::stats::bucket;

const PAGE: usize = 5000;
const DAY: Span = Span::days(1);

/// F32: one domain in one hour.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainRow {
    pub hour: Time,
    pub domain: String,
    pub traffic: Traffic,
}

/// F33: what is asked of a host, and what its politeness allows.
#[derive(Clone, Debug, PartialEq)]
pub struct FeasibilityRow {
    /// The host, or its group.
    pub unit: String,
    pub urls: u64,
    /// Harvests a day that the frequencies of its URLs add up to.
    pub wanted_per_day: f64,
    /// Harvests a day that its politeness has room for.
    pub possible_per_day: f64,
    /// The delay this was computed with.
    pub delay: Span,
}

impl FeasibilityRow {
    pub fn load(&self) -> f64 {
        if self.possible_per_day > 0.0 { self.wanted_per_day / self.possible_per_day } else { f64::INFINITY }
    }
}

impl Frontier {
    /// By hour and domain, from `since` on.
    #[crate::boxed]
    pub async fn traffic(&self, since: Time) -> Result<Vec<DomainRow>> {
        let tx = self.store.begin().await?;
        let mut sums: BTreeMap<(Time, String), Traffic> = BTreeMap::new();
        let mut rest = Some(TRAFFIC.range_from((), (bucket(since).0,)));
        while let Some(range) = rest {
            let page = TRAFFIC.scan(&tx, &range, PAGE, Order::Forward).await?;
            for ((hour, domain, _), traffic) in page.rows {
                sums.entry((Time(hour), domain)).or_default().merge(&traffic);
            }
            rest = page.rest;
        }
        Ok(sums.into_iter().map(|((hour, domain), traffic)| DomainRow { hour, domain, traffic }).collect())
    }

    /// By hour, of all domains together, from `since` on.
    #[crate::boxed]
    pub async fn traffic_by_hour(&self, since: Time) -> Result<BTreeMap<Time, Traffic>> {
        let tx = self.store.begin().await?;
        let mut sums: BTreeMap<Time, Traffic> = BTreeMap::new();
        let mut rest = Some(HOURS.range_from((), (bucket(since).0,)));
        while let Some(range) = rest {
            let page = HOURS.scan(&tx, &range, PAGE, Order::Forward).await?;
            for ((hour, _), traffic) in page.rows {
                sums.entry(Time(hour)).or_default().merge(&traffic);
            }
            rest = page.rest;
        }
        Ok(sums)
    }

    /// Everything since the store was made.
    #[crate::boxed]
    pub async fn totals(&self) -> Result<Totals> {
        let tx = self.store.begin().await?;
        let mut sum = Totals::default();
        let mut rest = Some(TOTALS.range(()));
        while let Some(range) = rest {
            let page = TOTALS.scan(&tx, &range, PAGE, Order::Forward).await?;
            page.rows.iter().for_each(|(_, totals)| sum.merge(totals));
            rest = page.rest;
        }
        Ok(sum)
    }

    /// The last harvests, the latest first.
    #[crate::boxed]
    pub async fn latest(&self, limit: usize) -> Result<Vec<(Time, Latest)>> {
        let tx = self.store.begin().await?;
        let page = LATEST.scan(&tx, &LATEST.range(()), limit, Order::Backward).await?;
        Ok(page.rows.into_iter().map(|((at, _), row)| (Time(at), row)).collect())
    }

    /// What processes that are gone have left of theirs goes: so many nodes keep so many rows.
    pub(crate) async fn trim_latest(&self, nodes: usize) -> Result<()> {
        let kept = LATEST_KEPT * nodes.max(1);
        let trim = self.store.transact_idempotent(|tx| async move {
            let page = LATEST.scan(&tx, &LATEST.range(()), kept + PAGE, Order::Backward).await?;
            page.rows.iter().skip(kept).try_for_each(|((at, lease), _)| LATEST.delete(&tx, (*at, *lease)))
        });
        trim.await
    }

    /// How many URLs are in which state, by collection.
    #[crate::boxed]
    pub async fn url_counts(&self) -> Result<BTreeMap<String, UrlCounts>> {
        let tx = self.store.begin().await?;
        let mut sums: BTreeMap<String, UrlCounts> = BTreeMap::new();
        let mut rest = Some(URL_COUNTS.range(()));
        while let Some(range) = rest {
            let page = URL_COUNTS.scan(&tx, &range, PAGE, Order::Forward).await?;
            for ((collection, _), counts) in page.rows {
                sums.entry(collection).or_default().merge(&counts);
            }
            rest = page.rest;
        }
        Ok(sums)
    }

    /// F33 for every host or group with URLs, the most loaded first.
    #[crate::boxed]
    pub async fn feasibility(&self) -> Result<Vec<FeasibilityRow>> {
        let mut demands = self.demands().await?;
        let tx = self.store.begin().await?;
        let mut units: HashMap<String, (Demand, Politeness, Span, Option<Span>)> = HashMap::new();
        let mut weeks: HashMap<String, Week> = HashMap::new();
        let mut rest = Some(HOSTS.range(()));
        while let Some(range) = rest {
            let page = HOSTS.scan(&tx, &range, PAGE, Order::Forward).await?;
            let catalog = self.declared.catalog.read();
            for ((name,), host) in page.rows {
                let demand = demands.remove(&name).unwrap_or_default();
                let unit = catalog.group_of(&name).map_or(name.as_str(), |group| &group.name).to_owned();
                let politeness = catalog.politeness(&name).clone();
                let entry = units.entry(unit).or_insert((Demand::default(), politeness, Span::ZERO, None));
                for profile in demand.per_day.keys().filter_map(|name| catalog.profile(name)) {
                    weeks.entry(profile.name.clone()).or_insert_with(|| profile.hours().week());
                }
                entry.0.add(demand);
                entry.2 = entry.2.max(host.slots.response_time);
                entry.3 = entry.3.max(host.crawl_delay);
            }
            rest = page.rest;
        }
        let mut rows: Vec<FeasibilityRow> = units
            .into_iter()
            .map(|(unit, (demand, politeness, response, crawl_delay))| {
                let delay = politeness_delay(response, &politeness, crawl_delay, None);
                let possible = possible_per_day(delay, response, politeness.parallel);
                let (wanted, share) = demand.tightest(&politeness.hours().week(), &weeks);
                FeasibilityRow {
                    unit,
                    urls: demand.urls,
                    wanted_per_day: wanted,
                    possible_per_day: possible * share,
                    delay,
                }
            })
            .collect();
        rows.sort_by(|a, b| b.load().total_cmp(&a.load()).then_with(|| a.unit.cmp(&b.unit)));
        Ok(rows)
    }

    /// What the queued URLs of each host ask of it, by the frequencies that are declared now.
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    async fn demands(&self) -> Result<HashMap<String, Demand>> {
        let tx = self.store.begin().await?;
        self.declared.catch_up(&tx).await?;
        let mut demands: HashMap<String, Demand> = HashMap::new();
        let mut rates: HashMap<String, f64> = HashMap::new();
        let mut rest = Some(DEMAND.range(()));
        while let Some(range) = rest {
            let page = DEMAND.scan(&tx, &range, PAGE, Order::Forward).await?;
            let catalog = self.declared.catalog.read();
            for ((host, profile, _), count) in page.rows {
                let demand = demands.entry(host).or_default();
                demand.urls = demand.urls.saturating_add_signed(count);
                let (name, every) = demanded(&profile);
                let Some(own) = catalog.profile(name).filter(|own| own.active) else { continue };
                let rate = *rates.entry(profile.clone()).or_insert_with(|| {
                    let every = every.unwrap_or_else(|| own.frequency(&Changes::default()));
                    Rhythm::in_force(own, every).per_day()
                });
                *demand.per_day.entry(name.to_owned()).or_default() += count as f64 * rate;
            }
            rest = page.rest;
        }
        Ok(demands)
    }
}

/// What is asked of a host, or of a group.
#[derive(Clone, Default)]
struct Demand {
    urls: u64,
    /// Harvests a day, by profile.
    per_day: BTreeMap<String, f64>,
}

impl Demand {
    fn add(&mut self, other: Demand) {
        self.urls += other.urls;
        for (profile, per_day) in other.per_day {
            *self.per_day.entry(profile).or_default() += per_day;
        }
    }

    /// F38: what is wanted, and the share of the time in which it can be had. With windows that is all
    /// of it in the time that any of the profiles has, or what one of them wants in its own time:
    /// whichever is tighter.
    fn tightest(&self, host: &Week, weeks: &HashMap<String, Week>) -> (f64, f64) {
        let mut together: Option<Week> = None;
        let mut tightest = (0.0, 0.0);
        let load = |(wanted, share): (f64, f64)| if wanted > 0.0 { wanted / share } else { 0.0 };
        for (profile, wanted) in &self.per_day {
            let Some(week) = weeks.get(profile) else { continue };
            let own = (*wanted, week.clone().and(host).share());
            if load(own) > load(tightest) {
                tightest = own;
            }
            together = Some(together.take().map_or_else(|| week.clone(), |sum| sum.or(week)));
        }
        let share = together.map_or_else(|| host.share(), |sum| sum.and(host).share());
        let all = (self.per_day.values().sum(), share);
        if load(tightest) > load(all) { tightest } else { all }
    }
}

/// Requests begin at least a delay apart, and each of `parallel` slots is taken for the delay and
/// the response.
#[allow(clippy::cast_precision_loss, reason = "an estimate")]
pub(crate) fn possible_per_day(delay: Span, response: Span, parallel: u32) -> f64 {
    let day = DAY.0 as f64;
    let by_slots = day * f64::from(parallel.max(1)) / (delay.0 + response.0).max(1) as f64;
    if delay == Span::ZERO { by_slots } else { by_slots.min(day / delay.0 as f64) }
}
