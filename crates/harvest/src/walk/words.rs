//! A walk in a few words.

use declare::text::rate_text;
use frontier::WalkRun;
use policy::time::Span;
use policy::unit::print_duration;
use policy::walk::{Walk, Why};

/// Requests a second of a run; none before there were two.
#[allow(clippy::cast_precision_loss, reason = "a rate")]
pub fn rate(run: &WalkRun) -> Option<f64> {
    let took = run.last?.since(run.first?);
    (took > Span::ZERO && run.requests > 1).then(|| (run.requests - 1) as f64 * 1000.0 / took.0 as f64)
}

/// How long it still takes at this rate, where a bound is known and nothing else has ended it.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a forecast"
)]
pub fn forecast(walk: &Walk, run: &WalkRun) -> Option<Span> {
    let goes_on = matches!(walk.ended(), None | Some(Why::Interrupted));
    let remaining = walk.counts().remaining.filter(|ids| *ids > 0 && goes_on)?;
    Some(Span::seconds((remaining as f64 / rate(run)?) as u64))
}

/// `1200 found, 34 missing, 18766 to go, 120/s, done in 2m36s`.
pub fn figures(walk: &Walk, run: &WalkRun) -> String {
    let counts = walk.counts();
    let mut words = vec![format!("{} found", counts.content), format!("{} missing", counts.holes)];
    words.extend(counts.remaining.map(|ids| format!("{ids} to go")));
    words.extend(rate(run).map(|rate| format!("{}/s", rate_text(rate))));
    words.extend(forecast(walk, run).map(|span| format!("done in {}", print_duration(span))));
    words.join(", ")
}
