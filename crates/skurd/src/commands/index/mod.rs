//! `skurd index`: the link index, loaded from files and asked (X12).
//!
//! Which index a question is for: that of the collection that is named, the only one there is, or
//! with `--all` the one across all collections (X13). Questions go through the API; what works on
//! the whole index wants the data directory for itself.

mod feed;
mod list;
mod load;
mod place;
mod progress;
mod revisits;
mod tally;
mod text;
mod whole;

use std::io::Write;

use anyhow::Result;
use app::index::{IndexItem, no_index};
use harvest::session::{note, stdout};
use serde_json::json;
use server::client::{Call, Client};

use super::listing::given;
use crate::args::index::{IndexCommand, WhichArgs};
use crate::output::{Column, Table, left, right, shown};

pub(crate) fn run(command: &IndexCommand) -> Result<()> {
    match command {
        IndexCommand::Load(args) => load::run(args),
        IndexCommand::Top { by, domains, list } => list::top(by, *domains, list),
        IndexCommand::Domain { domain, list } => list::domain(domain, list),
        IndexCommand::Page(args) => list::page(args),
        IndexCommand::Missing(args) => list::missing(args),
        IndexCommand::Dump(args) => whole::dump(args),
        IndexCommand::Verify { repair, which } => whole::verify(which, *repair),
        IndexCommand::Stats(args) => stats(args),
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
        let across = which.all.then(|| "true".to_owned());
        Ok(Asked { ask, which: given([("collection", which.collection.clone()), ("all", across)]) })
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

const COLUMNS: [Column<IndexItem>; 6] = [
    left("index", |index| index.collection.clone().unwrap_or_else(|| "(all)".to_owned())),
    right("uris", |index| shown(index.uris)),
    right("loaded", |index| shown(index.loaded)),
    right("links", |index| shown(index.links)),
    right("domains", |index| shown(index.domains)),
    right("waiting", |index| shown(index.waiting)),
];

/// Of one index, or of each.
fn stats(which: &WhichArgs) -> Result<()> {
    let asked = Asked::new(which)?;
    let mut items: Vec<IndexItem> = Vec::new();
    match asked.which.is_empty() {
        false => items.push(asked.ask.ask(&asked.question("index", &[]))?),
        true => asked.ask.pages("indexes", Vec::new(), |page| {
            items.extend(
                page.iter().map(|item| serde_json::from_str(item.get())).collect::<Result<Vec<_>, _>>()?,
            );
            Ok(true)
        })?,
    }
    if items.is_empty() {
        return Err(no_index().into());
    }
    let mut out = stdout();
    match which.json {
        true => items.iter().try_for_each(|item| writeln!(out, "{}", json!(item)))?,
        false => Table::new(&COLUMNS).page(&mut out, &items)?,
    }
    Ok(out.flush()?)
}
