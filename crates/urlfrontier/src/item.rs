//! What a client brings, held against the limits of this room.

use url::Url;

/// The crawl of whoever names none.
pub const DEFAULT_CRAWL: &str = "DEFAULT";
pub const CRAWL_BYTES_MAX: usize = 255;
pub const KEY_BYTES_MAX: usize = 255;
/// Each zero byte in it counts twice.
pub const URL_BYTES_MAX: usize = 4000;
pub const METADATA_BYTES_MAX: usize = 1 << 20;

/// A URL that was discovered, or one that comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub(crate) crawl: String,
    pub(crate) key: String,
    pub(crate) url: String,
    pub(crate) metadata: Vec<u8>,
    pub(crate) news: News,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    Discovered,
    /// When it is due again, in seconds since 1970; 0: never.
    Known(u64),
}

/// Why an item is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("it has no URL")]
    NoUrl,
    #[error("its URL is longer than {URL_BYTES_MAX} bytes")]
    UrlTooLong,
    #[error("its key is longer than {KEY_BYTES_MAX} bytes")]
    KeyTooLong,
    #[error("its crawl is longer than {CRAWL_BYTES_MAX} bytes")]
    CrawlTooLong,
    #[error("its metadata are longer than {METADATA_BYTES_MAX} bytes")]
    MetadataTooLong,
    #[error("it has no key, and its URL has no host")]
    NoHost,
    #[error("it is not UTF-8")]
    NotText,
    #[error("it is neither a discovered nor a known URL")]
    Neither,
}

impl Item {
    pub fn new(
        crawl: &str,
        key: &str,
        url: String,
        metadata: Vec<u8>,
        news: News,
    ) -> Result<Item, Malformed> {
        if url.is_empty() {
            return Err(Malformed::NoUrl);
        }
        if url.len() > URL_BYTES_MAX || url.len() + url.bytes().filter(|b| *b == 0).count() > URL_BYTES_MAX {
            return Err(Malformed::UrlTooLong);
        }
        if metadata.len() > METADATA_BYTES_MAX {
            return Err(Malformed::MetadataTooLong);
        }
        let crawl = crawl_of(crawl)?.to_owned();
        Ok(Item { crawl, key: key_of(key, &url)?, url, metadata, news })
    }

    /// Roughly what it makes a transaction write.
    pub fn bytes(&self) -> usize {
        2 * self.url.len() + self.key.len() + self.metadata.len() + 200
    }
}

/// The crawl that is meant.
pub fn crawl_of(crawl: &str) -> Result<&str, Malformed> {
    match crawl {
        blank if blank.trim().is_empty() => Ok(DEFAULT_CRAWL),
        long if long.len() > CRAWL_BYTES_MAX => Err(Malformed::CrawlTooLong),
        named => Ok(named),
    }
}

/// The queue of a URL: what was said, or its host.
pub fn key_of(key: &str, url: &str) -> Result<String, Malformed> {
    let key = match key {
        "" => host(url).ok_or(Malformed::NoHost)?,
        key => key.to_owned(),
    };
    if key.len() > KEY_BYTES_MAX { Err(Malformed::KeyTooLong) } else { Ok(key) }
}

fn host(url: &str) -> Option<String> {
    let read = Url::parse(url).ok()?;
    // Of schemes nobody knows, a host is left as it was written.
    read.host_str().filter(|host| !host.is_empty()).map(str::to_lowercase)
}
