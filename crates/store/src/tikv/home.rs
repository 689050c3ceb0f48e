use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use tokio::runtime::{Builder, Handle, Runtime};

/// The runtime that the connections live in. Whoever waits for one of them does so on its own, with
/// this one around it, so that what the client starts on the way is started here.
#[derive(Clone)]
pub(super) struct Home {
    handle: Handle,
    /// Ends with the last that has it.
    _runtime: Arc<Ends>,
}

struct Ends(Option<Runtime>);

impl Drop for Ends {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // Waiting for it is not allowed where this may happen.
            runtime.shutdown_background();
        }
    }
}

impl Home {
    pub(super) fn new() -> std::io::Result<Home> {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).enable_all().thread_name("skurd-tikv").build()?;
        Ok(Home { handle: runtime.handle().clone(), _runtime: Arc::new(Ends(Some(runtime))) })
    }

    pub(super) async fn within<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|context| {
            let _here = self.handle.enter();
            work.as_mut().poll(context)
        })
        .await
    }
}
