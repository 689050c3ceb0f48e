//! `skurd index`: the link index, loaded from files and asked (X12).
//!
//! Which index a question is for: that of the collection that is named, the only one there is, or with `--all` the one across all
//! collections (X13).

mod dump;
mod feed;
mod list;
mod load;
mod page;
mod place;
mod tally;
mod tell;
mod text;
mod verify;

use std::io::Write;

use anyhow::Result;
use index::Index;
use serde_json::json;

use crate::args::{IndexCommand, WhichArgs};
use crate::config::{excerpt, nearest};
use crate::hint::hinted;
use crate::output::{Column, Table, left, right};
use crate::session::{Session, note, stdout};

/// The name of the index across all collections; no collection can be called so.
pub(crate) const ALL: &str = frontier::INDEX_ACROSS;

/// Notes that are counted of each queue where it only matters whether there are few or many.
const WAITING_COUNTED_MAX: usize = 1000;

pub(crate) fn run(command: &IndexCommand) -> Result<()> {
    match command {
        IndexCommand::Load(args) => load::run(args),
        IndexCommand::Top(args) => list::top(args),
        IndexCommand::Domain(args) => list::domain(args),
        IndexCommand::Page(args) => page::run(args),
        IndexCommand::Missing(args) => list::missing(args),
        IndexCommand::Dump(args) => dump::run(args),
        IndexCommand::Verify(args) => verify::run(args),
        IndexCommand::Stats(args) => stats(args),
    }
}

/// An index, and the data directory it is in.
struct Opened {
    session: Session,
    index: Index,
}

impl Opened {
    /// For questions that can be answered at any time; what is not worked in yet is told.
    fn new(which: &WhichArgs) -> Result<Opened> {
        let session = Session::open(&which.data.dir)?;
        let name = name_of(&session, which)?;
        let store = session.frontier.store();
        let index = session.wait(Index::find(store, &name))?.ok_or_else(none)?;
        Ok(Opened { session, index })
    }

    fn tell_waiting(&self) -> Result<()> {
        match self.session.wait(self.index.waiting(1))? {
            0 => Ok(()),
            _ => note(
                "some changes are not worked in yet: `skurd index verify` does that, and so does the next load",
            ),
        }
    }
}

fn name_of(session: &Session, which: &WhichArgs) -> Result<String> {
    let mut names = session.wait(Index::names(session.frontier.store()))?;
    let across = names.iter().any(|name| name == ALL);
    names.retain(|name| name != ALL);
    match (&which.collection, names.as_slice()) {
        _ if which.all && across => Ok(ALL.to_owned()),
        _ if which.all => Err(hinted(
            "there is no index across all collections",
            if names.is_empty() { LOAD_HINT.to_owned() } else { format!("there are: {}", names.join(", ")) },
        )),
        (Some(name), _) if names.contains(name) => Ok(name.clone()),
        (Some(_), []) | (None, []) if !across => Err(none()),
        (Some(name), _) => Err(unknown(name, &names)),
        (None, []) => Ok(ALL.to_owned()),
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(hinted(
            "there are several link indexes",
            format!(
                "say which with --collection: {}{}",
                names.join(", "),
                if across { "; or --all" } else { "" }
            ),
        )),
    }
}

const LOAD_HINT: &str = "`skurd index load FILE…` makes one";

fn none() -> anyhow::Error {
    hinted("there is no link index", LOAD_HINT)
}

fn unknown(name: &str, names: &[String]) -> anyhow::Error {
    let hint = match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are: {}", names.join(", ")),
    };
    hinted(format!("there is no link index {}", excerpt(name)), hint)
}

const COLUMNS: [Column; 6] =
    [left("index"), right("uris"), right("loaded"), right("links"), right("domains"), right("waiting")];

/// Of one index, or of each.
fn stats(which: &WhichArgs) -> Result<()> {
    let session = Session::open(&which.data.dir)?;
    let store = session.frontier.store();
    let names = match which.all || which.collection.is_some() {
        true => vec![name_of(&session, which)?],
        false => session.wait(Index::names(store))?,
    };
    if names.is_empty() {
        return Err(none());
    }
    let mut out = stdout();
    let mut table = Table::new(&COLUMNS);
    for name in names {
        let Some(index) = session.wait(Index::find(store, &name))? else { continue };
        let totals = session.wait(index.totals())?;
        let waiting = session.wait(index.waiting(WAITING_COUNTED_MAX))?;
        if which.json {
            let object = json!({
                "collection": (name != ALL).then_some(&name),
                "uris": totals.uris,
                "loaded": totals.loaded,
                "links": totals.links,
                "domains": totals.domains,
                "waiting": waiting,
            });
            writeln!(out, "{object}")?;
            continue;
        }
        let shown = if name == ALL { "(all)".to_owned() } else { name };
        let numbers = [totals.uris, totals.loaded, totals.links, totals.domains, waiting];
        let cells = std::iter::once(shown).chain(numbers.map(|number| number.to_string()));
        table.page(&mut out, &[cells.collect()])?;
    }
    Ok(out.flush()?)
}
