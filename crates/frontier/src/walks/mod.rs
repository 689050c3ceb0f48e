//! Walks (spec 3): ids that are counted up and down, beside the URLs that pages link to.
//!
//! The life of a walk: somebody declares it, and the next reservation finds it and brings it into
//! memory from its rows. Whenever workers are free, the walks that take turns together say which
//! ids come next ([`Walks::plan`]), and each gets a slot of its host like any URL ([`grant`]); what
//! does not get one is taken back, so that the order of turns holds. The answer becomes a
//! [result](results), and what that changes in the walk is written in the transaction that commits
//! the capture. When nothing is left to do the walk has ended, and stays so until it is resumed.
//!
//! Ids in flight are in memory and in the slots of their hosts only. A process has its walks to
//! itself, and of several nodes the one that has their shard (M6); after a crash the ids that nothing is known of behind a walk's head are issued again.
//!
//! As many ids of a round are in flight as its most generous host takes requests at once: with one,
//! the turns are strictly one after the other.

mod grant;
mod results;
mod sight;

use std::borrow::{Borrow, BorrowMut};
use std::collections::{BTreeMap, HashMap};

use parking_lot::Mutex;
use policy::model::DeclaredWalk;
use policy::time::Time;
use policy::url::{CrawlUrl, normalise};
use policy::walk::{Outcome, Resume, Turn, Turns, Walk, Why};
use store::{Error, Order as ScanOrder, Result, Tx};

use crate::Frontier;
use crate::nodes::Claim;
use crate::schema::{COUNTERS, WALK_IDS, WALKS, WalkRow, WalkRun};
use crate::shard::{Shard, shard_of};

pub(crate) use grant::Granted;
pub(crate) use results::Step;
pub use sight::{WalkError, WalkSight};

const PAGE: usize = 1000;
/// Ids in a row that make no URL are failed at once; after so many the others have a turn.
const UNUSABLE_MAX: usize = 1000;

/// The walks of this process.
#[derive(Default)]
pub(crate) struct Walks(Mutex<Room>);

#[derive(Default)]
struct Room {
    /// Of the declarations and the share it was furnished by; none: it is to be furnished.
    version: Option<(u64, u64)>,
    /// What the counter of changes by hand said, when that was last looked at.
    handled: u64,
    rounds: Vec<Round>,
    /// The round that plans first: not always the same.
    first: usize,
}

/// Walks that take turns.
struct Round {
    turns: Turns,
    walks: Vec<Strand>,
    /// The turns of ids in flight, in their order.
    issued: Vec<Turn>,
    shard: Shard,
}

/// A walk in memory.
struct Strand {
    declared: DeclaredWalk,
    walk: Walk,
    resume: Resume,
    run: WalkRun,
    /// Its profile, and so it, is switched off.
    paused: bool,
    /// Its host backs off until then, or what it belongs to waits.
    held_until: Option<Time>,
    /// F36: it is held because a budget has no more for it.
    is_spent: bool,
    /// Under what it was read: another may have walked it since, where that changed.
    claim: Option<Claim>,
}

impl Borrow<Walk> for Strand {
    fn borrow(&self) -> &Walk {
        &self.walk
    }
}

impl BorrowMut<Walk> for Strand {
    fn borrow_mut(&mut self) -> &mut Walk {
        &mut self.walk
    }
}

/// A walk as it comes from the store.
struct Loaded {
    walk: Walk,
    resume: Resume,
    run: WalkRun,
    claim: Option<Claim>,
}

/// An id that would like to be fetched.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    round: usize,
    shard: Shard,
    turn: Turn,
    declared: DeclaredWalk,
    id: u64,
    attempt: u32,
    url: CrawlUrl,
}

/// What the walks want now.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    wanted: Vec<Planned>,
    /// When a walk wants something, if nothing happens before.
    next: Option<Time>,
    /// Walks that ended without a result to say so with.
    steps: Vec<Step>,
}

impl Frontier {
    /// Takes up to `wanted` ids off the walks, for which slots are now to be found.
    pub(crate) async fn plan_walks(&self, wanted: usize) -> Result<Plans> {
        self.furnish_walks().await?;
        let parallel = |walk: &DeclaredWalk| {
            let template = walk.settings.template();
            let url = CrawlUrl::from_normal(template.url(walk.settings.start()));
            url.map_or(1, |url| self.declared.catalog.read().politeness(url.site()).parallel.max(1))
        };
        let rules = self.declared.catalog.read().url_rules().clone();
        let now = self.now();
        // F39: what a pattern holds is no more asked for than what makes no URL.
        let url_of = |walk: &DeclaredWalk, id: u64| {
            let url = normalise(&walk.settings.template().url(id), None, &rules).ok()?;
            let catalog = self.declared.catalog.read();
            let collection = catalog.profile(&walk.profile).map(|profile| profile.collection.as_str())?;
            catalog.barring(collection, &url, now).is_none().then_some(url)
        };
        let works_on = |shard| self.share.works_on(shard);
        Ok(self.walks.0.lock().plan(now, wanted, works_on, parallel, url_of))
    }

    /// Brings the walks in memory up to what is declared.
    async fn furnish_walks(&self) -> Result<()> {
        let version = (self.declared.version(), self.share.changes());
        if self.walks.0.lock().version == Some(version) {
            return Ok(());
        }
        let tx = self.store.begin().await?;
        self.declared.catch_up(&tx).await?;
        let version = (self.declared.version(), self.share.changes());
        // M6: those that take turns together are in one shard, and who has that has them.
        let mut declared = self.declared_walks();
        declared.retain(|(walk, _)| self.share.holds(shard_of(&round_of(walk))));
        let mut stored = HashMap::new();
        for (walk, _) in &declared {
            let claim = self.share.claim(shard_of(&round_of(walk)));
            if !self.walks.0.lock().has(walk, claim) {
                let mut loaded = load(&tx, walk).await?;
                loaded.walk.clock_went_back(self.now());
                loaded.claim = claim;
                stored.insert(walk.name.clone(), loaded);
            }
        }
        self.walks.0.lock().furnish(version, declared, stored);
        Ok(())
    }

    /// All walks, and whether they wait because they or what they belong to is switched off.
    fn declared_walks(&self) -> Vec<(DeclaredWalk, bool)> {
        let catalog = self.declared.catalog.read();
        let is_on = |walk: &DeclaredWalk| {
            let profile = catalog.profile(&walk.profile).filter(|profile| profile.active);
            let collection = profile.and_then(|profile| catalog.collection(&profile.collection));
            walk.active && collection.is_some_and(|collection| collection.active)
        };
        catalog.walks().map(|walk| (walk.clone(), !is_on(walk))).collect()
    }
}

/// Those of one name take turns.
pub(crate) fn round_of(walk: &DeclaredWalk) -> String {
    match &walk.round {
        Some(round) => format!("round {round}"),
        None => format!("walk {}", walk.name),
    }
}

/// A walk as its rows say; as new if there are none.
async fn load(tx: &Tx, declared: &DeclaredWalk) -> Result<Loaded> {
    let settings = declared.settings.clone();
    let Some(row) = WALKS.get(tx, (&declared.name,)).await? else {
        let (resume, run) = (Resume::Continue, WalkRun::default());
        return Ok(Loaded { walk: Walk::new(settings), resume, run, claim: None });
    };
    let WalkRow { head, resume, ended, run } = row;
    let stretches = stretches(tx, &declared.name).await?;
    if ended {
        let walk = Walk::look(settings.clone(), head.clone(), stretches.clone())
            .map_err(|e| unusable(declared, &e))?;
        // It goes on by itself only where its bound is wider now.
        if walk.ended() != Some(Why::Bound) {
            return Ok(Loaded { walk, resume, run, claim: None });
        }
    }
    let resume = if ended { Resume::Continue } else { resume };
    let walk = Walk::resume(settings, head, stretches, resume).map_err(|e| unusable(declared, &e))?;
    Ok(Loaded { walk, resume, run, claim: None })
}

fn unusable(declared: &DeclaredWalk, error: &dyn std::error::Error) -> Error {
    Error::Corrupt(format!("walk {:?}: {error}", declared.name))
}

async fn stretches(tx: &Tx, walk: &str) -> Result<Vec<(u64, policy::walk::StretchRow)>> {
    let mut all = Vec::new();
    let mut rest = Some(WALK_IDS.range((walk,)));
    while let Some(range) = rest {
        let page = WALK_IDS.scan(tx, &range, PAGE, ScanOrder::Forward).await?;
        all.extend(page.rows.into_iter().map(|((_, stretch), row)| (stretch, row)));
        rest = page.rest;
    }
    Ok(all)
}

/// Counts what people did to walks: their owner's memory is not what the store says then.
const HANDLED: &str = "walks handled";

/// Tells whoever has the walks to read them anew.
async fn handled(tx: &Tx) -> Result<()> {
    let count = COUNTERS.lock(tx, (HANDLED,)).await?.unwrap_or(0);
    COUNTERS.put(tx, (HANDLED,), &(count + 1))
}

impl Walks {
    /// Where there are other nodes: people may have done something to walks through them. What
    /// is in flight stays as it is.
    pub(crate) async fn catch_up(&self, tx: &Tx) -> Result<()> {
        let count = COUNTERS.get(tx, (HANDLED,)).await?.unwrap_or(0);
        let mut room = self.0.lock();
        if room.handled != count {
            room.handled = count;
            room.version = None;
            for round in &mut room.rounds {
                round.walks.retain(|strand| strand.walk.in_flight() > 0);
            }
        }
        Ok(())
    }

    /// Something was not committed: memory is not what the store says, and is read anew.
    pub(crate) fn forget(&self) {
        let mut room = self.0.lock();
        *room = Room { handled: room.handled, ..Room::default() };
    }

    /// What was held may be asked for again.
    pub(crate) fn release(&self) {
        self.0.lock().strands().for_each(|strand| (strand.held_until, strand.is_spent) = (None, false));
    }

    /// F40: nothing is held, and nothing waits for longer than it should.
    pub(crate) fn clock_went_back(&self, now: Time) {
        for strand in self.0.lock().strands() {
            (strand.held_until, strand.is_spent) = (None, false);
            strand.walk.clock_went_back(now);
        }
    }

    /// Whether no walk that is switched on has anything left to do. What was not looked at yet is
    /// not over.
    pub(crate) fn have_ended(&self) -> bool {
        let room = self.0.lock();
        room.version.is_some() && room.rounds.iter().flat_map(|round| &round.walks).all(Strand::has_nothing)
    }
}

impl Room {
    fn strands(&mut self) -> impl Iterator<Item = &mut Strand> {
        self.rounds.iter_mut().flat_map(|round| &mut round.walks)
    }

    fn strand(&mut self, name: &str) -> Option<&mut Strand> {
        self.strands().find(|strand| strand.declared.name == name)
    }

    /// Whether it is here as declared. One whose ids are in flight stays as it is until they are
    /// home.
    fn has(&mut self, declared: &DeclaredWalk, claim: Option<Claim>) -> bool {
        self.strand(&declared.name).is_some_and(|strand| {
            strand.claim == claim
                && (strand.declared.settings == declared.settings || strand.walk.in_flight() > 0)
        })
    }

    fn furnish(
        &mut self,
        version: (u64, u64),
        declared: Vec<(DeclaredWalk, bool)>,
        mut stored: HashMap<String, Loaded>,
    ) {
        let mut old: HashMap<String, Strand> = std::mem::take(&mut self.rounds)
            .into_iter()
            .flat_map(|round| round.walks)
            .map(|strand| (strand.declared.name.clone(), strand))
            .collect();
        let mut rounds: BTreeMap<String, Round> = BTreeMap::new();
        let mut current = true;
        for (declared, paused) in declared {
            let strand = match stored.remove(&declared.name) {
                Some(Loaded { walk, resume, run, claim }) => {
                    let declared = declared.clone();
                    let (held_until, is_spent) = (None, false);
                    Strand { walk, resume, run, paused, held_until, is_spent, declared, claim }
                }
                None => match old.remove(&declared.name) {
                    Some(strand) => {
                        current &= strand.declared.settings == declared.settings;
                        let settings = strand.declared.settings.clone();
                        let declared = DeclaredWalk { settings, ..declared.clone() };
                        // By what is declared now, it may not have to wait any more.
                        Strand { declared, paused, held_until: None, is_spent: false, ..strand }
                    }
                    None => continue,
                },
            };
            let key = round_of(&declared);
            let shard = shard_of(&key);
            let round = rounds.entry(key).or_insert_with(|| Round {
                turns: Turns::default(),
                walks: Vec::new(),
                issued: Vec::new(),
                shard,
            });
            round.walks.push(strand);
        }
        self.rounds = rounds.into_values().collect();
        for round in &mut self.rounds {
            round.walks.sort_by_key(|strand| strand.declared.place);
        }
        self.version = current.then_some(version);
    }

    fn plan(
        &mut self,
        now: Time,
        wanted: usize,
        works_on: impl Fn(Shard) -> bool,
        parallel: impl Fn(&DeclaredWalk) -> u32,
        url_of: impl Fn(&DeclaredWalk, u64) -> Option<CrawlUrl>,
    ) -> Plans {
        let mut plans = Plans::default();
        self.first = self.first.wrapping_add(1);
        let count = self.rounds.len();
        for at in 0..count {
            let round = (self.first.wrapping_add(at)) % count;
            if works_on(self.rounds[round].shard) {
                self.rounds[round].plan(round, now, wanted, &parallel, &url_of, &mut plans);
            }
        }
        plans.steps = self.strands().filter_map(Strand::step).collect();
        plans
    }
}

impl Round {
    /// An id was not asked for after all. If it was the last to be issued, its turn has not been
    /// either (L8).
    fn undo(&mut self, turn: &Turn) {
        let last = self.issued.last() == Some(turn);
        self.issued.retain(|issued| issued != turn);
        match turn {
            Turn::Fetch { walk, id, .. } if !last => {
                if let Some(strand) = self.walks.get_mut(*walk) {
                    strand.walk.give_back(*id);
                }
            }
            _ => self.turns.undo(&mut self.walks, turn),
        }
    }

    /// The turn of an id in flight.
    fn issued(&self, name: &str, wanted: u64) -> Option<Turn> {
        let place = self.walks.iter().position(|strand| strand.declared.name == name)?;
        let is =
            |turn: &&Turn| matches!(turn, Turn::Fetch { walk, id, .. } if (*walk, *id) == (place, wanted));
        self.issued.iter().find(is).copied()
    }

    fn plan(
        &mut self,
        place: usize,
        now: Time,
        wanted: usize,
        parallel: &impl Fn(&DeclaredWalk) -> u32,
        url_of: &impl Fn(&DeclaredWalk, u64) -> Option<CrawlUrl>,
        plans: &mut Plans,
    ) {
        let at_once = self.walks.iter().map(|strand| parallel(&strand.declared)).max().unwrap_or(1);
        let at_once = usize::try_from(at_once).unwrap_or(usize::MAX);
        let mut in_flight: usize = self.walks.iter().map(|strand| strand.walk.in_flight()).sum();
        for strand in self.walks.iter_mut().filter(|strand| strand.held(now).is_none()) {
            strand.is_spent = false;
        }
        let waits: Vec<bool> = self.walks.iter().map(|strand| strand.waits(now)).collect();
        plans.next =
            plans.next.into_iter().chain(self.walks.iter().filter_map(|strand| strand.held(now))).min();
        let mut unusable = 0;
        while in_flight < at_once && plans.wanted.len() < wanted && unusable < UNUSABLE_MAX {
            let turn = self.turns.next(&mut self.walks, now, |walk| waits[walk]);
            let Turn::Fetch { walk, id, attempt, .. } = turn else {
                if let Turn::Wait(until) = turn {
                    plans.next = plans.next.into_iter().chain(until).min();
                }
                return;
            };
            let Strand { declared, walk, .. } = &mut self.walks[walk];
            match url_of(declared, id) {
                Some(url) => {
                    let declared = declared.clone();
                    let shard = self.shard;
                    plans.wanted.push(Planned { round: place, shard, turn, declared, id, attempt, url });
                    self.issued.push(turn);
                    in_flight += 1;
                }
                None => {
                    walk.result(id, Outcome::Failed, now);
                    unusable += 1;
                }
            }
        }
        if unusable == UNUSABLE_MAX {
            plans.next = Some(now);
        }
    }
}

impl Strand {
    /// Nothing to do, unless somebody does something.
    fn has_nothing(&self) -> bool {
        self.paused || self.walk.ended().is_some() || (self.is_spent && self.walk.in_flight() == 0)
    }

    fn waits(&self, now: Time) -> bool {
        self.paused || self.held(now).is_some()
    }

    fn held(&self, now: Time) -> Option<Time> {
        self.held_until.filter(|until| *until > now)
    }
}
