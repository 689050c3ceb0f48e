//! The frontier's ports over `net`: an order becomes a request, an answer becomes a report and
//! records of the archive.
//!
//! The way of an order: [`robots`] says whether it may be fetched (and is fetched itself for that,
//! when it is due) → [`fetch`] sends the request with the collection's cookies and headers
//! ([`manner`]) → [`again`] asks whether all that still holds, now that the answer is there → the
//! [`answer`] is read for links, and [`pack`]ed for the archive, both in the task of the order →
//! [`archive`] appends what many orders brought, with one sync for all. Where the collection is
//! harvested with a browser, [`browse`] renders the page in between, and adds what that brings. Memory
//! is bounded by the number of workers, and of hosts that are waited for beside them: an answer that
//! is large lives in a file from its first quarter of a megabyte on.

mod again;
mod answer;
pub mod archive;
mod browse;
mod dedup;
mod fetch;
mod identity;
mod manner;
mod pack;
mod robots;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
pub use archive::WarcArchive;
pub(crate) use archive::host_name;
pub use browse::{NoBrowser, check as check_browser, is_root, try_out as try_browser};
pub use dedup::referred;
pub use fetch::WireFetcher;
use frontier::Frontier;
pub use identity::{Identity, Introduction};
use ipnet::IpNet;
use net::dns::{Overrides, Resolver};
use net::http::{Client, Guard, PoolLimits, Setup};
use net::tls::Certificates;
use net::warc::Compression;
pub use pack::PackedAnswer;
use policy::model::BadCertificates;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Answers and records beyond this are kept in files until they are archived.
const MEMORY_BYTES_MAX: usize = 256 << 10;

/// How the wire is set up.
#[derive(Clone, Debug)]
pub struct WireSettings {
    pub dir: PathBuf,
    pub overrides: Overrides,
    pub allowed: Vec<IpNet>,
    pub introduction: Introduction,
    pub certificates: BadCertificates,
    /// None: nothing is archived.
    pub compression: Option<Compression>,
    pub workers: usize,
    /// What file names say of where they are from, instead of the machine's name.
    pub node: Option<String>,
}

/// Each host that is waited for has a socket, or two while its name is looked up: more than a
/// process may open unless it asks for more. Where it may not have them, requests fail as if the
/// hosts had refused them.
const SOCKETS_MAX: u64 = 65_536;

/// Lets this process open as many sockets as it is allowed to.
fn allow_sockets() {
    let now = getrlimit(Resource::Nofile);
    let wanted = now.maximum.map_or(SOCKETS_MAX, |most| most.min(SOCKETS_MAX));
    if now.current.is_some_and(|current| current < wanted) {
        // Without, it is as it was.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..now });
    }
}

/// Where the archive of a data directory is.
pub fn warc_dir(data: &Path) -> PathBuf {
    data.join("warc")
}

/// Where large answers wait.
fn spill_dir(data: &Path) -> PathBuf {
    data.join("tmp")
}

pub fn open(
    settings: &WireSettings,
    frontier: &Arc<Frontier>,
) -> Result<(Arc<WireFetcher>, Arc<WarcArchive>)> {
    open_with(settings, frontier, Resolver::system(settings.overrides.clone(), clock_of(frontier)))
}

/// The frontier's: with many machines that of the store.
fn clock_of(frontier: &Arc<Frontier>) -> net::http::Clock {
    let frontier = Arc::clone(frontier);
    Arc::new(move || frontier.now())
}

fn open_with(
    settings: &WireSettings,
    frontier: &Arc<Frontier>,
    resolver: Resolver,
) -> Result<(Arc<WireFetcher>, Arc<WarcArchive>)> {
    allow_sockets();
    let spill_dir = spill_dir(&settings.dir);
    net::warc::private_dir(&spill_dir)
        .with_context(|| format!("cannot make the directory {}", spill_dir.display()))?;
    let clock = clock_of(frontier);
    let resolver = Arc::new(resolver);
    let is_reachable = Arc::new(AtomicBool::new(false));
    let guard =
        Guard::allowing(settings.allowed.iter().copied()).only_allowed_unless(Arc::clone(&is_reachable));
    let client = Client::new(Setup {
        resolver,
        guard,
        certificates: match settings.certificates {
            BadCertificates::Accept => Certificates::AcceptBad,
            BadCertificates::Refuse => Certificates::RequireValid,
        },
        // As many rest as were asked at once: all answers of a batch may be home before the next requests go
        // out.
        pool: PoolLimits {
            per_origin_max: settings.workers,
            total_max: settings.workers * 2,
            ..PoolLimits::default()
        },
        memory_bytes_max: MEMORY_BYTES_MAX,
        spill_dir: spill_dir.clone(),
        clock,
    })?;
    let packers = settings.compression.map(|compression| pack::Packers::new(compression, &spill_dir));
    let shelf = packers.map(|packers| fetch::Shelf { packers, dir: warc_dir(&settings.dir) });
    let engine = browse::Engine::new(&spill_dir);
    let who = fetch::Who { said: settings.introduction.clone(), is_reachable };
    let fetcher = WireFetcher::new(Arc::clone(frontier), client, who, shelf, engine);
    let archive = WarcArchive::new(settings, Arc::clone(frontier))?;
    Ok((Arc::new(fetcher), Arc::new(archive)))
}

#[cfg(test)]
mod tests;
