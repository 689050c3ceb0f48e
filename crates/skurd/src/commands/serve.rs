//! `skurd serve`: harvests for ever, and serves the API beside it.

use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use app::{App, Live};
use declare::hint::misused;
use declare::{self, Declared};
use harvest::session::note;
use harvest::{Harvest, Until};
use serde_json::json;
use server::{Guard, Server};

use crate::args::harvest::{HarvestArgs, ServeArgs};
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
    if token.is_none() && !args.listen.ip().is_loopback() {
        return Err(misused(
            format!("{} can be reached by others, and there is no token", args.listen),
            format!("--token-file FILE, or {TOKEN_VARIABLE}; or listen at 127.0.0.1"),
        ));
    }
    let declared = declared(args)?;
    let warnings = declared.as_ref().map(Declared::warnings).unwrap_or_default();
    let harvest =
        Harvest::open(&args.harvest.wanted(), &declared.map(Declared::into_changes).unwrap_or_default())?;
    let file = args.config.as_deref().unwrap_or(Path::new("")).display().to_string();
    warn(&file, &warnings)?;
    let dir = &args.harvest.data.dir;
    let (server, live) = start(&harvest, dir, listen(args.listen)?, token, args.harvest.json)?;
    let ran = harvest.start(false).and_then(|started| {
        run::tell_started(&started, args.harvest.json)?;
        run::told(&harvest, &Until::default(), args.harvest.json, Some(live))
    });
    server.stop();
    summarise(&ran?, dir, args.harvest.json)
}

pub(super) fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).with_context(|| format!("cannot listen at {address}"))
}

/// Serves what is known of a harvest, and says where.
pub(super) fn start(
    harvest: &Harvest,
    dir: &Path,
    listener: TcpListener,
    token: Option<String>,
    as_json: bool,
) -> Result<(Server, Arc<Live>)> {
    let live = Arc::new(Live::new(Arc::clone(&harvest.figures), Arc::clone(&harvest.archive.health)));
    let app = App::new(Arc::clone(&harvest.frontier), dir.to_owned(), Arc::clone(&live));
    let server = Server::start(listener, Guard::new(token)?, app, dashboard::pages)?;
    let host = match server.address.ip().is_unspecified() {
        true => rustix::system::uname().nodename().to_string_lossy().into_owned(),
        false => server.address.ip().to_string(),
    };
    harvest.frontier.set_address(&format!("http://{host}:{}", server.address.port()));
    let url = format!("http://{}/", server.address);
    match as_json {
        true => line(json!({ "event": "serving", "url": url, "address": server.address.to_string() }))?,
        false => note(&format!("the dashboard is at {url}"))?,
    }
    Ok((server, live))
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
