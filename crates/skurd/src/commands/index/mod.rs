//! `skurd index`: the link index, loaded from files and asked (X12).
//!
//! Which index a question is for: that of the collection that is named, the only one there is, or
//! with `--all` the one across all collections (X13). Questions go through the API; what works on
//! the whole index wants the data directory for itself.

mod dump;
mod feed;
mod list;
mod load;
mod page;
mod place;
mod progress;
mod tally;
mod text;
mod verify;

use std::io::Write;

use anyhow::Result;
use app::index::{IndexItem, Which, choose, no_index};
use harvest::session::{Session, note, stdout};
use index::Index;
use serde_json::Value;
use server::client::{Call, Client};

use crate::args::{IndexCommand, WhichArgs};
use crate::output::{Column, Table, left, right};

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

/// An index, and the data directory it is in, which nobody else has meanwhile.
struct Opened {
    session: Session,
    index: Index,
}

impl Opened {
    fn new(which: &WhichArgs) -> Result<Opened> {
        let session = Session::open(&which.data.dir)?;
        let store = session.frontier.store();
        let meant = Which { collection: which.collection.as_deref(), all: which.all };
        let name = session.wait(choose(store, &meant))?;
        let index = session.wait(Index::find(store, &name))?.ok_or_else(no_index)?;
        Ok(Opened { session, index })
    }
}

/// An index that is asked through the API.
struct Asked {
    ask: Client,
    which: Vec<(&'static str, String)>,
}

impl Asked {
    fn new(which: &WhichArgs) -> Result<Asked> {
        let ask = Client::open(&which.data.dir)?;
        let named = which.collection.clone().map(|name| ("collection", name));
        let across = which.all.then(|| ("all", "true".to_owned()));
        Ok(Asked { ask, which: named.into_iter().chain(across).collect() })
    }

    /// A question to this index.
    fn question<'a>(&self, path: &str, query: &[(&'a str, String)]) -> Call<'a> {
        Call::get(path, [&self.which, query].concat())
    }

    /// Questions can be answered at any time; what is not worked in yet is told.
    fn tell_waiting(&self) -> Result<()> {
        let index: IndexItem = self.ask.ask(&self.question("index", &[]))?;
        match index.waiting {
            0 => Ok(()),
            _ => note(
                "some changes are not worked in yet: `skurd index verify` does that, and so does the next load",
            ),
        }
    }
}

const COLUMNS: [Column; 6] =
    [left("index"), right("uris"), right("loaded"), right("links"), right("domains"), right("waiting")];

/// Of one index, or of each.
fn stats(which: &WhichArgs) -> Result<()> {
    let asked = Asked::new(which)?;
    let mut out = stdout();
    let mut table = Table::new(&COLUMNS);
    let mut print = |object: &Value| -> Result<()> {
        match which.json {
            true => writeln!(out, "{object}")?,
            false => table.page(&mut out, &[cells(&serde_json::from_value(object.clone())?)])?,
        }
        Ok(())
    };
    let mut found = false;
    match asked.which.is_empty() {
        false => {
            found = true;
            print(&asked.ask.ask(&asked.question("index", &[]))?)?;
        }
        true => asked.ask.pages("indexes", Vec::new(), |items| {
            found |= !items.is_empty();
            items.iter().try_for_each(|item| print(&serde_json::from_str(item.get())?))?;
            Ok(true)
        })?,
    }
    out.flush()?;
    if found { Ok(()) } else { Err(no_index().into()) }
}

fn cells(item: &IndexItem) -> Vec<String> {
    let name = item.collection.clone().unwrap_or_else(|| "(all)".to_owned());
    let numbers = [item.uris, item.loaded, item.links, item.domains, item.waiting];
    std::iter::once(name).chain(numbers.map(|number| number.to_string())).collect()
}
