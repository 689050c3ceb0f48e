//! `skurd serve`: harvests for ever, and serves the API beside it.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Error, Result};
use app::{App, Live};
use declare::hint::{hinted, misused};
use declare::{self, Declared};
use harvest::session::note;
use harvest::{Harvest, Until, Wanted};
use serde_json::json;
use server::{Guard, Server, Shown};

use crate::args::harvest::{HarvestArgs, Replay, ServeArgs};
use crate::commands::config::warn;
use crate::commands::crawl::adjust;
use crate::output::line;
use crate::run::{self, summarise};

const TOKEN_VARIABLE: &str = "SKURD_TOKEN";
const TOKEN_FILE_BYTES_MAX: u64 = 4096;
/// A shorter token can be guessed.
const TOKEN_CHARS_MIN: usize = 16;

pub(crate) fn run(args: &ServeArgs) -> Result<()> {
    let token = token(args)?;
    check_reach(args.listen, token.as_deref())?;
    check_replay(args, token.as_deref())?;
    #[cfg(feature = "url-frontier")]
    let tls = super::url_frontier::tls(args)?;
    #[cfg(feature = "url-frontier")]
    if let Some(address) = args.url_frontier
        && tls.is_none()
    {
        check_reach(address, token.as_deref())?;
    }
    let declared = declared(args)?;
    let warnings = declared.as_ref().map(Declared::warnings).unwrap_or_default();
    // Who asks can be said while it serves.
    let wanted = Wanted { waits_for_contact: true, ..args.harvest.wanted() };
    let harvest = Harvest::open(&wanted, &declared.map(Declared::into_changes).unwrap_or_default())?;
    let file = args.config.as_deref().unwrap_or(Path::new("")).display().to_string();
    warn(&file, &warnings)?;
    let dir = &args.harvest.data.dir;
    let (app, live) = app_of(&harvest, dir);
    #[cfg(feature = "url-frontier")]
    let urls = args
        .url_frontier
        .map(|address| {
            let urls = Arc::clone(&app.urls);
            super::url_frontier::start(urls, address, token.clone(), tls, args.harvest.json)
        })
        .transpose()?;
    let listener = listen(args.listen)?;
    let shown = shown(args, &listener)?;
    let server = start_app(&harvest, app, listener, shown, token, args.harvest.json)?;
    let ran = harvest.start(false).and_then(|started| {
        run::tell_started(&started, args.harvest.json)?;
        run::told(&harvest, &Until::default(), args.harvest.json, Some(live))
    });
    server.stop();
    #[cfg(feature = "url-frontier")]
    if let Some(urls) = urls {
        urls.stop();
    }
    summarise(&ran?, dir, args.harvest.json)
}

/// Whoever is not on this machine must show the token.
fn check_reach(address: SocketAddr, token: Option<&str>) -> Result<()> {
    if token.is_some() || address.ip().is_loopback() {
        return Ok(());
    }
    Err(misused(
        format!("{address} can be reached by others, and there is no token"),
        format!("--token-file FILE, or {TOKEN_VARIABLE}; or listen at 127.0.0.1"),
    ))
}

pub(super) fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => hinted(
            format!("cannot listen at {address}: something else listens there"),
            "perhaps another skurd: stop it, or give another port: `--listen 127.0.0.1:0` takes any that is free",
        ),
        ErrorKind::PermissionDenied => hinted(
            format!("cannot listen at {address}: permission denied"),
            "ports below 1024 are for root: give a higher one",
        ),
        ErrorKind::AddrNotAvailable => hinted(
            format!("cannot listen at {address}: this machine does not have that address"),
            "127.0.0.1 is for this machine alone, 0.0.0.0 all of its addresses",
        ),
        _ => Error::new(error).context(format!("cannot listen at {address}")),
    })
}

/// Before anything is opened.
fn check_replay(args: &ServeArgs, token: Option<&str>) -> Result<()> {
    match args.replay {
        Some(Replay::Off) if args.replay_url.is_some() => {
            Err(misused("--replay-url says where what is off would be", "leave one of them out"))
        }
        Some(Replay::At(address)) => check_reach(address, token),
        _ => Ok(()),
    }
}

/// Where the archive is shown: where it was said, or at the next port.
fn shown(args: &ServeArgs, listener: &TcpListener) -> Result<Option<Shown>> {
    let listener = match args.replay {
        Some(Replay::Off) => return Ok(None),
        Some(Replay::At(address)) => listen(address)?,
        None => beside(args.listen, listener)?,
    };
    Ok(Some(Shown { listener, public: args.replay_url.clone() }))
}

/// The port after that of another listener, or any that is free; and any where any was asked for.
pub(super) fn beside(asked: SocketAddr, listener: &TcpListener) -> Result<TcpListener> {
    let at = |port| SocketAddr::new(asked.ip(), port);
    let next = match asked.port() {
        0 => 0,
        _ => listener.local_addr()?.port().checked_add(1).unwrap_or(0),
    };
    TcpListener::bind(at(next)).or_else(|_| listen(at(0)))
}

/// While a harvest has the directory, the other commands ask it (I8): over loopback, with a key that
/// only the owner of the directory can read.
pub(super) struct Beside {
    server: Server,
    pub(super) live: Arc<Live>,
}

impl Beside {
    pub(super) fn start(harvest: &Harvest, dir: &Path) -> Result<Beside> {
        let (app, live) = app_of(harvest, dir);
        let listener = listen((Ipv4Addr::LOCALHOST, 0).into())?;
        Ok(Beside { server: Server::start(listener, None, Guard::of_key()?, app, server::no_pages)?, live })
    }

    /// Before anything is told at the end: who asks from then on opens the directory itself.
    pub(super) fn stop(self) {
        self.server.stop();
    }
}

fn app_of(harvest: &Harvest, dir: &Path) -> (App, Arc<Live>) {
    let live = Arc::new(Live::new(Arc::clone(&harvest.figures), Arc::clone(&harvest.archive.health)));
    (App::new(Arc::clone(&harvest.frontier), dir.to_owned(), Arc::clone(&live)), live)
}

/// Serves what is known of a harvest, and says where.
pub(super) fn start(
    harvest: &Harvest,
    dir: &Path,
    listener: TcpListener,
    shown: Option<Shown>,
    token: Option<String>,
    as_json: bool,
) -> Result<(Server, Arc<Live>)> {
    let (app, live) = app_of(harvest, dir);
    Ok((start_app(harvest, app, listener, shown, token, as_json)?, live))
}

fn start_app(
    harvest: &Harvest,
    app: App,
    listener: TcpListener,
    shown: Option<Shown>,
    token: Option<String>,
    as_json: bool,
) -> Result<Server> {
    let server = Server::start(listener, shown, Guard::new(token)?, app, dashboard::pages)?;
    let host = match server.address.ip().is_unspecified() {
        true => rustix::system::uname().nodename().to_string_lossy().into_owned(),
        false => server.address.ip().to_string(),
    };
    harvest.frontier.set_address(&format!("http://{host}:{}", server.address.port()));
    let url = format!("http://{}/", server.address);
    let replay = server.replay.map(|address| format!("http://{address}/"));
    if as_json {
        let address = server.address.to_string();
        line(json!({ "event": "serving", "url": url, "address": address, "replay": replay }))?;
    } else if let Some(replay) = replay {
        note(&format!("the dashboard is at {url}, the archive is shown at {replay}"))?;
    } else {
        note(&format!("the dashboard is at {url}"))?;
    }
    Ok(server)
}

/// What the config says, with what the command line says of it.
fn declared(args: &ServeArgs) -> Result<Option<Declared>> {
    let Some(file) = &args.config else {
        let HarvestArgs { delay, parallel, robots, no_index, .. } = &args.harvest;
        if delay.is_some() || parallel.is_some() || robots.is_some() || *no_index {
            return Err(misused(
                "--delay, --parallel, --robots and --no-index change what a config says, and none is given",
                "give the config, or change what is declared with `skurd config apply`",
            ));
        }
        return Ok(None);
    };
    let mut declared = declare::load(file)?;
    adjust(&mut declared, &args.harvest);
    Ok(Some(declared))
}

fn token(args: &ServeArgs) -> Result<Option<String>> {
    let given = match &args.token_file {
        Some(file) => Some(read_token(file)?),
        None => std::env::var(TOKEN_VARIABLE).ok(),
    };
    let Some(token) = given else { return Ok(None) };
    let is_plain = token.chars().all(|c| c.is_ascii_graphic());
    match is_plain && token.len() >= TOKEN_CHARS_MIN {
        true => Ok(Some(token)),
        false => Err(misused(
            format!("a token has at least {TOKEN_CHARS_MIN} visible ASCII characters and no blanks"),
            "`openssl rand -hex 16` makes a good one",
        )),
    }
}

fn read_token(file: &Path) -> Result<String> {
    let bytes = declare::read_bounded(file, TOKEN_FILE_BYTES_MAX)?;
    let mode = std::fs::metadata(file).map(|found| found.permissions().mode()).unwrap_or_default();
    if mode & 0o077 != 0 {
        note(&format!("warning: others can read {0}\n  hint: chmod 600 {0}", file.display()))?;
    }
    Ok(String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().trim().to_owned())
}
