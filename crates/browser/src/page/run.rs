//! Scripts of our own in the page.

use std::time::Duration;

use policy::browser::Ending;
use serde_json::Value;
use tokio::time::Instant;

use super::{Alive, CALL, Tab};
use crate::pipe::CallError;
use crate::protocol::{Evaluate, IsolatedWorld};

/// How long a page may not answer at all before it is hung.
pub(super) const PING: Duration = Duration::from_secs(5);

impl Tab<'_> {
    /// Whether it still answers; else it is hung.
    pub(super) async fn is_awake(&mut self) -> Alive<()> {
        match self.run("1", None, false, Instant::now() + PING).await {
            Err(CallError::Gone) => Err(Ending::BrowserGone),
            Err(CallError::Late(_)) => {
                // It may have crashed instead.
                self.hear_all().await?;
                Err(Ending::Hung)
            }
            Ok(_) | Err(CallError::Refused { .. }) => Ok(()),
        }
    }

    /// A world of our own in the page's own document.
    pub(super) async fn world(&self) -> Result<u64, CallError> {
        let frame_id = self.own.as_ref().map_or("", |own| own.target.as_str());
        let create = IsolatedWorld { frame_id, world_name: "skurd" };
        Ok(self.call(&create, CALL).await?.execution_context_id)
    }

    /// Runs a script, hearing of what happens meanwhile.
    pub(super) async fn run(
        &mut self,
        expression: &str,
        context_id: Option<u64>,
        await_promise: bool,
        end: Instant,
    ) -> Result<Value, CallError> {
        let session = self.own.as_ref().map(|own| own.session.clone());
        let evaluate =
            Evaluate { expression, await_promise, return_by_value: true, context_id, timeout: None };
        let within = end.saturating_duration_since(Instant::now());
        let browser = self.browser;
        let evaluated = browser.pipe.call(session.as_deref(), &evaluate, within);
        tokio::pin!(evaluated);
        loop {
            tokio::select! {
                evaluated = &mut evaluated => {
                    let evaluated = evaluated?;
                    return match evaluated.exception_details {
                        None => Ok(evaluated.result.value),
                        Some(details) => Err(CallError::Refused {
                            method: "Runtime.evaluate",
                            message: details.pointer("/exception/description").and_then(Value::as_str)
                                .unwrap_or("a script failed").to_owned(),
                        }),
                    };
                }
                event = self.events.recv() => {
                    if let Err(ending) = self.hear(event).await {
                        self.trouble = Some(ending);
                        return Err(match ending {
                            Ending::BrowserGone => CallError::Gone,
                            _ => CallError::Refused { method: "Runtime.evaluate", message: ending.as_str().to_owned() },
                        });
                    }
                }
            }
        }
    }
}
