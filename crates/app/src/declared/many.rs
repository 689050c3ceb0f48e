//! Many seeds at once, as lists of other tools have them.
//!
//! A seed that is there keeps its switch and its profiles, and gets those it lacks. A name that
//! another URL has does not make two things one: the seed is then named by its URL.

use std::collections::{HashMap, HashSet};

use declare::hint::{Hinted, unknown};
use declare::{Data, TextRule, excerpt, import, nobody_takes, read_text};
use http::StatusCode;
use policy::catalog::{Catalog, Change};
use policy::model::Seed;
use policy::url::{URL_BYTES_MAX, UrlRules};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Kind, Undo};
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

/// A list that somebody pasted, line by line.
#[derive(Clone, Debug, Default)]
pub struct Pasted {
    /// In the order of the list.
    pub lines: Vec<PastedLine>,
    /// What would become of the good ones.
    pub counts: SeedsAdded,
    pub wrong: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastedLine {
    pub line: u32,
    /// The URL in normal form; none of a line that is wrong.
    pub url: Option<String>,
    pub fate: Fate,
}

/// What becomes of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    New,
    /// The seed is there, and gets profiles it lacks.
    More,
    /// It is there with all of them.
    Same,
    Wrong(String),
}

/// What would come of a list: one URL or domain a line, as `skurd import urls` takes it. The profiles
/// must be there.
#[crate::boxed]
pub async fn look_at_pasted(app: &App, profiles: &[String], text: &str) -> Answer<Pasted> {
    app.look(|catalog| pasted(catalog, profiles, text).map(|(pasted, _)| pasted)).await?
}

/// Declares the good lines of a list, and leaves out the others.
#[crate::boxed]
pub async fn add_pasted(app: &App, profiles: &[String], text: &str) -> Answer<(Pasted, Undo)> {
    let _turn = app.edits.lock().await;
    let (since, found) = app
        .look_to_edit(|catalog| -> Answer<_> {
            let (pasted, seeds) = pasted(catalog, profiles, text)?;
            let changes: Vec<Change> = seeds.into_iter().map(Change::PutSeed).collect();
            let undo = changes.iter().filter_map(|change| match change {
                Change::PutSeed(seed) => Some(Undo::of(catalog, Kind::Seed, &seed.name, change)),
                _ => None,
            });
            let undo = Undo::all(undo);
            Ok((pasted, changes, undo))
        })
        .await?;
    let (pasted, changes, undo) = found?;
    app.declare(since, &changes).await?;
    Ok((pasted, undo))
}

fn pasted(catalog: &Catalog, profiles: &[String], text: &str) -> Answer<(Pasted, Vec<Seed>)> {
    known(catalog, profiles)?;
    let imported = import::urls(text.as_bytes()).map_err(|error| Problem::invalid(error.to_string()))?;
    let (mut pasted, mut seeds) = (Pasted::default(), Vec::new());
    let mut sorting = Sorting { catalog, profiles, taken: HashMap::new() };
    // A list has no names: a seed that is there is known by its URL.
    let wanted: HashSet<&str> = imported.seeds.iter().map(|seed| seed.url.as_str()).collect();
    let there = catalog.seeds().filter(|entry| wanted.contains(entry.url.as_str()));
    let names: HashMap<&str, &str> =
        there.map(|entry| (entry.url.as_str(), entry.seed.name.as_str())).collect();
    for seed in &imported.seeds {
        let line = imported.line_of(&seed.url).unwrap_or_default();
        let name = names.get(seed.url.as_str()).map(|name| (*name).to_owned());
        let wanted = NewSeed { url: seed.url.clone(), name, active: true };
        let (url, fate) = match sorting.next(wanted) {
            Ok((fate, put)) => {
                seeds.extend(put);
                (Some(seed.url.clone()), fate)
            }
            Err((_, wrong)) => (None, Fate::Wrong(format!("{}: {}", excerpt(&seed.url), wrong.what))),
        };
        pasted.lines.push(PastedLine { line, url, fate });
    }
    let wrong = imported.skipped.into_iter();
    pasted.lines.extend(wrong.map(|(line, why)| PastedLine { line, url: None, fate: Fate::Wrong(why) }));
    pasted.lines.sort_by_key(|line| line.line);
    pasted.wrong = imported.skipped_more as u64;
    for line in &pasted.lines {
        match &line.fate {
            Fate::New => pasted.counts.added += 1,
            Fate::More => pasted.counts.changed += 1,
            Fate::Same => pasted.counts.unchanged += 1,
            Fate::Wrong(_) => pasted.wrong += 1,
        }
    }
    Ok((pasted, seeds))
}

fn differences(catalog: &Catalog, many: ManySeeds) -> Answer<(Vec<Change>, SeedsAdded)> {
    known(catalog, &many.profiles)?;
    let (mut changes, mut counts) = (Vec::new(), SeedsAdded::default());
    let mut sorting = Sorting { catalog, profiles: &many.profiles, taken: HashMap::new() };
    for (place, seed) in many.seeds.into_iter().enumerate() {
        let (fate, put) = sorting
            .next(seed)
            .map_err(|(field, wrong)| refused(&format!("/seeds/{place}/{field}"), wrong))?;
        match fate {
            Fate::New => counts.added += 1,
            Fate::More => counts.changed += 1,
            Fate::Same | Fate::Wrong(_) => counts.unchanged += 1,
        }
        changes.extend(put.map(Change::PutSeed));
    }
    Ok((changes, counts))
}

/// Goes through a list, seed by seed.
struct Sorting<'a> {
    catalog: &'a Catalog,
    profiles: &'a [String],
    /// The names of this list and whose they are.
    taken: HashMap<String, String>,
}

impl Sorting<'_> {
    /// What becomes of a seed, and the seed to put; or the field that is wrong.
    fn next(&mut self, seed: NewSeed) -> Result<(Fate, Option<Seed>), (&'static str, Hinted)> {
        let (catalog, taken) = (self.catalog, &self.taken);
        let (name, normal) = checked(&seed, catalog.url_rules())?;
        let is_free = |name: &str| {
            catalog.seed(name).is_none_or(|entry| entry.url.as_str() == normal)
                && taken.get(name).is_none_or(|other| *other == normal)
        };
        let name = if is_free(&name) { name } else { seed.url.clone() };
        if taken.contains_key(&name) {
            return Ok((Fate::Same, None));
        }
        let there = catalog.seed(&name).filter(|entry| entry.url.as_str() == normal).map(|entry| &entry.seed);
        let mut wanted = there.cloned().unwrap_or_else(|| Seed {
            name: name.clone(),
            url: seed.url,
            active: seed.active,
            profiles: Vec::new(),
            ..Seed::default()
        });
        for profile in self.profiles {
            if !wanted.profiles.contains(profile) {
                wanted.profiles.push(profile.clone());
            }
        }
        let own = wanted.profiles.iter().map(|name| catalog.profile(name));
        if let Some(wrong) = nobody_takes(&normal, own, catalog.url_rules()) {
            return Err(("url", wrong));
        }
        self.taken.insert(name, normal);
        Ok(match there {
            Some(there) if *there == wanted => (Fate::Same, None),
            Some(_) => (Fate::More, Some(wanted)),
            None => (Fate::New, Some(wanted)),
        })
    }
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
    fn i8_each_line_of_a_pasted_list_is_told_and_the_good_ones_are_taken() {
        let mut catalog = catalog();
        let text = "# ours\nhttps://a.no/\nhttps://b.no/\nc.no\nhttps://c.no/\nnot this\ngopher://d.no/\nhttp://e.no/\n";
        let daily = ["daily".to_owned()];
        let (list, seeds) = pasted(&catalog, &daily, text).unwrap();
        let told: Vec<(u32, Option<&str>, &str)> = list
            .lines
            .iter()
            .map(|line| {
                let fate = match &line.fate {
                    Fate::New => "new",
                    Fate::More => "more",
                    Fate::Same => "same",
                    Fate::Wrong(why) => why,
                };
                (line.line, line.url.as_deref(), fate)
            })
            .collect();
        assert_eq!(
            told[..3],
            [
                (2, Some("https://a.no/"), "same"),
                (3, Some("https://b.no/"), "more"),
                (4, Some("https://c.no/"), "new"),
            ]
        );
        let wrong =
            [(5, "on line 4 already"), (6, "neither URL nor domain"), (7, "gopher"), (8, "`http://e.no/`")];
        for ((line, url, why), (number, part)) in told[3..].iter().zip(wrong) {
            assert!((*line, *url) == (number, None) && why.contains(part), "{line} {why}");
        }
        assert_eq!((told.len(), list.wrong), (7, 4));
        assert_eq!(list.counts, SeedsAdded { added: 1, changed: 1, unchanged: 1 });
        for seed in seeds {
            catalog.apply(Change::PutSeed(seed)).unwrap();
        }
        assert_eq!(pasted(&catalog, &daily, text).unwrap().1, [], "twice is once");
        let weekly = ["weekly".to_owned()];
        let (list, _) = pasted(&catalog, &weekly, "https://c.no/\n").unwrap();
        assert_eq!(list.lines[0].fate, Fate::More);
        assert!(pasted(&catalog, &[], text).is_err() && pasted(&catalog, &["x".to_owned()], text).is_err());
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
