//! Walks: whose terms they go by, and whether their settings hold together (L14).

use policy::model::{DeclaredWalk, Seed};
use policy::walk::{COOLDOWN_DEFAULT, Draft, Existence, ExistenceDraft, Problem, Retry, WalkSettings};

use crate::declare::{Known, Named, Names};
use crate::field::Record;
use crate::problem::At;
use crate::read::Reader;
use crate::value::Fields;

pub(crate) struct Walks<'a> {
    pub walks: Named<DeclaredWalk>,
    profiles: &'a Names,
    seeds: Names,
}

impl<'a> Walks<'a> {
    pub(crate) fn new(profiles: &'a Names, seeds: &[Seed]) -> Walks<'a> {
        let seeds = seeds.iter().map(|seed| (seed.name.clone(), At::START)).collect();
        Walks { walks: Named::new("walk"), profiles, seeds }
    }

    pub(crate) fn add(&mut self, fields: &Fields, reader: &mut Reader) {
        let walk = WalkDraft::of_fields(fields);
        if let Some(profile) = fields.text("profile") {
            Known::Here("profile", self.profiles).check(&profile, fields.at("profile"), reader);
        }
        if let Some(seed) = &walk.seed {
            Known::Here("seed", &self.seeds).check(seed, fields.at("seed"), reader);
        }
        let settings = settings(fields, &walk, reader).filter(|_| !walk.profile.is_empty());
        let at = fields.at(if fields.mentions("name") { "name" } else { "template" });
        let Some(name) = fields.text("name").or_else(|| fields.text("template")) else { return };
        let place = u32::try_from(self.walks.things.len()).unwrap_or(u32::MAX);
        let walk = settings.map(|settings| {
            let WalkDraft { active, profile, seed, round, .. } = walk;
            DeclaredWalk { name: name.clone(), active, profile, seed, round, place, settings }
        });
        self.walks.add_as(&name, at, walk, reader);
    }
}

/// What a walk says, before it is known to hold together.
#[derive(Debug)]
pub(crate) struct WalkDraft {
    pub name: String,
    pub active: bool,
    pub profile: String,
    pub seed: Option<String>,
    pub round: Option<String>,
    pub draft: Draft,
    pub rules: ExistenceDraft,
}

impl Default for WalkDraft {
    fn default() -> WalkDraft {
        let draft = Draft {
            step: Some(1),
            attempts: Some(1),
            cooldown: Some(COOLDOWN_DEFAULT),
            retry: Some(Retry::All),
            rate: Some(1),
            ..Draft::default()
        };
        let (name, profile) = (String::new(), String::new());
        let rules = ExistenceDraft::default();
        WalkDraft { name, active: true, profile, seed: None, round: None, draft, rules }
    }
}

impl From<&DeclaredWalk> for WalkDraft {
    fn from(walk: &DeclaredWalk) -> WalkDraft {
        let settings = &walk.settings;
        WalkDraft {
            name: walk.name.clone(),
            active: walk.active,
            profile: walk.profile.clone(),
            seed: walk.seed.clone(),
            round: walk.round.clone(),
            draft: Draft {
                step: Some(settings.step()),
                attempts: Some(settings.attempts()),
                cooldown: Some(settings.cooldown()),
                retry: Some(settings.retry()),
                rate: Some(settings.rate()),
                ..settings.draft().clone()
            },
            rules: settings.exists().draft().clone(),
        }
    }
}

/// None if they do not hold together; that has been told.
fn settings(fields: &Fields, walk: &WalkDraft, reader: &mut Reader) -> Option<WalkSettings> {
    const IDS: [&str; 6] = ["template", "min", "max", "from", "direction", "margin"];
    fields.get("template")?;
    let expressions = [
        ("redirect_exists", &walk.rules.redirect_exists),
        ("redirect_absent", &walk.rules.redirect_absent),
        ("body_has", &walk.rules.body_has),
        ("body_lacks", &walk.rules.body_lacks),
    ];
    for (key, _) in expressions.iter().filter(|(key, taken)| taken.len() < fields.list(key).len()) {
        let what = format!("`{key}`: one of these is no pattern over bytes");
        reader.problems.add(fields.at(key), what, "a regular expression over bytes");
    }
    let rules = Existence::new(walk.rules.clone());
    let exists = rules.map_err(|problem| tell(&problem, fields, reader)).ok()?;
    // What could not be read has been told, and nothing is made of its absence.
    if IDS.iter().any(|key| fields.is_wrong(key)) {
        return None;
    }
    let settings = WalkSettings::new(Draft { exists, ..walk.draft.clone() });
    settings.map_err(|problem| tell(&problem, fields, reader)).ok()
}

/// A sentence of two halves: what is wrong, and what it takes.
fn tell(problem: &Problem, fields: &Fields, reader: &mut Reader) {
    let what = one_line(&problem.what);
    let (what, takes) = what.split_once("; ").unwrap_or((&what, "see `skurd config example`"));
    reader.problems.add(fields.at(problem.field), format!("`{}`: {what}", problem.field), takes);
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<&str>>().join(" ")
}
