//! What befalls store and archive while nobody runs, and the start after it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use net::warc::Why;
use sim::{Record, Stage};

use super::Storm;
use crate::recovery::{self, Recovered};

/// What a process may leave behind that is worse than what a kill does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disaster {
    /// The last relaxed commits are gone, and the last lines of the archive's journal.
    PowerCut,
    /// The store is what it was some time ago.
    OlderStore,
    /// And the archive remembers nothing.
    OlderStoreNoJournal,
    NoJournal,
    /// A file of the archive is shorter than it was.
    FileCut,
    FileDeleted,
}

const DISASTERS: [Disaster; 6] = [
    Disaster::PowerCut,
    Disaster::OlderStore,
    Disaster::OlderStoreNoJournal,
    Disaster::NoJournal,
    Disaster::FileCut,
    Disaster::FileDeleted,
];

impl Storm {
    pub(super) fn disaster(&mut self) -> Option<Disaster> {
        let one_in = self.disaster_one_in?;
        (self.rng.u32(0..one_in) == 0).then(|| DISASTERS[self.rng.usize(0..DISASTERS.len())])
    }

    /// Does to store and archive what happens to them while nobody runs.
    fn befall(&mut self, disaster: Disaster) {
        let simulation = &self.simulation;
        match disaster {
            Disaster::PowerCut => {
                let (commits, lines) = (simulation.store.power_cut().unwrap(), simulation.shelf.power_cut());
                self.tell(format!("the power goes: {commits} commits and {lines} lines are lost"));
            }
            Disaster::OlderStore => simulation.store.put_back(&self.copy).unwrap(),
            Disaster::OlderStoreNoJournal => {
                simulation.store.put_back(&self.copy).unwrap();
                simulation.shelf.lose_journal();
            }
            Disaster::NoJournal => simulation.shelf.lose_journal(),
            Disaster::FileCut | Disaster::FileDeleted => self.damage_file(disaster),
        }
        // Walks count their attempts in the store; whom it asked last, and what it harvested when,
        // only the store knew.
        self.disturbed = true;
        let forgot =
            matches!(disaster, Disaster::PowerCut | Disaster::OlderStore | Disaster::OlderStoreNoJournal);
        self.sentry.books(|books| {
            books.walked.clear();
            books.found.clear();
            books.checker.forget_requests();
            if forgot {
                books.checker.forget_slots();
            }
        });
        self.tell(format!("{disaster:?}"));
    }

    pub(super) fn damage_file(&mut self, disaster: Disaster) {
        let shelf = Arc::clone(&self.simulation.shelf);
        let mut held = shelf.held();
        held.retain(|held| held.stage != Stage::Aside && held.bytes > 0);
        // The open ones are the interesting ones.
        if self.rng.bool() && held.iter().any(|held| held.stage == Stage::Open) {
            held.retain(|held| held.stage == Stage::Open);
        }
        let Some(held) = self.rng.choice(held) else { return };
        let gone = match disaster {
            Disaster::FileCut => shelf.cut(&held.name, self.rng.u64(0..held.bytes)),
            _ => shelf.delete(&held.name),
        };
        self.tell(format!("{} of {} bytes: {} records are lost", held.name, held.bytes, gone.len()));
        self.destroyed.extend(gone.iter().map(Record::place));
        self.damaged.insert(held.name);
    }

    pub(super) async fn restart(&mut self, disaster: Option<Disaster>) {
        let unheard = self.simulation.shelf.in_hand();
        self.sentry.forget_home();
        self.simulation.store.crash().unwrap();
        if let Some(disaster) = disaster {
            self.befall(disaster);
        }
        if let Err(error) = self.simulation.begin_anew().await {
            self.fail(&format!("does not start: {error}"));
        }
        let all_before = self.records();
        let recovered = self.recover(disaster).await;
        self.tell(format!("started: {recovered:?}"));
        self.no_byte_is_gone(&all_before, &unheard, &recovered);
        // A13: what the archive itself remembers is never taken for nobody's.
        if !recovered.set_aside.is_empty() && disaster != Some(Disaster::PowerCut) {
            self.fail(&format!("A13: set aside after {disaster:?}: {recovered:?}"));
        }
        // A commit that nobody heard of counts if it happened.
        let there = self.stored().await;
        self.damage_is_noticed(&recovered, &there);
        let destroyed = &self.destroyed;
        let aside = self.set_aside();
        self.sentry.books(|books| {
            for record in unheard {
                if there.contains_key(&record.place()) && !books.captures.contains_key(&record.place()) {
                    let row = (record.collection.clone(), record.key.clone(), record.capture.clone());
                    books.captures.insert(record.place(), row);
                    books.committed += 1;
                }
            }
            // What was set aside is waiting for somebody; what is neither in the files nor in the
            // store, nobody can know of.
            let unknown = |place: &(String, u64)| destroyed.contains(place) && !there.contains_key(place);
            books.captures.retain(|place, _| !aside.contains(place) && !unknown(place));
            books.checker.forget_contract();
        });
        if disaster.is_none() && self.rng.u32(0..4) == 0 {
            self.copy = self.simulation.store.copy().unwrap();
        }
        let wrong = self.archive_agrees().await;
        if !wrong.is_empty() {
            self.fail(&format!("{wrong:#?}"));
        }
        self.nothing_is_doubled();
        self.look().await;
    }

    /// Starts until one comes through, with help where it asks for it.
    async fn recover(&mut self, disaster: Option<Disaster>) -> Recovered {
        let mut whole = Recovered::default();
        loop {
            let files_max = if self.rng.bool() { usize::MAX } else { self.rng.usize(0..3) };
            let (frontier, shelf) = (&self.simulation.frontier, &self.simulation.shelf);
            let recovered = recovery::start(frontier, shelf, files_max).await;
            let Recovered { behind, cut_back, taken_in, set_aside, short, missing, killed } = recovered;
            whole.cut_back.extend(cut_back);
            whole.taken_in += taken_in;
            whole.set_aside.extend(set_aside);
            whole.short.extend(short);
            whole.missing.extend(missing);
            if let Some(why) = behind {
                self.may_stop(disaster, why);
                whole.behind = Some(why);
                whole.taken_in += recovery::adopt(frontier, shelf).await;
            } else if killed {
                self.tell("killed while it started");
                self.simulation.store.crash().unwrap();
                self.simulation.begin_anew().await.unwrap();
            } else {
                break;
            }
        }
        // Sooner or later somebody reads what was set aside.
        if !self.set_aside().is_empty() {
            self.asides += 1;
            if self.asides.is_multiple_of(2) {
                let (frontier, shelf) = (&self.simulation.frontier, &self.simulation.shelf);
                let adopted = recovery::adopt(frontier, shelf).await;
                self.take_note_of_adopted().await;
                self.tell(format!("{adopted} captures are adopted from what was set aside"));
            }
        }
        whole
    }

    /// What was set aside and is adopted is there again.
    async fn take_note_of_adopted(&mut self) {
        let stored = self.stored().await;
        let records = self.simulation.shelf.records();
        self.sentry.books(|books| {
            for record in records.iter().filter(|record| stored.contains_key(&record.place())) {
                let row = (record.collection.clone(), record.key.clone(), record.capture.clone());
                books.captures.entry(record.place()).or_insert(row);
            }
        });
    }

    /// A13: a start stops only where the store is not what it was, or nobody could tell.
    fn may_stop(&self, disaster: Option<Disaster>, why: Why) {
        let expected = match (disaster, why) {
            (Some(Disaster::OlderStore), Why::Older { batch, certain }) => batch < certain,
            // A copy from before captures were read back.
            (Some(Disaster::OlderStore), Why::Another) => true,
            (Some(Disaster::NoJournal | Disaster::OlderStoreNoJournal), Why::NoJournal) => true,
            _ => false,
        };
        if !expected {
            self.fail(&format!("A13: a start stops after {disaster:?}: {why:?}"));
        }
    }

    /// Every record there is, also in files that were set aside.
    pub(super) fn records(&self) -> BTreeMap<(String, u64), Record> {
        let shelf = &self.simulation.shelf;
        let of = |held: sim::Held| shelf.records_from(&held.name, 0);
        shelf.held().into_iter().flat_map(of).map(|record| (record.place(), record)).collect()
    }

    fn set_aside(&self) -> BTreeSet<(String, u64)> {
        let counting: BTreeSet<_> = self.simulation.shelf.records().iter().map(Record::place).collect();
        self.records().into_keys().filter(|place| !counting.contains(place)).collect()
    }

    /// A13: nothing goes but the batch in hand, and that only where it was not committed.
    fn no_byte_is_gone(
        &self,
        before: &BTreeMap<(String, u64), Record>,
        in_hand: &[Record],
        recovered: &Recovered,
    ) {
        let now = self.records();
        let in_hand: BTreeSet<_> = in_hand.iter().map(Record::place).collect();
        let gone = before.keys().filter(|place| !now.contains_key(*place) && !in_hand.contains(*place));
        let gone: Vec<_> = gone.collect();
        let heard = self.sentry.books(|books| {
            let known = books.captures.keys().filter(|place| !self.destroyed.contains(*place));
            known.filter(|place| !now.contains_key(*place)).cloned().collect::<Vec<_>>()
        });
        if !gone.is_empty() || !heard.is_empty() {
            self.fail(&format!("A13: {gone:?} are gone, of which {heard:?} were committed; {recovered:?}"));
        }
    }

    /// A14: a file that is missing or too short for what the store knows of it is told, and no
    /// other is.
    fn damage_is_noticed(&self, recovered: &Recovered, stored: &BTreeMap<(String, u64), String>) {
        let told: BTreeSet<&String> = recovered.short.iter().chain(&recovered.missing).collect();
        let more: Vec<_> = told.iter().filter(|name| !self.damaged.contains(**name)).collect();
        if !more.is_empty() {
            self.fail(&format!("A14: {more:?} are as they were"));
        }
        let lost = stored.keys().filter(|place| self.destroyed.contains(*place)).map(|(file, _)| file);
        let unnoticed: BTreeSet<_> = lost.filter(|file| !told.contains(file)).collect();
        if !unnoticed.is_empty() {
            self.fail(&format!("A14: nobody noticed that captures are gone from {unnoticed:?}"));
        }
    }
}
