//! `skurd url-frontier`: what other crawlers' crawls and queues hold, and what to do about it.

use anyhow::Result;
use app::url_frontier::{Activity, Block, CrawlItem, CrawlQueueItem, Delete, DeletedUrls, UrlFrontierState};
use axum::http::Method;
use declare::counted;
use serde::Serialize;
use serde::de::DeserializeOwned;
use server::client::{Call, Client};

use super::listing::{Listing, given};
use crate::args::look::UrlFrontierCommand;
use crate::args::value::DataDir;
use crate::output::{Column, left, line, right, shown};

const CRAWLS: [Column<CrawlItem>; 8] = [
    left("crawl", |crawl| shown(&crawl.crawl)),
    right("urls", |crawl| shown(crawl.urls)),
    right("in process", |crawl| shown(crawl.in_process)),
    right("completed", |crawl| shown(crawl.completed)),
    right("queues", |crawl| shown(crawl.queues)),
    right("blocked", |crawl| shown(crawl.blocked_queues)),
    right("put/s", |crawl| shown(crawl.put_per_s)),
    right("handed out/s", |crawl| shown(crawl.handed_per_s)),
];

const QUEUES: [Column<CrawlQueueItem>; 7] = [
    left("queue", |queue| shown(&queue.key)),
    right("active", |queue| shown(queue.active)),
    right("in process", |queue| shown(queue.in_process)),
    right("completed", |queue| shown(queue.completed)),
    right("delay", |queue| format!("{} s", queue.delay_s)),
    left("next", |queue| shown(queue.next.as_deref().unwrap_or("-"))),
    left("blocked until", |queue| shown(queue.blocked_until.as_deref().unwrap_or("-"))),
];

pub(crate) fn run(command: &UrlFrontierCommand) -> Result<()> {
    use UrlFrontierCommand as Command;
    match command {
        Command::List { data, json } => {
            let path = "url-frontier/crawls";
            let listing = Listing { path, query: Vec::new(), limit: None, json: *json, columns: &CRAWLS };
            listing.print_or(&data.dir, "no other crawler has URLs here")
        }
        Command::Queues { crawl, key, blocked, limit, data, json } => {
            let blocked = blocked.then(|| "true".to_owned());
            let query = given([("crawl", Some(crawl.clone())), ("key", key.clone()), ("blocked", blocked)]);
            let path = "url-frontier/queues";
            let listing = Listing { path, query, limit: *limit, json: *json, columns: &QUEUES };
            listing.print_or(&data.dir, "no queue is like that just now")
        }
        Command::Block { crawl, key, span, data, json } => block(data, crawl, key, Some(span.clone()), *json),
        Command::Unblock { crawl, key, data, json } => block(data, crawl, key, None, *json),
        Command::Delete { crawl, key, data, json } => {
            let wanted = Delete { crawl: crawl.clone(), key: key.clone() };
            let what = key
                .as_ref()
                .map_or_else(|| format!("crawl {crawl}"), |key| format!("queue {key} of {crawl}"));
            told(data, Method::POST, "url-frontier/delete", &wanted, *json, |deleted: DeletedUrls| {
                format!(
                    "{what} is deleted, with {}",
                    counted(usize::try_from(deleted.urls).unwrap_or(usize::MAX), "URL")
                )
            })
        }
        Command::Activate { data, json } => activity(data, true, *json),
        Command::Deactivate { data, json } => activity(data, false, *json),
    }
}

fn block(data: &DataDir, crawl: &str, key: &str, span: Option<String>, json: bool) -> Result<()> {
    let wanted = Block { crawl: crawl.to_owned(), key: key.to_owned(), span };
    told(data, Method::POST, "url-frontier/block", &wanted, json, |queue: CrawlQueueItem| {
        match &queue.blocked_until {
            Some(until) => format!("{key} of {crawl} is blocked until {until}"),
            None => format!("{key} of {crawl} is not blocked"),
        }
    })
}

fn activity(data: &DataDir, active: bool, json: bool) -> Result<()> {
    let path = "url-frontier/activity";
    told(data, Method::PUT, path, &Activity { active }, json, |state: UrlFrontierState| match state.active {
        true => "URLs are handed out".to_owned(),
        false => "no URL is handed out until it is activated".to_owned(),
    })
}

/// Asks, and says what came of it.
fn told<T: DeserializeOwned>(
    data: &DataDir,
    method: Method,
    path: &str,
    wanted: &impl Serialize,
    json: bool,
    say: impl FnOnce(T) -> String,
) -> Result<()> {
    let call = Call::new(method, path).body(&serde_json::to_value(wanted)?);
    let client = Client::open(&data.dir)?;
    if json {
        let answer: serde_json::Value = client.ask(&call)?;
        return line(answer);
    }
    line(say(client.ask(&call)?))
}
