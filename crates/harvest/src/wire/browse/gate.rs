//! B8: how often and how many at a time what pages need is asked of one host, over all tabs. What is
//! too often, [`policy::requisite`] says; here is waited.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use policy::requisite::{AT_ONCE_MAX, NotNow, Pace};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Hosts that are remembered; those that nobody asks any more go first.
const HOSTS_MAX: usize = 10_000;

/// What there is to know of the hosts that pages need something of.
#[derive(Debug, Default)]
pub(super) struct Gates(Mutex<HashMap<String, Arc<Gate>>>);

#[derive(Debug)]
struct Gate {
    places: Arc<Semaphore>,
    pace: Mutex<Pace>,
    /// What its times count from.
    since: Instant,
}

/// Leave to ask, until it is dropped.
#[derive(Debug)]
pub(super) struct Leave(#[allow(dead_code, reason = "held for its end")] OwnedSemaphorePermit);

impl Gates {
    /// Waits until the host may be asked; none if it said that it does not want to be for now.
    pub(super) async fn enter(&self, host: &str) -> Option<Leave> {
        let gate = self.of(host);
        if gate.is_closed() {
            return None;
        }
        let place = Arc::clone(&gate.places).acquire_owned().await.ok()?;
        loop {
            // It may have asked to be left alone meanwhile.
            let begun = gate.pace.lock().begin(gate.since.elapsed());
            match begun {
                Ok(()) => return Some(Leave(place)),
                Err(NotNow::Closed) => return None,
                Err(NotNow::Until(until)) => tokio::time::sleep_until(gate.since + until).await,
            }
        }
    }

    /// The host said when to come back.
    pub(super) fn close(&self, host: &str, span: Duration) {
        let gate = self.of(host);
        gate.pace.lock().close(gate.since.elapsed() + span);
    }

    fn of(&self, host: &str) -> Arc<Gate> {
        let mut gates = self.0.lock();
        if gates.len() >= HOSTS_MAX && !gates.contains_key(host) {
            gates.retain(|_, gate| Arc::strong_count(gate) > 1 || gate.is_closed());
            if gates.len() >= HOSTS_MAX {
                gates.retain(|_, gate| Arc::strong_count(gate) > 1);
            }
        }
        Arc::clone(gates.entry(host.to_owned()).or_insert_with(|| Arc::new(Gate::new())))
    }
}

impl Gate {
    fn new() -> Gate {
        Gate { places: Arc::new(Semaphore::new(AT_ONCE_MAX)), pace: Mutex::default(), since: Instant::now() }
    }

    fn is_closed(&self) -> bool {
        self.pace.lock().is_closed(self.since.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use policy::requisite::A_SECOND_MAX;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn b8_a_host_is_asked_by_four_at_once_and_twenty_times_a_second() {
        let gates = Gates::default();
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let began = Mutex::new(Vec::new());
        let one = || async {
            let leave = gates.enter("a.test").await;
            assert!(leave.is_some());
            began.lock().push(Instant::now());
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(30)).await;
            now.fetch_sub(1, Ordering::SeqCst);
        };
        futures_util::future::join_all((0..200).map(|_| one())).await;
        assert_eq!(most.load(Ordering::SeqCst), 4);
        let began = began.into_inner();
        for window in began.windows(A_SECOND_MAX + 1) {
            assert!(window[A_SECOND_MAX] - window[0] >= Duration::from_secs(1));
        }
        // And no slower than it may be.
        assert!(began[199] - began[0] < Duration::from_secs(11));
    }

    #[tokio::test(start_paused = true)]
    async fn b8_a_host_that_said_when_is_not_asked_before() {
        let gates = Gates::default();
        gates.close("a.test", Duration::from_secs(60));
        assert!(gates.enter("a.test").await.is_none());
        assert!(gates.enter("b.test").await.is_some());
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(gates.enter("a.test").await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn b8_hosts_are_forgotten_when_there_are_too_many() {
        let gates = Gates::default();
        for number in 0..2 * HOSTS_MAX {
            drop(gates.enter(&number.to_string()).await);
        }
        assert!(gates.0.lock().len() <= HOSTS_MAX);
    }
}
