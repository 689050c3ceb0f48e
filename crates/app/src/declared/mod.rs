//! What is declared, thing by thing: collections, profiles, seeds and host groups, and the
//! settings.
//!
//! An entry has a tag of what it says. Who gives it back ([`Expected`]) changes only what they saw:
//! an entry that says something else by now is left alone.

pub mod many;
pub mod preview;
pub mod reach;
mod read;
pub mod settings;
pub mod undo;

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

pub use declare::entry::Kind;
use declare::{entry, excerpt};
use http::StatusCode;
pub use many::{ManySeeds, NewSeed, SeedsAdded};
use policy::catalog::Catalog;
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use undo::{Undo, undo};
use utoipa::ToSchema;

use super::{Answer, App, Problem};
use crate::page::{Page, Paging};

/// So often is a part of a thing changed that others change meanwhile.
const PATCHES_MAX: usize = 5;

/// What became of a switch.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Switched {
    /// The thing's own name, also where its URL was given.
    pub name: String,
    pub active: bool,
    /// False: it was so already.
    pub changed: bool,
}

/// What became of a deletion.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Deleted {
    pub name: String,
    /// What still names the thing that is gone.
    pub left_dangling: Option<String>,
    /// URLs that were removed from the queue, if that was asked for. Without it, they leave when
    /// they are next looked at.
    pub swept: Option<usize>,
}

#[crate::boxed]
pub async fn list(app: &App, kind: Kind, paging: &Paging) -> Answer<Page<Value>> {
    app.look(|catalog| {
        let (names, next) = paging.names(kind.names(catalog))?;
        Ok(Page { items: names.iter().map(|name| entry::shown(catalog, kind, name)).collect(), next })
    })
    .await?
}

/// What a thing says as JSON, without its secrets, and the tag of it.
#[derive(Clone, Debug)]
pub struct Tagged {
    pub thing: Value,
    pub tag: String,
}

impl Tagged {
    fn of(catalog: &Catalog, kind: Kind, name: &str) -> Tagged {
        Tagged { thing: entry::shown(catalog, kind, name), tag: tag_of(catalog, kind, name) }
    }
}

/// What the caller expects to be there now (RFC 9110, 13.1): tags, or `*` for anything.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    pub if_match: Option<Vec<String>>,
    pub if_none_match: Vec<String>,
}

#[crate::boxed]
pub async fn show(app: &App, kind: Kind, name: &str) -> Answer<Tagged> {
    app.look(|catalog| Ok(Tagged::of(catalog, kind, &resolved(catalog, kind, name)?))).await?
}

/// The thing's own name.
fn resolved(catalog: &Catalog, kind: Kind, name: &str) -> Answer<String> {
    kind.resolve(catalog, name).map_err(|error| Problem::not_found(&error))
}

/// The name of a thing that says what its caller expects.
fn found(catalog: &Catalog, kind: Kind, name: &str, expected: &Expected) -> Answer<String> {
    let name = resolved(catalog, kind, name)?;
    expected.check(Some(&tag_of(catalog, kind, &name)), || format!("{kind} {}", excerpt(&name)))?;
    Ok(name)
}

/// What was put.
#[derive(Clone, Debug)]
pub struct Saved {
    /// There was none of its name.
    pub is_new: bool,
    pub tagged: Tagged,
    pub undo: Undo,
}

/// Adds or replaces one.
#[crate::boxed]
pub async fn put(app: &App, kind: Kind, name: &str, expected: &Expected, body: Value) -> Answer<Saved> {
    let _turn = app.edits.lock().await;
    let (since, looked) = app
        .look_to_edit(|catalog| -> Answer<_> {
            let is_there = kind.is_there(catalog, name);
            let now = is_there.then(|| tag_of(catalog, kind, name));
            expected.check(now.as_deref(), || format!("{kind} {}", excerpt(name)))?;
            let change = entry::read(catalog, kind, name, body)?;
            let undo = Undo::of(catalog, kind, name, &change);
            Ok((change, is_there, undo))
        })
        .await?;
    let (change, is_there, undo) = looked?;
    app.declare(since, &[change]).await?;
    let tagged = app.look(|catalog| Tagged::of(catalog, kind, name)).await?;
    Ok(Saved { is_new: !is_there, tagged, undo })
}

/// Changes what is given of one and leaves the rest as it is (RFC 7396).
#[crate::boxed]
pub async fn patch(app: &App, kind: Kind, name: &str, expected: &Expected, patch: &Value) -> Answer<Saved> {
    if !patch.is_object() {
        return Err(Problem::invalid("a JSON object is wanted"));
    }
    for _ in 0..PATCHES_MAX {
        let Tagged { thing, tag } = show(app, kind, name).await?;
        expected.check(Some(&tag), || format!("{kind} {}", excerpt(name)))?;
        let own = thing["name"].as_str().unwrap_or(name).to_owned();
        let seen = Expected { if_match: Some(vec![tag]), ..Expected::default() };
        match put(app, kind, &own, &seen, merged(thing, patch)).await {
            // Somebody else was quicker: onto what it says now.
            Err(problem) if problem.status() == StatusCode::PRECONDITION_FAILED => {}
            came => return came,
        }
    }
    Err(Problem::unavailable("others change it all the time, and nothing is changed").hint("once more"))
}

fn merged(target: Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut target = match target {
        Value::Object(target) => target,
        _ => serde_json::Map::new(),
    };
    for (key, patch) in patch {
        match patch {
            Value::Null => drop(target.remove(key)),
            patch => {
                let before = target.remove(key).unwrap_or_default();
                target.insert(key.clone(), merged(before, patch));
            }
        }
    }
    Value::Object(target)
}

/// Deletes one, and says what undoes that.
#[crate::boxed]
pub async fn delete(
    app: &App,
    kind: Kind,
    name: &str,
    expected: &Expected,
    sweep: bool,
) -> Answer<(Deleted, Undo)> {
    let turn = app.edits.lock().await;
    let (since, looked) = app
        .look_to_edit(|catalog| -> Answer<_> {
            let name = found(catalog, kind, name, expected)?;
            let undo = Undo::of(catalog, kind, &name, &kind.deletion(&name));
            Ok((name, undo))
        })
        .await?;
    let (name, undo) = looked?;
    app.declare(since, &[kind.deletion(&name)]).await?;
    drop(turn);
    let left_dangling = app.look(|catalog| kind.left_dangling(catalog, &name)).await?;
    let swept = match sweep {
        true => Some(app.heavy(async |app| Ok(app.frontier.sweep_deleted().await?)).await?),
        false => None,
    };
    Ok((Deleted { name, left_dangling, swept }, undo))
}

#[crate::boxed]
pub async fn switch(
    app: &App,
    kind: Kind,
    name: &str,
    expected: &Expected,
    active: bool,
) -> Answer<Switched> {
    let _turn = app.edits.lock().await;
    let (since, looked) = app
        .look_to_edit(|catalog| -> Answer<_> {
            let name = found(catalog, kind, name, expected)?;
            let change = kind.switch(catalog, &name, active);
            Ok((name, change))
        })
        .await?;
    let (name, change) = looked?;
    app.declare(since, change.as_slice()).await?;
    Ok(Switched { name, active, changed: change.is_some() })
}

impl Expected {
    fn check(&self, tag: Option<&str>, what: impl Fn() -> String) -> Answer<()> {
        let names =
            |tags: &[String]| tag.is_some_and(|tag| tags.iter().any(|given| given == "*" || given == tag));
        let failed = |detail: String, hint: &str| {
            Err(Problem::new(StatusCode::PRECONDITION_FAILED, detail).hint(hint))
        };
        if self.if_match.as_ref().is_some_and(|tags| !names(tags)) {
            return failed(format!("{} is not what it was", what()), "get it anew, and change that");
        }
        if names(&self.if_none_match) {
            return failed(format!("there is a {} already", what()), "leave out If-None-Match to replace it");
        }
        Ok(())
    }
}

fn tag_of(catalog: &Catalog, kind: Kind, name: &str) -> String {
    etag(&entry::whole(catalog, kind, name))
}

/// Of all that a thing says, secrets included: another password is another thing. The sum is keyed
/// anew in each process, so that nobody can find out from it what was summed.
fn etag(thing: &Value) -> String {
    static KEY: OnceLock<RandomState> = OnceLock::new();
    let sum = KEY.get_or_init(RandomState::new).hash_one(thing.to_string());
    format!("\"{sum:016x}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i4_a_patch_is_merged() {
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        // The cases of RFC 7396, appendix A, whose patch is an object.
        for (target, patch, merge) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
            ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        ] {
            assert_eq!(merged(json(target), &json(patch)), json(merge), "{target} {patch}");
        }
    }

    #[test]
    fn i4_an_edit_is_of_what_its_author_saw() {
        let thing = serde_json::json!({"name": "a"});
        let tag = etag(&thing);
        let tags = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let matching = |texts: &[&str]| Expected { if_match: Some(tags(texts)), ..Expected::default() };
        let none = |texts: &[&str]| Expected { if_none_match: tags(texts), ..Expected::default() };
        let table = [
            (matching(&[&tag]), true, false),
            (matching(&["\"x\"", &tag]), true, false),
            (matching(&["*"]), true, false),
            (matching(&["\"x\""]), false, false),
            (none(&["*"]), false, true),
            (none(&["\"x\""]), true, true),
            (Expected::default(), true, true),
        ];
        for (expected, there, not_there) in table {
            assert_eq!(expected.check(Some(&etag(&thing)), String::new).is_ok(), there, "{expected:?}");
            assert_eq!(expected.check(None, String::new).is_ok(), not_there, "{expected:?}");
        }
    }
}
