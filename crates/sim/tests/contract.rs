//! F31 against a recomputation: what the frontier says of its promises, and what the log of the
//! servers says.
//!
//! Random sites (some of which fall silent, excuse themselves, or are gone), random frequencies, a
//! harvester that is down at times and killed at others. The reference knows the config, when
//! everything was started, and when each server was asked and whether it answered; nothing of the
//! frontier's records.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;

use frontier::{Contract, ErrorKind, Target};
use policy::catalog::Change;
use policy::model::{Limits, Politeness, Profile, Settings as Declared};
use policy::time::{Span, Time};
use proptest::prelude::*;
use sim::web::{Page, Response, Web};
use sim::{Harvest, Moment, Settings, Simulation};
use testkit::catalog::{collection, profile, put, seed};

const HOUR_MS: i64 = 3_600_000;
/// Frequencies that are declared together: not too far apart, or the shortest would have too much
/// to do.
const EVERY: [[Span; 3]; 2] = [
    [Span::seconds(20), Span::minutes(1), Span::minutes(10)],
    [Span::hours(1), Span::hours(7), Span::days(1)],
];

#[derive(Clone, Debug)]
struct Site {
    profile: usize,
    responses: Vec<(Option<u16>, u64)>,
}

#[derive(Clone, Debug)]
struct Case {
    fast: bool,
    /// By profile: which of [`EVERY`], and after how many errors a URL is given up.
    profiles: Vec<(usize, u32)>,
    sites: Vec<Site>,
    on_time: Span,
    /// In tenths of the longest frequency: how long it runs, and how long it is down then.
    periods: Vec<(u64, u64, bool)>,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let response = (
        prop_oneof![4 => Just(Some(200)), 1 => Just(Some(404)), 1 => Just(Some(503)), 3 => Just(None)],
        1u64..5,
    );
    let site = (0usize..3, prop::collection::vec(response, 1..5));
    let site = site.prop_map(|(profile, responses)| Site { profile, responses });
    (
        any::<bool>(),
        prop::collection::vec((0usize..3, prop_oneof![Just(2u32), Just(u32::MAX)]), 3),
        prop::collection::vec(site, 1..6),
        prop_oneof![Just(Span::ZERO), Just(Span::minutes(10))],
        prop::collection::vec((1u64..40, 0u64..30, any::<bool>()), 1..4),
        any::<u64>(),
    )
        .prop_map(|(fast, profiles, sites, on_time, periods, seed)| Case {
            fast,
            profiles,
            sites,
            on_time,
            periods,
            seed,
        })
}

impl Case {
    fn every(&self, profile: usize) -> Span {
        EVERY[usize::from(!self.fast)][self.profiles[profile].0]
    }

    fn url(site: usize) -> String {
        format!("https://site{site}.no/")
    }

    fn changes(&self) -> Vec<Change> {
        let politeness = Politeness {
            factor: 1.0,
            min: Span::seconds(1),
            max: Span::seconds(5),
            parallel: 1,
            ..Politeness::default()
        };
        let declared = Declared { on_time: self.on_time, politeness, ..Declared::default() };
        let mut changes = vec![put(declared), put(collection("news"))];
        for (n, (_, max_errors)) in self.profiles.iter().enumerate() {
            changes.push(put(Profile {
                every: self.every(n),
                limits: Limits { max_errors: *max_errors, max_not_found: u32::MAX, ..Limits::default() },
                ..profile(&format!("p{n}"), "news")
            }));
        }
        for (n, site) in self.sites.iter().enumerate() {
            changes.push(put(seed(&format!("s{n}"), &Case::url(n), &[&format!("p{}", site.profile)])));
        }
        changes
    }

    fn web(&self) -> Web {
        Web::new(self.sites.iter().enumerate().map(|(n, site)| Page {
            url: Case::url(n),
            responses: site.responses.iter().map(|(status, count)| response(*status, *count)).collect(),
        }))
    }
}

fn response(status: Option<u16>, count: u64) -> Response {
    let error = status.is_none().then_some(ErrorKind::Connect);
    Response { status: status.unwrap_or(200), count, error, delay: Span(300), ..Response::default() }
}

/// What a log says of one URL: F21 for the times, F31 for what they are worth.
struct Account {
    every: i64,
    max_errors: u32,
    started: i64,
    /// The slot of the schedule that the last try was for.
    slot: i64,
    open: Option<i64>,
    errors: u32,
    harvested: bool,
    given_up: bool,
    found: Found,
}

/// By hour.
#[derive(Default, Debug, PartialEq)]
struct Found {
    on_time: BTreeMap<i64, u64>,
    late: BTreeMap<i64, u64>,
    missed: BTreeMap<i64, u64>,
    first: u64,
    waited_ms: Vec<i64>,
    late_ms: Vec<i64>,
}

impl Account {
    fn new(every: Span, max_errors: u32, started: Time) -> Account {
        Account {
            every: i64::try_from(every.0).unwrap(),
            max_errors,
            started: started.0,
            slot: started.0,
            open: None,
            errors: 0,
            harvested: false,
            given_up: false,
            found: Found::default(),
        }
    }

    fn tried(&mut self, at: i64, status: Option<u16>, on_time: Span) {
        if self.errors == 0 && self.harvested {
            self.slot = self.open.unwrap();
        }
        while let Some(open) = self.open.filter(|open| open + self.every <= at) {
            raise(&mut self.found.missed, open);
            self.open = Some(open + self.every);
        }
        let is_error = status.is_none_or(|status| status == 429 || status >= 500);
        self.errors = if is_error { self.errors + 1 } else { 0 };
        let over = self.errors > self.max_errors;
        if status.is_some() {
            match self.open {
                None => {
                    self.found.first += 1;
                    self.found.waited_ms.push(at - self.started);
                }
                Some(open) if open <= at => {
                    let late = at - open;
                    let is_late = late > i64::try_from(on_time.0).unwrap();
                    raise(if is_late { &mut self.found.late } else { &mut self.found.on_time }, open);
                    self.found.late_ms.push(late);
                }
                Some(_) => {}
            }
            let next = self.slot + self.every;
            self.open = Some(if next > at { next } else { at + self.every });
            self.harvested = true;
        } else if over && let Some(open) = self.open.filter(|open| *open <= at) {
            raise(&mut self.found.missed, open);
        }
        self.given_up = over;
    }

    /// What is open at a moment: missed by hour, open, overdue. Open promises are known to the
    /// minute, or to the second.
    fn open_at(&self, now: i64, on_time: Span) -> (BTreeMap<i64, u64>, u64, u64) {
        let mut missed = BTreeMap::new();
        let Some(mut open) = self.open.filter(|_| !self.given_up) else { return (missed, 0, 0) };
        let width = if self.every >= HOUR_MS {
            60_000
        } else if self.every >= 60_000 {
            1000
        } else {
            1
        };
        let known = |open: i64| open.div_euclid(width) * width + width - 1;
        if known(open) > now {
            return (missed, 0, 0);
        }
        while known(open) + self.every <= now {
            raise(&mut missed, open);
            open += self.every;
        }
        (missed, 1, u64::from(known(open) + i64::try_from(on_time.0).unwrap() < now))
    }
}

fn raise(counts: &mut BTreeMap<i64, u64>, at: i64) {
    *counts.entry(at.div_euclid(HOUR_MS) * HOUR_MS).or_default() += 1;
}

fn log2(values: &[i64]) -> Vec<u64> {
    let mut counts = Vec::new();
    for value in values {
        let seconds = value / 1000;
        let at = (0..64).find(|n| seconds < (1i64 << n)).unwrap();
        counts.resize(counts.len().max(at + 1), 0);
        counts[at] += 1;
    }
    counts
}

async fn compare(case: &Case, simulation: &Simulation, accounts: &[Account]) -> Result<(), TestCaseError> {
    let now = simulation.now().0;
    let rows = simulation.frontier.contract(Time(0)).await.unwrap();
    let mut sum = Contract::default();
    for (n, account) in accounts.iter().enumerate() {
        let mut is = Contract::default();
        let (mut missed, mut on_time, mut late) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for row in rows.iter().filter(|row| row.domain == format!("site{n}.no")) {
            prop_assert_eq!(&row.profile, &format!("p{}", case.sites[n].profile));
            is.merge(&row.contract);
            let promises = &row.contract.promises;
            for (counts, count) in
                [(&mut missed, promises.missed), (&mut on_time, promises.on_time), (&mut late, promises.late)]
            {
                if count > 0 {
                    *counts.entry(row.hour.0).or_insert(0) += count;
                }
            }
        }
        let (open_missed, open, overdue) = account.open_at(now, case.on_time);
        let mut expected = account.found.missed.clone();
        for (hour, count) in open_missed {
            *expected.entry(hour).or_default() += count;
        }
        let url = Case::url(n);
        prop_assert_eq!(&on_time, &account.found.on_time, "on time, {}", url);
        prop_assert_eq!(&late, &account.found.late, "late, {}", url);
        prop_assert_eq!(missed.values().sum::<u64>(), expected.values().sum::<u64>(), "missed, {}", url);
        if expected.len() < 20 {
            prop_assert_eq!(&missed, &expected, "missed by hour, {}", url);
        }
        prop_assert_eq!((is.open, is.overdue), (open, overdue), "open, {}", url);
        prop_assert_eq!(is.promises.first, account.found.first, "first, {}", url);
        prop_assert_eq!(&is.promises.late_s_log2, &log2(&account.found.late_ms));
        prop_assert_eq!(&is.promises.wait_s_log2, &log2(&account.found.waited_ms));
        sum.merge(&is);
    }
    prop_assert_eq!(simulation.frontier.contract_sum(Time(0)).await.unwrap(), sum, "all domains together");
    Ok(())
}

async fn run(case: &Case) -> Result<u64, TestCaseError> {
    let settings = Settings { workers: 4, seed: case.seed, keep_captures: false, ..Settings::default() };
    let mut simulation = Simulation::new(case.web(), settings);
    simulation.frontier.declare(&case.changes()).await.unwrap();
    simulation.frontier.start(&Target::Collection("news".into())).await.unwrap();
    let started = simulation.now();
    let mut accounts: Vec<Account> = case
        .sites
        .iter()
        .map(|site| Account::new(case.every(site.profile), case.profiles[site.profile].1, started))
        .collect();
    let unit = case.sites.iter().map(|site| case.every(site.profile)).max().unwrap().0 / 10;
    let mut harvests = 0;
    for (runs, down, killed) in &case.periods {
        let end = simulation.now().plus(Span(unit * runs));
        for slice in 1..=3 {
            let until = Time(end.0 - i64::try_from(unit * runs * (3 - slice) / 3).unwrap());
            let mut log = Vec::new();
            let hear = |moment| -> Result<(), frontier::RunError> {
                if let Moment::Harvested(harvest) = moment {
                    log.push(harvest);
                }
                Ok(())
            };
            simulation.run_while(simulation.clock.sleep_until(until), hear).await.unwrap();
            for harvest in log {
                harvests += 1;
                let Harvest { url, ended, status, .. } = &*harvest;
                let at = (0..case.sites.len()).find(|n| Case::url(*n) == *url).unwrap();
                accounts[at].tried(ended.0, *status, case.on_time);
            }
            compare(case, &simulation, &accounts).await?;
        }
        if *killed {
            simulation.restart().await.unwrap();
        }
        simulation.clock.advance(Span(unit * down));
        compare(case, &simulation, &accounts).await?;
    }
    let findings = simulation.frontier.audit().await.unwrap().findings;
    prop_assert!(findings.is_empty(), "{findings:#?}");
    Ok(harvests)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn f31_the_contract_is_what_the_log_of_the_servers_says(case in case()) {
        sim::virtual_time(run(&case)).unwrap()?;
    }
}
