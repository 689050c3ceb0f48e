//! Patterns on the blacklist (F39): what holding one link against all of them costs.
//!
//! Half of the patterns are hosts (every fourth with its subdomains), the rest prefixes, but for the
//! regular expressions, whose number is varied. Links are of hosts and paths like those of the
//! patterns, and one in a hundred is held. Asked: 2 µs a link with 10,000 patterns. The baseline asks
//! each pattern by itself, as the `exclude` of a scope does.

use anyhow::Result;
use policy::blacklist::Barred;
use policy::catalog::{Catalog, Change};
use policy::scope::Pattern;
use policy::time::Time;
use policy::url::CrawlUrl;
use skurd_bench::{Stopwatch, number_flag};

const LINKS: usize = 20_000;
/// Links that are asked of each pattern by itself.
const LINKS_ONE_BY_ONE: usize = 200;

fn host(n: u64) -> String {
    format!("host{:06}.example{:03}.org", n % 100_000, n % 500)
}

fn pattern(n: u64, regexes: u64) -> Result<Pattern> {
    Ok(match n {
        n if n < regexes => Pattern::regex(&format!("/kalender-{n}/\\d{{4}}/\\d{{2}}/?$"))?,
        n if n % 8 == 1 => Pattern::Host(format!("*.ads{n}.net")),
        n if n % 2 == 1 => Pattern::Host(host(n)),
        n => Pattern::Prefix(format!("{}/section/old-{n:05}/", host(n % 997))),
    })
}

/// Of hosts that have patterns, and of others; hardly any is held.
fn link(n: u64, regexes: u64) -> Result<CrawlUrl> {
    let text = match n % 200 {
        0 if regexes > 0 => format!("https://{}/kalender-{}/2026/11/", host(50_000), n % regexes),
        100 => format!("https://www.{}/section/old-{:05}/page.html", host(2_000 % 997), 2_000),
        _ => format!("https://www.{}/section/page-{n:08}?from=front&place={}", host(n * 2 % 90_000), n % 17),
    };
    Ok(CrawlUrl::from_normal(text)?)
}

fn measure(patterns: u64, regexes: u64) -> Result<()> {
    let mut catalog = Catalog::new();
    let mut all = Vec::new();
    for n in 0..patterns {
        let own = Barred {
            pattern: pattern(n, regexes)?,
            collection: None,
            reason: "bench".to_owned(),
            since: Time(0),
            until: None,
        };
        all.push(own.pattern.clone());
        catalog.apply(Change::PutBarred(Box::new(own)))?;
    }
    let links: Vec<CrawlUrl> = (0..LINKS as u64).map(|n| link(n * 7, regexes)).collect::<Result<_>>()?;
    let watch = Stopwatch::start();
    let first = catalog.barring("all", &links[1], Time(1)).is_some();
    let made = watch.elapsed();
    let mut held = 0usize;
    let (mut best, mut worst) = (f64::MAX, 0f64);
    for _ in 0..5 {
        let watch = Stopwatch::start();
        held = links.iter().filter(|url| catalog.barring("all", url, Time(1)).is_some()).count();
        let each = watch.elapsed().as_secs_f64() * 1e6 / LINKS as f64;
        (best, worst) = (best.min(each), worst.max(each));
    }
    let watch = Stopwatch::start();
    let some = &links[..LINKS_ONE_BY_ONE];
    let found = some.iter().filter(|url| all.iter().any(|own| own.matches(url))).count();
    let alone = watch.elapsed().as_secs_f64() * 1e6 / LINKS_ONE_BY_ONE as f64;
    println!(
        "{patterns} patterns, {regexes} of them regular expressions: {best:.2} to {worst:.2} µs a link, {held} of \
         {LINKS} held; made in {made:.0?} (the first: {first}); one by one {alone:.0} µs ({found} held)"
    );
    Ok(())
}

fn main() -> Result<()> {
    let patterns = number_flag("--patterns", 10_000);
    for regexes in [0, 10, 100, 1000] {
        measure(patterns, regexes)?;
    }
    Ok(())
}
