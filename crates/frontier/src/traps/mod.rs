//! Traps (F37): what is suspected of hosts, what is held back, and what somebody decides.
//!
//! What is known of a host in a collection ([`policy::trap::Sense`]) lives in memory ([`senses`]): a
//! host belongs to a shard, so only this node harvests from it. It learns after each commit, from
//! what was committed. Now and then it is written, in the transaction of a later harvest of the host
//! ([`SENSES`]), so that a restart or another node takes up what was learned; a crash forgets a few
//! harvests, which costs nothing but time. Suspicions themselves are rows ([`TRAPS`]); those that are
//! open are in memory in short, under a version that every reservation compares, as with
//! [pauses](crate::pause).
//!
//! Who finds a URL due that its profiles hold ([`Transaction::hold_suspected`]) puts it back into the
//! queue, a day ahead, and notes it in [`HELD`]: it stays queued with all that is known of it, and
//! nothing is lost. Whoever decides brings back what is noted there, and evaluation says of each what
//! is true by then. A note that was forgotten costs a day: then the URL is looked at anyway. A note
//! may outlive its URL, which was removed otherwise; it is dropped when they are brought back.

mod decide;
mod senses;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use policy::Rule;
use policy::evaluate::Plan;
use policy::model::Record;
use policy::scope::Pattern;
use policy::standing::Subject;
use policy::time::{Span, Time};
use policy::trap::{Decision, FOUND_MAX, Kind, Observed, SUSPICIONS_MAX, Suspicion, is_held};
use policy::url::CrawlUrl;
use store::{Durability, Order, Result, Tx};

use crate::Frontier;
use crate::complete::{Harvest, Summary};
use crate::schema::{COUNTERS, HELD, SENSES, TRAPS};
use crate::transaction::{Arrivals, Transaction};

pub use decide::Trap;
use senses::{Known, Senses};

/// Suspicions that there are at once: beyond them, none is added.
pub const TRAPS_MAX: usize = 10_000;
const VERSION: &str = "traps";
/// When what is held is looked at again, should nobody decide before.
const LOOK_AGAIN: Span = Span::days(1);
/// Expressions kept ready.
const COMPILED_MAX: usize = 128;
/// New URLs noted in a transaction.
const NEW_MAX: usize = 20_000;

/// A host in a collection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct HostKey {
    pub(crate) host: String,
    pub(crate) collection: String,
}

/// A suspicion by its names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrapKey {
    pub host: String,
    pub collection: String,
    pub id: String,
}

/// A URL that a page brought of its own host, and that was not known.
#[derive(Clone, Debug)]
pub(crate) struct NewUrl {
    page: String,
    url: CrawlUrl,
    /// Those of the page before it.
    nth: usize,
}

/// An open suspicion in short.
#[derive(Clone, Debug)]
pub(crate) struct Brief {
    id: String,
    kind: Kind,
    template: String,
    pattern: String,
}

#[derive(Default)]
pub(crate) struct Traps {
    senses: Mutex<Senses>,
    open: RwLock<BTreeMap<HostKey, Vec<Brief>>>,
    version: AtomicU64,
    compiled: Mutex<HashMap<String, Option<Pattern>>>,
}

impl std::fmt::Debug for Traps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Traps").field("version", &self.version).finish_non_exhaustive()
    }
}

impl Brief {
    fn of(id: &str, suspicion: &Suspicion) -> Brief {
        Brief {
            id: id.to_owned(),
            kind: suspicion.kind,
            template: suspicion.template.clone(),
            pattern: suspicion.remedy.pattern().to_owned(),
        }
    }

    pub(crate) fn says(&self) -> String {
        format!("suspected to be a trap ({}): {}, `{}`", self.id, self.kind.says(), self.template)
    }

    pub(crate) fn ways_out(&self) -> String {
        format!("`skurd traps release {0}` or `skurd traps exclude {0}`", self.id)
    }
}

impl Traps {
    /// Brings memory up to what this transaction's snapshot says.
    pub(crate) async fn catch_up(&self, tx: &Tx) -> Result<()> {
        let version = COUNTERS.get(tx, (VERSION,)).await?.unwrap_or(0);
        if version <= self.version.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut read: BTreeMap<HostKey, Vec<Brief>> = BTreeMap::new();
        for (key, suspicion) in all(tx).await? {
            if suspicion.decision == Decision::Open {
                let host = HostKey { host: key.host, collection: key.collection };
                read.entry(host).or_default().push(Brief::of(&key.id, &suspicion));
            }
        }
        let mut open = self.open.write();
        if version > self.version.load(Ordering::Acquire) {
            *open = read;
            self.version.store(version, Ordering::Release);
        }
        Ok(())
    }

    /// The open suspicion that this URL falls under.
    pub(crate) fn suspicion_of(&self, collection: &str, url: &CrawlUrl) -> Option<Brief> {
        let open = self.open.read();
        if open.is_empty() {
            return None;
        }
        let key = HostKey { host: url.site().to_owned(), collection: collection.to_owned() };
        open.get(&key)?.iter().find(|brief| self.matches(&brief.pattern, url)).cloned()
    }

    fn matches(&self, pattern: &str, url: &CrawlUrl) -> bool {
        let mut compiled = self.compiled.lock();
        if !compiled.contains_key(pattern) {
            if compiled.len() >= COMPILED_MAX {
                compiled.clear();
            }
            compiled.insert(pattern.to_owned(), Pattern::regex(pattern).ok());
        }
        compiled.get(pattern).and_then(Option::as_ref).is_some_and(|pattern| pattern.matches(url))
    }

    /// What the hosts of these harvests have learned since it was last written, where that is enough.
    pub(crate) fn unwritten(&self, harvests: &[Harvest<'_>]) -> Vec<(HostKey, policy::trap::Sense)> {
        self.senses.lock().unwritten(harvests.iter().map(key_of))
    }
}

fn key_of(harvest: &Harvest<'_>) -> HostKey {
    HostKey { host: harvest.order.host.clone(), collection: harvest.order.collection.clone() }
}

/// All suspicions.
async fn all(tx: &Tx) -> Result<Vec<(TrapKey, Suspicion)>> {
    let mut rows = Vec::new();
    let mut rest = Some(TRAPS.range(()));
    while let Some(range) = rest.take()
        && rows.len() < TRAPS_MAX
    {
        let page = TRAPS.scan(tx, &range, TRAPS_MAX - rows.len(), Order::Forward).await?;
        let named = |((host, collection, id), suspicion)| (TrapKey { host, collection, id }, suspicion);
        rows.extend(page.rows.into_iter().map(named));
        rest = page.rest;
    }
    Ok(rows)
}

async fn changed(tx: &Tx) -> Result<()> {
    let version = COUNTERS.lock(tx, (VERSION,)).await?.unwrap_or(0);
    COUNTERS.put(tx, (VERSION,), &(version + 1))
}

impl Frontier {
    /// Learns from harvests that are committed. What is suspected now is told with the last harvest of
    /// its host. That a suspicion could not be written is no fault of the harvest, which is done: it
    /// is found again.
    pub(crate) async fn learn(
        &self,
        harvests: &[Harvest<'_>],
        found: Vec<NewUrl>,
        summaries: &mut [Summary],
    ) {
        let mut by_page: HashMap<String, Vec<CrawlUrl>> = HashMap::new();
        for new in found {
            by_page.entry(new.page).or_default().push(new.url);
        }
        for (harvest, summary) in harvests.iter().zip(summaries) {
            let Harvest { order, report, .. } = harvest;
            let found = by_page.remove(order.url.as_str()).unwrap_or_default();
            if order.walk.is_some() || (report.text.is_none() && found.is_empty()) {
                continue;
            }
            let Ok(mut known) = self.known(harvest).await else { continue };
            let seen = Observed {
                url: &order.url,
                text: report.text.as_ref(),
                found: &found,
                run: order.run,
                at: report.at,
            };
            let suspected = known.observe(&seen);
            let key = key_of(harvest);
            if !suspected.is_empty()
                && let Ok(told) = self.suspect(&key, &suspected, &known).await
            {
                summary.suspected = told;
            }
            self.traps.senses.lock().put(key, known);
        }
    }

    /// What is known of the harvest's host: in memory, or as it was last written.
    async fn known(&self, harvest: &Harvest<'_>) -> Result<Known> {
        let key = key_of(harvest);
        let claim = harvest.order.claim;
        if let Some(known) = self.traps.senses.lock().take(&key, claim) {
            return Ok(known);
        }
        let row = SENSES.get(&self.store.begin().await?, (&key.host, &key.collection)).await?;
        Ok(Known::new(row.unwrap_or_default().restored(), claim))
    }

    /// Writes what is suspected; returns what is new, or larger than when it was last told.
    async fn suspect(&self, key: &HostKey, suspected: &[Suspicion], known: &Known) -> Result<Vec<Suspicion>> {
        if self.traps.open.read().len() >= TRAPS_MAX {
            return Ok(Vec::new());
        }
        let write = self.store.transact_idempotent(|tx| async move {
            tx.set_durability(Durability::Relaxed);
            let range = TRAPS.range((key.host.as_str(), key.collection.as_str()));
            let before = TRAPS.scan(&tx, &range, SUSPICIONS_MAX, Order::Forward).await?.rows;
            let mut told = Vec::new();
            for suspicion in suspected {
                let id = suspicion.id();
                let own = before.iter().find(|((.., known), _)| *known == id).map(|(_, row)| row);
                let covered = || before.iter().any(|(_, row)| self.covers(row, suspicion));
                let row = match own {
                    Some(before) => suspicion.clone().renewed(before),
                    None if covered() || before.len() + told.len() >= SUSPICIONS_MAX => continue,
                    None => suspicion.clone(),
                };
                TRAPS.put(&tx, (&key.host, &key.collection, &id), &row)?;
                if row.decision == Decision::Open {
                    told.push(row);
                }
            }
            SENSES.put(&tx, (&key.host, &key.collection), known.sense())?;
            if !told.is_empty() {
                changed(&tx).await?;
            }
            Ok(told)
        });
        let told = write.await?;
        self.traps.catch_up(&self.store.begin().await?).await?;
        Ok(told)
    }

    /// Whether all of the one is under the other already.
    fn covers(&self, known: &Suspicion, new: &Suspicion) -> bool {
        let mut examples = new.examples.iter().filter_map(|url| CrawlUrl::from_normal(url.as_str()).ok());
        examples.all(|url| self.traps.matches(known.remedy.pattern(), &url))
    }
}

impl Transaction<'_> {
    /// A URL that a page brought and that was not known.
    pub(crate) fn note_new(&self, page: Option<&str>, url: &CrawlUrl) {
        let Some(page) = page else { return };
        let mut found = self.found.lock();
        let (nth, is_own) = match found.last().filter(|last| last.page == page) {
            Some(last) => (last.nth + 1, last.url.site() == url.site()),
            None => (0, CrawlUrl::from_normal(page).is_ok_and(|page| page.site() == url.site())),
        };
        if found.len() < NEW_MAX && nth < FOUND_MAX && is_own {
            found.push(NewUrl { page: page.to_owned(), url: url.clone(), nth });
        }
    }

    /// Whether what is suspected is held for these profiles.
    fn holds(&self, plan: &Plan) -> bool {
        let catalog = self.catalog();
        is_held(plan.profiles.iter().filter_map(|name| catalog.profile(name)))
    }

    /// Puts a URL that is due out of the way, where it is suspected and held; false if it is not.
    pub(crate) fn hold_suspected(
        &self,
        collection: &str,
        url: &CrawlUrl,
        record: &Record,
        plan: &Plan,
        arrivals: &mut Arrivals,
    ) -> Result<bool> {
        if self.traps.suspicion_of(collection, url).is_none() {
            return Ok(false);
        }
        // A seed is there because somebody declared it, not because a page brought it.
        if record.position.depth == 0 || !self.holds(plan) {
            HELD.delete(self.tx, (url.site(), collection, url.as_str()))?;
            return Ok(false);
        }
        let until: Time = self.now.plus(LOOK_AGAIN);
        let later = {
            let catalog = self.catalog();
            Subject { catalog: &catalog, collection, url }.postponed(record, Rule::F37, until)
        };
        self.requeue(collection, url, record, later, arrivals)?;
        HELD.put(self.tx, (url.site(), collection, url.as_str()), &())?;
        Ok(true)
    }
}
