//! Processes, one after the other on the same data, and how each comes to its end.

use std::net::SocketAddr;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde_json::Value;
use testkit::world::{Request, Run, World};
use tokio::time::Instant;

/// Longer than anything takes: only a hang is that slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that lives.
pub(crate) struct Life {
    run: Run,
}

/// How one ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lived {
    pub(crate) begin: Instant,
    pub(crate) end: Option<Instant>,
    pub(crate) killed: bool,
}

impl Life {
    pub(crate) fn begin(world: &World, args: &[&str]) -> Life {
        Life { run: Run::spawn(world.serve_command(args, None)) }
    }

    /// Where it serves; none if it ended before it did.
    pub(crate) fn address(&self, within: Duration) -> Option<SocketAddr> {
        self.run.line(within, |line| {
            let event: Value = serde_json::from_str(line).unwrap_or_default();
            (event["event"] == "serving").then(|| event["address"].as_str().unwrap().parse().unwrap())
        })
    }

    /// Where it serves, which it must.
    pub(crate) fn serves(&self) -> SocketAddr {
        self.address(PATIENCE).unwrap_or_else(|| panic!("it does not serve: {:?}", self.run.told()))
    }

    /// As the power going out would end it. False: it had ended by itself.
    pub(crate) fn kill(mut self) -> bool {
        let ended = self.run.ended();
        let told = self.run.put_down();
        assert!(!told.err.contains("panicked") && !told.err.contains("error: "), "{}", told.err);
        if let Some(ended) = ended {
            assert!(ended.success(), "{ended}: {}", told.err);
        }
        told.code != Some(0)
    }

    /// Asks it to stop, as a service manager does.
    pub(crate) fn terminate(&self) {
        self.run.signal("-TERM");
    }

    /// Asks it to stop, and waits until it has.
    pub(crate) fn stop(self) {
        self.terminate();
        let told = self.run.end();
        assert!(told.code == Some(0) && !told.err.contains("panicked"), "{told:?}");
    }
}

/// Asks the API; none where the process went before it had answered.
pub(crate) fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Option<(u16, Value)> {
    let request = Request::new(address, method, &format!("/api/v1/{path}"));
    let request = match body {
        Some(body) => request.json(body),
        None => request.header("Content-Type", "application/json"),
    };
    let response = request.try_send()?;
    Some((response.status, serde_json::from_slice(&response.body).unwrap_or_default()))
}

/// The test is about moments: it has to let some pass.
pub(crate) fn pause(span: Duration) {
    let (_nobody, nothing) = sync_channel::<()>(0);
    assert_eq!(nothing.recv_timeout(span), Err(RecvTimeoutError::Timeout));
}
