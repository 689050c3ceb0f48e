//! Budgets (F36): what is used of them, what they keep back, and how that comes back.
//!
//! [`policy::budget`] says under which budgets a URL falls and which is used up; here is counted.
//! Everything is by the number of a **holder** ([`id_of`]), whose names may be as long as URLs:
//!
//! | table | key | counts |
//! |---|---|---|
//! | `SPENT` | holder, run, stripe | harvests and bytes of a run, and since when |
//! | `CHARGED` | holder, stripe | URLs that it knows, and those that wait for it |
//! | `REFUSED` | holder, host, place, stripe | links that it kept from being queued |
//! | `HELD_BACK` | holder, collection, url | – (what waits, so that it is found when the budget is raised) |
//! | `USED_UP` | holder, run, limit | when it was first found to be used up, and at which figures |
//!
//! The first three are counters like those of [`crate::counts`], written in the transaction of what
//! they count. Known and held are functions of what is stored of a URL (`Record::charges`), so the
//! audit works them out anew; nobody without a budget is counted, and nothing is read for them.
//!
//! A URL whose budget is used up goes back into the queue as one of a profile that is switched off
//! does (F14), and is looked at again after `recheck`. Raising or lifting the budget makes due what
//! it held, by the list of `HELD_BACK` and not by a scan. What it refused to queue was never known:
//! it comes back with the next link to it.
//!
//! **How exact.** One process has one hand on the queue, so `max_urls` is kept to the URL. Among
//! nodes, who comes near a limit locks the holder's gate, and two who would both pass it are run one
//! after the other. Harvests and bytes are counted when they are committed: what is in flight when a
//! budget is found to be used up, here and on other nodes, still comes home and is counted.

use std::collections::{BTreeMap, HashMap};

use policy::Rule;
use policy::budget::{self, Budget, Holder, Limit, Spent, UsedUp};
use policy::catalog::{Catalog, Change};
use policy::evaluate::Plan;
use policy::model::Record;
use policy::standing::Subject;
use policy::time::Time;
use policy::url::CrawlUrl;
use store::table::KeyRange;
use store::{Order as ScanOrder, Result, Tx};

use crate::Frontier;
use crate::ports::{Fetch, Order, Report};
use crate::schema::{
    CHARGED, Charged, Exhausted, HELD_BACK, REFUSED, Refused, SPENT, URLS, USED_UP, UrlState,
};
use crate::transaction::{Arrivals, Transaction, stored_url};

/// Rows of a holder read in one go: as many as there are nodes, or stripes.
const PAGE: usize = 2000;
/// URLs gone through in one transaction.
const BATCH: usize = 200;
/// The last URLs of a budget are given out by one node after the other.
const NEAR: u64 = 20_000;
/// No stripe: locked by who comes near a limit, never written.
const GATE: u32 = u32::MAX;
/// Refused links are told apart by host and by so many groups of paths.
const PLACES: u64 = 16;
const EXAMPLES_MAX: usize = 3;
/// Of a path that is shown.
const PATH_BYTES_MAX: usize = 100;
/// Refused and waiting URLs gone through for a report.
const LISTED_MAX: usize = 10_000;

/// The number of a holder: FNV-1a of its kind and name.
pub(crate) fn id_of(holder: &Holder) -> u64 {
    fingerprint(&[holder.kind(), holder.name()])
}

/// FNV-1a, the same in every process.
pub(crate) fn fingerprint(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xFF]));
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    bytes.fold(0xCBF2_9CE4_8422_2325, step)
}

/// What is remembered of a URL that is done.
pub(crate) fn done(record: &Record) -> UrlState {
    UrlState::Done { run: record.run, known_to: record.charges.known_to.clone() }
}

/// What a transaction has read of budgets, and what it gives out itself.
#[derive(Debug, Default)]
pub(crate) struct Purse {
    spent: HashMap<(u64, u64), Spent>,
    known: HashMap<u64, u64>,
}

impl Charged {
    pub(crate) fn merge(&mut self, other: &Charged) {
        self.known += other.known;
        self.held += other.held;
    }
}

impl Refused {
    pub(crate) fn merge(&mut self, other: &Refused) {
        self.links += other.links;
        self.last = self.last.max(other.last);
        if self.path.is_empty() {
            self.path.clone_from(&other.path);
        }
        for example in &other.examples {
            if self.examples.len() < EXAMPLES_MAX && !self.examples.contains(example) {
                self.examples.push(example.clone());
            }
        }
    }
}

fn limit_number(limit: Limit) -> u8 {
    match limit {
        Limit::Urls => 0,
        Limit::Harvests => 1,
        Limit::Bytes => 2,
        Limit::Duration => 3,
    }
}

/// The first segment of a path, as far as it is shown.
fn place(url: &CrawlUrl) -> &str {
    let path = url.path();
    let end = path.get(1..).and_then(|rest| rest.find('/')).map_or(path.len(), |end| end + 1);
    &path[..path.floor_char_boundary(end.min(PATH_BYTES_MAX))]
}

async fn spent(tx: &Tx, holder: u64, run: u64) -> Result<Spent> {
    let mut sum = Spent::default();
    let page = SPENT.scan(tx, &SPENT.range((holder, run)), PAGE, ScanOrder::Forward).await?;
    page.rows.iter().for_each(|(_, row)| sum.merge(row));
    Ok(sum)
}

async fn charged(tx: &Tx, holder: u64) -> Result<Charged> {
    let mut sum = Charged::default();
    let page = CHARGED.scan(tx, &CHARGED.range((holder,)), PAGE, ScanOrder::Forward).await?;
    page.rows.iter().for_each(|(_, row)| sum.merge(row));
    Ok(sum)
}

impl Transaction<'_> {
    /// Whose budgets know a URL that is queued: by what is declared now.
    pub(crate) fn charge(&self, collection: &str, url: &CrawlUrl, record: &mut Record) {
        let catalog = self.catalog();
        if !catalog.has_budgets() && record.charges.known_to.is_empty() {
            return;
        }
        // While nobody wants it, it is known to those who did.
        let former = record.charges.known_to.iter().filter_map(|holder| match holder {
            Holder::Profile(name) if record.terms.is_none() => Some(name.clone()),
            _ => None,
        });
        let profiles: Vec<String> =
            former.chain(record.terms.iter().flat_map(|terms| terms.profiles.clone())).collect();
        let holders = budget::holders_with(&catalog, collection, &record.seed, url, &profiles);
        record.charges.known_to = budget::known_to(&catalog, holders);
    }

    /// Keeps the list of what waits: by the record it had, and the one it has now.
    pub(crate) fn hold_back(
        &self,
        collection: &str,
        url: &CrawlUrl,
        before: Option<&Record>,
        now: Option<&Record>,
    ) -> Result<()> {
        let before = before.and_then(|record| record.charges.held_by.as_ref());
        let now = now.and_then(|record| record.charges.held_by.as_ref());
        if before == now {
            return Ok(());
        }
        if let Some(holder) = before {
            HELD_BACK.delete(self.tx, (id_of(holder), collection, url.as_str()))?;
        }
        match now {
            Some(holder) => HELD_BACK.put(self.tx, (id_of(holder), collection, url.as_str()), &()),
            None => Ok(()),
        }
    }

    /// Whether a link may become a URL; if not, that is counted.
    pub(crate) async fn has_room_for(
        &self,
        collection: &str,
        url: &CrawlUrl,
        record: &Record,
    ) -> Result<bool> {
        if !self.catalog().has_budgets() {
            return Ok(true);
        }
        let Some(used_up) = self.no_room_for(collection, url, record).await? else { return Ok(true) };
        let id = id_of(&used_up.holder);
        let place = place(url);
        let number = u8::try_from(fingerprint(&[place]) % PLACES).unwrap_or(0);
        let link = Refused {
            links: 1,
            path: place.to_owned(),
            examples: vec![url.as_str().to_owned()],
            last: self.now,
        };
        let mut counted = self.counted.lock();
        counted.refused.entry((id, url.site().to_owned(), number)).or_default().merge(&link);
        drop(counted);
        self.note_used_up(&used_up, record.run);
        Ok(false)
    }

    /// The budget that has no room for one more URL.
    pub(crate) async fn no_room_for(
        &self,
        collection: &str,
        url: &CrawlUrl,
        record: &Record,
    ) -> Result<Option<UsedUp>> {
        let profiles = record.terms.as_ref().map(|terms| terms.profiles.clone()).unwrap_or_default();
        let known_to = {
            let catalog = self.catalog();
            if !catalog.has_budgets() {
                return Ok(None);
            }
            let holders = budget::holders_with(&catalog, collection, &record.seed, url, &profiles);
            budget::known_to(&catalog, holders)
        };
        let mut known = HashMap::new();
        for holder in &known_to {
            known.insert(holder.clone(), self.known(holder).await?);
        }
        let known = |holder: &Holder| known.get(holder).copied().unwrap_or(0);
        let catalog = self.catalog();
        for holder in known_to.iter().filter(|_| self.share.stripe().is_some()) {
            let max = catalog.budget(holder).and_then(|budget| budget.max_urls).unwrap_or(u64::MAX);
            if max.saturating_sub(known(holder)) < NEAR {
                CHARGED.lock_unread(self.tx, (id_of(holder), GATE))?;
            }
        }
        Ok(budget::may_queue(&catalog, &profiles, &known_to, known).err())
    }

    /// URLs that a budget knows, with those of this transaction.
    async fn known(&self, holder: &Holder) -> Result<u64> {
        let id = id_of(holder);
        let before = self.purse.lock().known.get(&id).copied();
        let before = match before {
            Some(before) => before,
            None => {
                let stored = u64::try_from(charged(self.tx, id).await?.known).unwrap_or(0);
                self.purse.lock().known.insert(id, stored);
                stored
            }
        };
        let own = self.counted.lock().charged.get(&id).map_or(0, |charged| charged.known);
        Ok(before.saturating_add_signed(own))
    }

    /// What a run has used of a budget, with what this transaction gives out.
    pub(crate) async fn spent(&self, holder: &Holder, run: u64) -> Result<Spent> {
        let key = (id_of(holder), run);
        let before = self.purse.lock().spent.get(&key).copied();
        if let Some(before) = before {
            return Ok(before);
        }
        let stored = spent(self.tx, key.0, run).await?;
        self.purse.lock().spent.insert(key, stored);
        Ok(stored)
    }

    /// What is used of the budgets that a URL falls under which is harvested for these profiles.
    pub(crate) async fn budgets_of(
        &self,
        collection: &str,
        url: &CrawlUrl,
        seed: &str,
        run: u64,
        profiles: &[String],
    ) -> Result<Vec<(Holder, Spent)>> {
        let holders = {
            let catalog = self.catalog();
            budget::holders_with(&catalog, collection, seed, url, profiles)
        };
        let mut all = Vec::with_capacity(holders.len());
        for holder in holders {
            let spent = self.spent(&holder, run).await?;
            all.push((holder, spent));
        }
        Ok(all)
    }

    /// What is left of the plan to harvest a URL once the budgets were asked. None: nothing, and the
    /// URL waits.
    pub(crate) async fn afford(
        &self,
        collection: &str,
        url: &CrawlUrl,
        record: &Record,
        plan: Plan,
        arrivals: &mut Arrivals,
    ) -> Result<Option<Plan>> {
        if !self.catalog().has_budgets() {
            return Ok(Some(plan));
        }
        let budgets = self.budgets_of(collection, url, &record.seed, record.run, &plan.profiles).await?;
        if budgets.is_empty() {
            return Ok(Some(plan));
        }
        match self.may_harvest(record.run, &plan.profiles, &budgets) {
            Ok(out) if out.is_empty() => {
                self.give_out(&budgets, record.run, &out);
                Ok(Some(plan))
            }
            Ok(out) => {
                self.give_out(&budgets, record.run, &out);
                let catalog = self.catalog();
                let left = plan.profiles.iter().filter(|name| !out.contains(*name));
                Ok(Plan::of(left.filter_map(|name| catalog.profile(name))))
            }
            Err(used_up) => {
                self.note_used_up(&used_up, record.run);
                let mut later = {
                    let catalog = self.catalog();
                    let until = self.now.plus(catalog.settings().recheck);
                    Subject { catalog: &catalog, collection, url }.postponed(record, Rule::F36, until)
                };
                later.charges.held_by = Some(used_up.holder);
                self.requeue(collection, url, record, later, arrivals)?;
                Ok(None)
            }
        }
    }

    /// Which of the profiles have had theirs, or the budget that keeps the URL waiting.
    pub(crate) fn may_harvest(
        &self,
        run: u64,
        profiles: &[String],
        budgets: &[(Holder, Spent)],
    ) -> Result<Vec<String>, UsedUp> {
        let holders: Vec<Holder> = budgets.iter().map(|(holder, _)| holder.clone()).collect();
        let spent = |wanted: &Holder| {
            let found = budgets.iter().find(|(holder, _)| holder == wanted);
            found.map(|(_, spent)| *spent).unwrap_or_default()
        };
        budget::may_harvest(&self.catalog(), profiles, &holders, run, spent, self.now)
    }

    /// One more harvest is under way, as far as this transaction is concerned.
    pub(crate) fn give_out(&self, budgets: &[(Holder, Spent)], run: u64, out: &[String]) {
        let mut purse = self.purse.lock();
        for (holder, _) in budgets {
            if !matches!(holder, Holder::Profile(name) if out.contains(name)) {
                purse.spent.entry((id_of(holder), run)).or_default().harvests += 1;
            }
        }
    }

    /// A harvest was made on behalf of these profiles.
    pub(crate) fn spend(&self, order: &Order, report: &Report, run: u64, profiles: &[String]) {
        if matches!(report.result, Fetch::DnsFailed) {
            return;
        }
        let catalog = self.catalog();
        let holders = budget::holders_with(&catalog, &order.collection, &order.seed, &order.url, profiles);
        let since = Some(report.at.min(self.now));
        let mut counted = self.counted.lock();
        for holder in holders {
            let spent = Spent { harvests: 1, bytes: report.bytes, since };
            counted.spent.entry((id_of(&holder), run)).or_default().merge(&spent);
        }
    }

    pub(crate) fn note_used_up(&self, used_up: &UsedUp, run: u64) {
        let UsedUp { holder, limit, used, max, .. } = used_up;
        let key = (id_of(holder), run, limit_number(*limit));
        let row = Exhausted { at: self.now, used: *used, max: *max };
        self.counted.lock().used_up.entry(key).or_insert(row);
    }

    /// Makes due what waits for a budget; returns how many, and what is left of the range.
    async fn wake_held(&self, range: &KeyRange) -> Result<(usize, Option<KeyRange>)> {
        let page = HELD_BACK.scan(self.tx, range, BATCH, ScanOrder::Forward).await?;
        let mut arrivals = Arrivals::new();
        let count = page.rows.len();
        for ((_, collection, text), ()) in page.rows {
            let Some(UrlState::Queued(record)) = self.state(&collection, &text).await? else { continue };
            let mut now = Record { due: record.due.min(self.now), ..record.clone() };
            now.charges.held_by = None;
            self.requeue(&collection, &stored_url(&text)?, &record, now, &mut arrivals)?;
        }
        self.arrive_all(&arrivals).await?;
        self.close().await?;
        Ok((count, page.rest))
    }

    /// Has the budgets that are declared now count what is known already.
    async fn charge_range(&self, range: &KeyRange) -> Result<Option<KeyRange>> {
        let page = URLS.scan(self.tx, range, BATCH, ScanOrder::Forward).await?;
        let mut arrivals = Arrivals::new();
        for ((collection, text), state) in page.rows {
            let url = stored_url(&text)?;
            let charged = match &state {
                UrlState::Queued(record) => {
                    let mut now = record.clone();
                    self.charge(&collection, &url, &mut now);
                    if now != *record {
                        self.requeue(&collection, &url, record, now, &mut arrivals)?;
                    }
                    continue;
                }
                UrlState::Blacklisted(record) => {
                    let mut now = record.clone();
                    self.charge(&collection, &url, &mut now);
                    UrlState::Blacklisted(now)
                }
                // Whose it was is forgotten, but not where it is.
                UrlState::Done { run, known_to } => {
                    let catalog = self.catalog();
                    let own = budget::known_to(&catalog, budget::holders(&catalog, &collection, "", &url));
                    let seeds = known_to.iter().filter(|holder| {
                        matches!(holder, Holder::Seed(_) | Holder::Profile(_))
                            && catalog.budget(holder).is_some_and(|budget| budget.max_urls.is_some())
                    });
                    UrlState::Done { run: *run, known_to: seeds.cloned().chain(own).collect() }
                }
            };
            if charged != state {
                let mut counted = self.counted.lock();
                counted.url(&collection, &url, &state, -1);
                counted.url(&collection, &url, &charged, 1);
                drop(counted);
                URLS.put(self.tx, (&collection, &text), &charged)?;
            }
        }
        self.close().await?;
        Ok(page.rest)
    }
}

/// What changes of declarations do to budgets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changed {
    /// Those that may let through what they held.
    raised: Vec<Holder>,
    /// One begins to count what it knows.
    counts: bool,
}

impl Changed {
    pub(crate) fn of(catalog: &Catalog, changes: &[Change]) -> Changed {
        let mut changed = Changed::default();
        let none = Budget::default();
        for change in changes {
            let Some((holder, new)) = Catalog::budget_of(change) else { continue };
            let old = catalog.budget(&holder).unwrap_or(&none);
            changed.counts |= old.max_urls.is_none() && new.max_urls.is_some();
            if !old.is_none() && *old != new {
                changed.raised.push(holder);
            }
        }
        changed
    }
}

/// What is declared for a holder, and what is used of it.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetRow {
    pub holder: Holder,
    pub limit: Limit,
    /// The run that is told of: the latest. None for what is not counted by run.
    pub run: Option<u64>,
    pub used: u64,
    pub max: u64,
    /// Since when nothing is left of it, if it is so.
    pub used_up: Option<Time>,
    /// URLs that wait for it.
    pub held: u64,
    /// Links that were not queued because of it.
    pub refused: u64,
    /// Both of them by host and path, the most first.
    pub places: Vec<PlaceRow>,
}

/// What a budget keeps back below one path of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceRow {
    pub host: String,
    pub path: String,
    pub held: u64,
    pub refused: u64,
    pub examples: Vec<String>,
}

/// A run that came to the end of a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    pub holder: Holder,
    pub limit: Limit,
    pub run: u64,
    pub at: Time,
    pub used: u64,
    pub max: u64,
}

impl Frontier {
    /// What was declared changed these budgets: takes effect by itself, but for what waits, and what
    /// is to be counted for the first time.
    pub(crate) async fn budgets_changed(&self, changed: &Changed) -> Result<()> {
        if changed.counts {
            let mut rest = Some(URLS.range(()));
            while let Some(range) = rest {
                let (range, writer, stripe) = (&range, &self.writer(), self.draw());
                let charge = self.store.transact_idempotent(|tx| async move {
                    self.transaction(&tx, writer, stripe).await?.charge_range(range).await
                });
                rest = charge.await?;
            }
        }
        for holder in &changed.raised {
            self.forget_refusals(holder).await?;
            self.wake_budget(holder).await?;
        }
        Ok(())
    }

    /// Another budget, another count: what was refused so far may be let in now, and whether the run
    /// has ended by it is found out anew.
    async fn forget_refusals(&self, holder: &Holder) -> Result<()> {
        let id = id_of(holder);
        loop {
            let forget = self.store.transact_idempotent(|tx| async move {
                let ended = USED_UP.scan(&tx, &USED_UP.range((id,)), BATCH, ScanOrder::Forward).await?.rows;
                ended.iter().try_for_each(|(key, _)| USED_UP.delete(&tx, *key))?;
                let refused = REFUSED.scan(&tx, &REFUSED.range((id,)), BATCH, ScanOrder::Forward).await?.rows;
                for ((_, host, place, stripe), _) in &refused {
                    REFUSED.delete(&tx, (id, host, *place, *stripe))?;
                }
                Ok(ended.len().max(refused.len()))
            });
            if forget.await? < BATCH {
                return Ok(());
            }
        }
    }

    /// What waits for a budget is looked at again now; returns how many URLs that are.
    #[crate::boxed]
    pub async fn wake_budget(&self, holder: &Holder) -> Result<usize> {
        let (mut woken, mut rest) = (0, Some(HELD_BACK.range((id_of(holder),))));
        while let Some(range) = rest {
            let (range, writer, stripe) = (&range, &self.writer(), self.draw());
            let wake = self.store.transact_idempotent(|tx| async move {
                self.transaction(&tx, writer, stripe).await?.wake_held(range).await
            });
            let (count, next) = wake.await?;
            woken += count;
            rest = next;
        }
        Ok(woken)
    }

    /// F36: every budget that is declared, what is used of it, and what it keeps back.
    #[crate::boxed]
    pub async fn budgets(&self) -> Result<Vec<BudgetRow>> {
        let declared: Vec<(Holder, Budget)> = self
            .with_catalog(|catalog| {
                catalog.budgeted().map(|(holder, own)| (holder.clone(), own.clone())).collect()
            })
            .await?;
        let tx = self.store.begin().await?;
        let mut rows = Vec::new();
        for (holder, own) in declared {
            rows.extend(self.budget_rows(&tx, &holder, &own).await?);
        }
        Ok(rows)
    }

    async fn budget_rows(&self, tx: &Tx, holder: &Holder, own: &Budget) -> Result<Vec<BudgetRow>> {
        let id = id_of(holder);
        let latest = SPENT.scan(tx, &SPENT.range((id,)), 1, ScanOrder::Backward).await?.rows;
        let run = latest.first().map(|((_, run, _), _)| *run);
        let used = match run {
            Some(run) => spent(tx, id, run).await?,
            None => Spent::default(),
        };
        let charged = charged(tx, id).await?;
        let now = self.now();
        let mut rows = Vec::new();
        for limit in Limit::ALL {
            let Some(max) = own.max(limit) else { continue };
            let known = limit == Limit::Urls;
            let used = if known { u64::try_from(charged.known).unwrap_or(0) } else { used.of(limit, now) };
            let row = match run {
                Some(run) => USED_UP.get(tx, (id, run, limit_number(limit))).await?,
                None => None,
            };
            rows.push(BudgetRow {
                holder: holder.clone(),
                limit,
                run: run.filter(|_| !known),
                used,
                max,
                used_up: (used >= max).then(|| row.map_or(now, |row| row.at)),
                held: 0,
                refused: 0,
                places: Vec::new(),
            });
        }
        if let Some(row) = rows.iter_mut().find(|row| row.limit == Limit::Urls) {
            row.places = refused_places(tx, id).await?;
            row.refused = row.places.iter().map(|place| place.refused).sum();
        }
        let held = u64::try_from(charged.held).unwrap_or(0);
        if held > 0 {
            let of_run = |row: &&mut BudgetRow| row.limit != Limit::Urls;
            let at = rows.iter().position(|row| row.limit != Limit::Urls && row.used_up.is_some());
            let row = match at {
                Some(at) => rows.get_mut(at),
                None => rows.iter_mut().find(of_run),
            };
            if let Some(row) = row {
                row.held = held;
                row.places = held_places(tx, id).await?;
            }
        }
        Ok(rows)
    }

    /// F36: runs that came to the end of a budget since then, in the order in which they did.
    #[crate::boxed]
    pub async fn budget_endings(&self, since: Time) -> Result<Vec<Ending>> {
        let declared: Vec<Holder> = self
            .with_catalog(|catalog| catalog.budgeted().map(|(holder, _)| holder.clone()).collect())
            .await?;
        if declared.is_empty() {
            return Ok(Vec::new());
        }
        let tx = self.store.begin().await?;
        let mut endings = Vec::new();
        for holder in declared {
            let range = USED_UP.range((id_of(&holder),));
            let page = USED_UP.scan(&tx, &range, PAGE, ScanOrder::Backward).await?;
            for ((_, run, number), row) in page.rows {
                let limit = Limit::ALL.into_iter().find(|limit| limit_number(*limit) == number);
                if let Some(limit) = limit.filter(|_| row.at >= since) {
                    let Exhausted { at, used, max } = row;
                    endings.push(Ending { holder: holder.clone(), limit, run, at, used, max });
                }
            }
        }
        endings.sort_by(|a, b| (a.at, &a.holder, a.run).cmp(&(b.at, &b.holder, b.run)));
        Ok(endings)
    }
}

async fn refused_places(tx: &Tx, id: u64) -> Result<Vec<PlaceRow>> {
    let mut places: BTreeMap<(String, u8), Refused> = BTreeMap::new();
    let page = REFUSED.scan(tx, &REFUSED.range((id,)), LISTED_MAX, ScanOrder::Forward).await?;
    for ((_, host, place, _), row) in page.rows {
        places.entry((host, place)).or_default().merge(&row);
    }
    let row = |((host, _), row): ((String, u8), Refused)| PlaceRow {
        host,
        path: row.path,
        held: 0,
        refused: row.links,
        examples: row.examples,
    };
    Ok(most_first(places.into_iter().map(row).collect()))
}

async fn held_places(tx: &Tx, id: u64) -> Result<Vec<PlaceRow>> {
    let mut places: BTreeMap<(String, String), PlaceRow> = BTreeMap::new();
    let page = HELD_BACK.scan(tx, &HELD_BACK.range((id,)), LISTED_MAX, ScanOrder::Forward).await?;
    for ((_, _, text), ()) in page.rows {
        let url = stored_url(&text)?;
        let (host, path) = (url.site().to_owned(), place(&url).to_owned());
        let row = places.entry((host.clone(), path.clone())).or_default();
        (row.host, row.path) = (host, path);
        row.held += 1;
        if row.examples.len() < EXAMPLES_MAX {
            row.examples.push(text);
        }
    }
    Ok(most_first(places.into_values().collect()))
}

fn most_first(mut places: Vec<PlaceRow>) -> Vec<PlaceRow> {
    places.sort_by(|a, b| {
        (b.held + b.refused)
            .cmp(&(a.held + a.refused))
            .then_with(|| (&a.host, &a.path).cmp(&(&b.host, &b.path)))
    });
    places
}
