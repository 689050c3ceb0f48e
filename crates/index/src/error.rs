/// Why a question to the index has no answer.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Store(#[from] store::Error),

    /// It is not one this query gave.
    #[error("the cursor is not one of this query")]
    BadCursor,

    /// Changes wait to be worked in, so that cells and pages may differ rightly.
    #[error("the index is not at rest: {notes} notifications wait")]
    NotAtRest { notes: u64 },
}
