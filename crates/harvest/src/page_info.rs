//! What is archived of a page that a browser opened, beside what came over the wire (B16): pictures,
//! the final DOM, and the page information, which tells every request and how it went. It is written
//! with the page, and read by whoever shows it (B21).

use serde::{Deserialize, Serialize};

/// What the records of a page are called: this, and its URL.
pub const VIEW: &str = "urn:view:";
pub const THUMBNAIL: &str = "urn:thumbnail:";
pub const DOM: &str = "urn:dom:";
pub const PAGE_INFO: &str = "urn:pageinfo:";

/// The content of a page's information. Whoever reads it takes it from an archive, where anybody may
/// have written it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PageInfo {
    pub url: String,
    /// The `WARC-Page-ID` of its records.
    pub page: String,
    pub title: Option<String>,
    pub ending: String,
    pub phases: PhaseTimes,
    /// The limit it ran into.
    pub truncated: Option<String>,
    pub dialogs: u32,
    pub notes: Vec<String>,
    pub popups: Vec<String>,
    pub redirects: Vec<String>,
    pub frames: Vec<String>,
    pub requests: Vec<PageRequest>,
}

/// In milliseconds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseTimes {
    pub load: u64,
    pub behave: u64,
    pub collect: u64,
    pub total: u64,
}

/// One request of a page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PageRequest {
    pub url: String,
    pub method: String,
    pub status: Option<u16>,
    pub mime: Option<String>,
    /// What it was for: `image`, `style`, `fetch`.
    #[serde(rename = "type")]
    pub kind: String,
    pub bytes: u64,
    pub from: Source,
    /// Of its answer.
    pub record: Option<String>,
    /// Why it was refused, or failed.
    pub reason: Option<String>,
    /// What is wrong with the server's certificate (A4).
    pub certificate: Option<String>,
}

/// Who answered a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The answer that was there before the tab was opened (B3).
    Document,
    #[default]
    Web,
    Archive,
    Refused,
    Failed,
}

impl Source {
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Document => "document",
            Source::Web => "web",
            Source::Archive => "archive",
            Source::Refused => "refused",
            Source::Failed => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b16_page_information_is_read_as_it_was_written_and_anything_else_is_refused() {
        let request = PageRequest {
            url: "http://a.test/x".to_owned(),
            kind: "image".to_owned(),
            from: Source::Refused,
            reason: Some("a beacon".to_owned()),
            ..PageRequest::default()
        };
        let info = PageInfo { ending: "ok".to_owned(), requests: vec![request], ..PageInfo::default() };
        let text = serde_json::to_string(&info).unwrap();
        assert!(text.contains(r#""type":"image""#) && text.contains(r#""from":"refused""#), "{text}");
        let read: PageInfo = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        for (text, is_read) in [
            ("{}", true),
            (r#"{"requests":[{}],"later":1}"#, true),
            (r#"{"requests":[{"from":"mars"}]}"#, false),
            (r#"{"requests":{}}"#, false),
            ("[1]", false),
            ("", false),
        ] {
            assert_eq!(serde_json::from_str::<PageInfo>(text).is_ok(), is_read, "{text}");
        }
    }
}
