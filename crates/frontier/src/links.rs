//! Outlinks and starts (F2, F22–F28): what pages and people bring to the queue.
//!
//! The links of a page are looked up in one batch, decided by `policy`, and written where they
//! change something. Most are known and change nothing: those cost the look-up only. URLs of the
//! page's own host are settled by its release, others through [`Transaction::arrive_all`].

use std::collections::HashSet;

use policy::Rule;
use policy::catalog::Catalog;
use policy::hint::Trust;
use policy::model::{Position, Record};
use policy::outlink::{Action, Known, LinkDecision, Outlink, Parent, decide};
use policy::owner::{Origin, Via};
use policy::standing::Subject;
use store::Result;

use crate::memo::UrlHash;
use crate::schema::{URLS, UrlState};
use crate::transaction::{Arrivals, Transaction};

/// On whose behalf links are brought: a page, or the start of a seed.
pub(crate) struct Page<'a> {
    /// The seed of the page, or the seed that is started.
    pub(crate) seed: &'a str,
    pub(crate) position: Position,
    pub(crate) run: u64,
    pub(crate) collection: &'a str,
    /// The page itself, whose place the harvest has decided already.
    pub(crate) own_url: Option<&'a str>,
    /// O10: by whose claim the page is the seed's.
    pub(crate) claimed: Via,
    /// F41: its host, for whose URLs it may say when they changed, and how far that is believed.
    pub(crate) dates: Option<(&'a str, Trust)>,
}

impl Page<'_> {
    fn origin(&self) -> Origin<'_> {
        match self.claimed {
            Via::Nobody => Origin::Unclaimed,
            Via::Start | Via::Page { .. } => Origin::Page(self.seed),
        }
    }

    /// As the URLs remember it that it names.
    fn via(&self) -> Via {
        self.own_url.map_or(Via::Start, |url| Via::page(url, self.seed))
    }
}

/// How one link was decided, with the words of page 2: for those who want to see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTrace {
    pub collection: String,
    pub url: String,
    /// The page that links; none for a start.
    pub page: Option<String>,
    /// P: the seed of the page; none for a start.
    pub parent: Option<String>,
    /// S before.
    pub queued: Option<String>,
    /// B.
    pub best: Option<String>,
    /// C, and the rule that chose it; none where the URL was done or blacklisted.
    pub context: Option<(String, Rule)>,
    /// S after; none if it is not in the queue.
    pub owner: Option<String>,
    /// F22–F28.
    pub rule: Rule,
}

/// What a link changes in the queue, and what was known of its URL.
enum Effect<'a> {
    Nothing,
    Add(Option<&'a UrlState>, Record),
    Update(&'a Record, Record),
    Remove(&'a Record),
}

impl Transaction<'_> {
    /// Processes the links of a page; returns how many URLs they added.
    pub(crate) async fn discover(
        &self,
        page: &Page<'_>,
        links: &[Outlink],
        arrivals: &mut Arrivals,
    ) -> Result<u64> {
        let mut seen = HashSet::with_capacity(links.len());
        let context = self.context(page);
        let own = page.via().page_fingerprint();
        let links: Vec<(&Outlink, UrlHash, u64)> = links
            .iter()
            .filter(|link| page.own_url != Some(link.url.as_str()) && seen.insert(link.url.as_str()))
            .map(|link| {
                let memo = self.cursor.memo();
                (
                    link,
                    memo.url(page.collection, link.url.as_str()),
                    memo.hash((context, link.kind, link.said)),
                )
            })
            .filter(|(_, url, context)| {
                self.traces.is_some() || self.share.has_company() || !self.cursor.knows(*url, *context, own)
            })
            .collect();
        let keys = links.iter().map(|(link, ..)| (page.collection, link.url.as_str()));
        let states = URLS.multi_get(self.tx, keys).await?;
        let mut added = 0;
        for ((link, url, context), state) in links.into_iter().zip(states) {
            let effect = self.decide(page, page.origin(), link, state.as_ref());
            if let (Effect::Add(None, record), Some(_)) = (&effect, page.own_url)
                && !self.has_room_for(page.collection, &link.url, record).await?
            {
                continue;
            }
            if matches!(effect, Effect::Nothing) {
                let via = match &state {
                    Some(UrlState::Queued(record)) => record.via.page_fingerprint(),
                    _ => None,
                };
                self.cursor.remember(url, context, via);
            }
            if let Effect::Add(before, _) = &effect {
                added += 1;
                if before.is_none() {
                    self.note_new(page.own_url, &link.url);
                }
            }
            self.take_effect(page.collection, link, effect, arrivals)?;
        }
        Ok(added)
    }

    /// Everything but the URL and the kind of link that the decision about a link depends on (see
    /// [`crate::memo`]). Time is part of it, since being linked to again keeps a URL alive.
    fn context(&self, page: &Page<'_>) -> u64 {
        let minute = self.now.0.div_euclid(60_000);
        let unclaimed = page.claimed == Via::Nobody;
        self.cursor.memo().hash((
            page.seed,
            page.position,
            page.run,
            unclaimed,
            self.declared.version(),
            minute,
        ))
    }

    /// F2: starts a seed in a collection; true if that added or changed anything.
    pub(crate) async fn start_seed(
        &self,
        seed: &str,
        collection: &str,
        run: u64,
        arrivals: &mut Arrivals,
    ) -> Result<bool> {
        let Some(url) = self.catalog().seed(seed).map(|entry| entry.url.clone()) else { return Ok(false) };
        let link = Outlink::new(url, policy::model::LinkKind::Link);
        let state = self.state(collection, link.url.as_str()).await?;
        let claimed = Via::Start;
        let position = Position::default();
        let page = Page { seed, position, run, collection, own_url: None, claimed, dates: None };
        let effect = self.decide(&page, Origin::Start(seed), &link, state.as_ref());
        let changes = !matches!(effect, Effect::Nothing);
        self.take_effect(collection, &link, effect, arrivals)?;
        Ok(changes)
    }

    fn decide<'s>(
        &self,
        page: &Page<'_>,
        origin: Origin<'_>,
        link: &Outlink,
        state: Option<&'s UrlState>,
    ) -> Effect<'s> {
        let known = match state {
            None => Known::Absent,
            Some(UrlState::Queued(record)) => Known::Queued(record),
            Some(UrlState::Done { run, .. }) => Known::Done { run: *run },
            Some(UrlState::Blacklisted(_)) => Known::Blacklisted,
        };
        let catalog = self.catalog();
        let parent = Parent {
            origin,
            via: page.via(),
            position: page.position,
            run: page.run,
            collection: page.collection,
        };
        let decision = decide(&catalog, &parent, link, known, self.now);
        if let Some(traces) = self.traces {
            traces.lock().push(trace(&catalog, page, &parent, link, state, &decision));
        }
        let queued = match known {
            Known::Queued(record) => Some(record),
            _ => None,
        };
        let action = match (link.said, page.dates) {
            (Some(said), Some((host, trust))) if host == link.url.site() => {
                let subject = Subject { catalog: &catalog, collection: page.collection, url: &link.url };
                subject.dated(decision.action, queued, said, &trust, self.now)
            }
            _ => decision.action,
        };
        match (action, state) {
            (Action::Add(record), _) => Effect::Add(state, record),
            (Action::Update(record), Some(UrlState::Queued(old))) => Effect::Update(old, record),
            (Action::Remove, Some(UrlState::Queued(old))) => Effect::Remove(old),
            _ => Effect::Nothing,
        }
    }

    fn take_effect(
        &self,
        collection: &str,
        link: &Outlink,
        effect: Effect<'_>,
        arrivals: &mut Arrivals,
    ) -> Result<()> {
        match effect {
            Effect::Nothing => Ok(()),
            Effect::Add(old, record) => self.enqueue(collection, &link.url, old, record, arrivals),
            Effect::Update(old, record) => self.requeue(collection, &link.url, old, record, arrivals),
            Effect::Remove(old) => self.unqueue(collection, &link.url, old, None),
        }
    }
}

fn trace(
    catalog: &Catalog,
    page: &Page<'_>,
    parent: &Parent<'_>,
    link: &Outlink,
    state: Option<&UrlState>,
    decision: &LinkDecision<'_>,
) -> LinkTrace {
    let queued = match state {
        Some(UrlState::Queued(record)) => Some(record.seed.clone()),
        _ => None,
    };
    let owner = match &decision.action {
        Action::Add(record) | Action::Update(record) => Some(record.seed.clone()),
        Action::Remove => None,
        Action::Ignore | Action::Keep => queued.clone(),
    };
    LinkTrace {
        collection: parent.collection.to_owned(),
        url: link.url.as_str().to_owned(),
        page: page.own_url.map(str::to_owned),
        parent: match parent.origin {
            Origin::Start(_) | Origin::Unclaimed => None,
            Origin::Page(seed) => Some(seed.to_owned()),
        },
        queued,
        best: catalog.best_match(parent.collection, &link.url).cloned(),
        context: decision.context.map(|context| (context.seed.to_owned(), context.rule)),
        owner,
        rule: decision.rule,
    }
}
