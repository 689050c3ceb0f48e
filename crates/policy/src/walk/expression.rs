//! A regular expression over bytes, bounded in size, equal to another with the same source and
//! stored as it.

use regex::bytes::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use super::problem::{Problem, shown};
use crate::scope::REGEX_BYTES_MAX;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Expression(Regex);

impl Expression {
    pub fn new(source: &str) -> Result<Expression, Problem> {
        let regex =
            RegexBuilder::new(source).size_limit(REGEX_BYTES_MAX).dfa_size_limit(REGEX_BYTES_MAX).build();
        regex.map(Expression).map_err(|error| {
            let what = format!("`{}` is no pattern, it takes a regular expression: {error}", shown(source));
            Problem::new("pattern", what)
        })
    }

    pub fn source(&self) -> &str {
        self.0.as_str()
    }

    pub fn is_in(&self, bytes: &[u8]) -> bool {
        self.0.is_match(bytes)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        self.source() == other.source()
    }
}

impl TryFrom<String> for Expression {
    type Error = Problem;

    fn try_from(source: String) -> Result<Expression, Problem> {
        Expression::new(&source)
    }
}

impl From<Expression> for String {
    fn from(expression: Expression) -> String {
        expression.source().to_owned()
    }
}
