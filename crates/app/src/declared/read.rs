//! What is wrong with a body that declares something, as the problem that answers it.

use declare::entry::Invalid;

use crate::{FieldProblem, Problem};

impl From<Invalid> for Problem {
    fn from(Invalid(fields): Invalid) -> Problem {
        let said = |hint: &str| (!hint.is_empty()).then(|| hint.to_owned());
        let first = fields.first();
        let problem = Problem::invalid(first.map_or("this cannot be taken in", |first| &first.what));
        let errors = fields.iter().map(|field| FieldProblem {
            pointer: field.pointer.clone(),
            detail: field.what.clone(),
            hint: said(&field.hint),
        });
        Problem { hint: first.and_then(|first| said(&first.hint)), errors: errors.collect(), ..problem }
    }
}
