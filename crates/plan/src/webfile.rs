//! A synthetic web as a person writes it: what each URL answers, one answer after the other.
//!
//! ```yaml
//! - url: https://vg.no/
//!   responses:
//!     - {count: 2, outlinks: [/artikkel]}     # the first two times
//!     - {error: timeout, delay: 30s}          # from then on
//! ```
//!
//! Read with the description and the reader of the config, so that mistakes are told in the same
//! way.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;
use declare::keys::{Key, Kind, Need, Table, TextRule};
use declare::read::Reader;
use declare::value::{Data, Fields, Value};
use declare::yaml::{self, Node};
use declare::{At, CONFIG_BYTES_MAX, ConfigError, excerpt, one_document, read_bounded, text_of};
use frontier::ErrorKind;
use policy::model::LinkKind;
use policy::url::{CrawlUrl, UrlRules, normalise};
use sim::web::{Page, Response, Web};

const fn key(name: &'static str, kind: Kind, need: Need, example: &'static str) -> Key {
    Key { name, kind, need, doc: "", example }
}

static WEB: Key = key("web", Kind::List { of: &Kind::Table(&PAGE), min: 1 }, Need::Required, "");

static PAGE: Table = Table {
    name: "page",
    default: |_| None,
    keys: &[
        key("url", Kind::Text(TextRule::Url), Need::Required, "https://vg.no/"),
        key(
            "responses",
            Kind::List { of: &Kind::Table(&RESPONSE), min: 1 },
            Need::Empty,
            "[{status: 200, outlinks: [https://vg.no/artikkel]}]",
        ),
    ],
};

static RESPONSE: Table = Table {
    name: "response",
    default: |_| None,
    keys: &[
        key("status", Kind::Count { min: 100, max: 599 }, Need::Default, "200"),
        key("count", Kind::Count { min: 1, max: u32::MAX }, Need::Default, "2"),
        key(
            "outlinks",
            Kind::List { of: &Kind::Table(&LINK), min: 0 },
            Need::Empty,
            "[https://vg.no/artikkel, {url: /bilde.png, kind: requisite}]",
        ),
        key("delay", Kind::Duration { zero: true }, Need::Default, "200ms"),
        key("error", Kind::Choice(&["dns", "connect", "timeout"]), Need::Optional, "timeout"),
    ],
};

static LINK: Table = Table {
    name: "link",
    default: |_| None,
    keys: &[
        key("url", Kind::Text(TextRule::Line), Need::Required, "https://vg.no/artikkel"),
        key("kind", Kind::Choice(&["link", "requisite", "redirect"]), Need::Default, "requisite"),
    ],
};

pub fn load(path: &Path, rules: &UrlRules) -> Result<Web> {
    let bytes = read_bounded(path, CONFIG_BYTES_MAX)?;
    Ok(read(&path.display().to_string(), &bytes, rules)?)
}

/// Reads a web; `file` is what messages call it.
pub fn read(file: &str, bytes: &[u8], rules: &UrlRules) -> Result<Web, ConfigError> {
    let text = text_of(file, bytes)?;
    let mut reader = Reader::default();
    reader.rules = rules.clone();
    let pages = pages(text, &mut reader);
    Ok(Web::new(reader.problems.finish(file, pages)?))
}

fn pages(text: &str, reader: &mut Reader) -> Vec<Page> {
    let hint = "begin each page with `- url: https://…`";
    let Some(root) = one_document(text, "web", hint, reader) else { return Vec::new() };
    let yaml::Data::List(nodes) = root.data else {
        reader.problems.add(root.at, "a web is a list of pages", hint);
        return Vec::new();
    };
    let mut seen: HashMap<String, At> = HashMap::with_capacity(nodes.len());
    let mut pages = Vec::with_capacity(nodes.len());
    for mut node in nodes {
        spell_out_links(&mut node);
        let Some(fields) = reader.fields(node, &PAGE, &WEB) else { continue };
        let Some(page) = page(&fields, reader) else { continue };
        match seen.get(&page.url) {
            Some(first) => {
                let what = format!("a second page {}", excerpt(&page.url));
                let hint = format!("the first is on line {}; put all answers under it", first.line);
                reader.problems.add(fields.at("url"), what, hint);
            }
            None => {
                seen.insert(page.url.clone(), fields.at("url"));
                pages.push(page);
            }
        }
    }
    pages
}

/// `outlinks: [x]` is short for `outlinks: [{url: x}]`.
fn spell_out_links(page: &mut Node<'_>) {
    for response in entries(page, "responses") {
        for link in entries(response, "outlinks") {
            if matches!(link.data, yaml::Data::Text { .. }) && !link.is_null() {
                let at = link.at;
                let url = Node { at, data: std::mem::replace(&mut link.data, yaml::Data::List(Vec::new())) };
                link.data = yaml::Data::Map(vec![(yaml::Key { at, text: "url".into() }, url)]);
            }
        }
    }
}

/// The entries of a list under a key; none where it is something else, which the reader will tell.
fn entries<'n, 'a>(node: &'n mut Node<'a>, key: &str) -> impl Iterator<Item = &'n mut Node<'a>> {
    let map = match &mut node.data {
        yaml::Data::Map(entries) => Some(entries),
        _ => None,
    };
    let value = map.and_then(|entries| entries.iter_mut().find(|(name, _)| name.text == key));
    let list = match value.map(|(_, value)| &mut value.data) {
        Some(yaml::Data::List(items)) => Some(items),
        _ => None,
    };
    list.into_iter().flatten()
}

fn page(fields: &Fields, reader: &mut Reader) -> Option<Page> {
    let Data::Url { normal, .. } = &fields.get("url")?.data else { return None };
    let base = CrawlUrl::from_normal(normal.as_str()).ok()?;
    let given = fields.list("responses");
    let mut responses: Vec<Response> =
        given.iter().filter_map(|value| response(value, &base, reader)).collect();
    if responses.is_empty() {
        responses.push(Response::default());
    }
    Some(Page { url: normal.clone(), responses })
}

fn response(value: &Value, base: &CrawlUrl, reader: &mut Reader) -> Option<Response> {
    let Data::Fields(fields) = &value.data else { return None };
    let error = fields.text("error").map(|word| match word.as_str() {
        "dns" => ErrorKind::Dns,
        "connect" => ErrorKind::Connect,
        _ => ErrorKind::Timeout,
    });
    for other in ["status", "outlinks"] {
        if error.is_some() && fields.mentions(other) {
            let what = format!("`{other}` with `error`: there is no answer that could have one");
            reader.problems.add(fields.at(other), what, "keep one of them");
        }
    }
    let standard = Response::default();
    let status = fields.read("status").and_then(|status: u32| u16::try_from(status).ok());
    Some(Response {
        status: status.unwrap_or(standard.status),
        count: fields.read("count").unwrap_or(standard.count),
        delay: fields.read("delay").unwrap_or(standard.delay),
        outlinks: fields.list("outlinks").iter().filter_map(|value| outlink(value, base, reader)).collect(),
        error,
    })
}

fn outlink(value: &Value, base: &CrawlUrl, reader: &mut Reader) -> Option<(String, LinkKind)> {
    let Data::Fields(fields) = &value.data else { return None };
    let kind = match fields.text("kind").as_deref() {
        Some("requisite") => LinkKind::Requisite,
        Some("redirect") => LinkKind::Redirect,
        _ => LinkKind::Link,
    };
    let url = fields.text("url")?;
    match normalise(&url, Some(base), &reader.rules) {
        Ok(normal) => Some((normal.as_str().to_owned(), kind)),
        Err(refusal) => {
            let what = format!("`outlinks`: {}: {refusal}", excerpt(&url));
            let hint = "a URL like `https://vg.no/`, or a path like `/artikkel`";
            reader.problems.add(fields.at("url"), what, hint);
            None
        }
    }
}
