//! `skurd seed|profile|collection|host-group|host`: live changes to what is declared, thing by thing.

pub(super) mod add;

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use app::Kind;
use app::declared::{Deleted, Switched};
use axum::http::Method;
use declare::counted;
use harvest::session::{note, stdout};
use serde_json::{Value, json};
use server::client::{Call, Client, segment};

use super::listing::Listing;
use crate::args::declared::{NamesArgs, SameCommand, SwitchedCommand};
use crate::args::value::DataDir;
use crate::output::{Column, left, line, right, shown};

pub(super) fn switched(kind: Kind, command: &SwitchedCommand) -> Result<()> {
    match command {
        SwitchedCommand::Enable(args) => switch(kind, args, true),
        SwitchedCommand::Disable(args) => switch(kind, args, false),
        SwitchedCommand::Same(command) => same(kind, command),
    }
}

pub(super) fn same(kind: Kind, command: &SameCommand) -> Result<()> {
    match command {
        SameCommand::List { data, json } => list(kind, data, *json),
        SameCommand::Show { data, name, json } => show(kind, data, name, *json),
        SameCommand::Delete { names, sweep } => delete(kind, names, *sweep),
    }
}

fn list(kind: Kind, data: &DataDir, json: bool) -> Result<()> {
    let ask = Client::open(&data.dir)?;
    let profiles = match kind {
        Kind::Collection if !json => profiles_by_collection(&ask)?,
        _ => BTreeMap::new(),
    };
    let listing = Listing { path: kind.path(), query: Vec::new(), limit: None, json, columns: columns(kind) };
    let nothing = listing.print_as(&ask, |mut thing: Value| {
        if kind == Kind::Collection {
            thing["profiles"] = json!(profiles.get(&shown(&thing["name"])).copied().unwrap_or(0));
        }
        thing
    });
    match nothing? {
        true => note(&format!("no {kind} is declared: `skurd {} add` adds one", kind.command())),
        false => Ok(()),
    }
}

/// How many profiles each collection has.
fn profiles_by_collection(ask: &Client) -> Result<BTreeMap<String, usize>> {
    let mut counts = BTreeMap::new();
    ask.pages(Kind::Profile.path(), Vec::new(), |profiles| {
        for profile in profiles {
            let profile: Value = serde_json::from_str(profile.get())?;
            *counts.entry(shown(&profile["collection"])).or_default() += 1;
        }
        Ok(true)
    })?;
    Ok(counts)
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
    line(told.join("\n"))
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
        (false, Kind::Group | Kind::Host) => {}
        (false, _) => told.push(LAZY.to_owned()),
    }
    line(told.join("\n"))
}

const LAZY: &str = "URLs that nothing covers any more leave the queue when they are next looked at; --sweep removes them now";

const SEEDS: [Column<Value>; 4] = [
    left("name", |seed| shown(&seed["name"])),
    left("active", |seed| shown(&seed["active"])),
    left("profiles", |seed| shown(&seed["profiles"])),
    left("url", |seed| shown(&seed["url"])),
];

const PROFILES: [Column<Value>; 10] = [
    left("name", |profile| shown(&profile["name"])),
    left("active", |profile| shown(&profile["active"])),
    left("collection", |profile| shown(&profile["collection"])),
    right("every", |profile| shown(&profile["every"])),
    left("within", |profile| shown(&profile["scope"]["within"])),
    right("depth", |profile| shown(&profile["scope"]["max_depth"])),
    right("hops", |profile| shown(&profile["scope"]["off_domain_hops"])),
    right("length", |profile| shown(&profile["length"])),
    right("ttl", |profile| shown(&profile["ttl"])),
    left("robots", |profile| match &profile["robots"]["as"] {
        Value::String(agent) => format!("as {agent}"),
        _ => shown(&profile["robots"]),
    }),
];

const COLLECTIONS: [Column<Value>; 5] = [
    left("name", |collection| shown(&collection["name"])),
    left("active", |collection| shown(&collection["active"])),
    right("profiles", |collection| shown(&collection["profiles"])),
    left("engine", |collection| shown(&collection["engine"])),
    left("warc prefix", |collection| shown(&collection["warc_prefix"])),
];

const HOSTS: [Column<Value>; 5] = [
    left("host", |host| shown(&host["host"])),
    right("parallel", |host| shown(&host["politeness"]["parallel"])),
    left("delay", delay),
    left("windows", windows),
    left("budget", budget),
];

fn delay(thing: &Value) -> String {
    format!("{}..{}", shown(&thing["politeness"]["min"]), shown(&thing["politeness"]["max"]))
}

fn windows(thing: &Value) -> String {
    let one = |own: &Value| format!("{}-{}", shown(&own["from"]), shown(&own["to"]));
    thing["windows"].as_array().into_iter().flatten().map(one).collect::<Vec<_>>().join(", ")
}

fn budget(thing: &Value) -> String {
    let limits = thing["budget"].as_object().into_iter().flatten().filter(|(_, max)| !max.is_null());
    limits.map(|(limit, max)| format!("{limit} {}", shown(max))).collect::<Vec<_>>().join(", ")
}

const GROUPS: [Column<Value>; 4] = [
    left("name", |group| shown(&group["name"])),
    right("parallel", |group| shown(&group["politeness"]["parallel"])),
    left("delay", delay),
    left("hosts", |group| shown(&group["hosts"])),
];

fn columns(kind: Kind) -> &'static [Column<Value>] {
    match kind {
        Kind::Seed => &SEEDS,
        Kind::Profile => &PROFILES,
        Kind::Collection => &COLLECTIONS,
        Kind::Group => &GROUPS,
        Kind::Host => &HOSTS,
    }
}
