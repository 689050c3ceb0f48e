//! Web archive files: WARC 1.1, written and read (A8, A11).
//!
//! **Writing.** The recorded exchange of a harvest becomes a group of records ([`Packer`]): the response, or a revisit if nothing new
//! came, the request, a metadata record, and resource records for look-ups. Each record is compressed on its own, so that a reader
//! can begin at any of them. A finished group ([`Prepared`]) is plain bytes with the index entries of what is in them, made by the worker
//! that fetched; only appending it to a file ([`FileSet`]) goes through one hand. A batch of groups is appended, synced, and then
//! committed by the store; what a crash leaves behind the last commit is cut off at the next start ([`recover`]).
//!
//! **Reading.** [`Reader`] goes through a file of anybody's making, record by record, and never holds more than a record's head in
//! memory. [`check()`] is that with every digest recomputed.
//!
//! The invariant: a file without the suffix `.open` is complete and is never touched again; a file with it is sound up to the end the
//! store has committed.
//!
//! No crate for WARC is used: those there are keep whole records in memory, lose header case or order, or do not tell offsets.

mod check;
mod coder;
pub mod date;
pub mod digest;
mod disk;
mod fields;
mod files;
mod head;
mod input;
mod members;
mod names;
mod pack;
mod plan;
mod read;
mod recover;
mod small;
pub(crate) mod split;
mod verify;

pub use check::{CheckReport, Problem, check};
pub use coder::Compression;
pub use digest::Digest;
pub use disk::FileError;
pub use fields::Fields;
pub use files::{FileSet, FileSettings, Mark, Place};
pub use head::RecordHead;
pub use pack::{Capture, Entry, GroupBuilder, PackSettings, Packer, Prepared, Refers, Revisit};
pub use read::{Extent, ReadError, Reader};
pub use recover::{Found, Recovered, complete, open_files, recover};
pub use verify::{Digests, Outcome};

pub(crate) use pack::WARC_FIELDS;

/// The types of records written here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Warcinfo,
    Request,
    Response,
    Revisit,
    Resource,
    Metadata,
}

impl Kind {
    /// As `WARC-Type` spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Warcinfo => "warcinfo",
            Kind::Request => "request",
            Kind::Response => "response",
            Kind::Revisit => "revisit",
            Kind::Resource => "resource",
            Kind::Metadata => "metadata",
        }
    }
}
