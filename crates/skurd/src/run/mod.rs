//! A harvest from the command line, and everything that is told about it: while it goes
//! ([`progress`]) and at its end ([`summary`]).

mod progress;
mod summary;

use std::sync::Arc;

use anyhow::Result;
use frontier::Witness;
use harvest::{Harvest, Outcome, Until};
use progress::Teller;
pub(crate) use summary::{data_flag, summarise};
use tokio::sync::watch;

/// Harvests until its end, or until a signal asks it to stop, and tells of it. The audience hears
/// of every harvest.
pub(crate) fn told(
    harvest: &Harvest,
    until: &Until,
    json: bool,
    audience: Option<Arc<dyn Witness>>,
) -> Result<Outcome> {
    let figures = Arc::clone(&harvest.figures);
    let teller = Arc::new(Teller::new(Arc::clone(&figures), json, audience));
    let ran = harvest.run(until, figures, &teller, watch::channel(false).0);
    teller.end();
    ran
}
