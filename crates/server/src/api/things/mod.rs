//! What is declared, thing by thing: collections, profiles, seeds and host groups, and the settings.
//!
//! A thing has an `ETag` of what it says. Who sends it back as `If-Match` changes only what they saw; a thing that says something else by
//! now is left alone (412). Whoever creates sends `If-None-Match: *`.

mod kind;
mod many;
mod read;
mod routes;
mod settings;

use std::collections::BinaryHeap;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use policy::catalog::Catalog;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::page::{self, Page, Paging};
use super::{Answer, App, Problem};
use declare::{entry, excerpt};

pub use kind::Kind;
pub use many::{ManySeeds, NewSeed, SeedsAdded};
pub(super) use read::masked;
pub(super) use routes::routes;

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
    /// URLs that were removed from the queue, if that was asked for. Without it, they leave when they are next looked at.
    pub swept: Option<usize>,
}

async fn list(app: &App, kind: Kind, paging: &Paging) -> Answer<Page<Value>> {
    let limit = page::limit(paging.limit)?;
    let after = paging.cursor.as_deref().map(page::cursor_name).transpose()?;
    app.look(|catalog| {
        let names = first_names(kind.names(catalog), after.as_deref(), limit + 1);
        let next = names.get(limit).and_then(|_| names.get(limit - 1)).map(|last| page::name_cursor(last));
        let items = names.iter().take(limit).map(|name| entry::shown(catalog, kind, name)).collect();
        Page { items, next }
    })
    .await
}

/// The first names in order behind `after`, without sorting all of them.
fn first_names<'a>(names: Vec<&'a str>, after: Option<&str>, count: usize) -> Vec<&'a str> {
    let mut first: BinaryHeap<&str> = BinaryHeap::with_capacity(count + 1);
    for name in names.into_iter().filter(|name| after.is_none_or(|after| *name > after)) {
        if first.len() < count {
            first.push(name);
        } else if first.peek().is_some_and(|last| name < *last) {
            first.pop();
            first.push(name);
        }
    }
    first.into_sorted_vec()
}

async fn show(app: &App, kind: Kind, name: &str) -> Answer<Response> {
    let (thing, tag) = app
        .look(|catalog| -> Answer<_> {
            let (name, tag) = found(catalog, kind, name)?;
            Ok((entry::shown(catalog, kind, &name), tag))
        })
        .await??;
    Ok(tagged(StatusCode::OK, &thing, &tag))
}

/// The thing's own name, and the tag of what it says.
fn found(catalog: &Catalog, kind: Kind, name: &str) -> Answer<(String, String)> {
    let name = kind.resolve(catalog, name).map_err(|error| Problem::not_found(&error))?;
    let tag = etag(&entry::whole(catalog, kind, &name));
    Ok((name, tag))
}

async fn put(app: &App, kind: Kind, name: &str, headers: &HeaderMap, body: Value) -> Answer<Response> {
    let _turn = app.edits.lock().await;
    let (change, is_there) = app
        .look(|catalog| -> Answer<_> {
            let is_there = kind.is_there(catalog, name);
            let now = is_there.then(|| etag(&entry::whole(catalog, kind, name)));
            expect(headers, now.as_deref(), || format!("{kind} {}", excerpt(name)))?;
            Ok((entry::read(catalog, kind, name, body)?, is_there))
        })
        .await??;
    app.frontier.declare(&[change]).await?;
    let shown =
        |catalog: &Catalog| (entry::shown(catalog, kind, name), etag(&entry::whole(catalog, kind, name)));
    let (thing, tag) = app.look(shown).await?;
    Ok(tagged(if is_there { StatusCode::OK } else { StatusCode::CREATED }, &thing, &tag))
}

async fn delete(app: &App, kind: Kind, name: &str, headers: &HeaderMap, sweep: bool) -> Answer<Deleted> {
    let turn = app.edits.lock().await;
    let name = app
        .look(|catalog| -> Answer<String> {
            let (name, tag) = found(catalog, kind, name)?;
            expect(headers, Some(&tag), || format!("{kind} {}", excerpt(&name)))?;
            Ok(name)
        })
        .await??;
    app.frontier.declare(&[kind.deletion(&name)]).await?;
    drop(turn);
    let left_dangling = app.look(|catalog| kind.left_dangling(catalog, &name)).await?;
    let swept = match sweep {
        true => Some(app.heavy(async |app| Ok(app.frontier.sweep_deleted().await?)).await?),
        false => None,
    };
    Ok(Deleted { name, left_dangling, swept })
}

async fn switch(app: &App, kind: Kind, name: &str, headers: &HeaderMap, active: bool) -> Answer<Switched> {
    let _turn = app.edits.lock().await;
    let (name, change) = app
        .look(|catalog| -> Answer<_> {
            let (name, tag) = found(catalog, kind, name)?;
            expect(headers, Some(&tag), || format!("{kind} {}", excerpt(&name)))?;
            let change = kind.switch(catalog, &name, active);
            Ok((name, change))
        })
        .await??;
    app.frontier.declare(change.as_slice()).await?;
    Ok(Switched { name, active, changed: change.is_some() })
}

/// What the caller expects to be there now (RFC 9110, 13.1).
fn expect(headers: &HeaderMap, tag: Option<&str>, what: impl Fn() -> String) -> Answer<()> {
    let names = |name| {
        let lines = headers.get_all(name).iter().filter_map(|line: &HeaderValue| line.to_str().ok());
        let mut tags = lines.flat_map(|line| line.split(',')).map(str::trim);
        tag.is_some_and(|tag| tags.any(|given| given == "*" || given == tag))
    };
    let failed =
        |detail: String, hint: &str| Err(Problem::new(StatusCode::PRECONDITION_FAILED, detail).hint(hint));
    if headers.contains_key(header::IF_MATCH) && !names(header::IF_MATCH) {
        return failed(format!("{} is not what it was", what()), "get it anew, and change that");
    }
    if names(header::IF_NONE_MATCH) {
        return failed(format!("there is a {} already", what()), "leave out If-None-Match to replace it");
    }
    Ok(())
}

/// Of all that a thing says, secrets included: another password is another thing. The sum is keyed anew in each process, so that nobody can
/// find out from it what was summed.
fn etag(thing: &Value) -> String {
    static KEY: OnceLock<RandomState> = OnceLock::new();
    let sum = KEY.get_or_init(RandomState::new).hash_one(thing.to_string());
    format!("\"{sum:016x}\"")
}

fn tagged(status: StatusCode, thing: &Value, tag: &str) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::ETAG, tag)];
    (status, headers, thing.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i4_pages_of_names_are_in_order_and_complete() {
        let names = ["b", "", "c", "a", "å", "ab"];
        assert_eq!(first_names(names.to_vec(), None, 3), ["", "a", "ab"]);
        assert_eq!(first_names(names.to_vec(), Some("ab"), 3), ["b", "c", "å"]);
        assert_eq!(first_names(names.to_vec(), Some("å"), 3), [""; 0]);
    }

    #[test]
    fn i4_an_edit_is_of_what_its_author_saw() {
        let thing = serde_json::json!({"name": "a"});
        let tag = etag(&thing);
        let table = [
            (header::IF_MATCH, tag.clone(), true, false),
            (header::IF_MATCH, format!("\"x\", {tag}"), true, false),
            (header::IF_MATCH, "*".to_owned(), true, false),
            (header::IF_MATCH, "\"x\"".to_owned(), false, false),
            (header::IF_NONE_MATCH, "*".to_owned(), false, true),
            (header::IF_NONE_MATCH, "\"x\"".to_owned(), true, true),
        ];
        for (name, value, there, not_there) in table {
            let headers: HeaderMap = [(name, value.parse().unwrap())].into_iter().collect();
            assert_eq!(expect(&headers, Some(&etag(&thing)), String::new).is_ok(), there, "{headers:?}");
            assert_eq!(expect(&headers, None, String::new).is_ok(), not_there, "{headers:?}");
        }
        assert!(expect(&HeaderMap::new(), Some(&etag(&thing)), String::new).is_ok());
    }
}
