//! What the browser tells of a page while it lives, and how that is answered (B14, B17).
//!
//! Some of it waits for an answer (a dialog, a document that is asked for, a frame or worker that
//! wants to run): whoever waits for anything else hears of these meanwhile.

use policy::browser::Ending;

use super::open::{attached, auto_attach, beacons};
use super::{Alive, CALL, END_STEP, FRAMES_MAX, Tab};
use crate::protocol::{
    AnswerDialog, CloseTarget, ContinueRequest, EnablePage, Event, EveryDocument, FailRequest, GoOn,
    Intercept, RequestPattern, SetUserAgent,
};
use crate::script;

/// B14: with more it is hung.
const DIALOGS_MAX: u32 = 10;
/// Of popups and redirects by script, each.
const LEADS_MAX: usize = 100;
/// Longer URLs are harvested nowhere.
const LEAD_BYTES_MAX: usize = 8 << 10;
/// Times that a document may load itself anew.
const RELOADS_MAX: u32 = 3;

impl Tab<'_> {
    pub(super) async fn hear_all(&mut self) -> Alive<()> {
        while let Ok(event) = self.events.try_recv() {
            self.hear(Some(event)).await?;
        }
        Ok(())
    }

    pub(super) async fn hear(&mut self, event: Option<Event>) -> Alive<()> {
        let Some(event) = event else { return Err(Ending::BrowserGone) };
        match event.method.as_str() {
            "Page.loadEventFired" if self.is_own(&event) => self.loaded = true,
            // A page that would lead elsewhere while it loads may have no load event, even if it stays:
            // to another program, say (B14).
            "Page.frameRequestedNavigation" if self.is_top(&event) => self.leads_away = true,
            "Page.frameStoppedLoading" if self.is_top(&event) => self.loaded |= self.leads_away,
            "Page.javascriptDialogOpening" => self.dialog(&event).await?,
            "Page.windowOpen" => push(&mut self.seen.popups, event.text("/url")),
            "Page.downloadWillBegin" => self.download(&event)?,
            "Fetch.requestPaused" if event.text("/resourceType") == "Ping" => self.beacon(&event).await,
            "Fetch.requestPaused" => self.document(&event).await,
            "Target.attachedToTarget" => self.child(&event).await,
            "Network.requestWillBeSent" if self.is_own(&event) => {
                let number = event.text("/requestId").split_once('.').map(|(process, _)| process.parse());
                self.renderer = self.renderer.or(number.and_then(Result::ok));
            }
            "Inspector.targetCrashed" if self.is_own(&event) => {
                self.trouble = Some(Ending::Crashed);
                return Err(Ending::Crashed);
            }
            "Target.detachedFromTarget" => {
                let gone = event.text("/sessionId");
                self.frames.retain(|frame| frame.session != gone);
                if self.own.as_ref().is_some_and(|own| own.session == gone) {
                    return Err(self.trouble.unwrap_or(Ending::Crashed));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// It is about the page's own frame.
    fn is_top(&self, event: &Event) -> bool {
        self.own.as_ref().is_some_and(|own| own.target == event.text("/frameId"))
    }

    fn is_own(&self, event: &Event) -> bool {
        self.own.as_ref().is_some_and(|own| event.session.as_deref() == Some(own.session.as_str()))
    }

    /// B14: alert and beforeunload are accepted, others dismissed.
    async fn dialog(&mut self, event: &Event) -> Alive<()> {
        self.seen.dialogs += 1;
        let accept = matches!(event.text("/type"), "alert" | "beforeunload");
        let answer = AnswerDialog { accept };
        // It may have gone by itself, with its page.
        let _ = self.browser.pipe.call(event.session.as_deref(), &answer, CALL).await;
        if self.seen.dialogs <= DIALOGS_MAX {
            return Ok(());
        }
        self.seen.notes.push(format!("more than {DIALOGS_MAX} dialogs"));
        Err(Ending::Hung)
    }

    /// What is to be saved is not: its URL is harvested as any other.
    fn download(&mut self, event: &Event) -> Alive<()> {
        let url = event.text("/url");
        if self.documents <= 1 && !self.loaded && is_same(url, self.visit.url) {
            return Err(Ending::Download);
        }
        push(&mut self.seen.popups, url);
        Ok(())
    }

    /// B5: refused.
    async fn beacon(&mut self, event: &Event) {
        push(&mut self.seen.beacons, event.text("/request/url"));
        let fail = FailRequest { request_id: event.text("/requestId"), error_reason: "BlockedByClient" };
        // Nobody waits for it.
        let _ = self.browser.pipe.call(event.session.as_deref(), &fail, CALL).await;
    }

    /// A document is asked for: that of the page itself, of a frame, or of where the page would go.
    async fn document(&mut self, event: &Event) {
        let request = event.text("/requestId").to_owned();
        let url = event.text("/request/url");
        let goes_on = if !self.is_top(event) {
            true
        } else if self.documents == 0 {
            self.documents = 1;
            true
        } else if is_same(url, self.visit.url) && event.text("/request/method") == "GET" {
            self.reloads += 1;
            self.loaded &= self.reloads > RELOADS_MAX;
            self.reloads <= RELOADS_MAX
        } else {
            push(&mut self.seen.redirects, url);
            false
        };
        let session = event.session.as_deref();
        let request_id = request.as_str();
        // The request may be over by then.
        if goes_on {
            let _ = self.browser.pipe.call(session, &ContinueRequest { request_id }, CALL).await;
        } else {
            // So it stays where it is; with any other reason it would show an error.
            let stay = FailRequest { request_id, error_reason: "Aborted" };
            let _ = self.browser.pipe.call(session, &stay, CALL).await;
        }
    }

    /// A frame, a worker or a window of its own, which waits to be let run.
    async fn child(&mut self, event: &Event) {
        let child = attached(event);
        let pipe = &self.browser.pipe;
        let session = Some(child.session.as_str());
        match event.text("/targetInfo/type") {
            // B14: no window opens (see the flags it is started with). If one does nonetheless, it must run
            // before it is closed, or whoever opened it freezes; but nothing may be asked for by it.
            "page" | "tab" => {
                push(&mut self.seen.popups, event.text("/targetInfo/url"));
                let nothing = RequestPattern { url_pattern: "*", resource_type: None };
                let _ = pipe.call(session, &Intercept { patterns: vec![nothing] }, CALL).await;
                // One that does not know who opened it gives no answer.
                let _ = pipe.call(session, &GoOn {}, END_STEP).await;
                let _ = pipe.call(None, &CloseTarget { target_id: &child.target }, CALL).await;
            }
            kind => {
                let is_frame = kind == "iframe";
                pipe.join(&child.session, &self.to_self);
                let _ = pipe.call(session, &auto_attach(), CALL).await;
                let (user_agent, accept_language) =
                    (self.visit.user_agent, self.visit.settings.language.as_deref());
                let _ = pipe.call(session, &SetUserAgent { user_agent, accept_language }, CALL).await;
                if is_frame {
                    let _ = pipe.call(session, &EnablePage {}, CALL).await;
                    let _ = pipe.call(session, &Intercept { patterns: vec![beacons()] }, CALL).await;
                    let print = EveryDocument { source: script::EVERY_DOCUMENT };
                    let _ = pipe.call(session, &print, CALL).await;
                }
                let _ = pipe.call(session, &GoOn {}, CALL).await;
                if is_frame && self.frames.len() < FRAMES_MAX {
                    self.frames.push(child);
                }
            }
        }
    }
}

fn push(to: &mut Vec<String>, url: &str) {
    let is_url = !url.is_empty() && url.len() <= LEAD_BYTES_MAX && url != "about:blank";
    if is_url && to.len() < LEADS_MAX && !to.iter().any(|have| have == url) {
        to.push(url.to_owned());
    }
}

/// But for the fragment.
fn is_same(one: &str, other: &str) -> bool {
    let bare = |url: &str| url.split('#').next().unwrap_or_default().to_owned();
    bare(one) == bare(other)
}
