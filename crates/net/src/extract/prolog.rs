//! What stands before the first element of any XML document: the style sheet a browser shows it
//! with.

use policy::model::LinkKind;

use super::charset::Charset;
use super::collect::Collector;
use super::markup::Sink;
use super::tag::Tag;
use super::text;

pub(super) struct Prolog<'c> {
    collector: &'c mut Collector,
    charset: &'c Charset,
    ended: bool,
}

impl<'c> Prolog<'c> {
    pub(super) fn new(collector: &'c mut Collector, charset: &'c Charset) -> Prolog<'c> {
        Prolog { collector, charset, ended: false }
    }
}

impl Sink for Prolog<'_> {
    fn start(&mut self, _: &Tag<'_>) {
        self.ended = true;
    }

    fn end(&mut self, _: &[u8]) {}

    fn style_sheet(&mut self, tag: &Tag<'_>) {
        if !self.ended {
            style_sheet(tag, self.charset, self.collector);
        }
    }

    fn wants_text(&self) -> bool {
        false
    }

    fn text(&mut self, _: &[u8], _: bool) {}
}

/// Takes what `<?xml-stylesheet href="…"?>` names.
pub(super) fn style_sheet(tag: &Tag<'_>, charset: &Charset, collector: &mut Collector) {
    if let Some(href) = tag.get(b"href") {
        collector.add(&text::attribute(charset, href), LinkKind::Requisite, "xml-stylesheet/@href");
    }
}
