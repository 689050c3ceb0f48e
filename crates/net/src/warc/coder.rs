//! Compression record by record: a gzip member or a zstd frame each, or nothing.
//!
//! The compressor is kept and reset between records, since making one costs more than a small
//! record. `flate2` gives raw deflate; the ten bytes before and eight after it are written here,
//! because its gzip writer cannot be reused. Even resetting costs more than
//! what is [small](super::small), which at the fastest level has a compressor of its own.

use std::io;

use crc32fast::Hasher;
use flate2::{Compress, FlushCompress, Status};
use zstd::stream::raw::{Encoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::CParameter;

use super::small_deflate::{SMALL_BYTES_MAX, SmallDeflate};
use crate::exchange::Recording;

/// Compressed bytes are handed on when there are this many.
const HELD_BYTES: usize = 32 * 1024;

/// How records are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    /// Levels 1 (fast) to 9.
    Gzip(u32),
    /// Levels 1 (fast) to 19.
    Zstd(i32),
}

impl Default for Compression {
    /// Gzip, as every reader of archives knows it.
    fn default() -> Compression {
        Compression::Gzip(Compression::GZIP_LEVEL)
    }
}

impl Compression {
    /// Measured on pages of 20 KB with request and 20 outlinks: 142 µs and 7.4 KB each at level 1,
    /// 227 µs and 6.3 KB at 2, 310 µs and 5.9 KB at 6.
    pub const GZIP_LEVEL: u32 = 1;
    /// On the same pages: 120 µs and 6.2 KB.
    pub const ZSTD_LEVEL: i32 = 3;

    /// With this a file's name ends.
    pub fn suffix(self) -> &'static str {
        match self {
            Compression::None => ".warc",
            Compression::Gzip(_) => ".warc.gz",
            Compression::Zstd(_) => ".warc.zst",
        }
    }
}

pub(super) struct Coder {
    codec: Codec,
    held: Vec<u8>,
}

enum Codec {
    Plain,
    Gzip(Box<Gzip>),
    Zstd(Encoder<'static>),
}

struct Gzip {
    deflate: Compress,
    /// Not `flate2`'s, which copies its tables for every few words.
    crc: Hasher,
    length: u32,
    /// None at levels that are to pack better than fast.
    small: Option<SmallDeflate>,
    /// A small record as it comes in; none while one is large.
    whole: Option<Vec<u8>>,
}

impl Gzip {
    fn new(level: u32) -> Gzip {
        let deflate = Compress::new(flate2::Compression::new(level), false);
        Gzip {
            deflate,
            crc: Hasher::new(),
            length: 0,
            small: (level == 1).then(SmallDeflate::new),
            whole: None,
        }
    }

    fn begin(&mut self, len: u64) {
        self.crc.reset();
        self.length = 0;
        if self.small.is_some() && len <= SMALL_BYTES_MAX {
            self.whole.get_or_insert_default().clear();
        } else {
            self.whole = None;
            self.deflate.reset();
        }
    }

    fn write(&mut self, bytes: &[u8], held: &mut Vec<u8>, to: &mut Recording) -> io::Result<()> {
        self.crc.update(bytes);
        // The format counts modulo 2^32.
        self.length =
            self.length.wrapping_add(u32::try_from(bytes.len() as u64 & u64::from(u32::MAX)).unwrap_or(0));
        if let Some(whole) = &mut self.whole {
            whole.extend_from_slice(bytes);
            return Ok(());
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            held.reserve(HELD_BYTES);
            let before = self.deflate.total_in();
            self.deflate.compress_vec(rest, held, FlushCompress::None)?;
            let taken = usize::try_from(self.deflate.total_in() - before).unwrap_or(rest.len());
            rest = &rest[taken..];
            hand_on(held, to)?;
        }
        Ok(())
    }

    fn end(&mut self, held: &mut Vec<u8>, to: &mut Recording) -> io::Result<()> {
        match (&mut self.small, &self.whole) {
            (Some(small), Some(whole)) => small.deflate(whole, held),
            _ => loop {
                held.reserve(HELD_BYTES);
                if self.deflate.compress_vec(&[], held, FlushCompress::Finish)? == Status::StreamEnd {
                    break;
                }
                hand_on(held, to)?;
            },
        }
        held.extend_from_slice(&self.crc.clone().finalize().to_le_bytes());
        held.extend_from_slice(&self.length.to_le_bytes());
        Ok(())
    }
}

impl Coder {
    pub(super) fn new(compression: Compression) -> io::Result<Coder> {
        let codec = match compression {
            Compression::None => Codec::Plain,
            Compression::Gzip(level) => Codec::Gzip(Box::new(Gzip::new(level.clamp(1, 9)))),
            Compression::Zstd(level) => {
                let mut encoder = Encoder::new(level.clamp(1, 19))?;
                encoder.set_parameter(CParameter::ChecksumFlag(true))?;
                Codec::Zstd(encoder)
            }
        };
        Ok(Coder { codec, held: Vec::with_capacity(HELD_BYTES * 2) })
    }

    /// Begins a record of `len` bytes; zstd writes that into the frame, as the proposal for
    /// `.warc.zst` asks.
    pub(super) fn begin(&mut self, len: u64) -> io::Result<()> {
        self.held.clear();
        match &mut self.codec {
            Codec::Plain => {}
            Codec::Gzip(gzip) => {
                gzip.begin(len);
                self.held.extend_from_slice(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
            }
            Codec::Zstd(encoder) => {
                encoder.reinit()?;
                encoder.set_pledged_src_size(Some(len))?;
            }
        }
        Ok(())
    }

    pub(super) fn write(&mut self, bytes: &[u8], to: &mut Recording) -> io::Result<()> {
        let held = &mut self.held;
        match &mut self.codec {
            Codec::Plain => return to.push(bytes),
            Codec::Gzip(gzip) => gzip.write(bytes, held, to)?,
            Codec::Zstd(encoder) => {
                let mut input = InBuffer::around(bytes);
                while input.pos() < bytes.len() {
                    held.reserve(HELD_BYTES);
                    let filled = held.len();
                    encoder.run(&mut input, &mut OutBuffer::around_pos(held, filled))?;
                    hand_on(held, to)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn end(&mut self, to: &mut Recording) -> io::Result<()> {
        let held = &mut self.held;
        match &mut self.codec {
            Codec::Plain => {}
            Codec::Gzip(gzip) => gzip.end(held, to)?,
            Codec::Zstd(encoder) => loop {
                held.reserve(HELD_BYTES);
                let filled = held.len();
                if encoder.finish(&mut OutBuffer::around_pos(held, filled), true)? == 0 {
                    break;
                }
                hand_on(held, to)?;
            },
        }
        to.push(held)
    }
}

fn hand_on(held: &mut Vec<u8>, to: &mut Recording) -> io::Result<()> {
    if held.len() >= HELD_BYTES {
        to.push(held)?;
        held.clear();
    }
    Ok(())
}

impl std::fmt::Debug for Coder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Coder").field("held", &self.held.len()).finish_non_exhaustive()
    }
}
