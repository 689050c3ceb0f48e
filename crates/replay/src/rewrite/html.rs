//! Markup: tags are written anew with what was understood of them, text as it is, and nothing else.
//!
//! Left out: scripts and whatever would run one, comments, processing instructions, `<base>` (every
//! link is complete), what `<meta>` says to browsers instead of readers, checks of content that has
//! changed on the way (`integrity`), and tags too long to be understood.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use net::extract::scanner::{Dialect, Sink, Tag, Window, finished_css, raw_element, refresh, scan, srcset};

use super::{Document, For, Links, css};
use crate::bar;
use crate::kind::Kind;

/// Longest `<style>` that is kept whole.
const STYLE_BYTES_MAX: usize = 1 << 20;
/// Documents within documents within the page.
const DOCUMENTS_DEEP_MAX: u32 = 3;
/// Of the beginning, where the type of the document and a `<base>` are looked for.
const HEAD_BYTES_MAX: usize = 64 << 10;

pub(super) fn write(
    text: impl Read,
    links: Links,
    document: &Document<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut window = Window::new(text);
    let dialect = if document.kind == Kind::Html { Dialect::Html } else { Dialect::Xml };
    let mut page = Page::new(links, dialect, out);
    page.bar = document.bar.filter(|_| dialect == Dialect::Html);
    page.is_final = document.is_final;
    page.begin(window.bytes());
    scan(&mut window, dialect, &mut page);
    page.finish()
}

/// A sink that writes what it is given.
struct Page<'w> {
    out: &'w mut dyn Write,
    failed: Option<io::Error>,
    links: Links,
    dialect: Dialect,
    /// Documents around this one.
    deep: u32,
    is_final: bool,
    /// To be written yet.
    bar: Option<&'w str>,
    /// The element whose inside is left out, and whether it is part of a drawing.
    skipped: Option<(Vec<u8>, bool)>,
    /// The element whose inside is no markup.
    raw: Option<&'static [u8]>,
    style: Option<Style>,
    /// Where the page would send its reader on.
    forward: Option<String>,
    /// The tag at hand, kept for its room.
    line: Vec<u8>,
}

/// A style sheet within the page.
struct Style {
    bytes: Vec<u8>,
    is_cut: bool,
    /// It is in a drawing, or in XML: references in it mean something.
    is_markup: bool,
}

impl<'w> Page<'w> {
    fn new(links: Links, dialect: Dialect, out: &'w mut dyn Write) -> Page<'w> {
        Page {
            out,
            failed: None,
            links,
            dialect,
            deep: 0,
            is_final: false,
            bar: None,
            skipped: None,
            raw: None,
            style: None,
            forward: None,
            line: Vec::new(),
        }
    }

    /// From the beginning of the document: the mode it is to be shown in, and what its links are
    /// relative to.
    fn begin(&mut self, head: &[u8]) {
        let head = &head[..head.len().min(HEAD_BYTES_MAX)];
        if let Some(doctype) = doctype(head) {
            self.put(doctype);
        }
        let mut bases = Bases { first: None };
        scan(&mut Window::new(head), self.dialect, &mut bases);
        if let Some(href) = bases.first {
            self.links.rebase(&href);
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.failed.is_none()
            && let Err(error) = self.out.write_all(bytes)
        {
            self.failed = Some(error);
        }
    }

    fn finish(mut self) -> io::Result<()> {
        self.close_style();
        self.put_bar();
        if let Some(address) = self.forward.take().filter(|_| self.dialect == Dialect::Html && self.deep == 0)
        {
            self.put(bar::forward(&address).as_bytes());
        }
        self.failed.map_or(Ok(()), Err)
    }

    fn put_bar(&mut self) {
        if let Some(bar) = self.bar.take() {
            self.put(bar.as_bytes());
        }
    }

    /// Before this a browser would begin the body of the page, if it has not begun.
    fn before(&mut self, name: &[u8]) {
        const OF_HEAD: [&[u8]; 10] = [
            b"html",
            b"head",
            b"meta",
            b"link",
            b"base",
            b"title",
            b"style",
            b"noscript",
            b"template",
            b"body",
        ];
        if self.bar.is_none() || OF_HEAD.contains(&name) {
            return;
        }
        match name {
            // Nothing stands beside frames.
            b"frameset" | b"frame" => self.bar = None,
            _ => self.put_bar(),
        }
    }

    fn close_style(&mut self) {
        let Some(Style { bytes, is_cut, is_markup }) = self.style.take() else { return };
        let text = String::from_utf8_lossy(&bytes);
        let text = if is_markup { htmlize::unescape(&*text) } else { text };
        let rewritten = css::rewritten(if is_cut { finished_css(&text) } else { &text }, &self.links);
        match is_markup {
            true => {
                let mut escaped = Vec::with_capacity(rewritten.len());
                escape_text(rewritten.as_bytes(), &mut escaped);
                self.put(&escaped);
            }
            false => self.put(rewritten.as_bytes()),
        }
    }

    /// What of the tag is to be seen goes to `line`; whether there is anything.
    fn tag(&mut self, name: &[u8], tag: &Tag<'_>) -> bool {
        if !is_name(tag.name) || matches!(name, b"base" | b"applet" | b"portal" | b"fencedframe") {
            return false;
        }
        let is_left_out = match name {
            b"meta" => self.meta(tag),
            b"link" => is_hint(tag),
            _ => false,
        };
        if is_left_out {
            return false;
        }
        self.line.clear();
        self.line.push(b'<');
        self.line.extend_from_slice(tag.name);
        let mut seen: Vec<&[u8]> = Vec::new();
        for (own, value) in tag.attributes() {
            if seen.iter().any(|other| other.eq_ignore_ascii_case(own)) || !is_name(own) {
                continue;
            }
            seen.push(own);
            if let Some(value) = self.value(name, &own.to_ascii_lowercase(), value, tag) {
                self.line.push(b' ');
                self.line.extend_from_slice(own);
                self.line.extend_from_slice(b"=\"");
                match value {
                    Value::AsWritten => push_written(attribute(tag, own), &mut self.line),
                    Value::Text(text) => push_text(&text, &mut self.line),
                }
                self.line.push(b'"');
            }
        }
        self.line.extend_from_slice(if tag.self_closing { b" />" } else { b">" });
        true
    }

    /// What becomes of an attribute; none if it is left out.
    fn value(&self, element: &[u8], name: &[u8], raw: &[u8], tag: &Tag<'_>) -> Option<Value> {
        let text = || unescaped_bytes(raw);
        let link = |purpose| {
            let text = text();
            let is_within = text.trim_start().starts_with('#') || text.trim().is_empty();
            if is_within { Some(Value::AsWritten) } else { self.links.to(&text, purpose).map(Value::Text) }
        };
        if name.starts_with(b"on") {
            return None;
        }
        let local = name.rsplit(|byte| *byte == b':').next().unwrap_or(name);
        match name {
            _ if local == b"href" => link(purpose_of_href(element, tag)),
            b"src" | b"poster" | b"background" | b"lowsrc" | b"dynsrc" => link(For::Page),
            b"data" if element == b"object" => link(For::Page),
            b"action" | b"formaction" | b"cite" | b"longdesc" => link(For::Reader),
            b"srcset" | b"imagesrcset" => Some(Value::Text(self.set(&text()))),
            b"style" => Some(Value::Text(css::rewritten(&text(), &self.links))),
            b"srcdoc" => self.document(&text()).map(Value::Text),
            // Names that begin so stand for other windows, which a sandbox does not open.
            b"target" | b"formtarget" if raw.first() == Some(&b'_') => Some(Value::Text("_self".to_owned())),
            b"ping" | b"manifest" | b"integrity" | b"nonce" | b"crossorigin" | b"csp" | b"attributionsrc"
            | b"download" | b"codebase" | b"classid" | b"code" | b"archive" | b"profile" | b"xml:base"
            | b"referrerpolicy" | b"charset" => None,
            // An animation may not give a link another target.
            b"attributename" if text().to_ascii_lowercase().contains("href") => None,
            _ => Some(Value::AsWritten),
        }
    }

    fn set(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        for url in srcset(text) {
            // Between two of them are descriptors.
            let at = url.as_ptr().addr() - rest.as_ptr().addr();
            out.push_str(&rest[..at]);
            rest = &rest[at + url.len()..];
            out.push_str(self.links.to(url, For::Page).as_deref().unwrap_or("#"));
        }
        // Beyond the last that is looked at, nothing but its descriptors.
        out.push_str(&rest[..rest.find(',').unwrap_or(rest.len())]);
        out
    }

    /// A document within this one; too deep within others, it is left out.
    fn document(&self, text: &str) -> Option<String> {
        if self.deep >= DOCUMENTS_DEEP_MAX {
            return None;
        }
        let mut out = Vec::new();
        let mut page = Page::new(self.links.clone(), Dialect::Html, &mut out);
        page.deep = self.deep + 1;
        page.is_final = self.is_final;
        page.begin(text.as_bytes());
        scan(&mut Window::new(text.as_bytes()), Dialect::Html, &mut page);
        page.finish().ok()?;
        Some(String::from_utf8_lossy(&out).into_owned())
    }

    /// Whether it is left out: what is said to browsers was said to those of then.
    fn meta(&mut self, tag: &Tag<'_>) -> bool {
        let is = |name: &[u8], value: &[u8]| {
            tag.get(name).is_some_and(|own| own.trim_ascii().eq_ignore_ascii_case(value))
        };
        if is(b"http-equiv", b"refresh")
            && let Some(url) = tag.get(b"content").map(unescaped_bytes).as_deref().and_then(refresh)
            && self.forward.is_none()
        {
            self.forward = self.links.to(url, For::Reader);
        }
        let is_said_to_readers = tag.get(b"http-equiv").is_none() || is(b"http-equiv", b"content-language");
        !is_said_to_readers || tag.get(b"charset").is_some() || is(b"name", b"referrer")
    }

    fn starts_skipping(&self, name: &[u8], tag: &Tag<'_>) -> bool {
        match local(name) {
            b"script" => true,
            b"noscript" => self.is_final && !tag.is_foreign,
            _ => false,
        }
    }
}

impl Sink for Page<'_> {
    fn start(&mut self, tag: &Tag<'_>) {
        let name = tag.name.to_ascii_lowercase();
        if self.skipped.as_ref().is_some_and(|(_, is_foreign)| *is_foreign && !tag.is_foreign) {
            self.skipped = None;
        }
        if self.skipped.is_some() {
            return;
        }
        self.close_style();
        let holds_markup = self.dialect == Dialect::Xml || tag.is_foreign;
        self.raw = if holds_markup { None } else { raw_element(&name) };
        if self.starts_skipping(&name, tag) {
            self.skipped = Some((name, tag.is_foreign && self.dialect == Dialect::Html));
            return;
        }
        self.before(&name);
        if !self.tag(&name, tag) {
            // In XML every end has its beginning.
            if self.dialect == Dialect::Xml {
                self.skipped = Some((name, false));
            }
            return;
        }
        let line = std::mem::take(&mut self.line);
        self.put(&line);
        self.line = line;
        if local(&name) == b"style" && !(tag.self_closing && holds_markup) {
            self.style = Some(Style { bytes: Vec::new(), is_cut: false, is_markup: holds_markup });
        }
        if name == b"body" && !tag.is_foreign {
            self.put_bar();
        }
        // The end of a tag that closes itself says nothing more.
        if tag.self_closing && holds_markup {
            self.raw = Some(b"");
        }
    }

    fn end(&mut self, name: &[u8]) {
        if self.raw == Some(b"") {
            self.raw = None;
            return;
        }
        if let Some((skipped, is_foreign)) = &self.skipped {
            let leaves = *is_foreign && name.eq_ignore_ascii_case(b"svg");
            if name.eq_ignore_ascii_case(skipped) {
                self.skipped = None;
                self.raw = None;
                return;
            }
            if !leaves {
                return;
            }
            self.skipped = None;
        }
        self.close_style();
        self.raw = None;
        let lower = name.to_ascii_lowercase();
        if !is_name(name) || matches!(&*lower, b"base" | b"applet" | b"portal" | b"fencedframe" | b"script") {
            return;
        }
        if matches!(&*lower, b"body" | b"html") {
            self.put_bar();
        }
        let tag = [b"</", name, b">"].concat();
        self.put(&tag);
    }

    fn style_sheet(&mut self, tag: &Tag<'_>) {
        let is_css = tag.get(b"type").is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/css"));
        let Some(href) = tag.get(b"href").map(unescaped_bytes).filter(|_| is_css) else { return };
        if let Some(address) = self.links.to(&href, For::Page) {
            let mut line = b"<?xml-stylesheet type=\"text/css\" href=\"".to_vec();
            push_text(&address, &mut line);
            line.extend_from_slice(b"\"?>");
            self.put(&line);
        }
    }

    fn wants_text(&self) -> bool {
        self.skipped.is_none()
    }

    fn text(&mut self, text: &[u8], raw: bool) {
        if self.skipped.is_some() {
            return;
        }
        if let Some(style) = &mut self.style {
            let room = STYLE_BYTES_MAX.saturating_sub(style.bytes.len());
            style.is_cut |= text.len() > room;
            let taken = &text[..text.len().min(room)];
            match raw && style.is_markup {
                // References mean nothing in this part of it.
                true => escape_text(taken, &mut style.bytes),
                false => style.bytes.extend_from_slice(taken),
            }
            return;
        }
        match self.raw {
            // What stands in a frame is for browsers that know none.
            Some(b"iframe") => {}
            Some(name) if raw && !name.is_empty() => self.put(text),
            _ => {
                if !text.trim_ascii().is_empty() && self.bar.is_some() {
                    self.put_bar();
                }
                match raw || text == b"<" {
                    true => {
                        let mut escaped = Vec::with_capacity(text.len() + 8);
                        escape_text(text, &mut escaped);
                        self.put(&escaped);
                    }
                    false => self.put(text),
                }
            }
        }
    }

    fn has_enough(&self) -> bool {
        self.failed.is_some()
    }
}

enum Value {
    /// As it stands in the document.
    AsWritten,
    Text(String),
}

/// Finds the first `<base href>`.
struct Bases {
    first: Option<String>,
}

impl Sink for Bases {
    fn start(&mut self, tag: &Tag<'_>) {
        if self.first.is_none()
            && !tag.is_foreign
            && tag.name.eq_ignore_ascii_case(b"base")
            && let Some(href) = tag.get(b"href")
        {
            self.first = Some(unescaped_bytes(href).into_owned());
        }
    }

    fn end(&mut self, _: &[u8]) {}

    fn style_sheet(&mut self, _: &Tag<'_>) {}

    fn wants_text(&self) -> bool {
        false
    }

    fn text(&mut self, _: &[u8], _: bool) {}
}

/// The type of the document as it stands there, which says how a browser lays it out. One that
/// declares anything is none.
fn doctype(head: &[u8]) -> Option<&[u8]> {
    let mut rest = head.trim_ascii_start();
    loop {
        rest = match rest {
            [b'<', b'!', b'-', b'-', after @ ..] => &after[memchr::memmem::find(after, b"-->")? + 3..],
            [b'<', b'?', after @ ..] => &after[memchr::memchr(b'>', after)? + 1..],
            _ => break,
        }
        .trim_ascii_start();
    }
    let is_doctype = rest.get(..9).is_some_and(|start| start.eq_ignore_ascii_case(b"<!doctype"));
    let end = memchr::memchr(b'>', rest).filter(|_| is_doctype)? + 1;
    let whole = &rest[..end];
    let is_plain =
        whole.len() < 512 && whole[1..].iter().all(|byte| byte.is_ascii() && !matches!(byte, b'<' | b'['));
    is_plain.then_some(whole)
}

fn purpose_of_href(element: &[u8], tag: &Tag<'_>) -> For {
    match local(element) {
        b"link" if is_shown(tag) => For::Page,
        b"link" | b"a" | b"area" => For::Reader,
        _ if tag.is_foreign => For::Page,
        b"image" | b"use" | b"feimage" | b"pattern" | b"lineargradient" | b"radialgradient" => For::Page,
        _ => For::Reader,
    }
}

/// Whether a `<link>` is something that the page is shown with.
fn is_shown(tag: &Tag<'_>) -> bool {
    let rel = tag.get(b"rel").map(<[u8]>::to_ascii_lowercase).unwrap_or_default();
    ["stylesheet", "icon"].iter().any(|word| memchr::memmem::find(&rel, word.as_bytes()).is_some())
}

/// Whether a `<link>` only says what to load ahead.
fn is_hint(tag: &Tag<'_>) -> bool {
    const HINTS: [&[u8]; 9] = [
        b"dns-prefetch",
        b"preconnect",
        b"prefetch",
        b"prerender",
        b"preload",
        b"modulepreload",
        b"manifest",
        b"serviceworker",
        b"import",
    ];
    let rel = tag.get(b"rel").unwrap_or_default();
    let mut words = rel.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    !is_shown(tag) && words.any(|word| HINTS.iter().any(|hint| hint.eq_ignore_ascii_case(word)))
}

/// Without the prefix of its namespace.
fn local(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b':').next().unwrap_or(name)
}

/// Whether every browser reads it as the same name.
fn is_name(name: &[u8]) -> bool {
    let is_part = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.' | b'@') || *byte >= 0x80
    };
    !name.is_empty() && name.iter().all(is_part)
}

fn attribute<'a>(tag: &Tag<'a>, name: &[u8]) -> &'a [u8] {
    let found = tag.attributes().find(|(own, _)| own.eq_ignore_ascii_case(name));
    found.map_or(b"", |(_, value)| value)
}

/// A value as it stood in the document, between double quotes.
fn push_written(raw: &[u8], out: &mut Vec<u8>) {
    for byte in raw {
        match byte {
            b'"' => out.extend_from_slice(b"&quot;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'\0' => {}
            byte => out.push(*byte),
        }
    }
}

/// A text as a value, between double quotes.
fn push_text(text: &str, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            byte => push_written(&[byte], out),
        }
    }
}

fn escape_text(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            byte => out.push(*byte),
        }
    }
}

fn unescaped_bytes(raw: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(raw) {
        Cow::Borrowed(text) => htmlize::unescape_attribute(text),
        Cow::Owned(text) => Cow::Owned(htmlize::unescape_attribute(&text).into_owned()),
    }
}
