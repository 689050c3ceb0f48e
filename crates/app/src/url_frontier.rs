//! The frontier of other crawlers (page 9 of the specification): what their crawls and queues hold,
//! and the few things an operator does about them.

use std::sync::Arc;

use declare::excerpt;
use declare::given::duration;
use http::StatusCode;
use policy::time::Time;
use serde::{Deserialize, Serialize};
use urlfrontier::{CRAWL_BYTES_MAX, CrawlFigures, KEY_BYTES_MAX, QueueFigures};
use utoipa::{IntoParams, ToSchema};

use super::{Answer, App, Problem};
use crate::page::{self, Page, Paging, cursor_name, name_cursor, wrong_cursor};

/// How the frontier of other crawlers is set.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct UrlFrontierState {
    /// It hands out URLs; while it does not, it takes what is put.
    pub active: bool,
    /// Seconds between hand-outs of a queue that has no delay of its own.
    pub delay_s: u32,
    /// Where this process serves it, if it does.
    pub address: Option<String>,
}

/// A crawl of another crawler.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct CrawlItem {
    pub crawl: String,
    pub queues: u64,
    /// Those with URLs that are not completed.
    pub active_queues: u64,
    /// Those that give nothing now since they are blocked.
    pub blocked_queues: u64,
    pub urls: u64,
    /// URLs that wait, or are in process.
    pub active: u64,
    /// Handed out, and not back yet.
    pub in_process: u64,
    pub completed: u64,
    /// URLs put by way of this process, in the last minute.
    pub put_per_s: f64,
    /// URLs handed out by this process, in the last minute.
    pub handed_per_s: f64,
}

/// A queue of a crawl.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct CrawlQueueItem {
    pub key: String,
    /// URLs that wait, or are in process.
    pub active: u64,
    /// Handed out, and not back yet; at most 10,000 are counted.
    pub in_process: u64,
    pub completed: u64,
    #[schema(format = DateTime)]
    pub blocked_until: Option<String>,
    /// Seconds between hand-outs.
    pub delay_s: u32,
    /// It gives nothing once so many are completed; 0: no limit.
    pub limit: u32,
    /// When it may give something; none if it has nothing.
    #[schema(format = DateTime)]
    pub next: Option<String>,
}

/// Which queues are wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Of this crawl; `DEFAULT` if not given.
    pub crawl: Option<String>,
    /// Only those whose key begins so.
    pub key: Option<String>,
    /// Only those that are blocked now, the first to be free first.
    #[serde(default)]
    pub blocked: bool,
    /// The `next` of the page before.
    pub cursor: Option<String>,
    /// How many items at most; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
}

/// Whether it is to hand out URLs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Activity {
    pub active: bool,
}

/// A queue that is to give nothing for a while.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Block {
    #[serde(default)]
    pub crawl: String,
    pub key: String,
    /// How long, like `1h`; a block that is there ends now if not given.
    #[serde(default, rename = "for")]
    pub span: Option<String>,
}

/// What is deleted: a queue, or a crawl with all of them.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Delete {
    pub crawl: String,
    /// All of them if not given.
    #[serde(default)]
    pub key: Option<String>,
}

/// What was deleted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct DeletedUrls {
    /// URLs it had.
    pub urls: u64,
}

/// Get how the frontier of other crawlers is set
#[crate::boxed]
pub async fn get_url_frontier(app: &App) -> Answer<UrlFrontierState> {
    Ok(UrlFrontierState {
        active: app.urls.is_active().await?,
        delay_s: app.urls.usual_delay_s().await?,
        address: app.urls.served_at.get().map(ToString::to_string),
    })
}

/// Switch on or off that it hands out URLs
#[crate::boxed]
pub async fn set_url_frontier_activity(app: &App, body: Activity) -> Answer<UrlFrontierState> {
    app.urls.set_active(body.active).await?;
    get_url_frontier(app).await
}

/// List the crawls of other crawlers, by name
#[crate::boxed]
pub async fn list_crawls(app: &App, paging: Paging) -> Answer<Page<CrawlItem>> {
    let limit = page::limit(paging.limit)?;
    let behind = paging.cursor.as_deref().map(cursor_name).transpose()?;
    // URLs in process are counted one by one.
    app.heavy(move |app| async move {
        let page = app.urls.crawl_page(behind.as_deref(), limit).await?;
        let items = page.crawls.into_iter().map(|crawl| crawl_item(&app, crawl)).collect();
        Ok(Page { items, next: page.next.as_deref().map(name_cursor) })
    })
    .await
}

fn crawl_item(app: &App, CrawlFigures { name, stats, blocked_queues }: CrawlFigures) -> CrawlItem {
    let rates = app.urls.figures.rates(&name);
    let tenths = |rate: f64| (rate * 10.0).round() / 10.0;
    CrawlItem {
        crawl: name,
        queues: stats.queues,
        active_queues: stats.active_queues,
        blocked_queues,
        urls: stats.active + stats.completed,
        active: stats.active,
        in_process: stats.in_process,
        completed: stats.completed,
        put_per_s: tenths(rates.put_per_s),
        handed_per_s: tenths(rates.handed_per_s),
    }
}

/// List the queues of a crawl, by key
#[crate::boxed]
pub async fn list_crawl_queues(app: &App, filter: Filter) -> Answer<Page<CrawlQueueItem>> {
    let limit = page::limit(filter.limit)?;
    let crawl = crawl_name(filter.crawl.as_deref().unwrap_or_default())?.to_owned();
    let behind = filter.cursor.as_deref().map(cursor_name).transpose()?;
    if filter.crawl.is_some() && !app.urls.is_known(&crawl).await? {
        return Err(no_crawl(&crawl));
    }
    let prefix = filter.key.unwrap_or_default();
    let (queues, next) = if filter.blocked {
        let behind = behind.as_deref().map(until_and_key).transpose()?;
        let (queues, next) = app.urls.blocked_page(&crawl, behind, limit).await?;
        let queues = queues.into_iter().filter(|queue| queue.key.starts_with(&prefix)).collect();
        (queues, next.map(|(until, key)| format!("{until} {key}")))
    } else {
        let page = app.urls.queue_page(&crawl, &prefix, behind.as_deref(), limit).await?;
        (page.queues, page.next)
    };
    let items = queues.into_iter().map(queue_item).collect();
    Ok(Page { items, next: next.as_deref().map(name_cursor) })
}

fn until_and_key(cursor: &str) -> Answer<(u64, &str)> {
    let parts = cursor.split_once(' ').and_then(|(until, key)| Some((until.parse().ok()?, key)));
    parts.ok_or_else(wrong_cursor)
}

fn queue_item(queue: QueueFigures) -> CrawlQueueItem {
    let second = |second: u64| moment(i64::try_from(second.saturating_mul(1000)).unwrap_or(i64::MAX));
    CrawlQueueItem {
        key: queue.key,
        active: queue.active,
        in_process: queue.in_process,
        completed: queue.completed,
        blocked_until: queue.blocked_until_s.map(second),
        delay_s: queue.delay_s,
        limit: queue.limit,
        next: queue.next.map(moment),
    }
}

/// Clients may name moments that no calendar has.
fn moment(millis: i64) -> String {
    const FIRST: i64 = 0;
    const LAST: i64 = 253_402_300_799_000;
    Time(millis.clamp(FIRST, LAST)).to_string()
}

/// Let a queue give nothing for a while, or again
#[crate::boxed]
pub async fn block_crawl_queue(app: &App, body: Block) -> Answer<CrawlQueueItem> {
    let crawl = crawl_name(&body.crawl)?;
    let key = queue_key(&body.key)?;
    let wrong = |wrong: String| Problem::invalid(wrong.clone()).field("/for", wrong);
    let until = match body.span.as_deref().map(duration).transpose().map_err(wrong)? {
        None => 0,
        Some(span) => {
            // To the end of a second, so that no block is shorter than it was asked for.
            u64::try_from(app.frontier.now().plus(span).0).unwrap_or_default().div_ceil(1000)
        }
    };
    app.urls.block_until(crawl, key, until).await?;
    let page = app.urls.queue_page(crawl, key, None, 1).await?;
    let queue = page.queues.into_iter().find(|queue| queue.key == key);
    // A block is remembered of a queue that is not there yet; the end of one is not.
    queue.map(queue_item).ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "there is no such queue"))
}

/// Delete a queue with its URLs, or a crawl with its queues
#[crate::boxed]
pub async fn delete_crawl_urls(app: &App, body: Delete) -> Answer<DeletedUrls> {
    let crawl = crawl_name(&body.crawl)?;
    if !app.urls.is_known(crawl).await? {
        return Err(no_crawl(crawl));
    }
    let urls = match &body.key {
        Some(key) => app.urls.delete_queue(crawl, queue_key(key)?).await?,
        None => app.urls.delete_crawl(crawl).await?,
    };
    let others = Arc::clone(&app.urls);
    // Where nobody serves it, nobody else does. What is left of it when this process ends is nobody's, too.
    tokio::spawn(async move { while matches!(others.sweep().await, Ok(true)) {} });
    Ok(DeletedUrls { urls })
}

fn crawl_name(name: &str) -> Answer<&str> {
    urlfrontier::crawl_of(name)
        .map_err(|_| Problem::invalid(format!("the name of a crawl has at most {CRAWL_BYTES_MAX} bytes")))
}

fn queue_key(key: &str) -> Answer<&str> {
    match key.len() {
        1..=KEY_BYTES_MAX => Ok(key),
        _ => Err(Problem::invalid(format!("the key of a queue has 1 to {KEY_BYTES_MAX} bytes"))),
    }
}

fn no_crawl(name: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, format!("there is no crawl {}", excerpt(name)))
        .hint("`skurd url-frontier list` shows those there are")
}
