//! The frontier of other crawlers: their crawls, and the queues of one.

use app::url_frontier::{
    Activity, Block, CrawlItem, CrawlQueueItem, Filter, UrlFrontierState, block_crawl_queue,
    get_url_frontier, list_crawl_queues, list_crawls, set_url_frontier_activity,
};
use app::{Answer, App, Paging};
use maud::{Markup, html};

use super::address::href;
use super::forms::{Face, Filled};
use super::layout::{Search, Table, Visit, badge, command, empty, facts, tabs};
use super::text::{number, shown, time_or_dash};
use crate::Shown;

const ROWS: usize = 50;
/// What the button says to a queue.
const BLOCKED_FOR: &str = "1h";

pub(super) async fn show(visit: Visit) -> Shown {
    match visit.given("crawl") {
        Some(crawl) => queues(visit, crawl).await,
        None => crawls(visit).await,
    }
}

async fn crawls(visit: Visit) -> Shown {
    let state = get_url_frontier(&visit.site.app).await?;
    let paging = Paging { cursor: visit.given("cursor"), limit: Some(ROWS) };
    let crawls = list_crawls(&visit.site.app, paging).await?;
    let table = Table::new("Crawls", &crawls.items)
        .name(
            "Crawl",
            |crawl| html! { a href=(href("/crawls", &[("crawl", &crawl.crawl)])) { (shown(&crawl.crawl)) } },
        )
        .figures("URLs", |crawl| number(crawl.urls))
        .figures("Waiting", |crawl| number(crawl.active.saturating_sub(crawl.in_process)))
        .figures("In process", |crawl| number(crawl.in_process))
        .figures("Completed", |crawl| number(crawl.completed))
        .figures("Queues", queue_counts)
        .figures("Blocked", |crawl| number(crawl.blocked_queues))
        .figures("Put / s", |crawl| rate(crawl.put_per_s))
        .figures("Handed out / s", |crawl| rate(crawl.handed_per_s));
    let main = html! {
        div.title { h1 { "Other crawlers" } (switch(&visit, &state)) }
        p.lead { "URLs that StormCrawler, Scrapy and others keep here and judge by themselves, over the API of URL Frontier." }
        (facts(&[
            ("State", if state.active { badge("good", "handing out") } else { badge("warn", "deactivated") }),
            ("Served at", html! { @match &state.address { Some(address) => (shown(address)), None => span.faint { "nowhere by this process" } } }),
            ("Usual delay", html! { (number(state.delay_s.into())) " s" }),
        ]))
        (table.or(nothing(&state)))
        (visit.pager("cursor", crawls.next.as_deref()))
        p.faint { "Rates are of this process, in the last minute. A crawl is deleted with " (command("skurd url-frontier delete CRAWL")) }
    };
    Ok(visit.page("Other crawlers", main))
}

fn queue_counts(crawl: &CrawlItem) -> Markup {
    html! { (number(crawl.queues)) @if crawl.active_queues < crawl.queues { br; span.faint { (number(crawl.active_queues)) " active" } } }
}

fn rate(per_s: f64) -> String {
    format!("{per_s:.1}")
}

fn switch(visit: &Visit, state: &UrlFrontierState) -> Markup {
    let (word, label) = if state.active { ("deactivate", "Deactivate") } else { ("activate", "Activate") };
    visit.button("/act/crawls", &[("do", word)], &Face::plain(label, "the frontier of other crawlers"))
}

fn nothing(state: &UrlFrontierState) -> Markup {
    let next = match state.address {
        Some(_) => html! { p { "One is there as soon as a client puts a URL." } },
        None => html! { p { "Serve it to them: " (command("skurd serve --url-frontier 127.0.0.1:7071")) } },
    };
    empty("No other crawler has URLs here.", next)
}

async fn queues(visit: Visit, crawl: String) -> Shown {
    let blocked = visit.asked("blocked").is_some();
    let filter = Filter {
        crawl: Some(crawl.clone()),
        key: visit.given("key"),
        blocked,
        cursor: visit.given("cursor"),
        limit: Some(ROWS),
    };
    let queues = list_crawl_queues(&visit.site.app, filter).await?;
    let table = Table::new("Queues", &queues.items)
        .name("Queue", |queue| shown(&queue.key))
        .column("State", state)
        .column("Next", |queue| time_or_dash(queue.blocked_until.as_deref().or(queue.next.as_deref())))
        .figures("Waiting", |queue| number(queue.active.saturating_sub(queue.in_process)))
        .figures("In process", |queue| number(queue.in_process))
        .figures("Completed", completed)
        .figures("Delay", |queue| format!("{} s", queue.delay_s))
        .buttons(|queue| block_button(&visit, &crawl, queue));
    let main = html! {
        div.title { h1 { (shown(&crawl)) } }
        p.lead { "The queues of a crawl of " a href="/crawls" { "another crawler" } ", by key: what each holds, and when it may give something." }
        (Search {
            action: "/crawls", name: "key", label: "Beginning of a key", value: visit.asked("key").unwrap_or_default(),
            hint: "example.org", button: "Filter", kept: &[("crawl", &crawl), ("blocked", if blocked { "yes" } else { "" })],
        }.show())
        (tabs("Which queues", [("All", visit.with("blocked", ""), !blocked), ("Blocked now", visit.with("blocked", "yes"), blocked)]))
        (table.or(empty("No queue is like that just now.", html! {})))
        (visit.pager("cursor", queues.next.as_deref()))
        p.faint { "A queue is deleted with " (command("skurd url-frontier delete CRAWL --key KEY")) }
    };
    Ok(visit.page("Queues", main))
}

fn state(queue: &CrawlQueueItem) -> Markup {
    match queue {
        CrawlQueueItem { blocked_until: Some(_), .. } => badge("warn", "blocked"),
        queue if queue.limit > 0 && queue.completed >= u64::from(queue.limit) => {
            badge("calm", "at its limit")
        }
        CrawlQueueItem { active: 0, .. } => badge("plain", "nothing left"),
        CrawlQueueItem { in_process: 1.., .. } => badge("calm", "in process"),
        _ => badge("good", "waiting"),
    }
}

fn completed(queue: &CrawlQueueItem) -> Markup {
    html! { (number(queue.completed)) @if queue.limit > 0 { br; span.faint { "of " (number(queue.limit.into())) } } }
}

fn block_button(visit: &Visit, crawl: &str, queue: &CrawlQueueItem) -> Markup {
    let (word, label) = match queue.blocked_until {
        Some(_) => ("unblock", "Unblock"),
        None => ("block", "Block 1 h"),
    };
    let fields = [("do", word), ("crawl", crawl), ("key", queue.key.as_str())];
    visit.button("/act/crawls", &fields, &Face::plain(label, &queue.key))
}

/// What a button asks for.
#[derive(Clone, Copy)]
enum Asked {
    Activate(bool),
    Block(bool),
}

pub(super) async fn change(app: &App, filled: &Filled) -> Answer<String> {
    let words = [
        ("activate", Asked::Activate(true)),
        ("deactivate", Asked::Activate(false)),
        ("block", Asked::Block(true)),
        ("unblock", Asked::Block(false)),
    ];
    match super::act::one_of(filled.get("do"), &words)? {
        Asked::Activate(active) => {
            set_url_frontier_activity(app, Activity { active }).await?;
            Ok(if active { "URLs are handed out" } else { "no URL is handed out until it is activated" }
                .to_owned())
        }
        Asked::Block(is_block) => {
            let (crawl, key) = (filled.get("crawl").to_owned(), filled.get("key").to_owned());
            let span = is_block.then(|| BLOCKED_FOR.to_owned());
            let queue = block_crawl_queue(app, Block { crawl, key, span }).await?;
            Ok(match queue.blocked_until {
                Some(until) => format!("{} is blocked until {until}", queue.key),
                None => format!("{} is blocked no more", queue.key),
            })
        }
    }
}
