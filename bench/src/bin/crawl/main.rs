//! Skurd against its peers on a loopback web: pages of about 20 KB with 20 links each.
//!
//! The web is a process of its own (this binary with `--serve`), so that everybody pays for it alike. Each peer harvests the whole web,
//! from an empty directory; a run counts only if the web saw every page. Two webs: 20,000 pages of one host, and 200 hosts of 100
//! pages. `--skurd FILE` is the binary to measure, `--only NAME` runs the lines whose name contains it.

mod hyper_client;
mod peers;
mod web;

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use skurd_bench::{number_flag, text_flag};

use peers::{Run, peers};
use web::Shape;

fn main() -> Result<()> {
    if let Some(port) = text_flag("--serve") {
        return web::serve(port.parse()?);
    }
    let pages = number_flag("--pages", 20_000);
    let hosts = number_flag("--hosts", 200);
    let only = text_flag("--only").unwrap_or_default();
    let shapes = [Shape { hosts: 1, pages }, Shape { hosts, pages: pages / hosts }];
    for shape in shapes {
        let server = Server::start()?;
        println!("{} pages on {} host(s)", shape.pages * shape.hosts, shape.hosts);
        println!("  {:<34} {:>9} {:>8} {:>12} {:>9}", "", "pages/s", "s", "CPU ms/page", "peak MiB");
        for peer in peers(&shape, server.port)? {
            if !peer.name.contains(&only) {
                continue;
            }
            web::reset(server.port, &shape)?;
            match peer.run() {
                Ok(run) => report(&peer.name, &run, web::seen(server.port)?, &shape),
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

struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start() -> Result<Server> {
        let port = web::free_port()?;
        let own = std::env::current_exe()?;
        let child = Command::new(own)
            .args(["--serve", &port.to_string()])
            .stdin(Stdio::null())
            .spawn()
            .context("cannot start the web")?;
        let server = Server { child, port };
        web::wait_for(port)?;
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
