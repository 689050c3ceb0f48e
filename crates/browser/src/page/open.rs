//! A tab is made and set up before anything runs in it; then it goes to its page.

use policy::browser::{ColorScheme, Ending};
use tokio::time::{Instant, timeout_at};

use super::{Alive, Attached, CALL, Tab};
use crate::cookies;
use crate::pipe::CallError;
use crate::protocol::{
    AutoAttach, CookieIn, CreateTarget, DisableNetwork, EnableInspector, EnableNetwork, EnablePage, Event,
    EveryDocument, GoOn, Intercept, InterceptFileChooser, MediaFeature, Navigate, RequestPattern, SetCookies,
    SetDownloadBehavior, SetLocale, SetMedia, SetMetrics, SetTimezone, SetTouch, SetUserAgent, TargetFilter,
};
use crate::script;

impl Tab<'_> {
    /// Makes the tab, and sets it up before anything runs in it.
    pub(super) async fn open(&mut self) -> Alive<()> {
        let settings = self.visit.settings;
        let deny =
            SetDownloadBehavior { behavior: "deny", browser_context_id: self.context, events_enabled: true };
        let _ = self.browser.pipe.call(None, &deny, CALL).await;
        let cookies: Vec<CookieIn> = self.visit.cookies.iter().map(cookies::given).collect();
        if !cookies.is_empty() {
            // One that the browser does not take must not keep the others out.
            let set = |cookies| SetCookies { cookies, browser_context_id: self.context };
            let all = self.browser.pipe.call(None, &set(cookies), CALL).await;
            if all.is_err() {
                for cookie in &self.visit.cookies {
                    let _ = self.browser.pipe.call(None, &set(vec![cookies::given(cookie)]), CALL).await;
                }
            }
        }
        let create = CreateTarget {
            url: "about:blank",
            browser_context_id: self.context,
            width: settings.viewport.width,
            height: settings.viewport.height,
        };
        let end = Instant::now() + CALL;
        let browser = self.browser;
        let created = browser.pipe.call(None, &create, CALL);
        let attached = self.until_attached(end);
        let (created, attached) = tokio::join!(created, attached);
        created.map_err(|problem| self.blame(&problem))?;
        attached?;
        self.find_renderer().await
    }

    /// The browser does not say which process a page runs in, but a process begins the names of its
    /// requests with its number: one that leads nowhere tells. The page will run in the same process,
    /// since a context shares none, and nothing was in this one yet.
    async fn find_renderer(&mut self) -> Alive<()> {
        self.try_call(EnableNetwork {}).await;
        // What is wrong with it is noticed by whoever wants something of it.
        let _ = self.run("fetch('data:,').then(() => 0)", None, true, Instant::now() + CALL).await;
        self.try_call(DisableNetwork {}).await;
        self.hear_all().await
    }

    async fn until_attached(&mut self, end: Instant) -> Alive<()> {
        while self.own.is_none() {
            let Ok(event) = timeout_at(end, self.events.recv()).await else {
                self.seen.notes.push("the tab did not open".to_owned());
                return Err(Ending::Refused);
            };
            let Some(event) = event else { return Err(Ending::BrowserGone) };
            if event.method != "Target.attachedToTarget" {
                continue;
            }
            let own = attached(&event);
            self.browser.pipe.join(&own.session, &self.to_self);
            self.own = Some(own);
            self.set_up().await;
        }
        Ok(())
    }

    async fn set_up(&mut self) {
        let settings = self.visit.settings;
        let locale = settings.language.as_deref().and_then(|list| list.split(',').next());
        self.try_call(EnablePage {}).await;
        self.try_call(EnableInspector {}).await;
        self.try_call(auto_attach()).await;
        self.try_call(EveryDocument { source: script::EVERY_DOCUMENT }).await;
        self.try_call(InterceptFileChooser { enabled: true }).await;
        let documents = RequestPattern { url_pattern: "*", resource_type: Some("Document") };
        self.try_call(Intercept { patterns: vec![documents, beacons()] }).await;
        let (user_agent, accept_language) = (self.visit.user_agent, settings.language.as_deref());
        self.try_call(SetUserAgent { user_agent, accept_language }).await;
        let (viewport, device) = (settings.viewport, settings.device);
        self.try_call(SetMetrics {
            width: viewport.width,
            height: viewport.height,
            device_scale_factor: device.scale,
            mobile: device.touch,
        })
        .await;
        if device.touch {
            self.try_call(SetTouch { enabled: true }).await;
        }
        if let Some(timezone_id) = settings.timezone.as_deref() {
            self.try_call(SetTimezone { timezone_id }).await;
        }
        if let Some(locale) = locale {
            self.try_call(SetLocale { locale: locale.trim() }).await;
        }
        let value = match settings.color_scheme {
            ColorScheme::Light => "light",
            ColorScheme::Dark => "dark",
        };
        self.try_call(SetMedia { features: vec![MediaFeature { name: "prefers-color-scheme", value }] })
            .await;
        self.try_call(GoOn {}).await;
    }

    pub(super) async fn navigate(&mut self, end: Instant) -> Alive<()> {
        let (browser, url) = (self.browser, self.visit.url);
        let session = self.own.as_ref().map(|own| own.session.clone());
        let within = end.saturating_duration_since(Instant::now());
        let command = Navigate { url };
        let navigated = browser.pipe.call(session.as_deref(), &command, within);
        tokio::pin!(navigated);
        let navigated = loop {
            tokio::select! {
                navigated = &mut navigated => break navigated,
                event = self.events.recv() => self.hear(event).await?,
            }
        };
        match navigated {
            Ok(navigated) if navigated.is_download => Err(Ending::Download),
            Ok(navigated) if navigated.error_text.is_empty() => Ok(()),
            Ok(navigated) => {
                self.hear_all().await?;
                self.seen.notes.push(format!("the browser would not show it: {}", navigated.error_text));
                Err(Ending::Refused)
            }
            // What takes long may still come; the load event says so.
            Err(CallError::Late(_)) => Ok(()),
            Err(problem) => Err(self.blame(&problem)),
        }
    }
}

/// To servers that are not trustworthy the browser does not say what a request is for: only here can
/// be told that it is a beacon.
pub(super) fn beacons() -> RequestPattern {
    RequestPattern { url_pattern: "*", resource_type: Some("Ping") }
}

pub(super) fn auto_attach() -> AutoAttach {
    AutoAttach { auto_attach: true, wait_for_debugger_on_start: true, flatten: true, filter: everything() }
}

fn everything() -> Vec<TargetFilter> {
    vec![TargetFilter { kind: None, exclude: false }]
}

pub(super) fn attached(event: &Event) -> Attached {
    Attached {
        session: event.text("/sessionId").to_owned(),
        target: event.text("/targetInfo/targetId").to_owned(),
    }
}
