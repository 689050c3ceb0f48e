//! Compression record by record: a gzip member or a zstd frame each, or nothing.
//!
//! Nearly every record is in memory, and its length is known before it is written. Such a record is
//! put together and compressed as a [whole](Manner::Whole), which is quicker and packs better than
//! a stream that does not know what is to come (libdeflate against zlib-rs, both at level 1, on a
//! page of 22 KB: the same time, and a quarter less). Only what is long is compressed
//! [in pieces](Manner::Pieces), and what [arrived compressed](Manner::Stored) is not compressed
//! again. Compressors are kept between records, since making one costs more than a small record.

use std::io;

use zstd::bulk;
use zstd::stream::raw::{Encoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::{self, CParameter};

use super::gzip::Gzip;
use crate::exchange::Recording;

/// Compressed bytes are handed on when there are this many.
pub(super) const HELD_BYTES: usize = 32 * 1024;
/// Longer records are compressed in pieces.
const WHOLE_BYTES_MAX: u64 = 512 << 10;

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
    pub const GZIP_LEVEL: u32 = 1;
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

/// What is known of a record's block before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matter {
    Compressible,
    /// It arrived compressed: trying again would cost time and gain nothing.
    Compressed,
}

/// How the record in hand is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Whole,
    Pieces,
    /// As it is, in the clothes of its format.
    Stored,
}

pub(super) struct Coder {
    codec: Codec,
    manner: Manner,
    /// The record as it comes in, if it is compressed as a whole.
    whole: Vec<u8>,
    held: Vec<u8>,
}

enum Codec {
    Plain,
    Gzip(Box<Gzip>),
    Zstd(Box<Zstd>),
}

struct Zstd {
    whole: bulk::Compressor<'static>,
    pieces: Encoder<'static>,
}

impl Zstd {
    fn new(level: i32) -> io::Result<Zstd> {
        let mut whole = bulk::Compressor::new(level)?;
        whole.set_parameter(CParameter::ChecksumFlag(true))?;
        let mut pieces = Encoder::new(level)?;
        pieces.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Zstd { whole, pieces })
    }

    fn whole(&mut self, bytes: &[u8], held: &mut Vec<u8>) -> io::Result<()> {
        held.clear();
        held.reserve(zstd_safe::compress_bound(bytes.len()));
        self.whole.compress_to_buffer(bytes, held)?;
        Ok(())
    }

    fn piece(&mut self, bytes: &[u8], held: &mut Vec<u8>, to: &mut Recording) -> io::Result<()> {
        let mut input = InBuffer::around(bytes);
        while input.pos() < bytes.len() {
            held.reserve(HELD_BYTES);
            let filled = held.len();
            self.pieces.run(&mut input, &mut OutBuffer::around_pos(held, filled))?;
            hand_on(held, to)?;
        }
        Ok(())
    }

    fn end(&mut self, held: &mut Vec<u8>, to: &mut Recording) -> io::Result<()> {
        loop {
            held.reserve(HELD_BYTES);
            let filled = held.len();
            if self.pieces.finish(&mut OutBuffer::around_pos(held, filled), true)? == 0 {
                return Ok(());
            }
            hand_on(held, to)?;
        }
    }
}

impl Coder {
    pub(super) fn new(compression: Compression) -> io::Result<Coder> {
        let codec = match compression {
            Compression::None => Codec::Plain,
            Compression::Gzip(level) => Codec::Gzip(Box::new(Gzip::new(level)?)),
            Compression::Zstd(level) => Codec::Zstd(Box::new(Zstd::new(level.clamp(1, 19))?)),
        };
        Ok(Coder {
            codec,
            manner: Manner::Pieces,
            whole: Vec::new(),
            held: Vec::with_capacity(HELD_BYTES * 2),
        })
    }

    /// Begins a record of `len` bytes, beginning with its head; zstd writes that into the frame, as
    /// the proposal for `.warc.zst` asks.
    pub(super) fn begin(&mut self, len: u64, matter: Matter) -> io::Result<()> {
        self.held.clear();
        self.whole.clear();
        self.manner = match (&self.codec, matter) {
            (Codec::Plain, _) => Manner::Pieces,
            // Zstd sees by itself what is not worth its while.
            (Codec::Gzip(_), Matter::Compressed) => Manner::Stored,
            _ if len <= WHOLE_BYTES_MAX => Manner::Whole,
            _ => Manner::Pieces,
        };
        match &mut self.codec {
            Codec::Gzip(gzip) => gzip.begin(&mut self.held),
            Codec::Zstd(zstd) if self.manner == Manner::Pieces => {
                zstd.pieces.reinit()?;
                zstd.pieces.set_pledged_src_size(Some(len))?;
            }
            Codec::Zstd(_) | Codec::Plain => {}
        }
        Ok(())
    }

    /// The head first, then the block.
    pub(super) fn write(&mut self, bytes: &[u8], to: &mut Recording) -> io::Result<()> {
        let held = &mut self.held;
        match (&mut self.codec, self.manner) {
            (Codec::Plain, _) => to.push(bytes),
            (_, Manner::Whole) => {
                self.whole.extend_from_slice(bytes);
                Ok(())
            }
            (Codec::Gzip(gzip), Manner::Stored) => gzip.stored(bytes, held, to),
            (Codec::Gzip(gzip), _) => gzip.piece(bytes, held, to),
            (Codec::Zstd(zstd), _) => zstd.piece(bytes, held, to),
        }
    }

    pub(super) fn end(&mut self, to: &mut Recording) -> io::Result<()> {
        let held = &mut self.held;
        match (&mut self.codec, self.manner) {
            (Codec::Plain, _) => {}
            (Codec::Gzip(gzip), Manner::Whole) => gzip.whole(&self.whole, held)?,
            (Codec::Gzip(gzip), Manner::Stored) => gzip.end_stored(held),
            (Codec::Gzip(gzip), Manner::Pieces) => gzip.end(held, to)?,
            (Codec::Zstd(zstd), Manner::Whole) => zstd.whole(&self.whole, held)?,
            (Codec::Zstd(zstd), _) => zstd.end(held, to)?,
        }
        to.push(held)
    }
}

pub(super) fn hand_on(held: &mut Vec<u8>, to: &mut Recording) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use std::io::Read as _;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    /// A record as it is written, read by somebody else's reader.
    fn there_and_back(coder: &mut Coder, matter: Matter, head: &[u8], block: &[u8]) -> (usize, Vec<u8>) {
        let mut to = Recording::new(usize::MAX, Path::new(""));
        coder.begin((head.len() + block.len()) as u64, matter).unwrap();
        coder.write(head, &mut to).unwrap();
        block.chunks(70_000).for_each(|piece| coder.write(piece, &mut to).unwrap());
        coder.end(&mut to).unwrap();
        let packed = to.in_memory().unwrap();
        let mut back = Vec::new();
        match &coder.codec {
            Codec::Plain => back.extend_from_slice(packed),
            Codec::Gzip(_) => {
                let mut member = flate2::bufread::GzDecoder::new(packed);
                member.read_to_end(&mut back).unwrap();
                assert!(member.into_inner().is_empty(), "one member, and nothing behind it");
            }
            Codec::Zstd(_) => {
                assert_eq!(
                    zstd_safe::get_frame_content_size(packed).unwrap(),
                    Some((head.len() + block.len()) as u64)
                );
                back = zstd::decode_all(packed).unwrap();
            }
        }
        (packed.len(), back)
    }

    fn noise(len: usize) -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(len as u64);
        (0..len).map(|_| random.u8(..)).collect()
    }

    #[test]
    fn a8_records_of_every_length_come_back_whichever_way_they_were_packed() {
        let whole = usize::try_from(WHOLE_BYTES_MAX).unwrap();
        let lengths = [0, 1, 2000, 2048, 2049, 65_534, 65_535, 65_536, 140_000, whole - 8, whole, whole + 1];
        for compression in [
            Compression::None,
            Compression::Gzip(1),
            Compression::Gzip(6),
            Compression::Gzip(9),
            Compression::Zstd(3),
        ] {
            let mut coder = Coder::new(compression).unwrap();
            for matter in [Matter::Compressible, Matter::Compressed] {
                for len in lengths {
                    for block in [noise(len), vec![b'x'; len]] {
                        let (_, back) = there_and_back(&mut coder, matter, b"WARC/1.1\r\n\r\n", &block);
                        assert_eq!(back.len(), len + 12, "{compression:?} {matter:?}");
                        assert!(back.ends_with(&block), "{compression:?} {matter:?} {len}");
                    }
                }
            }
        }
    }

    #[test]
    fn a8_what_arrived_compressed_grows_by_next_to_nothing() {
        let mut coder = Coder::new(Compression::Gzip(1)).unwrap();
        let head = "WARC/1.1\r\nWARC-Type: response\r\n".repeat(10);
        for len in [100, 20_000, 3_000_000] {
            let block = noise(len);
            let (packed, _) = there_and_back(&mut coder, Matter::Compressed, head.as_bytes(), &block);
            assert!(packed <= len + head.len() + len / 5_000 + 40, "{len}: {packed}");
        }
    }

    proptest! {
        #[test]
        fn a8_records_come_back(
            records in prop::collection::vec((any::<bool>(), prop::collection::vec(prop_oneof![Just(b'a'), Just(b'b'), any::<u8>()], 0..5000)), 1..6),
            level in 1u32..10,
        ) {
            let mut coder = Coder::new(Compression::Gzip(level)).unwrap();
            for (compressed, bytes) in records {
                let matter = if compressed { Matter::Compressed } else { Matter::Compressible };
                let (head, block) = bytes.split_at(bytes.len().min(300));
                let (_, back) = there_and_back(&mut coder, matter, head, block);
                prop_assert_eq!(back, bytes);
            }
        }
    }
}
