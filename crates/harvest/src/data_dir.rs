//! Opening the store of a data directory: the one way of all commands, and what is said when it
//! does not open.

use std::io::Write;
use std::path::Path;

use anyhow::Error;
use declare::hint::hinted;
use frontier::UPGRADES;
use store::{Notice, OpenError, Options, Place, Store};

use crate::node::Node;
use crate::wire::warc_dir;

/// For commands that look: a directory without a store is an error.
pub fn open(dir: &Path) -> Result<Store, OpenError> {
    let options = with_upgrades(Options::default());
    match Node::read(dir)?.store {
        Some(address) => Store::open_existing_cluster_for(dir, &address, &options),
        None => Store::open_existing(dir, &options),
    }
}

/// For whoever accepts that what does not read is lost: it is set aside.
pub fn repair(dir: &Path) -> Result<Store, OpenError> {
    Store::open_existing(dir, &with_upgrades(Options { set_damage_aside: true, ..Options::default() }))
}

/// For commands that fill: makes the store if it is not there.
pub fn create(dir: &Path, options: Options) -> Result<Store, OpenError> {
    create_of(dir, &Node::read(dir)?, options)
}

/// The same, of a node that the directory may not remember yet.
pub fn create_of(dir: &Path, node: &Node, options: Options) -> Result<Store, OpenError> {
    let options = with_upgrades(options);
    match &node.store {
        Some(address) => Store::open_cluster_for(dir, address, &options),
        None => Store::open(dir, &options),
    }
}

/// For what can be had back from an archive: makes the store also where it is gone and other things
/// are left, and sets aside what is damaged.
pub fn create_anew(dir: &Path) -> Result<Store, OpenError> {
    Store::open_anew(dir, &with_upgrades(Options { set_damage_aside: true, ..Options::default() }))
}

/// For whoever copies a store: what is copied.
pub fn open_source(place: &Place) -> Result<Store, OpenError> {
    place.open_existing(&with_upgrades(Options::default()))
}

/// For whoever copies a store: what it is copied to.
pub fn open_target(place: &Place) -> Result<Store, OpenError> {
    place.open_for_copy(&with_upgrades(Options::bulk()))
}

fn with_upgrades(mut options: Options) -> Options {
    (options.upgrades, options.notice) = (Some(UPGRADES), tell);
    options
}

/// Data goes to standard output, and this is none. Who closed standard error does not want to know.
fn tell(notice: &Notice) {
    let _ = writeln!(std::io::stderr().lock(), "{notice}");
}

pub fn explain(dir: &Path, error: OpenError) -> Error {
    let hint = match &error {
        _ if is_gone(dir, &error) && has_archive(dir) => format!(
            "its archive is there: put the store back, or `skurd archive adopt --data {}` makes a new one from what is in the files",
            dir.display()
        ),
        OpenError::NotAStore(_) => make_one(dir),
        OpenError::Io { action: "create", .. } => {
            "give a directory that can be made there with --data, or make its parent first".to_owned()
        }
        OpenError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => make_one(dir),
        OpenError::InUse { owner, .. } => in_use(dir, *owner).to_owned(),
        OpenError::Damaged { .. } => when_damaged(dir),
        OpenError::Engine { .. } => WHEN_UNREADABLE.to_owned(),
        OpenError::Unreachable { .. } => WHEN_UNREACHABLE.to_owned(),
        OpenError::NotAStoreThere { .. } => format!(
            "`skurd serve CONFIG --data {}` makes one; if the address is wrong, it is in node.yaml there",
            dir.display()
        ),
        OpenError::Certificate { .. } => "ca, cert and key are files in PEM".to_owned(),
        _ => return error.into(),
    };
    hinted(error.to_string(), hint)
}

fn make_one(dir: &Path) -> String {
    format!("`skurd config apply FILE --data {}` makes one", dir.display())
}

/// Whether there is no store (A13).
fn is_gone(dir: &Path, error: &OpenError) -> bool {
    match error {
        OpenError::NotAStore(_) | OpenError::ForeignDirectory(_) => true,
        OpenError::Engine { .. } => !dir.join("store").exists(),
        _ => false,
    }
}

fn has_archive(dir: &Path) -> bool {
    net::warc::survey(&warc_dir(dir)).is_ok_and(|files| !files.is_empty())
}

/// What to do about a journal that does not read.
fn when_damaged(dir: &Path) -> String {
    let dir = dir.display();
    format!(
        "put back a copy of {dir} if there is one; without one, `skurd archive adopt --data {dir}` goes on from the last state that reads, keeps the rest \
         beside it, and reads back what the WARC files have (`skurd store repair {dir}` does only the first)"
    )
}

/// What to do about rows and tables that do not read.
pub const WHEN_UNREADABLE: &str = "`skurd store check DIR` reads everything there is; what is damaged on disk comes back from a copy of the directory only, or, \
in a new directory, from the WARC files with `skurd archive adopt`";

/// What to do about a cluster that does not answer.
const WHEN_UNREACHABLE: &str = "it is tikv://HOST:PORT/PREFIX, with the placement drivers of a TiKV cluster; one that wants certificates is told them by \
?ca=FILE&cert=FILE&key=FILE";

/// What to do about a directory that somebody else has.
fn in_use(dir: &Path, owner: Option<u32>) -> &'static str {
    match crate::running_server::RunningServer::read(dir).map(|notice| notice.pid) {
        Some(server) if Some(server) == owner => {
            "that is `skurd serve`, and this command wants the directory for itself: stop the server, and start it again after"
        }
        _ => "stop it, or let `skurd serve` harvest: other commands then go through it",
    }
}
