//! The phases of B11, one after the other; each ends by itself or by its limit.

use std::time::Duration;

use policy::browser::Ending;
use policy::time::Span;
use serde_json::Value;
use tokio::time::Instant;

use super::{Alive, END_STEP, Tab, duration, since};
use crate::pipe::CallError;
use crate::protocol::{CloseTarget, EndScript};
use crate::script;

/// Between two looks at whether it is quiet.
const LOOK: Duration = Duration::from_millis(20);

impl Tab<'_> {
    pub(super) async fn live(&mut self) -> Alive<()> {
        self.open().await?;
        let limits = self.visit.settings.limits;
        let load_end = self.limit(limits.load);
        let mut ending = Ending::Ok;
        self.navigate(load_end).await?;
        if !self.until(load_end, |tab| tab.loaded).await? && self.is_late() {
            ending = Ending::SlowLoad;
            self.truncate("load");
        }
        let quiet = duration(limits.quiet);
        let rest_end = load_end.max(self.limit(Span(limits.quiet.0.saturating_mul(3))));
        if ending == Ending::Ok
            && !self.until(rest_end, |tab| tab.visit.traffic.is_quiet(quiet)).await?
            && self.is_late()
        {
            ending = Ending::NeverIdle;
        }
        self.seen.phases.load = since(self.begun);
        let behaving = Instant::now();
        if self.behave().await? && ending == Ending::Ok {
            self.visit.traffic.touch();
            let end = self.limit(Span(limits.behave.0.max(limits.quiet.0.saturating_mul(3))));
            if !self.until(end, |tab| tab.visit.traffic.is_quiet(quiet)).await? && self.is_late() {
                ending = Ending::NeverIdle;
            }
        }
        self.seen.phases.behave = since(behaving);
        let collecting = Instant::now();
        let end = (collecting + duration(limits.collect)).min(self.begun + duration(limits.total));
        let collected = self.collect(end).await;
        self.seen.phases.collect = since(collecting);
        collected?;
        self.seen.ending = ending;
        Ok(())
    }

    /// What was waited for did not come in time; what did not come since the page used up what it may
    /// ask for is told by the proxy.
    fn is_late(&self) -> bool {
        !self.visit.traffic.is_over()
    }

    /// Waits until something holds, hearing of what happens meanwhile; false if time ran out first.
    async fn until(&mut self, end: Instant, holds: impl Fn(&Tab<'_>) -> bool) -> Alive<bool> {
        loop {
            self.hear_all().await?;
            if holds(self) {
                return Ok(true);
            }
            if Instant::now() >= end || self.visit.traffic.is_over() {
                return Ok(false);
            }
            let look = end.min(Instant::now() + LOOK);
            tokio::select! {
                event = self.events.recv() => self.hear(event).await?,
                () = tokio::time::sleep_until(look) => {}
            }
        }
    }

    /// Whether anything was done.
    async fn behave(&mut self) -> Alive<bool> {
        let behaviours = &self.visit.settings.behaviours;
        let limit = self.visit.settings.limits.behave;
        let end = self.limit(limit);
        self.is_awake().await?;
        let left = || u64::try_from(end.saturating_duration_since(Instant::now()).as_millis()).unwrap_or(0);
        let mut done = false;
        for script in [
            behaviours.click.as_ref().map(|selector| script::click(selector, left())),
            behaviours.scroll.then(|| script::scroll(left())),
        ]
        .into_iter()
        .flatten()
        {
            if left() == 0 {
                self.truncate("behave");
                break;
            }
            done = true;
            let Ok(world) = self.world().await else { break };
            match self.run(&script, Some(world), true, end + Duration::from_secs(1)).await {
                Ok(Value::Bool(true)) => {}
                Ok(_) | Err(CallError::Late(_)) => self.truncate("behave"),
                Err(CallError::Gone) => return Err(Ending::BrowserGone),
                // The document may have gone while it ran.
                Err(CallError::Refused { .. }) => {}
            }
            self.hear_all().await?;
        }
        Ok(done)
    }

    /// B12: ends the script, then closes the tab. Its context goes in any case, and then its process
    /// is killed.
    pub(super) async fn end_script(&mut self) {
        let _ = self.call(&EndScript {}, END_STEP).await;
        if let Some(own) = &self.own {
            let close = CloseTarget { target_id: &own.target };
            let _ = self.browser.pipe.call(None, &close, END_STEP).await;
        }
    }
}
