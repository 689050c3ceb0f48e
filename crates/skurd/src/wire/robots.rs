//! robots.txt (A3): one per scheme, host and port, read when it is due, kept in memory.
//!
//! The first order that needs it reads it, others of the same host wait for that. What was read is archived with the order that read it.
//! A server that cannot be reached at all fails the order itself, in its own way: whether robots deny it is then not the question.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use net::decode::decoded;
use net::dns::DnsRecord;
use net::exchange::Exchange;
use net::http::{Client, FetchError, FetchErrorKind, FetchLimits, Request, body};
use policy::model::Politeness;
use policy::robots::{Answer, ROBOTS_BYTES_MAX, Robots, Says, Standing};
use policy::schedule::politeness_delay;
use policy::time::{Span, Time};
use policy::url::{CrawlUrl, UrlRules, normalise};
use tokio::sync::Mutex;

/// Servers whose robots.txt is kept.
const SERVERS_MAX: usize = 20_000;
/// RFC 9309: at least five redirects are followed.
const REDIRECTS_MAX: usize = 5;
/// Wire bytes read of it: what is parsed, and room for its packing.
const WIRE_BYTES_MAX: u64 = 1 << 20;

type Kept = Arc<Mutex<Option<Entry>>>;

/// What is known of the robots.txt of each server, for each name it may know us by.
#[derive(Default)]
pub(super) struct RobotsCache {
    servers: parking_lot::Mutex<HashMap<(String, String), Kept>>,
}

struct Entry {
    standing: Standing,
    robots: Robots,
}

/// What robots.txt says of one URL.
pub(super) struct Ruling {
    pub(super) allowed: bool,
    /// Why not, in a sentence.
    pub(super) because: Option<String>,
    pub(super) next_read: Time,
    pub(super) crawl_delay: Option<Span>,
    /// Whether the URL is one of the sitemaps it names.
    pub(super) names_as_sitemap: bool,
    /// Where it was read for this: what came over the wire, and the sitemaps it names.
    pub(super) reading: Option<Reading>,
}

pub(super) struct Reading {
    pub(super) exchanges: Vec<(Exchange, Option<DnsRecord>)>,
    pub(super) sitemaps: Vec<CrawlUrl>,
    pub(super) took: Span,
}

/// How to ask for it.
pub(super) struct Asker<'a> {
    pub(super) client: &'a Client,
    pub(super) user_agent: &'a str,
    /// The name whose rules are obeyed.
    pub(super) agent: &'a str,
    pub(super) limits: FetchLimits,
    pub(super) politeness: &'a Politeness,
    pub(super) now: Time,
}

impl RobotsCache {
    pub(super) async fn ask(&self, asker: &Asker<'_>, url: &CrawlUrl) -> Result<Ruling, FetchError> {
        let origin = origin(url);
        let kept = self.entry(&origin, asker.agent);
        let mut entry = kept.lock().await;
        let due = entry.as_ref().is_none_or(|entry| entry.standing.is_due(asker.now));
        let mut reading = None;
        if due {
            let before = entry.take();
            match read(asker, &origin, before).await {
                (Ok(found), done) => {
                    *entry = Some(found);
                    reading = Some(done);
                }
                (Err(error), _) => return Err(error),
            }
        }
        let Some(entry) = entry.as_ref() else {
            let reason = "robots.txt was not read".to_owned();
            return Err(FetchError {
                kind: FetchErrorKind::Local,
                reason,
                at: asker.now,
                elapsed: Span::ZERO,
            });
        };
        Ok(entry.ruling(url, reading))
    }

    fn entry(&self, origin: &str, agent: &str) -> Kept {
        let mut servers = self.servers.lock();
        if servers.len() >= SERVERS_MAX {
            // Those in use stay; the rest is read again when it is needed.
            let mut keep = false;
            servers.retain(|_, kept| {
                keep = !keep;
                keep || Arc::strong_count(kept) > 1
            });
        }
        Arc::clone(servers.entry((origin.to_owned(), agent.to_owned())).or_default())
    }
}

impl Entry {
    fn ruling(&self, url: &CrawlUrl, mut reading: Option<Reading>) -> Ruling {
        let verdict = self.robots.verdict(url.path_and_query());
        let (allowed, because) = match self.standing.says {
            Says::AllowAll => (true, None),
            Says::DenyAll => (false, Some("robots.txt cannot be had, so nothing may be fetched".to_owned())),
            Says::Rules => (verdict.is_allowed(), (!verdict.is_allowed()).then(|| verdict.to_string())),
        };
        let rules = self.standing.says == Says::Rules;
        // They may be relative, and this is what they are relative to.
        let sitemaps = self.robots.sitemaps().iter().filter(|_| rules);
        let sitemaps: Vec<CrawlUrl> =
            sitemaps.filter_map(|sitemap| normalise(sitemap, Some(url), &UrlRules::default()).ok()).collect();
        let names_as_sitemap = sitemaps.contains(url);
        if let Some(reading) = &mut reading {
            reading.sitemaps = sitemaps;
        }
        Ruling {
            allowed,
            because,
            next_read: self.standing.next_read,
            crawl_delay: self.robots.crawl_delay().filter(|_| rules),
            names_as_sitemap,
            reading,
        }
    }
}

/// Reads it, redirects followed. An error is one that says nothing about robots.
async fn read(
    asker: &Asker<'_>,
    origin: &str,
    before: Option<Entry>,
) -> (Result<Entry, FetchError>, Reading) {
    let mut reading = Reading { exchanges: Vec::new(), sitemaps: Vec::new(), took: Span::ZERO };
    let rules = UrlRules::default();
    let mut answer = Answer::LostInRedirects;
    let mut text = Vec::new();
    let Ok(mut target) = CrawlUrl::from_normal(format!("{origin}/robots.txt")) else {
        return (
            Ok(Entry { standing: Standing::after(answer, asker.now, None), robots: Robots::parse(b"", "") }),
            reading,
        );
    };
    for _ in 0..=REDIRECTS_MAX {
        let headers = [
            ("User-Agent", asker.user_agent),
            ("Accept", "text/plain,*/*;q=0.5"),
            ("Accept-Encoding", "gzip"),
        ];
        let limits = FetchLimits { bytes: asker.limits.bytes.min(WIRE_BYTES_MAX), ..asker.limits };
        let fetched = asker.client.fetch(&Request { url: &target, headers: &headers, limits: &limits }).await;
        let exchange = match fetched.result {
            Ok(exchange) => exchange,
            Err(error) if reading.exchanges.is_empty() && !says_something(error.kind) => {
                return (Err(error), reading);
            }
            Err(_) => {
                answer = Answer::None;
                break;
            }
        };
        reading.took = exchange.total;
        let status = exchange.head.status;
        let location = exchange.head.header("location").map(|to| to.into_owned());
        let is_redirect = matches!(status, 301 | 302 | 303 | 307 | 308);
        answer = Answer::Status(status);
        if (200..300).contains(&status) {
            let max = ROBOTS_BYTES_MAX as u64;
            let unpacked = decoded(exchange.head.all("content-encoding"), body(&exchange), max);
            // What cannot be read any further is no reason to refuse what could.
            let _ = unpacked.take(max).read_to_end(&mut text);
        }
        reading.exchanges.push((exchange, fetched.dns));
        match location.filter(|_| is_redirect) {
            Some(to) => {
                answer = Answer::LostInRedirects;
                let Ok(next) = normalise(&to, Some(&target), &rules) else { break };
                target = next;
                // Most often it is the same host.
                let pause = politeness_delay(reading.took, asker.politeness, None, None);
                tokio::time::sleep(Duration::from_millis(pause.0)).await;
            }
            None => break,
        }
    }
    let standing = Standing::after(answer, asker.now, before.as_ref().map(|before| before.standing));
    let is_new = matches!(answer, Answer::Status(200..=299));
    let robots = match before {
        Some(before) if !is_new => before.robots,
        _ => Robots::parse(&text, asker.agent),
    };
    (Ok(Entry { standing, robots }), reading)
}

/// Whether a failure to read robots.txt tells anything about robots; if not, it is the host's.
fn says_something(kind: FetchErrorKind) -> bool {
    matches!(kind, FetchErrorKind::Timeout | FetchErrorKind::Broken | FetchErrorKind::Limit)
}

/// Scheme, host and port: what a robots.txt is for.
fn origin(url: &CrawlUrl) -> String {
    let text = url.as_str();
    text[..text.len() - url.path_and_query().len()].to_owned()
}
