//! A store for tests of what is built on one.

use crate::store::Store;

/// A store with nothing in it: in memory, or with the feature `tikv` and a placement driver in
/// `SKURD_TEST_PD` on that cluster, under a prefix of its own and for one process alone, which
/// goes by a clock of its own.
pub fn fresh(seed: u64) -> Store {
    #[cfg(feature = "tikv")]
    if let Some(pd) = std::env::var("SKURD_TEST_PD").ok().filter(|pd| !pd.is_empty()) {
        let address = format!("tikv://{pd}/test-{:016x}?gc=off", fastrand::u64(..));
        let store = Store::open_cluster(&address.parse().unwrap(), &crate::Options::default()).unwrap();
        store.be_alone();
        return store;
    }
    Store::in_memory(seed)
}
