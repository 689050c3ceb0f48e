//! Content codings, and the pictures that need them.
//!
//! gzip and deflate come from flate2. Brotli and zstd are written as streams of stored blocks,
//! which every decoder reads, so that no encoder is needed for a page or two.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

/// What one meta-block of brotli holds with a length of 16 bits.
const BROTLI_BLOCK_BYTES: usize = 1 << 16;
/// What a block of zstd may hold.
const ZSTD_BLOCK_BYTES: usize = 1 << 17;

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    written(encoder.write_all(bytes).and_then(|()| encoder.finish()))
}

/// What the standard means by deflate.
pub fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    written(encoder.write_all(bytes).and_then(|()| encoder.finish()))
}

/// What some servers mean by deflate: the same without header and checksum.
pub fn bare_deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    written(encoder.write_all(bytes).and_then(|()| encoder.finish()))
}

/// Writing to memory does not fail.
fn written(result: std::io::Result<Vec<u8>>) -> Vec<u8> {
    result.unwrap_or_default()
}

/// RFC 7932, uncompressed meta-blocks. The stream's first bit is its window size, so the first
/// header lies one bit higher.
pub fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 16);
    let mut bit = 1;
    for block in bytes.chunks(BROTLI_BLOCK_BYTES) {
        // Not the last (1 bit), four nibbles of length (2 bits), the length less one, uncompressed
        // (1 bit).
        let header = (low_bits(block.len() - 1) << 3 | 1 << 19) << bit;
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(block);
        bit = 0;
    }
    // The last and empty.
    out.push(0b11 << bit);
    out
}

/// RFC 8878: one segment with its size, raw blocks.
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    out.extend_from_slice(&low_bits(bytes.len()).to_le_bytes());
    let mut blocks = bytes.chunks(ZSTD_BLOCK_BYTES).peekable();
    if blocks.peek().is_none() {
        out.extend_from_slice(&[1, 0, 0]);
    }
    while let Some(block) = blocks.next() {
        let last = u32::from(blocks.peek().is_none());
        let header = low_bits(block.len()) << 3 | last;
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    out
}

/// Pages are far smaller than 4 GiB.
fn low_bits(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

pub fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// An image of `width` pixels a line, three bytes each.
pub fn png(width: u32, pixels: &[u8]) -> Vec<u8> {
    let line_bytes = usize::try_from(width).unwrap_or(1).max(1) * 3;
    let lines = pixels.chunks_exact(line_bytes);
    let mut header = Vec::from(width.to_be_bytes());
    header.extend_from_slice(&low_bits(lines.len()).to_be_bytes());
    // Eight bits a channel, three channels, and the only methods there are.
    header.extend_from_slice(&[8, 2, 0, 0, 0]);
    let unfiltered: Vec<u8> = lines.flat_map(|line| std::iter::once(0).chain(line.iter().copied())).collect();
    let mut out = Vec::from(b"\x89PNG\r\n\x1a\n");
    for (kind, data) in [(b"IHDR", header), (b"IDAT", zlib(&unfiltered)), (b"IEND", Vec::new())] {
        out.extend_from_slice(&low_bits(data.len()).to_be_bytes());
        let checked = [kind.as_slice(), &data].concat();
        out.extend_from_slice(&checked);
        out.extend_from_slice(&checksum(&checked).to_be_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn read(mut decoder: impl Read) -> Vec<u8> {
        let mut bytes = Vec::new();
        decoder.read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a4_every_coding_is_read_back_by_its_decoder() {
        for length in [0, 1, 255, 256, 65_535, 65_536, 65_537, 131_072, 131_073, 400_000] {
            let bytes: Vec<u8> = (0..length).map(|i: u32| i.to_le_bytes()[0] ^ i.to_le_bytes()[1]).collect();
            assert_eq!(read(flate2::read::GzDecoder::new(&gzip(&bytes)[..])), bytes, "gzip {length}");
            assert_eq!(read(flate2::read::ZlibDecoder::new(&zlib(&bytes)[..])), bytes, "zlib {length}");
            assert_eq!(
                read(flate2::read::DeflateDecoder::new(&bare_deflate(&bytes)[..])),
                bytes,
                "deflate {length}"
            );
            assert_eq!(
                read(brotli_decompressor::Decompressor::new(&brotli(&bytes)[..], 4096)),
                bytes,
                "br {length}"
            );
            assert_eq!(zstd::stream::decode_all(&zstd(&bytes)[..]).unwrap(), bytes, "zstd {length}");
        }
    }

    #[test]
    fn a_picture_is_a_sound_png() {
        let picture = png(2, &[255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9]);
        assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(&picture[16..24], [0, 0, 0, 2, 0, 0, 0, 2]);
        let mut rest = &picture[8..];
        let mut kinds = Vec::new();
        while !rest.is_empty() {
            let length = usize::try_from(u32::from_be_bytes(rest[..4].try_into().unwrap())).unwrap();
            let sum = u32::from_be_bytes(rest[8 + length..12 + length].try_into().unwrap());
            assert_eq!(checksum(&rest[4..8 + length]), sum);
            kinds.push(String::from_utf8_lossy(&rest[4..8]).into_owned());
            if &rest[4..8] == b"IDAT" {
                let lines = read(flate2::read::ZlibDecoder::new(&rest[8..8 + length]));
                assert_eq!(lines, [0, 255, 0, 0, 0, 255, 0, 0, 0, 0, 255, 9, 9, 9]);
            }
            rest = &rest[12 + length..];
        }
        assert_eq!(kinds, ["IHDR", "IDAT", "IEND"]);
    }
}
