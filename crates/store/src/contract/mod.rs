//! What every engine must do, as a suite that every engine runs.
//!
//! An engine's test names a [`Subject`] and calls [`contract!`](crate::contract!), which makes one
//! test of each check. The checks use the public interface only. Killing a real process is in
//! [`crash`], for engines that outlive one.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a suite of assertions")]

mod contention;
pub mod crash;
mod fresh;
pub mod golden;
mod history;
mod isolation;
mod shape;
pub mod upgrading;

pub use contention::*;
pub use fresh::fresh;
#[cfg(feature = "tikv")]
pub use fresh::fresh_address;
pub use history::*;
pub use isolation::*;
pub use shape::*;

use crate::store::Store;
use crate::table::KeyRange;
use crate::txn::Tx;

/// A store under test and what keeps it alive.
pub trait Subject: Sized {
    /// A new, empty store.
    fn fresh() -> Self;
    fn store(&self) -> &Store;
    /// Ends it without warning, as a crash would, and opens what is left.
    fn restart(self) -> Self;
    /// What is not there to test against, if anything.
    fn missing() -> Option<&'static str> {
        None
    }
    /// Runs a check. An engine whose connections live in a runtime keeps one for all of them.
    fn run<T>(future: impl Future<Output = T>) -> T {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.worker_threads(2).enable_time().build().unwrap().block_on(future)
    }
}

/// Makes a test of each check for a [`Subject`].
#[macro_export]
macro_rules! contract {
    ($subject:ty) => {
        $crate::contract!(@ $subject:
            reads_see_own_writes, dirty_writes_are_not_read, reads_repeat, scans_ignore_later_inserts,
            lost_updates_are_refused, blind_writes_conflict_too, deletes_conflict, write_skew_happens,
            a_lock_stops_write_skew, locks_conflict_with_locks, locks_do_not_outlive_their_commit, a_lock_keeps_an_own_write, readers_never_conflict,
            abandoned_transactions_leave_nothing, ended_transactions_are_spent, commits_are_seen_by_the_next,
            keys_are_in_byte_order, limits_are_told_and_exact, scans_go_on_where_they_stopped,
            long_scans_are_cut_by_bytes, big_transactions_are_whole, multi_get_keeps_the_order_of_keys,
            committed_is_kept_over_restart, counters_lose_nothing_under_contention, nobody_starves,
            attempts_are_bounded, random_histories_match_the_model,
        );
    };
    (@ $subject:ty: $($check:ident),* $(,)?) => {
        $(#[test]
        fn $check() {
            match <$subject as $crate::contract::Subject>::missing() {
                Some(what) => eprintln!("skipped: {what}"),
                None => $crate::contract::$check::<$subject>(),
            }
        })*
    };
}

async fn put_all(store: &Store, pairs: &[(&str, &str)]) {
    let tx = store.begin().await.unwrap();
    for (key, value) in pairs {
        tx.put(key.as_bytes(), value.as_bytes()).unwrap();
    }
    store.commit(&tx).await.unwrap();
}

async fn value(tx: &Tx, key: &str) -> Option<String> {
    tx.get(key.as_bytes()).await.unwrap().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
}

fn range(from: &str, to: &str) -> KeyRange {
    KeyRange { from: from.into(), to: to.into() }
}
