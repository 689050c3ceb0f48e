//! `skurd linear` against `curl -Z` with URL globbing, on 20,000 ids of one loopback host, pages of
//! about 2 KB.
//!
//! The web is a process of its own (this binary with `--serve`). Both fetch every id with 32
//! requests at once; curl throws the answers away, skurd archives and commits each. The runs
//! alternate, and the medians count; a run counts only if the web saw every id. Then the size of
//! the rows that a walk of ten million ids in a row costs. `--skurd FILE` is the binary to measure,
//! `--rounds N` how often.

mod pages;
mod rows;

use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use skurd_bench::web::Web;
use skurd_bench::{Stopwatch, median, number_flag, scratch, skurd_binary, text_flag};

const PARALLEL: &str = "32";

fn main() -> Result<()> {
    if let Some(port) = text_flag("--serve") {
        return pages::serve(port.parse()?);
    }
    let ids = number_flag("--ids", 20_000);
    let rounds = number_flag("--rounds", 3);
    let web = Web::start()?;
    println!("{ids} ids on one host, {PARALLEL} requests at once, {rounds} rounds");
    let (mut curl, mut skurd) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        curl.push(measure(&web, ids, |dir| Ok(curl_command(&web, ids, dir)))?);
        skurd.push(measure(&web, ids, |dir| skurd_command(&web, ids, dir))?);
    }
    for (name, rates) in [("curl -Z, to /dev/null", &curl), ("skurd linear, gzip WARC", &skurd)] {
        let rounds: Vec<String> = rates.iter().map(|rate| format!("{rate:.0}")).collect();
        println!("  {name:<26} {:>7.0} requests/s  (of {})", median(rates), rounds.join(", "));
    }
    println!("  ratio {:.2}", median(&skurd) / median(&curl));
    let (rows, bytes) = rows::of_contiguous(10_000_000)?;
    println!("a walk of 10,000,000 ids in a row: {rows} rows, {bytes} bytes with their keys");
    Ok(())
}

/// Requests a second of a command that runs in an empty directory.
#[allow(clippy::cast_precision_loss, reason = "a rate")]
fn measure(web: &Web, ids: u64, command: impl Fn(&std::path::Path) -> Result<Command>) -> Result<f64> {
    let dir = scratch()?;
    pages::reset(web)?;
    let mut command = command(dir.path())?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let watch = Stopwatch::start();
    let status = command.status().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    let seconds = watch.elapsed().as_secs_f64();
    let seen = pages::seen(web)?;
    anyhow::ensure!(
        status.success() && seen == ids,
        "{:?}: {status}, {seen} of {ids} ids",
        command.get_program()
    );
    Ok(ids as f64 / seconds)
}

fn curl_command(web: &Web, ids: u64, dir: &std::path::Path) -> Command {
    let mut command = Command::new("curl");
    command
        .args(["-Z", "--parallel-max", PARALLEL, "-s", "-o", "/dev/null"])
        .arg(format!("http://127.0.0.1:{}/p/[1-{ids}]", web.port))
        .current_dir(dir);
    command
}

fn skurd_command(web: &Web, ids: u64, dir: &std::path::Path) -> Result<Command> {
    let mut command = Command::new(skurd_binary()?);
    command
        .arg("linear")
        .arg(format!("http://127.0.0.1:{}/p/{{id}}", web.port))
        .args(["--min", "1", "--max", &ids.to_string(), "--delay", "0", "--parallel", PARALLEL])
        .args(["--allow-net", "127.0.0.0/8", "--robots", "ignore", "--no-index", "--warc", "gzip", "--data"])
        .arg(dir.join("data"));
    Ok(command)
}
