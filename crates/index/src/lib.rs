//! The link index: what pages say about each other, kept up to date by small transactions (spec 4).
//!
//! The life of a page: [`Index::load`] compares it with what was loaded before and, if it differs,
//! puts it down as `page:new` and leaves a note, all inside the caller's transaction. The page
//! observer finds the note, works out which links came and went, and sends each target an update.
//! The inlinks observer takes many updates at once and keeps the inlink cells and counts. The rank
//! observer moves what was counted anew to its places in the ranks, once for many batches while much
//! comes in, and tells the domains which URIs appeared or disappeared. The domain observer adds that up. Each of
//! these steps is a transaction that consumes its notes in the commit that applies them, so a crash
//! anywhere loses nothing and counts nothing twice (X11). When no note waits the index is at rest,
//! and equal to what [`verify`](Index::verify) recomputes from the pages alone.
//!
//! Queries read the same rows at any time ([`query`]); the [dump](dump) prints them in the seed's
//! form.

mod codec;
mod domains;
pub mod dump;
mod error;
#[cfg(test)]
mod golden_rows;
mod handle;
mod inlinks;
mod load;
pub mod observe;
mod page;
mod pages;
pub mod query;
mod ranks;
mod rebuild;
mod scan;
pub mod schema;
mod uri;
mod verify;

/// A future in a box is compiled here, once, and not anew in every crate that awaits it.
pub(crate) use async_recursion::async_recursion as boxed;

pub use dump::Dump;
pub use error::Error;
pub use handle::Index;
pub use load::{Load, Loaded};
pub use observe::{Metrics, Workers};
pub use page::{ANCHOR_BYTES_MAX, Link, PAGE_BYTES_MAX, PAGE_LINKS_MAX, Page, PageBuilder, Skipped};
pub use query::{By, Inlink, Listing, PageFacts, RankedDomain, RankedPage, Seen};
pub use schema::Totals;
pub use uri::{Skip, URI_BYTES_MAX, Uri};
pub use verify::{Difference, Repair, Report};
