//! Politeness, and the hosts and groups that have one of their own.
//!
//! What a host or group leaves out is as in the settings, so the check that `min` is not longer than `max` is made
//! on what results. A host has one politeness: it is in one group or in `hosts`, once.

use std::collections::HashMap;

use policy::model::{HostGroup, Politeness, Settings};

use crate::declare::{Named, Names, is_new};
use crate::problem::At;
use crate::read::Reader;
use crate::text::excerpt;
use crate::unit::print_duration;
use crate::value::{Fields, set};

/// Politeness under the key of that name; what is not given comes from `base`, which messages call `from`.
pub(crate) fn politeness(fields: &Fields, base: &Politeness, from: &str, reader: &mut Reader) -> Politeness {
    let mut politeness = base.clone();
    let Some(own) = fields.fields("politeness") else { return politeness };
    set(&mut politeness.factor, own.factor("factor"));
    set(&mut politeness.min, own.span("min"));
    set(&mut politeness.max, own.span("max"));
    set(&mut politeness.parallel, own.count("parallel"));
    let readable = !own.is_wrong("min") && !own.is_wrong("max");
    if readable && politeness.min > politeness.max {
        let (min, max) = (print_duration(politeness.min), print_duration(politeness.max));
        let given = |key: &str| own.get(key).is_some();
        let hint = match (given("min"), given("max")) {
            (true, false) => format!("`max` is {max} by {from}: give it here too"),
            (false, true) => format!("`min` is {min} by {from}: give it here too"),
            _ => format!("perhaps the other way round: min: {max}, max: {min}"),
        };
        let at = own.at(if given("max") { "max" } else { "min" });
        reader.problems.add(at, format!("`min` ({min}) is longer than `max` ({max})"), hint);
    }
    politeness
}

pub(crate) struct Groups {
    pub groups: Named<HostGroup>,
    /// Host → the group it is in, and where.
    of: HashMap<String, (String, At)>,
}

impl Default for Groups {
    fn default() -> Groups {
        Groups { groups: Named::new("host group"), of: HashMap::new() }
    }
}

impl Groups {
    pub(crate) fn add(&mut self, fields: &Fields, settings: &Settings, reader: &mut Reader) {
        let politeness = politeness(fields, &settings.politeness, "the settings", reader);
        let group = fields.text("name").unwrap_or_default();
        let mut hosts = Vec::new();
        for value in fields.list("hosts").unwrap_or_default() {
            let Some(host) = value.text() else { continue };
            match self.of.get(host) {
                Some((other, at)) => {
                    let what = format!("host {} is in two groups, or twice in one", excerpt(host));
                    reader.problems.add(
                        value.at,
                        what,
                        format!("it is in {} on line {} too", excerpt(other), at.line),
                    );
                }
                None => {
                    self.of.insert(host.to_owned(), (group.clone(), value.at));
                    hosts.push(host.to_owned());
                }
            }
        }
        self.groups.add(fields, reader, |_, name| HostGroup { name, hosts, politeness });
    }
}

#[derive(Default)]
pub(crate) struct Hosts {
    pub hosts: Vec<(String, Politeness)>,
    names: Names,
}

impl Hosts {
    pub(crate) fn add(&mut self, fields: &Fields, settings: &Settings, groups: &Groups, reader: &mut Reader) {
        let politeness = politeness(fields, &settings.politeness, "the settings", reader);
        let Some(host) = fields.text("host") else { return };
        let at = fields.at("host");
        if let Some((group, place)) = groups.of.get(&host) {
            let what =
                format!("host {} is in group {}, whose politeness counts", excerpt(&host), excerpt(group));
            reader.problems.add(
                at,
                what,
                format!("take it out here, or out of the group on line {}", place.line),
            );
        }
        if is_new(&host, at, "entry for host", &mut self.names, reader) {
            self.hosts.push((host, politeness));
        }
    }
}
