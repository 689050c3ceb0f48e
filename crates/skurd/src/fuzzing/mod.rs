//! What of this crate reads the outside, held against bytes that nobody meant well (A11, A12, A13): see the crate `fuzzing`, whose targets
//! these are too. Here and not there, since they are about what is private.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a target that fails says so by panicking")]

mod api;
mod config;
mod import;
mod recovery;

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};

pub use api::API;
pub use config::CONFIG;
pub use import::IMPORT;
pub use recovery::RECOVERY;

/// As in a process that harvests: some things are done aside.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime"));

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn run(target: &fuzzing::Target) {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fuzz");
        let inputs = fuzzing::runner::run(target, &kept);
        println!("{}: {inputs} inputs", target.name);
    }

    #[test]
    fn i4_fuzz_api() {
        run(&API);
    }

    #[test]
    fn i3_fuzz_config() {
        run(&CONFIG);
    }

    #[test]
    fn i3_fuzz_import() {
        run(&IMPORT);
    }

    #[test]
    fn a13_fuzz_recovery() {
        run(&RECOVERY);
    }
}
