//! Compact bytes for rows that hold many small things: numbers in seven bits a byte, texts with
//! their length before them.
//!
//! Reading checks everything and answers [`store::Error::Corrupt`]: these bytes come from a disk.

use store::{Error, Result};

pub(crate) fn put_number(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push((n & 0x7F) as u8 | 0x80);
        n >>= 7;
    }
    out.push((n & 0x7F) as u8);
}

/// Small numbers of either sign stay short.
pub(crate) fn put_signed(out: &mut Vec<u8>, n: i64) {
    put_number(out, ((n << 1) ^ (n >> 63)).cast_unsigned());
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// For the message.
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Reader<'a> {
        Reader { rest: bytes, what }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn corrupt(&self) -> Error {
        Error::Corrupt(format!("{} does not read", self.what))
    }

    pub(crate) fn byte(&mut self) -> Result<u8> {
        let (first, rest) = self.rest.split_first().ok_or_else(|| self.corrupt())?;
        self.rest = rest;
        Ok(*first)
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            n |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(self.corrupt())
    }

    pub(crate) fn signed(&mut self) -> Result<i64> {
        let n = self.number()?;
        Ok((n >> 1).cast_signed() ^ -(n & 1).cast_signed())
    }

    pub(crate) fn length(&mut self) -> Result<usize> {
        usize::try_from(self.number()?).map_err(|_| self.corrupt())
    }

    pub(crate) fn text(&mut self) -> Result<&'a str> {
        let length = self.length()?;
        let (text, rest) = self.rest.split_at_checked(length).ok_or_else(|| self.corrupt())?;
        self.rest = rest;
        std::str::from_utf8(text).map_err(|_| self.corrupt())
    }

    /// The rest as one text.
    pub(crate) fn tail(self) -> Result<&'a str> {
        std::str::from_utf8(self.rest).map_err(|_| self.corrupt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_put_reads_back(n: u64, s: i64, text: String) {
            let mut out = Vec::new();
            put_number(&mut out, n);
            put_signed(&mut out, s);
            put_text(&mut out, &text);
            let mut reader = Reader::new(&out, "it");
            prop_assert_eq!((reader.number()?, reader.signed()?, reader.text()?), (n, s, text.as_str()));
            prop_assert!(reader.is_empty());
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut reader = Reader::new(&bytes, "it");
            while reader.number().is_ok() && reader.text().is_ok() {}
        }
    }
}
