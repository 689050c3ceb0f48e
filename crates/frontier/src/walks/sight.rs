//! Walks as people handle them: looked at, and resumed (L11, L12).

use policy::model::DeclaredWalk;
use policy::walk::{Changes, Refusal, Resume, Walk};
use store::{Error, Tx};

use super::results::{Step, close};
use super::{Walks, handled, round_of, stretches};
use crate::Frontier;
use crate::declared::DeclareError;
use crate::schema::{WALK_IDS, WALKS, WalkRun};
use crate::shard::shard_of;

/// A walk, with all that is known of its ids.
#[derive(Clone, Debug)]
pub struct WalkSight {
    pub declared: DeclaredWalk,
    pub walk: Walk,
    pub run: WalkRun,
    /// Its run has ended.
    pub ended: bool,
    /// It was declared, but nothing of it has been tried.
    pub is_new: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    #[error("there is no walk {0:?}")]
    Unknown(String),
    #[error("ids of walk {0:?} are being fetched")]
    Busy(String),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Store(#[from] Error),
}

impl Frontier {
    /// A declared walk as it stands in the store.
    #[crate::boxed]
    pub async fn walk(&self, name: &str) -> Result<WalkSight, WalkError> {
        let tx = self.store.begin().await?;
        self.declared.catch_up(&tx).await?;
        let declared = self.declared.catalog.read().walk(name).cloned();
        let declared = declared.ok_or_else(|| WalkError::Unknown(name.to_owned()))?;
        let settings = declared.settings.clone();
        let Some(row) = WALKS.get(&tx, (name,)).await? else {
            let walk = Walk::new(settings);
            return Ok(WalkSight { declared, walk, run: WalkRun::default(), ended: false, is_new: true });
        };
        let walk = Walk::look(settings, row.head, stretches(&tx, name).await?)?;
        let is_new = walk.covered().is_none() && !row.ended;
        Ok(WalkSight { declared, walk, run: row.run, ended: row.ended, is_new })
    }

    /// A walk as it stands in memory, where it is being walked.
    pub fn peek_walk<T>(&self, name: &str, look: impl FnOnce(&Walk, &WalkRun) -> T) -> Option<T> {
        let mut room = self.walks.0.lock();
        room.strand(name).map(|strand| look(&strand.walk, &strand.run))
    }

    /// Whether these walks, as far as they are switched on, have nothing left to do. What was not
    /// looked at yet is not over.
    pub fn walks_have_ended(&self, names: &[String]) -> bool {
        let mut room = self.walks.0.lock();
        room.version.is_some()
            && names.iter().all(|name| room.strand(name).is_some_and(|strand| strand.has_nothing()))
    }

    /// Whether the walks of other nodes have nothing left to do, as far as they are switched on.
    pub(crate) async fn walks_elsewhere_ended(&self, tx: &Tx) -> store::Result<bool> {
        for (walk, paused) in self.declared_walks() {
            if paused || self.share.works_on(shard_of(&round_of(&walk))) {
                continue;
            }
            if !WALKS.get(tx, (&walk.name,)).await?.is_some_and(|row| row.ended) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether what is known of a walk's ids can go on with these settings.
    pub(crate) async fn check_walk(&self, walk: &DeclaredWalk) -> Result<(), DeclareError> {
        let Some(row) = WALKS.get(&self.store.begin().await?, (&walk.name,)).await? else { return Ok(()) };
        match Walk::look(walk.settings.clone(), row.head, []) {
            Ok(_) => Ok(()),
            Err(refusal) => Err(DeclareError::Walk { walk: walk.name.clone(), refusal }),
        }
    }

    /// L11: begins another run of a walk, or its first. Not while its ids are in flight; other
    /// walks go on as they were.
    #[crate::boxed]
    pub async fn resume_walk(&self, name: &str, resume: Resume) -> Result<(), WalkError> {
        // No reservation is under way that has taken ids off it.
        let _no_reservation = self.reserving.lock().await;
        let tx = self.store.begin().await?;
        self.declared.catch_up(&tx).await?;
        let declared = self.declared.catalog.read().walk(name).cloned();
        let declared = declared.ok_or_else(|| WalkError::Unknown(name.to_owned()))?;
        let row = WALKS.get(&tx, (name,)).await?;
        let elsewhere = self.share.has_company() && !self.share.works_on(shard_of(&round_of(&declared)));
        let rests = match elsewhere {
            // Nobody here knows what is in flight.
            true => row.as_ref().is_none_or(|row| row.ended),
            false => self.walks.is_at_rest(name, row.as_ref().map(|row| row.run)),
        };
        if !rests {
            return Err(WalkError::Busy(name.to_owned()));
        }
        let head = match &row {
            Some(row) => Some(row.head.clone()),
            // It begins by itself; only holes it has none.
            None if resume != Resume::Holes => return Ok(()),
            None => Walk::new(declared.settings.clone()).dirty().map(|changes| changes.head),
        };
        let Some(head) = head else { return Ok(()) };
        let stretches = stretches(&tx, name).await?;
        let mut walk = Walk::resume(declared.settings, head.clone(), stretches, resume)?;
        drop(tx);
        close(&mut walk);
        let ended = walk.ended().is_some();
        let changes = walk.dirty().unwrap_or(Changes { head, stretches: Vec::new() });
        let step =
            &Step { walk: name.to_owned(), changes, resume, ended, run: WalkRun::default(), claim: None };
        let seen = &row;
        let written = self.store.transact_idempotent(|tx| async move {
            // Another node may have resumed it since, and walked on: its steps stay as they are.
            let now = WALKS.lock(&tx, (name,)).await?;
            if now != *seen && now.as_ref() != Some(&step.row()) {
                return Ok(false);
            }
            handled(&tx).await?;
            step.write(&tx)?;
            Ok(true)
        });
        let written = written.await;
        self.walks.reload(name);
        if written? { Ok(()) } else { Err(WalkError::Busy(name.to_owned())) }
    }

    /// Forgets what is known of a walk's ids, as if it had never been walked.
    #[crate::boxed]
    pub async fn forget_walk(&self, name: &str) -> Result<(), WalkError> {
        let forget = self.store.transact_idempotent(|tx| async move {
            handled(&tx).await?;
            WALKS.delete(&tx, (name,))?;
            for (stretch, _) in stretches(&tx, name).await? {
                WALK_IDS.delete(&tx, (name, stretch))?;
            }
            Ok(())
        });
        forget.await?;
        self.walks.forget();
        Ok(())
    }
}

impl Walks {
    /// Nothing of it is in flight, and all its results are committed: the run in its row is the one
    /// in memory.
    fn is_at_rest(&self, name: &str, stored: Option<WalkRun>) -> bool {
        let mut room = self.0.lock();
        let stored = stored.unwrap_or_default();
        room.strand(name).is_none_or(|strand| strand.walk.in_flight() == 0 && strand.run == stored)
    }

    /// Its rows say something else now: it is read anew, and the others stay as they are. Not while
    /// a reservation is under way.
    fn reload(&self, name: &str) {
        let mut room = self.0.lock();
        room.version = None;
        room.rounds.iter_mut().for_each(|round| round.walks.retain(|strand| strand.declared.name != name));
    }
}
