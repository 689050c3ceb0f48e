//! `skurd queue`: the URLs that are known, page by page; and moving them.

use std::io::Write;

use anyhow::Result;
use frontier::schema::URLS;
use frontier::{QueueRow, State};
use serde_json::{Value, json};
use store::table::KeyRange;

use crate::args::{QueueArgs, QueueCommand, StateArg};
use crate::commands::blacklist::each;
use crate::output::{Column, Table, left, number_or_dash, right, text_or_dash, time_json, time_text};
use crate::session::{PAGE_ROWS, Session, note, stdout};

const COLUMNS: [Column; 9] = [
    left("state"),
    left("due"),
    left("last fetch"),
    right("depth"),
    right("errors"),
    right("cycles"),
    left("collection"),
    left("seed"),
    left("url"),
];

/// Where rows come from.
enum Source {
    /// All URLs of a collection, or of all.
    Urls(Option<String>),
    /// A host's queue, in the order of due times.
    Host(String),
    /// Part of a collection that is not in that queue.
    Range(KeyRange),
}

pub(crate) fn run(args: &QueueArgs) -> Result<()> {
    match &args.command {
        None => list(args),
        Some(QueueCommand::Move { which, to }) => {
            let session = Session::open(&which.data.dir)?;
            let due = session.frontier.now().plus(*to);
            each(&session, which, "queued", &format!("is due {due}"), |url, collection| {
                Ok(session.wait(session.frontier.move_due(collection, url, due))?)
            })
        }
    }
}

fn list(args: &QueueArgs) -> Result<()> {
    let session = Session::open(&args.data.dir)?;
    if let Some(name) = &args.collection {
        session.collection(name)?;
    }
    let mut left = args.limit.unwrap_or(u64::MAX);
    let mut printer = Printer { out: stdout(), table: Table::new(&COLUMNS), as_json: args.json };
    let mut found = false;
    for source in sources(&session, args)? {
        let mut rest = None;
        while left > 0 {
            let (rows, next) = page(&session, &source, rest)?;
            let rows: Vec<QueueRow> = rows
                .into_iter()
                .filter(|row| is_wanted(&source, args, row))
                .take(usize::try_from(left).unwrap_or(usize::MAX))
                .collect();
            left -= u64::try_from(rows.len()).unwrap_or(left).min(left);
            found |= !rows.is_empty();
            printer.page(&rows)?;
            match next {
                Some(next) => rest = Some(next),
                None => break,
            }
        }
    }
    printer.out.flush()?;
    match found || args.json {
        true => Ok(()),
        false => note("no URL is there; `skurd start` queues the seeds"),
    }
}

fn sources(session: &Session, args: &QueueArgs) -> Result<Vec<Source>> {
    let Some(host) = &args.host else { return Ok(vec![Source::Urls(args.collection.clone())]) };
    let mut sources = Vec::new();
    if !matches!(args.state, Some(StateArg::Done | StateArg::Blacklisted)) {
        sources.push(Source::Host(host.clone()));
    }
    if !matches!(args.state, Some(StateArg::Queued | StateArg::InFlight)) {
        let collections = match &args.collection {
            Some(name) => vec![name.clone()],
            None => session.collections_with_urls()?,
        };
        sources.extend(collections.iter().flat_map(|name| ranges_of(name, host)).map(Source::Range));
    }
    Ok(sources)
}

/// The URLs of a site stand together by scheme, `www.`, and whether they have a port.
fn ranges_of(collection: &str, site: &str) -> Vec<KeyRange> {
    let mut ranges = Vec::new();
    for scheme in ["http://", "https://"] {
        for host in [site.to_owned(), format!("www.{site}")] {
            for (first, beyond) in [('/', '0'), (':', ';')] {
                let key = |end: char| URLS.key((collection, &format!("{scheme}{host}{end}")));
                ranges.push(KeyRange { from: key(first), to: key(beyond) });
            }
        }
    }
    ranges
}

fn page(
    session: &Session,
    source: &Source,
    rest: Option<KeyRange>,
) -> Result<(Vec<QueueRow>, Option<KeyRange>)> {
    let frontier = &session.frontier;
    Ok(match source {
        Source::Urls(collection) => session.wait(frontier.urls(collection.as_deref(), rest, PAGE_ROWS))?,
        Source::Host(host) => session.wait(frontier.queue_of(host, rest, PAGE_ROWS))?,
        Source::Range(range) => {
            session.wait(frontier.urls(None, Some(rest.unwrap_or_else(|| range.clone())), PAGE_ROWS))?
        }
    })
}

fn is_wanted(source: &Source, args: &QueueArgs, row: &QueueRow) -> bool {
    let waits = matches!(row.state, State::Queued | State::InFlight);
    let shown_before = matches!(source, Source::Range(_)) && waits;
    let in_collection = args.collection.as_ref().is_none_or(|name| *name == row.collection);
    let in_state = args.state.is_none_or(|state| state_of(state) == row.state);
    !shown_before && in_collection && in_state
}

fn state_of(state: StateArg) -> State {
    match state {
        StateArg::Queued => State::Queued,
        StateArg::InFlight => State::InFlight,
        StateArg::Done => State::Done,
        StateArg::Blacklisted => State::Blacklisted,
    }
}

struct Printer<W> {
    out: W,
    table: Table,
    as_json: bool,
}

impl<W: Write> Printer<W> {
    fn page(&mut self, rows: &[QueueRow]) -> Result<()> {
        if !self.as_json {
            let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
            return Ok(self.table.page(&mut self.out, &cells)?);
        }
        for row in rows {
            writeln!(self.out, "{}", object(row))?;
        }
        Ok(())
    }
}

/// As `--state` writes it.
fn state_word(state: State) -> &'static str {
    match state {
        State::InFlight => "in-flight",
        state => state.as_str(),
    }
}

/// Exactly the fields that scripts rely on (page 6).
fn object(row: &QueueRow) -> Value {
    let record = row.record.as_ref();
    let due = record.filter(|_| row.state != State::Blacklisted).map(|record| record.due);
    json!({
        "collection": row.collection,
        "url": row.url,
        "host": row.host,
        "seed": record.map(|record| record.seed.as_str()),
        "depth": record.map(|record| record.position.depth),
        "hops": record.map(|record| record.position.hops),
        "due": time_json(due),
        "last_fetch": time_json(record.and_then(|record| record.last).map(|last| last.at)),
        "errors": record.map(|record| record.errors),
        "not_found": record.map(|record| record.not_found),
        "cycles": record.map(|record| record.cycles),
        "state": state_word(row.state),
    })
}

fn cells(row: &QueueRow) -> Vec<String> {
    let record = row.record.as_ref();
    let due = record.filter(|_| row.state != State::Blacklisted).map(|record| record.due);
    vec![
        state_word(row.state).to_owned(),
        time_text(due),
        time_text(record.and_then(|record| record.last).map(|last| last.at)),
        number_or_dash(record.map(|record| record.position.depth)),
        number_or_dash(record.map(|record| record.errors)),
        number_or_dash(record.map(|record| record.cycles)),
        row.collection.clone(),
        text_or_dash(record.map(|record| record.seed.as_str())),
        row.url.clone(),
    ]
}
