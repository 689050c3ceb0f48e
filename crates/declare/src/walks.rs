//! Walks: whose terms they go by, and whether their settings hold together (L14).

use policy::model::{DeclaredWalk, Seed};
use policy::walk::{
    COOLDOWN_DEFAULT, Direction, Draft, Existence, ExistenceDraft, Expression, Problem, Retry, StatusRange,
    WalkSettings,
};

use crate::declare::{Names, dangling, is_new};
use crate::problem::At;
use crate::read::Reader;
use crate::value::Fields;

pub(crate) struct Walks<'a> {
    pub walks: Vec<DeclaredWalk>,
    names: Names,
    profiles: &'a Names,
    seeds: Names,
}

impl<'a> Walks<'a> {
    pub(crate) fn new(profiles: &'a Names, seeds: &[Seed]) -> Walks<'a> {
        let seeds = seeds.iter().map(|seed| (seed.name.clone(), At::START)).collect();
        Walks { walks: Vec::new(), names: Names::new(), profiles, seeds }
    }

    pub(crate) fn add(&mut self, fields: &Fields, reader: &mut Reader) {
        let profile = fields.text("profile");
        if let Some(profile) = profile.as_ref().filter(|name| !self.profiles.contains_key(*name)) {
            dangling(profile, fields.at("profile"), "profile", self.profiles, reader);
        }
        let seed = fields.text("seed");
        if let Some(seed) = seed.as_ref().filter(|name| !self.seeds.contains_key(*name)) {
            dangling(seed, fields.at("seed"), "seed", &self.seeds, reader);
        }
        let settings = settings(fields, reader);
        let at = fields.at(if fields.mentions("name") { "name" } else { "template" });
        let Some(name) = fields.text("name").or_else(|| fields.text("template")) else { return };
        let is_new = is_new(&name, at, "walk", &mut self.names, reader);
        if let (true, Some(profile), Some(settings)) = (is_new, profile, settings) {
            self.walks.push(DeclaredWalk {
                name,
                active: fields.bool("active").unwrap_or(true),
                profile,
                seed,
                round: fields.text("round"),
                place: u32::try_from(self.walks.len()).unwrap_or(u32::MAX),
                settings,
            });
        }
    }
}

/// None if they do not hold together; that has been told.
fn settings(fields: &Fields, reader: &mut Reader) -> Option<WalkSettings> {
    const IDS: [&str; 5] = ["template", "min", "max", "from", "direction"];
    let draft = Draft {
        template: fields.text("template")?,
        min: fields.number("min"),
        max: fields.number("max"),
        from: fields.number("from"),
        direction: fields.text("direction").map(|word| direction(&word)),
        step: Some(fields.number("step").unwrap_or(1)),
        margin: fields.count("margin"),
        attempts: Some(fields.count("attempts").unwrap_or(1)),
        cooldown: Some(fields.span("cooldown").unwrap_or(COOLDOWN_DEFAULT)),
        retry: Some(fields.text("retry").map_or(Retry::All, |word| retry(&word))),
        rate: Some(fields.count("rate").unwrap_or(1)),
        exists: existence(fields, reader)?,
    };
    // What could not be read has been told, and nothing is made of its absence.
    if IDS.iter().chain(&["margin"]).any(|key| fields.is_wrong(key)) {
        return None;
    }
    WalkSettings::new(draft).map_err(|problem| tell(&problem, fields, reader)).ok()
}

fn existence(fields: &Fields, reader: &mut Reader) -> Option<Existence> {
    let statuses = |key| -> Vec<StatusRange> {
        let texts = fields.texts(key).unwrap_or_default();
        texts.iter().filter_map(|text| text.parse().ok()).collect()
    };
    let mut patterns = |key: &'static str| -> Vec<Expression> {
        let mut found = Vec::new();
        for (at, source) in fields.regexes(key) {
            match Expression::new(source) {
                Ok(expression) => found.push(expression),
                Err(problem) => {
                    reader.problems.add(at, format!("`{key}`: {}", one_line(&problem.what)), HINT);
                }
            }
        }
        found
    };
    let draft = ExistenceDraft {
        exists: statuses("exists"),
        absent: statuses("absent"),
        failed: statuses("failed"),
        redirect_exists: patterns("redirect_exists"),
        redirect_absent: patterns("redirect_absent"),
        body_has: patterns("body_has"),
        body_lacks: patterns("body_lacks"),
    };
    Existence::new(draft).map_err(|problem| tell(&problem, fields, reader)).ok()
}

const HINT: &str = "a regular expression over bytes";

/// A sentence of two halves: what is wrong, and what it takes.
fn tell(problem: &Problem, fields: &Fields, reader: &mut Reader) {
    let what = one_line(&problem.what);
    let (what, takes) = what.split_once("; ").unwrap_or((&what, "see `skurd config example`"));
    reader.problems.add(fields.at(problem.field), format!("`{}`: {what}", problem.field), takes);
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<&str>>().join(" ")
}

fn direction(word: &str) -> Direction {
    match word {
        "down" => Direction::Down,
        "both" => Direction::Both,
        _ => Direction::Up,
    }
}

fn retry(word: &str) -> Retry {
    match word {
        "failed" => Retry::Failed,
        _ => Retry::All,
    }
}
