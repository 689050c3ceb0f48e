//! The `skurd` binary: everything is in the library.

use std::process::ExitCode;

/// Half the time of a harvest goes into small allocations by many threads, for which the system's allocator is slow and wasteful.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    skurd::main()
}
