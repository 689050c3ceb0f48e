//! `skurd hosts`: who has URLs, and when each can next be asked.

use std::io::Write;

use anyhow::Result;
use frontier::HostRow;
use serde_json::{Value, json};

use crate::args::HostsArgs;
use crate::output::{Column, Table, left, right, text_or_dash, time_json, time_text};
use crate::session::{PAGE_ROWS, Session, note, stdout};

const COLUMNS: [Column; 8] = [
    left("host"),
    left("group"),
    left("next use"),
    right("in flight"),
    left("busy until"),
    right("response"),
    left("backs off until"),
    right("failures"),
];

pub(crate) fn run(args: &HostsArgs) -> Result<()> {
    let session = Session::open(&args.data.dir)?;
    let mut out = stdout();
    let mut table = Table::new(&COLUMNS);
    let mut left = args.limit.unwrap_or(u64::MAX);
    let (mut rest, mut found) = (None, false);
    while left > 0 {
        let (rows, next) = session.wait(session.frontier.hosts(rest, PAGE_ROWS))?;
        let wanted = rows.into_iter().filter(|row| !args.busy || !row.in_flight.is_empty());
        let rows: Vec<HostRow> = wanted.take(usize::try_from(left).unwrap_or(usize::MAX)).collect();
        left -= u64::try_from(rows.len()).unwrap_or(left).min(left);
        found |= !rows.is_empty();
        match args.json {
            true => rows.iter().try_for_each(|row| writeln!(out, "{}", object(row)))?,
            false => table.page(&mut out, &rows.iter().map(cells).collect::<Vec<_>>())?,
        }
        match next {
            Some(next) => rest = Some(next),
            None => break,
        }
    }
    out.flush()?;
    match (found || args.json, args.busy) {
        (true, _) => Ok(()),
        (false, true) => note("no host is being asked just now"),
        (false, false) => note("no host has URLs; `skurd start` queues the seeds"),
    }
}

pub(crate) fn object(row: &HostRow) -> Value {
    json!({
        "host": row.host,
        "group": row.group,
        "next": time_json(row.next),
        "in_flight": row.in_flight,
        "busy_until": time_json(row.busy_until),
        "response_ms": row.response_time.0,
        "backoff_until": time_json(row.backoff_until),
        "failures": row.failures,
    })
}

fn cells(row: &HostRow) -> Vec<String> {
    vec![
        row.host.clone(),
        text_or_dash(row.group.as_deref()),
        time_text(row.next),
        row.in_flight.len().to_string(),
        time_text(row.busy_until),
        row.response_time.to_string(),
        time_text(row.backoff_until),
        row.failures.to_string(),
    ]
}
