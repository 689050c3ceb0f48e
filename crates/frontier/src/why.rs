//! Every rule that decides about a URL, from stored state.

use policy::Rule;
use policy::budget::Limit;
use policy::evaluate::{Verdict, evaluate};
use policy::hint::Trust;
use policy::model::{BlacklistEntry, Position, Record};
use policy::outlink::{Action, Known, Outlink, Parent, decide};
use policy::owner::{Origin, Via};
use policy::standing::Subject;
use policy::time::Time;
use policy::trap::is_held;
use policy::url::CrawlUrl;
use store::Result;

use crate::Frontier;
use crate::look::{HostRow, host_row};
use crate::schema::{BLACKLIST, GROUPS, Host, Slots, UrlState};
use crate::transaction::Transaction;

/// Seeds tried for a URL that no seed matches.
const SEEDS_TRIED_MAX: usize = 20;

/// Why a URL is, or is not, harvested in one collection.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub collection: String,
    pub url: String,
    pub situation: Situation,
    /// What is remembered of it; none where it is done, or not known.
    pub record: Option<Record>,
    /// What was looked at, in order: the rule and what it found.
    pub steps: Vec<(Rule, String)>,
    /// The rule that decides now, and what follows.
    pub verdict: Option<(Rule, String)>,
    /// The most specific seed of the collection for this URL (B of page 2).
    pub best_seed: Option<String>,
    pub host: HostSituation,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Situation {
    Queued(Record),
    InFlight(Record),
    Done { run: u64 },
    Blacklisted(BlacklistEntry),
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HostSituation {
    pub host: String,
    /// None: the host has no URLs.
    pub row: Option<HostRow>,
    /// Of its group, if that is in use.
    pub group: Option<Slots>,
    /// F38: when it may be asked; none: always.
    pub windows: Option<String>,
}

impl Frontier {
    /// For one collection, or for each.
    #[crate::boxed]
    pub async fn why(&self, url: &CrawlUrl, collection: Option<&str>) -> Result<Vec<Explanation>> {
        let tx = self.store.begin().await?;
        let writer = &self.writer();
        let transaction = self.transaction(&tx, writer, 0).await?;
        self.traps.catch_up(&tx).await?;
        let mut names: Vec<String> = match collection {
            Some(name) => vec![name.to_owned()],
            None => transaction.catalog().collections().map(|collection| collection.name.clone()).collect(),
        };
        names.sort();
        let mut explanations = Vec::new();
        for name in names {
            explanations.push(transaction.explain(&name, url).await?);
        }
        Ok(explanations)
    }
}

impl Transaction<'_> {
    async fn explain(&self, collection: &str, url: &CrawlUrl) -> Result<Explanation> {
        let row = self.host(url.site()).await?;
        let in_flight = row.as_ref().is_some_and(|host| host.is_in_flight(collection, url.as_str()));
        let state = self.state(collection, url.as_str()).await?;
        let record = match &state {
            Some(UrlState::Queued(record) | UrlState::Blacklisted(record)) => Some(record.clone()),
            Some(UrlState::Done { .. }) | None => None,
        };
        let situation = match state {
            Some(UrlState::Queued(record)) if in_flight => Situation::InFlight(record),
            Some(UrlState::Queued(record)) => Situation::Queued(record),
            Some(UrlState::Done { run, .. }) => Situation::Done { run },
            Some(UrlState::Blacklisted(_)) => {
                match BLACKLIST.get(self.tx, (collection, url.as_str())).await? {
                    Some(entry) => Situation::Blacklisted(entry),
                    None => Situation::Unknown,
                }
            }
            None => Situation::Unknown,
        };
        let (steps, verdict) = match &situation {
            Situation::Queued(record) | Situation::InFlight(record) => {
                let (mut judged, plan) = self.judged(collection, url, record);
                judged.0.extend(row.iter().flat_map(|host| learned(record, host)));
                self.with_budgets(collection, url, record, judged, plan).await?
            }
            Situation::Done { run } => {
                let text = format!("it has had its cycles in run {run}; a new start brings it back");
                (Vec::new(), Some((Rule::F20, text)))
            }
            Situation::Blacklisted(entry) => {
                let end =
                    entry.until.map_or("until it is lifted".to_owned(), |until| format!("until {until}"));
                (Vec::new(), Some((Rule::F16, format!("blacklisted ({}) {end}", entry.reason))))
            }
            Situation::Unknown => {
                let (judged, added) = self.as_link(collection, url);
                self.with_room(collection, url, judged, added).await?
            }
        };
        let group = self.group_of(url.site());
        let slots = match group.as_deref().filter(|_| row.is_some()) {
            Some(name) => GROUPS.get(self.tx, (name,)).await?.map(|row| row.slots),
            None => None,
        };
        let windows = {
            let catalog = self.catalog();
            let hours = catalog.politeness(url.site()).hours();
            (!hours.is_always()).then(|| hours.to_string())
        };
        let host = HostSituation {
            windows,
            host: url.site().to_owned(),
            group: slots,
            row: row.map(|row| host_row(url.site().to_owned(), row, group)),
        };
        let best_seed = self.catalog().best_match(collection, url).cloned();
        Ok(Explanation {
            collection: collection.to_owned(),
            url: url.as_str().to_owned(),
            situation,
            record,
            steps,
            verdict,
            best_seed,
            host,
        })
    }

    /// What the budgets say to a URL that is to be harvested (F36).
    async fn with_budgets(
        &self,
        collection: &str,
        url: &CrawlUrl,
        record: &Record,
        (mut steps, verdict): Judged,
        plan: Option<Vec<String>>,
    ) -> Result<Judged> {
        let Some(profiles) = plan.filter(|_| self.catalog().has_budgets()) else {
            return Ok((steps, verdict));
        };
        let budgets = self.budgets_of(collection, url, &record.seed, record.run, &profiles).await?;
        let catalog = self.catalog();
        for (holder, spent) in &budgets {
            let Some(budget) = catalog.budget(holder) else { continue };
            let of_run = [Limit::Harvests, Limit::Bytes, Limit::Duration].into_iter();
            let used = of_run.filter_map(|limit| {
                let (used, max) = (limit.says(spent.of(limit, self.now)), limit.says(budget.max(limit)?));
                Some(format!("{used} of {max}"))
            });
            let used: Vec<String> = used.collect();
            if !used.is_empty() {
                steps.push((
                    Rule::F36,
                    format!("budget of {holder} in run {}: {}", record.run, used.join(", ")),
                ));
            }
        }
        drop(catalog);
        Ok(match self.may_harvest(record.run, &profiles, &budgets) {
            Ok(_) => (steps, verdict),
            Err(used_up) => {
                let text = format!("not harvested: {used_up}; it waits until that is raised or lifted");
                (steps, Some((Rule::F36, text)))
            }
        })
    }

    /// What the budgets say to a URL that a link would add.
    async fn with_room(
        &self,
        collection: &str,
        url: &CrawlUrl,
        (mut steps, verdict): Judged,
        added: Option<Record>,
    ) -> Result<Judged> {
        let Some(record) = added else { return Ok((steps, verdict)) };
        Ok(match self.no_room_for(collection, url, &record).await? {
            None => (steps, verdict),
            Some(used_up) => {
                steps.push((Rule::F36, used_up.to_string()));
                let text = format!("not queued: {used_up}; once that is raised, the next link adds it");
                (steps, Some((Rule::F36, text)))
            }
        })
    }

    /// What the evaluation would say at its due time, or now if that is past.
    fn judged(&self, collection: &str, url: &CrawlUrl, record: &Record) -> (Judged, Option<Vec<String>>) {
        let catalog = self.catalog();
        let at = self.now.max(record.due);
        let evaluation = evaluate(&catalog, collection, url, record, None, at);
        let mut steps: Vec<_> =
            evaluation.steps.iter().map(|step| (step.rule, step.finding.to_string())).collect();
        if let Some(brief) = self.traps.suspicion_of(collection, url) {
            steps.push((Rule::F37, brief.says()));
            if let Verdict::Harvest(plan) = &evaluation.verdict
                && record.position.depth > 0
                && is_held(plan.profiles.iter().filter_map(|name| catalog.profile(name)))
            {
                let text = format!("held as a suspected trap until somebody decides: {}", brief.ways_out());
                return ((steps, Some((Rule::F37, text))), None);
            }
        }
        let text = match &evaluation.verdict {
            Verdict::Harvest(plan) if record.due > self.now => {
                format!("to be harvested at {} for {}", record.due, plan.profiles.join(", "))
            }
            Verdict::Harvest(plan) => format!("to be harvested now for {}", plan.profiles.join(", ")),
            Verdict::Blacklist(entry) => format!("to be blacklisted ({}) when it is looked at", entry.reason),
            Verdict::Remove => "to be removed from the queue".to_owned(),
            Verdict::Done => "done: every profile has had its cycles".to_owned(),
            Verdict::Postpone { until } => format!("not harvested; looked at again at {until}"),
        };
        let plan = match &evaluation.verdict {
            Verdict::Harvest(plan) => Some(plan.profiles.clone()),
            _ => None,
        };
        ((steps, Some((evaluation.rule, text))), plan)
    }

    /// A URL nobody brought: what would become of it if a seed's own page linked to it.
    fn as_link(&self, collection: &str, url: &CrawlUrl) -> (Judged, Option<Record>) {
        let catalog = self.catalog();
        let mut seeds: Vec<&str> = match catalog.best_match(collection, url) {
            Some(best) => vec![best],
            None => {
                let profiles = catalog.profiles_of_collection(collection);
                profiles
                    .flat_map(|p| catalog.seeds_of_profile(&p.name))
                    .map(|e| e.seed.name.as_str())
                    .collect()
            }
        };
        seeds.sort_unstable();
        seeds.dedup();
        seeds.truncate(SEEDS_TRIED_MAX);
        let subject = Subject { catalog: &catalog, collection, url };
        let mut steps = Vec::new();
        let (mut decided, mut added) = (None, None);
        for seed in seeds {
            let Some(entry) = catalog.seed(seed) else { continue };
            let origin = if entry.url == *url { Origin::Start(seed) } else { Origin::Page(seed) };
            let parent = Parent { origin, via: Via::Start, position: Position::SEED, run: 0, collection };
            let link = Outlink::new(url.clone(), policy::model::LinkKind::Link);
            let decision = decide(&catalog, &parent, &link, Known::Absent, self.now);
            for given in subject.verdicts(entry, decision.position) {
                steps.push((Rule::F34, format!("linked from seed `{seed}`: {given}")));
            }
            if decided.is_none() || decision.rule == Rule::F22 {
                let text = match decision.rule {
                    Rule::F22 => format!("not found yet; a link from seed `{seed}` would add it"),
                    Rule::F39 => match catalog.barring(collection, url, self.now) {
                        Some(barred) => format!("a link to it is ignored: {barred}"),
                        None => "a link to it is ignored".to_owned(),
                    },
                    _ => "out of scope: a link to it is ignored".to_owned(),
                };
                decided = Some((decision.rule, text));
                added = match decision.action {
                    Action::Add(record) => Some(record),
                    _ => None,
                };
            }
        }
        let none = || (Rule::F27, format!("collection `{collection}` has no seed that could bring it"));
        ((steps, Some(decided.unwrap_or_else(none))), added)
    }
}

/// F41, F37: what was learned of the host's dates where they count, and how far the page moved when it last
/// changed.
fn learned(record: &Record, host: &Host) -> Vec<(Rule, String)> {
    let Trust { settled, proved, .. } = host.trust;
    let dates = record.hint.map(|hint| {
        let said = hint.said;
        let text = match settled {
            0 => format!("its host's pages date it {said}; no such date has proved true or false yet"),
            _ => format!(
                "its host's pages date it {said}; where they claimed a change, it was there {proved} of {settled} \
                 times, so that the next claim is believed at {:.0} %",
                100.0 * host.trust.belief()
            ),
        };
        (Rule::F41, text)
    });
    let moved = record.moved.map(|moved| (Rule::F37, format!("when it last changed, its text {moved}")));
    dates.into_iter().chain(moved).collect()
}

type Judged = (Vec<(Rule, String)>, Option<(Rule, String)>);

impl Situation {
    pub fn as_str(&self) -> &'static str {
        match self {
            Situation::Queued(_) => "queued",
            Situation::InFlight(_) => "in-flight",
            Situation::Done { .. } => "done",
            Situation::Blacklisted(_) => "blacklisted",
            Situation::Unknown => "unknown",
        }
    }

    pub fn due(&self) -> Option<Time> {
        match self {
            Situation::Queued(record) | Situation::InFlight(record) => Some(record.due),
            _ => None,
        }
    }
}
