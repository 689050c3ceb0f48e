use std::path::PathBuf;

/// Why a store operation did not happen. The caller's answer depends only on the variant.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Somebody else wrote a key of this transaction first. Run it again;
    /// [`crate::Store::transact`] does.
    #[error("another transaction wrote the same key first")]
    Conflict {
        /// Hash of the contended key, so that those who retry can queue for it.
        key_hash: u64,
    },

    /// The commit may or may not have happened. Read again before deciding.
    #[error("it is unknown whether the transaction was committed: {0}")]
    Undetermined(String),

    /// Nothing happened, and nothing will until the cause is gone. Back off.
    #[error("the store is unavailable: {reason}")]
    Unavailable { reason: String, transient: bool },

    /// Stored bytes are not what was written. Stop.
    #[error("the store is damaged: {0}")]
    Corrupt(String),

    /// The caller asked for more than the limits allow; nothing happened.
    #[error("{what} of {size} bytes is over the limit of {max}")]
    TooLarge { what: &'static str, size: usize, max: usize },
}

impl Error {
    pub(crate) fn transient(reason: impl Into<String>) -> Error {
        Error::Unavailable { reason: reason.into(), transient: true }
    }

    pub fn lasting(reason: impl Into<String>) -> Error {
        Error::Unavailable { reason: reason.into(), transient: false }
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is wrong with the files of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    #[error("{} does not read from byte {at} on, where it was safely on disk", path.display())]
    Journal { path: PathBuf, at: u64 },

    #[error("its journal is missing, and with it the last things that were stored")]
    JournalMissing,
}

/// Why a data directory could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),

    #[error("{} holds no store (there is no FORMAT file)", .0.display())]
    NotAStore(PathBuf),

    #[error("{} is not empty and holds no store: choose an empty or new directory", .0.display())]
    ForeignDirectory(PathBuf),

    #[error("{} is in use by {}", dir.display(), owner.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}")))]
    InUse { dir: PathBuf, owner: Option<u32> },

    #[error("{} has format {found}, and this program knows formats up to {newest}: use the skurd that wrote it, or a newer one", dir.display())]
    UnknownFormat { dir: PathBuf, found: u32, newest: u8 },

    #[error("the upgrade of {} to format {to} did not come to its end, and goes on the next time it is opened: {source}", dir.display())]
    Upgrade { dir: PathBuf, to: u8, source: Error },

    #[error("{} is not a format file: {problem}", path.display())]
    BadFormatFile { path: PathBuf, problem: String },

    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },

    #[error("{} is a symbolic link, and what it leads to is not overwritten: remove the link", .0.display())]
    Link(PathBuf),

    #[error("the store in {} is damaged: {damage}; nothing was changed", dir.display())]
    Damaged { dir: PathBuf, damage: Damage },

    #[error("the store at {address} cannot be reached: {reason}")]
    Unreachable { address: String, reason: String },

    #[error("what is at {address} was not written by skurd: choose another prefix")]
    ForeignPrefix { address: String },

    #[error(
        "the store at {address} has format {found}, and this program knows formats up to {newest}: use the skurd that wrote it, or a newer one"
    )]
    UnknownFormatThere { address: String, found: u32, newest: u8 },

    #[error(
        "the upgrade of the store at {address} to format {to} did not come to its end, and goes on the next time it is opened: {source}"
    )]
    UpgradeThere { address: String, to: u8, source: Error },

    #[error("cannot read {}, which the address of the store names: {problem}", path.display())]
    Certificate { path: PathBuf, problem: String },

    #[error("{}: {problem}", path.display())]
    BadNodeFile { path: PathBuf, problem: String },

    #[error("there is no store at {address}")]
    NotAStoreThere { address: String },

    #[error("{address} is on a cluster, and this skurd was built without the feature `tikv`")]
    NoEngine { address: String },

    #[error("{place} is an unfinished copy of {of}: the same `skurd store copy` again goes on with it")]
    Unfinished { place: String, of: String },

    #[error("there is a store at {place} already, of an older format: choose a place where none is")]
    Occupied { place: String },

    #[error("cannot open the store in {}: {problem}", dir.display())]
    Engine { dir: PathBuf, problem: String },
}
