//! The messages of crawler-commons' `urlfrontier.proto` 2.6, by its field numbers.
//!
//! What clients may write as they like is bytes here and no text: a string that is not UTF-8 makes
//! one item malformed, not the stream it is in. Metadata stay the encoded entries of their map,
//! so they come back byte for byte and in their order.

use bytes::Bytes;
use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub struct Empty {}

#[derive(Clone, PartialEq, Message)]
pub struct Local {
    #[prost(bool, tag = "1")]
    pub local: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct Active {
    #[prost(bool, tag = "1")]
    pub state: bool,
    #[prost(bool, tag = "2")]
    pub local: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct Boolean {
    #[prost(bool, tag = "1")]
    pub state: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct Long {
    #[prost(uint64, tag = "1")]
    pub value: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct StringList {
    #[prost(string, repeated, tag = "1")]
    pub values: Vec<String>,
}

/// An entry of a map of metadata.
#[derive(Clone, PartialEq, Message)]
pub struct MetadataEntry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(message, optional, tag = "2")]
    pub value: Option<StringList>,
}

/// Metadata alone, as they are stored.
#[derive(Clone, PartialEq, Message)]
pub struct Metadata {
    #[prost(bytes = "bytes", repeated, tag = "3")]
    pub entries: Vec<Bytes>,
}

#[derive(Clone, PartialEq, Message)]
pub struct UrlInfo {
    #[prost(bytes = "bytes", tag = "1")]
    pub url: Bytes,
    #[prost(bytes = "bytes", tag = "2")]
    pub key: Bytes,
    #[prost(bytes = "bytes", repeated, tag = "3")]
    pub metadata: Vec<Bytes>,
    #[prost(bytes = "bytes", tag = "4")]
    pub crawl: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub struct Discovered {
    #[prost(message, optional, tag = "1")]
    pub info: Option<UrlInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Known {
    #[prost(message, optional, tag = "1")]
    pub info: Option<UrlInfo>,
    #[prost(uint64, tag = "2")]
    pub refetchable_from_date: u64,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum News {
    #[prost(message, tag = "1")]
    Discovered(Discovered),
    #[prost(message, tag = "2")]
    Known(Known),
}

#[derive(Clone, PartialEq, Message)]
pub struct UrlItem {
    #[prost(oneof = "News", tags = "1, 2")]
    pub item: Option<News>,
    #[prost(bytes = "bytes", tag = "3")]
    pub id: Bytes,
    #[prost(uint64, tag = "4")]
    pub creation_date: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Status {
    Ok = 0,
    Skipped = 1,
    Fail = 2,
}

#[derive(Clone, PartialEq, Message)]
pub struct AckMessage {
    #[prost(bytes = "bytes", tag = "1")]
    pub id: Bytes,
    #[prost(enumeration = "Status", tag = "2")]
    pub status: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct DiscoveredBatch {
    #[prost(bytes = "bytes", tag = "1")]
    pub id: Bytes,
    #[prost(message, repeated, tag = "2")]
    pub items: Vec<UrlInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub struct BatchAck {
    #[prost(bytes = "bytes", tag = "1")]
    pub id: Bytes,
    #[prost(enumeration = "Status", repeated, tag = "2")]
    pub statuses: Vec<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Stats {
    #[prost(uint64, tag = "1")]
    pub size: u64,
    #[prost(uint32, tag = "2")]
    pub in_process: u32,
    #[prost(btree_map = "string, uint64", tag = "3")]
    pub counts: std::collections::BTreeMap<String, u64>,
    #[prost(uint64, tag = "4")]
    pub number_of_queues: u64,
    #[prost(string, tag = "5")]
    pub crawl: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Pagination {
    #[prost(uint32, tag = "1")]
    pub start: u32,
    #[prost(uint32, tag = "2")]
    pub size: u32,
    #[prost(bool, tag = "3")]
    pub include_inactive: bool,
    #[prost(string, tag = "4")]
    pub crawl: String,
    #[prost(bool, tag = "5")]
    pub local: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct QueueList {
    #[prost(string, repeated, tag = "1")]
    pub values: Vec<String>,
    #[prost(uint64, tag = "2")]
    pub total: u64,
    #[prost(uint32, tag = "3")]
    pub start: u32,
    #[prost(uint32, tag = "4")]
    pub size: u32,
    #[prost(string, tag = "5")]
    pub crawl: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct DeleteCrawlMessage {
    #[prost(string, tag = "1")]
    pub value: String,
    #[prost(bool, tag = "2")]
    pub local: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct QueueWithinCrawlParams {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub crawl: String,
    #[prost(bool, tag = "3")]
    pub local: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct QueueDelayParams {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(uint32, tag = "2")]
    pub delay_requestable: u32,
    #[prost(string, tag = "3")]
    pub crawl: String,
    #[prost(bool, tag = "4")]
    pub local: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct BlockQueueParams {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(uint64, tag = "2")]
    pub time: u64,
    #[prost(string, tag = "3")]
    pub crawl: String,
    #[prost(bool, tag = "4")]
    pub local: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct CrawlLimitParams {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(uint32, tag = "2")]
    pub limit: u32,
    #[prost(string, tag = "3")]
    pub crawl: String,
    #[prost(bool, tag = "4")]
    pub local: bool,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Crawl {
    #[prost(message, tag = "5")]
    Any(Empty),
    #[prost(string, tag = "6")]
    Named(String),
}

#[derive(Clone, PartialEq, Message)]
pub struct GetParams {
    #[prost(uint32, tag = "1")]
    pub max_urls_per_queue: u32,
    #[prost(uint32, tag = "2")]
    pub max_queues: u32,
    #[prost(string, tag = "3")]
    pub key: String,
    #[prost(uint32, tag = "4")]
    pub delay_requestable: u32,
    #[prost(oneof = "Crawl", tags = "5, 6")]
    pub crawl: Option<Crawl>,
}

#[derive(Clone, PartialEq, Message)]
pub struct UrlStatusRequest {
    #[prost(string, tag = "1")]
    pub url: String,
    #[prost(string, tag = "2")]
    pub key: String,
    #[prost(string, tag = "3")]
    pub crawl: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct ListUrlParams {
    #[prost(uint32, tag = "1")]
    pub start: u32,
    #[prost(uint32, tag = "2")]
    pub size: u32,
    #[prost(string, tag = "3")]
    pub key: String,
    #[prost(string, tag = "4")]
    pub crawl: String,
    #[prost(bool, tag = "5")]
    pub local: bool,
    #[prost(string, optional, tag = "6")]
    pub filter: Option<String>,
    #[prost(bool, optional, tag = "7")]
    pub ignore_case: Option<bool>,
}

#[derive(Clone, PartialEq, Message)]
pub struct CountUrlParams {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub crawl: String,
    #[prost(string, optional, tag = "3")]
    pub filter: Option<String>,
    #[prost(bool, optional, tag = "4")]
    pub ignore_case: Option<bool>,
    #[prost(bool, optional, tag = "5")]
    pub local: Option<bool>,
}

#[derive(Clone, PartialEq, Message)]
pub struct PurgeUrlParams {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub crawl: String,
    #[prost(uint32, tag = "3")]
    pub days: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct LogLevelParams {
    #[prost(string, tag = "1")]
    pub package: String,
    #[prost(int32, tag = "2")]
    pub level: i32,
    #[prost(bool, tag = "3")]
    pub local: bool,
}
