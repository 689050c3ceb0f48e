//! What a reader sees of a page (I10): its title and its text as plain lines, one for each
//! paragraph, heading, item and row; cells of a row are parted by tabs.
//!
//! It is the scanner that reads links, with another sink: no tree, no style, no script. What only a
//! style sheet hides is therefore in the text, and what only a script writes is not.

use std::io::Read;

use super::charset::{self, Charset, Transcoded};
use super::markup::{self, Dialect, Sink};
use super::sniff::{self, Form, Promise};
use super::tag::Tag;
use super::window::Window;
use super::{Limits, readable, text};
use crate::decode;
use crate::exchange::Head;

/// Longest line that is gathered before it is written: a page of one paragraph.
const LINE_BYTES_MAX: usize = 256 << 10;

/// Elements that begin a line of their own, and end it.
const LINES: [&[u8]; 39] = [
    b"address",
    b"article",
    b"aside",
    b"blockquote",
    b"body",
    b"br",
    b"caption",
    b"dd",
    b"details",
    b"div",
    b"dl",
    b"dt",
    b"fieldset",
    b"figcaption",
    b"figure",
    b"footer",
    b"form",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"header",
    b"hr",
    b"legend",
    b"li",
    b"main",
    b"nav",
    b"ol",
    b"option",
    b"p",
    b"pre",
    b"section",
    b"summary",
    b"table",
    b"title",
    b"tr",
    b"ul",
];

/// Elements whose text nobody sees.
const UNSEEN: [&[u8]; 5] = [b"script", b"style", b"template", b"datalist", b"iframe"];

/// Stands between two cells of a row, and for nothing on any page.
const CELL: u8 = 0x1F;

/// The text of an answer, up to so many bytes; none if it is neither a page nor text.
pub fn words(head: &Head, body: &mut dyn Read, bytes_max: usize) -> Option<String> {
    let content_type = head.content_type();
    let essence = content_type.essence.as_str();
    let is_text =
        essence.starts_with("text/") || matches!(essence, "application/json" | "application/ld+json");
    let promise = sniff::promise(essence);
    if promise == Promise::Other && !is_text {
        return None;
    }
    let max = Limits::default().decoded_bytes_max;
    let mut body = decode::decoded(head.all("content-encoding"), body, max).unwrapped(max);
    let window = Window::new(&mut body);
    let http = content_type.charset.as_deref();
    let form = sniff::form(promise, window.bytes(), false);
    let of = if form == Form::Html { charset::of_html } else { charset::of_xml };
    let (charset, mark) = of(window.bytes(), http);
    let dialect = match form {
        Form::Html => Dialect::Html,
        Form::Xhtml | Form::Feed | Form::Xml => Dialect::Xml,
        Form::Other if !is_text => return None,
        Form::Css | Form::Lines | Form::Other => return Some(plain(window, &charset, mark, bytes_max)),
    };
    let each = matches!(form, Form::Feed | Form::Xml);
    let (out, line) = (String::new(), Vec::new());
    let mut reader = Reader { charset: &charset, dialect, each, out, bytes_max, line, unseen: None };
    markup::scan(&mut readable(window, &charset, mark), dialect, &mut reader);
    reader.end_line();
    Some(reader.out)
}

/// What is text already.
fn plain(mut window: Window<'_>, charset: &Charset, mark: usize, bytes_max: usize) -> String {
    window.consume(mark);
    let mut bytes = Vec::new();
    // Reading what was decoded does not fail, and what was read until then would be the text.
    let _ = match charset.needs_transcoding() {
        true => Transcoded::new(window.into_reader(), charset).take(bytes_max as u64).read_to_end(&mut bytes),
        false => window.into_reader().take(bytes_max as u64).read_to_end(&mut bytes),
    };
    charset.text_of_cut(&bytes)
}

struct Reader<'c> {
    charset: &'c Charset,
    dialect: Dialect,
    /// Elements mean nothing to us, so each is a line.
    each: bool,
    out: String,
    bytes_max: usize,
    /// Of the line that is being read, as it stands in the page.
    line: Vec<u8>,
    /// Within an element that nobody sees: its name, and how many of that name are open.
    unseen: Option<(&'static [u8], u32)>,
}

impl Reader<'_> {
    /// Whether the element stands on lines of its own.
    fn parts(&self, name: &[u8]) -> bool {
        self.each || named(&LINES, name).is_some()
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return;
        }
        let shown = self.charset.text(&line);
        let shown = htmlize::unescape(shown);
        let cells = shown.split(char::from(CELL)).map(|cell| text::collapsed(cell, LINE_BYTES_MAX));
        let cells: Vec<String> = cells.collect();
        let shown = cells.join("\t");
        let shown = shown.trim();
        let room = self.bytes_max.saturating_sub(self.out.len() + 1);
        if !shown.is_empty() && room > 0 {
            let end = (0..=room.min(shown.len())).rev().find(|at| shown.is_char_boundary(*at)).unwrap_or(0);
            self.out.push_str(&shown[..end]);
            self.out.push('\n');
        }
        self.line = line;
        self.line.clear();
    }
}

impl Sink for Reader<'_> {
    fn start(&mut self, tag: &Tag<'_>) {
        if let Some((name, open)) = &mut self.unseen {
            *open += u32::from(tag.name.eq_ignore_ascii_case(name));
            return;
        }
        self.unseen = named(&UNSEEN, tag.name).map(|name| (name, 1));
        if is_cell(tag.name) {
            self.text(&[CELL], false);
        } else if self.parts(tag.name) {
            self.end_line();
        }
    }

    fn end(&mut self, name: &[u8]) {
        if let Some((own, open)) = &mut self.unseen {
            *open -= u32::from(name.eq_ignore_ascii_case(own));
            self.unseen = self.unseen.filter(|(_, open)| *open > 0);
        } else if !is_cell(name) && self.parts(name) {
            self.end_line();
        }
    }

    fn style_sheet(&mut self, _: &Tag<'_>) {}

    fn wants_text(&self) -> bool {
        self.unseen.is_none() && self.out.len() < self.bytes_max
    }

    fn text(&mut self, text: &[u8], raw: bool) {
        for (n, piece) in text.split(|byte| raw && self.dialect == Dialect::Xml && *byte == b'&').enumerate()
        {
            if n > 0 {
                self.line.extend_from_slice(b"&amp;");
            }
            self.line.extend_from_slice(piece);
        }
        if self.line.len() > LINE_BYTES_MAX {
            self.end_line();
        }
    }
}

fn named(names: &[&'static [u8]], name: &[u8]) -> Option<&'static [u8]> {
    names.iter().copied().find(|own| own.eq_ignore_ascii_case(name))
}

fn is_cell(name: &[u8]) -> bool {
    named(&[b"td", b"th"], name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(content_type: &str, body: &[u8], bytes_max: usize) -> Option<String> {
        let headers = vec![("Content-Type".to_owned(), content_type.as_bytes().to_vec())];
        words(&Head { status: 200, headers, bytes: 0 }, &mut &*body, bytes_max)
    }

    #[test]
    fn i10_the_text_of_a_page_is_what_a_reader_sees_line_by_line() {
        let html = "text/html; charset=utf-8";
        for (content_type, body, text) in [
            (
                html,
                "<title>A &amp; B</title><p>one <b>t</b>wo<br>three</p>four",
                "A & B\none two\nthree\nfour\n",
            ),
            (html, "<script>if (a<b) x()</script><style>p{}</style>seen", "seen\n"),
            (html, "<template><p>un<template>seen</template>seen</template>seen", "seen\n"),
            (html, "<table><tr><td>1</td><td>2\t2</td></tr><tr><th>3<td></table>", "1\t2 2\n3\n"),
            (html, "<ul><li>å<li>ø</ul><!-- not this -->&lt;p&gt;", "å\nø\n<p>\n"),
            (html, "", ""),
            ("application/xhtml+xml", "<html><body><p>a<![CDATA[&amp;]]></p></body></html>", "a&amp;\n"),
            ("application/rss+xml", "<rss><title>t</title><description>d</description></rss>", "t\nd\n"),
            ("text/plain", "as it\n is", "as it\n is"),
            ("application/json", "{\"a\": 1}", "{\"a\": 1}"),
        ] {
            assert_eq!(of(content_type, body.as_bytes(), 1 << 20).as_deref(), Some(text), "{body}");
        }
        assert_eq!(of("image/png", b"\x89PNG", 1 << 20), None);
        assert_eq!(of("text/html; charset=iso-8859-1", b"<p>\xE5", 99).as_deref(), Some("å\n"));
        assert_eq!(of("text/plain", b"\xFF\xFEa\0\xE5\0", 99).as_deref(), Some("aå"));
    }

    #[test]
    fn i10_a11_the_text_of_a_page_is_bounded() {
        for body in ["<p>words ", "<td>", "w", "æ", "<template>", "<br>a", "&amp;"] {
            let text = of("text/html; charset=utf-8", body.repeat(200_000).as_bytes(), 1000).unwrap();
            assert!(text.len() <= 1000, "{body}: {}", text.len());
        }
    }
}
