//! One page in one tab, from an empty context to what was seen in it.
//!
//! The phases (B11): *load* up to the load event, *quiet*, *behaviours*, *quiet*, *collect*. Nothing
//! waits without a limit, and the whole has one too. Beside them events are answered as they come:
//! dialogs, popups, frames and workers that wait to be let run, navigations. The tab stays where it
//! is: a script that leads elsewhere has named a URL, which is harvested in its own time (B17).
//!
//! How it ends (B12) is decided here; what the requests brought is the proxy's.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::join_all;
use policy::browser::{BrowserSettings, ColorScheme, Ending, Screenshot as Shot};
use policy::time::Span;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use crate::launch::Browser;
use crate::pipe::CallError;
use crate::protocol::{
    AnswerDialog, AutoAttach, CaptureScreenshot, Clip, CloseTarget, Command, ContinueRequest, CookieIn,
    CreateContext, CreateTarget, DisposeContext, EnableInspector, EnablePage, EndScript, Evaluate, Event,
    EveryDocument, FailRequest, FrameNode, GetCookies, GetFrameTree, GetLayoutMetrics, GoOn, Intercept,
    InterceptFileChooser, IsolatedWorld, MediaFeature, Navigate, RequestPattern, SetCookies,
    SetDownloadBehavior, SetLocale, SetMedia, SetMetrics, SetTimezone, SetTouch, SetUserAgent,
};
use crate::script;

/// For what takes the browser no time unless it is in trouble.
const CALL: Duration = Duration::from_secs(10);
/// How long a page may not answer at all before it is hung.
const PING: Duration = Duration::from_secs(5);
/// Each of the steps by which a hung page is ended.
const END_STEP: Duration = Duration::from_millis(1500);
/// Between two looks at whether it is quiet.
const LOOK: Duration = Duration::from_millis(20);
/// B14: with more it is hung.
const DIALOGS_MAX: u32 = 10;
/// Frames whose documents are read.
const FRAMES_MAX: usize = 100;
/// Of popups and redirects by script, each.
const LEADS_MAX: usize = 100;
/// Times that a document may load itself anew.
const RELOADS_MAX: u32 = 3;
/// Pictures are not taken beyond this many CSS pixels from the top: encoders refuse more.
const PICTURE_HEIGHT_MAX: f64 = 16_000.0;
const THUMBNAIL_WIDTH: f64 = 320.0;
const PICTURE_QUALITY: u32 = 80;

/// What the page has under way, as its proxy knows it.
pub trait Traffic: Sync {
    /// Nothing is under way, and has not been for this long.
    fn is_quiet(&self, span: Duration) -> bool;

    /// It counts as busy from now on, until it is quiet again.
    fn touch(&self);

    /// The page has used up what it may (B11).
    fn is_over(&self) -> bool;
}

/// A page to be seen.
pub struct Visit<'a> {
    pub url: &'a str,
    pub proxy: SocketAddr,
    pub settings: &'a BrowserSettings,
    pub user_agent: &'a str,
    /// What its jar starts with.
    pub cookies: Vec<Cookie>,
    pub traffic: &'a dyn Traffic,
}

impl std::fmt::Debug for Visit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Visit").field("url", &self.url).field("proxy", &self.proxy).finish_non_exhaustive()
    }
}

#[derive(Clone, PartialEq)]
pub struct Cookie {
    pub name: String,
    pub value: String,
    /// A host name: only that host if `host_only`.
    pub domain: String,
    pub host_only: bool,
    pub path: String,
    pub secure: bool,
    /// Seconds since 1970; none: as long as the session.
    pub expires: Option<f64>,
}

/// Without its value: that is as good as a password.
impl std::fmt::Debug for Cookie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cookie")
            .field("name", &self.name)
            .field("domain", &self.domain)
            .finish_non_exhaustive()
    }
}

/// How long each phase took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    pub load: Span,
    pub behave: Span,
    pub collect: Span,
    pub total: Span,
}

/// A document as it stood at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    pub url: String,
    /// What its relative links are relative to.
    pub base: String,
    pub title: String,
    pub content_type: String,
    pub html: String,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub content_type: &'static str,
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} bytes", self.content_type, self.bytes.len())
    }
}

/// What was seen of a page.
#[derive(Debug)]
pub struct Seen {
    pub ending: Ending,
    pub phases: Phases,
    /// The page's own first, then those of its frames.
    pub frames: Vec<Frame>,
    /// URLs that it would have opened in windows of their own.
    pub popups: Vec<String>,
    /// URLs that it would have gone to.
    pub redirects: Vec<String>,
    pub screenshot: Option<Picture>,
    pub thumbnail: Option<Picture>,
    /// The jar as it was left; none if it could not be had.
    pub cookies: Option<Vec<Cookie>>,
    pub dialogs: u32,
    /// Which limit of time it ran into (B11).
    pub truncated: Option<&'static str>,
    /// What else is to be said.
    pub notes: Vec<String>,
}

impl Seen {
    fn new() -> Seen {
        Seen {
            ending: Ending::Ok,
            phases: Phases::default(),
            frames: Vec::new(),
            popups: Vec::new(),
            redirects: Vec::new(),
            screenshot: None,
            thumbnail: None,
            cookies: None,
            dialogs: 0,
            truncated: None,
            notes: Vec::new(),
        }
    }
}

impl Browser {
    /// Sees one page. Whatever happens is part of what is seen.
    pub async fn see(&self, visit: &Visit<'_>) -> Seen {
        let begun = Instant::now();
        let mut seen = tokio::select! {
            biased;
            () = self.pipe.gone() => Seen { ending: Ending::BrowserGone, ..Seen::new() },
            seen = self.see_in_context(visit, begun) => seen,
        };
        if self.is_gone() {
            seen.ending = Ending::BrowserGone;
        }
        seen.phases.total = since(begun);
        seen
    }

    async fn see_in_context(&self, visit: &Visit<'_>, begun: Instant) -> Seen {
        let proxy = format!("http://{}", visit.proxy);
        let create = CreateContext {
            dispose_on_detach: true,
            proxy_server: &proxy,
            // Otherwise loopback is asked directly.
            proxy_bypass_list: "<-loopback>",
        };
        let context = match self.pipe.call(None, &create, CALL).await {
            Ok(created) => created.browser_context_id,
            Err(problem) => return failed(&problem),
        };
        let (to_self, events) = self.pipe.listen(&context);
        let _context = Listening { browser: self, context: &context };
        let mut tab = Tab {
            browser: self,
            visit,
            context: &context,
            begun,
            events,
            to_self,
            own: None,
            frames: Vec::new(),
            loaded: false,
            reloads: 0,
            documents: 0,
            trouble: None,
            seen: Seen::new(),
        };
        let result = tab.live().await;
        if let Err(ending) = result {
            tab.seen.ending = ending;
        }
        if tab.seen.ending == Ending::Hung {
            tab.end_script().await;
        }
        if tab.seen.ending.is_capture() {
            tab.seen.cookies = tab.cookies().await;
        }
        let seen = tab.seen;
        let dispose = DisposeContext { browser_context_id: &context };
        if let Err(problem) = self.pipe.call(None, &dispose, END_STEP).await
            && problem != CallError::Gone
        {
            tracing::debug!("a tab does not close: {problem}");
        }
        seen
    }
}

struct Listening<'a> {
    browser: &'a Browser,
    context: &'a str,
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.browser.pipe.leave(self.context);
    }
}

fn failed(problem: &CallError) -> Seen {
    let ending = if *problem == CallError::Gone { Ending::BrowserGone } else { Ending::Refused };
    Seen { ending, notes: vec![problem.to_string()], ..Seen::new() }
}

fn since(begun: Instant) -> Span {
    Span(u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX))
}

fn duration(span: Span) -> Duration {
    Duration::from_millis(span.0.min(86_400_000))
}

/// A target of the browser that is spoken to.
#[derive(Clone, Debug)]
struct Attached {
    session: String,
    target: String,
}

struct Tab<'a> {
    browser: &'a Browser,
    visit: &'a Visit<'a>,
    context: &'a str,
    begun: Instant,
    events: mpsc::Receiver<Event>,
    to_self: mpsc::Sender<Event>,
    own: Option<Attached>,
    /// Frames that live in processes of their own.
    frames: Vec<Attached>,
    loaded: bool,
    reloads: u32,
    documents: u32,
    /// What ends the page as soon as somebody looks.
    trouble: Option<Ending>,
    seen: Seen,
}

/// The page ends like this.
type Alive<T> = Result<T, Ending>;

impl Tab<'_> {
    async fn call<C: Command>(&self, command: &C, within: Duration) -> Result<C::Answer, CallError> {
        let session = self.own.as_ref().map(|own| own.session.as_str());
        self.browser.pipe.call(session, command, within).await
    }

    /// For what is no use to anybody if it fails.
    async fn try_call<C: Command>(&mut self, command: C) {
        if let Err(problem) = self.call(&command, CALL).await {
            self.seen.notes.push(problem.to_string());
        }
    }

    fn limit(&self, span: Span) -> Instant {
        (Instant::now() + duration(span)).min(self.begun + duration(self.visit.settings.limits.total))
    }

    async fn live(&mut self) -> Alive<()> {
        self.open().await?;
        let limits = self.visit.settings.limits;
        let load_end = self.limit(limits.load);
        let mut ending = Ending::Ok;
        self.navigate(load_end).await?;
        if !self.until(load_end, |tab| tab.loaded).await? {
            ending = Ending::SlowLoad;
            self.seen.truncated = Some("load");
        }
        let quiet = duration(limits.quiet);
        let rest_end = load_end.max(self.limit(Span(limits.quiet.0.saturating_mul(3))));
        if ending == Ending::Ok && !self.until(rest_end, |tab| tab.visit.traffic.is_quiet(quiet)).await? {
            ending = Ending::NeverIdle;
        }
        self.seen.phases.load = since(self.begun);
        let behaving = Instant::now();
        if self.behave().await? && ending == Ending::Ok {
            self.visit.traffic.touch();
            let end = self.limit(Span(limits.behave.0.max(limits.quiet.0.saturating_mul(3))));
            if !self.until(end, |tab| tab.visit.traffic.is_quiet(quiet)).await? {
                ending = Ending::NeverIdle;
            }
        }
        self.seen.phases.behave = since(behaving);
        let collecting = Instant::now();
        let end = collecting + duration(limits.collect);
        let collected = self.collect(end).await;
        self.seen.phases.collect = since(collecting);
        collected?;
        self.seen.ending = ending;
        Ok(())
    }

    /// Makes the tab, and sets it up before anything runs in it.
    async fn open(&mut self) -> Alive<()> {
        let settings = self.visit.settings;
        let deny =
            SetDownloadBehavior { behavior: "deny", browser_context_id: self.context, events_enabled: true };
        let _ = self.browser.pipe.call(None, &deny, CALL).await;
        let cookies: Vec<CookieIn> = self.visit.cookies.iter().map(told).collect();
        if !cookies.is_empty() {
            // One that the browser does not take must not keep the others out.
            let set = |cookies| SetCookies { cookies, browser_context_id: self.context };
            let all = self.browser.pipe.call(None, &set(cookies), CALL).await;
            if all.is_err() {
                for cookie in &self.visit.cookies {
                    let _ = self.browser.pipe.call(None, &set(vec![told(cookie)]), CALL).await;
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
        Ok(())
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
        self.try_call(Intercept { patterns: vec![documents] }).await;
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

    async fn navigate(&mut self, end: Instant) -> Alive<()> {
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

    fn blame(&mut self, problem: &CallError) -> Ending {
        match problem {
            CallError::Gone => Ending::BrowserGone,
            CallError::Late(_) => Ending::Hung,
            CallError::Refused { message, .. } => {
                self.seen.notes.push(message.clone());
                self.trouble.unwrap_or(Ending::Crashed)
            }
        }
    }

    /// Waits until something holds, hearing of what happens meanwhile; false if time ran out first.
    async fn until(&mut self, end: Instant, holds: impl Fn(&Tab<'_>) -> bool) -> Alive<bool> {
        loop {
            self.hear_all().await?;
            if holds(self) {
                return Ok(true);
            }
            if Instant::now() >= end || self.visit.traffic.is_over() {
                return Ok(false);
            }
            let look = end.min(Instant::now() + LOOK);
            tokio::select! {
                event = self.events.recv() => self.hear(event).await?,
                () = tokio::time::sleep_until(look) => {}
            }
        }
    }

    async fn hear_all(&mut self) -> Alive<()> {
        while let Ok(event) = self.events.try_recv() {
            self.hear(Some(event)).await?;
        }
        Ok(())
    }

    async fn hear(&mut self, event: Option<Event>) -> Alive<()> {
        let Some(event) = event else { return Err(Ending::BrowserGone) };
        match event.method.as_str() {
            "Page.loadEventFired" if self.is_own(&event) => self.loaded = true,
            "Page.javascriptDialogOpening" => self.dialog(&event).await?,
            "Page.windowOpen" => push(&mut self.seen.popups, event.text("/url")),
            "Page.downloadWillBegin" => self.download(&event)?,
            "Fetch.requestPaused" => self.document(&event).await,
            "Target.attachedToTarget" => self.child(&event).await,
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

    /// A document is asked for: that of the page itself, of a frame, or of where the page would go.
    async fn document(&mut self, event: &Event) {
        let request = event.text("/requestId").to_owned();
        let url = event.text("/request/url");
        let top = self.own.as_ref().is_some_and(|own| own.target == event.text("/frameId"));
        let goes_on = if !top {
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
            // B14: it must run before it is closed, or whoever opened it freezes; but nothing may be asked
            // for by it.
            "page" | "tab" => {
                push(&mut self.seen.popups, event.text("/targetInfo/url"));
                let nothing = RequestPattern { url_pattern: "*", resource_type: None };
                let _ = pipe.call(session, &Intercept { patterns: vec![nothing] }, CALL).await;
                let _ = pipe.call(session, &GoOn {}, CALL).await;
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

    /// Whether anything was done.
    async fn behave(&mut self) -> Alive<bool> {
        let behaviours = &self.visit.settings.behaviours;
        let limit = self.visit.settings.limits.behave;
        let end = self.limit(limit);
        self.is_awake().await?;
        let left = || u64::try_from(end.saturating_duration_since(Instant::now()).as_millis()).unwrap_or(0);
        let mut done = false;
        for script in [
            behaviours.click.as_ref().map(|selector| script::click(selector, left())),
            behaviours.scroll.then(|| script::scroll(left())),
        ]
        .into_iter()
        .flatten()
        {
            if left() == 0 {
                self.seen.truncated.get_or_insert("behave");
                break;
            }
            done = true;
            let Ok(world) = self.world().await else { break };
            match self.run(&script, Some(world), true, end + Duration::from_secs(1)).await {
                Ok(_) => {}
                Err(CallError::Late(_)) => {
                    self.seen.truncated.get_or_insert("behave");
                }
                Err(CallError::Gone) => return Err(Ending::BrowserGone),
                // The document may have gone while it ran.
                Err(CallError::Refused { .. }) => {}
            }
            self.hear_all().await?;
        }
        Ok(done)
    }

    /// Whether it still answers; else it is hung.
    async fn is_awake(&mut self) -> Alive<()> {
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
    async fn world(&self) -> Result<u64, CallError> {
        let frame_id = self.own.as_ref().map_or("", |own| own.target.as_str());
        let create = IsolatedWorld { frame_id, world_name: "skurd" };
        Ok(self.call(&create, CALL).await?.execution_context_id)
    }

    /// Runs a script, hearing of what happens meanwhile.
    async fn run(
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

    /// The final documents and the pictures.
    async fn collect(&mut self, end: Instant) -> Alive<()> {
        self.is_awake().await?;
        self.trouble.map_or(Ok(()), Err)?;
        let sessions: Vec<String> =
            self.own.iter().chain(&self.frames).map(|attached| attached.session.clone()).collect();
        let read = join_all(sessions.iter().map(|session| self.documents_of(session, end)));
        for found in timeout_at(end + Duration::from_secs(1), read).await.unwrap_or_default() {
            match found {
                Ok(frames) => self.seen.frames.extend(frames),
                Err(CallError::Gone) => return Err(Ending::BrowserGone),
                Err(problem) => self.seen.notes.push(problem.to_string()),
            }
        }
        self.seen.frames.truncate(FRAMES_MAX);
        self.hear_all().await?;
        if self.seen.frames.is_empty() {
            self.seen.truncated.get_or_insert("collect");
            return self.is_awake().await;
        }
        self.pictures(end).await;
        self.hear_all().await
    }

    /// The documents of a session: its own and those of frames in its process.
    async fn documents_of(&self, session: &str, end: Instant) -> Result<Vec<Frame>, CallError> {
        let pipe = &self.browser.pipe;
        let within = || end.saturating_duration_since(Instant::now()).min(CALL);
        let tree = pipe.call(Some(session), &GetFrameTree {}, within()).await?;
        let mut ids = Vec::new();
        flatten(&tree.frame_tree, &mut ids);
        let script = script::document();
        let mut frames = Vec::new();
        for (at, frame_id) in ids.iter().enumerate() {
            let create = IsolatedWorld { frame_id, world_name: "skurd" };
            let read = async {
                let world = pipe.call(Some(session), &create, within()).await?;
                let evaluate = Evaluate {
                    expression: &script,
                    await_promise: false,
                    return_by_value: true,
                    context_id: Some(world.execution_context_id),
                    timeout: None,
                };
                pipe.call(Some(session), &evaluate, within()).await
            };
            match read.await {
                Ok(found) => frames.extend(frame(&found.result.value)),
                // A frame may go while it is read; the page itself may not.
                Err(problem) if at == 0 => return Err(problem),
                Err(_) => {}
            }
        }
        Ok(frames)
    }

    async fn pictures(&mut self, end: Instant) {
        let settings = self.visit.settings;
        if settings.screenshot == Shot::None {
            return;
        }
        let within = |end: Instant| end.saturating_duration_since(Instant::now());
        let viewport = settings.viewport;
        let (width, height) = (f64::from(viewport.width), f64::from(viewport.height));
        let clip = match settings.screenshot {
            Shot::Full => match self.call(&GetLayoutMetrics {}, within(end)).await {
                Ok(layout) => {
                    let size = layout.css_content_size;
                    let (width, height) = (size.width.clamp(1.0, 10_000.0), size.height);
                    if height > PICTURE_HEIGHT_MAX {
                        self.seen.notes.push("the picture ends before the page does".to_owned());
                    }
                    let height = height.clamp(1.0, PICTURE_HEIGHT_MAX);
                    Some(Clip { x: 0.0, y: 0.0, width, height, scale: 1.0 })
                }
                Err(_) => None,
            },
            _ => None,
        };
        let scale = THUMBNAIL_WIDTH / width.max(1.0);
        let small = Clip { x: 0.0, y: 0.0, width, height, scale };
        self.seen.screenshot = self.picture(clip, within(end)).await;
        self.seen.thumbnail = self.picture(Some(small), within(end)).await;
        if self.seen.screenshot.is_none() {
            self.seen.truncated.get_or_insert("collect");
        }
    }

    async fn picture(&mut self, clip: Option<Clip>, within: Duration) -> Option<Picture> {
        let capture = CaptureScreenshot {
            format: "jpeg",
            quality: PICTURE_QUALITY,
            capture_beyond_viewport: clip.is_some(),
            clip,
            optimize_for_speed: true,
        };
        let taken = match self.call(&capture, within).await {
            Ok(taken) => taken,
            Err(problem) => {
                self.seen.notes.push(problem.to_string());
                return None;
            }
        };
        let bytes = data_encoding::BASE64.decode(taken.data.as_bytes()).ok()?;
        Some(Picture { content_type: "image/jpeg", bytes })
    }

    async fn cookies(&self) -> Option<Vec<Cookie>> {
        let get = GetCookies { browser_context_id: self.context };
        let got = self.browser.pipe.call(None, &get, CALL).await.ok()?;
        let cookie = |cookie: crate::protocol::CookieOut| Cookie {
            host_only: !cookie.domain.starts_with('.'),
            domain: cookie.domain.trim_start_matches('.').to_owned(),
            name: cookie.name,
            value: cookie.value,
            path: cookie.path,
            secure: cookie.secure,
            expires: (cookie.expires > 0.0).then_some(cookie.expires),
        };
        Some(got.cookies.into_iter().map(cookie).collect())
    }

    /// B12: ends the script, then closes the tab; its context goes in any case, and with it the
    /// process, or that is killed.
    async fn end_script(&mut self) {
        let _ = self.call(&EndScript {}, END_STEP).await;
        if let Some(own) = &self.own {
            let close = CloseTarget { target_id: &own.target };
            let _ = self.browser.pipe.call(None, &close, END_STEP).await;
        }
    }
}

fn auto_attach() -> AutoAttach {
    AutoAttach { auto_attach: true, wait_for_debugger_on_start: true, flatten: true, filter: everything() }
}

fn everything() -> Vec<crate::protocol::TargetFilter> {
    vec![crate::protocol::TargetFilter { kind: None, exclude: false }]
}

fn attached(event: &Event) -> Attached {
    Attached {
        session: event.text("/sessionId").to_owned(),
        target: event.text("/targetInfo/targetId").to_owned(),
    }
}

fn flatten(node: &FrameNode, ids: &mut Vec<String>) {
    if ids.len() < FRAMES_MAX {
        ids.push(node.frame.id.clone());
        node.child_frames.iter().for_each(|child| flatten(child, ids));
    }
}

fn frame(value: &Value) -> Option<Frame> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    value.is_object().then(|| Frame {
        url: text("url"),
        base: text("base"),
        title: text("title"),
        content_type: text("kind"),
        html: text("html"),
    })
}

fn push(to: &mut Vec<String>, url: &str) {
    if to.len() < LEADS_MAX && !url.is_empty() && url != "about:blank" && !to.iter().any(|have| have == url) {
        to.push(url.to_owned());
    }
}

/// But for the fragment.
fn is_same(one: &str, other: &str) -> bool {
    let bare = |url: &str| url.split('#').next().unwrap_or_default().to_owned();
    bare(one) == bare(other)
}

fn told(cookie: &Cookie) -> CookieIn {
    let scheme = if cookie.secure { "https" } else { "http" };
    CookieIn {
        name: cookie.name.clone(),
        value: cookie.value.clone(),
        // With a URL and no domain it is for that host alone.
        url: cookie.host_only.then(|| format!("{scheme}://{}/", cookie.domain)),
        domain: (!cookie.host_only).then(|| cookie.domain.clone()),
        path: cookie.path.clone(),
        secure: cookie.secure,
        expires: cookie.expires,
    }
}
