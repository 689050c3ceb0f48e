//! Taking a change back: what things said before it, as long as they say what it made of them.

use declare::{counted, entry, excerpt};
use http::StatusCode;
use policy::catalog::{Catalog, Change};

use super::{Kind, etag, tag_of};
use crate::{Answer, App, Problem};

/// What undoes a change.
#[derive(Clone, Debug)]
pub struct Undo(Vec<Inverse>);

/// One thing as it was.
#[derive(Clone, Debug)]
struct Inverse {
    kind: Kind,
    name: String,
    change: Change,
    /// Of what the thing says since the change; none: it is gone.
    tag: Option<String>,
}

impl Undo {
    /// Of a change to this thing that is about to be made.
    pub(super) fn of(catalog: &Catalog, kind: Kind, name: &str, change: &Change) -> Undo {
        let before = kind.as_it_is(catalog, name).unwrap_or_else(|| kind.deletion(name));
        let after = entry::whole_of(change);
        let tag = (!after.is_null()).then(|| etag(&after));
        Undo(vec![Inverse { kind, name: name.to_owned(), change: before, tag }])
    }

    pub(super) fn all(parts: impl Iterator<Item = Undo>) -> Undo {
        Undo(parts.flat_map(|Undo(inverses)| inverses).collect())
    }

    /// What it came to, in words.
    pub fn what(&self) -> String {
        match self.0.as_slice() {
            [one] => format!("{} {} is as it was", one.kind, excerpt(&one.name)),
            many => format!("{} are as they were", counted(many.len(), "thing")),
        }
    }
}

/// Makes it as it was; nothing, if any of it was changed since.
#[crate::boxed]
pub async fn undo(app: &App, undo: &Undo) -> Answer<()> {
    let _turn = app.edits.lock().await;
    let (since, looked) = app
        .look_to_edit(|catalog| -> Answer<()> {
            for Inverse { kind, name, tag, .. } in &undo.0 {
                let now = kind.is_there(catalog, name).then(|| tag_of(catalog, *kind, name));
                if now != *tag {
                    let what = format!("{kind} {} was changed since, and nothing is undone", excerpt(name));
                    return Err(Problem::new(StatusCode::PRECONDITION_FAILED, what));
                }
            }
            Ok(())
        })
        .await?;
    looked?;
    let changes: Vec<Change> = undo.0.iter().map(|inverse| inverse.change.clone()).collect();
    app.declare(since, &changes).await
}
