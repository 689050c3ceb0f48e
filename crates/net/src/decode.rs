//! Taking the content codings off a body, for reading it (A4, A5): gzip, deflate, br, zstd, and
//! several in a row.
//!
//! A [`Decoded`] body is read like any other and always ends cleanly: at its end, at the bound, or
//! where the rest makes no sense, with everything before that delivered. Why it ended early, or
//! what else was odd, is in [`Decoded::problem`].
//!
//! Servers mislabel. What says gzip or zstd and does not begin like it is taken as it is, `deflate`
//! may be with or without the zlib wrapping, and a coding nobody knows is taken for none: the
//! reader of the page will see whether that makes sense.
//!
//! Memory is bounded by the decoders' windows (zstd's is limited to what the web may use), time by
//! the bound on the bytes that any single coding may unpack to.

use std::fmt;
use std::io::{self, Cursor, ErrorKind, Read};

use crate::inflate::{Inflated, Wrapping};

/// Codings taken off in a row; who uses more means harm.
pub const CODINGS_MAX: usize = 3;

/// Window of zstd as a power of two: 8 MiB, the limit RFC 9659 sets for content coding.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

const BROTLI_BUFFER_BYTES: usize = 4096;

/// The longest name of an unknown coding that is repeated.
const CODING_BYTES_SHOWN_MAX: usize = 32;

/// Why a body may not be all that the server meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("the coded body ends too early")]
    Truncated,
    #[error("the coded body is corrupt: {0}")]
    Corrupt(String),
    #[error("more than {max} bytes when unpacked")]
    TooLong { max: u64 },
    #[error("unknown content coding `{0}`")]
    UnknownCoding(String),
    #[error("says {0} but is not")]
    Mislabelled(Coding),
    #[error("more than {CODINGS_MAX} content codings")]
    TooManyCodings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// A body without its content codings. Reading it never fails.
pub struct Decoded<'a> {
    source: Source<'a>,
    problem: Option<Problem>,
}

type Source<'a> = Box<dyn Read + 'a>;

/// Takes off the codings that the values of `Content-Encoding` name, the last applied first; at
/// most `max_bytes` come out.
pub fn decoded<'a, 'h>(
    content_encoding: impl Iterator<Item = &'h [u8]>,
    body: impl Read + 'a,
    max_bytes: u64,
) -> Decoded<'a> {
    let mut codings = Vec::new();
    let mut problem = None;
    for name in content_encoding.flat_map(|value| value.split(|byte| *byte == b',')) {
        match Coding::named(name.trim_ascii()) {
            Ok(coding) => codings.extend(coding),
            Err(unknown) => problem = Some(unknown),
        }
        if codings.len() > CODINGS_MAX {
            return Decoded { source: Box::new(io::empty()), problem: Some(Problem::TooManyCodings) };
        }
    }
    let mut decoded = Decoded { source: Box::new(body), problem };
    while let Some(coding) = codings.pop() {
        decoded = decoded.without(coding, max_bytes);
    }
    Decoded {
        source: Box::new(Bounded { source: decoded.source, left: max_bytes, max: max_bytes }),
        ..decoded
    }
}

impl<'a> Decoded<'a> {
    /// What is odd about it, as far as it has been read.
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    /// The same without a gzip wrapping that no header speaks of, as of `sitemap.xml.gz`.
    #[must_use]
    pub fn unwrapped(mut self, max_bytes: u64) -> Decoded<'a> {
        let head = self.peek::<2>();
        if head.len() < 2 || !Coding::Gzip.begins(&head) {
            return self;
        }
        let source = Box::new(Inflated::new(self.source, Wrapping::Gzip));
        Decoded {
            source: Box::new(Bounded { source, left: max_bytes, max: max_bytes }),
            problem: self.problem,
        }
    }

    fn without(mut self, coding: Coding, max: u64) -> Decoded<'a> {
        let head = self.peek::<4>();
        if head.is_empty() {
            return self;
        }
        if !coding.begins(&head) {
            self.problem.get_or_insert(Problem::Mislabelled(coding));
            return self;
        }
        match coding.decoder(self.source, &head) {
            Ok(source) => {
                Decoded { source: Box::new(Bounded { source, left: max, max }), problem: self.problem }
            }
            Err(error) => Decoded { source: Box::new(io::empty()), problem: Some(problem_of(&error)) },
        }
    }

    /// The first bytes, left where they are.
    fn peek<const N: usize>(&mut self) -> Vec<u8> {
        let mut head = Vec::with_capacity(N);
        if let Err(error) = self.source.by_ref().take(N as u64).read_to_end(&mut head) {
            self.problem.get_or_insert(problem_of(&error));
        }
        let rest = std::mem::replace(&mut self.source, Box::new(io::empty()));
        self.source = Box::new(Cursor::new(head.clone()).chain(rest));
        head
    }
}

impl Read for Decoded<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.source.read(into) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.problem = Some(problem_of(&error));
                    self.source = Box::new(io::empty());
                    return Ok(0);
                }
                read => return read,
            }
        }
    }
}

impl fmt::Debug for Decoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoded").field("problem", &self.problem).finish_non_exhaustive()
    }
}

impl Coding {
    /// None for what leaves the bytes as they are, by the standard or by custom.
    fn named(name: &[u8]) -> Result<Option<Coding>, Problem> {
        match name.to_ascii_lowercase().as_slice() {
            b"gzip" | b"x-gzip" => Ok(Some(Coding::Gzip)),
            b"deflate" | b"x-deflate" => Ok(Some(Coding::Deflate)),
            b"br" => Ok(Some(Coding::Brotli)),
            b"zstd" => Ok(Some(Coding::Zstd)),
            b"" | b"identity" | b"none" | b"utf-8" | b"utf8" | b"binary" | b"8bit" => Ok(None),
            unknown => {
                let shown = &unknown[..unknown.len().min(CODING_BYTES_SHOWN_MAX)];
                Err(Problem::UnknownCoding(String::from_utf8_lossy(shown).into_owned()))
            }
        }
    }

    /// Whether it may begin so; deflate and br have no mark of their own.
    fn begins(self, head: &[u8]) -> bool {
        const GZIP: [u8; 2] = [0x1F, 0x8B];
        const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
        match self {
            Coding::Gzip => head.starts_with(&GZIP) || GZIP.starts_with(head),
            Coding::Zstd => ZSTD.starts_with(head) || matches!(head, [0x50..=0x5F, 0x2A, 0x4D, 0x18]),
            Coding::Deflate | Coding::Brotli => true,
        }
    }

    fn decoder<'a>(self, source: Source<'a>, head: &[u8]) -> io::Result<Source<'a>> {
        Ok(match self {
            Coding::Gzip => Box::new(Inflated::new(source, Wrapping::Gzip)),
            Coding::Deflate if has_zlib_header(head) => Box::new(Inflated::new(source, Wrapping::Zlib)),
            Coding::Deflate => Box::new(Inflated::new(source, Wrapping::Bare)),
            Coding::Brotli => Box::new(Brotli {
                inner: brotli_decompressor::Decompressor::new(Ended::new(source), BROTLI_BUFFER_BYTES),
            }),
            Coding::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(source)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
        })
    }
}

impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        })
    }
}

fn has_zlib_header(head: &[u8]) -> bool {
    matches!(head, [first, second, ..] if first & 15 == 8 && u16::from_be_bytes([*first, *second]) % 31 == 0)
}

fn problem_of(error: &io::Error) -> Problem {
    if let Some(Problem::TooLong { max }) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
        return Problem::TooLong { max: *max };
    }
    match error.kind() {
        ErrorKind::UnexpectedEof => Problem::Truncated,
        _ => Problem::Corrupt(error.to_string()),
    }
}

/// Ends with an error where there is more than allowed.
struct Bounded<'a> {
    source: Source<'a>,
    left: u64,
    max: u64,
}

impl Read for Bounded<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return match self.source.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::Error::other(Problem::TooLong { max: self.max })),
            };
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(into.len());
        let read = self.source.read(&mut into[..room])?;
        self.left -= read as u64;
        Ok(read)
    }
}

/// Tells a cut stream from a corrupt one, which the decoder does not: it is cut where it failed for
/// want of input.
struct Brotli<'a> {
    inner: brotli_decompressor::Decompressor<Ended<'a>>,
}

struct Ended<'a> {
    source: Source<'a>,
    ended: bool,
}

impl<'a> Ended<'a> {
    fn new(source: Source<'a>) -> Ended<'a> {
        Ended { source, ended: false }
    }
}

impl Read for Ended<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.ended |= read == 0 && !into.is_empty();
        Ok(read)
    }
}

impl Read for Brotli<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into);
        match read {
            Err(error) if error.kind() == ErrorKind::InvalidData && self.inner.get_ref().ended => {
                Err(ErrorKind::UnexpectedEof.into())
            }
            read => read,
        }
    }
}
