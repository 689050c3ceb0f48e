//! Digests as WARC headers hold them: SHA-1 in base 32 when written, in any usual spelling when
//! read.

use std::fmt;
use std::io::{self, Read};

use data_encoding::{BASE32, BASE32_NOPAD, BASE64, BASE64_NOPAD, BASE64URL, HEXUPPER};
use sha1::{Digest as _, Sha1};

use crate::exchange::{Exchange, Framing, Recording};
use crate::http::body;

const PIECE_BYTES: usize = 64 * 1024;

/// A SHA-1 sum; shown as `sha1:` and base 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 20]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha1::digest(bytes).into())
    }

    pub(super) fn from_hash(hash: Sha1) -> Digest {
        Digest(hash.finalize().into())
    }

    /// The sum as somebody wrote it; none if the algorithm is another one.
    pub fn parse(text: &str) -> Option<Parsed> {
        let (algorithm, value) = text.split_once(':')?;
        if !algorithm.eq_ignore_ascii_case("sha1") && !algorithm.eq_ignore_ascii_case("sha-1") {
            return None;
        }
        let upper = value.to_ascii_uppercase();
        let bytes = match value.len() {
            32 => BASE32.decode(upper.as_bytes()),
            40 => HEXUPPER.decode(upper.as_bytes()),
            27 => BASE64_NOPAD.decode(value.as_bytes()),
            _ => BASE64.decode(value.as_bytes()).or_else(|_| BASE64URL.decode(value.as_bytes())),
        };
        Some(
            bytes
                .ok()
                .and_then(|bytes| bytes.try_into().ok())
                .map_or(Parsed::Illegible, |sum| Parsed::Sum(Digest(sum))),
        )
    }
}

/// What stands behind `sha1:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    Sum(Digest),
    Illegible,
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha1:{}", BASE32_NOPAD.encode_display(&self.0))
    }
}

/// The sum of the body as it is stored, transfer coding included: by this a later capture is known
/// to be the same.
pub fn payload(exchange: &Exchange) -> io::Result<Digest> {
    let mut hash = Sha1::new();
    each_piece(&exchange.response, exchange.head.bytes as u64, u64::MAX, |piece| {
        hash.update(piece);
        Ok(())
    })?;
    Ok(Digest::from_hash(hash))
}

/// The sum of the body without its transfer coding: the same page in other chunks is the same page.
pub fn entity(exchange: &Exchange) -> io::Result<Digest> {
    if exchange.framing == Framing::Plain {
        return payload(exchange);
    }
    let mut hash = Sha1::new();
    let mut body = body(exchange);
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match body.read(&mut piece)? {
            0 => return Ok(Digest::from_hash(hash)),
            read => hash.update(&piece[..read]),
        }
    }
}

/// Hands out at most `len` bytes of a recording, from `from` on, in pieces.
pub(super) fn each_piece(
    recording: &Recording,
    from: u64,
    len: u64,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let len = len.min(recording.len().saturating_sub(from));
    if let Some(bytes) = recording.in_memory() {
        let clamp = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        return each(&bytes[clamp(from)..clamp(from + len)]);
    }
    let mut reader = recording.reader(from).take(len);
    let mut piece = vec![0; PIECE_BYTES];
    let mut seen = 0;
    while seen < len {
        let read = reader.read(&mut piece)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        each(&piece[..read])?;
        seen += read as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a8_digests_are_read_in_every_usual_spelling() {
        let empty = Digest::of(b"");
        assert_eq!(empty.to_string(), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        let spellings = [
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "SHA-1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj",
            "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
            "sha1:2jmj7l5rSw0yVb_vlWAYkK_YBwk=",
            "sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk",
        ];
        for spelling in spellings {
            assert_eq!(Digest::parse(spelling), Some(Parsed::Sum(empty)), "{spelling}");
        }
        assert_eq!(Digest::parse("sha1:nonsense"), Some(Parsed::Illegible));
        assert_eq!(Digest::parse("sha256:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"), None);
        assert_eq!(Digest::parse("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"), None);
    }
}
