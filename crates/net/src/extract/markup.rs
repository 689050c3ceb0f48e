//! Tags out of markup, whether HTML or XML, at the speed of `memchr`.
//!
//! This is the tokeniser of the HTML standard cut down to what links need: start tags with their
//! attributes, end tags, and text where somebody wants it. No tree is built, no error is fatal, and
//! everything is found in one pass over a bounded [`Window`]: a tag that does not end within it is
//! skipped up to the next `>`, so that a hostile page costs linear time and no memory.
//!
//! `lol_html` takes about twice as long on the same pages for the same work, since it keeps what a
//! rewriter needs: the output, a stack of open elements and a selector machine. That alone would
//! not be worth a scanner of our own; but it reads no XML, and feeds in the wild are too broken for
//! an XML parser, so this one serves both.
//!
//! Differences to the standard, all harmless for links: what is inside `noframes` and `noscript` is
//! markup, because a reader without frames or scripts would see its links; a `</script>` inside
//! `<!--<script>` ends the script.

use memchr::{memchr, memchr_iter};

use super::foreign::Foreign;
use super::tag::{Attribute, Tag, is_space, tag_end};
use super::window::Window;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Html,
    Xml,
}

/// Takes what the markup is made of.
pub trait Sink {
    fn start(&mut self, tag: &Tag<'_>);
    /// An end tag, or the end of an element that closed itself.
    fn end(&mut self, name: &[u8]);
    /// What `<?xml-stylesheet …?>` says.
    fn style_sheet(&mut self, tag: &Tag<'_>);
    /// Whether text is of interest just now.
    fn wants_text(&self) -> bool;
    /// A piece of text: raw where no tags and entities are meant (`script`, `style`, CDATA).
    fn text(&mut self, text: &[u8], raw: bool);
    /// Whether the rest is of no interest.
    fn has_enough(&self) -> bool {
        false
    }
}

/// Where in the markup we are between two windows.
enum State {
    Markup,
    Comment,
    Declaration,
    Cdata,
    Raw(&'static [u8]),
    /// In a tag that was too long for the window.
    Overlong,
}

struct Scanner<'s, S> {
    dialect: Dialect,
    sink: &'s mut S,
    state: State,
    attributes: Vec<Attribute>,
    foreign: Foreign,
}

/// Reads all of it; true if something was too long to be understood.
pub fn scan(window: &mut Window<'_>, dialect: Dialect, sink: &mut impl Sink) -> bool {
    let foreign = Foreign::new(dialect == Dialect::Xml);
    let mut scanner = Scanner { dialect, sink, state: State::Markup, attributes: Vec::new(), foreign };
    let mut overlong = false;
    loop {
        let consumed = scanner.scan(window.bytes(), window.is_last());
        window.consume(consumed);
        if window.is_last() || scanner.sink.has_enough() {
            return overlong;
        }
        if !window.extend() {
            overlong = true;
            scanner.state = State::Overlong;
        }
    }
}

impl<S: Sink> Scanner<'_, S> {
    /// Understands as much as it can, and says how much that was.
    fn scan(&mut self, bytes: &[u8], last: bool) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            let next = match self.state {
                State::Markup => self.markup(bytes, at, last),
                State::Comment => self.skip_to(bytes, at, 3, comment_end),
                State::Declaration | State::Overlong => {
                    self.skip_to(bytes, at, 0, |rest| Some(memchr(b'>', rest)? + 1))
                }
                State::Cdata => self.cdata(bytes, at, last),
                State::Raw(name) => self.raw(bytes, at, name, last),
            };
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        if last { bytes.len() } else { at }
    }

    /// Up to the next tag and over it. None if the window ends within something.
    fn markup(&mut self, bytes: &[u8], at: usize, last: bool) -> Option<usize> {
        let open = memchr(b'<', &bytes[at..]).map_or(bytes.len(), |found| at + found);
        if open > at && self.sink.wants_text() {
            self.sink.text(&bytes[at..open], false);
        }
        if open > at {
            return Some(open);
        }
        match bytes.get(open + 1) {
            None if !last => None,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => self.start_tag(bytes, open + 1),
            Some(b'/') => self.end_tag(bytes, open + 2),
            Some(b'!') => self.declaration(bytes, open + 2, last),
            Some(b'?') if self.dialect == Dialect::Xml => self.instruction(bytes, open + 2, last),
            Some(b'?') => {
                self.state = State::Declaration;
                Some(open + 2)
            }
            _ => {
                if self.sink.wants_text() {
                    self.sink.text(b"<", false);
                }
                Some(open + 1)
            }
        }
    }

    fn start_tag(&mut self, bytes: &[u8], at: usize) -> Option<usize> {
        self.attributes.clear();
        let (name_end, end, self_closing) = tag_end(bytes, at, &mut self.attributes)?;
        let name = &bytes[at..name_end];
        let is_foreign = self.foreign.start(name, self_closing);
        let tag = Tag::new(name, is_foreign, bytes, &self.attributes);
        self.sink.start(&Tag { self_closing, ..tag });
        if self_closing && (is_foreign || self.dialect == Dialect::Xml) {
            self.sink.end(name);
        } else if self.dialect == Dialect::Html
            && !is_foreign
            && let Some(raw) = raw_element(name)
        {
            self.state = State::Raw(raw);
        }
        Some(end)
    }

    /// After `<?`: the one that names a style sheet is read like a tag, others are of no interest.
    fn instruction(&mut self, bytes: &[u8], at: usize, last: bool) -> Option<usize> {
        const STYLE_SHEET: &[u8] = b"xml-stylesheet";
        let rest = &bytes[at..];
        if rest.len() <= STYLE_SHEET.len() && !last {
            return None;
        }
        let is_named = rest.starts_with(STYLE_SHEET);
        if !(is_named && rest.get(STYLE_SHEET.len()).is_some_and(|after| is_space(*after))) {
            self.state = State::Declaration;
            return Some(at);
        }
        self.attributes.clear();
        let (name_end, end, _) = tag_end(bytes, at, &mut self.attributes)?;
        self.sink.style_sheet(&Tag::new(&bytes[at..name_end], false, bytes, &self.attributes));
        Some(end)
    }

    fn end_tag(&mut self, bytes: &[u8], at: usize) -> Option<usize> {
        match bytes.get(at)? {
            b'>' => Some(at + 1),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.attributes.clear();
                let (name_end, end, _) = tag_end(bytes, at, &mut self.attributes)?;
                self.foreign.end(&bytes[at..name_end]);
                self.sink.end(&bytes[at..name_end]);
                Some(end)
            }
            _ => {
                self.state = State::Declaration;
                Some(at)
            }
        }
    }

    /// After `<!`. A comment may end with the dashes that opened it (`<!-->`).
    fn declaration(&mut self, bytes: &[u8], at: usize, last: bool) -> Option<usize> {
        const CDATA: &[u8] = b"[CDATA[";
        let rest = &bytes[at..];
        if rest.len() < CDATA.len() && !last {
            return None;
        }
        let is_cdata = self.dialect == Dialect::Xml || self.foreign.is_inside();
        if is_cdata && rest.starts_with(CDATA) {
            self.state = State::Cdata;
            return Some(at + CDATA.len());
        }
        self.state = if rest.starts_with(b"--") { State::Comment } else { State::Declaration };
        Some(at)
    }

    /// Over something nobody reads; what may be the beginning of its end stays in the window.
    fn skip_to(
        &mut self,
        bytes: &[u8],
        at: usize,
        kept: usize,
        end: impl Fn(&[u8]) -> Option<usize>,
    ) -> Option<usize> {
        match end(&bytes[at..]) {
            Some(end) => {
                self.state = State::Markup;
                Some(at + end)
            }
            None => self.leave(bytes, at, kept),
        }
    }

    /// On to the last `kept` bytes of the window; none if we are there.
    fn leave(&mut self, bytes: &[u8], at: usize, kept: usize) -> Option<usize> {
        let next = bytes.len().saturating_sub(kept);
        (next > at).then_some(next)
    }

    fn cdata(&mut self, bytes: &[u8], at: usize, last: bool) -> Option<usize> {
        let (end, next) = match memchr::memmem::find(&bytes[at..], b"]]>") {
            Some(end) => {
                self.state = State::Markup;
                (at + end, Some(at + end + 3))
            }
            None if last => (bytes.len(), None),
            None => (bytes.len().saturating_sub(2).max(at), self.leave(bytes, at, 2)),
        };
        self.raw_text(&bytes[at..end]);
        next
    }

    /// Up to the end tag of an element that holds no markup.
    fn raw(&mut self, bytes: &[u8], at: usize, name: &[u8], last: bool) -> Option<usize> {
        let end_tag = memchr_iter(b'<', &bytes[at..]).map(|open| at + open).find(|open| {
            let rest = &bytes[open + 1..];
            rest.first() == Some(&b'/')
                && rest.get(1..=name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name))
                && rest
                    .get(name.len() + 1)
                    .is_some_and(|after| is_space(*after) || matches!(after, b'/' | b'>'))
        });
        let kept = name.len() + 2;
        let (end, next) = match end_tag {
            Some(open) => {
                self.state = State::Markup;
                (open, Some(open))
            }
            None if last => (bytes.len(), None),
            None => (bytes.len().saturating_sub(kept).max(at), self.leave(bytes, at, kept)),
        };
        self.raw_text(&bytes[at..end]);
        next
    }

    fn raw_text(&mut self, text: &[u8]) {
        if !text.is_empty() && self.sink.wants_text() {
            self.sink.text(text, true);
        }
    }
}

/// `-->` or `--!>`, and where it ends.
fn comment_end(rest: &[u8]) -> Option<usize> {
    let ends = |close: &usize| rest[..*close].ends_with(b"--") || rest[..*close].ends_with(b"--!");
    memchr_iter(b'>', rest).find(ends).map(|close| close + 1)
}

/// The element whose content is no markup, if it is one.
pub fn raw_element(name: &[u8]) -> Option<&'static [u8]> {
    const RAW: [&[u8]; 7] = [b"script", b"style", b"title", b"textarea", b"iframe", b"xmp", b"plaintext"];
    if !matches!(name.len(), 3 | 5 | 6 | 8 | 9) {
        return None;
    }
    RAW.into_iter().find(|raw| raw.eq_ignore_ascii_case(name))
}
