//! What watching costs: `skurd serve` harvesting a loopback web, alone and with an audience.
//!
//! The audience is 200 clients on the event stream and 500 index queries a second over 16
//! connections, from this process, on the same two cores. Two harvests: *polite* waits between two
//! requests to a host, so that there is time left over, as there is on the open web; *flat out*
//! does not wait, so that whatever the audience takes the harvest lacks. A last run of each
//! measures how far the link index is behind the harvest. Runs alternate, the medians count; a run
//! counts only if the web saw every page. `--skurd FILE` is the binary to measure, `--rounds N` how
//! often (0: the lag alone), `--pages N`, `--only polite`.

mod audience;
mod lag;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use skurd_bench::pages::{self, Shape};
use skurd_bench::web::Web;
use skurd_bench::{Stopwatch, median, number_flag, scratch, skurd_binary, text_flag};

use audience::{Audience, Heard};
use lag::{Lag, Lags};

const HOSTS: u64 = 200;
const RUN_WITHIN: Duration = Duration::from_secs(300);

fn main() -> Result<()> {
    if let Some(port) = text_flag("--serve") {
        return pages::serve(port.parse()?);
    }
    let only = text_flag("--only").unwrap_or_default();
    let web = Web::start()?;
    for (name, delay, count) in [
        ("polite, 400 ms a host", "400ms", number_flag("--pages", 8_000)),
        ("flat out", "0s", number_flag("--pages", 8_000) * 2),
    ] {
        if name.contains(&only) {
            compare(name, delay, &web, Shape { hosts: HOSTS, pages: count / HOSTS })?;
        }
    }
    Ok(())
}

fn compare(name: &str, delay: &str, web: &Web, shape: Shape) -> Result<()> {
    let (mut alone, mut watched, mut heard) = (Vec::new(), Vec::new(), Vec::<Heard>::new());
    for _ in 0..number_flag("--rounds", 3) {
        alone.push(run(delay, web, &shape, |_| (), |()| Ok(()))?.0);
        let (rate, what) = run(
            delay,
            web,
            &shape,
            |server| Audience::gather(server, web.port),
            |audience| audience?.leave(),
        )?;
        watched.push(rate);
        heard.push(what);
    }
    println!("{name}: {} pages of {} hosts, archived and indexed", shape.hosts * shape.pages, shape.hosts);
    if !alone.is_empty() {
        for (name, rates) in [("alone", &alone), ("with its audience", &watched)] {
            let rounds: Vec<String> = rates.iter().map(|rate| format!("{rate:.0}")).collect();
            println!("  {name:<20} {:>7.0} pages/s  (of {})", median(rates), rounds.join(", "));
        }
        println!("  slower by {:.1} %", (1.0 - median(&watched) / median(&alone)) * 100.0);
    }
    for heard in heard {
        println!("  {heard}");
    }
    let (_, lags): (_, Lags) = run(delay, web, &shape, Lag::watch, Lag::end)?;
    println!("  {lags}");
    Ok(())
}

/// Pages a second, from the first request to the last, and what whoever came said when they left.
fn run<G, T>(
    delay: &str,
    web: &Web,
    shape: &Shape,
    come: impl FnOnce(SocketAddr) -> G,
    leave: impl FnOnce(G) -> Result<T>,
) -> Result<(f64, T)> {
    let dir = scratch()?;
    pages::reset(web, shape)?;
    let (server, address) = Server::start(dir.path(), delay, web, shape)?;
    let guests = come(address);
    let watch = Stopwatch::start();
    let all = shape.hosts * shape.pages;
    loop {
        let seen = pages::seen(web)?;
        if seen == all {
            break;
        }
        anyhow::ensure!(watch.elapsed() < RUN_WITHIN, "only {seen} of {all} pages were asked for");
        #[allow(clippy::disallowed_methods, reason = "waiting for another process is all there is to do")]
        std::thread::sleep(Duration::from_millis(20));
    }
    let rate = watch.per_second(all);
    let said = leave(guests)?;
    drop(server);
    Ok((rate, said))
}

struct Server(Child);

impl Server {
    fn start(dir: &Path, delay: &str, web: &Web, shape: &Shape) -> Result<(Server, SocketAddr)> {
        let seeds: String = (0..shape.hosts)
            .map(|n| format!("  - {{url: 'http://{}:{}/p/0', profiles: [once]}}\n", Shape::host(n), web.port))
            .collect();
        let config = format!(
            "settings: {{politeness: {{factor: 0, min: {delay}, max: {delay}}}}}\ncollections: [{{name: bench}}]\n\
             profiles: [{{name: once, collection: bench, every: 1d, length: 1, robots: ignore}}]\nseeds:\n{seeds}"
        );
        std::fs::write(dir.join("bench.yaml"), config)?;
        let mut child = Command::new(skurd_binary()?)
            .current_dir(dir)
            .args(["serve", "bench.yaml", "--json", "--listen", "127.0.0.1:0", "--workers", "64"])
            .args(["--allow-net", "127.0.0.0/8"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let server = Server(child);
        let first = lines.next().context("it did not start")??;
        let address = first.split_once("\"address\":\"").and_then(|(_, rest)| rest.split('"').next());
        let address = address.context("it does not say where it is")?.parse()?;
        std::thread::spawn(move || lines.for_each(drop));
        Ok((server, address))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
