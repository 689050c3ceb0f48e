//! What is wrong with a walk's settings (L14): the field's name, and what it takes.

/// One bad input. Its text is a whole sentence with the field at its head.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {what}")]
pub struct Problem {
    pub field: &'static str,
    /// What is wrong, and what the field takes.
    pub what: String,
}

impl Problem {
    pub(super) fn new(field: &'static str, what: impl Into<String>) -> Problem {
        Problem { field, what: what.into() }
    }
}

/// Highest id a walk knows, 2^63 − 1.
pub const ID_MAX: u64 = i64::MAX.unsigned_abs();

/// Reads an id as people write it: decimal digits, leading zeros allowed.
pub fn parse_id(field: &'static str, text: &str) -> Result<u64, Problem> {
    let digits = text.trim();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Problem::new(field, format!("`{}` is no id: {TAKES}", shown(digits))));
    }
    let id = digits.parse().map_err(|_| too_large(field, digits))?;
    within_reach(field, id)
}

/// The id, unless it is beyond [`ID_MAX`].
pub(super) fn within_reach(field: &'static str, id: u64) -> Result<u64, Problem> {
    if id <= ID_MAX { Ok(id) } else { Err(too_large(field, &id.to_string())) }
}

const TAKES: &str = "it takes a whole number from 0 to 9223372036854775807";

fn too_large(field: &'static str, digits: &str) -> Problem {
    Problem::new(field, format!("the id {} is too large: {TAKES}", shown(digits)))
}

/// Longest piece of a bad text that a sentence repeats.
const SHOWN_CHARS_MAX: usize = 80;

pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
