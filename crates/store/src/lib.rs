//! The room everything Skurd knows lives in: an ordered key-value store with transactions.
//!
//! One contract for every engine: **snapshot isolation with write-write conflict detection**, what
//! TiKV's optimistic transactions give and no more. [`Store::transact`] runs a closure against a
//! snapshot and commits what it wrote, all or nothing; it is the only place that retries. Keys are
//! made by [`table::Table`], never by hand. Which engine is behind a store is decided when it is
//! opened.
//!
//! ```
//! use store::{Store, table::Table};
//! const VISITS: Table<(String, u64), u32> = Table::new(1, "visits");
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let store = Store::in_memory(0);
//! let visits = store
//!     .transact(|tx| async move {
//!         let visits = VISITS.lock(&tx, ("example.org", 7)).await?.unwrap_or(0) + 1;
//!         VISITS.put(&tx, ("example.org", 7), &visits)?;
//!         Ok(visits)
//!     })
//!     .await?;
//! assert_eq!(visits, 1);
//! # Ok::<(), store::Error>(()) }).unwrap();
//! ```

mod ahead;
pub mod cluster;
#[cfg(feature = "contract")]
pub mod contract;
pub mod copy;
mod embedded;
mod engine;
mod error;
pub mod key;
pub mod limits;
mod mem;
mod notice;
mod place;
pub mod private;
mod recent;
mod retry;
mod stats;
mod store;
pub mod table;
#[cfg(feature = "tikv")]
mod tikv;
mod turn;
mod txn;
pub mod upgrade;

pub use embedded::{CheckReport, Options, TableSize};
pub use error::{Damage, Error, OpenError, Result};
pub use mem::{Faults, StoreCopy};
pub use notice::Notice;
pub use place::Place;
pub use stats::{Figures, Progress, RoundTrips};
pub use store::Store;
pub use txn::{Bytes, Durability, Order, Page, Tx};
