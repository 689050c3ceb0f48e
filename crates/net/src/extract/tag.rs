//! One tag: its name and its attributes, as the tokeniser of the HTML standard reads them.

use memchr::memchr;

/// Attributes of one tag that are looked at.
const ATTRIBUTES_MAX: usize = 256;

#[derive(Clone, Copy, Debug)]
pub struct Tag<'a> {
    pub name: &'a [u8],
    /// It is part of an SVG drawing or a formula.
    pub is_foreign: bool,
    /// It ends with a slash, whatever that means here.
    pub self_closing: bool,
    pub(super) bytes: &'a [u8],
    pub(super) attributes: &'a [Attribute],
}

/// Where name and value are in the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attribute {
    name: (usize, usize),
    value: (usize, usize),
}

impl<'a> Tag<'a> {
    pub(super) fn new(
        name: &'a [u8],
        is_foreign: bool,
        bytes: &'a [u8],
        attributes: &'a [Attribute],
    ) -> Tag<'a> {
        Tag { name, is_foreign, self_closing: false, bytes, attributes }
    }

    /// Names and values as written, as many as are looked at.
    pub fn attributes(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let bytes = self.bytes;
        let part = |(from, to): (usize, usize)| &bytes[from..to];
        self.attributes.iter().map(move |one| (part(one.name), part(one.value)))
    }

    /// The first attribute of that name (in lower case), as written.
    pub fn get(&self, name: &[u8]) -> Option<&'a [u8]> {
        let bytes = self.bytes;
        let named = |one: &&Attribute| bytes[one.name.0..one.name.1].eq_ignore_ascii_case(name);
        self.attributes.iter().find(named).map(|one| &bytes[one.value.0..one.value.1])
    }
}

/// Where the name and the whole tag end, whose name begins at `at`, and whether it closes itself.
pub(super) fn tag_end(
    bytes: &[u8],
    at: usize,
    attributes: &mut Vec<Attribute>,
) -> Option<(usize, usize, bool)> {
    let name_end = until(bytes, at, |byte| is_space(byte) || matches!(byte, b'/' | b'>'))?;
    let mut at = name_end;
    loop {
        // A slash at the end of a value without quotes is part of the value.
        let from = at;
        at = until(bytes, at, |byte| !is_space(byte) && byte != b'/')?;
        if bytes[at] == b'>' {
            return Some((name_end, at + 1, at > from && bytes[at - 1] == b'/'));
        }
        let name_from = at;
        at = until(bytes, at + 1, |byte| is_space(byte) || matches!(byte, b'/' | b'>' | b'='))?;
        let name = (name_from, at);
        at = until(bytes, at, |byte| !is_space(byte))?;
        let mut value = (at, at);
        if bytes[at] == b'=' {
            (value, at) = attribute_value(bytes, at + 1)?;
        }
        if attributes.len() < ATTRIBUTES_MAX {
            attributes.push(Attribute { name, value });
        }
    }
}

/// The value after the equals sign, and what comes after it.
fn attribute_value(bytes: &[u8], at: usize) -> Option<((usize, usize), usize)> {
    let at = until(bytes, at, |byte| !is_space(byte))?;
    match bytes[at] {
        quote @ (b'"' | b'\'') => {
            let end = at + 1 + memchr(quote, &bytes[at + 1..])?;
            Some(((at + 1, end), end + 1))
        }
        _ => {
            let end = until(bytes, at, |byte| is_space(byte) || byte == b'>')?;
            Some(((at, end), end))
        }
    }
}

fn until(bytes: &[u8], from: usize, is: impl Fn(u8) -> bool) -> Option<usize> {
    bytes.get(from..)?.iter().position(|byte| is(*byte)).map(|at| from + at)
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0C')
}
