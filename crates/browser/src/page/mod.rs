//! One page in one tab, from an empty context to what was seen in it.
//!
//! The phases (B11): *load* up to the load event, *quiet*, *behaviours*, *quiet*, *collect*. Nothing
//! waits without a limit, and the whole has one too. Beside them events are answered as they come:
//! dialogs, popups, frames and workers that wait to be let run, navigations. The tab stays where it
//! is: a script that leads elsewhere has named a URL, which is harvested in its own time (B17).
//!
//! How it ends (B12) is decided here; what the requests brought is the proxy's.

mod collect;
mod events;
mod open;
mod phases;
mod run;

use std::net::SocketAddr;
use std::time::Duration;

use policy::browser::{BrowserSettings, Ending};
use policy::cookies::Cookie;
use policy::time::Span;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use crate::launch::Browser;
use crate::pipe::CallError;
use crate::protocol::{Command, CreateContext, DisposeContext, Event};

/// For what takes the browser no time unless it is in trouble.
const CALL: Duration = Duration::from_secs(10);
/// Each of the steps by which a hung page is ended.
const END_STEP: Duration = Duration::from_millis(1500);
/// Frames whose documents are read.
const FRAMES_MAX: usize = 100;

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
    /// URLs that it would have told something without hearing an answer (B5).
    pub beacons: Vec<String>,
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
            beacons: Vec::new(),
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
            renderer: None,
            frames: Vec::new(),
            loaded: false,
            leads_away: false,
            reloads: 0,
            documents: 0,
            trouble: None,
            seen: Seen::new(),
        };
        // Each step has its limit; a page that makes steps without end has this one.
        let limits = visit.settings.limits;
        let last = begun + duration(limits.total) + duration(limits.collect) + run::PING;
        let result = timeout_at(last, tab.live()).await.unwrap_or(Err(Ending::Hung));
        if let Err(ending) = result {
            tab.seen.ending = ending;
        }
        if tab.seen.ending == Ending::Hung {
            tab.end_script().await;
        }
        if tab.seen.ending.is_capture() {
            tab.seen.cookies = tab.cookies().await;
        }
        let (seen, renderer) = (tab.seen, tab.renderer);
        let dispose = DisposeContext { browser_context_id: &context };
        if let Err(problem) = self.pipe.call(None, &dispose, END_STEP).await
            && problem != CallError::Gone
        {
            tracing::debug!("a tab does not close: {problem}");
        }
        if let Some(process) = renderer.filter(|_| seen.ending == Ending::Hung) {
            self.kill_renderer(process);
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
    /// The process that the page runs in.
    renderer: Option<u32>,
    /// Frames that live in processes of their own.
    frames: Vec<Attached>,
    loaded: bool,
    /// Its script wanted to go elsewhere.
    leads_away: bool,
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
        (Instant::now() + duration(span)).min(self.last_call())
    }

    /// When all is over, but for what there is to be collected, which is part of the whole.
    fn last_call(&self) -> Instant {
        let limits = self.visit.settings.limits;
        let collecting = duration(limits.collect).min(duration(limits.total) / 2);
        self.begun + duration(limits.total) - collecting
    }

    /// B11: it ran out of time, in this phase or altogether.
    fn truncate(&mut self, phase: &'static str) {
        let phase = if Instant::now() >= self.last_call() { "total" } else { phase };
        self.seen.truncated.get_or_insert(phase);
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
}
