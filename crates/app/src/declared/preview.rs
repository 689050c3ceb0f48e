//! What a change would do, before it is made.

use declare::entry;
use policy::catalog::Change;
use policy::url::normalise;
use serde_json::Value;

use super::reach::{Reach, Shift};
use super::{Expected, Kind, etag, tag_of};
use crate::{Answer, App};

/// What a thing says, and what it would say. Neither says what is as by default, nor secrets.
#[derive(Clone, Debug)]
pub struct Preview {
    /// Null if it is new.
    pub before: Value,
    pub after: Value,
    /// Also where only a secret is another one.
    pub is_other: bool,
    /// None where it says nothing of which URLs are taken in.
    pub reach: Option<Reach>,
}

/// What would come of putting this; its problems are those of [`put`](super::put).
#[crate::boxed]
pub async fn preview(app: &App, kind: Kind, name: &str, expected: &Expected, body: Value) -> Answer<Preview> {
    let looked = app.look(|catalog| -> Answer<_> {
        let tag = kind.is_there(catalog, name).then(|| tag_of(catalog, kind, name));
        expected.check(tag.as_deref(), || format!("{kind} {}", declare::excerpt(name)))?;
        let change = entry::read(catalog, kind, name, body)?;
        let is_other = tag.is_none_or(|tag| tag != etag(&entry::whole_of(&change)));
        let said = |says: &Value| if says.is_null() { Value::Null } else { entry::terse(kind, says) };
        let before = said(&entry::shown(catalog, kind, name));
        let after = said(&entry::shown_of(&change));
        Ok((before, after, is_other, Shift::of(catalog, &change)))
    });
    let (before, after, is_other, shift) = looked.await??;
    let reach = match shift {
        Some(shift) => Some(shift.reach(app).await?),
        None => None,
    };
    Ok(Preview { before, after, is_other, reach })
}

/// What would come of deleting it.
#[crate::boxed]
pub async fn preview_deletion(app: &App, kind: Kind, name: &str) -> Answer<Option<Reach>> {
    let change: Change = kind.deletion(name);
    match app.look(|catalog| Shift::of(catalog, &change)).await? {
        Some(shift) => shift.reach(app).await.map(Some),
        None => Ok(None),
    }
}

/// The name of a thing that says none: that of a seed is its URL in normal form.
#[crate::boxed]
pub async fn name_of(app: &App, kind: Kind, body: &Value) -> Answer<String> {
    let text = |key: &str| body[key].as_str().unwrap_or_default().trim().to_owned();
    match (text("name"), kind) {
        (name, Kind::Seed) if name.is_empty() => {
            let url = text("url");
            let normal = app.look(|catalog| normalise(&url, None, catalog.url_rules())).await?;
            Ok(normal.map_or(url, |normal| normal.as_str().to_owned()))
        }
        (name, _) => Ok(name),
    }
}
