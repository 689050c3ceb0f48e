//! What a body is: by its Content-Type where that can be believed, else by how it begins.

use std::borrow::Cow;

use super::Page;
use super::tag::is_space;

/// How much of a page in UTF-16 is looked at.
const NARROWED_BYTES_MAX: usize = 4 << 10;

/// How a body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Html,
    Xhtml,
    /// A feed or a sitemap.
    Feed,
    /// XML that means nothing to us but for the style sheet it is shown with.
    Xml,
    Css,
    /// A sitemap that is a list of URLs, one a line.
    Lines,
    /// Nothing that has links.
    Other,
}

/// What the Content-Type promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    Html,
    Xhtml,
    Xml,
    Css,
    Text,
    /// Nothing, or something that says nothing.
    Nothing,
    /// Something without links: not worth reading.
    Other,
}

pub(super) fn promise(essence: &str) -> Promise {
    match essence {
        "text/html" => Promise::Html,
        "application/xhtml+xml" | "image/svg+xml" => Promise::Xhtml,
        "application/xml" | "text/xml" => Promise::Xml,
        "text/css" => Promise::Css,
        "text/plain" => Promise::Text,
        ""
        | "unknown/unknown"
        | "application/unknown"
        | "application/octet-stream"
        | "binary/octet-stream"
        | "application/gzip"
        | "application/x-gzip"
        | "application/x-download"
        | "application/force-download" => Promise::Nothing,
        other if other.ends_with("+xml") => Promise::Xml,
        _ => Promise::Other,
    }
}

/// How to read a body that was promised so and begins so; a plain list of URLs is one of those that
/// may be sitemaps.
pub(super) fn form(promise: Promise, head: &[u8], may_be_sitemap: bool) -> Form {
    let head = &*narrowed(head);
    let first = first_element(head);
    let is_feed = first.is_some_and(|name| {
        let local = name.rsplit(|byte| *byte == b':').next().unwrap_or(name);
        [&b"urlset"[..], b"sitemapindex", b"rss", b"feed", b"rdf"]
            .iter()
            .any(|feed| local.eq_ignore_ascii_case(feed))
    });
    let is_marked_up =
        first.is_some_and(|name| name.eq_ignore_ascii_case(b"html") || name.eq_ignore_ascii_case(b"svg"));
    match promise {
        Promise::Css => Form::Css,
        Promise::Other => Form::Other,
        _ if is_feed => Form::Feed,
        Promise::Html => Form::Html,
        Promise::Xhtml => Form::Xhtml,
        Promise::Xml if is_marked_up => Form::Xhtml,
        Promise::Xml => Form::Xml,
        Promise::Text | Promise::Nothing if may_be_sitemap && begins_with_url(head) => Form::Lines,
        Promise::Nothing if first.is_some_and(is_html_element) || begins_with_doctype(head) => Form::Html,
        Promise::Text | Promise::Nothing => Form::Other,
    }
}

/// Announced as a sitemap or named like one.
pub(super) fn may_be_sitemap(page: &Page<'_>) -> bool {
    page.announced_as_sitemap || page.url.path().to_ascii_lowercase().contains("sitemap")
}

fn begins_with_url(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let begins_with =
        |scheme: &[u8]| head.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme));
    begins_with(b"http://") || begins_with(b"https://")
}

fn begins_with_doctype(head: &[u8]) -> bool {
    let doctype = b"<!doctype html";
    head.trim_ascii_start().get(..doctype.len()).is_some_and(|head| head.eq_ignore_ascii_case(doctype))
}

/// The elements by which the MIME sniffing standard knows HTML.
fn is_html_element(name: &[u8]) -> bool {
    const KNOWN: [&[u8]; 16] = [
        b"html", b"head", b"script", b"iframe", b"h1", b"div", b"font", b"table", b"a", b"style", b"title",
        b"b", b"body", b"br", b"p", b"meta",
    ];
    KNOWN.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The head without byte order mark; of UTF-16, only every other byte says something about markup.
fn narrowed(head: &[u8]) -> Cow<'_, [u8]> {
    match head {
        [0xEF, 0xBB, 0xBF, rest @ ..] => rest.into(),
        [0xFF, 0xFE, rest @ ..] | [0xFE, 0xFF, rest @ ..] | rest @ ([b'<', 0, ..] | [0, b'<', ..]) => {
            rest.iter().take(NARROWED_BYTES_MAX).copied().filter(|byte| *byte != 0).collect()
        }
        _ => head.into(),
    }
}

/// The name of the first element, after declarations and comments.
fn first_element(head: &[u8]) -> Option<&[u8]> {
    let mut rest = head;
    loop {
        rest = rest.trim_ascii_start().strip_prefix(b"<")?;
        let end = match rest.first()? {
            b'!' if rest.starts_with(b"!--") => memchr::memmem::find(&rest[1..], b"-->")? + 4,
            b'!' | b'?' => memchr::memchr(b'>', rest)? + 1,
            _ => {
                let end = rest.iter().position(|byte| is_space(*byte) || matches!(byte, b'/' | b'>'))?;
                return Some(&rest[..end]);
            }
        };
        rest = &rest[end..];
    }
}
