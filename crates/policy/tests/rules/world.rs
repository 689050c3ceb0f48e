//! Worlds and tables written as text.

use policy::budget::Charges;
use policy::catalog::{Catalog, Change};
use policy::changes::Changes;
use policy::contract::Owed;
use policy::model::{Collection, LastFetch, Position, Profile, Record, RobotsPolicy, Seed};
use policy::owner::Via;
use policy::scope::{Pattern, Within};
use policy::time::{Span, Time};
use policy::url::{CrawlUrl, UrlRules, normalise};
use testkit::catalog::{self, put};

/// The rows of a table below its header, split at `|`.
pub(crate) fn rows(table: &str) -> Vec<Vec<&str>> {
    let lines = table.lines().filter(|line| line.contains('|')).skip(1);
    lines.map(|line| line.split('|').map(str::trim).collect()).collect()
}

pub(crate) fn url(text: &str) -> CrawlUrl {
    let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    normalise(&text, None, &UrlRules::default()).unwrap()
}

/// Day n of the test calendar, which begins long after the epoch.
pub(crate) fn day(n: i64) -> Time {
    Time((20_000 + n) * 86_400_000)
}

/// `2d`, `3h`, `5min`.
pub(crate) fn span(text: &str) -> Span {
    let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap();
    let n = text[..unit].parse().unwrap();
    match &text[unit..] {
        "d" => Span::days(n),
        "h" => Span::hours(n),
        "min" => Span::minutes(n),
        other => panic!("unit {other}"),
    }
}

/// `d3 h1 c2 r`: depth, hops, chain, requisite; what is not named is zero.
pub(crate) fn position(text: &str) -> Position {
    let mut position = Position::default();
    for word in text.split_whitespace() {
        let n = || word[1..].parse().unwrap();
        match &word[..1] {
            "d" => position.depth = n(),
            "h" => position.hops = n(),
            "c" => position.chain = n(),
            "r" => position.requisite = true,
            other => panic!("position {other}"),
        }
    }
    position
}

pub(crate) fn record(seed: &str) -> Record {
    Record {
        seed: seed.to_owned(),
        position: position("d1"),
        via: Via::Start,
        due: day(0),
        run: 1,
        cycles: 0,
        linked: day(0),
        last: None,
        errors: 0,
        not_found: 0,
        digest: None,
        etag: None,
        last_modified: None,
        problem: None,
        owed: Owed::First(day(0)),
        terms: None,
        changes: Changes::default(),
        charges: Charges::default(),
        sketch: None,
        hint: None,
        moved: None,
    }
}

/// A record harvested on time on that day.
pub(crate) fn fetched_on(seed: &str, n: i64) -> Record {
    Record { last: Some(LastFetch { at: day(n), due: day(n) }), ..record(seed) }
}

/// A world from lines: `collection NAME [off]`, `profile NAME COLLECTION every=1d [within=host
/// depth=1 hops=1 length=1 ttl=9d include=PREFIX exclude=PREFIX requisites=no robots=ignore|as:NAME
/// errors=1 not_found=1 blacklist=1d off]`, `seed KEY URL PROFILE,PROFILE [off]`.
pub(crate) fn world(text: &str) -> Catalog {
    let mut catalog = Catalog::new();
    extend(&mut catalog, text);
    catalog
}

pub(crate) fn extend(catalog: &mut Catalog, text: &str) {
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        catalog.apply(change(line)).unwrap();
    }
}

pub(crate) fn change(line: &str) -> Change {
    let words: Vec<&str> = line.split_whitespace().collect();
    let active = words.last() != Some(&"off");
    match words[0] {
        "collection" => put(Collection { active, ..catalog::collection(words[1]) }),
        "profile" => put(Profile { active, ..profile(&words[1..]) }),
        "seed" => Change::PutSeed(Seed {
            name: words[1].to_owned(),
            url: url(words[2]).to_string(),
            active,
            profiles: words[3].split(',').map(str::to_owned).collect(),
            ..Seed::default()
        }),
        "-seed" => Change::DeleteSeed(words[1].to_owned()),
        "-profile" => Change::DeleteProfile(words[1].to_owned()),
        "-collection" => Change::DeleteCollection(words[1].to_owned()),
        other => panic!("no such thing: {other}"),
    }
}

fn profile(words: &[&str]) -> Profile {
    let mut profile = catalog::profile(words[0], words[1]);
    for (key, value) in words[2..].iter().filter_map(|word| word.split_once('=')) {
        set(&mut profile, key, value);
    }
    profile
}

fn set(profile: &mut Profile, key: &str, value: &str) {
    let number = || value.parse().unwrap();
    match key {
        "every" => profile.every = span(value),
        "length" => profile.length = Some(number()),
        "ttl" => profile.ttl = Some(span(value)),
        "within" => profile.scope.within = within(value),
        "depth" => profile.scope.max_depth = Some(number()),
        "hops" => profile.scope.off_domain_hops = number(),
        "requisites" => profile.scope.requisites = value == "yes",
        "include" => profile.scope.include.push(Pattern::Prefix(value.to_owned())),
        "exclude" => profile.scope.exclude.push(Pattern::Prefix(value.to_owned())),
        "robots" if value == "ignore" => profile.robots = RobotsPolicy::Ignore,
        "robots" => profile.robots = RobotsPolicy::ObeyAs(value.strip_prefix("as:").unwrap().to_owned()),
        "errors" => profile.limits.max_errors = number(),
        "not_found" => profile.limits.max_not_found = number(),
        "blacklist" => profile.limits.blacklist_for = Some(span(value)),
        other => panic!("no such setting: {other}"),
    }
}

pub(crate) fn within(text: &str) -> Within {
    match text {
        "path" => Within::Path,
        "host" => Within::Host,
        "domain" => Within::Domain,
        "any" => Within::Any,
        other => panic!("within {other}"),
    }
}
