//! Random histories of three interleaved transactions and restarts, against a model that is
//! obviously right: a snapshot is a copy of the whole map, and a commit fails if any of its keys
//! was committed since.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::Subject;
use crate::error::Error;
use crate::table::KeyRange;
use crate::txn::{Order, Tx};

const SLOTS: usize = 3;

#[derive(Clone, Debug)]
enum Op {
    Begin(usize),
    Get(usize, u8),
    MultiGet(usize, Vec<u8>),
    Put(usize, u8, u8),
    Delete(usize, u8),
    Lock(usize, u8),
    Scan { slot: usize, from: u8, to: u8, limit: usize, backward: bool },
    Commit(usize),
    Abandon(usize),
    Restart,
}

fn op() -> impl Strategy<Value = Op> {
    let slot = 0..SLOTS;
    let key = 0u8..12;
    prop_oneof![
        4 => slot.clone().prop_map(Op::Begin),
        4 => (slot.clone(), key.clone()).prop_map(|(s, k)| Op::Get(s, k)),
        1 => (slot.clone(), prop::collection::vec(key.clone(), 0..5)).prop_map(|(s, k)| Op::MultiGet(s, k)),
        6 => (slot.clone(), key.clone(), any::<u8>()).prop_map(|(s, k, v)| Op::Put(s, k, v)),
        3 => (slot.clone(), key.clone()).prop_map(|(s, k)| Op::Delete(s, k)),
        2 => (slot.clone(), key.clone()).prop_map(|(s, k)| Op::Lock(s, k)),
        3 => (slot.clone(), key.clone(), key, 1usize..6, any::<bool>())
            .prop_map(|(slot, from, to, limit, backward)| Op::Scan { slot, from, to, limit, backward }),
        5 => slot.clone().prop_map(Op::Commit),
        1 => slot.prop_map(Op::Abandon),
        1 => Just(Op::Restart),
    ]
}

type Rows = BTreeMap<u8, u8>;

/// A transaction in the model.
struct Shadow {
    view: Rows,
    begun: usize,
    touched: BTreeSet<u8>,
    writes: BTreeMap<u8, Option<u8>>,
}

#[derive(Default)]
struct Model {
    rows: Rows,
    /// The keys of each commit.
    commits: Vec<BTreeSet<u8>>,
}

impl Model {
    fn begin(&self) -> Shadow {
        Shadow {
            view: self.rows.clone(),
            begun: self.commits.len(),
            touched: BTreeSet::new(),
            writes: BTreeMap::new(),
        }
    }

    fn commit(&mut self, shadow: Shadow) -> bool {
        if self.commits[shadow.begun..].iter().any(|keys| !keys.is_disjoint(&shadow.touched)) {
            return false;
        }
        for (key, value) in shadow.writes {
            match value {
                Some(value) => self.rows.insert(key, value),
                None => self.rows.remove(&key),
            };
        }
        self.commits.push(shadow.touched);
        true
    }
}

impl Shadow {
    fn write(&mut self, key: u8, value: Option<u8>) {
        self.touched.insert(key);
        self.writes.insert(key, value);
        match value {
            Some(value) => self.view.insert(key, value),
            None => self.view.remove(&key),
        };
    }

    fn scan(&self, from: u8, to: u8, limit: usize, backward: bool) -> Vec<(u8, u8)> {
        let mut rows: Vec<_> =
            self.view.iter().filter(|(key, _)| (from..to).contains(key)).map(|(k, v)| (*k, *v)).collect();
        if backward {
            rows.reverse();
        }
        rows.truncate(limit);
        rows
    }
}

pub fn random_histories_match_the_model<S: Subject>() {
    let mut runner = TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
    runner.run(&prop::collection::vec(op(), 1..120), |ops| check::<S>(&ops)).unwrap();
}

fn check<S: Subject>(ops: &[Op]) -> Result<(), TestCaseError> {
    let mut subject = S::fresh();
    let mut model = Model::default();
    let mut slots: [Option<(Tx, Shadow)>; SLOTS] = Default::default();
    for op in ops {
        if let Op::Restart = op {
            slots = Default::default();
            subject = subject.restart();
            continue;
        }
        S::run(step(&subject, &mut model, &mut slots, op))?;
    }
    slots[0] = None;
    S::run(async {
        step(&subject, &mut model, &mut slots, &Op::Begin(0)).await?;
        let all = Op::Scan { slot: 0, from: 0, to: 255, limit: 100, backward: false };
        step(&subject, &mut model, &mut slots, &all).await
    })
}

async fn step<S: Subject>(
    subject: &S,
    model: &mut Model,
    slots: &mut [Option<(Tx, Shadow)>; SLOTS],
    op: &Op,
) -> Result<(), TestCaseError> {
    let store = subject.store();
    let slot = match op {
        Op::Begin(slot) => {
            if slots[*slot].is_none() {
                slots[*slot] = Some((store.begin().await.unwrap(), model.begin()));
            }
            return Ok(());
        }
        Op::Restart => return Ok(()),
        Op::Get(slot, _)
        | Op::MultiGet(slot, _)
        | Op::Put(slot, ..)
        | Op::Delete(slot, _)
        | Op::Lock(slot, _)
        | Op::Scan { slot, .. }
        | Op::Commit(slot)
        | Op::Abandon(slot) => *slot,
    };
    let Some((tx, mut shadow)) = slots[slot].take() else { return Ok(()) };
    match op {
        Op::Abandon(_) => return Ok(()),
        Op::Commit(_) => {
            let committed = match store.commit(&tx).await {
                Ok(()) => true,
                Err(Error::Conflict { .. }) => false,
                Err(other) => panic!("{other}"),
            };
            // A transaction that wrote and locked nothing is not a commit.
            let expected = shadow.touched.is_empty() || model.commit(shadow);
            prop_assert_eq!(committed, expected, "commit of {}", slot);
            return Ok(());
        }
        Op::Get(_, key) => {
            let found = tx.get(&[*key]).await.unwrap().map(|value| value[0]);
            prop_assert_eq!(found, shadow.view.get(key).copied());
        }
        Op::MultiGet(_, keys) => {
            let asked: Vec<[u8; 1]> = keys.iter().map(|key| [*key]).collect();
            let found: Vec<_> =
                tx.multi_get(&asked).await.unwrap().into_iter().map(|v| v.map(|value| value[0])).collect();
            prop_assert_eq!(found, keys.iter().map(|key| shadow.view.get(key).copied()).collect::<Vec<_>>());
        }
        Op::Put(_, key, value) => {
            tx.put([*key], [*value]).unwrap();
            shadow.write(*key, Some(*value));
        }
        Op::Delete(_, key) => {
            tx.delete([*key]).unwrap();
            shadow.write(*key, None);
        }
        Op::Lock(_, key) => {
            let found = tx.lock(&[*key]).await.unwrap().map(|value| value[0]);
            prop_assert_eq!(found, shadow.view.get(key).copied());
            shadow.touched.insert(*key);
        }
        Op::Scan { from, to, limit, backward, .. } => {
            let order = if *backward { Order::Backward } else { Order::Forward };
            let range = KeyRange { from: vec![*from], to: vec![*to] };
            let page = tx.scan(&range, *limit, order).await.unwrap();
            let found: Vec<_> = page.items.iter().map(|(key, value)| (key[0], value[0])).collect();
            prop_assert_eq!(found, shadow.scan(*from, *to, *limit, *backward));
        }
        Op::Begin(_) | Op::Restart => {}
    }
    slots[slot] = Some((tx, shadow));
    Ok(())
}
