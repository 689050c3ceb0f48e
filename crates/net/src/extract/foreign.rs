//! Where SVG and MathML are in a page, by the rules of the HTML standard for foreign content
//! (13.2.6.5).
//!
//! Inside an `<svg>` or `<math>` elements may close themselves, `style` and `script` hold markup
//! like any other, and `a`, `script`, `image` and `title` mean something else than outside. It ends
//! with its end tag, with the start of an HTML element that cannot be in a drawing (a `<div>` after
//! an `<svg>` that nobody closed), or with the end of an HTML element around it. In `foreignObject`
//! and its likes HTML begins anew.
//!
//! Only elements of drawings are on the stack, so a page without any pays nothing.

/// Open elements that are told apart; deeper ones are taken to be closed at once.
const OPEN_MAX: usize = 256;

/// Longest name that any of the tables below has.
const NAME_BYTES_MAX: usize = 16;

pub(super) struct Foreign {
    open: Vec<Open>,
    /// In XML everything has an end tag, and nothing breaks out.
    is_xml: bool,
}

struct Open {
    name: u64,
    /// What is in it is HTML again.
    holds_html: bool,
}

impl Foreign {
    pub(super) fn new(is_xml: bool) -> Foreign {
        Foreign { open: Vec::new(), is_xml }
    }

    /// Whether what comes next belongs to a drawing or formula.
    pub(super) fn is_inside(&self) -> bool {
        self.open.last().is_some_and(|open| !open.holds_html)
    }

    /// Takes a start tag, and says whether its element is foreign.
    pub(super) fn start(&mut self, name: &[u8], self_closing: bool) -> bool {
        if self.open.is_empty() && !is_root(name) {
            return false;
        }
        let mut buffer = [0; NAME_BYTES_MAX];
        let lower = lower(name, &mut buffer);
        if self.is_inside() && !self.is_xml && breaks_out(lower) {
            self.leave();
        }
        if !self.is_inside() && !is_root(name) {
            return false;
        }
        if !self_closing && self.open.len() < OPEN_MAX {
            self.open.push(Open { name: hash(name), holds_html: holds_html(lower) });
        }
        true
    }

    pub(super) fn end(&mut self, name: &[u8]) {
        if self.open.is_empty() {
            return;
        }
        let name_hash = hash(name);
        let is_this = |open: &Open| open.name == name_hash;
        let found = if self.is_inside() {
            let outer = self.open.iter().rposition(|open| open.holds_html).map_or(0, |at| at + 1);
            self.open[outer..].iter().rposition(is_this).map(|at| outer + at)
        } else if is_root(name) {
            self.open.iter().rposition(is_this)
        } else {
            self.open.last().is_some_and(is_this).then(|| self.open.len() - 1)
        };
        if let Some(found) = found {
            self.open.truncate(found);
        } else if self.is_inside() && !self.is_xml {
            let mut buffer = [0; NAME_BYTES_MAX];
            if closes_from_outside(lower(name, &mut buffer)) {
                self.leave();
            }
        }
    }

    /// Back to the HTML around.
    fn leave(&mut self) {
        while self.is_inside() {
            self.open.pop();
        }
    }
}

fn is_root(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"svg") || name.eq_ignore_ascii_case(b"math")
}

/// In lower case, as far as any table could know it.
fn lower<'b>(name: &[u8], buffer: &'b mut [u8; NAME_BYTES_MAX]) -> &'b [u8] {
    let Some(lower) = buffer.get_mut(..name.len()) else { return b"" };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    lower
}

/// FNV-1a, whatever the case of its letters: two names that share it are taken for one.
fn hash(name: &[u8]) -> u64 {
    name.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The integration points. `annotation-xml` is one only for some encodings; the others have no HTML
/// in them anyway.
fn holds_html(name: &[u8]) -> bool {
    matches!(
        name,
        b"foreignobject" | b"desc" | b"title" | b"annotation-xml" | b"mi" | b"mo" | b"mn" | b"ms" | b"mtext"
    )
}

/// The start of such an element ends the drawing (`font` does so only with some attributes, and has
/// no links).
fn breaks_out(name: &[u8]) -> bool {
    match name.len() {
        1 => matches!(name, b"b" | b"i" | b"p" | b"s" | b"u"),
        2 => matches!(
            name,
            b"br"
                | b"dd"
                | b"dl"
                | b"dt"
                | b"em"
                | b"h1"
                | b"h2"
                | b"h3"
                | b"h4"
                | b"h5"
                | b"h6"
                | b"hr"
                | b"li"
                | b"ol"
                | b"tt"
                | b"ul"
        ),
        3 => matches!(name, b"big" | b"div" | b"img" | b"pre" | b"sub" | b"sup" | b"var"),
        4 => matches!(name, b"body" | b"code" | b"head" | b"menu" | b"meta" | b"nobr" | b"ruby" | b"span"),
        5 => matches!(name, b"embed" | b"small" | b"table"),
        _ => matches!(name, b"blockquote" | b"center" | b"listing" | b"strike" | b"strong"),
    }
}

/// The end of such an element, where none is open in the drawing, is the end of one that the
/// drawing is in.
fn closes_from_outside(name: &[u8]) -> bool {
    breaks_out(name)
        || matches!(
            name,
            b"a" | b"td"
                | b"th"
                | b"tr"
                | b"nav"
                | b"form"
                | b"html"
                | b"main"
                | b"aside"
                | b"label"
                | b"button"
                | b"figure"
                | b"footer"
                | b"header"
                | b"section"
                | b"article"
        )
}
