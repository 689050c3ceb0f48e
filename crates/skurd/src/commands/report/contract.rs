//! F31: how late harvests were, and what is overdue now.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use frontier::schema::Lateness;
use frontier::{ContractRow, OverdueCount};
use policy::time::Time;
use serde_json::json;

use super::timeline::Timeline;
use super::{Row, draw, open, print, since};
use crate::args::{ContractBy, PrintArgs, ReportArgs};
use crate::output::{Column, left, percent_text, right};
use crate::plot::{PALETTE, Series, Shape};
use crate::session::stdout;

/// Profiles drawn with a line of their own.
const LINES_MAX: usize = 8;

const BY_PROFILE: [Column; 7] = columns("profile");
const BY_DOMAIN: [Column; 7] = columns("domain");
const BY_HOUR: [Column; 7] = columns("hour");
const NOW: [Column; 4] = [left("collection"), right("queued"), right("never harvested"), right("overdue")];

const fn columns(name: &'static str) -> [Column; 7] {
    [
        left(name),
        right("harvests"),
        right("on time"),
        right("on time %"),
        right("late p50 ≤"),
        right("p95 ≤"),
        right("p99 ≤"),
    ]
}

pub(super) fn run(args: &ReportArgs, by: ContractBy) -> Result<()> {
    let session = open(&args.data)?;
    let (since, now) = (since(&session, args), session.frontier.now());
    let rows = session.wait(session.frontier.contract(since))?;
    let mut sums: BTreeMap<String, Lateness> = BTreeMap::new();
    if by == ContractBy::Profile {
        // Also those whose harvests have yet to come.
        let names = session.look(|catalog| catalog.profiles().map(|p| p.name.clone()).collect::<Vec<_>>())?;
        sums.extend(names.into_iter().map(|name| (name, Lateness::default())));
    }
    for row in &rows {
        sums.entry(key(by, row)).or_default().merge(&row.lateness);
    }
    let (columns, kind) = match by {
        ContractBy::Profile => (&BY_PROFILE, "profile"),
        ContractBy::Domain => (&BY_DOMAIN, "domain"),
        ContractBy::Hour => (&BY_HOUR, "hour"),
    };
    let mut out = stdout();
    let lines = sums.iter().map(|(name, sum)| line(kind, name, sum)).collect();
    print(&mut out, columns, lines, &args.print)?;
    let overdue = session.wait(session.frontier.overdue())?;
    print_overdue(&mut out, &overdue, &args.print)?;
    out.flush()?;
    draw(&args.print, || plot(&rows, since, now))
}

fn key(by: ContractBy, row: &ContractRow) -> String {
    match by {
        ContractBy::Profile => row.profile.clone(),
        ContractBy::Domain => row.domain.clone(),
        ContractBy::Hour => row.hour.to_string(),
    }
}

fn line(kind: &str, name: &str, sum: &Lateness) -> Row {
    let late = [0.5, 0.95, 0.99].map(|share| sum.percentile(share));
    let mut object = json!({
        "kind": kind,
        "harvests": sum.harvests,
        "on_time": sum.on_time,
        "share_on_time": sum.share_on_time(),
        "late_p50_s": late[0].0 / 1000,
        "late_p95_s": late[1].0 / 1000,
        "late_p99_s": late[2].0 / 1000,
    });
    object[kind] = json!(name);
    let mut cells = vec![name.to_owned(), sum.harvests.to_string(), sum.on_time.to_string()];
    match sum.harvests {
        0 => cells.extend(["–"; 4].map(str::to_owned)),
        _ => {
            cells.push(percent_text(sum.share_on_time()));
            cells.extend(late.map(|span| if span.0 == 0 { "0s".to_owned() } else { span.to_string() }));
        }
    }
    Row { object, cells }
}

fn print_overdue(out: &mut impl Write, counts: &[OverdueCount], args: &PrintArgs) -> Result<()> {
    let row = |count: &OverdueCount| {
        let OverdueCount { collection, queued, never_harvested, overdue } = count;
        let object = json!({
            "kind": "collection",
            "collection": collection,
            "queued": queued,
            "never_harvested": never_harvested,
            "overdue": overdue,
        });
        let numbers = [queued, never_harvested, overdue].map(|number| number.to_string());
        Row { object, cells: std::iter::once(collection.clone()).chain(numbers).collect() }
    };
    if !args.json && !counts.is_empty() {
        writeln!(out, "\nqueue now")?;
    }
    print(out, &NOW, counts.iter().map(row).collect(), args)
}

fn plot(rows: &[ContractRow], since: Time, now: Time) -> String {
    let timeline = Timeline::new(rows.iter().map(|row| row.hour), since, now);
    let mut profiles: BTreeMap<&str, Vec<Lateness>> = BTreeMap::new();
    for row in rows {
        let slots = profiles.entry(&row.profile).or_insert_with(|| timeline.empty());
        slots[timeline.slot(row.hour)].merge(&row.lateness);
    }
    let mut busiest: Vec<(&str, Vec<Lateness>)> = profiles.into_iter().collect();
    busiest.sort_by_key(|(_, slots)| std::cmp::Reverse(slots.iter().map(|slot| slot.harvests).sum::<u64>()));
    let harvests: u64 = rows.iter().map(|row| row.lateness.harvests).sum();
    let on_time: u64 = rows.iter().map(|row| row.lateness.on_time).sum();
    let hidden = busiest.len().saturating_sub(LINES_MAX);
    let more = if hidden > 0 { format!("; {hidden} smaller profiles are not drawn") } else { String::new() };
    let subtitle = format!("{on_time} of {harvests} harvests since {since}, {}{more}", timeline.per_step());
    let series = busiest.into_iter().take(LINES_MAX).zip(PALETTE).map(|((name, slots), colour)| Series {
        name: name.to_owned(),
        colour,
        values: slots.iter().map(|slot| (slot.harvests > 0).then(|| slot.share_on_time() * 100.0)).collect(),
    });
    let mut plot = timeline.plot("Harvests on time", subtitle, Shape::Lines, series.collect());
    (plot.unit, plot.max) = (" %", Some(100.0));
    plot.to_svg()
}
