//! What a start changes about a URL that is already queued (F2): nothing stands between it and its
//! harvest any more.

use crate::model::Record;
use crate::outlink::Action;
use crate::time::Time;

/// F2: due now, whenever it was last fetched, and its counts begin anew; what a revisit is compared
/// with stays. `action` is what the start would do as a link.
pub(super) fn due_now(action: Action, queued: &Record, now: Time) -> Action {
    let record = match action {
        Action::Update(record) => record,
        Action::Keep => queued.clone(),
        other => return other,
    };
    let started = Record { due: record.due.min(now), last: None, errors: 0, not_found: 0, ..record };
    if started == *queued { Action::Keep } else { Action::Update(started) }
}
