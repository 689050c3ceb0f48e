//! The wire and the paper: names to addresses, requests to answers, answers to links and to
//! archived records.
//!
//! Everything here is about bytes somebody else made, so everything has a limit and nothing is
//! trusted. It knows neither the store nor the frontier: an [`exchange::Exchange`] is what it
//! gives, and what the archive takes.

pub mod address;
pub mod cdx;
pub mod content_type;
pub mod cookies;
pub mod decode;
pub mod dns;
pub mod exchange;
pub mod extract;
pub mod http;
mod inflate;
pub mod proxy;
pub mod surt;
pub mod tls;
pub mod warc;
