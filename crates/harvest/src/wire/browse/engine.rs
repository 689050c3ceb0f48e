//! The browser of a harvest, for all its collections and tabs.
//!
//! It is started when the first page wants it, and anew after so many pages, or when it has grown, or
//! when it has gone: between pages, since each page holds it for reading and a start wants it for
//! itself. One that cannot be started is tried again later and later; meanwhile its collections wait
//! and the others go on (B19, B20).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use browser::{Browser, Launch};
use frontier::ports::Order;
use net::proxy::{After, Asked, Certificates, Client, Origin, Proxy};
use parking_lot::Mutex;
use policy::browser::BrowserProgram;
use tokio::sync::{RwLock, RwLockReadGuard, Semaphore, SemaphorePermit};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::gate::Gates;

/// B19: after so many pages, or with so much memory, it is started anew.
const PAGES_MAX: u32 = 500;
const MEMORY_BYTES_MAX: u64 = 1_500_000_000;
/// Looking at its memory takes a while: not after each page.
const WEIGHED_EVERY: u32 = 10;
/// How long a browser that does not start is left alone, at first and at most.
const BACKOFF_MIN: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(300);
/// Pages that the browser went down with are remembered, so that none takes it down for ever.
const GONE_PAGES_MAX: usize = 1000;
const GONE_MAX: u32 = 3;

/// The browser of a harvest, for all its collections.
pub(in crate::wire) struct Engine {
    dir: PathBuf,
    certificates: OnceLock<Arc<Certificates>>,
    running: RwLock<Option<Running>>,
    tabs: OnceLock<Semaphore>,
    trouble: Mutex<Trouble>,
    pub(super) gates: Gates,
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

/// Whether there is a browser that starts: it is started for that, and closed.
pub async fn try_out(program: &BrowserProgram) -> Result<(), NoBrowser> {
    let engine = Engine::at(&std::env::temp_dir());
    engine.ready(program).await?;
    if let Some(running) = engine.running.write().await.take() {
        running.browser.close().await;
    }
    Ok(())
}

/// The browser for one page: it is not started anew meanwhile.
pub(super) struct Tab<'a> {
    running: RwLockReadGuard<'a, Running>,
    _place: SemaphorePermit<'a>,
}

impl Tab<'_> {
    pub(super) fn browser(&self) -> &Browser {
        &self.running.browser
    }
}

/// There is no browser for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoBrowser {
    pub reason: String,
    pub hint: Option<&'static str>,
}

impl NoBrowser {
    pub(super) fn told(&self) -> String {
        format!("harvesting with a browser: {}", self.reason)
    }
}

/// B20: a browser does not start in a sandbox then.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether there is a browser that could be started, as far as can be told without starting it.
pub fn check(program: &BrowserProgram) -> Result<PathBuf, NoBrowser> {
    let found = browser::find::find(program, is_root());
    found.map_err(|missing| NoBrowser { reason: missing.to_string(), hint: Some(missing.hint()) })
}

impl Engine {
    pub(in crate::wire) fn new(dir: &Path) -> Engine {
        // What a killed process left behind.
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("browser-") {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        Engine::at(dir)
    }

    fn at(dir: &Path) -> Engine {
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

    pub(super) fn certificates(&self) -> Result<Arc<Certificates>, NoBrowser> {
        if let Some(certificates) = self.certificates.get() {
            return Ok(Arc::clone(certificates));
        }
        let made = Certificates::new().map_err(|problem| no_browser(&problem))?;
        Ok(Arc::clone(self.certificates.get_or_init(|| Arc::new(made))))
    }

    /// B19: a tab, when one is free.
    pub(super) async fn tab(&self, program: &BrowserProgram) -> Result<Tab<'_>, NoBrowser> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let most = usize::try_from(program.tabs).unwrap_or(1).clamp(1, cores);
        let tabs = self.tabs.get_or_init(|| Semaphore::new(most));
        let place = tabs.acquire().await.map_err(|closed| no_browser(&closed))?;
        let running = self.running(program).await?;
        running.pages.fetch_add(1, Ordering::AcqRel);
        Ok(Tab { running, _place: place })
    }

    /// B20: whether pages can be rendered; starts the browser for it.
    pub(in crate::wire) async fn ready(&self, program: &BrowserProgram) -> Result<(), NoBrowser> {
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
    pub(in crate::wire) async fn user_agent(&self) -> Option<String> {
        self.running.read().await.as_ref().map(|running| running.browser.user_agent().to_owned())
    }

    /// Whether a page that the browser went down with is tried once more.
    pub(super) fn try_again(&self, order: &Order) -> bool {
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
