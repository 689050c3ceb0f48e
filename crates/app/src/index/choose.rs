//! Which index a question is for (X13).

use declare::{excerpt, nearest};
use http::StatusCode;
use index::Index;
use store::Store;

use crate::{Answer, Problem};

/// The name of the index across all collections; no collection can be called so.
pub const ACROSS: &str = frontier::INDEX_ACROSS;

const LOAD_HINT: &str = "`skurd index load FILE…` makes one";

/// What was said of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Which<'a> {
    pub collection: Option<&'a str>,
    /// The one across all collections.
    pub all: bool,
}

/// The name of the index that is meant.
#[crate::boxed]
pub async fn choose(store: &Store, which: &Which<'_>) -> Answer<String> {
    pick(Index::names(store).await?, which)
}

fn pick(mut names: Vec<String>, which: &Which<'_>) -> Answer<String> {
    let across = names.iter().any(|name| name == ACROSS);
    names.retain(|name| name != ACROSS);
    match (which.collection, names.as_slice()) {
        (Some(_), _) if which.all => Err(Problem::bad_request("this asks for two indexes at once")
            .hint("name a collection, or ask for the index across all of them")),
        _ if which.all && across => Ok(ACROSS.to_owned()),
        _ if which.all => Err(not_across(&names)),
        (Some(name), _) if names.iter().any(|known| known == name) => Ok(name.to_owned()),
        (_, []) if !across => Err(no_index()),
        (Some(name), _) => Err(unknown(name, &names)),
        (None, []) => Ok(ACROSS.to_owned()),
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(Problem::bad_request("there are several link indexes").hint(format!(
            "say which with --collection: {}{}",
            names.join(", "),
            if across { "; or --all" } else { "" }
        ))),
    }
}

pub fn no_index() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "there is no link index").hint(LOAD_HINT)
}

fn not_across(names: &[String]) -> Problem {
    let hint =
        if names.is_empty() { LOAD_HINT.to_owned() } else { format!("there are: {}", names.join(", ")) };
    Problem::new(StatusCode::NOT_FOUND, "there is no index across all collections").hint(hint)
}

fn unknown(name: &str, names: &[String]) -> Problem {
    let hint = match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are: {}", names.join(", ")),
    };
    Problem::new(StatusCode::NOT_FOUND, format!("there is no link index {}", excerpt(name))).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names there are, what was said, and the name or the problem that comes of it.
    type Case<'a> = (&'a [&'a str], Option<&'a str>, bool, Result<&'a str, (u16, &'a str)>);

    #[test]
    fn x13_the_index_that_is_meant_is_found() {
        let table: [Case<'_>; 13] = [
            (&[], None, false, Err((404, "`skurd index load FILE…` makes one"))),
            (&[], Some("news"), false, Err((404, "`skurd index load FILE…` makes one"))),
            (&[], None, true, Err((404, "`skurd index load FILE…` makes one"))),
            (&["news"], None, false, Ok("news")),
            (&["news"], Some("news"), false, Ok("news")),
            (&["news"], Some("nwes"), false, Err((404, "did you mean `news`?"))),
            (&["news"], None, true, Err((404, "there are: news"))),
            (&["*", "news"], None, false, Ok("news")),
            (&["*", "news"], None, true, Ok("*")),
            (&["*"], None, false, Ok("*")),
            (&["*", "law", "news"], None, false, Err((400, "--collection: law, news; or --all"))),
            (&["law", "news"], None, false, Err((400, "--collection: law, news"))),
            (&["*", "news"], Some("news"), true, Err((400, "name a collection"))),
        ];
        for (names, collection, all, expected) in table {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let case = format!("{names:?} {collection:?} {all}");
            match (pick(names, &Which { collection, all }), expected) {
                (Ok(name), Ok(expected)) => assert_eq!(name, expected, "{case}"),
                (Err(problem), Err((status, hint))) => {
                    assert_eq!(problem.status, status, "{case}");
                    assert!(problem.hint.as_ref().unwrap().contains(hint), "{case}: {problem}");
                }
                (found, _) => panic!("{case}: {found:?}"),
            }
        }
    }
}
