//! The URLs that are known, page by page; and moving them.

use declare::given::from_now;
use declare::{Data, TextRule, read_text};
use frontier::{QueueRow, State as UrlState, ranges};
use policy::time::Time;
use policy::url::UrlRules;
use serde::{Deserialize, Serialize};
use store::table::KeyRange;
use utoipa::{IntoParams, ToSchema};

use super::urls::{Act, each};
use super::{Answer, App, Problem};
use crate::page::{self, Listing, Page};

/// A URL in a collection. Scripts rely on exactly these fields (page 6).
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct QueueItem {
    pub collection: String,
    pub url: String,
    pub host: String,
    /// None where only the fact is remembered that it is done, as with all that can be none here.
    pub seed: Option<String>,
    pub depth: Option<u32>,
    pub hops: Option<u32>,
    #[schema(format = DateTime)]
    pub due: Option<String>,
    #[schema(format = DateTime)]
    pub last_fetch: Option<String>,
    pub errors: Option<u32>,
    pub not_found: Option<u32>,
    pub cycles: Option<u32>,
    pub state: Word,
}

/// Where a URL stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    Queued,
    InFlight,
    Done,
    Blacklisted,
}

impl Word {
    pub const ALL: [Word; 4] = [Word::Queued, Word::InFlight, Word::Done, Word::Blacklisted];

    pub fn parse(text: &str) -> Answer<Word> {
        let found = Word::ALL.into_iter().find(|word| word.as_str() == text);
        found.ok_or_else(|| {
            Problem::bad_request("this is no state of a URL").hint(Word::ALL.map(Word::as_str).join(", "))
        })
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Word::Queued => "queued",
            Word::InFlight => "in-flight",
            Word::Done => "done",
            Word::Blacklisted => "blacklisted",
        }
    }
}

/// Which URLs are wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Only of this collection.
    pub collection: Option<String>,
    /// Only of this host; what is queued comes first, in the order of due times.
    pub host: Option<String>,
    /// Only in this state.
    pub state: Option<Word>,
    /// The `next` of the page before.
    pub cursor: Option<String>,
    /// How many items at most; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
}

/// List the URLs that are known, with their state
#[crate::boxed]
pub async fn list_queue(app: &App, filter: Filter) -> Answer<Page<QueueItem>> {
    let limit = page::limit(filter.limit)?;
    if let Some(name) = &filter.collection {
        app.collection(name).await?;
    }
    let host = filter.host.as_deref().map(host_name).transpose()?;
    // What is queued of a host comes first, in the order of due times.
    let queue = host.as_deref().filter(|_| !matches!(filter.state, Some(Word::Done | Word::Blacklisted)));
    let mut ranges: Vec<KeyRange> = queue.map(ranges::queue).into_iter().collect();
    match &host {
        None => ranges.push(ranges::urls(filter.collection.as_deref())),
        Some(_) if matches!(filter.state, Some(Word::Queued | Word::InFlight)) => {}
        Some(host) => {
            let collections = app.collections(filter.collection.as_deref()).await?;
            ranges.extend(collections.iter().flat_map(|name| ranges::urls_of_site(name, host)));
        }
    }
    let mut list = Listing::begin(filter.cursor.as_deref(), limit, ranges)?;
    while let Some((range, rest, limit)) = list.next()? {
        let queue = queue.filter(|_| range == 0);
        let (rows, rest) = match queue {
            Some(host) => app.frontier.queue_of(host, Some(rest), limit).await?,
            None => app.frontier.urls(None, Some(rest), limit).await?,
        };
        let shown_before = |row: &QueueRow| {
            host.is_some() && queue.is_none() && matches!(row.state, UrlState::Queued | UrlState::InFlight)
        };
        let is_wanted = |row: &&QueueRow| {
            !shown_before(row)
                && filter.collection.as_ref().is_none_or(|name| *name == row.collection)
                && filter.state.is_none_or(|state| state == word(row.state))
        };
        list.take(rows.len(), rows.iter().filter(is_wanted).map(item), rest);
    }
    Ok(list.page())
}

/// A host as the queue spells it.
pub(crate) fn host_name(text: &str) -> Answer<String> {
    match read_text(text, TextRule::Host, &UrlRules::default()) {
        Ok(Data::Text(host)) => Ok(host),
        Ok(_) => Err(Problem::bad_request("this is no host")),
        Err(wrong) => Err(Problem::bad_request(wrong.what).hint(wrong.hint)),
    }
}

fn word(state: UrlState) -> Word {
    match state {
        UrlState::Queued => Word::Queued,
        UrlState::InFlight => Word::InFlight,
        UrlState::Done => Word::Done,
        UrlState::Blacklisted => Word::Blacklisted,
    }
}

pub(crate) fn item(row: &QueueRow) -> QueueItem {
    let record = row.record.as_ref();
    let text = |time: Option<Time>| time.map(|time| time.to_string());
    QueueItem {
        collection: row.collection.clone(),
        url: row.url.clone(),
        host: row.host.clone(),
        seed: record.map(|record| record.seed.clone()),
        depth: record.map(|record| record.position.depth),
        hops: record.map(|record| record.position.hops),
        due: text(record.filter(|_| row.state != UrlState::Blacklisted).map(|record| record.due)),
        last_fetch: text(record.and_then(|record| record.last).map(|last| last.at)),
        errors: record.map(|record| record.errors),
        not_found: record.map(|record| record.not_found),
        cycles: record.map(|record| record.cycles),
        state: word(row.state),
    }
}

/// A URL and when it is to be harvested.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Move {
    pub url: String,
    /// Only in this collection; in each if not given.
    #[serde(default)]
    pub collection: Option<String>,
    /// `now`, or how long from now, like `2d`.
    pub to: String,
}

/// What was done to a URL.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Moved {
    pub url: String,
    #[schema(format = DateTime)]
    pub due: String,
    /// Where it was queued.
    pub collections: Vec<String>,
}

/// Move a queued URL to another due time
#[crate::boxed]
pub async fn move_url(app: &App, body: Move) -> Answer<Moved> {
    let to = from_now(&body.to).map_err(|wrong| Problem::invalid(wrong.clone()).field("/to", wrong))?;
    let due = app.frontier.now().plus(to);
    let (url, collections) = each(app, &Act::Move { due }, &body.url, body.collection.as_deref()).await?;
    Ok(Moved { url, due: due.to_string(), collections })
}
