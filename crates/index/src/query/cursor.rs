//! Where a list goes on, as a text that is safe in a URL and on a command line.

use data_encoding::BASE64URL_NOPAD;

use crate::codec::{Reader, put_number, put_text};
use crate::error::Error;

/// Longer ones are not ours.
const CURSOR_BYTES_MAX: usize = 8 << 10;

/// After the entry of this value and name. `query` is what it is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) value: u64,
    pub(super) name: String,
}

pub(super) fn write(query: &str, value: u64, name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len() + query.len() + 4);
    put_text(&mut bytes, query);
    put_number(&mut bytes, value);
    bytes.extend_from_slice(name.as_bytes());
    BASE64URL_NOPAD.encode(&bytes)
}

pub(super) fn read(query: &str, text: Option<&str>) -> Result<Option<Cursor>, Error> {
    let Some(text) = text else { return Ok(None) };
    if text.len() > CURSOR_BYTES_MAX {
        return Err(Error::BadCursor);
    }
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| Error::BadCursor)?;
    let mut reader = Reader::new(&bytes, "a cursor");
    let mut parse =
        || -> store::Result<(&str, u64, &str)> { Ok((reader.text()?, reader.number()?, reader.tail()?)) };
    match parse() {
        Ok((given, value, name)) if given == query => Ok(Some(Cursor { value, name: name.to_owned() })),
        _ => Err(Error::BadCursor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_for_its_own_query_only() {
        let text = write("top", 300, "com.a/x?y");
        assert_eq!(read("top", Some(&text)).unwrap(), Some(Cursor { value: 300, name: "com.a/x?y".into() }));
        for bad in [("other", text.as_str()), ("top", ""), ("top", "!"), ("top", "AA"), ("top", &text[..3])] {
            assert!(matches!(read(bad.0, Some(bad.1)), Err(Error::BadCursor)), "{bad:?}");
        }
    }
}
