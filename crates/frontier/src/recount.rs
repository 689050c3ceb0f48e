//! The counters worked out anew from the tables they count: what the audit compares them with.
//! (What gives a store its first ones, which never had any, is [`crate::upgrade`].)

use std::collections::BTreeMap;

use policy::contract::Owed;
use policy::model::Record;
use store::{Result, Tx};

use crate::check::{Finding, all};
use crate::counts::{ALL_DOMAINS, Counted, unstriped};
use crate::schema::{
    CAPTURES, CHARGED, CONTRACT, Charged, DEMAND, HOURS, OPEN, Promises, RUN_URLS, RunUrls, TOTALS, TRAFFIC,
    Totals, Traffic, URL_COUNTS, UrlCounts, UrlState,
};
use crate::transaction::stored_url;

/// What does not agree: each counter with what the tables say.
pub(crate) async fn differences(
    tx: &Tx,
    urls: &BTreeMap<(String, String), UrlState>,
) -> Result<Vec<Finding>> {
    let mut counted = Counted::default();
    for ((collection, url), state) in urls {
        counted.url(collection, &stored_url(url)?, state, 1);
    }
    for ((collection, ..), _) in all(tx, &CAPTURES).await? {
        counted.captured(&collection, 1);
    }
    let mut findings = Vec::new();
    let mut stored: BTreeMap<String, UrlCounts> = BTreeMap::new();
    for ((collection, _), counts) in all(tx, &URL_COUNTS).await? {
        stored.entry(collection).or_default().merge(&counts);
    }
    compare("URLs", &stored, &counted.urls, &mut findings);
    let mut stored: BTreeMap<(u64, String), RunUrls> = BTreeMap::new();
    for ((run, collection, _), urls) in all(tx, &RUN_URLS).await? {
        stored.entry((run, collection)).or_default().merge(&urls);
    }
    compare("runs", &stored, &counted.run_urls, &mut findings);
    let mut stored: BTreeMap<u64, Charged> = BTreeMap::new();
    for ((holder, _), charged) in all(tx, &CHARGED).await? {
        stored.entry(holder).or_default().merge(&charged);
    }
    compare("budgets", &stored, &counted.charged, &mut findings);
    compare("demand", &all(tx, &DEMAND).await?.into_iter().collect(), &counted.demand, &mut findings);
    let mut stored = BTreeMap::new();
    for ((level, moment, profile, every, domain), count) in all(tx, &OPEN).await? {
        let key = (level, moment, profile, every, unstriped(&domain).to_owned());
        *stored.entry(key).or_default() += count;
    }
    compare("open promises", &stored, &counted.open, &mut findings);
    for ((_, url), state) in urls {
        if let UrlState::Queued(Record { owed: Owed::Promise(at), terms: None, .. }) = state {
            findings.push(format!("{url} is promised for {at} by nobody"));
        }
    }
    sums_agree(tx, &mut findings).await?;
    Ok(findings)
}

/// The sums over all domains, and those of all time.
async fn sums_agree(tx: &Tx, findings: &mut Vec<Finding>) -> Result<()> {
    let (mut by_domain, mut together) = (BTreeMap::new(), BTreeMap::new());
    let mut all_promises = Promises::default();
    for ((level, hour, profile, _, _), promises) in all(tx, &CONTRACT).await? {
        let sums: &mut BTreeMap<_, Promises> = match level {
            ALL_DOMAINS => &mut together,
            _ => &mut by_domain,
        };
        sums.entry((hour, profile)).or_default().merge(&promises);
        if level == ALL_DOMAINS {
            all_promises.merge(&promises);
        }
    }
    compare("the contract of all domains", &together, &by_domain, findings);
    let (mut by_domain, mut together) = (BTreeMap::new(), BTreeMap::new());
    let mut all_traffic = Traffic::default();
    for ((hour, ..), traffic) in all(tx, &TRAFFIC).await? {
        by_domain.entry(hour).or_insert_with(Traffic::default).merge(&traffic);
        all_traffic.merge(&traffic);
    }
    for ((hour, _), traffic) in all(tx, &HOURS).await? {
        together.entry(hour).or_insert_with(Traffic::default).merge(&traffic);
    }
    compare("the traffic of all domains", &together, &by_domain, findings);
    let mut totals = Totals::default();
    for (_, stripe) in all(tx, &TOTALS).await? {
        totals.merge(&stripe);
    }
    if totals != (Totals { traffic: all_traffic, promises: all_promises }) {
        findings.push("the counters of all time are not the sum of all hours".to_owned());
    }
    Ok(())
}

fn compare<K: Ord + std::fmt::Debug, V: Default + PartialEq + std::fmt::Debug>(
    what: &str,
    stored: &BTreeMap<K, V>,
    counted: &BTreeMap<K, V>,
    findings: &mut Vec<Finding>,
) {
    let nothing = V::default();
    for key in stored.keys().chain(counted.keys().filter(|key| !stored.contains_key(*key))) {
        let (is, should) = (stored.get(key).unwrap_or(&nothing), counted.get(key).unwrap_or(&nothing));
        if is != should {
            findings.push(format!("counters of {what}: {key:?} has {is:?} instead of {should:?}"));
        }
    }
}
