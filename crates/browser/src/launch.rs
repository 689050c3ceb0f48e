//! A browser process: started with nothing of the user's and no way out, watched, ended.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::{Child, Command};

use crate::find::{MAJOR_VERSION_MIN, major_version};
use crate::pipe::Pipe;
use crate::protocol::{AutoAttach, CloseBrowser, GetVersion, TargetFilter};

/// For a browser to say its version.
const START_WITHIN: Duration = Duration::from_secs(30);
const CLOSE_WITHIN: Duration = Duration::from_secs(3);

/// How a browser is started.
#[derive(Clone, Debug)]
pub struct Launch {
    pub program: PathBuf,
    pub sandbox: bool,
    /// What its certificates are signed with is known to it by this hash.
    pub key_hash: String,
    /// The proxy of whatever belongs to no page: it refuses everything.
    pub own_proxy: std::net::SocketAddr,
    /// Where it may keep what it keeps while it runs.
    pub dir: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("the browser cannot be started")]
    Start(#[from] std::io::Error),
    #[error("the browser ended before it said a word: {0}")]
    Silent(String),
    #[error("the browser is {0}, and at least version {MAJOR_VERSION_MIN} is needed")]
    TooOld(String),
}

/// A running browser.
#[derive(Debug)]
pub struct Browser {
    pub(crate) pipe: Pipe,
    child: Mutex<Child>,
    group: Option<Pid>,
    version: String,
    user_agent: String,
    /// Goes with it.
    _profile: tempfile::TempDir,
}

/// What keeps a browser to itself: off the network, off the user's things, and awake.
const FLAGS: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
    // B14: a window that waits to be looked at stops the frames of its opener, some of them for good. The
    // page is told what one is told whose browser lets no window open without a user.
    "--block-new-web-contents",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-quic",
    "--disable-renderer-backgrounding",
    "--disable-sync",
    "--deny-permission-prompts",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-features=Translate,MediaRouter,OptimizationHints,OptimizationGuideModelDownloading,\
     HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,AutofillServerCommunication,PaintHolding,\
     InterestFeedContentSuggestions,DialMediaRouteProvider,BackForwardCache,LocalNetworkAccessChecks,\
     BlockInsecurePrivateNetworkRequests",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    // Without, it connects to loopback and link-local addresses by itself.
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
];

impl Browser {
    pub async fn launch(launch: &Launch) -> Result<Browser, LaunchError> {
        let profile = tempfile::Builder::new().prefix("browser-").tempdir_in(&launch.dir)?;
        let mut child = command(launch, profile.path()).spawn()?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(LaunchError::Silent("it has no pipe".to_owned()));
        };
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let pipe = Pipe::new(from, to);
        let mut browser = Browser {
            pipe,
            child: Mutex::new(child),
            group,
            version: String::new(),
            user_agent: String::new(),
            _profile: profile,
        };
        let version = match browser.pipe.call(None, &GetVersion {}, START_WITHIN).await {
            Ok(version) => version,
            Err(problem) => {
                let said = browser.last_words(&problem.to_string());
                return Err(LaunchError::Silent(said));
            }
        };
        if major_version(&version.product).is_none_or(|major| major < MAJOR_VERSION_MIN) {
            return Err(LaunchError::TooOld(version.product));
        }
        browser.version = version.product;
        browser.user_agent = version.user_agent.replace("HeadlessChrome", "Chrome");
        let pages = vec![
            TargetFilter { kind: Some("page"), exclude: false },
            TargetFilter { kind: None, exclude: true },
        ];
        let attach =
            AutoAttach { auto_attach: true, wait_for_debugger_on_start: true, flatten: true, filter: pages };
        let attached = browser.pipe.call(None, &attach, START_WITHIN).await;
        attached.map_err(|problem| LaunchError::Silent(problem.to_string()))?;
        Ok(browser)
    }

    /// `HeadlessChrome/156.0.8078.79`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// As it calls itself, without saying that nobody is looking.
    pub fn user_agent(&self) -> &str {
        &self.user_agent
    }

    pub fn is_gone(&self) -> bool {
        self.pipe.is_gone()
    }

    /// Its process, which leads a group of all of its processes.
    pub fn process(&self) -> Option<u32> {
        self.group.map(|group| group.as_raw_nonzero().get().unsigned_abs())
    }

    /// Of all its processes together, each page of memory counted once.
    pub fn memory_bytes(&self) -> u64 {
        let Some(group) = self.process() else { return 0 };
        processes_of(group).map(|process| proportional_bytes(&process)).sum()
    }

    /// Asks it to end, and then ends it.
    pub async fn close(&self) {
        // Whether it heard or not.
        let _ = self.pipe.call(None, &CloseBrowser {}, CLOSE_WITHIN).await;
        let _ = tokio::time::timeout(CLOSE_WITHIN, self.pipe.gone()).await;
        self.kill();
    }

    /// Ends it and everything it started, at once.
    pub fn kill(&self) {
        if let Some(group) = self.group {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
        // Takes note of its end, if it has come already; the runtime does otherwise.
        let _ = self.child.lock().try_wait();
    }

    /// B12: ends the process of a page, whatever state it is in; only one of this browser, and only
    /// one that pages run in.
    pub(crate) fn kill_renderer(&self, process: u32) {
        let is_renderer = |path: &PathBuf| {
            // Processes that were forked write theirs anew, with spaces.
            let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
            line.split(|byte| matches!(byte, 0 | b' ')).any(|word| word == b"--type=renderer")
        };
        let own = self.process().into_iter().flat_map(processes_of);
        let mut own = own.filter(|path| path.ends_with(process.to_string()) && is_renderer(path));
        let id = i32::try_from(process).ok().and_then(Pid::from_raw);
        if let Some(id) = own.next().and(id) {
            // It may end by itself meanwhile.
            let _ = kill_process(id, Signal::KILL);
        }
    }

    fn last_words(&self, otherwise: &str) -> String {
        let said = std::fs::read_to_string(self._profile.path().join(STDERR)).unwrap_or_default();
        let is_word = |line: &&str| !line.trim().is_empty();
        said.lines().rev().find(is_word).map_or(otherwise.to_owned(), |line| line.trim().to_owned())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.kill();
    }
}

const STDERR: &str = "stderr.txt";

/// Its commands come on descriptor 3 and its answers on 4: the shell puts its own input and output
/// there, which needs no unsafe code here.
fn command(launch: &Launch, profile: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#])
        .arg(&launch.program)
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--ignore-certificate-errors-spki-list={}", launch.key_hash))
        .arg(format!("--proxy-server=http://{}", launch.own_proxy));
    if !launch.sandbox {
        command.arg("--no-sandbox");
    }
    command.arg("about:blank");
    for home in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR"] {
        command.env(home, profile);
    }
    for proxy in
        ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"]
    {
        command.env_remove(proxy);
    }
    let stderr = std::fs::File::create(profile.join(STDERR)).map_or_else(|_| Stdio::null(), Stdio::from);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
    command.process_group(0).kill_on_drop(true);
    command
}

/// The directories in `/proc` of a group's processes.
fn processes_of(group: u32) -> impl Iterator<Item = PathBuf> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    processes.filter(move |path| {
        let stat = std::fs::read_to_string(path.join("stat")).unwrap_or_default();
        // After the name, which may hold anything: state, parent, group.
        let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
        after.split_whitespace().nth(2).and_then(|group| group.parse().ok()) == Some(group)
    })
}

fn proportional_bytes(process: &Path) -> u64 {
    let rollup = std::fs::read_to_string(process.join("smaps_rollup")).unwrap_or_default();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}
