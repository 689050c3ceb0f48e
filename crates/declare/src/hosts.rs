//! Politeness, and the hosts and groups that have one of their own.
//!
//! What a host or group leaves out is as in the settings, so the check that `min` is not longer
//! than `max` is made on what results. A host has one politeness: it is in one group or in `hosts`,
//! once.

use std::collections::HashMap;

use policy::model::{HostGroup, Politeness, Settings};
use policy::time::Span;
use policy::unit::print_duration;

use crate::declare::Named;
use crate::field::Record;
use crate::problem::At;
use crate::read::Reader;
use crate::text::excerpt;
use crate::value::Fields;

/// Whether the politeness that resulted holds together; what was not given comes from what messages
/// call `from`.
pub(crate) fn check_politeness(fields: &Fields, politeness: &Politeness, from: &str, reader: &mut Reader) {
    let Some(own) = fields.fields("politeness") else { return };
    let given = |key: &str| own.get(key).is_some();
    check_order(own, ("min", politeness.min), ("max", politeness.max), reader, |min, max| {
        match (given("min"), given("max")) {
            (true, false) => format!("`max` is {max} by {from}: give it here too"),
            (false, true) => format!("`min` is {min} by {from}: give it here too"),
            _ => format!("perhaps the other way round: min: {max}, max: {min}"),
        }
    });
}

/// Whether the shortest of two durations that resulted is no longer than the longest, if what these
/// fields say of them could be read.
pub(crate) fn check_order(
    fields: &Fields,
    (min_key, min): (&str, Span),
    (max_key, max): (&str, Span),
    reader: &mut Reader,
    hint: impl FnOnce(&str, &str) -> String,
) {
    if min > max && !fields.is_wrong(min_key) && !fields.is_wrong(max_key) {
        let (min, max) = (print_duration(min), print_duration(max));
        let at = fields.at(if fields.get(max_key).is_some() { max_key } else { min_key });
        let what = format!("`{min_key}` ({min}) is longer than `{max_key}` ({max})");
        reader.problems.add(at, what, hint(&min, &max));
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
        self.groups.add(fields, group, reader);
    }
}

/// Takes in a host with a politeness of its own.
pub(crate) fn add_host(
    hosts: &mut Named<(String, Politeness)>,
    fields: &Fields,
    settings: &Settings,
    groups: &Groups,
    reader: &mut Reader,
) {
    let mut entry = (String::new(), settings.politeness.clone());
    entry.lay(fields);
    check_politeness(fields, &entry.1, "the settings", reader);
    let Some(host) = fields.text("host") else { return };
    let at = fields.at("host");
    if let Some((group, place)) = groups.of.get(&host) {
        let what = format!("host {} is in group {}, whose politeness counts", excerpt(&host), excerpt(group));
        let hint = format!("take it out here, or out of the group {}", reader.mentioned(*place));
        reader.problems.add(at, what, hint);
    }
    hosts.add_as(&host, at, Some(entry), reader);
}
