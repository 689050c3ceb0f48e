//! Parts of an XML document with a base of their own: elements with `xml:base`, as in Atom and SVG.
//!
//! From the first such element on, the open elements are remembered by name until it ends, so that
//! a document with an end tag too many or too few loses no more than the part it is in.

use super::charset::Charset;
use super::collect::{Collector, Entered};
use super::tag::Tag;
use super::text;

/// Open elements that are remembered within a part; deeper ones are taken to be closed at once.
const OPEN_MAX: usize = 256;

#[derive(Default)]
pub(super) struct Parts {
    open: Vec<Open>,
}

struct Open {
    name: Box<[u8]>,
    /// Where it has a base of its own.
    entered: Option<Entered>,
}

impl Parts {
    pub(super) fn start(&mut self, tag: &Tag<'_>, charset: &Charset, collector: &mut Collector) {
        let base = tag.get(b"xml:base");
        if (base.is_none() && self.open.is_empty()) || self.open.len() >= OPEN_MAX {
            return;
        }
        let entered = base.map(|base| collector.enter(text::attribute(charset, base).trim_ascii()));
        self.open.push(Open { name: tag.name.into(), entered });
    }

    pub(super) fn end(&mut self, name: &[u8], collector: &mut Collector) {
        let Some(at) = self.open.iter().rposition(|open| &*open.name == name) else { return };
        for open in self.open.drain(at..).rev() {
            if let Some(entered) = open.entered {
                collector.leave(&entered);
            }
        }
    }
}
