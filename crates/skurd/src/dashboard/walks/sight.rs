//! A walk as pages show it: from memory while it is being walked, else from the store.

use frontier::schema::WalkRun;
use frontier::{Pause, WalkError, WalkSight};
use policy::time::Span;
use policy::walk::{Cell, Counts, Head, Walk};

use super::STRETCHES;
use super::map::CELLS;
use crate::api::App;

pub(super) struct Sight {
    pub(super) name: String,
    pub(super) template: String,
    pub(super) profile: String,
    pub(super) active: bool,
    pub(super) paused: bool,
    pub(super) ended: bool,
    pub(super) is_new: bool,
    /// In this process, just now.
    pub(super) walking: bool,
    pub(super) counts: Counts,
    pub(super) heads: Vec<Head>,
    pub(super) run: WalkRun,
    /// First and last id of the map.
    pub(super) shown: (u64, u64),
    pub(super) cells: Vec<Cell>,
    pub(super) stretches: Vec<Cell>,
}

/// With the map of these ids, or of all there is something to say of.
pub(super) async fn of(app: &App, name: &str, part: Option<(u64, u64)>) -> Result<Sight, WalkError> {
    let sight = app.frontier.walk(name).await?;
    let live = app.frontier.peek_walk(name, |walk, run| made(&sight, walk, *run, part, true));
    let mut seen = live.unwrap_or_else(|| made(&sight, &sight.walk, sight.run, part, false));
    let pauses = app.frontier.paused().await?;
    seen.paused = pauses.iter().any(|(pause, _)| matches!(pause, Pause::Walk(own) if own == name));
    Ok(seen)
}

fn made(sight: &WalkSight, walk: &Walk, run: WalkRun, part: Option<(u64, u64)>, walking: bool) -> Sight {
    let shown = part.unwrap_or_else(|| interesting(walk));
    let (from, to) = (shown.0.min(shown.1), shown.0.max(shown.1));
    let tried = walk.covered().is_some();
    let cells = |most| if tried { walk.cells(from, to, most) } else { Vec::new() };
    Sight {
        name: sight.declared.name.clone(),
        template: sight.declared.settings.template().as_str().to_owned(),
        profile: sight.declared.profile.clone(),
        active: sight.declared.active,
        paused: false,
        ended: if walking { walk.ended().is_some() } else { sight.ended },
        is_new: sight.is_new,
        walking,
        counts: walk.counts(),
        heads: walk.heads(),
        run,
        shown: (from, to),
        cells: cells(CELLS),
        stretches: cells(STRETCHES),
    }
}

/// What was issued, and the way to the bounds where they are near enough to be seen beside it.
fn interesting(walk: &Walk) -> (u64, u64) {
    let settings = walk.settings();
    let Some(covered) = walk.covered() else {
        return (settings.min(), settings.max().unwrap_or(settings.start()));
    };
    let width = covered.end().saturating_sub(*covered.start()).max(64).saturating_mul(20);
    let low = if covered.start().saturating_sub(settings.min()) <= width {
        settings.min()
    } else {
        *covered.start()
    };
    let high =
        settings.max().filter(|max| max.saturating_sub(*covered.end()) <= width).unwrap_or(*covered.end());
    (low.min(*covered.start()), high.max(*covered.end()))
}

impl Sight {
    /// Requests a second in this run.
    #[allow(clippy::cast_precision_loss, reason = "a rate")]
    pub(super) fn rate(&self) -> Option<f64> {
        let passed = self.run.last?.since(self.run.first?).0;
        (passed > 0).then(|| self.run.requests as f64 * 1000.0 / passed as f64)
    }

    /// L12: until the bound, at this rate.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a forecast"
    )]
    pub(super) fn left(&self) -> Option<Span> {
        let (remaining, rate) = (self.counts.remaining?, self.rate()?);
        (rate > 0.0).then(|| Span((remaining as f64 * 1000.0 / rate) as u64))
    }
}
