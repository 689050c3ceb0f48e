//! What is held against what, one module for each thing that reads the outside.

mod answer;
mod api;
mod archive;
mod config;
mod decode;
mod http;
mod import;
mod journal;
mod page;
mod recovery;
mod robots;
mod url;
mod warc;
mod window;

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};

use crate::Target;

pub use answer::ANSWER;
pub use api::API;
pub use archive::ARCHIVE;
pub use config::CONFIG;
pub use decode::DECODE;
pub use http::{CHUNKED, HTTP};
pub use import::IMPORT;
pub use journal::JOURNAL;
pub use page::{CSS, HTML, SITEMAP, XML};
pub use recovery::RECOVERY;
pub use robots::ROBOTS;
pub use url::URL;
pub use warc::WARC;
pub use window::WINDOW;

/// All of them.
pub const TARGETS: [Target; 18] = [
    ANSWER, API, ARCHIVE, CHUNKED, CONFIG, CSS, DECODE, HTML, HTTP, IMPORT, JOURNAL, RECOVERY, ROBOTS,
    SITEMAP, URL, WARC, WINDOW, XML,
];

/// As in a process that harvests: some things are done aside.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime"));
