use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Runs futures to their end on this thread, letting a random one take the next step each time.
///
/// With a store that pauses between operations, their transactions interleave in every order, and
/// the same generator gives the same order again.
pub fn interleave<T>(futures: Vec<Pin<Box<dyn Future<Output = T> + '_>>>, rng: &mut fastrand::Rng) -> Vec<T> {
    let mut cx = Context::from_waker(Waker::noop());
    let mut results: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    // Tokio's locks stop answering a task that never returns to the runtime; this one does not until
    // all is done.
    let running = futures.into_iter().map(|future| Box::pin(tokio::task::unconstrained(future)));
    let mut running: Vec<_> = running.enumerate().collect();
    while !running.is_empty() {
        let at = rng.usize(0..running.len());
        let (index, future) = &mut running[at];
        if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
            results[*index] = Some(value);
            drop(running.swap_remove(at));
        }
    }
    results.into_iter().flatten().collect()
}
