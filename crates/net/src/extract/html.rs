//! Links out of HTML (A10).
//!
//! Requisites are what a browser would fetch to show the page; links are what a person could
//! follow; a refresh that names a URL is a redirect, however late it comes. Scripts are not run and
//! not searched. A document within the page (`srcdoc`) is read like the page, with a base of its
//! own if it has one.

mod elements;

use policy::model::LinkKind::Requisite;
use policy::trap::text::Sketcher;

use super::charset::Charset;
use super::collect::Collector;
use super::markup::{self, Dialect, Sink};
use super::part::Parts;
use super::tag::Tag;
use super::text::Gathered;
use super::window::Window;
use super::{Limits, css, prolog, text};

/// Longest `<style>` that is read, and longest `style` attribute.
const STYLE_BYTES_MAX: usize = 1 << 20;

/// Longest name of an element that has links.
const NAME_BYTES_MAX: usize = 8;

/// Documents within documents within the page that are read.
const DOCUMENTS_DEEP_MAX: u32 = 3;

/// The sink that fills a [`Collector`].
pub(super) struct Html<'c> {
    collector: &'c mut Collector,
    pub(super) title: Option<String>,
    /// The first `<base href>`; later ones do not count.
    pub(super) base: Option<String>,
    charset: &'c Charset,
    dialect: Dialect,
    limits: Limits,
    forms: bool,
    /// Documents around this one.
    deep: u32,
    /// Open templates: what is in them is no part of the page until a script makes it one.
    templates: u32,
    parts: Parts,
    capture: Option<Capture>,
    captured: Gathered,
    anchor: Option<Anchor>,
    anchor_text: Gathered,
    /// Takes what a reader sees, where somebody wants to know.
    pub(super) sketcher: Option<Sketcher>,
}

/// Text that is read for itself, and is no part of an anchor around it.
#[derive(Clone, Copy)]
struct Capture {
    what: What,
    /// It is in a drawing, and ends with it at the latest.
    is_foreign: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Title,
    Style,
    /// The title of a drawing, which is its description.
    Description,
    /// Nothing that anybody sees.
    Script,
}

/// The link whose anchor text is being read, and the first picture's description in it.
struct Anchor {
    at: usize,
    alt: Option<String>,
}

impl<'c> Html<'c> {
    pub(super) fn new(
        collector: &'c mut Collector,
        charset: &'c Charset,
        dialect: Dialect,
        limits: Limits,
        forms: bool,
    ) -> Html<'c> {
        Html {
            collector,
            title: None,
            base: None,
            charset,
            dialect,
            limits,
            forms,
            deep: 0,
            templates: 0,
            parts: Parts::default(),
            capture: None,
            captured: Gathered::default(),
            anchor: None,
            anchor_text: Gathered::default(),
            sketcher: None,
        }
    }

    /// At the end of the page: an anchor that was never closed ends here.
    pub(super) fn finish(&mut self) {
        self.close_capture();
        self.close_anchor();
    }

    /// Reads a document within this one.
    fn document(&mut self, tag: &Tag<'_>) {
        let Some(raw) = tag.get(b"srcdoc").filter(|_| self.deep < DOCUMENTS_DEEP_MAX) else { return };
        let document = text::attribute(self.charset, raw);
        let entered = self.collector.enter("");
        let charset = Charset::new(encoding_rs::UTF_8);
        let inner = Html::new(self.collector, &charset, Dialect::Html, self.limits, self.forms);
        let mut inner = Html { deep: self.deep + 1, ..inner };
        // It is shorter than the window, so nothing in it is too long.
        markup::scan(&mut Window::new(document.as_bytes()), Dialect::Html, &mut inner);
        inner.finish();
        let base = inner.base.take();
        if let Some(base) = base {
            self.collector.rebase(&entered, &base);
        }
        self.collector.leave(&entered);
    }

    fn style_attribute(&mut self, style: &[u8]) {
        if style.len() <= STYLE_BYTES_MAX && memchr::memchr(b'(', style).is_some() {
            css::text(&text::attribute(self.charset, style), self.collector, "@style");
        }
    }

    /// Reads the text that follows for the link at `found`, unless it has an anchor already.
    fn open_anchor(&mut self, found: Option<usize>) {
        self.close_anchor();
        let found = found.filter(|at| self.limits.anchor_bytes_max > 0 && !self.collector.has_anchor(*at));
        self.anchor = found.map(|at| Anchor { at, alt: None });
        if self.anchor.is_some() {
            self.anchor_text.begin(text::raw_bytes_for(self.limits.anchor_bytes_max));
        }
    }

    fn close_anchor(&mut self) {
        let Some(Anchor { at, alt }) = self.anchor.take() else { return };
        let bytes_max = self.limits.anchor_bytes_max;
        let mut anchor = self.anchor_text.shown(self.charset, bytes_max);
        if anchor.is_empty() {
            anchor = text::collapsed(&alt.unwrap_or_default(), bytes_max);
        }
        self.collector.anchor(at, &anchor);
    }

    fn reads_anchor(&self) -> bool {
        self.anchor.is_some() && self.anchor_text.has_room()
    }

    fn open_capture(&mut self, what: What, is_foreign: bool, bytes_max: usize) {
        self.close_capture();
        self.captured.begin(bytes_max);
        self.capture = Some(Capture { what, is_foreign });
    }

    fn close_capture(&mut self) {
        let Some(capture) = self.capture.take() else { return };
        match capture.what {
            What::Title => {
                let title = self.captured.shown(self.charset, text::TITLE_BYTES_MAX);
                if let Some(sketcher) = &mut self.sketcher {
                    sketcher.text(title.as_bytes());
                }
                self.title = Some(title);
            }
            What::Style => self.read_style(capture),
            What::Description => {
                let description = self.captured.shown(self.charset, self.limits.anchor_bytes_max);
                if let Some(anchor) = &mut self.anchor {
                    anchor.alt.get_or_insert(description);
                }
            }
            What::Script => {}
        }
    }

    fn read_style(&mut self, capture: Capture) {
        let css = if self.has_references(capture) {
            self.captured.unescaped(self.charset)
        } else {
            self.captured.text(self.charset)
        };
        let whole = if self.captured.is_cut() { css::finished(&css) } else { &css };
        css::text(whole, self.collector, "style/url()");
    }

    /// Whether a style holds markup, as it does everywhere but in HTML itself.
    fn has_references(&self, capture: Capture) -> bool {
        capture.is_foreign || self.dialect == Dialect::Xml
    }
}

impl Sink for Html<'_> {
    fn start(&mut self, tag: &Tag<'_>) {
        if self.capture.is_some_and(|capture| capture.is_foreign && !tag.is_foreign) {
            self.close_capture();
        }
        if self.dialect == Dialect::Xml {
            self.parts.start(tag, self.charset, self.collector);
        }
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
        if let Some(capture) = self.capture
            && (name.eq_ignore_ascii_case(capture.what.element())
                || (capture.is_foreign && name.eq_ignore_ascii_case(b"svg")))
        {
            self.close_capture();
        }
        if name.eq_ignore_ascii_case(b"a") {
            self.close_anchor();
        } else if self.templates > 0 && name.eq_ignore_ascii_case(b"template") {
            self.templates -= 1;
        }
        if self.dialect == Dialect::Xml {
            self.parts.end(name, self.collector);
        }
    }

    fn style_sheet(&mut self, tag: &Tag<'_>) {
        prolog::style_sheet(tag, self.charset, self.collector);
    }

    fn wants_text(&self) -> bool {
        match self.capture {
            Some(capture) => capture.what != What::Script && self.captured.has_room(),
            None => self.reads_anchor() || self.sketcher.as_ref().is_some_and(Sketcher::has_room),
        }
    }

    fn text(&mut self, text: &[u8], raw: bool) {
        match self.capture {
            Some(capture) if raw && self.has_references(capture) => self.captured.push_literal(text),
            Some(_) => self.captured.push(text),
            None if raw => {}
            None => {
                if self.reads_anchor() {
                    self.anchor_text.push(text);
                }
                if let Some(sketcher) = self.sketcher.as_mut().filter(|sketcher| sketcher.has_room()) {
                    sketcher.text(text);
                }
            }
        }
    }
}

impl What {
    fn element(self) -> &'static [u8] {
        match self {
            What::Title | What::Description => b"title",
            What::Style => b"style",
            What::Script => b"script",
        }
    }
}
