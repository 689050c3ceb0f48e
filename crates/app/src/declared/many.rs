//! Many seeds at once, as lists of other tools have them.
//!
//! A seed that is there keeps its switch and its profiles, and gets those it lacks. A name that
//! another URL has does not make two things one: the seed is then named by its URL.

use std::collections::HashMap;

use declare::hint::{Hinted, unknown};
use declare::{Data, TextRule, nobody_takes, read_text};
use http::StatusCode;
use policy::catalog::{Catalog, Change};
use policy::model::Seed;
use policy::url::{URL_BYTES_MAX, UrlRules};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Kind;
use crate::{Answer, App, Problem};

/// Seeds that get the same profiles.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ManySeeds {
    #[schema(min_items = 1)]
    pub profiles: Vec<String>,
    pub seeds: Vec<NewSeed>,
}

/// One of many seeds.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSeed {
    pub url: String,
    /// Its URL if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it is switched on; a seed that is there keeps its switch.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub active: bool,
}

fn yes() -> bool {
    true
}

/// What became of the seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SeedsAdded {
    pub added: u64,
    /// They have got profiles.
    pub changed: u64,
    pub unchanged: u64,
}

/// Declare many seeds at once: those that are there get the profiles they lack
///
/// If one is wrong, none is taken.
#[crate::boxed]
pub async fn add_seeds(app: &App, many: ManySeeds) -> Answer<SeedsAdded> {
    let _turn = app.edits.lock().await;
    let (since, found) = app.look_to_edit(|catalog| differences(catalog, many)).await?;
    let (changes, added) = found?;
    app.declare(since, &changes).await?;
    Ok(added)
}

fn differences(catalog: &Catalog, many: ManySeeds) -> Answer<(Vec<Change>, SeedsAdded)> {
    known(catalog, &many.profiles)?;
    let (mut changes, mut counts) = (Vec::new(), SeedsAdded::default());
    // The names of this list and whose they are.
    let mut taken: HashMap<String, String> = HashMap::new();
    for (place, seed) in many.seeds.into_iter().enumerate() {
        let (name, normal) = checked(&seed, catalog.url_rules())
            .map_err(|(field, wrong)| refused(&format!("/seeds/{place}/{field}"), wrong))?;
        let is_free = |name: &str| {
            catalog.seed(name).is_none_or(|entry| entry.url.as_str() == normal)
                && taken.get(name).is_none_or(|other| *other == normal)
        };
        let name = if is_free(&name) { name } else { seed.url.clone() };
        if taken.contains_key(&name) {
            counts.unchanged += 1;
            continue;
        }
        let there = catalog.seed(&name).filter(|entry| entry.url.as_str() == normal).map(|entry| &entry.seed);
        let mut wanted = there.cloned().unwrap_or_else(|| Seed {
            name: name.clone(),
            url: seed.url,
            active: seed.active,
            profiles: Vec::new(),
            ..Seed::default()
        });
        for profile in &many.profiles {
            if !wanted.profiles.contains(profile) {
                wanted.profiles.push(profile.clone());
            }
        }
        let own = wanted.profiles.iter().map(|name| catalog.profile(name));
        if let Some(wrong) = nobody_takes(&normal, own, catalog.url_rules()) {
            return Err(refused(&format!("/seeds/{place}/url"), wrong));
        }
        taken.insert(name, normal);
        match there {
            Some(there) if *there == wanted => counts.unchanged += 1,
            Some(_) => counts.changed += 1,
            None => counts.added += 1,
        }
        if there != Some(&wanted) {
            changes.push(Change::PutSeed(wanted));
        }
    }
    Ok((changes, counts))
}

fn known(catalog: &Catalog, profiles: &[String]) -> Answer<()> {
    if profiles.is_empty() {
        return Err(Problem::invalid("seeds want at least one profile").field("/profiles", "it is empty"));
    }
    let Some(place) = profiles.iter().position(|name| catalog.profile(name).is_none()) else { return Ok(()) };
    let error = unknown("profile", &profiles[place], Kind::Profile.names(catalog).into_iter());
    let problem = Problem::from_error(StatusCode::UNPROCESSABLE_ENTITY, &error);
    let detail = problem.detail.clone();
    Err(problem.field(format!("/profiles/{place}"), detail))
}

/// The name of a seed, and its URL in normal form; or the field that is wrong.
fn checked(seed: &NewSeed, rules: &UrlRules) -> Result<(String, String), (&'static str, Hinted)> {
    const NAME: TextRule = TextRule::Name { bytes_max: URL_BYTES_MAX };
    let normal = match read_text(&seed.url, TextRule::Url, rules) {
        Ok(Data::Url { normal, .. }) => normal,
        Ok(_) => seed.url.clone(),
        Err(wrong) => return Err(("url", wrong)),
    };
    let name = seed.name.as_ref().unwrap_or(&seed.url);
    read_text(name, NAME, rules).map_err(|wrong| ("name", wrong))?;
    Ok((name.clone(), normal))
}

fn refused(pointer: &str, wrong: Hinted) -> Problem {
    Problem::invalid(wrong.what.clone()).hint(wrong.hint).field(pointer, wrong.what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        let text = "
collections: [{name: c}]
profiles: [{name: daily, collection: c, every: 1d, scope: {schemes: [https]}}, {name: weekly, collection: c, every: 1w}]
seeds: [{url: 'https://a.no/', profiles: [daily], active: no}, {url: 'https://b.no/', name: b, profiles: [weekly]}]
";
        let mut catalog = Catalog::new();
        for change in declare::parse("t", text.as_bytes()).unwrap().into_changes() {
            catalog.apply(change).unwrap();
        }
        catalog
    }

    fn many(seeds: &[(&str, Option<&str>)]) -> ManySeeds {
        let seed = |(url, name): &(&str, Option<&str>)| NewSeed {
            url: (*url).to_owned(),
            name: name.map(str::to_owned),
            active: true,
        };
        ManySeeds { profiles: vec!["daily".to_owned()], seeds: seeds.iter().map(seed).collect() }
    }

    #[test]
    fn i4_many_seeds_are_added_and_none_takes_the_name_of_another() {
        let mut catalog = catalog();
        let list = [
            ("https://a.no/", None),
            ("https://b.no/", Some("b")),
            ("https://c.no/", Some("b")),
            ("https://d.no/", Some("d")),
            ("https://e.no/", Some("d")),
            ("https://d.no/", Some("d")),
        ];
        let (changes, counts) = differences(&catalog, many(&list)).unwrap();
        assert_eq!(counts, SeedsAdded { added: 3, changed: 1, unchanged: 2 });
        for change in changes {
            catalog.apply(change).unwrap();
        }
        let profiles = |name: &str| catalog.seed(name).unwrap().seed.profiles.clone();
        assert!(!catalog.seed("https://a.no/").unwrap().seed.active, "it keeps its switch");
        assert_eq!(profiles("b"), ["weekly", "daily"]);
        assert_eq!(catalog.seed("d").unwrap().seed.url, "https://d.no/");
        for named_by_url in ["https://c.no/", "https://e.no/"] {
            assert_eq!(profiles(named_by_url), ["daily"]);
        }
        let (changes, counts) = differences(&catalog, many(&list)).unwrap();
        assert_eq!((changes.len(), counts), (0, SeedsAdded { added: 0, changed: 0, unchanged: 6 }));
    }

    #[test]
    fn i4_of_a_list_with_something_wrong_none_is_added() {
        let catalog = catalog();
        let wrong = |many: ManySeeds| differences(&catalog, many).unwrap_err().errors[0].pointer.clone();
        assert_eq!(wrong(many(&[("https://c.no/", None), ("gopher://c.no/", None)])), "/seeds/1/url");
        assert_eq!(wrong(many(&[("https://c.no/", Some("a\nb"))])), "/seeds/0/name");
        assert_eq!(
            wrong(many(&[("http://c.no/", None)])),
            "/seeds/0/url",
            "its only profile does not take it"
        );
        assert_eq!(wrong(ManySeeds { profiles: vec!["x".to_owned()], seeds: Vec::new() }), "/profiles/0");
    }
}
