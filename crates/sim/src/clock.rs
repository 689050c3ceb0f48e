use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use frontier::ports::Clock;
use policy::time::{Span, Time};
use tokio::time::Instant;

/// The time of day on a runtime whose time is [paused](crate::virtual_time): it stands still while
/// anything can be done, and then passes in no time up to the moment for which somebody sleeps. It
/// may also be set, as clocks are, without anybody having slept.
#[derive(Debug)]
pub struct VirtualClock {
    began: Instant,
    /// What it would show if no time had passed.
    shows: AtomicI64,
}

impl VirtualClock {
    /// To be made on the runtime it belongs to.
    pub fn at(time: Time) -> VirtualClock {
        VirtualClock { began: Instant::now(), shows: AtomicI64::new(time.0) }
    }

    /// It shows so many milliseconds more, or less, from one moment to the next.
    pub fn jump(&self, ms: i64) {
        self.shows.fetch_add(ms, Ordering::Relaxed);
    }

    pub fn advance(&self, span: Span) {
        self.jump(i64::try_from(span.0).unwrap_or(i64::MAX));
    }

    pub fn set(&self, time: Time) {
        self.jump(time.0 - self.now().0);
    }

    /// Returns at that time, if the clock is not set meanwhile.
    pub async fn sleep_until(&self, time: Time) {
        tokio::time::sleep(Duration::from_millis(time.since(self.now()).0)).await;
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Time {
        Time(self.shows.load(Ordering::Relaxed)).plus(elapsed(self.began))
    }
}

fn elapsed(since: Instant) -> Span {
    Span(u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX))
}
