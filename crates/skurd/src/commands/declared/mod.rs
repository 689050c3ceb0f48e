//! `skurd seed|profile|collection|host-group`: live changes to what is declared, thing by thing.

mod add;
mod cells;

use std::io::Write;

use anyhow::Result;
use app::Kind;
use app::declared::{Deleted, Switched};
use axum::http::Method;
use declare::counted;
use harvest::session::{note, stdout};
use serde_json::Value;
use server::client::{Call, Client, segment};

use super::listing::Listing;
use crate::args::{
    CollectionCommand, DataDir, GroupCommand, NamesArgs, ProfileCommand, SameCommand, SeedCommand,
    SwitchedCommand,
};
use crate::output::{Column, left, right};

pub(crate) fn seed(command: SeedCommand) -> Result<()> {
    match command {
        SeedCommand::Add(args) => add::seed(args),
        SeedCommand::Same(command) => switched(Kind::Seed, &command),
    }
}

pub(crate) fn profile(command: ProfileCommand) -> Result<()> {
    match command {
        ProfileCommand::Add(args) => add::profile(args),
        ProfileCommand::Same(command) => switched(Kind::Profile, &command),
    }
}

pub(crate) fn collection(command: CollectionCommand) -> Result<()> {
    match command {
        CollectionCommand::Add(args) => add::collection(args),
        CollectionCommand::Same(command) => switched(Kind::Collection, &command),
    }
}

pub(crate) fn group(command: GroupCommand) -> Result<()> {
    match command {
        GroupCommand::Add(args) => add::group(args),
        GroupCommand::Same(command) => same(Kind::Group, &command),
    }
}

fn switched(kind: Kind, command: &SwitchedCommand) -> Result<()> {
    match command {
        SwitchedCommand::Enable(args) => switch(kind, args, true),
        SwitchedCommand::Disable(args) => switch(kind, args, false),
        SwitchedCommand::Same(command) => same(kind, command),
    }
}

fn same(kind: Kind, command: &SameCommand) -> Result<()> {
    match command {
        SameCommand::List { data, json } => list(kind, data, *json),
        SameCommand::Show { data, name, json } => show(kind, data, name, *json),
        SameCommand::Delete { names, sweep } => delete(kind, names, *sweep),
    }
}

fn list(kind: Kind, data: &DataDir, as_json: bool) -> Result<()> {
    let ask = Client::open(&data.dir)?;
    let profiles = match kind {
        Kind::Collection if !as_json => cells::profiles_by_collection(&ask)?,
        _ => Default::default(),
    };
    let (query, columns) = (Vec::new(), columns(kind));
    let listing = Listing { path: kind.path(), query, limit: None, json: as_json, columns };
    let found = listing.print(&ask, |thing: &Value| cells::of(kind, thing, &profiles))?;
    match found || as_json {
        true => Ok(()),
        false => note(&format!("no {kind} is declared: `skurd {} add` adds one", kind.command())),
    }
}

fn show(kind: Kind, data: &DataDir, name: &str, as_json: bool) -> Result<()> {
    let thing = thing(&Client::open(&data.dir)?, kind, name)?;
    let mut out = stdout();
    match as_json {
        true => writeln!(out, "{thing}")?,
        false => declare::to_yaml(&mut out, &thing)?,
    }
    Ok(out.flush()?)
}

fn thing(ask: &Client, kind: Kind, name: &str) -> Result<Value> {
    ask.ask(&Call::get(&path(kind, name), Vec::new()))
}

fn path(kind: Kind, name: &str) -> String {
    format!("{}/{}", kind.path(), segment(name))
}

/// All of them are there: nothing is done by halves.
fn all_there(ask: &Client, kind: Kind, names: &[String]) -> Result<()> {
    names.iter().try_for_each(|name| thing(ask, kind, name).map(drop))
}

fn switch(kind: Kind, args: &NamesArgs, active: bool) -> Result<()> {
    let ask = Client::open(&args.data.dir)?;
    all_there(&ask, kind, &args.names)?;
    let (verb, state) = if active { ("enable", "active") } else { ("disable", "switched off") };
    let mut told = Vec::new();
    for name in &args.names {
        let question = Call::new(Method::POST, &format!("{}/{verb}", path(kind, name)));
        let Switched { name, changed, .. } = ask.ask(&question)?;
        let already = if changed { "" } else { " already" };
        told.push(format!("{kind} {name} is {state}{already}"));
    }
    print_lines(&told)
}

fn delete(kind: Kind, args: &NamesArgs, sweep: bool) -> Result<()> {
    let ask = Client::open(&args.data.dir)?;
    all_there(&ask, kind, &args.names)?;
    let mut names = args.names.clone();
    names.dedup();
    let (mut told, mut dangling, mut swept) = (Vec::new(), Vec::new(), 0);
    for (place, name) in names.iter().enumerate() {
        let mut question = Call::new(Method::DELETE, &path(kind, name));
        // Once, after all of them.
        question.query.push(("sweep", (sweep && place + 1 == names.len()).to_string()));
        let deleted: Deleted = ask.ask(&question)?;
        told.push(format!("{kind} {} is deleted", deleted.name));
        dangling.extend(deleted.left_dangling);
        swept += deleted.swept.unwrap_or_default();
    }
    told.extend(dangling);
    match (sweep, kind) {
        (true, _) => told.push(format!("{} removed from the queue", counted(swept, "URL"))),
        (false, Kind::Group) => {}
        (false, _) => told.push(LAZY.to_owned()),
    }
    print_lines(&told)
}

const LAZY: &str = "URLs that nothing covers any more leave the queue when they are next looked at; --sweep removes them now";

fn print_lines(lines: &[String]) -> Result<()> {
    let mut out = stdout();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}

fn columns(kind: Kind) -> &'static [Column] {
    match kind {
        Kind::Seed => const { &[left("name"), left("active"), left("profiles"), left("url")] },
        Kind::Profile => {
            const {
                &[
                    left("name"),
                    left("active"),
                    left("collection"),
                    right("every"),
                    left("within"),
                    right("depth"),
                    right("hops"),
                    right("length"),
                    right("ttl"),
                    left("robots"),
                ]
            }
        }
        Kind::Collection => const { &[left("name"), left("active"), right("profiles"), left("warc prefix")] },
        Kind::Group => const { &[left("name"), right("parallel"), left("delay"), left("hosts")] },
    }
}
