//! From captures to pages: what a browser is shown of an archive, and where.
//!
//! A capture is shown at an [address](place) of its own, `/COLLECTION/TIMESTAMP/URL`, on an origin
//! that has nothing else (R1). What was captured as HTML, XML or CSS ([`kind`]) is [rewritten](rewrite)
//! on its way out, piece by piece and without running anything: every URL in it becomes an address of
//! the same archive at the same time, scripts and whatever leads elsewhere are left out, and a slim
//! [bar](bar) says what one is looking at. Everything else goes out as it came. Which capture is nearest
//! to a time is asked of the store by `app`; [`moment`] knows how times are written in addresses and
//! headers, [`memento`] the headers and lists of RFC 7089, [`cdx`] the lines of a CDX server.
//!
//! Nothing here trusts what it reads (R8). Tags are written anew from what was understood of them, so
//! that a browser reads what was read here; what was not understood is left out. Should anything slip
//! through all the same, [`POLICY`] lets no browser run it, or load anything from elsewhere.

pub mod bar;
pub mod cdx;
pub mod kind;
pub mod memento;
pub mod moment;
pub mod place;
pub mod rewrite;

/// What a browser may do with anything that comes out of the archive (R1): show it. No script, no form, no
/// plugin, no window, no download, no origin that anything else shares; and nothing is loaded but from
/// the archive, which answers from what was captured.
///
/// Pages are shown in frames of other pages of the archive, and those have no origin: so nothing is
/// said of ancestors.
pub const POLICY: &str = "sandbox; default-src 'none'; script-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline' data:; \
                          font-src 'self' data:; media-src 'self' data:; frame-src 'self'; object-src 'self'; connect-src 'none'; \
                          form-action 'none'; base-uri 'none'";
