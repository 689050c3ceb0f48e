//! F41: what a frequency of each URL's own brings, over changes that are made up: how fresh the copies
//! are, and how many changes are caught, for the harvests that are spent. Each rule is held against a
//! fixed frequency that spends as many, and against the rule of Nutch (`AdaptiveFetchSchedule`: × 1.4
//! where nothing changed, × 0.8 where something did). No clock, no store: only the rules.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a measurement")]

use policy::changes::{Changes, ESTIMATOR, Estimator, Range};
use policy::hint::Trust;
use policy::time::Span;

const DAY: f64 = 86_400.0;
const HOUR: f64 = 3_600.0;
/// What is counted comes after a first half in which the rules learn.
const DAYS: f64 = 240.0;
const RANGE: Range = Range { fast: Span::hours(1), slow: Span::days(30) };
const URLS: usize = 600;
/// Between two looks at a sitemap.
const SITEMAP: f64 = 6.0 * HOUR;

#[derive(Clone, Copy)]
enum Rule {
    Fixed(f64),
    Nutch,
    Own(Estimator),
    /// With a sitemap that is read now and then, and what it says.
    Dated(Dates),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dates {
    /// When the URL changed.
    True,
    /// The moment at which it is asked.
    Now,
}

/// When the URLs of a web change, in seconds.
type Web = Vec<Vec<f64>>;

#[derive(Clone, Copy, Default)]
struct Sum {
    harvests: f64,
    fresh: f64,
    changes: f64,
    caught: f64,
}

fn main() {
    let webs: [(&str, Web); 6] = [
        ("Poisson, every 2 h to 200 d", web(1, |rng| poisson_of(rng, 2.0 * HOUR, 200.0 * DAY))),
        ("bursts of 2 d, quiet for weeks", web(2, bursts)),
        ("by day: 8–18, working days", web(3, by_day)),
        ("weekly, at one hour", web(4, weekly)),
        ("never", web(5, |_| Vec::new())),
        ("as on the web: mostly quiet", web(6, mixed)),
    ];
    println!("| changes | rule | harvests a day | fresh | fixed, as many | caught | fixed, as many |");
    println!("|---|---|---|---|---|---|---|");
    let all = std::env::args().any(|argument| argument == "--all");
    for (name, web) in &webs {
        let mut rules = vec![
            ("Nutch".to_owned(), Rule::Nutch),
            ("ours".to_owned(), Rule::Own(ESTIMATOR)),
            ("ours, dates that are true".to_owned(), Rule::Dated(Dates::True)),
            ("ours, dates that are not".to_owned(), Rule::Dated(Dates::Now)),
        ];
        if all {
            for follows in [0.3, 0.5, 0.7, 1.0] {
                for (wanted, remembered) in [(0.5, 0.9), (0.7, 0.8), (0.7, 0.9), (0.7, 0.95), (1.0, 0.9)] {
                    let own = Estimator { wanted, remembered, follows, ..ESTIMATOR };
                    rules.push((format!("{wanted}, {remembered}, {follows}"), Rule::Own(own)));
                }
            }
        }
        for (rule_name, rule) in rules {
            let own = run(web, rule);
            let fixed = run(web, Rule::Fixed(URLS as f64 * DAYS / 2.0 * DAY / own.harvests.max(1.0)));
            println!(
                "| {name} | {rule_name} | {:.2} | {:.1} % | {:.1} % | {} | {} |",
                own.harvests / URLS as f64 / (DAYS / 2.0),
                100.0 * own.fresh / (URLS as f64 * DAYS / 2.0 * DAY),
                100.0 * fixed.fresh / (URLS as f64 * DAYS / 2.0 * DAY),
                percent(own),
                percent(fixed),
            );
        }
    }
}

fn percent(sum: Sum) -> String {
    if sum.changes > 0.0 { format!("{:.1} %", 100.0 * sum.caught / sum.changes) } else { "–".to_owned() }
}

fn run(web: &Web, rule: Rule) -> Sum {
    let mut rng = fastrand::Rng::with_seed(42);
    let mut sum = Sum::default();
    // The URLs are of one host.
    let mut trust = Trust::default();
    for changes in web {
        let one = harvest(changes, rule, rng.f64(), &mut trust);
        sum.harvests += one.harvests;
        sum.fresh += one.fresh;
        sum.changes += one.changes;
        sum.caught += one.caught;
    }
    sum
}

/// One URL from its beginning to the end.
fn harvest(changes: &[f64], rule: Rule, phase: f64, trust: &mut Trust) -> Sum {
    let (end, begin) = (DAYS * DAY, DAYS * DAY / 2.0);
    let mut every = match rule {
        Rule::Fixed(every) => every,
        Rule::Nutch | Rule::Own(_) | Rule::Dated(_) => RANGE.middle().0 as f64 / 1000.0,
    };
    let mut seen = Changes::default();
    let (mut at, mut next_change) = (phase * every, 0);
    while changes.get(next_change).is_some_and(|change| *change <= at) {
        next_change += 1;
    }
    let counted = changes.iter().filter(|change| (begin..end).contains(*change)).count();
    let mut sum = Sum { changes: counted as f64, ..Sum::default() };
    while at < end {
        let claimed = match rule {
            Rule::Dated(dates) => claim(dates, at, changes.get(next_change).copied(), every, trust),
            _ => None,
        };
        let next = claimed.map_or(at + every, |due| due.min(at + every));
        let stale = changes.get(next_change).copied().unwrap_or(f64::INFINITY);
        let until = stale.min(next).min(end);
        sum.fresh += (until - at.max(begin)).max(0.0);
        let mut changed = false;
        while changes.get(next_change).is_some_and(|change| *change <= next) {
            (changed, next_change) = (true, next_change + 1);
        }
        if next >= begin && next < end {
            sum.harvests += 1.0;
            let counts = changed && changes.get(next_change - 1).is_some_and(|change| *change >= begin);
            sum.caught += f64::from(u8::from(counts));
        }
        match rule {
            Rule::Fixed(_) => {}
            Rule::Nutch => {
                let (fast, slow) = (RANGE.fast.0 as f64 / 1000.0, RANGE.slow.0 as f64 / 1000.0);
                every = (every * if changed { 0.8 } else { 1.4 }).clamp(fast, slow);
            }
            Rule::Own(estimator) => {
                seen = estimator.after(seen, Span((every * 1000.0) as u64), changed);
                every = estimator.every(&seen, RANGE).0 as f64 / 1000.0;
            }
            Rule::Dated(_) => {
                if claimed.is_some() {
                    *trust = trust.after(changed);
                }
                seen = ESTIMATOR.after(seen, Span(((next - at) * 1000.0) as u64), changed);
                every = ESTIMATOR.every(&seen, RANGE).0 as f64 / 1000.0;
            }
        }
        at = next;
    }
    sum
}

/// When a URL that was harvested then is due for what the sitemap says before its next harvest.
fn claim(dates: Dates, at: f64, change: Option<f64>, every: f64, trust: &Trust) -> Option<f64> {
    let from = match dates {
        Dates::True => change?,
        Dates::Now => at,
    };
    let read = (from / SITEMAP).floor() * SITEMAP + SITEMAP;
    let hastened = RANGE.hastened(Span((every * 1000.0) as u64), trust.percent());
    (read < at + every).then(|| read.max(at + hastened.0 as f64 / 1000.0))
}

fn web(seed: u64, mut url: impl FnMut(&mut fastrand::Rng) -> Vec<f64>) -> Web {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..URLS).map(|_| url(&mut rng)).collect()
}

/// Evenly among the orders of magnitude of the mean time between two changes.
fn rate(rng: &mut fastrand::Rng, fast: f64, slow: f64) -> f64 {
    1.0 / (fast * (slow / fast).powf(rng.f64()))
}

fn wait(rng: &mut fastrand::Rng, rate: f64) -> f64 {
    -(1.0 - rng.f64()).ln() / rate
}

fn poisson(rng: &mut fastrand::Rng, rate: f64) -> Vec<f64> {
    let mut at = wait(rng, rate);
    let mut changes = Vec::new();
    while at < DAYS * DAY {
        changes.push(at);
        at += wait(rng, rate);
    }
    changes
}

/// Two days with a change every two hours, after weeks without one.
fn bursts(rng: &mut fastrand::Rng) -> Vec<f64> {
    let (mut at, mut changes) = (0.0, Vec::new());
    while at < DAYS * DAY {
        at += wait(rng, 1.0 / (25.0 * DAY));
        let end = at + 2.0 * DAY;
        while at < end {
            changes.push(at);
            at += wait(rng, 1.0 / (2.0 * HOUR));
        }
    }
    changes.retain(|at| *at < DAYS * DAY);
    changes
}

fn by_day(rng: &mut fastrand::Rng) -> Vec<f64> {
    let mut changes = poisson(rng, 1.0 / (3.0 * HOUR));
    changes.retain(|at| (8.0 * HOUR..18.0 * HOUR).contains(&(at % DAY)) && at % (7.0 * DAY) < 5.0 * DAY);
    changes
}

fn weekly(rng: &mut fastrand::Rng) -> Vec<f64> {
    let begin = rng.f64() * 7.0 * DAY;
    (0..(DAYS / 7.0) as u32).map(|week| begin + f64::from(week) * 7.0 * DAY).collect()
}

/// Half of it nearly never, a third within weeks, the rest within hours and days.
fn mixed(rng: &mut fastrand::Rng) -> Vec<f64> {
    match rng.u8(0..100) {
        0..50 => poisson(rng, 1.0 / (365.0 * DAY)),
        50..80 => poisson_of(rng, 7.0 * DAY, 90.0 * DAY),
        80..92 => poisson_of(rng, DAY, 7.0 * DAY),
        92..96 => by_day(rng),
        _ => bursts(rng),
    }
}

fn poisson_of(rng: &mut fastrand::Rng, fast: f64, slow: f64) -> Vec<f64> {
    let rate = rate(rng, fast, slow);
    poisson(rng, rate)
}
