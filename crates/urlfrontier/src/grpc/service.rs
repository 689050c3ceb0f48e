//! The calls, and the way from a request to its call.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use prost::Message;
use store::Error;
use subtle::ConstantTimeEq;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

use super::messages::*;
use super::puts::{self, Puts};
use crate::item::Malformed;
use crate::{Filter, Listed, UrlFrontier, Wanted, crawl_of, key_of};

/// Lists without a size.
const SIZE: usize = 100;
/// URLs of a list that wait for the client.
const LISTED_AHEAD: usize = 256;

pub(super) struct Inner {
    pub(super) frontier: Arc<UrlFrontier>,
    pub(super) puts: Puts,
    /// None: whoever reaches it may ask.
    pub(super) token: Option<String>,
    pub(super) address: String,
}

#[derive(Clone)]
pub(super) struct Service(pub(super) Arc<Inner>);

impl NamedService for Service {
    const NAME: &'static str = "urlfrontier.URLFrontier";
}

#[allow(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
fn failed(error: Error) -> Status {
    match error {
        Error::Corrupt(_) | Error::TooLarge { .. } => Status::internal(error.to_string()),
        _ => Status::unavailable(error.to_string()),
    }
}

fn refused(wrong: Malformed) -> Status {
    Status::invalid_argument(wrong.to_string())
}

fn crawl(name: &str) -> Result<&str, Status> {
    crawl_of(name).map_err(refused)
}

/// A key that was given, held against the limits.
fn queue_key(key: &str) -> Result<&str, Status> {
    match key.len() {
        0 => Err(Status::invalid_argument("the key of a queue is wanted")),
        long if long > crate::item::KEY_BYTES_MAX => Err(refused(Malformed::KeyTooLong)),
        _ => Ok(key),
    }
}

fn given(key: &str) -> Option<String> {
    (!key.is_empty()).then(|| key.to_owned())
}

fn info(crawl: &str, key: &str, url: String, metadata: Vec<u8>) -> UrlInfo {
    let metadata = Metadata::decode(Bytes::from(metadata)).unwrap_or_default().entries;
    let (key, crawl) = (Bytes::copy_from_slice(key.as_bytes()), Bytes::copy_from_slice(crawl.as_bytes()));
    UrlInfo { url: url.into(), key, metadata, crawl }
}

fn listed(crawl: &str, url: Listed) -> UrlItem {
    let Listed { key, url, metadata, created_s, date_s } = url;
    let info = Some(info(crawl, &key, url, metadata));
    let known = Known { info, refetchable_from_date: date_s };
    UrlItem { item: Some(News::Known(known)), id: Bytes::new(), creation_date: created_s }
}

fn empty(done: Result<(), Error>) -> Result<Empty, Status> {
    done.map(|()| Empty {}).map_err(failed)
}

fn long(done: Result<u64, Error>) -> Result<Long, Status> {
    done.map(|value| Long { value }).map_err(failed)
}

impl Inner {
    async fn list_nodes(&self, _: Empty) -> Result<StringList, Status> {
        Ok(StringList { values: vec![self.address.clone()] })
    }

    async fn list_crawls(&self, _: Local) -> Result<StringList, Status> {
        Ok(StringList { values: self.frontier.crawls().await.map_err(failed)? })
    }

    async fn delete_crawl(&self, asked: DeleteCrawlMessage) -> Result<Long, Status> {
        long(self.frontier.delete_crawl(crawl(&asked.value)?).await)
    }

    async fn list_queues(&self, asked: Pagination) -> Result<QueueList, Status> {
        let crawl = crawl(&asked.crawl)?;
        let size = if asked.size == 0 { SIZE } else { asked.size as usize };
        let start = asked.start as usize;
        let listed = self.frontier.list_queues(crawl, start, size, asked.include_inactive).await;
        let values = listed.map_err(failed)?;
        let total = self.frontier.stats(crawl, None).await.map_err(failed)?.queues;
        let size = u32::try_from(values.len()).unwrap_or(u32::MAX);
        Ok(QueueList { values, total, start: asked.start, size, crawl: crawl.to_owned() })
    }

    async fn get_stats(&self, asked: QueueWithinCrawlParams) -> Result<Stats, Status> {
        let crawl = crawl(&asked.crawl)?;
        let stats = self.frontier.stats(crawl, given(&asked.key).as_deref()).await.map_err(failed)?;
        Ok(Stats {
            size: stats.active,
            in_process: u32::try_from(stats.in_process).unwrap_or(u32::MAX),
            counts: [
                ("completed".to_owned(), stats.completed),
                ("active_queues".to_owned(), stats.active_queues),
            ]
            .into(),
            number_of_queues: stats.queues,
            crawl: crawl.to_owned(),
        })
    }

    async fn delete_queue(&self, asked: QueueWithinCrawlParams) -> Result<Long, Status> {
        long(self.frontier.delete_queue(crawl(&asked.crawl)?, queue_key(&asked.key)?).await)
    }

    async fn block_queue_until(&self, asked: BlockQueueParams) -> Result<Empty, Status> {
        let (crawl, key) = (crawl(&asked.crawl)?, queue_key(&asked.key)?);
        empty(self.frontier.block_until(crawl, key, asked.time).await)
    }

    async fn set_delay(&self, asked: QueueDelayParams) -> Result<Empty, Status> {
        let key = if asked.key.is_empty() { "" } else { queue_key(&asked.key)? };
        empty(self.frontier.set_delay(crawl(&asked.crawl)?, key, asked.delay_requestable).await)
    }

    async fn set_crawl_limit(&self, asked: CrawlLimitParams) -> Result<Empty, Status> {
        empty(self.frontier.set_limit(crawl(&asked.crawl)?, queue_key(&asked.key)?, asked.limit).await)
    }

    async fn set_active(&self, asked: Active) -> Result<Empty, Status> {
        empty(self.frontier.set_active(asked.state).await)
    }

    async fn get_active(&self, _: Local) -> Result<Boolean, Status> {
        Ok(Boolean { state: self.frontier.is_active().await.map_err(failed)? })
    }

    /// There are no packages here whose level a client could know.
    async fn set_log_level(&self, asked: LogLevelParams) -> Result<Empty, Status> {
        tracing::info!("log level {} was asked for {}, and is not changed", asked.level, asked.package);
        Ok(Empty {})
    }

    async fn get_url_status(&self, asked: UrlStatusRequest) -> Result<UrlItem, Status> {
        let crawl = crawl(&asked.crawl)?;
        let key = key_of(&asked.key, &asked.url).map_err(refused)?;
        let found = self.frontier.status(crawl, &key, &asked.url).await.map_err(failed)?;
        let found = found.ok_or_else(|| Status::not_found("this URL is not known"))?;
        Ok(listed(crawl, found))
    }

    async fn count_urls(&self, asked: CountUrlParams) -> Result<Long, Status> {
        let filter = Filter {
            crawl: crawl(&asked.crawl)?.to_owned(),
            key: given(&asked.key),
            part: asked.filter.unwrap_or_default(),
            ignore_case: asked.ignore_case.unwrap_or_default(),
        };
        long(self.frontier.count(&filter).await)
    }

    async fn purge_urls(&self, asked: PurgeUrlParams) -> Result<Long, Status> {
        long(self.frontier.purge(crawl(&asked.crawl)?, given(&asked.key).as_deref(), asked.days).await)
    }

    async fn get_urls(
        &self,
        asked: GetParams,
    ) -> Result<impl tokio_stream::Stream<Item = Result<UrlInfo, Status>> + use<>, Status> {
        let wanted = Wanted {
            crawl: match &asked.crawl {
                Some(Crawl::Named(name)) => Some(crawl(name)?.to_owned()),
                Some(Crawl::Any(_)) | None => None,
            },
            key: given(&asked.key),
            queues_max: asked.max_queues,
            urls_per_queue_max: asked.max_urls_per_queue,
            lease_s: asked.delay_requestable,
        };
        let handed = self.frontier.get(&wanted).await.map_err(failed)?;
        let infos = handed.into_iter().map(|one| Ok(info(&one.crawl, &one.key, one.url, one.metadata)));
        Ok(tokio_stream::iter(infos))
    }

    async fn list_urls(
        &self,
        asked: ListUrlParams,
    ) -> Result<ReceiverStream<Result<UrlItem, Status>>, Status> {
        let crawl = crawl(&asked.crawl)?.to_owned();
        let filter = Filter {
            crawl: crawl.clone(),
            key: given(&asked.key),
            part: asked.filter.unwrap_or_default(),
            ignore_case: asked.ignore_case.unwrap_or_default(),
        };
        let size = if asked.size == 0 { SIZE } else { asked.size as usize };
        let mut list = self.frontier.list(filter).await.map_err(failed)?;
        let (sent, waiting) = mpsc::channel(LISTED_AHEAD);
        tokio::spawn(async move {
            let (mut skip, mut left) = (asked.start as usize, size);
            loop {
                let urls = match list.next().await {
                    Ok(Some(urls)) => urls,
                    Ok(None) => return,
                    Err(error) => return drop(sent.send(Err(failed(error))).await),
                };
                let skipped = skip.min(urls.len());
                skip -= skipped;
                for url in urls.into_iter().skip(skipped) {
                    if left == 0 || sent.send(Ok(listed(&crawl, url))).await.is_err() {
                        return;
                    }
                    left -= 1;
                }
            }
        });
        Ok(ReceiverStream::new(waiting))
    }

    fn admits(&self, request: &http::Request<Body>) -> bool {
        let Some(token) = &self.token else { return true };
        let said = request.headers().get(http::header::AUTHORIZATION).and_then(|said| said.to_str().ok());
        let given = said.and_then(|said| {
            let (scheme, token) = said.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        given.is_some_and(|given| bool::from(given.as_bytes().ct_eq(token.as_bytes())))
    }

    async fn answer(self: Arc<Self>, request: http::Request<Body>) -> http::Response<Body> {
        if !self.admits(&request) {
            return Status::unauthenticated("the token is wanted: authorization: Bearer TOKEN").into_http();
        }
        let method = request.uri().path().strip_prefix("/urlfrontier.URLFrontier/").unwrap_or_default();
        macro_rules! unary {
            ($method:ident) => {{
                let call = tower::service_fn(move |request: Request<_>| {
                    let this = Arc::clone(&self);
                    async move { this.$method(request.into_inner()).await.map(Response::new) }
                });
                Grpc::new(ProstCodec::default()).unary(call, request).await
            }};
        }
        macro_rules! streamed {
            ($method:ident) => {{
                let call = tower::service_fn(move |request: Request<_>| {
                    let this = Arc::clone(&self);
                    async move { this.$method(request.into_inner()).await.map(Response::new) }
                });
                Grpc::new(ProstCodec::default()).server_streaming(call, request).await
            }};
        }
        macro_rules! both {
            ($start:path) => {{
                let call = tower::service_fn(move |request: Request<_>| {
                    let puts = self.puts.clone();
                    async move { Ok(Response::new($start(puts, request.into_inner()))) }
                });
                Grpc::new(ProstCodec::default()).streaming(call, request).await
            }};
        }
        match method {
            "ListNodes" => unary!(list_nodes),
            "ListCrawls" => unary!(list_crawls),
            "DeleteCrawl" => unary!(delete_crawl),
            "ListQueues" => unary!(list_queues),
            "GetURLs" => streamed!(get_urls),
            "PutURLs" => both!(puts::put_urls),
            "PutDiscovered" => both!(puts::put_discovered),
            "GetStats" => unary!(get_stats),
            "DeleteQueue" => unary!(delete_queue),
            "BlockQueueUntil" => unary!(block_queue_until),
            "SetActive" => unary!(set_active),
            "GetActive" => unary!(get_active),
            "SetDelay" => unary!(set_delay),
            "SetLogLevel" => unary!(set_log_level),
            "SetCrawlLimit" => unary!(set_crawl_limit),
            "GetURLStatus" => unary!(get_url_status),
            "ListURLs" => streamed!(list_urls),
            "CountURLs" => unary!(count_urls),
            "PurgeURLs" => unary!(purge_urls),
            other => Status::unimplemented(format!("there is no call {other}")).into_http(),
        }
    }
}

impl tower::Service<http::Request<Body>> for Service {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let inner = Arc::clone(&self.0);
        Box::pin(async move { Ok(inner.answer(request).await) })
    }
}
