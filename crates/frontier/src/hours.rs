//! Hosts with windows (F38) that get others: they stand in the queue where the old ones open, and are
//! looked at once more when the new ones are declared, so that they need not wait that long.
//!
//! Narrower windows need nothing: whoever comes to the host outside them puts it back. Those of the
//! settings hold for too many hosts to look at; each comes to its new place by its old one.

use std::collections::BTreeSet;

use policy::catalog::{Catalog, Change};
use store::Result;

use crate::Frontier;
use crate::schema::HOSTS;

/// The hosts that these changes are about and that have windows so far.
pub(crate) fn with_windows(catalog: &Catalog, changes: &[Change]) -> BTreeSet<String> {
    let of_group = |name: &str| catalog.group(name).map_or(Vec::new(), |group| group.hosts.clone());
    let hosts = changes.iter().flat_map(|change| match change {
        Change::PutHostPoliteness { host, .. } | Change::DeleteHostPoliteness(host) => vec![host.clone()],
        Change::PutGroup(group) => [of_group(&group.name), group.hosts.clone()].concat(),
        Change::DeleteGroup(name) => of_group(name),
        _ => Vec::new(),
    });
    hosts.filter(|host| !catalog.politeness(host).windows.is_empty()).collect()
}

impl Frontier {
    /// Puts a host where it belongs now.
    pub(crate) async fn look_at_host(&self, name: &str) -> Result<()> {
        let stripe = self.draw();
        let writer = &self.writer();
        let look = self.store.transact_idempotent(|tx| async move {
            let transaction = self.transaction(&tx, writer, stripe).await?;
            let Some(mut host) = HOSTS.lock(&tx, (name,)).await? else { return Ok(()) };
            transaction.settle_host(name, &mut host).await
        });
        look.await
    }
}
