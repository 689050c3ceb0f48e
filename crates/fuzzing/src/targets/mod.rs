//! What is held against what, one module for each thing that reads the outside.

mod answer;
mod archive;
mod decode;
mod http;
mod journal;
mod page;
mod robots;
mod url;
mod warc;
mod window;

use crate::Target;

pub use answer::ANSWER;
pub use archive::ARCHIVE;
pub use decode::DECODE;
pub use http::{CHUNKED, HTTP};
pub use journal::JOURNAL;
pub use page::{CSS, HTML, SITEMAP, XML};
pub use robots::ROBOTS;
pub use url::URL;
pub use warc::WARC;
pub use window::WINDOW;

/// All of this crate.
pub const TARGETS: [Target; 14] =
    [ANSWER, ARCHIVE, CHUNKED, CSS, DECODE, HTML, HTTP, JOURNAL, ROBOTS, SITEMAP, URL, WARC, WINDOW, XML];
