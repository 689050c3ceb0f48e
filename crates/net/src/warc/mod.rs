//! Web archive files: WARC 1.1, written and read (A8, A11).
//!
//! **Writing.** The recorded exchange of a harvest becomes a group of records ([`Packer`]): the
//! response, or a revisit if nothing new came, the request, a metadata record, and resource records
//! for look-ups. Each record is compressed on its own, so that a reader can begin at any of them. A
//! finished group ([`Prepared`]) is plain bytes with the index entries of what is in them, made by
//! the worker that fetched; only appending it to a file ([`FileSet`]) goes through one hand. A
//! batch of groups is appended, synced, and then committed by the store. Which batch is in hand,
//! and where it began, is in a [`Journal`] beside the files.
//!
//! **Starting again.** What lies in the directory ([`survey`]) is held against what the store knows
//! of it and what the journal remembers ([`judge`]). Only the batch in hand is ever cut off; what
//! else is not known is read back ([`Walk`]), set aside, or left as it is for somebody to decide.
//!
//! **Reading.** [`Reader`] goes through a file of anybody's making, record by record, and never
//! holds more than a record's head in memory. [`check()`] is that with every digest recomputed.
//! [`Walk`] goes through a file of our own from anywhere in it, past damage. [`StoredRecord`] is
//! the one record that a capture points at.
//!
//! The invariant: a file without the suffix `.open` is complete and its bytes are never touched
//! again; a file with it is sound up to the end the store has committed; and no byte of either goes
//! but those of a batch that the store and the journal both say is in hand.
//!
//! No crate for WARC is used: those there are keep whole records in memory, lose header case or
//! order, or do not tell offsets.

mod check;
mod coder;
pub mod date;
pub mod digest;
mod disk;
mod fields;
mod files;
mod gzip;
mod head;
mod input;
mod journal;
mod judge;
mod members;
mod names;
mod pack;
mod plan;
mod read;
mod shelf;
mod small_deflate;
pub(crate) mod split;
mod stored;
mod verify;
mod walk;

pub use check::{CheckReport, Problem, check};
pub use coder::Compression;
pub use digest::Digest;
pub use disk::{FileError, complete, private_dir};
pub use fields::Fields;
pub use files::{FileSet, FileSettings, Mark, Place, Reached};
pub use head::RecordHead;
pub use journal::{Batch, Journal, Part, Remembered, remembered};
pub use judge::{Behind, Deed, Known, Standing, Why, is_same, judge};
pub use names::is_legal_part;
pub use pack::{Capture, Entry, GroupBuilder, PackSettings, Packer, Prepared, Refers, Revisit, uuid};
pub use read::{Extent, ReadError, Reader};
pub use shelf::{Held, Stage, cut_back, end_of, set_aside, set_end_aside, survey, take_back};
pub use stored::{StoredRecord, open_file};
pub use verify::{Digests, Outcome};
pub use walk::{Record, Step, Walk, said_first};

pub(crate) use pack::{INDEXED_AS, WARC_FIELDS};

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
