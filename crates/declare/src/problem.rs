//! What is wrong with a file: where, what, and what would be right.
//!
//! A person who mends a config wants all problems at once and in the order of the file, though the
//! reader finds them in the order of its passes. The collector takes them as they come and keeps
//! the first [`PROBLEMS_SHOWN_MAX`] by place; of the rest it keeps the number, so a hostile file
//! costs no memory.

use std::fmt;

use crate::text::{counted, nearest};

/// How many problems of one file are told; the rest is counted.
pub(crate) const PROBLEMS_SHOWN_MAX: usize = 50;

/// How many suggestions are looked for in one file: each compares with every name there is.
const SUGGESTIONS_MAX: usize = 500;

/// A place in a file, counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    pub line: u32,
    pub column: u32,
}

impl At {
    pub const START: At = At { line: 1, column: 1 };

    pub(crate) fn new(line: usize, column: usize) -> At {
        let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
        At { line: count(line), column: count(column) }
    }

    /// The place of a byte in a text.
    pub fn of_byte(text: &[u8], offset: usize) -> At {
        let before = &text[..offset.min(text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let column = 1 + String::from_utf8_lossy(&before[start..]).chars().count();
        At::new(line, column)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub at: At,
    pub what: String,
    pub hint: String,
}

impl Problem {
    pub(crate) fn new(at: At, what: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem { at, what: what.into(), hint: hint.into() }
    }
}

#[derive(Debug, Default)]
pub struct Problems {
    kept: Vec<Problem>,
    dropped: usize,
    suggestions: usize,
}

impl Problems {
    pub fn add(&mut self, at: At, what: impl Into<String>, hint: impl Into<String>) {
        self.kept.push(Problem::new(at, what, hint));
        if self.kept.len() >= 2 * PROBLEMS_SHOWN_MAX {
            self.keep_first();
        }
    }

    /// The one of these names that was probably meant, as long as there is patience left.
    pub fn suggest<'a>(&mut self, wrong: &str, right: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        if self.suggestions == SUGGESTIONS_MAX {
            return None;
        }
        self.suggestions += 1;
        nearest(wrong, right)
    }

    /// The error of this file, or what was read of it.
    pub fn finish<T>(mut self, file: &str, read: T) -> Result<T, ConfigError> {
        if self.kept.is_empty() {
            return Ok(read);
        }
        self.keep_first();
        Err(ConfigError { file: file.to_owned(), problems: self.kept, more: self.dropped })
    }

    fn keep_first(&mut self) {
        self.kept.sort();
        // An alias repeats what is wrong at its anchor.
        self.kept.dedup();
        self.dropped += self.kept.len().saturating_sub(PROBLEMS_SHOWN_MAX);
        self.kept.truncate(PROBLEMS_SHOWN_MAX);
    }
}

/// All that is wrong with one file; printed, it is the whole explanation.
#[derive(Debug)]
pub struct ConfigError {
    pub file: String,
    pub problems: Vec<Problem>,
    /// Problems beyond those told.
    pub more: usize,
}

impl ConfigError {
    pub fn one(file: &str, at: At, what: impl Into<String>, hint: impl Into<String>) -> ConfigError {
        ConfigError { file: file.to_owned(), problems: vec![Problem::new(at, what, hint)], more: 0 }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.problems.len() + self.more;
        write!(f, "{} has {}", self.file, counted(number, "problem"))?;
        for Problem { at, what, hint } in &self.problems {
            write!(f, "\n{}:{}:{}: {what}\n  hint: {hint}", self.file, at.line, at.column)?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i3_the_first_problems_of_the_file_are_kept_whatever_their_order() {
        let mut problems = Problems::default();
        for line in (1..=1000).rev() {
            problems.add(At { line, column: 1 }, "wrong", "right");
        }
        let error = problems.finish("f", ()).unwrap_err();
        let lines: Vec<u32> = error.problems.iter().map(|problem| problem.at.line).collect();
        assert_eq!(lines, (1..=50).collect::<Vec<u32>>());
        assert!(error.to_string().starts_with("f has 1000 problems\nf:1:1: wrong\n  hint: right\nf:2:1:"));
        assert!(error.to_string().ends_with("\n… and 950 more"));
    }

    #[test]
    fn i3_places_count_characters() {
        assert_eq!(At::of_byte("æ\nøå".as_bytes(), 5), At { line: 2, column: 2 });
    }
}
