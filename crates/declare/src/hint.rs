//! Errors that say what would be right, on a line of their own.

use std::fmt;

use anyhow::Error;

use crate::{excerpt, nearest};

/// What was wrong, and what to do about it.
#[derive(Debug)]
pub struct Hinted {
    pub what: String,
    pub hint: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhint: {}", self.what, self.hint)
    }
}

impl std::error::Error for Hinted {}

/// The command line asks for what cannot be: told like all errors of usage, with exit code 2.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

pub fn misused(what: impl fmt::Display, hint: impl fmt::Display) -> Error {
    Usage(format!("{what}\nhint: {hint}")).into()
}

pub fn hinted(what: impl Into<String>, hint: impl Into<String>) -> Error {
    Hinted { what: what.into(), hint: hint.into() }.into()
}

/// Of a million names not every one is compared.
pub(crate) const NAMES_COMPARED_MAX: usize = 10_000;

/// A name that leads nowhere, with the one that was probably meant.
pub fn unknown<'a>(thing: &str, name: &str, names: impl Iterator<Item = &'a str>) -> Error {
    Error::new(nowhere(thing, name, names.collect(), NAMES_COMPARED_MAX))
}

/// The same, with the number of names that are compared.
pub(crate) fn nowhere(thing: &str, name: &str, names: Vec<&str>, compared_max: usize) -> Hinted {
    let hint = match nearest(name, names.iter().copied().take(compared_max)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => format!("no {thing} is declared: {}", how_to_add(thing)),
        None => known(thing, names),
    };
    Hinted { what: format!("there is no {thing} {}", excerpt(name)), hint }
}

fn how_to_add(thing: &str) -> String {
    let command = thing.replace(' ', "-");
    format!("add one with `skurd {command} add`, or all from a file with `skurd config apply`")
}

fn known(thing: &str, mut names: Vec<&str>) -> String {
    const NAMES_SHOWN_MAX: usize = 8;
    if names.len() > NAMES_SHOWN_MAX {
        let list = if thing == "walk" {
            "linear show".to_owned()
        } else {
            format!("{} list", thing.replace(' ', "-"))
        };
        return format!("`skurd {list}` shows the {} there are", names.len());
    }
    names.sort_unstable();
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("there {verb}: {}", names.join(", "))
}
