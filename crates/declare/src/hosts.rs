//! Politeness, and the hosts and groups that have one of their own.
//!
//! What a host or group leaves out is as in the settings, so the check that `min` is not longer
//! than `max` is made on what results. A host has one politeness: it is in one group or in `hosts`,
//! once.

use std::collections::HashMap;

use policy::model::{HostGroup, Politeness, Settings};
use policy::unit::print_duration;

use crate::declare::{Named, Names, is_new};
use crate::field::Record;
use crate::problem::At;
use crate::read::Reader;
use crate::text::excerpt;
use crate::value::Fields;

/// Whether the politeness that resulted holds together; what was not given comes from what messages
/// call `from`.
pub(crate) fn check_politeness(fields: &Fields, politeness: &Politeness, from: &str, reader: &mut Reader) {
    let Some(own) = fields.fields("politeness") else { return };
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
        let mut group = HostGroup { politeness: settings.politeness.clone(), ..HostGroup::default() };
        group.lay(fields);
        check_politeness(fields, &group.politeness, "the settings", reader);
        group.hosts.clear();
        for value in fields.list("hosts") {
            let Some(host) = value.text() else { continue };
            match self.of.get(host) {
                Some((other, at)) => {
                    let what = format!("host {} is in two groups, or twice in one", excerpt(host));
                    let hint = format!("it is in {} {} too", excerpt(other), reader.mentioned(*at));
                    reader.problems.add(value.at, what, hint);
                }
                None => {
                    self.of.insert(host.to_owned(), (group.name.clone(), value.at));
                    group.hosts.push(host.to_owned());
                }
            }
        }
        self.groups.add(fields, reader, |_| group);
    }
}

#[derive(Default)]
pub(crate) struct Hosts {
    pub hosts: Vec<(String, Politeness)>,
    names: Names,
}

impl Hosts {
    pub(crate) fn add(&mut self, fields: &Fields, settings: &Settings, groups: &Groups, reader: &mut Reader) {
        let mut entry = (String::new(), settings.politeness.clone());
        entry.lay(fields);
        check_politeness(fields, &entry.1, "the settings", reader);
        let Some(host) = fields.text("host") else { return };
        let at = fields.at("host");
        if let Some((group, place)) = groups.of.get(&host) {
            let what =
                format!("host {} is in group {}, whose politeness counts", excerpt(&host), excerpt(group));
            let hint = format!("take it out here, or out of the group {}", reader.mentioned(*place));
            reader.problems.add(at, what, hint);
        }
        if is_new(&host, at, "entry for host", &mut self.names, reader) {
            self.hosts.push(entry);
        }
    }
}
