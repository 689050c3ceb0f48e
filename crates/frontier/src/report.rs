//! Reports (F31–F33): sums over the statistics, and what the queue says about now and what is possible.

use std::collections::{BTreeMap, HashMap};

use policy::model::Politeness;
use policy::schedule::politeness_delay;
use policy::standing::Subject;
use policy::time::{Span, Time};
use store::{Order, Result, Tx};

use crate::Frontier;
use crate::desk::stored_url;
use crate::schema::{CONTRACT, HOSTS, Host, Lateness, QUEUE, TRAFFIC, Traffic, URLS, UrlState};
use crate::stats::bucket;

const PAGE: usize = 5000;
/// URLs of a host whose frequency is looked up; the rest is taken to be like them.
const SAMPLE: usize = 200;
const DAY: Span = Span::days(1);

/// F31: how a profile's promise was kept in one hour and domain.
#[derive(Clone, Debug, PartialEq)]
pub struct ContractRow {
    pub profile: String,
    pub hour: Time,
    pub domain: String,
    pub lateness: Lateness,
}

/// F31: the state of the queue now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverdueCount {
    pub collection: String,
    pub queued: u64,
    pub never_harvested: u64,
    /// Due for longer than what still counts as on time.
    pub overdue: u64,
}

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
    /// By profile, hour and domain, from `since` on.
    pub async fn contract(&self, since: Time) -> Result<Vec<ContractRow>> {
        let tx = self.store.begin().await?;
        let mut sums: BTreeMap<(String, Time, String), Lateness> = BTreeMap::new();
        let mut rest = Some(CONTRACT.range(()));
        while let Some(range) = rest {
            let page = CONTRACT.scan(&tx, &range, PAGE, Order::Forward).await?;
            for ((profile, hour, domain, _), lateness) in page.rows {
                if Time(hour) >= bucket(since) {
                    sums.entry((profile, Time(hour), domain)).or_default().merge(&lateness);
                }
            }
            rest = page.rest;
        }
        let rows = sums.into_iter();
        Ok(rows
            .map(|((profile, hour, domain), lateness)| ContractRow { profile, hour, domain, lateness })
            .collect())
    }

    /// By hour and domain, from `since` on.
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

    /// Counts the queue; reads all of it.
    pub async fn overdue(&self) -> Result<Vec<OverdueCount>> {
        let tx = self.store.begin().await?;
        self.declared.catch_up(&tx).await?;
        let on_time = self.declared.catalog.read().settings().on_time;
        let now = self.clock.now();
        let mut counts: BTreeMap<String, OverdueCount> = BTreeMap::new();
        let mut rest = Some(URLS.range(()));
        while let Some(range) = rest {
            let page = URLS.scan(&tx, &range, PAGE, Order::Forward).await?;
            for ((collection, _), state) in page.rows {
                let UrlState::Queued(record) = state else { continue };
                let count = counts.entry(collection).or_default();
                count.queued += 1;
                count.never_harvested += u64::from(record.last.is_none());
                count.overdue += u64::from(record.due.plus(on_time) < now);
            }
            rest = page.rest;
        }
        Ok(counts.into_iter().map(|(collection, count)| OverdueCount { collection, ..count }).collect())
    }

    /// F33 for every host or group with URLs, the most loaded first.
    pub async fn feasibility(&self) -> Result<Vec<FeasibilityRow>> {
        let tx = self.store.begin().await?;
        self.declared.catch_up(&tx).await?;
        let mut units: HashMap<String, (Demand, Politeness, Span, Option<Span>)> = HashMap::new();
        let mut rest = Some(HOSTS.range(()));
        while let Some(range) = rest {
            let page = HOSTS.scan(&tx, &range, PAGE, Order::Forward).await?;
            for ((name,), host) in page.rows {
                let demand = self.demand(&tx, &name, &host).await?;
                let catalog = self.declared.catalog.read();
                let unit = catalog.group_of(&name).map_or(name.as_str(), |group| &group.name).to_owned();
                let politeness = catalog.politeness(&name).clone();
                let entry = units.entry(unit).or_insert((Demand::default(), politeness, Span::ZERO, None));
                entry.0.urls += demand.urls;
                entry.0.per_day += demand.per_day;
                entry.2 = entry.2.max(host.slots.response_time);
                entry.3 = entry.3.max(host.crawl_delay);
            }
            rest = page.rest;
        }
        let mut rows: Vec<FeasibilityRow> = units
            .into_iter()
            .map(|(unit, (demand, politeness, response, crawl_delay))| {
                let delay = politeness_delay(response, &politeness, crawl_delay, None);
                FeasibilityRow {
                    unit,
                    urls: demand.urls,
                    wanted_per_day: demand.per_day,
                    possible_per_day: possible_per_day(delay, response, politeness.parallel),
                    delay,
                }
            })
            .collect();
        rows.sort_by(|a, b| b.load().total_cmp(&a.load()).then_with(|| a.unit.cmp(&b.unit)));
        Ok(rows)
    }

    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    async fn demand(&self, tx: &Tx, name: &str, host: &Host) -> Result<Demand> {
        let mut urls = 0u64;
        let mut sample = Vec::new();
        let mut rest = Some(QUEUE.range_from((name,), (name, host.head.0)));
        while let Some(range) = rest {
            let page = QUEUE.scan(tx, &range, PAGE, Order::Forward).await?;
            urls += page.rows.len() as u64;
            let room = SAMPLE - sample.len().min(SAMPLE);
            sample.extend(
                page.rows.into_iter().take(room).map(|((_, _, collection, url), ())| (collection, url)),
            );
            rest = page.rest;
        }
        let states = URLS.multi_get(tx, sample.iter().map(|(c, u)| (c.as_str(), u.as_str()))).await?;
        let catalog = self.declared.catalog.read();
        let mut per_day = 0.0;
        for ((collection, url), state) in sample.iter().zip(&states) {
            let Some(UrlState::Queued(record)) = state else { continue };
            let url = stored_url(url)?;
            let subject = Subject { catalog: &catalog, collection, url: &url };
            if let Some(every) = subject.standing_with(&record.seed, record.position, record.cycles).every {
                per_day += DAY.0 as f64 / every.0.max(1) as f64;
            }
        }
        let scale = if sample.is_empty() { 0.0 } else { urls as f64 / sample.len() as f64 };
        Ok(Demand { urls, per_day: per_day * scale })
    }
}

#[derive(Default)]
struct Demand {
    urls: u64,
    per_day: f64,
}

/// Requests begin at least a delay apart, and each of `parallel` slots is taken for the delay and the response.
#[allow(clippy::cast_precision_loss, reason = "an estimate")]
pub(crate) fn possible_per_day(delay: Span, response: Span, parallel: u32) -> f64 {
    let day = DAY.0 as f64;
    let by_slots = day * f64::from(parallel.max(1)) / (delay.0 + response.0).max(1) as f64;
    if delay == Span::ZERO { by_slots } else { by_slots.min(day / delay.0 as f64) }
}
