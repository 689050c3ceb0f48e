//! `skurd … add`: one new thing, whose references lead somewhere.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use policy::catalog::{Catalog, Change};
use policy::model::{Collection, HostGroup, Limits, Profile, Seed};
use policy::scope::Scope;

use super::{Kind, declare};
use crate::args::{CollectionArgs, GroupArgs, ProfileArgs, SeedArgs};
use crate::config::excerpt;
use crate::hint::{hinted, unknown};
use crate::session::{Session, parse_url, stdout};

pub(super) fn seed(args: SeedArgs) -> Result<()> {
    add(&args.data.dir, Kind::Seed, args.add.replace, |catalog| {
        let url = parse_url(&args.url, catalog.url_rules())?;
        let mut profiles: Vec<String> = Vec::new();
        for name in args.profiles {
            refer(catalog, Kind::Profile, &name)?;
            if !profiles.contains(&name) {
                profiles.push(name);
            }
        }
        let name = args.name.unwrap_or_else(|| url.as_str().to_owned());
        let seed = Seed { name: name.clone(), url: args.url, active: !args.add.inactive, profiles };
        Ok((name, Change::PutSeed(seed)))
    })
}

pub(super) fn profile(args: ProfileArgs) -> Result<()> {
    add(&args.data.dir, Kind::Profile, args.add.replace, |catalog| {
        refer(catalog, Kind::Collection, &args.collection)?;
        let standard = Limits::default();
        let limits = Limits {
            max_errors: args.limits.max_errors.unwrap_or(standard.max_errors),
            max_not_found: args.limits.max_not_found.unwrap_or(standard.max_not_found),
            blacklist_for: args.limits.blacklist_for,
            ..standard
        };
        let scope = Scope {
            within: args.scope.within.into(),
            max_depth: args.scope.max_depth,
            off_domain_hops: args.scope.off_domain_hops,
            requisites: !args.scope.no_requisites,
            include: args.scope.include,
            exclude: args.scope.exclude,
            ..Scope::default()
        };
        let profile = Profile {
            name: args.name.clone(),
            active: !args.add.inactive,
            collection: args.collection,
            scope,
            every: args.every,
            length: args.length,
            ttl: args.ttl,
            robots: args.robots,
            limits,
        };
        Ok((args.name, Change::PutProfile(Box::new(profile))))
    })
}

pub(super) fn collection(args: CollectionArgs) -> Result<()> {
    add(&args.data.dir, Kind::Collection, args.add.replace, |_| {
        let collection = Collection {
            name: args.name.clone(),
            active: !args.add.inactive,
            user_agent: args.user_agent,
            headers: Vec::new(),
            cookies: Vec::new(),
            warc_prefix: args.warc_prefix,
            index: !args.no_index,
        };
        Ok((args.name, Change::PutCollection(collection)))
    })
}

pub(super) fn group(args: GroupArgs) -> Result<()> {
    add(&args.data.dir, Kind::Group, args.replace, |catalog| {
        let mut politeness = catalog.settings().politeness.clone();
        if let Some(delay) = args.delay {
            politeness.min = delay.min;
            politeness.max = delay.max.unwrap_or(politeness.max.max(delay.min));
        }
        politeness.parallel = args.parallel.unwrap_or(politeness.parallel);
        let mut hosts: Vec<String> = Vec::new();
        for host in args.hosts {
            free_host(catalog, &host, &args.name)?;
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        Ok((args.name.clone(), Change::PutGroup(HostGroup { name: args.name, hosts, politeness })))
    })
}

/// Makes the change in view of what is declared, and declares it unless its name is taken.
fn add(
    dir: &Path,
    kind: Kind,
    replace: bool,
    make: impl FnOnce(&Catalog) -> Result<(String, Change)>,
) -> Result<()> {
    let session = Session::create(dir)?;
    let (name, change, is_there) = session.look(|catalog| -> Result<_> {
        let (name, change) = make(catalog)?;
        let is_there = kind.is_there(catalog, &name);
        if is_there && !replace {
            let what = format!("there is a {kind} {} already", excerpt(&name));
            return Err(hinted(
                what,
                format!("--replace replaces it; `skurd {} show` shows it", kind.command()),
            ));
        }
        Ok((name, change, is_there))
    })??;
    declare(&session, &[change])?;
    let mut out = stdout();
    writeln!(out, "{kind} {name} is {}", if is_there { "replaced" } else { "added" })?;
    Ok(out.flush()?)
}

/// A reference that leads nowhere is refused.
fn refer(catalog: &Catalog, kind: Kind, name: &str) -> Result<()> {
    match kind.is_there(catalog, name) {
        true => Ok(()),
        false => Err(unknown(&kind.to_string(), name, kind.names(catalog).into_iter())),
    }
}

/// A host has one politeness.
fn free_host(catalog: &Catalog, host: &str, group: &str) -> Result<()> {
    match catalog.group_of(host) {
        Some(other) if other.name != group => {
            let what = format!("host {} is in host group {} already", excerpt(host), excerpt(&other.name));
            Err(hinted(
                what,
                "a host is in one group: leave it out here, or replace the other group without it",
            ))
        }
        _ => Ok(()),
    }
}
