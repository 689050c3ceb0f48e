//! What went wrong with a request: `application/problem+json` (RFC 9457), with what would be right
//! as `hint`.
//!
//! A problem speaks of the request and never of this machine: what failed inside is logged, and the
//! caller hears that it did.

use std::fmt;

use declare::hint::Hinted;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What went wrong (RFC 9457).
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    pub kind: Box<str>,
    /// The status in words.
    #[schema(value_type = String)]
    pub title: Box<str>,
    pub status: u16,
    /// What was wrong.
    #[schema(value_type = String)]
    pub detail: Box<str>,
    /// What would be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The path that was asked for, where that is the problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub instance: Option<Box<str>>,
    /// Each field that is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
}

/// A field that is wrong.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FieldProblem {
    /// Where it is in the body: a JSON pointer (RFC 6901).
    pub pointer: String,
    pub detail: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What a question comes to.
pub type Answer<T> = std::result::Result<T, Problem>;

impl Problem {
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Problem {
        Problem {
            kind: "about:blank".into(),
            title: status.canonical_reason().unwrap_or("Error").into(),
            status: status.as_u16(),
            detail: detail.into().into_boxed_str(),
            hint: None,
            instance: None,
            errors: Vec::new(),
        }
    }

    pub fn bad_request(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, detail)
    }

    /// The body is well-formed and says something that cannot be.
    pub fn invalid(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    pub fn not_found(error: &anyhow::Error) -> Problem {
        Problem::from_error(StatusCode::NOT_FOUND, error)
    }

    /// An error that is the caller's, with its hint.
    pub fn from_error(status: StatusCode, error: &anyhow::Error) -> Problem {
        match error.downcast_ref::<Hinted>() {
            Some(hinted) => Problem::new(status, &hinted.what).hint(&hinted.hint),
            None => Problem::new(status, format!("{error:#}")),
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    pub fn field(mut self, pointer: impl Into<String>, detail: impl Into<String>) -> Problem {
        self.errors.push(FieldProblem { pointer: pointer.into(), detail: detail.into(), hint: None });
        self
    }

    pub fn instance(mut self, path: &str) -> Problem {
        self.instance = Some(path.into());
        self
    }

    /// Something on this side failed: the log says what.
    pub fn internal(error: &(impl std::fmt::Display + ?Sized)) -> Problem {
        tracing::error!("a request failed: {error}");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "something failed on this side; the log says what")
    }

    pub fn unavailable(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    }

    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// As commands print it.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hint {
            Some(hint) => write!(f, "{}\nhint: {hint}", self.detail),
            None => f.write_str(&self.detail),
        }
    }
}

impl std::error::Error for Problem {}

impl From<store::Error> for Problem {
    fn from(error: store::Error) -> Problem {
        match error {
            store::Error::TooLarge { .. } => Problem::invalid(error.to_string()),
            store::Error::Unavailable { .. } => {
                tracing::warn!("a request could not be served: {error}");
                Problem::unavailable("the store is unavailable just now")
            }
            error => Problem::internal(&error),
        }
    }
}

impl From<frontier::DeclareError> for Problem {
    fn from(error: frontier::DeclareError) -> Problem {
        match error {
            frontier::DeclareError::Refused(refusal) => Problem::invalid(refusal.to_string()),
            error @ frontier::DeclareError::Walk { .. } => Problem::invalid(error.to_string()),
            frontier::DeclareError::Store(error) => error.into(),
        }
    }
}
