use std::sync::atomic::{AtomicI64, Ordering};

use frontier::ports::Clock;
use policy::time::{Span, Time};

/// Stands still until it is told to go.
#[derive(Debug)]
pub struct VirtualClock(AtomicI64);

impl VirtualClock {
    pub fn at(time: Time) -> VirtualClock {
        VirtualClock(AtomicI64::new(time.0))
    }

    pub fn set(&self, time: Time) {
        self.0.store(time.0, Ordering::Relaxed);
    }

    pub fn advance(&self, span: Span) {
        self.set(self.now().plus(span));
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Time {
        Time(self.0.load(Ordering::Relaxed))
    }
}
