//! What a page costs that is harvested with a browser: pages a second, CPU and memory, for some
//! numbers of tabs (B19).
//!
//! `skurd crawl` harvests a fixed web on loopback, which is a process of its own: each page is a
//! document and ten requests of its browser (a style sheet, a script, what the script fetches, and
//! seven pictures, three of them loaded only when they are scrolled to), with URLs of its own, so
//! that nothing is served from the archive. A run counts only if every page ended `ok`. CPU and
//! memory are those of Skurd and of all processes of its browser. CPU is what they had when they were
//! last seen, so a little is missing of each page; what all cores of the machine did meanwhile, the web
//! and this bench included, is told beside it: the truth is between.
//!
//! `--skurd FILE` is the binary to measure, `--pages N`, `--tabs 1,2,4`, `--quiet 1s,100ms`.

mod processes;
mod site;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use processes::{Memory, Times, memory_of_tree, of_machine};
use skurd_bench::web::Web;
use skurd_bench::{Stopwatch, median, number_flag, scratch, skurd_binary, text_flag};

/// Pages of one host wait for each other (B8).
const HOSTS: u64 = 25;
/// Processes are looked at so often.
const SAMPLED_EVERY: Duration = Duration::from_millis(100);
/// Their memory with every so many of these looks: it takes the kernel a while.
const MEMORY_EVERY: u32 = 5;
/// The browser starts, and fills its caches.
const WARM_UP: u64 = 10;

fn main() -> Result<()> {
    if let Some(port) = text_flag("--serve") {
        return site::serve(port.parse()?);
    }
    let list = |name: &str, usual: &str| -> Vec<String> {
        let given = text_flag(name).unwrap_or_else(|| usual.to_owned());
        given.split(',').map(str::to_owned).collect()
    };
    let pages = number_flag("--pages", 100);
    let web = Web::start()?;
    println!(
        "{pages} pages of {} requests, on {} cores",
        site::REQUESTS,
        std::thread::available_parallelism()?
    );
    for quiet in list("--quiet", "1s") {
        for tabs in list("--tabs", "1,2,4") {
            println!("tabs {tabs}, quiet {quiet}: {}", run(&web, pages, &tabs, &quiet)?);
        }
    }
    Ok(())
}

/// What was measured, from the end of the first pages to that of the last.
struct Measured {
    rate: f64,
    cpu_a_page: f64,
    machine_a_page: f64,
    /// Of all processes, at its highest.
    most: Memory,
    processes: usize,
    /// The whole in the second and in the last fifth of the run.
    early: f64,
    late: f64,
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:.2} pages/s, {:.2} s of CPU a page (machine {:.2}); most memory {:.0} MB = {:.0} Skurd + {:.0} browser \
             in {} processes; {:.0} MB early, {:.0} MB late",
            self.rate,
            self.cpu_a_page,
            self.machine_a_page,
            self.most.own + self.most.browser,
            self.most.own,
            self.most.browser,
            self.processes,
            self.early,
            self.late
        )
    }
}

fn run(web: &Web, pages: u64, tabs: &str, quiet: &str) -> Result<Measured> {
    let dir = scratch()?;
    let mut skurd = Skurd::start(dir.path(), web.port, pages, tabs, quiet)?;
    let pid = skurd.child.id();
    let count = |skurd: &Skurd| skurd.rendered.load(Ordering::Acquire);
    let wait = || {
        #[allow(clippy::disallowed_methods, reason = "waiting for another process is all there is to do")]
        std::thread::sleep(SAMPLED_EVERY);
    };
    let mut times = Times::default();
    while count(&skurd) < WARM_UP && !skurd.has_ended() {
        times.look(pid);
        wait();
    }
    let (watch, first) = (Stopwatch::start(), count(&skurd));
    let (cpu, machine) = (times.seconds(), of_machine());
    let mut samples = Vec::new();
    let mut most = Memory::default();
    let mut last = (0.0, cpu, machine, first);
    let mut looks = 0_u32;
    while !skurd.has_ended() {
        times.look(pid);
        let now = count(&skurd);
        // Whatever is sampled after the last page is a browser that has nothing to do, or has gone.
        if now > last.3 {
            last = (watch.elapsed().as_secs_f64(), times.seconds(), of_machine(), now);
        }
        if looks.is_multiple_of(MEMORY_EVERY) {
            let memory = memory_of_tree(pid);
            samples.push((now, memory.own + memory.browser));
            if memory.own + memory.browser > most.own + most.browser {
                most = memory;
            }
        }
        looks += 1;
        wait();
    }
    let ended = skurd.child.wait()?;
    let all = count(&skurd);
    anyhow::ensure!(ended.success() && all == pages, "{all} of {pages} pages were rendered: {ended}");
    let done = (last.3 - first).max(1) as f64;
    let between = |from: u64, to: u64| {
        let part = |at: u64| at * pages / 5;
        let own = samples.iter().filter(|(page, _)| (part(from)..part(to)).contains(page));
        median(&own.map(|(_, memory)| *memory).collect::<Vec<_>>())
    };
    Ok(Measured {
        rate: done / last.0.max(0.001),
        cpu_a_page: (last.1 - cpu) / done,
        machine_a_page: (last.2 - machine) / done,
        most,
        processes: times.most,
        early: between(1, 2),
        late: between(4, 5),
    })
}

struct Skurd {
    child: Child,
    rendered: Arc<AtomicU64>,
    ended: Arc<AtomicBool>,
}

impl Skurd {
    fn start(dir: &Path, port: u16, pages: u64, tabs: &str, quiet: &str) -> Result<Skurd> {
        let seeds: String = (0..pages)
            .map(|page| format!("  - {{url: 'http://h{}.test/p/{page}', profiles: [once]}}\n", page % HOSTS))
            .collect();
        // Only pages of this bench are opened: they need no sandbox, which root could not have.
        let config = format!(
            "settings: {{browser: {{sandbox: no, tabs: {tabs}}}, politeness: {{factor: 0, min: 0s, max: 0s}}}}\n\
             collections: [{{name: seen, engine: browser, browser: {{limits: {{quiet: {quiet}}}}}}}]\n\
             profiles: [{{name: once, collection: seen, every: 1d, length: 1, robots: ignore, scope: {{within: host, max_depth: 0}}}}]\n\
             seeds:\n{seeds}"
        );
        std::fs::write(dir.join("bench.yaml"), config)?;
        let mut child = Command::new(skurd_binary()?)
            .current_dir(dir)
            .args(["crawl", "bench.yaml", "--until-done", "--json", "--allow-net", "127.0.0.0/8"])
            .args(["--resolve", &format!("*.test=127.0.0.1:{port}")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let (rendered, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, end) = (Arc::clone(&rendered), Arc::clone(&ended));
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if line.contains("\"rendered\":\"ok\"") {
                    count.fetch_add(1, Ordering::AcqRel);
                }
            }
            end.store(true, Ordering::Release);
        });
        Ok(Skurd { child, rendered, ended })
    }

    fn has_ended(&mut self) -> bool {
        self.ended.load(Ordering::Acquire) || self.child.try_wait().is_ok_and(|ended| ended.is_some())
    }
}

impl Drop for Skurd {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
