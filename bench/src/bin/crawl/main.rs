//! Skurd against its peers on a loopback web: pages of about 20 KB with 20 links each.
//!
//! The web is a process of its own (this binary with `--serve`), so that everybody pays for it
//! alike. Each peer harvests the whole web, from an empty directory; a run counts only if the web
//! saw every page. Two webs: 20,000 pages of one host, and 200 hosts of 100 pages. `--skurd FILE`
//! is the binary to measure, `--only NAME` runs the lines whose name contains it.

mod hyper_client;
mod peers;

use anyhow::Result;
use skurd_bench::pages::{self, Shape};
use skurd_bench::web::Web;
use skurd_bench::{number_flag, text_flag};

use peers::{Run, peers};

fn main() -> Result<()> {
    if let Some(port) = text_flag("--serve") {
        return pages::serve(port.parse()?);
    }
    let count = number_flag("--pages", 20_000);
    let hosts = number_flag("--hosts", 200);
    let only = text_flag("--only").unwrap_or_default();
    let shapes = [Shape { hosts: 1, pages: count }, Shape { hosts, pages: count / hosts }];
    for shape in shapes {
        let web = Web::start()?;
        println!("{} pages on {} host(s)", shape.pages * shape.hosts, shape.hosts);
        println!("  {:<34} {:>9} {:>8} {:>12} {:>9}", "", "pages/s", "s", "CPU ms/page", "peak MiB");
        for peer in peers(&shape, web.port)? {
            if !peer.name.contains(&only) {
                continue;
            }
            pages::reset(&web, &shape)?;
            match peer.run() {
                Ok(run) => report(&peer.name, &run, pages::seen(&web)?, &shape),
                Err(error) => println!("  {:<34} {error:#}", peer.name),
            }
        }
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "a rate")]
fn report(name: &str, run: &Run, seen: u64, shape: &Shape) {
    let all = shape.hosts * shape.pages;
    let rate = seen as f64 / run.seconds;
    let cpu = run.cpu_seconds * 1000.0 / seen.max(1) as f64;
    let short = if seen < all { format!("  ONLY {seen} OF {all} PAGES") } else { String::new() };
    println!("  {name:<34} {rate:>9.0} {:>8.1} {cpu:>12.3} {:>9}{short}", run.seconds, run.peak_mib);
}
