//! A store for tests of what is built on one.

use crate::store::Store;

/// Where a fresh store on a cluster is, if there is a cluster: `SKURD_TEST_PD` is the address of a
/// placement driver; `SKURD_TEST_CERTIFICATES` a directory with `ca.pem`, `client.pem` and
/// `client.key`, where it wants certificates.
#[cfg(feature = "tikv")]
pub fn fresh_address() -> Option<String> {
    let given = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let certificates = given("SKURD_TEST_CERTIFICATES")
        .map(|dir| format!("&ca={dir}/ca.pem&cert={dir}/client.pem&key={dir}/client.key"));
    let (pd, certificates) = (given("SKURD_TEST_PD")?, certificates.unwrap_or_default());
    Some(format!("tikv://{pd}/test-{:016x}?gc=off{certificates}", fastrand::u64(..)))
}

/// A store with nothing in it: in memory, or with the feature `tikv` and a placement driver in
/// `SKURD_TEST_PD` on that cluster, under a prefix of its own and for one process alone, which
/// goes by a clock of its own.
pub fn fresh(seed: u64) -> Store {
    #[cfg(feature = "tikv")]
    if let Some(address) = fresh_address() {
        let store = Store::open_cluster(&address.parse().unwrap(), &crate::Options::default()).unwrap();
        store.be_alone();
        return store;
    }
    Store::in_memory(seed)
}
