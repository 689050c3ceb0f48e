//! A [`CrawlUrl`] is its text: it is shown, compared, hashed and stored as that. The offsets follow
//! from it.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::CrawlUrl;

impl fmt::Display for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl PartialEq for CrawlUrl {
    fn eq(&self, other: &CrawlUrl) -> bool {
        self.text == other.text
    }
}

impl Eq for CrawlUrl {}

impl PartialOrd for CrawlUrl {
    fn partial_cmp(&self, other: &CrawlUrl) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CrawlUrl {
    fn cmp(&self, other: &CrawlUrl) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl Hash for CrawlUrl {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Borrow<str> for CrawlUrl {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl AsRef<str> for CrawlUrl {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl From<CrawlUrl> for String {
    fn from(url: CrawlUrl) -> String {
        url.text.into_string()
    }
}

impl Serialize for CrawlUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for CrawlUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CrawlUrl, D::Error> {
        let text = String::deserialize(deserializer)?;
        CrawlUrl::from_normal(text).map_err(serde::de::Error::custom)
    }
}
