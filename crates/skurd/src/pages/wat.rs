//! WAT: what Common Crawl says about each record of a WARC file, as JSON in metadata records.
//!
//! Of all that only responses with HTML are looked at, and of their links only those of `A` and
//! `AREA`. The time is that of the capture, not that of the extraction.

use net::warc::date;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::{Page, Step};

#[derive(Deserialize)]
struct Wat {
    #[serde(rename = "Envelope")]
    envelope: Option<Envelope>,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "WARC-Header-Metadata")]
    header: Option<Header>,
    #[serde(rename = "Payload-Metadata")]
    payload: Option<Payload>,
}

#[derive(Deserialize)]
struct Header {
    #[serde(rename = "WARC-Target-URI")]
    url: Option<String>,
    #[serde(rename = "WARC-Date")]
    date: Option<String>,
}

#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "HTTP-Response-Metadata")]
    response: Option<Response>,
}

#[derive(Deserialize)]
struct Response {
    #[serde(rename = "Response-Message")]
    message: Option<Message>,
    #[serde(rename = "HTML-Metadata")]
    html: Option<Html>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(rename = "Status")]
    status: Option<Value>,
}

#[derive(Deserialize)]
struct Html {
    #[serde(rename = "Links", default)]
    links: Vec<WatLink>,
    #[serde(rename = "Head")]
    head: Option<Head>,
}

#[derive(Deserialize)]
struct Head {
    #[serde(rename = "Base")]
    base: Option<Value>,
}

#[derive(Deserialize)]
struct WatLink {
    path: Option<String>,
    url: Option<String>,
    text: Option<String>,
}

/// The page that a record is about; an error if it is no WAT.
pub(super) fn step(json: &[u8]) -> Result<Step, String> {
    let wat: Wat = serde_json::from_slice(json).map_err(|error| format!("its JSON: {error}"))?;
    let Some((header, response)) = wat.envelope.and_then(|envelope| {
        let response = envelope.payload?.response?;
        Some((envelope.header?, response))
    }) else {
        return Ok(Step::Other);
    };
    let (Some(url), Some(html), true) = (header.url, response.html, is_ok(response.message.as_ref())) else {
        return Ok(Step::Other);
    };
    let time = header.date.as_deref().and_then(date::parse);
    let mut page = Page { url, time, ..Page::default() };
    let base = base_of(&page.url, html.head.as_ref());
    let mut bytes = 0;
    for link in html.links.into_iter().filter(WatLink::counts) {
        let (raw, text) = (link.url.unwrap_or_default(), link.text.unwrap_or_default());
        page.add(absolute(base.as_ref(), raw.trim_ascii()), text.trim(), &mut bytes);
    }
    Ok(Step::Put(page))
}

/// Numbers are texts in most of these files.
fn is_ok(message: Option<&Message>) -> bool {
    match message.and_then(|message| message.status.as_ref()) {
        Some(Value::String(status)) => status.trim() == "200",
        Some(status) => status.as_u64() == Some(200),
        None => false,
    }
}

fn base_of(page: &str, head: Option<&Head>) -> Option<Url> {
    let page = Url::parse(page).ok()?;
    let declared = head.and_then(|head| head.base.as_ref()?.as_str());
    let base = declared.and_then(|href| page.join(href).ok()).filter(|url| !url.cannot_be_a_base());
    Some(base.unwrap_or(page))
}

/// What is no URL stays as it is, to be refused where all of them are judged.
fn absolute(base: Option<&Url>, raw: &str) -> String {
    let joined =
        base.filter(|_| !raw.is_empty() && !raw.starts_with('#')).and_then(|base| base.join(raw).ok());
    joined.map_or_else(|| raw.to_owned(), String::from)
}

impl WatLink {
    fn counts(&self) -> bool {
        let path = self.path.as_deref().unwrap_or_default();
        path.eq_ignore_ascii_case("A@/href") || path.eq_ignore_ascii_case("AREA@/href")
    }
}
