//! `skurd seed|profile|collection|host-group`: live changes to what is declared, thing by thing.

mod add;
mod kind;
mod render;

use std::io::Write;

use anyhow::Result;
use policy::catalog::Change;

use crate::args::{
    CollectionCommand, DataDir, GroupCommand, NamesArgs, ProfileCommand, SameCommand, SeedCommand,
    SwitchedCommand,
};
use crate::config::counted;
use crate::output::Table;
use crate::session::{Session, note, stdout};

pub(crate) use kind::Kind;

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
    let session = Session::open(&data.dir)?;
    let mut out = stdout();
    let printed = session.look(|catalog| -> Result<bool> {
        let mut names = kind.names(catalog);
        names.sort_unstable();
        let mut table = Table::new(kind.columns());
        for page in names.chunks(crate::session::PAGE_ROWS) {
            match as_json {
                true => {
                    for name in page {
                        writeln!(out, "{}", render::json(catalog, kind, name))?;
                    }
                }
                false => {
                    let rows: Vec<_> = page.iter().map(|name| render::row(catalog, kind, name)).collect();
                    table.page(&mut out, &rows)?;
                }
            }
        }
        Ok(!names.is_empty())
    })??;
    out.flush()?;
    match printed || as_json {
        true => Ok(()),
        false => note(&format!("no {kind} is declared: `skurd {} add` adds one", kind.command())),
    }
}

fn show(kind: Kind, data: &DataDir, name: &str, as_json: bool) -> Result<()> {
    let session = Session::open(&data.dir)?;
    let thing = session.look(|catalog| {
        let name = kind.resolve(catalog, name)?;
        anyhow::Ok(render::json(catalog, kind, &name))
    })??;
    let mut out = stdout();
    match as_json {
        true => writeln!(out, "{thing}")?,
        false => render::to_yaml(&mut out, &thing)?,
    }
    Ok(out.flush()?)
}

fn switch(kind: Kind, args: &NamesArgs, active: bool) -> Result<()> {
    let session = Session::open(&args.data.dir)?;
    let state = if active { "active" } else { "switched off" };
    let mut changes = Vec::new();
    let mut told = Vec::new();
    for name in &args.names {
        let (name, change) = session.look(|catalog| {
            let name = kind.resolve(catalog, name)?;
            let change = kind.switch(catalog, &name, active);
            anyhow::Ok((name, change))
        })??;
        let already = if change.is_none() { " already" } else { "" };
        told.push(format!("{kind} {name} is {state}{already}"));
        changes.extend(change);
    }
    declare(&session, &changes)?;
    print_lines(&told)
}

fn delete(kind: Kind, args: &NamesArgs, sweep: bool) -> Result<()> {
    let session = Session::open(&args.data.dir)?;
    let mut names: Vec<String> = Vec::new();
    for name in &args.names {
        names.push(session.look(|catalog| kind.resolve(catalog, name))??);
    }
    names.dedup();
    let changes: Vec<Change> = names.iter().map(|name| kind.deletion(name)).collect();
    declare(&session, &changes)?;
    let mut told: Vec<String> = names.iter().map(|name| format!("{kind} {name} is deleted")).collect();
    for name in &names {
        told.extend(session.look(|catalog| kind.left_dangling(catalog, name))?);
    }
    match (sweep, kind) {
        (true, _) => {
            let removed = session.wait(session.frontier.sweep_deleted())?;
            told.push(format!("{} removed from the queue", counted(removed, "URL")));
        }
        (false, Kind::Group) => {}
        (false, _) => told.push(LAZY.to_owned()),
    }
    print_lines(&told)
}

const LAZY: &str = "URLs that nothing covers any more leave the queue when they are next looked at; --sweep removes them now";

/// Declares, with the store's or the catalog's reason if that is refused.
pub(crate) fn declare(session: &Session, changes: &[Change]) -> Result<()> {
    Ok(session.wait(session.frontier.declare(changes))?)
}

fn print_lines(lines: &[String]) -> Result<()> {
    let mut out = stdout();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}
