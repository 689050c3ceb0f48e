//! The blacklist: looking, adding, lifting; URLs one by one, and patterns (F39).

use std::collections::BTreeSet;

use declare::given::{duration, line, pattern, period_begin};
use declare::{counted, excerpt};
use frontier::{BlacklistRow, ranges};
use policy::blacklist::{Barred, PATTERN_BYTES_MAX, PATTERNS_MAX, REGEXES_MAX, fit_together, name_of};
use policy::catalog::Catalog;
use policy::scope::Pattern;
use policy::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::urls::{Act, each};
use super::{Answer, App, Problem};
use crate::page::{self, Page};

/// A URL that is left alone.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BlacklistItem {
    pub collection: String,
    pub url: String,
    pub reason: String,
    #[schema(format = DateTime)]
    pub since: String,
    /// None: until somebody lifts it.
    #[schema(format = DateTime)]
    pub until: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Only of this collection.
    pub collection: Option<String>,
    /// The `next` of the page before.
    pub cursor: Option<String>,
    /// How many items at most; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
}

/// List what is blacklisted, why, and until when
#[crate::boxed]
pub async fn list_blacklist(app: &App, filter: Filter) -> Answer<Page<BlacklistItem>> {
    let limit = page::limit(filter.limit)?;
    if let Some(name) = &filter.collection {
        app.collection(name).await?;
    }
    let whole = ranges::blacklist(filter.collection.as_deref());
    let range = page::rest(filter.cursor.as_deref(), &whole)?;
    let (rows, rest) = app.frontier.blacklist(None, Some(range), limit).await?;
    let item = |BlacklistRow { collection, url, entry }| BlacklistItem {
        collection,
        url,
        reason: entry.reason.to_string(),
        since: entry.since.to_string(),
        until: entry.until.map(|until| until.to_string()),
    };
    Ok(Page { items: rows.into_iter().map(item).collect(), next: page::next(rest) })
}

/// What to leave alone.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Addition {
    pub url: String,
    /// Only in this collection; in each if not given.
    #[serde(default)]
    pub collection: Option<String>,
    /// Why, for whoever wonders.
    pub reason: String,
    /// How long, like `7d`; until it is lifted if not given.
    #[serde(default, rename = "for")]
    pub span: Option<String>,
    /// Or until when: a moment, or a day, like `2027-01-31`.
    #[serde(default)]
    pub until: Option<String>,
}

/// When it ends, if somebody said so.
fn end(app: &App, span: Option<&str>, until: Option<&str>) -> Answer<Option<Time>> {
    let wrong =
        |field: &'static str| move |wrong: String| Problem::invalid(wrong.clone()).field(field, wrong);
    let span = span.map(duration).transpose().map_err(wrong("/for"))?;
    let until = until.map(period_begin).transpose().map_err(wrong("/until"))?;
    let now = app.frontier.now();
    match (span, until) {
        (Some(_), Some(_)) => Err(wrong("/until")("say how long, or until when: not both".to_owned())),
        (None, Some(until)) if until <= now => Err(wrong("/until")(format!("{until} is over already"))),
        (span, until) => Ok(until.or_else(|| span.map(|span| now.plus(span)))),
    }
}

/// What was taken out of the queue.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Added {
    pub url: String,
    #[schema(format = DateTime)]
    pub until: Option<String>,
    /// Where it was queued.
    pub collections: Vec<String>,
}

/// Take a queued URL out of the queue, for a time or until lifted
#[crate::boxed]
pub async fn add_to_blacklist(app: &App, body: Addition) -> Answer<Added> {
    let wrong =
        |field: &'static str| move |wrong: String| Problem::invalid(wrong.clone()).field(field, wrong);
    let reason = line(&body.reason).map_err(wrong("/reason"))?;
    let until = end(app, body.span.as_deref(), body.until.as_deref())?;
    let act = Act::Blacklist { reason: &reason, until };
    let (url, collections) = each(app, &act, &body.url, body.collection.as_deref()).await?;
    Ok(Added { url, until: until.map(|until| until.to_string()), collections })
}

/// What to bring back.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Lift {
    pub url: String,
    /// Only in this collection; in each if not given.
    #[serde(default)]
    pub collection: Option<String>,
}

/// What was brought back.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Lifted {
    pub url: String,
    /// Where it was blacklisted.
    pub collections: Vec<String>,
}

/// Bring a URL back into the queue, due now
#[crate::boxed]
pub async fn lift(app: &App, body: Lift) -> Answer<Lifted> {
    let (url, collections) = each(app, &Act::Lift, &body.url, body.collection.as_deref()).await?;
    Ok(Lifted { url, collections })
}

/// What to leave alone by pattern, known and new URLs alike.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    /// Each as `host:*.vg.no`, `prefix:vg.no/kalender/` or `regex:[?&]sort=`.
    pub patterns: Vec<String>,
    /// Only in this collection; in each if not given.
    #[serde(default)]
    pub collection: Option<String>,
    /// Why, for whoever wonders.
    pub reason: String,
    /// How long, like `7d`; until it is lifted if not given.
    #[serde(default, rename = "for")]
    pub span: Option<String>,
    /// Or until when: a moment, or a day, like `2027-01-31`.
    #[serde(default)]
    pub until: Option<String>,
}

/// A pattern on the blacklist.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PatternItem {
    pub pattern: String,
    /// None: in each.
    pub collection: Option<String>,
    pub reason: String,
    #[schema(format = DateTime)]
    pub since: String,
    /// None: until somebody lifts it.
    #[schema(format = DateTime)]
    pub until: Option<String>,
}

impl From<&Barred> for PatternItem {
    fn from(own: &Barred) -> PatternItem {
        PatternItem {
            pattern: own.pattern.to_string(),
            collection: own.collection.clone(),
            reason: own.reason.clone(),
            since: own.since.to_string(),
            until: own.until.map(|until| until.to_string()),
        }
    }
}

/// List the patterns on the blacklist
#[crate::boxed]
pub async fn list_patterns(app: &App, filter: Filter) -> Answer<Page<PatternItem>> {
    let limit = page::limit(filter.limit)?;
    if let Some(name) = &filter.collection {
        app.collection(name).await?;
    }
    let whole = ranges::patterns();
    let mut rest = Some(page::rest(filter.cursor.as_deref(), &whole)?);
    let mut items = Vec::new();
    while let Some(range) = rest.take_if(|_| items.len() < limit) {
        let (rows, next) = app.frontier.patterns(range, limit - items.len()).await?;
        let wanted = |own: &&Barred| match (&filter.collection, &own.collection) {
            (Some(wanted), Some(own)) => wanted == own,
            _ => true,
        };
        items.extend(rows.iter().filter(wanted).map(PatternItem::from));
        rest = next;
    }
    Ok(Page { items, next: page::next(rest) })
}

/// Leave URLs alone by pattern: what is queued leaves the queue when its turn comes, what is new is
/// not queued
#[crate::boxed]
pub async fn add_patterns(app: &App, body: Bar) -> Answer<Vec<PatternItem>> {
    let wrong = |field: String, wrong: String| Problem::invalid(wrong.clone()).field(&field, wrong);
    let reason = line(&body.reason).map_err(|text| wrong("/reason".to_owned(), text))?;
    let until = end(app, body.span.as_deref(), body.until.as_deref())?;
    if let Some(name) = &body.collection {
        app.collection(name).await?;
    }
    let since = app.frontier.now();
    let mut barred = Vec::with_capacity(body.patterns.len());
    for (at, text) in body.patterns.iter().enumerate() {
        let field = || format!("/patterns/{at}");
        if text.len() > PATTERN_BYTES_MAX {
            let bytes = text.len();
            return Err(wrong(field(), format!("{bytes} bytes long, {PATTERN_BYTES_MAX} are allowed")));
        }
        let pattern = pattern(text).map_err(|text| wrong(field(), text))?;
        let (collection, reason) = (body.collection.clone(), reason.clone());
        barred.push(Barred { pattern, collection, reason, since, until });
    }
    if barred.is_empty() {
        return Err(wrong("/patterns".to_owned(), "no pattern is given".to_owned()));
    }
    let _turn = app.edits.lock().await;
    app.look(|catalog| fits(catalog, &barred)).await??;
    let items = barred.iter().map(PatternItem::from).collect();
    app.frontier.bar(barred).await?;
    Ok(items)
}

/// Whether there is room for more patterns, and for the expressions among them in one automaton.
fn fits(catalog: &Catalog, new: &[Barred]) -> Answer<()> {
    let names: BTreeSet<String> = catalog.patterns().chain(new).map(Barred::name).collect();
    if names.len() > PATTERNS_MAX {
        let told = format!("{} patterns, and no more than {PATTERNS_MAX} are looked for", names.len());
        return Err(
            Problem::invalid(told).hint("put those of one kind into one regular expression or prefix")
        );
    }
    let collection = new.first().and_then(|own| own.collection.clone());
    let of_it = catalog.patterns().chain(new).filter(|own| own.collection == collection);
    let regexes: BTreeSet<String> = of_it
        .filter_map(|own| match &own.pattern {
            Pattern::Regex(regex) => Some(regex.source().to_owned()),
            _ => None,
        })
        .collect();
    let any_new = new.iter().any(|own| matches!(own.pattern, Pattern::Regex(_)));
    if any_new && (regexes.len() > REGEXES_MAX || !fit_together(regexes.iter())) {
        let told =
            format!("{} are too many to look for at once", counted(regexes.len(), "regular expression"));
        let hint = "hosts and prefixes cost nearly nothing: say it with those where that can be";
        return Err(Problem::invalid(told).hint(hint));
    }
    Ok(())
}

/// Which pattern to lift.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LiftPattern {
    /// As the list has it.
    pub pattern: String,
    /// That for this collection; that for all if not given.
    #[serde(default)]
    pub collection: Option<String>,
}

/// What came back with a pattern.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LiftedPattern {
    pub pattern: String,
    pub collection: Option<String>,
    /// URLs that it held, which are due now.
    pub urls: usize,
}

/// Lift a pattern: what it held comes back into the queue, due now
#[crate::boxed]
pub async fn lift_pattern(app: &App, body: LiftPattern) -> Answer<LiftedPattern> {
    let wanted =
        pattern(&body.pattern).map_err(|text| Problem::invalid(text.clone()).field("/pattern", text))?;
    let name = name_of(&wanted, body.collection.as_deref());
    let _turn = app.edits.lock().await;
    match app.frontier.unbar(&name).await? {
        Some(urls) => Ok(LiftedPattern { pattern: wanted.to_string(), collection: body.collection, urls }),
        None => {
            let problem = Problem::new(
                http::StatusCode::NOT_FOUND,
                format!("no pattern {} is on the blacklist", excerpt(&name)),
            );
            Err(problem.hint("`skurd blacklist list --patterns` lists those that are"))
        }
    }
}
