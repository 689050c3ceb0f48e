//! Links out of HTML (A10).
//!
//! Requisites are what a browser would fetch to show the page; links are what a person could follow; a refresh that names a URL is a
//! redirect, however late it comes. Scripts are not run and not searched.

use policy::model::LinkKind::{self, Link, Redirect, Requisite};

use super::charset::Charset;
use super::collect::Collector;
use super::markup::Sink;
use super::tag::Tag;
use super::{Limits, css, text, value};

/// Longest `<style>` that is read, and longest `style` attribute.
const STYLE_BYTES_MAX: usize = 1 << 20;

/// Longest name of an element that has links.
const NAME_BYTES_MAX: usize = 8;

/// The sink that fills a [`Collector`].
pub(super) struct Html<'c> {
    pub(super) collector: &'c mut Collector,
    pub(super) title: Option<String>,
    /// The first `<base href>`; later ones do not count.
    pub(super) base: Option<String>,
    charset: Charset,
    limits: Limits,
    forms: bool,
    capture: Capture,
    captured: Vec<u8>,
    captured_max: usize,
    /// The link whose anchor text is being read, and the first picture's description in it.
    anchor: Option<usize>,
    alt: Option<String>,
}

/// What text is being read for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Capture {
    Nothing,
    Anchor,
    Title,
    Style,
}

impl<'c> Html<'c> {
    pub(super) fn new(
        collector: &'c mut Collector,
        charset: Charset,
        limits: Limits,
        forms: bool,
    ) -> Html<'c> {
        Html {
            collector,
            title: None,
            base: None,
            charset,
            limits,
            forms,
            capture: Capture::Nothing,
            captured: Vec::new(),
            captured_max: 0,
            anchor: None,
            alt: None,
        }
    }

    /// At the end of the page: an anchor that was never closed ends here.
    pub(super) fn finish(&mut self) {
        self.close_capture();
        self.close_anchor();
    }

    fn link(&mut self, tag: &Tag<'_>, attribute: &[u8], kind: LinkKind, how: &'static str) -> Option<usize> {
        let raw = text::attribute(self.charset, tag.get(attribute)?);
        self.collector.add(&raw, kind, how)
    }

    fn srcset(&mut self, tag: &Tag<'_>, attribute: &[u8], how: &'static str) {
        let Some(set) = tag.get(attribute) else { return };
        for url in value::srcset(&text::attribute(self.charset, set)) {
            self.collector.add(url, Requisite, how);
        }
    }

    fn attribute(&self, tag: &Tag<'_>, name: &[u8]) -> String {
        tag.get(name).map(|raw| text::attribute(self.charset, raw).into_owned()).unwrap_or_default()
    }

    fn element(&mut self, name: &[u8], tag: &Tag<'_>) {
        match name {
            b"a" => self.open_anchor(tag),
            b"area" => {
                if let Some(at) = self.link(tag, b"href", Link, "area/@href") {
                    let alt = self.attribute(tag, b"alt");
                    self.collector.anchor(at, &text::collapsed(&alt, self.limits.anchor_bytes_max));
                }
            }
            b"link" => self.link_element(tag),
            b"meta" => self.meta(tag),
            b"base" => {
                if self.base.is_none() && tag.get(b"href").is_some() {
                    self.base = Some(self.attribute(tag, b"href"));
                }
            }
            b"form" if self.forms => self.form(tag),
            b"style" => self.open_capture(Capture::Style, STYLE_BYTES_MAX),
            b"title" if self.title.is_none() => self.open_capture(Capture::Title, text::TITLE_BYTES_MAX),
            b"input" => {
                if tag.get(b"type").is_some_and(|kind| kind.trim_ascii().eq_ignore_ascii_case(b"image")) {
                    self.link(tag, b"src", Requisite, "input/@src");
                }
            }
            _ => self.requisite(name, tag),
        }
    }

    fn requisite(&mut self, name: &[u8], tag: &Tag<'_>) {
        match name {
            b"img" => self.img(tag),
            b"source" => {
                self.link(tag, b"src", Requisite, "source/@src");
                self.srcset(tag, b"srcset", "source/@srcset");
                self.srcset(tag, b"data-srcset", "source/@data-srcset");
            }
            b"script" => {
                self.link(tag, b"src", Requisite, "script/@src");
            }
            b"iframe" => {
                self.link(tag, b"src", Requisite, "iframe/@src");
                self.link(tag, b"data-src", Requisite, "iframe/@data-src");
            }
            b"frame" => {
                self.link(tag, b"src", Requisite, "frame/@src");
            }
            b"video" => {
                self.link(tag, b"src", Requisite, "video/@src");
                self.link(tag, b"poster", Requisite, "video/@poster");
            }
            b"audio" => {
                self.link(tag, b"src", Requisite, "audio/@src");
            }
            b"track" => {
                self.link(tag, b"src", Requisite, "track/@src");
            }
            b"embed" => {
                self.link(tag, b"src", Requisite, "embed/@src");
            }
            b"object" => {
                self.link(tag, b"data", Requisite, "object/@data");
            }
            b"html" => {
                self.link(tag, b"manifest", Requisite, "html/@manifest");
            }
            b"body" | b"table" | b"thead" | b"tbody" | b"tfoot" | b"tr" | b"td" | b"th" => {
                self.link(tag, b"background", Requisite, "@background");
            }
            b"image" | b"use" | b"feimage" => {
                self.link(tag, b"href", Requisite, "svg/@href");
                self.link(tag, b"xlink:href", Requisite, "svg/@xlink:href");
            }
            _ => {}
        }
    }

    fn img(&mut self, tag: &Tag<'_>) {
        self.link(tag, b"src", Requisite, "img/@src");
        self.srcset(tag, b"srcset", "img/@srcset");
        self.link(tag, b"data-src", Requisite, "img/@data-src");
        self.srcset(tag, b"data-srcset", "img/@data-srcset");
        if self.anchor.is_some() && self.alt.is_none() {
            self.alt = tag.get(b"alt").map(|_| self.attribute(tag, b"alt"));
        }
    }

    fn link_element(&mut self, tag: &Tag<'_>) {
        if let Some(kind) = value::rel(&self.attribute(tag, b"rel")) {
            self.link(tag, b"href", kind, "link/@href");
            if kind == Requisite {
                self.srcset(tag, b"imagesrcset", "link/@imagesrcset");
            }
        }
    }

    fn meta(&mut self, tag: &Tag<'_>) {
        if tag.get(b"http-equiv").is_some_and(|name| name.trim_ascii().eq_ignore_ascii_case(b"refresh"))
            && let Some(url) = value::refresh(&self.attribute(tag, b"content"))
        {
            self.collector.add(url, Redirect, "meta/refresh");
        }
    }

    fn form(&mut self, tag: &Tag<'_>) {
        if tag.get(b"method").is_none_or(|method| !method.trim_ascii().eq_ignore_ascii_case(b"post")) {
            self.link(tag, b"action", Link, "form/@action");
        }
    }

    fn style_attribute(&mut self, style: &[u8]) {
        if style.len() <= STYLE_BYTES_MAX && memchr::memchr(b'(', style).is_some() {
            css::text(&text::attribute(self.charset, style), self.collector, "@style");
        }
    }

    fn open_anchor(&mut self, tag: &Tag<'_>) {
        self.close_anchor();
        let found = self.link(tag, b"href", Link, "a/@href");
        self.anchor = found.filter(|at| self.limits.anchor_bytes_max > 0 && !self.collector.has_anchor(*at));
        if self.anchor.is_some() {
            self.open_capture(Capture::Anchor, text::raw_bytes_for(self.limits.anchor_bytes_max));
        }
    }

    fn close_anchor(&mut self) {
        if self.capture == Capture::Anchor {
            self.capture = Capture::Nothing;
        }
        let Some(at) = self.anchor.take() else { return };
        let alt = self.alt.take();
        let mut anchor = text::shown(self.charset, &self.captured, self.limits.anchor_bytes_max);
        if anchor.is_empty() {
            anchor = text::collapsed(&alt.unwrap_or_default(), self.limits.anchor_bytes_max);
        }
        self.collector.anchor(at, &anchor);
    }

    /// A title or style within an anchor ends it: no text of it is lost that a reader would miss.
    fn open_capture(&mut self, capture: Capture, bytes_max: usize) {
        if capture != Capture::Anchor {
            self.close_anchor();
        }
        self.captured.clear();
        (self.capture, self.captured_max) = (capture, bytes_max);
    }

    fn close_capture(&mut self) {
        match std::mem::replace(&mut self.capture, Capture::Nothing) {
            Capture::Title => {
                self.title = Some(text::shown(self.charset, &self.captured, text::TITLE_BYTES_MAX));
            }
            Capture::Style => css::text(&self.charset.text(&self.captured), self.collector, "style/url()"),
            other => self.capture = other,
        }
    }
}

impl Sink for Html<'_> {
    fn start(&mut self, tag: &Tag<'_>) {
        let mut name = [0; NAME_BYTES_MAX];
        if let Some(name) = name.get_mut(..tag.name.len()) {
            name.copy_from_slice(tag.name);
            name.make_ascii_lowercase();
            self.element(name, tag);
        }
        if let Some(style) = tag.get(b"style") {
            self.style_attribute(style);
        }
    }

    fn end(&mut self, name: &[u8]) {
        match self.capture {
            Capture::Nothing => {}
            Capture::Anchor if name.eq_ignore_ascii_case(b"a") => self.close_anchor(),
            Capture::Title if name.eq_ignore_ascii_case(b"title") => self.close_capture(),
            Capture::Style if name.eq_ignore_ascii_case(b"style") => self.close_capture(),
            _ => {}
        }
    }

    fn wants_text(&self) -> bool {
        self.capture != Capture::Nothing && self.captured.len() < self.captured_max
    }

    fn text(&mut self, text: &[u8], raw: bool) {
        if raw && self.capture == Capture::Anchor {
            return;
        }
        let room = self.captured_max.saturating_sub(self.captured.len());
        self.captured.extend_from_slice(&text[..text.len().min(room)]);
    }
}
