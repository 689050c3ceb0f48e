//! From the command line to walks (L14): what is given once counts for all templates, what is given
//! once for each counts in their order.

use std::collections::HashSet;
use std::path::PathBuf;
use std::str::FromStr;

use declare::hint::Usage;
use policy::model::DeclaredWalk;
use policy::url::URL_BYTES_MAX;
use policy::walk::{
    Direction, Draft, Existence, ExistenceDraft, Expression, ID_MAX, Problem, StatusRange, WalkSettings,
    parse_id,
};

use super::outputs::Wanted;
use crate::args::linear::{ExistenceArgs, IdArgs, WalkArgs};

/// What all walks of a command belong to.
pub(crate) const LINEAR: &str = "linear";

type Asked<T> = Result<T, Usage>;

/// The walks of a command in the order of their turns, and what is written of each.
pub(crate) fn asked(args: &WalkArgs) -> Asked<Vec<(DeclaredWalk, Wanted)>> {
    let mut names = HashSet::new();
    let mut walks = Vec::with_capacity(args.templates.len());
    for place in 0..args.templates.len() {
        let which = Which { place, of: &args.templates };
        let settings = which.settings(args)?;
        let name = which.name(&args.ids)?;
        if !names.insert(name.clone()) {
            return Err(Usage(format!(
                "--name: two walks are called `{name}`; each template takes a name of its own"
            )));
        }
        let walk = DeclaredWalk {
            name,
            active: true,
            profile: LINEAR.to_owned(),
            seed: None,
            round: Some(LINEAR.to_owned()),
            place: u32::try_from(place).unwrap_or(u32::MAX),
            settings,
        };
        walks.push((walk, which.wanted(args)?));
    }
    Ok(walks)
}

/// A walk that is there already, and cannot go on as it is asked to.
pub(crate) fn refused(problem: &Problem, walk: &DeclaredWalk) -> Usage {
    let begins_with = match walk.settings.direction() {
        _ if problem.field != "from" || walk.settings.draft().from.is_some() => problem.field,
        Direction::Down => "max",
        Direction::Up | Direction::Both => "min",
    };
    Usage(format!("{}: {} of another --name (of {})", flag(begins_with), in_flags(&problem.what), walk.name))
}

/// One of the templates.
#[derive(Clone, Copy)]
struct Which<'a> {
    place: usize,
    of: &'a [String],
}

impl Which<'_> {
    /// What a flag says of this template.
    fn one<'a, T>(&self, flag: &str, given: &'a [T]) -> Asked<Option<&'a T>> {
        match given.len() {
            0 | 1 => Ok(given.first()),
            many if many == self.of.len() => Ok(given.get(self.place)),
            many => Err(Usage(format!(
                "--{flag}: {many} values for {}; it takes one for all of them, or one for each in their order",
                declare::counted(self.of.len(), "template")
            ))),
        }
    }

    /// The same for what may be said several times: of a single template, all of it.
    fn some<'a, T>(&self, flag: &str, given: &'a [T]) -> Asked<&'a [T]> {
        if self.of.len() == 1 {
            return Ok(given);
        }
        Ok(self.one(flag, given)?.map_or(&[], std::slice::from_ref))
    }

    fn settings(&self, args: &WalkArgs) -> Asked<WalkSettings> {
        let ids = &args.ids;
        let draft = Draft {
            template: self.of[self.place].clone(),
            min: self.id("min", &ids.min)?,
            max: self.id("max", &ids.max)?,
            from: self.id("from", &ids.from)?,
            direction: self.one("direction", &ids.direction)?.copied(),
            step: self.number("step", &ids.step, ID_MAX)?,
            margin: self.number("margin", &ids.margin, u32::MAX.into())?,
            attempts: self.number("attempts", &ids.attempts, u32::MAX.into())?,
            cooldown: self.one("cooldown", &ids.cooldown)?.copied(),
            retry: self.one("retry", &ids.retry)?.copied(),
            rate: self.number("rate", &ids.rate, u32::MAX.into())?,
            exists: self.existence(&args.existence)?,
        };
        WalkSettings::new(draft).map_err(|problem| self.usage(&problem))
    }

    fn existence(&self, args: &ExistenceArgs) -> Asked<Existence> {
        let draft = ExistenceDraft {
            exists: self.statuses("exists", &args.exists)?,
            absent: self.statuses("absent", &args.absent)?,
            failed: self.statuses("failed", &args.failed)?,
            redirect_exists: self.patterns("redirect-exists", &args.redirect_exists)?,
            redirect_absent: self.patterns("redirect-absent", &args.redirect_absent)?,
            body_has: self.patterns("body-has", &args.body_has)?,
            body_lacks: self.patterns("body-lacks", &args.body_lacks)?,
        };
        Existence::new(draft).map_err(|problem| self.usage(&problem))
    }

    fn id(&self, field: &'static str, given: &[String]) -> Asked<Option<u64>> {
        let text = self.one(field, given)?;
        text.map(|text| parse_id(field, text)).transpose().map_err(|problem| self.usage(&problem))
    }

    fn number<T: FromStr>(&self, flag: &str, given: &[String], most: u64) -> Asked<Option<T>> {
        let Some(text) = self.one(flag, given)? else { return Ok(None) };
        match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(Usage(format!(
                "--{flag}: `{text}` will not do; it takes a whole number from 1 to {most}"
            ))),
        }
    }

    fn statuses(&self, flag: &str, given: &[String]) -> Asked<Vec<StatusRange>> {
        let lists = self.some(flag, given)?.iter();
        let all = lists.flat_map(|list| list.split(','));
        all.map(str::parse).collect::<Result<_, Problem>>().map_err(|problem| named(flag, &problem))
    }

    fn patterns(&self, flag: &str, given: &[String]) -> Asked<Vec<Expression>> {
        let all = self.some(flag, given)?.iter();
        all.map(|source| Expression::new(source))
            .collect::<Result<_, Problem>>()
            .map_err(|problem| named(flag, &problem))
    }

    fn name(&self, ids: &IdArgs) -> Asked<String> {
        let name = self.one("name", &ids.name)?.unwrap_or(&self.of[self.place]);
        let refuse = |what: &str| Err(Usage(format!("--name: {what}")));
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            return refuse("it takes a line of text");
        }
        match name.len() > URL_BYTES_MAX {
            true => refuse(&format!("it takes at most {URL_BYTES_MAX} bytes")),
            false => Ok(name.clone()),
        }
    }

    fn wanted(&self, args: &WalkArgs) -> Asked<Wanted> {
        let own = |flag, given| -> Asked<Option<PathBuf>> { Ok(self.one(flag, given)?.cloned()) };
        let shared = self.of.len() > 1 && args.files.len() == 1;
        Ok(Wanted { files: own("files", &args.files)?, jsonl: own("jsonl", &args.jsonl)?, shared })
    }

    fn usage(&self, problem: &Problem) -> Usage {
        let of = match self.of.len() {
            1 => String::new(),
            _ => format!(" (of {})", self.of[self.place]),
        };
        Usage(format!("{}: {}{of}", flag(problem.field), in_flags(&problem.what)))
    }
}

fn named(flag: &str, problem: &Problem) -> Usage {
    Usage(format!("--{flag}: {}", problem.what))
}

fn flag(field: &str) -> String {
    if field == "template" { "TEMPLATE".to_owned() } else { format!("--{}", field.replace('_', "-")) }
}

/// The fields that a sentence names, as flags.
fn in_flags(what: &str) -> String {
    let fields = ["min", "max", "from", "margin", "exists", "absent", "failed"];
    fields
        .iter()
        .fold(what.to_owned(), |what, field| what.replace(&format!("`{field}`"), &format!("`--{field}`")))
}
