//! What is wrong, and what would be right on a line of its own.

use std::fmt;

use anyhow::Error;

use crate::{excerpt, nearest};

/// What was wrong, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{}", with_hint(what, hint))]
pub struct Hinted {
    pub what: String,
    /// Empty where there is nothing to add, or where whoever tells it knows better.
    pub hint: String,
}

impl Hinted {
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> Hinted {
        Hinted { what: what.into(), hint: hint.into() }
    }
}

/// Both, as they are told without a place.
pub(crate) fn with_hint(what: &str, hint: &str) -> String {
    if hint.is_empty() { what.to_owned() } else { format!("{what}\nhint: {hint}") }
}

/// The command line asks for what cannot be: told like all errors of usage, with exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

pub fn misused(what: impl fmt::Display, hint: impl fmt::Display) -> Error {
    Usage(format!("{what}\nhint: {hint}")).into()
}

pub fn hinted(what: impl Into<String>, hint: impl Into<String>) -> Error {
    Hinted::new(what, hint).into()
}

/// Of a million names not every one is compared.
pub(crate) const NAMES_COMPARED_MAX: usize = 10_000;

/// A name that leads nowhere, with the one that was probably meant.
pub fn unknown<'a>(thing: &str, name: &str, names: impl Iterator<Item = &'a str>) -> Error {
    nowhere(thing, name, names.collect(), NAMES_COMPARED_MAX).into()
}

/// The same, with the number of names that are compared.
pub(crate) fn nowhere(thing: &str, name: &str, names: Vec<&str>, compared_max: usize) -> Hinted {
    let (command, number) = (thing.replace(' ', "-"), names.len());
    let hint = match nearest(name, names.iter().copied().take(compared_max)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => format!(
            "no {thing} is declared: add one with `skurd {command} add`, or all from a file with `skurd config apply`"
        ),
        None => match few(names.into_iter()) {
            Some((verb, names)) => format!("there {verb}: {names}"),
            None if thing == "walk" => format!("`skurd linear show` shows the {number} there are"),
            None => format!("`skurd {command} list` shows the {number} there are"),
        },
    };
    Hinted::new(format!("there is no {thing} {}", excerpt(name)), hint)
}

/// The names in their order and the verb they take, unless they are too many to be told.
pub(crate) fn few<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Option<(&'static str, String)> {
    const NAMES_SHOWN_MAX: usize = 8;
    if names.len() > NAMES_SHOWN_MAX {
        return None;
    }
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    Some((if names.len() == 1 { "is" } else { "are" }, names.join(", ")))
}
