//! What a harvest leaves in the record whatever becomes of the URL (F18–F20).

use crate::changes::Changes;
use crate::hint::Hint;
use crate::model::{LastFetch, Record};
use crate::outcome::{Answer, Fetched, Response};
use crate::time::Time;
use crate::trap::text::Moved;

/// F18–F20: last fetch, counts, cycles and what a revisit is compared with. Depth stays.
pub(super) fn counted(before: &Record, fetched: &Fetched) -> Record {
    let mut record = Record { linked: before.linked.min(fetched.at), ..before.clone() };
    // F40: nothing is harvested before it is due; where it seems so, the clock went back meanwhile.
    let slot = slot(before).min(fetched.at);
    match &fetched.answer {
        Answer::Response(response) => {
            let error = is_error(response.status);
            record.errors = if error { before.errors.saturating_add(1) } else { 0 };
            record.not_found =
                if is_not_found(response.status) { before.not_found.saturating_add(1) } else { 0 };
            record.cycles = before.cycles.saturating_add(u32::from(!error));
            record.changes = observed(before, response, fetched.at);
            record.moved = moved(before, fetched).or(record.moved);
            if has_content(response) {
                // Whether it was true or not: the next claim is of what comes after this harvest.
                record.hint = record.hint.map(|hint| Hint { claim: None, ..hint });
            }
            record.last = Some(LastFetch { at: fetched.at, due: slot });
            remember(&mut record, response);
        }
        Answer::NoAnswer(_) => {
            record.errors = before.errors.saturating_add(1);
            record.not_found = 0;
            let at = if fetched.dns_failed { before.last.map(|last| last.at) } else { Some(fetched.at) };
            record.last = at.map(|at| LastFetch { at, due: slot });
        }
    }
    record
}

/// The slot this harvest was for: its due time, unless that was a retry's.
fn slot(before: &Record) -> Time {
    match before.last {
        Some(last) if before.errors > 0 => last.due,
        _ => before.due,
    }
}

/// F41: whether it changed, and in how long; only where there is something to compare with, and where
/// it is known how long ago that was: after errors it is not.
fn observed(before: &Record, response: &Response, at: Time) -> Changes {
    match before.last.filter(|_| can_tell(before, response)) {
        Some(last) if at > last.at => before.changes.after(at.since(last.at), !response.unchanged),
        _ => before.changes,
    }
}

fn can_tell(before: &Record, response: &Response) -> bool {
    before.errors == 0 && before.digest.is_some() && has_content(response)
}

fn has_content(response: &Response) -> bool {
    matches!(response.status, 200..=299 | 304)
}

/// F41: what came of the claim that it has changed, where there is one.
pub(super) fn proved(before: &Record, fetched: &Fetched) -> Option<bool> {
    before.hint.and_then(|hint| hint.claim)?;
    match &fetched.answer {
        Answer::Response(response) if can_tell(before, response) => Some(!response.unchanged),
        _ => None,
    }
}

/// F37: how far its text moved.
pub(super) fn moved(before: &Record, fetched: &Fetched) -> Option<Moved> {
    match &fetched.answer {
        Answer::Response(response) if !response.unchanged && (200..300).contains(&response.status) => {
            Moved::between(before.sketch?, response.sketch?)
        }
        _ => None,
    }
}

/// Only good content is worth asking about again; an unchanged answer may bring new validators. One
/// without a digest is not what we have: what it stands for cannot be read any more, and is asked
/// for as a whole.
fn remember(record: &mut Record, response: &Response) {
    if response.unchanged && response.digest.is_none() {
        (record.digest, record.etag, record.last_modified) = (None, None, None);
    } else if response.unchanged {
        record.etag = response.etag.clone().or(record.etag.take());
        record.last_modified = response.last_modified.clone().or(record.last_modified.take());
    } else if (200..300).contains(&response.status) {
        record.digest.clone_from(&response.digest);
        record.etag.clone_from(&response.etag);
        record.last_modified.clone_from(&response.last_modified);
        record.sketch = response.sketch;
    }
}

/// F19.
fn is_error(status: u16) -> bool {
    status == 429 || status >= 500
}

/// F19.
fn is_not_found(status: u16) -> bool {
    status == 404 || status == 410
}
