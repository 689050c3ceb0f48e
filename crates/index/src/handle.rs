//! A handle on one index of a store (X13). Every index has a name, and a number that stands in its
//! keys.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use store::{Error, Order, Result, Store};

use crate::observe::Board;
use crate::schema::INDEXES;

/// Indexes of one store: as many as collections make sense, and numbers never run out.
const INDEXES_MAX: usize = 10_000;

/// A row of `INDEXES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub number: u32,
    /// How often it was opened: every handle notifies under a number of its own.
    pub opened: u64,
}

/// One index. Handles are cheap to clone, and clones share their observers' memory.
#[derive(Clone)]
pub struct Index {
    shared: Arc<Shared>,
}

struct Shared {
    store: Store,
    name: String,
    number: u32,
    board: Board,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("name", &self.shared.name).field("number", &self.shared.number).finish()
    }
}

impl Index {
    /// Opens the index of this name, and makes it if it is not there.
    #[crate::boxed]
    pub async fn open(store: &Store, name: &str) -> Result<Index> {
        if name.is_empty() {
            return Err(Error::lasting("an index needs a name"));
        }
        let entry = store.transact_idempotent(|tx| async move {
            let entry = match INDEXES.get(&tx, (name,)).await? {
                Some(entry) => Entry { opened: entry.opened + 1, ..entry },
                None => Entry { number: free_number(&tx).await?, opened: 0 },
            };
            INDEXES.put(&tx, (name,), &entry)?;
            Ok(entry)
        });
        Ok(Index::of(store, name, entry.await?))
    }

    /// The index of this name, if there is one.
    #[crate::boxed]
    pub async fn find(store: &Store, name: &str) -> Result<Option<Index>> {
        let known = INDEXES.get(&store.begin().await?, (name,)).await?;
        match known {
            Some(_) => Index::open(store, name).await.map(Some),
            None => Ok(None),
        }
    }

    /// The names of all indexes of a store, sorted.
    #[crate::boxed]
    pub async fn names(store: &Store) -> Result<Vec<String>> {
        let tx = store.begin().await?;
        let rows = INDEXES.scan(&tx, &INDEXES.range(()), INDEXES_MAX, Order::Forward).await?.rows;
        Ok(rows.into_iter().filter(|((name,), _)| !name.is_empty()).map(|((name,), _)| name).collect())
    }

    fn of(store: &Store, name: &str, entry: Entry) -> Index {
        let shared = Shared {
            store: store.clone(),
            name: name.to_owned(),
            number: entry.number,
            board: Board::new(entry.number, entry.opened),
        };
        Index { shared: Arc::new(shared) }
    }

    pub fn name(&self) -> &str {
        &self.shared.name
    }

    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    /// The first part of all its keys.
    pub(crate) fn number(&self) -> u32 {
        self.shared.number
    }

    pub(crate) fn board(&self) -> &Board {
        &self.shared.board
    }
}

/// The next number; the row without a name, which both of two openers write, says which.
pub(crate) async fn free_number(tx: &store::Tx) -> Result<u32> {
    let last = INDEXES.get(tx, ("",)).await?.map_or(0, |entry| entry.number);
    let number = last.checked_add(1).ok_or_else(|| Error::lasting("there are too many indexes"))?;
    INDEXES.put(tx, ("",), &Entry { number, opened: 0 })?;
    Ok(number)
}
