//! From values to the model: sections in the order of their references, whatever their order in the
//! file.

use std::collections::HashMap;

use policy::browser::BrowserLimits;
use policy::catalog::Catalog;
use policy::model::{Collection, Position, Profile, Seed, Settings};
use policy::url::{UrlRules, normalise};

use crate::Declared;
use crate::entry;
use crate::field::Record;
use crate::hint::{Hinted, NAMES_COMPARED_MAX, few, nowhere};
use crate::hosts::{Groups, add_host, check_budget, check_order, check_politeness, check_windows};
use crate::keys::{Key, Kind, Table};
use crate::problem::{At, ConfigError};
use crate::profile;
use crate::read::Reader;
use crate::tables::{ROOT, SETTINGS};
use crate::text::{counted, excerpt};
use crate::value::{Data, Fields};
use crate::walks::Walks;
use crate::yaml::{self, Documents, Node};

/// Profiles of one seed: each is compared with the others, and at each harvest all of them are
/// asked.
const SEED_PROFILES_MAX: usize = 100;

/// Names that are there, each with its place.
pub(crate) type Names = HashMap<String, At>;

pub(crate) fn declare(file: &str, text: &str) -> Result<Declared, ConfigError> {
    let mut reader = Reader::default();
    if text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        let hint = "crawler-beans.cxml of Heritrix is imported: `skurd import heritrix FILE --profile NAME`";
        reader.problems.add(At::START, "this is XML, and a config is YAML", hint);
        return reader.problems.finish(file, Declared::default());
    }
    let root = one_document(text, "config", "`skurd config example` prints one to begin with", &mut reader);
    let sections = root.and_then(|root| Sections::of(root, &mut reader));
    let declared = sections.map(|sections| sections.declare(&mut reader)).unwrap_or_default();
    reader.problems.finish(file, declared)
}

/// The one document of a file, if it is one; `thing` is what messages call it.
pub fn one_document<'a>(
    text: &'a str,
    thing: &str,
    to_begin_with: &str,
    reader: &mut Reader,
) -> Option<Node<'a>> {
    let mut documents = Documents::new(text);
    let mut next = |reader: &mut Reader| {
        documents
            .next(&mut reader.problems)
            .map_err(|syntax| reader.problems.add(syntax.at, syntax.what, syntax.hint))
    };
    let Some(root) = next(reader).ok()?.filter(|node| !node.is_null()) else {
        reader.problems.add(At::START, "the file is empty", to_begin_with);
        return None;
    };
    if let Some(second) = next(reader).ok()? {
        let hint = format!("a {thing} is one document: remove the `---` above it");
        reader.problems.add(second.at, "a second document begins here", hint);
        return None;
    }
    Some(root)
}

struct Sections<'a>(HashMap<&'static str, Node<'a>>);

impl<'a> Sections<'a> {
    fn of(root: Node<'a>, reader: &mut Reader) -> Option<Sections<'a>> {
        let yaml::Data::Map(entries) = root.data else {
            let hint = format!("it begins with one of: {}", ROOT.names());
            reader.problems.add(root.at, "a config is a map of sections", hint);
            return None;
        };
        let mut sections = HashMap::new();
        for (name, node) in entries {
            match ROOT.key(&name.text) {
                Some(_) if node.is_null() => {}
                Some(key) => drop(sections.insert(key.name, node)),
                None if ["kind", "apiVersion"].contains(&&*name.text) => {
                    let hint =
                        "objects of Veidemann are imported: `skurd import veidemann FILE --profile NAME`";
                    reader.problems.add(name.at, format!("a config has no `{}`", name.text), hint);
                }
                None => reader.unknown(&name, &ROOT),
            }
        }
        Some(Sections(sections))
    }

    fn declare(mut self, reader: &mut Reader) -> Declared {
        let settings = self.0.remove("settings").map(|node| settings(node, reader)).unwrap_or_default();
        reader.rules = UrlRules::from(&settings);

        let mut collections = Named::new("collection");
        self.each("collections", reader, |fields, reader| {
            collections.add(&fields, collection(&fields, reader), reader);
        });
        let mut drafts = Vec::new();
        self.each("profiles", reader, |fields, _| drafts.push(fields));
        let known = Known::Here("collection", &collections.names);
        let (profiles, profile_names) = profile::resolve(&drafts, &known, reader);
        let seeds = self.seeds(&profile_names, &profiles, reader);
        let mut groups = Groups::default();
        self.each("host_groups", reader, |fields, reader| groups.add(&fields, &settings, reader));
        let mut hosts = Named::new("entry for host");
        self.each("hosts", reader, |fields, reader| {
            add_host(&mut hosts, &fields, &settings, &groups, reader);
        });

        let known = if self.0.contains_key("walks") { &seeds[..] } else { &[] };
        let mut walks = Walks::new(&profile_names, known);
        self.each("walks", reader, |fields, reader| walks.add(&fields, reader));

        Declared {
            settings,
            collections: collections.things,
            profiles,
            seeds,
            groups: groups.groups.things,
            hosts: hosts.things,
            walks: walks.walks.things,
        }
    }

    /// The entries of a section, one after the other, each taken apart before the next is looked
    /// at.
    fn each(&mut self, name: &'static str, reader: &mut Reader, mut take: impl FnMut(Fields, &mut Reader)) {
        let (Some(node), Some((key, table))) = (self.0.remove(name), section(name)) else { return };
        let yaml::Data::List(nodes) = node.data else {
            let _ = reader.value(node, key);
            return;
        };
        for node in nodes {
            if let Some(fields) = reader.fields(node, table, key) {
                take(fields, reader);
            }
        }
    }

    fn seeds(&mut self, names: &Names, profiles: &[Profile], reader: &mut Reader) -> Vec<Seed> {
        let (mut seeds, mut places) = (Vec::new(), Vec::new());
        let by_name: HashMap<&str, &Profile> = profiles.iter().map(|own| (own.name.as_str(), own)).collect();
        self.each("seeds", reader, |fields, reader| {
            let known = Known::Here("profile", names);
            if let Some(seed) = seed(&fields, &known, |name| by_name.get(name).copied(), reader) {
                seeds.push(seed);
                places.push(if fields.mentions("name") { fields.at("name") } else { fields.at("url") });
            }
        });
        repeated_seeds(&seeds, &places, reader);
        seeds
    }
}

/// The settings that a map says; what it does not is as by default.
pub(crate) fn settings(node: Node<'_>, reader: &mut Reader) -> Settings {
    let mut settings = Settings::default();
    let Some(key) = ROOT.key("settings") else { return settings };
    if let Some(fields) = reader.fields(node, &SETTINGS, key) {
        settings.lay(&fields);
        check_politeness(&fields, &settings.politeness, "the default", reader);
        if let Some(own) = fields.fields("politeness") {
            check_windows(own, &settings.politeness.windows, None, reader);
        }
    }
    settings
}

/// A collection; what it does not say is as by default.
pub(crate) fn collection(fields: &Fields, reader: &mut Reader) -> Collection {
    let collection = Collection::of_fields(fields);
    check_budget(fields, reader);
    if let Some(limits) = fields.fields("browser").and_then(|browser| browser.fields("limits")) {
        check_phases(limits, &collection.browser.limits, reader);
    }
    collection
}

/// Whether the whole time that a page has is enough for each phase of it: told of the longest.
fn check_phases(fields: &Fields, limits: &BrowserLimits, reader: &mut Reader) {
    let BrowserLimits { load, quiet, behave, collect, total, .. } = *limits;
    let phases = [("load", load), ("quiet", quiet), ("behave", behave), ("collect", collect)];
    let sound = phases.into_iter().filter(|(key, _)| !fields.is_wrong(key));
    let Some((key, phase)) = sound.max_by_key(|(_, phase)| *phase) else { return };
    check_order(fields, (key, phase), ("total", total), reader, |phase, total| {
        match (fields.get(key).is_some(), fields.get("total").is_some()) {
            (true, false) => format!("`total` is {total} by the default: give at least {phase} here too"),
            (false, true) => format!("`{key}` is {phase} by the default: give it here too"),
            _ => format!("`total` holds for all of it together: give at least {phase}"),
        }
    });
}

/// A section that is a list: its key, and the table of its entries.
pub(crate) fn section(name: &str) -> Option<(&'static Key, &'static Table)> {
    match ROOT.key(name)? {
        key @ Key { kind: Kind::List { of: Kind::Table(table), .. }, .. } => Some((key, *table)),
        _ => None,
    }
}

/// Things with names of their own.
pub(crate) struct Named<T> {
    thing: &'static str,
    pub things: Vec<T>,
    names: Names,
}

impl<T> Named<T> {
    pub(crate) fn new(thing: &'static str) -> Named<T> {
        Named { thing, things: Vec::new(), names: Names::new() }
    }

    /// Takes in what has its name in these fields.
    pub(crate) fn add(&mut self, fields: &Fields, thing: T, reader: &mut Reader) {
        if let Some(name) = fields.text("name") {
            self.add_as(&name, fields.at("name"), Some(thing), reader);
        }
    }

    /// Takes in what has this name, unless that is taken. Where it is broken, its name counts all
    /// the same.
    pub(crate) fn add_as(&mut self, name: &str, at: At, thing: Option<T>, reader: &mut Reader) {
        if is_new(name, at, self.thing, &mut self.names, reader) {
            self.things.extend(thing);
        }
    }
}

/// Notes a name, or tells where it was taken.
pub(crate) fn is_new(name: &str, at: At, thing: &str, names: &mut Names, reader: &mut Reader) -> bool {
    match names.get(name) {
        None => {
            names.insert(name.to_owned(), at);
            true
        }
        Some(other) => {
            taken(name, at, *other, thing, reader);
            false
        }
    }
}

fn taken(name: &str, at: At, other: At, thing: &str, reader: &mut Reader) {
    let what = format!("a second {thing} {}", excerpt(name));
    reader.problems.add(at, what, format!("the first is {}; names are unique", reader.mentioned(other)));
}

/// Where references may lead: to the names of this file, or to what is declared already.
pub(crate) enum Known<'a> {
    Here(&'static str, &'a Names),
    Declared(entry::Kind, &'a Catalog),
}

impl Known<'_> {
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Known::Here(_, names) => names.contains_key(name),
            Known::Declared(kind, catalog) => kind.is_there(catalog, name),
        }
    }

    /// Tells a name that leads nowhere, with the one that was probably meant.
    pub(crate) fn check(&self, name: &str, at: At, reader: &mut Reader) {
        if self.has(name) {
            return;
        }
        let Hinted { what, hint } = match self {
            Known::Here(thing, names) => {
                let near = reader.problems.suggest(name, names.keys().map(String::as_str));
                Hinted::new(format!("there is no {thing} {}", excerpt(name)), add_it(thing, near, names))
            }
            Known::Declared(kind, catalog) => {
                let names = kind.names(catalog);
                let compared = names.len().min(NAMES_COMPARED_MAX - reader.names_compared);
                reader.names_compared += compared;
                nowhere(&kind.to_string(), name, names, compared)
            }
        };
        reader.problems.add(at, what, hint);
    }
}

fn add_it(thing: &str, near: Option<&str>, names: &Names) -> String {
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => format!("no {thing} is declared: add it under `{thing}s:`"),
        None => match few(names.keys().map(String::as_str)) {
            Some((verb, names)) => format!("add it under `{thing}s:`; there {verb} now: {names}"),
            None => format!("add it under `{thing}s:`; there are {} now", counted(names.len(), thing)),
        },
    }
}

/// None if it has no URL; that has been told.
pub(crate) fn seed<'a>(
    fields: &Fields,
    known: &Known<'_>,
    profile: impl Fn(&str) -> Option<&'a Profile>,
    reader: &mut Reader,
) -> Option<Seed> {
    let mut named: Vec<String> = Vec::new();
    let given = fields.list("profiles");
    if let Some(value) = given.get(SEED_PROFILES_MAX) {
        let what = format!("more than {SEED_PROFILES_MAX} profiles for one seed");
        reader.problems.add(value.at, what, "spread them over several seeds with names of their own");
    }
    for value in given.iter().take(SEED_PROFILES_MAX) {
        let Some(name) = value.text() else { continue };
        known.check(name, value.at, reader);
        // Each name there is, once: what leads nowhere is told above and does not make the list
        // long.
        if named.iter().any(|other| other == name) {
            let what = format!("profile {} is here twice", excerpt(name));
            reader.problems.add(value.at, what, "name it once");
        } else if known.has(name) {
            named.push(name.to_owned());
        }
    }
    let Data::Url { normal, .. } = &fields.get("url")?.data else { return None };
    let mut seed = Seed { name: normal.clone(), ..Seed::default() };
    seed.lay(fields);
    seed.profiles = named;
    check_budget(fields, reader);
    let own = seed.profiles.iter().map(|name| profile(name));
    if let Some(Hinted { what, hint }) = nobody_takes(&seed.url, own, &reader.rules) {
        reader.problems.add(fields.at("url"), what, hint);
    }
    Some(seed)
}

/// A seed that none of its profiles takes in is never harvested. A profile that is not known here
/// may take it.
pub fn nobody_takes<'a>(
    url: &str,
    profiles: impl Iterator<Item = Option<&'a Profile>>,
    rules: &UrlRules,
) -> Option<Hinted> {
    let url = normalise(url, None, rules).ok()?;
    let mut reasons = Vec::new();
    for profile in profiles {
        let profile = profile?;
        let verdict = profile.scope.check(&url, &url, &Position::default());
        if verdict.in_scope {
            return None;
        }
        reasons.push(format!("{}: {}", excerpt(&profile.name), verdict.because));
    }
    if reasons.is_empty() {
        return None;
    }
    let whose = if reasons.len() == 1 { "its profile does not take" } else { "none of its profiles takes" };
    let what = format!("{whose} the seed {} itself: {}", excerpt(url.as_str()), reasons.join("; "));
    Some(Hinted::new(what, "take it in with one of them, give it another profile, or leave the seed out"))
}

/// Looked for once all are there, so that a million names need not be copied.
fn repeated_seeds(seeds: &[Seed], places: &[At], reader: &mut Reader) {
    let mut first: HashMap<&str, At> = HashMap::with_capacity(seeds.len());
    for (seed, at) in seeds.iter().zip(places) {
        match first.get(seed.name.as_str()) {
            Some(other) => taken(&seed.name, *at, *other, "seed", reader),
            None => drop(first.insert(&seed.name, *at)),
        }
    }
}
