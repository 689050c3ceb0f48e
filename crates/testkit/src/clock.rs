//! Clocks for tests: one that is moved by hand, and the simulator's, which passes with paused time.

use std::sync::atomic::{AtomicI64, Ordering};

use frontier::ports::Clock;
use policy::time::{Span, Time};

pub use sim::VirtualClock;

/// Monday, 5 January 2026: when most tests begin.
pub const START: Time = Time(1_767_571_200_000);

/// It stands still until somebody moves it.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn at(time: Time) -> ManualClock {
        ManualClock(AtomicI64::new(time.0))
    }

    pub fn advance(&self, span: Span) {
        self.0.fetch_add(i64::try_from(span.0).unwrap(), Ordering::Relaxed);
    }

    pub fn set(&self, time: Time) {
        self.0.store(time.0, Ordering::Relaxed);
    }
}

impl Default for ManualClock {
    fn default() -> ManualClock {
        ManualClock::at(START)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        Time(self.0.load(Ordering::Relaxed))
    }
}
