//! Politeness, and the hosts and groups that have one of their own.
//!
//! What a host or group leaves out is as in the settings, so the check that `min` is not longer
//! than `max` is made on what results. A host has one politeness: it is in one group or in `hosts`,
//! once.

use std::collections::HashMap;

use policy::hours::Window;
use policy::model::{HostGroup, Politeness, Settings};
use policy::time::Span;
use policy::unit::print_duration;
use policy::way::Way;

use crate::declare::Named;
use crate::field::Record;
use crate::problem::At;
use crate::read::Reader;
use crate::text::excerpt;
use crate::value::{Data, Fields};

/// Of one profile or host: each is looked at whenever one of its URLs is.
const WINDOWS_MAX: usize = 50;

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

/// F36: whether a budget leaves anything to be harvested. (That it may not be nothing is told where it
/// is read.)
pub(crate) fn check_budget(fields: &Fields, reader: &mut Reader) {
    let Some(own) = fields.fields("budget") else { return };
    let number = |key: &str| match own.get(key).map(|value| &value.data) {
        Some(Data::Number(number)) => Some(*number),
        _ => None,
    };
    if let (Some(harvests), Some(bytes)) = (number("max_harvests"), number("max_bytes"))
        && bytes < harvests
    {
        let what =
            format!("`max_bytes` ({bytes}) is less than a byte for each of `max_harvests` ({harvests})");
        reader.problems.add(own.at("max_bytes"), what, "sizes have units: 500MB, 20GB");
    }
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

/// F38: whether each window is one, and long enough for what is to happen in it.
pub(crate) fn check_windows(fields: &Fields, windows: &[Window], harvest: Option<Span>, reader: &mut Reader) {
    let given = fields.list("windows");
    if let Some(value) = given.get(WINDOWS_MAX) {
        let what = format!("more than {WINDOWS_MAX} windows");
        reader.problems.add(value.at, what, "windows that touch or overlap are one");
    }
    for (place, window) in windows.iter().enumerate() {
        let at = given.get(place).map_or_else(|| fields.at, |value| value.at);
        let (length, from) = (window.length(), window.from);
        if window.from == window.to {
            let what = format!("a window from {from} to {from}");
            let hint = "a whole day is from \"00:00\" to \"24:00\"; without `windows` it is always";
            reader.problems.add(at, what, hint);
        } else if let Some(harvest) = harvest.filter(|harvest| length < *harvest) {
            let [shown, takes] = [length, harvest].map(print_duration);
            let what = format!("the window {window} is {shown} long, and one harvest may take {takes}");
            let hint = format!("make it longer, or `limits: {{total_timeout: {shown}}}`");
            reader.problems.add(at, what, hint);
        }
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
        check_windows(fields, &group.politeness.windows, None, reader);
        check_budget(fields, reader);
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
    hosts: &mut Named<(String, Politeness, Way)>,
    fields: &Fields,
    settings: &Settings,
    groups: &Groups,
    reader: &mut Reader,
) {
    let mut entry = (String::new(), settings.politeness.clone(), Way::default());
    entry.lay(fields);
    check_politeness(fields, &entry.1, "the settings", reader);
    check_windows(fields, &entry.1.windows, None, reader);
    check_budget(fields, reader);
    let Some(host) = fields.text("host") else { return };
    let at = fields.at("host");
    if let Some((group, place)) = groups.of.get(&host) {
        let what = format!("host {} is in group {}, whose politeness counts", excerpt(&host), excerpt(group));
        let hint = format!("take it out here, or out of the group {}", reader.mentioned(*place));
        reader.problems.add(at, what, hint);
    }
    hosts.add_as(&host, at, Some(entry), reader);
}
