//! Documents on their way out: every URL in them becomes an address of the archive.
//!
//! A document is read through a bounded window and written as it is read, in UTF-8 whatever it came in.
//! [`Links`] knows where it stood and when; [`html`] writes markup anew, [`css`] style sheets.

mod css;
mod html;

use std::io::{self, Read, Write};

use encoding_rs::Encoding;
use net::extract::scanner::{Window, Written, in_utf8, with_legacy_query};
use policy::url::with_two_slashes;
use url::Url;

use crate::kind::Kind;
use crate::place::{ADDRESS_BYTES_MAX, Prefix, View};

/// A document that is to be shown.
#[derive(Debug)]
pub struct Document<'a> {
    /// Where it was captured.
    pub url: &'a str,
    pub kind: Kind,
    /// As the header said.
    pub charset: Option<&'a str>,
    pub prefix: &'a Prefix,
    /// The time its links are to be seen at.
    pub stamp: &'a str,
    /// It is what a browser made of the document, with scripts: what it has for those without is left
    /// out.
    pub is_final: bool,
    /// Markup to stand on top of a page.
    pub bar: Option<&'a str>,
}

impl Document<'_> {
    /// Writes what a browser is to see of `body`, which is without codings.
    pub fn write<'s>(&self, body: impl Read + 's, out: &mut dyn Write) -> io::Result<()> {
        let written = match self.kind {
            Kind::Html => Written::Html,
            Kind::Xml(_) => Written::Xml,
            Kind::Css => Written::Css,
            Kind::Plain(_) => {
                let mut body = body;
                return io::copy(&mut body, out).map(drop);
            }
        };
        let (text, encoding) = in_utf8(Window::new(body), self.charset, written);
        let links = Links::new(self, encoding)?;
        match self.kind {
            Kind::Css => css::write(text, &links, out),
            _ => html::write(text, links, self, out),
        }
    }
}

/// Where a redirect of a document leads within the archive (R6); none if that is no address of the web.
pub fn led_to(url: &str, location: &str, prefix: &Prefix, stamp: &str, view: View) -> Option<String> {
    let raw = location.trim_matches(|c: char| c <= ' ');
    if raw.len() > ADDRESS_BYTES_MAX {
        return None;
    }
    let target = Url::parse(url).ok()?.join(&with_two_slashes(raw)).ok()?;
    matches!(target.scheme(), "http" | "https").then(|| prefix.capture(stamp, view, target.as_str()))
}

/// What a URL is for, where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    /// To be followed by whoever reads the page.
    Reader,
    /// To show the page.
    Page,
}

/// From what stands in a document to addresses of the archive.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    base: Url,
    encoding: &'static Encoding,
    prefix: Prefix,
    stamp: String,
}

impl Links {
    fn new(document: &Document<'_>, encoding: &'static Encoding) -> io::Result<Links> {
        let base = Url::parse(document.url).map_err(io::Error::other)?;
        Ok(Links { base, encoding, prefix: document.prefix.clone(), stamp: document.stamp.to_owned() })
    }

    /// After a `<base>`, which may be any URL.
    fn rebase(&mut self, href: &str) {
        if let Ok(base) = self.base.join(&with_two_slashes(href.trim()))
            && !base.cannot_be_a_base()
        {
            self.base = base;
        }
    }

    /// The address; none where there can be none. What is said within the document itself, and
    /// pictures that are written out, stay as they are.
    fn to(&self, raw: &str, purpose: For) -> Option<String> {
        let raw = raw.trim_matches(|c: char| c <= ' ');
        if raw.len() > ADDRESS_BYTES_MAX {
            return is_data(raw, purpose).then(|| raw.to_owned());
        }
        let text = with_legacy_query(raw, self.encoding);
        let url = self.base.join(&with_two_slashes(&text)).ok()?;
        match url.scheme() {
            "http" | "https" => {
                let view = if purpose == For::Reader { View::Page } else { View::Part };
                Some(self.prefix.capture(&self.stamp, view, url.as_str()))
            }
            "data" if is_data(raw, purpose) => Some(raw.to_owned()),
            _ => None,
        }
    }
}

/// Something written out, which the page itself shows.
fn is_data(raw: &str, purpose: For) -> bool {
    purpose == For::Page && raw.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

#[cfg(test)]
mod tests;
