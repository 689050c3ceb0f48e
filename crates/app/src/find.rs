//! Looking something up that somebody knows a part of: URLs, hosts, what is declared, captures.

use frontier::ranges;
use policy::catalog::Catalog;

use super::captures::{self, CaptureItem, list_captures};
use super::queue::{QueueItem, item};
use super::{Answer, App, Kind};

/// Of each sort.
const FOUND_MAX: usize = 10;
/// Rows that are looked at for URLs, of each range.
const ROWS_MAX: usize = 500;
const HOST_ROWS_MAX: usize = 2000;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// What was asked for, where it is a URL.
    pub url: Option<String>,
    /// Known URLs that are, or begin with, what was asked for.
    pub urls: Vec<QueueItem>,
    /// Hosts with this in their name, among those that have URLs.
    pub hosts: Vec<String>,
    /// Names with this in them, and seeds with a URL that has it.
    pub declared: Vec<(Kind, String)>,
    pub walks: Vec<String>,
    /// Of URLs that begin with it.
    pub captures: Vec<CaptureItem>,
}

impl Found {
    pub fn is_empty(&self) -> bool {
        let Found { url: _, urls, hosts, declared, walks, captures } = self;
        urls.is_empty() && hosts.is_empty() && declared.is_empty() && walks.is_empty() && captures.is_empty()
    }
}

/// What there is that has this in its name, or begins with it.
#[crate::boxed]
pub async fn find(app: &App, text: &str) -> Answer<Found> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Found::default());
    }
    let part = text.to_lowercase();
    let (declared, walks) = app.look(|catalog| (named(catalog, &part), walks(catalog, &part))).await?;
    let url = url(app, text).await;
    let mut found = Found { declared, walks, ..Found::default() };
    found.hosts = hosts(app, &part).await?;
    if let Some(url) = &url {
        found.urls = urls(app, url, text).await?;
        let filter = captures::Filter {
            prefix: Some(url.clone()),
            limit: Some(FOUND_MAX),
            ..captures::Filter::default()
        };
        // Not everything that is a URL can be the beginning of one.
        found.captures = list_captures(app, filter).await.map(|page| page.items).unwrap_or_default();
    }
    // Who typed no scheme means the URL there is.
    let known = found.urls.first().map(|item| item.url.clone());
    found.url = url.map(|url| known.filter(|known| bare(known) == bare(&url)).unwrap_or(url));
    Ok(found)
}

/// Without scheme and `www.`.
fn bare(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.strip_prefix("www.").unwrap_or(rest)
}

/// The text as a URL, with the scheme that most have where it has none; none if it has no dot either.
async fn url(app: &App, text: &str) -> Option<String> {
    let with_scheme = match text {
        text if text.contains("://") => text.to_owned(),
        text if text.contains('.') && !text.contains(char::is_whitespace) => format!("https://{text}"),
        _ => return None,
    };
    app.url(&with_scheme).await.ok().map(|url| url.as_str().to_owned())
}

fn named(catalog: &Catalog, part: &str) -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    for kind in [Kind::Collection, Kind::Profile, Kind::Group, Kind::Seed] {
        let is_it = |name: &&str| {
            let of_seed =
                || catalog.seed(name).is_some_and(|entry| entry.seed.url.to_lowercase().contains(part));
            name.to_lowercase().contains(part) || (kind == Kind::Seed && of_seed())
        };
        let mut names: Vec<&str> = kind.names(catalog).into_iter().filter(is_it).collect();
        // What is called just so comes first.
        names.sort_by_key(|name| (name.to_lowercase() != part, *name));
        found.extend(names.into_iter().take(FOUND_MAX).map(|name| (kind, name.to_owned())));
    }
    found
}

fn walks(catalog: &Catalog, part: &str) -> Vec<String> {
    let is_it = |name: &&String| name.to_lowercase().contains(part);
    let mut names: Vec<&String> = catalog.walks().map(|walk| &walk.name).filter(is_it).collect();
    names.sort();
    names.into_iter().take(FOUND_MAX).cloned().collect()
}

async fn hosts(app: &App, part: &str) -> Answer<Vec<String>> {
    // Of a whole address, its host.
    let host = part.split("://").last().unwrap_or(part).split(['/', '?', '#']).next().unwrap_or(part);
    let host = host.strip_prefix("www.").unwrap_or(host);
    if host.is_empty() {
        return Ok(Vec::new());
    }
    let (rows, _) = app.frontier.hosts(None, HOST_ROWS_MAX).await?;
    let mut names: Vec<String> =
        rows.into_iter().map(|row| row.host).filter(|name| name.contains(host)).collect();
    names.sort_by_key(|name| (name != host, name.clone()));
    names.truncate(FOUND_MAX);
    Ok(names)
}

/// Whatever their scheme and whether with `www.` or not.
async fn urls(app: &App, url: &str, text: &str) -> Answer<Vec<QueueItem>> {
    let parsed = app.url(url).await?;
    // Whoever typed half a name means what begins so.
    let wanted = match text.ends_with('/') {
        true => bare(url),
        false => bare(url).trim_end_matches('/'),
    };
    let mut found = Vec::new();
    for collection in app.frontier.collections_with_urls().await? {
        for range in ranges::urls_of_site(&collection, parsed.site()) {
            let (rows, _) = app.frontier.urls(None, Some(range), ROWS_MAX).await?;
            found.extend(rows.iter().filter(|row| bare(&row.url).starts_with(wanted)).map(item));
        }
    }
    found.sort_by_key(|item| (bare(&item.url) != bare(url), item.url.len()));
    found.truncate(FOUND_MAX);
    Ok(found)
}
