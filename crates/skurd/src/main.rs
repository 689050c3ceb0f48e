//! The `skurd` binary: parse the arguments, resolve them, run the command, say what happened.

mod args;
mod commands;
mod output;
mod pages;
mod progress;
mod run;

use std::process::ExitCode;

use clap::Parser;

/// Half the time of a harvest goes into small allocations by many threads, for which the system's
/// allocator is slow and wasteful.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Cookies, pages behind logins, keys: nothing that is made here is for others (I7).
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    let args = args::Args::parse();
    log_to_stderr(args.verbose);
    match commands::run(args) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough: that is no failure.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<harvest::Stopped>() => {
            eprintln!("{error}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            if is_damage(&error) {
                eprintln!("hint: {}", harvest::data_dir::WHEN_UNREADABLE);
            }
            if error.is::<declare::hint::Usage>() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

/// What `RUST_LOG` asks for, else what `-v` does, else warnings.
fn log_to_stderr(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        .init();
}

/// Rows that do not read, met by whatever command.
fn is_damage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(cause.downcast_ref(), Some(::store::Error::Corrupt(_))))
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_broken = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is_broken))
}
