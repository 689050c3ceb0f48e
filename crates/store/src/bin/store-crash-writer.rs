//! The other process of the crash and full-disk tests (see `store::contract::crash`).
//!
//! `write DIR` commits until it is killed. `fill DIR RESERVE` commits until it is refused, and says
//! after how many and why. `count DIR` says how many rows `fill` left. `upgrade DIR` upgrades the
//! store, and says when it begins and when it is done.

use std::path::Path;
use std::process::ExitCode;

use store::contract::{crash, upgrading};
use store::{Options, Store};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Result<(), String> {
    if let ["upgrade", dir] = args {
        let options = Options { notice: |notice| println!("{notice}"), ..upgrading::options() };
        return Store::open(Path::new(dir), &options).map(drop).map_err(|e| e.to_string());
    }
    let (dir, reserve) = match args {
        ["write" | "count", dir] => (dir, 0),
        ["fill", dir, reserve] => (dir, reserve.parse().map_err(|_| "the reserve is not a number")?),
        _ => {
            return Err(
                "usage: store-crash-writer write DIR | fill DIR RESERVE | count DIR | upgrade DIR".into()
            );
        }
    };
    // Small buffers, so that tables are written and merged while it runs.
    let options = Options { write_buffer_bytes: 1 << 20, disk_reserve_bytes: reserve, ..Options::default() };
    let store = Store::open(Path::new(dir), &options).map_err(|e| e.to_string())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .map_err(|e| e.to_string())?;
    match args[0] {
        "write" => runtime.block_on(crash::write_forever(&store)).map_err(|e| e.to_string())?,
        "fill" => {
            let (acked, refused) = runtime.block_on(crash::fill(&store));
            println!("{acked} {refused}");
        }
        _ => println!("{}", runtime.block_on(crash::filled(&store))),
    }
    Ok(())
}
