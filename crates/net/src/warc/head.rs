//! The head of a record that was read.

use policy::time::Time;

use super::{date, fields};

/// Version and named fields of a record.
#[derive(Debug)]
pub struct RecordHead {
    /// Where the record (or the compressed member that holds it) begins in the file.
    pub offset: u64,
    /// `WARC/1.1`.
    pub version: String,
    pub fields: Vec<(String, String)>,
    /// `Content-Length`.
    pub block_bytes: u64,
}

impl RecordHead {
    /// The first field of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        fields::find(&self.fields, name)
    }

    /// `WARC-Type`; empty if there is none.
    pub fn kind(&self) -> &str {
        self.get("WARC-Type").unwrap_or_default()
    }

    /// `WARC-Target-URI` without the brackets that wget put around it, blanks escaped.
    pub fn target_uri(&self) -> Option<String> {
        let uri = self.get("WARC-Target-URI")?;
        let inner = uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri);
        Some(inner.replace(' ', "%20"))
    }

    /// `WARC-Date`, if it is a date.
    pub fn time(&self) -> Option<Time> {
        date::parse(self.get("WARC-Date")?)
    }

    /// What a revisit refers to: URL and time, if it says both.
    pub fn refers_to(&self) -> Option<(String, Time)> {
        let time = date::parse(self.get("WARC-Refers-To-Date")?)?;
        Some((self.get("WARC-Refers-To-Target-URI")?.to_owned(), time))
    }

    /// Whether the block begins with the head of an HTTP message.
    pub(crate) fn holds_http(&self) -> bool {
        let web = |uri: String| uri.starts_with("http:") || uri.starts_with("https:");
        matches!(self.kind(), "response" | "request" | "revisit")
            && self.block_bytes > 0
            && self.target_uri().is_some_and(web)
    }
}
