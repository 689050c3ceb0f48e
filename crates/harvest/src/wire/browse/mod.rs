//! Collections that are harvested as a browser sees them (page 7 of the specification).
//!
//! The way of a page: its document is fetched as any other URL is ([`super::fetch`]); if that is a
//! whole HTML answer (B3), the page gets a tab when one is free, with a proxy of its own whose
//! [`origin`] answers for the web; the browser goes through its phases; then everything that came is
//! one haul of one order, which is archived and committed together (B18). What was seen becomes
//! links, records and a [`Rendering`].
//!
//! There is one browser for all tabs. It is started when the first page wants it, and anew after so
//! many pages, or when it has grown, or when it has gone: between pages, since each page holds it for
//! reading and a start wants it for itself. One that cannot be started is tried again later and
//! later; meanwhile its collections wait and the others go on (B20).

mod gate;
mod jar;
mod origin;
mod post;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use browser::{Browser, Launch, Seen, Visit};
use frontier::ports::{Order, Outlink};
use net::exchange::{Exchange, Head};
use net::extract::{self, Extracted, Page};
use net::proxy::{After, Asked, Certificates, Client, Origin, Proxy};
use net::warc::Prepared;
use parking_lot::Mutex;
use policy::browser::{
    BrowserProgram, BrowserSettings, Ending, REFUSALS_MAX, Refusal, Rendering, Screenshot, WhenUnchanged,
    crashes_in_a_row,
};
use policy::cookies::Update;
use policy::model::LinkKind;
use policy::time::{Span, Time};
use policy::url::{CrawlUrl, UrlRules, normalise};
use serde_json::json;
use tokio::sync::{RwLock, RwLockReadGuard, Semaphore, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::fetch::{Manner, WireFetcher};
use super::robots::Failure;
use gate::Gates;
use origin::{Info, PageOrigin, Source, State};

/// B19: after so many pages, or with so much memory, it is started anew.
const PAGES_MAX: u32 = 500;
const MEMORY_BYTES_MAX: u64 = 1_500_000_000;
/// Looking at its memory takes a while: not after each page.
const WEIGHED_EVERY: u32 = 10;
/// How long a browser that does not start is left alone, at first and at most.
const BACKOFF_MIN: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(300);
/// How long what is still under way at a page's end may take to be put in order.
const DRAIN: Duration = Duration::from_secs(1);
/// Pages that the browser went down with are remembered, so that none takes it down for ever.
const GONE_PAGES_MAX: usize = 1000;
const GONE_MAX: u32 = 3;

/// The browser of a harvest, for all its collections.
pub(super) struct Engine {
    dir: PathBuf,
    certificates: OnceLock<Arc<Certificates>>,
    running: RwLock<Option<Running>>,
    tabs: OnceLock<Semaphore>,
    trouble: Mutex<Trouble>,
    gates: Gates,
    gone_with: Mutex<HashMap<(String, String), u32>>,
}

#[derive(Default)]
struct Trouble {
    failures: u32,
    until: Option<Instant>,
    reason: Option<String>,
}

struct Running {
    browser: Browser,
    program: BrowserProgram,
    pages: AtomicU32,
    /// Serves the port of whatever belongs to no page, by refusing it.
    own_port: AbortHandle,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.own_port.abort();
    }
}

impl Running {
    fn is_worn(&self, program: &BrowserProgram) -> bool {
        let pages = self.pages.load(Ordering::Acquire);
        self.browser.is_gone()
            || self.program != *program
            || pages >= PAGES_MAX
            || (pages > 0
                && pages.is_multiple_of(WEIGHED_EVERY)
                && self.browser.memory_bytes() > MEMORY_BYTES_MAX)
    }
}

/// There is no browser for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoBrowser {
    pub reason: String,
    pub hint: Option<&'static str>,
}

impl NoBrowser {
    fn told(&self) -> String {
        format!("harvesting with a browser: {}", self.reason)
    }
}

/// Whether there is a browser that could be started, as far as can be told without starting it.
pub fn check(program: &BrowserProgram) -> Result<PathBuf, NoBrowser> {
    let found = browser::find::find(program, rustix::process::geteuid().is_root());
    found.map_err(|missing| NoBrowser { reason: missing.to_string(), hint: Some(missing.hint()) })
}

/// What a page came to.
pub(super) struct Rendered {
    pub(super) rendering: Rendering,
    pub(super) groups: Vec<Prepared>,
    pub(super) cookies: Vec<Update>,
    /// What its final documents lead to; the page's own first.
    pub(super) documents: Vec<Extracted>,
    pub(super) outlinks: Vec<Outlink>,
    /// Requisites that need not be harvested again.
    pub(super) loaded: BTreeSet<String>,
    pub(super) retry_after: Option<Span>,
    pub(super) bytes: u64,
}

impl Engine {
    pub(super) fn new(dir: &Path) -> Engine {
        // What a killed process left behind.
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("browser-") {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        Engine {
            dir: dir.to_owned(),
            certificates: OnceLock::new(),
            running: RwLock::new(None),
            tabs: OnceLock::new(),
            trouble: Mutex::default(),
            gates: Gates::default(),
            gone_with: Mutex::default(),
        }
    }

    fn certificates(&self) -> Result<Arc<Certificates>, NoBrowser> {
        if let Some(certificates) = self.certificates.get() {
            return Ok(Arc::clone(certificates));
        }
        let made = Certificates::new().map_err(|problem| no_browser(&problem))?;
        Ok(Arc::clone(self.certificates.get_or_init(|| Arc::new(made))))
    }

    /// B20: whether pages can be rendered; starts the browser for it.
    pub(super) async fn ready(&self, program: &BrowserProgram) -> Result<(), NoBrowser> {
        self.running(program).await.map(drop)
    }

    async fn running(&self, program: &BrowserProgram) -> Result<RwLockReadGuard<'_, Running>, NoBrowser> {
        loop {
            let fit = |running: &Option<Running>| running.as_ref().is_some_and(|now| !now.is_worn(program));
            let running = self.running.read().await;
            if fit(&running) {
                match RwLockReadGuard::try_map(running, Option::as_ref) {
                    Ok(running) => return Ok(running),
                    Err(_) => continue,
                }
            }
            // Whoever starts it wants it for itself.
            drop(running);
            let mut running = self.running.write().await;
            if fit(&running) {
                continue;
            }
            if let Some(worn) = running.take() {
                worn.browser.close().await;
            }
            *running = Some(self.start(program).await?);
        }
    }

    async fn start(&self, program: &BrowserProgram) -> Result<Running, NoBrowser> {
        if let Trouble { until: Some(until), reason: Some(reason), .. } = &*self.trouble.lock()
            && Instant::now() < *until
        {
            return Err(NoBrowser { reason: reason.clone(), hint: None });
        }
        let started = self.launch(program).await;
        let mut trouble = self.trouble.lock();
        match &started {
            Ok(_) => *trouble = Trouble::default(),
            Err(problem) => {
                let wait = BACKOFF_MIN.saturating_mul(1 << trouble.failures.min(10)).min(BACKOFF_MAX);
                trouble.failures += 1;
                trouble.until = Some(Instant::now() + wait);
                trouble.reason = Some(problem.reason.clone());
            }
        }
        started
    }

    async fn launch(&self, program: &BrowserProgram) -> Result<Running, NoBrowser> {
        let path = check(program)?;
        let certificates = self.certificates()?;
        let own = Proxy::open().await.map_err(|problem| no_browser(&problem))?;
        let launch = Launch {
            program: path,
            sandbox: program.sandbox,
            key_hash: certificates.key_hash(),
            own_proxy: own.address(),
            dir: self.dir.clone(),
        };
        let own_port = tokio::spawn(async move { own.serve(&Nobody, &certificates).await }).abort_handle();
        let browser = match Browser::launch(&launch).await {
            Ok(browser) => browser,
            Err(problem) => {
                own_port.abort();
                let source = std::error::Error::source(&problem).map(|source| format!(": {source}"));
                return Err(no_browser(&format!("{problem}{}", source.unwrap_or_default())));
            }
        };
        Ok(Running { browser, program: program.clone(), pages: AtomicU32::new(0), own_port })
    }

    /// How the browser calls itself, once it was started.
    pub(super) async fn user_agent(&self) -> Option<String> {
        self.running.read().await.as_ref().map(|running| running.browser.user_agent().to_owned())
    }

    /// Whether a page that the browser went down with is tried once more.
    fn try_again(&self, order: &Order) -> bool {
        let mut gone = self.gone_with.lock();
        if gone.len() >= GONE_PAGES_MAX {
            gone.clear();
        }
        let count = gone.entry((order.collection.clone(), order.url.as_str().to_owned())).or_default();
        *count += 1;
        *count < GONE_MAX
    }
}

fn no_browser(problem: &dyn std::fmt::Display) -> NoBrowser {
    NoBrowser { reason: problem.to_string(), hint: None }
}

/// B4: nothing is for the browser itself.
struct Nobody;

impl Origin for Nobody {
    async fn serve(&self, _: Asked, to: &mut Client) -> std::io::Result<After> {
        to.answer(403, "Forbidden", "this is no page").await?;
        Ok(After::Close)
    }

    fn odd(&self, _: &str, _: &str) {}
}

/// B3: a whole HTML answer that is no attachment.
pub(super) fn is_page(exchange: &Exchange) -> bool {
    let head = &exchange.head;
    let attached = head.header("content-disposition").unwrap_or_default().trim().to_ascii_lowercase();
    let kind = head.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let is_html =
        ["text/html", "application/xhtml+xml"].iter().any(|html| kind.trim_start().starts_with(html));
    head.status == 200 && exchange.truncated.is_none() && is_html && !attached.starts_with("attachment")
}

impl WireFetcher {
    /// Renders a page, if it is one to be rendered: none if its answer stands alone. An error is the
    /// browser's, and the page is to come again.
    pub(super) async fn rendered(
        &self,
        order: &Order,
        manner: &Manner,
        document: &Exchange,
        digest: &str,
        page_id: &str,
    ) -> Result<Option<Rendered>, Failure> {
        let Some(settings) = manner.browser() else { return Ok(None) };
        let unchanged = order.digest.as_deref() == Some(digest);
        if !is_page(document) || (unchanged && settings.when_unchanged == WhenUnchanged::Skip) {
            return Ok(None);
        }
        let before = self.frontier.rendering(&order.collection, order.url.as_str()).await?;
        if before.as_ref().is_some_and(|before| !before.allows(Some(digest))) {
            return Ok(None);
        }
        let program = &manner.program;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let most = usize::try_from(program.tabs).unwrap_or(1).clamp(1, cores);
        let tabs = self.engine.tabs.get_or_init(|| Semaphore::new(most));
        let Ok(_tab) = tabs.acquire().await else { return Ok(None) };
        let running = match self.engine.running(program).await {
            Ok(running) => running,
            Err(problem) => return Err(Failure::Browser(problem.told())),
        };
        running.pages.fetch_add(1, Ordering::AcqRel);
        let rendered = self.page(order, manner, settings, document, page_id, &running.browser).await?;
        drop(running);
        let Some((seen, state, cookies)) = rendered else { return Ok(None) };
        if seen.ending == Ending::BrowserGone && self.engine.try_again(order) {
            return Err(Failure::Browser("the browser went down".to_owned()));
        }
        if let Some(fault) = state.fault.lock().take() {
            return Err(Failure::Local(fault));
        }
        let rendering = rendering(&seen, &state, digest, before.as_ref(), self.frontier.now());
        self.told(order, manner, &seen, state, rendering, cookies, page_id).map(Some)
    }

    async fn page(
        &self,
        order: &Order,
        manner: &Manner,
        settings: &BrowserSettings,
        document: &Exchange,
        page_id: &str,
        browser: &Browser,
    ) -> Result<Option<(Seen, State, Vec<Update>)>, Failure> {
        let certificates = self.engine.certificates().map_err(|problem| Failure::Browser(problem.told()))?;
        let proxy = Proxy::open().await?;
        let given = manner.collection.as_ref().map_or(&[][..], |collection| &collection.cookies);
        let cookies = jar::into_context(&order.cookies, given, self.frontier.now());
        let (stop, _) = watch::channel(false);
        let origin = PageOrigin {
            wire: self,
            gates: &self.engine.gates,
            order,
            manner,
            settings,
            document,
            page_id: page_id.to_owned(),
            cookie: sent_cookie(document),
            deadline: Instant::now() + Duration::from_millis(settings.limits.total.0),
            stop,
            state: State::default(),
        };
        let visit = Visit {
            url: order.url.as_str(),
            proxy: proxy.address(),
            settings,
            user_agent: &manner.user_agent,
            cookies: cookies.clone(),
            traffic: &origin,
        };
        let seen = {
            let serving = proxy.serve(&origin, &certificates);
            tokio::pin!(serving);
            let seen = tokio::select! {
                biased;
                seen = browser.see(&visit) => seen,
                () = &mut serving => return Ok(None),
            };
            // What is still coming in is cut off where it is, and kept.
            origin.stop.send_replace(true);
            let drained = async {
                while !origin.state.is_idle() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                // Those that nobody waits for end within a turn or two.
                tokio::time::sleep(Duration::from_millis(5)).await;
            };
            tokio::select! {
                biased;
                () = &mut serving => {}
                _ = tokio::time::timeout(DRAIN, drained) => {}
            }
            seen
        };
        let updates = match &seen.cookies {
            Some(after) => jar::out_of_context(&cookies, after, &order.host, self.frontier.now()),
            None => Vec::new(),
        };
        Ok(Some((seen, origin.state, updates)))
    }

    /// From what was seen to what is kept of it.
    #[allow(clippy::too_many_arguments, reason = "it puts together what several rooms found")]
    fn told(
        &self,
        order: &Order,
        manner: &Manner,
        seen: &Seen,
        state: State,
        rendering: Rendering,
        cookies: Vec<Update>,
        page_id: &str,
    ) -> Result<Rendered, Failure> {
        let infos = state.infos.into_inner();
        let mut groups = state.groups.into_inner();
        let is_capture = rendering.ending.is_capture();
        let documents: Vec<Extracted> = if is_capture {
            seen.frames.iter().filter_map(|frame| links_of(frame, order, &manner.rules)).collect()
        } else {
            Vec::new()
        };
        let mut outlinks = leads(&seen.popups, LinkKind::Link, &manner.rules);
        outlinks.extend(leads(&seen.redirects, LinkKind::Redirect, &manner.rules));
        let url = order.url.as_str();
        let info = page_info(url, page_id, seen, &rendering, &infos);
        let mut resources: Vec<(String, &str, &[u8])> = Vec::new();
        if is_capture {
            if let Some(picture) = &seen.screenshot {
                resources.push((format!("urn:view:{url}"), picture.content_type, &picture.bytes));
            }
            if let Some(picture) = &seen.thumbnail {
                resources.push((format!("urn:thumbnail:{url}"), picture.content_type, &picture.bytes));
            }
            if let Some(frame) = seen.frames.first().filter(|_| manner.browser().is_some_and(|own| own.dom)) {
                resources.push((format!("urn:dom:{url}"), "text/html; charset=utf-8", frame.html.as_bytes()));
            }
        }
        resources.push((format!("urn:pageinfo:{url}"), "application/json", info.as_bytes()));
        groups.extend(self.packed_resources(&resources, self.frontier.now())?);
        let bytes = infos.iter().filter(|info| info.from == Source::Web).map(|info| info.bytes).sum();
        Ok(Rendered {
            rendering,
            groups,
            cookies,
            documents,
            outlinks,
            loaded: spelled_as_links(&state.loaded.into_inner(), &manner.rules),
            retry_after: state.retry_after.into_inner(),
            bytes,
        })
    }
}

/// The `Cookie` header that a document was asked for with.
fn sent_cookie(document: &Exchange) -> Option<String> {
    let request = String::from_utf8_lossy(&document.request);
    let cookie = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("cookie").then(|| value.trim().to_owned())
    };
    request.lines().find_map(cookie)
}

fn rendering(seen: &Seen, state: &State, digest: &str, before: Option<&Rendering>, now: Time) -> Rendering {
    let infos = state.infos.lock();
    let count = |source: Source| {
        u32::try_from(infos.iter().filter(|info| info.from == source).count()).unwrap_or(u32::MAX)
    };
    let refusal = |info: &Info| Refusal {
        url: shortened(&info.url),
        reason: shortened(info.reason.as_deref().unwrap_or_default()),
    };
    let refused = infos.iter().filter(|info| info.from == Source::Refused);
    let over = state.over.lock().clone();
    let late = seen.truncated.map(|phase| format!("the time for the phase `{phase}` was over"));
    Rendering {
        at: now,
        ending: seen.ending,
        digest: Some(digest.to_owned()),
        crashes: crashes_in_a_row(before, Some(digest), seen.ending),
        load: seen.phases.load,
        behave: seen.phases.behave,
        collect: seen.phases.collect,
        total: seen.phases.total,
        requests: count(Source::Web) + count(Source::Archive),
        from_archive: count(Source::Archive),
        failed: count(Source::Failed),
        refused: count(Source::Refused),
        refusals: refused.take(REFUSALS_MAX).map(refusal).collect(),
        truncated: over.or(late),
        note: seen.notes.first().map(|note| shortened(note)),
    }
}

/// As much as a row keeps.
fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(500)].to_owned()
}

/// B17: what a final document leads to, by the scanner that reads all documents.
fn links_of(frame: &browser::Frame, order: &Order, rules: &UrlRules) -> Option<Extracted> {
    let own = CrawlUrl::from_normal(frame.url.split('#').next()?).ok();
    // A frame without an address of its own stands on its parent's.
    let url = own.or_else(|| normalise(&frame.base, None, rules).ok()).unwrap_or_else(|| order.url.clone());
    let headers = vec![("Content-Type".to_owned(), b"text/html; charset=utf-8".to_vec())];
    let head = Head { status: 200, headers, bytes: 0 };
    let limits = &order.plan.limits;
    let page = Page {
        url: &url,
        head: &head,
        limits: extract::Limits {
            links_max: usize::try_from(limits.max_outlinks).unwrap_or(usize::MAX),
            decoded_bytes_max: limits.max_decoded_bytes,
            ..extract::Limits::default()
        },
        rules,
        forms: false,
        announced_as_sitemap: false,
    };
    Some(extract::links(&page, &mut frame.html.as_bytes()))
}

fn leads(urls: &[String], kind: LinkKind, rules: &UrlRules) -> Vec<Outlink> {
    urls.iter().filter_map(|url| Some(Outlink { url: normalise(url, None, rules).ok()?, kind })).collect()
}

/// Browsers spell URLs in their own way.
fn spelled_as_links(urls: &BTreeSet<String>, rules: &UrlRules) -> BTreeSet<String> {
    urls.iter().filter_map(|url| Some(normalise(url, None, rules).ok()?.as_str().to_owned())).collect()
}

/// B16: every request of the page, and how it went.
fn page_info(url: &str, page_id: &str, seen: &Seen, rendering: &Rendering, infos: &[Info]) -> String {
    let requests: Vec<_> = infos
        .iter()
        .map(|info| {
            json!({
                "url": info.url,
                "method": info.method,
                "status": info.status,
                "mime": info.mime,
                "type": info.kind,
                "bytes": info.bytes,
                "from": info.from.as_str(),
                "record": info.record,
                "reason": info.reason,
            })
        })
        .collect();
    let info = json!({
        "url": url,
        "page": page_id,
        "title": seen.frames.first().map(|frame| frame.title.as_str()),
        "ending": rendering.ending.as_str(),
        "phases": {
            "load": rendering.load.0,
            "behave": rendering.behave.0,
            "collect": rendering.collect.0,
            "total": rendering.total.0,
        },
        "truncated": rendering.truncated,
        "dialogs": seen.dialogs,
        "notes": seen.notes,
        "popups": seen.popups,
        "redirects": seen.redirects,
        "frames": seen.frames.iter().skip(1).map(|frame| frame.url.as_str()).collect::<Vec<_>>(),
        "requests": requests,
    });
    info.to_string()
}

/// What a collection's browser is set to, for the head of its files.
pub(super) fn described(settings: &BrowserSettings) -> String {
    let screenshot = match settings.screenshot {
        Screenshot::View => "view",
        Screenshot::Full => "full",
        Screenshot::None => "none",
    };
    let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "its own".to_owned());
    format!(
        "browser: viewport {}x{}, scale {}, touch {}, language {}, time zone {}, {:?} scheme, screenshot {screenshot}",
        settings.viewport.width,
        settings.viewport.height,
        settings.device.scale,
        settings.device.touch,
        or(&settings.language),
        or(&settings.timezone),
        settings.color_scheme,
    )
}
