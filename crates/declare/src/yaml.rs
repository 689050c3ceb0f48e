//! From text to nodes that know where they stand.
//!
//! The parser is `saphyr-parser`: maintained, YAML 1.2 (so `no` is the country it is), without
//! unsafe code, and the only one that hands out *events with places* instead of a finished tree.
//! The finished trees (`saphyr::MarkedYaml`, `marked-yaml`, `serde-saphyr`) each take one decision
//! away from us: where a key stands, what becomes of a key that is there twice, or how far aliases
//! may grow. Building the tree here keeps them all:
//!
//! - texts are borrowed from the file, so a million seeds cost their nodes and nothing else;
//! - nesting beyond [`DEPTH_MAX`] ends the reading, so nothing that walks the tree can run out of
//!   stack;
//! - an alias is a copy of what its anchor holds, and copies are paid from a purse that grows with
//!   the file ([`purse`]): an alias bomb ends the reading before it takes more than a file without
//!   aliases would;
//! - what is no syntax error but wrong all the same (a key twice, a key that is no text, a tag) is
//!   collected.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, StrInput, Tag};

use crate::problem::{At, Problem, Problems};
use crate::text::excerpt;

/// Deepest nesting; the config itself needs seven.
pub const DEPTH_MAX: usize = 64;

/// What all copies made for anchors and aliases of one file may take: so much for each of its
/// bytes, and some for a small one.
const COPIED_BYTES_MAX: usize = 256 << 20;
const COPIED_BYTES_MIN: usize = 4 << 20;
const COPIED_PER_BYTE: usize = 16;

/// A line of a million seeds that says `profiles: *p` costs a few nodes; a bomb of a thousand bytes
/// wants millions.
fn purse(file_bytes: usize) -> usize {
    file_bytes.saturating_mul(COPIED_PER_BYTE).clamp(COPIED_BYTES_MIN, COPIED_BYTES_MAX)
}

#[derive(Clone, Debug)]
pub struct Node<'a> {
    pub at: At,
    pub data: Data<'a>,
}

#[derive(Clone, Debug)]
pub enum Data<'a> {
    /// Plain: without quotes, so that it may mean a number, a boolean or nothing at all.
    Text {
        text: Cow<'a, str>,
        plain: bool,
    },
    List(Vec<Node<'a>>),
    Map(Vec<(Key<'a>, Node<'a>)>),
}

#[derive(Clone, Debug)]
pub struct Key<'a> {
    pub at: At,
    pub text: Cow<'a, str>,
}

impl Node<'_> {
    /// `key:` with nothing behind it, `~` or `null`.
    pub fn is_null(&self) -> bool {
        matches!(&self.data, Data::Text { text, plain: true } if is_null(text))
    }

    fn bytes(&self) -> usize {
        let inside = match &self.data {
            Data::Text { text, .. } => text.len(),
            Data::List(items) => items.iter().map(Node::bytes).sum(),
            Data::Map(entries) => {
                entries.iter().map(|(key, value)| size_of::<Key<'_>>() + key.text.len() + value.bytes()).sum()
            }
        };
        size_of::<Node<'_>>() + inside
    }
}

pub fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// The documents of a text, one after the other.
#[allow(missing_debug_implementations, reason = "the parser has none")]
pub struct Documents<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Node<'a>>,
    /// Bytes that copies may still take.
    purse: usize,
}

/// A list or map whose end has not come yet.
struct Open<'a> {
    node: Node<'a>,
    anchor: usize,
    /// In a map, the key whose value comes next; none inside if that was no key.
    key: Option<Option<Key<'a>>>,
}

impl<'a> Documents<'a> {
    pub fn new(text: &'a str) -> Documents<'a> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Documents { parser: Parser::new_from_str(text), anchors: HashMap::new(), purse: purse(text.len()) }
    }

    /// The next document; none at the end. After an error there is nothing more to be had.
    pub fn next(&mut self, problems: &mut Problems) -> Result<Option<Node<'a>>, Problem> {
        self.anchors.clear();
        let mut open: Vec<Open<'a>> = Vec::new();
        while let Some(event) = self.parser.next() {
            let (event, span) = event.map_err(|error| syntax(&error))?;
            let at = at(&span.start);
            let finished = match event {
                Event::SequenceStart(anchor, tag) => {
                    note_tag(tag.as_deref(), at, problems);
                    begin(&mut open, Node { at, data: Data::List(Vec::new()) }, anchor)?;
                    continue;
                }
                Event::MappingStart(anchor, tag) => {
                    note_tag(tag.as_deref(), at, problems);
                    begin(&mut open, Node { at, data: Data::Map(Vec::new()) }, anchor)?;
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                    Some(ended) => self.end(ended, problems)?,
                    None => continue,
                },
                Event::Scalar(text, style, anchor, tag) => {
                    let forced = note_tag(tag.as_deref(), at, problems);
                    let plain = style == ScalarStyle::Plain && !forced;
                    self.anchored(anchor, Node { at, data: Data::Text { text, plain } })?
                }
                Event::Alias(anchor) => self.alias(anchor, at)?,
                Event::StreamEnd => return Ok(None),
                Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {
                    continue;
                }
            };
            match open.last_mut() {
                Some(parent) => parent.take(finished, problems),
                None => return Ok(Some(finished)),
            }
        }
        Ok(None)
    }

    fn end(&mut self, mut ended: Open<'a>, problems: &mut Problems) -> Result<Node<'a>, Problem> {
        match &mut ended.node.data {
            Data::List(items) => items.shrink_to_fit(),
            Data::Map(entries) => {
                drop_repeated(entries, problems);
                entries.shrink_to_fit();
            }
            Data::Text { .. } => {}
        }
        self.anchored(ended.anchor, ended.node)
    }

    fn anchored(&mut self, anchor: usize, node: Node<'a>) -> Result<Node<'a>, Problem> {
        if anchor != 0 {
            let copy = self.copy(&node, node.at)?;
            self.anchors.insert(anchor, copy);
        }
        Ok(node)
    }

    fn alias(&mut self, anchor: usize, at: At) -> Result<Node<'a>, Problem> {
        let Some(node) = self.anchors.remove(&anchor) else {
            let what = "this alias stands inside its own anchor";
            return Err(Problem::new(at, what, "write out what is meant"));
        };
        let copy = self.copy(&node, at);
        self.anchors.insert(anchor, node);
        Ok(Node { at, ..copy? })
    }

    fn copy(&mut self, node: &Node<'a>, at: At) -> Result<Node<'a>, Problem> {
        let Some(left) = self.purse.checked_sub(node.bytes()) else {
            let what = "anchors and aliases make more of this file than is taken";
            let hint = "use fewer aliases, and none of aliases; profiles can share with `extends`";
            return Err(Problem::new(at, what, hint));
        };
        self.purse = left;
        Ok(node.clone())
    }
}

fn begin<'a>(open: &mut Vec<Open<'a>>, node: Node<'a>, anchor: usize) -> Result<(), Problem> {
    if open.len() >= DEPTH_MAX {
        return Err(too_deep(node.at));
    }
    open.push(Open { node, anchor, key: None });
    Ok(())
}

fn too_deep(at: At) -> Problem {
    let what = format!("nested more than {DEPTH_MAX} deep");
    Problem::new(at, what, "nothing in this file goes that deep; is a bracket missing?")
}

impl<'a> Open<'a> {
    fn take(&mut self, node: Node<'a>, problems: &mut Problems) {
        match &mut self.node.data {
            Data::List(items) => items.push(node),
            Data::Map(entries) => match self.key.take() {
                Some(key) => entries.extend(key.map(|key| (key, node))),
                None => self.key = Some(as_key(node, problems)),
            },
            Data::Text { .. } => {}
        }
    }
}

fn as_key<'a>(node: Node<'a>, problems: &mut Problems) -> Option<Key<'a>> {
    match node.data {
        Data::Text { text, .. } => Some(Key { at: node.at, text }),
        Data::List(_) | Data::Map(_) => {
            problems.add(node.at, "a key must be a text, not a list or a map", "write `key: value`");
            None
        }
    }
}

/// YAML forbids a key twice; the first one stays.
fn drop_repeated(entries: &mut Vec<(Key<'_>, Node<'_>)>, problems: &mut Problems) {
    let mut first: HashMap<&str, At> = HashMap::with_capacity(entries.len());
    let is_first = entries.iter().map(|(key, _)| match first.entry(&key.text) {
        Entry::Vacant(place) => {
            place.insert(key.at);
            true
        }
        Entry::Occupied(other) => {
            let what = format!("key {} is here twice", excerpt(&key.text));
            let hint = format!("the other one is on line {}; keep one of them", other.get().line);
            problems.add(key.at, what, hint);
            false
        }
    });
    let mut is_first = is_first.collect::<Vec<bool>>().into_iter();
    entries.retain(|_| is_first.next().unwrap_or(true));
}

/// Whether the tag makes a text of it (`!!str 2024`). A tag that is not YAML's own means nothing to
/// us.
fn note_tag(tag: Option<&Tag>, at: At, problems: &mut Problems) -> bool {
    let Some(tag) = tag else { return false };
    if !tag.is_yaml_core_schema() {
        let what = format!("the tag {} means nothing here", excerpt(&tag.to_string()));
        problems.add(at, what, "leave it out, or quote the text if it begins with `!`");
    }
    tag.is_yaml_core_schema() && tag.suffix == "str"
}

fn at(mark: &Marker) -> At {
    At::new(mark.line().max(1), mark.col().saturating_add(1))
}

fn syntax(error: &ScanError) -> Problem {
    let info = error.info();
    // The scanner looks ahead and has a limit of its own.
    if info.contains("recursion limit") {
        return too_deep(at(error.marker()));
    }
    let hint = if info.contains("tab") {
        "indent with spaces: YAML takes no tabs there"
    } else if info.contains("anchor") {
        "an alias `*name` needs an anchor `&name` above it; quote the text if no alias is meant"
    } else if info.contains("quoted") || info.contains("escape") {
        "a quoted text ends with the quote it began with; in \"…\" a backslash is written twice"
    } else if info.contains("flow") {
        "close every `{` with `}` and every `[` with `]`, and quote texts that hold `: ` or ` #`"
    } else {
        "check the indentation here and on the line above, and quote texts that hold `: ` or ` #`"
    };
    Problem::new(at(error.marker()), format!("this is not YAML: {info}"), hint)
}
