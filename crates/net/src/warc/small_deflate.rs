//! Deflate (RFC 1951) for what is small: most records are.
//!
//! Others begin a stream by clearing tables of 128 KiB, which
//! takes longer than compressing a request. Here the input is at hand as a whole,
//! and the table of places is never cleared: places count on from stream to stream, and what lies
//! before the present one is out of date. As at zlib's fastest level there is one block with the
//! fixed codes, and a match is the last place that began with the same four bytes.

const HASH_BITS: u32 = 13;
const MATCH_BYTES_MIN: usize = 4;
const MATCH_BYTES_MAX: usize = 258;
const DISTANCE_MAX: usize = 32 << 10;
/// With the fixed codes: the last block of a stream, and one that others follow.
const LAST_BLOCK: Code = Code { bits: 0b011, count: 3 };
const BLOCK: Code = Code { bits: 0b010, count: 3 };
/// What ends a part of a stream at a whole byte: a block of nothing, stored as it is.
const EMPTY_BLOCK: Code = Code { bits: 0b000, count: 3 };
const EMPTY_STORED: [u8; 4] = [0, 0, 0xff, 0xff];
const BLOCK_END: Code = symbol(256);

pub(super) struct SmallDeflate {
    /// By hash: the last place of four such bytes, counted over all streams.
    places: Vec<u32>,
    /// The place of the present stream's first byte.
    base: u32,
}

impl SmallDeflate {
    pub(super) fn new() -> SmallDeflate {
        SmallDeflate { places: vec![0; 1 << HASH_BITS], base: 1 }
    }

    /// Appends the whole stream of these bytes.
    pub(super) fn deflate(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.block(LAST_BLOCK, bytes, out).finish();
    }

    /// Appends a stream that is not over: what follows begins with a block of its own, at a whole
    /// byte.
    pub(super) fn deflate_begin(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut bits = self.block(BLOCK, bytes, out);
        bits.push(EMPTY_BLOCK);
        bits.finish();
        out.extend_from_slice(&EMPTY_STORED);
    }

    fn block<'a>(&mut self, head: Code, bytes: &[u8], out: &'a mut Vec<u8>) -> Bits<'a> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        if self.base.checked_add(length).is_none() {
            self.places.fill(0);
            self.base = 1;
        }
        let mut out = Bits { out, held: 0, count: 0 };
        out.push(head);
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match self.find(bytes, at) {
                Some((distance, length)) => {
                    out.push(LENGTHS[length - 3]);
                    out.push(distance_code(distance));
                    at += length;
                }
                None => {
                    out.push(LITERALS[usize::from(*byte)]);
                    at += 1;
                }
            }
        }
        out.push(BLOCK_END);
        self.base = self.base.saturating_add(length);
        out
    }

    /// How far back the same bytes are, and how many; and notes that they are here too.
    #[inline]
    fn find(&mut self, bytes: &[u8], at: usize) -> Option<(usize, usize)> {
        let four = bytes.get(at..)?.first_chunk::<MATCH_BYTES_MIN>()?;
        let hash = u32::from_le_bytes(*four).wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS);
        let place = &mut self.places[hash as usize];
        let before = place.checked_sub(self.base);
        *place = self.base + u32::try_from(at).unwrap_or(0);
        let from = before? as usize;
        let distance = at.checked_sub(from).filter(|distance| (1..=DISTANCE_MAX).contains(distance))?;
        if bytes.get(from..)?.first_chunk::<MATCH_BYTES_MIN>() != Some(four) {
            return None;
        }
        let rest = MATCH_BYTES_MAX.min(bytes.len() - at) - MATCH_BYTES_MIN;
        let (here, there) = (&bytes[at + MATCH_BYTES_MIN..], &bytes[from + MATCH_BYTES_MIN..]);
        Some((distance, MATCH_BYTES_MIN + same(&here[..rest], &there[..rest])))
    }
}

/// How many bytes two slices of one length begin with in common.
fn same(one: &[u8], other: &[u8]) -> usize {
    let mut count = 0;
    while let (Some(a), Some(b)) = (one[count..].first_chunk::<8>(), other[count..].first_chunk::<8>()) {
        let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differ != 0 {
            return count + (differ.trailing_zeros() / 8) as usize;
        }
        count += 8;
    }
    count + one[count..].iter().zip(&other[count..]).take_while(|(a, b)| a == b).count()
}

/// Bits as they are written: the first is the lowest.
#[derive(Clone, Copy)]
struct Code {
    bits: u32,
    count: u32,
}

const LITERALS: [Code; 256] = {
    let mut codes = [LAST_BLOCK; 256];
    let mut byte = 0u32;
    while byte < 256 {
        codes[byte as usize] = symbol(byte);
        byte += 1;
    }
    codes
};

/// By length less 3, with its extra bits.
const LENGTHS: [Code; 256] = {
    let mut codes = [LAST_BLOCK; 256];
    let mut over = 0;
    while over < 256u32 {
        let (index, extra) = match over {
            255 => (28, 0),
            0..8 => (over, 0),
            _ => {
                let extra = over.ilog2() - 2;
                (4 * (extra + 1) + ((over >> extra) & 3), extra)
            }
        };
        let code = symbol(257 + index);
        let more = over & ((1 << extra) - 1);
        codes[over as usize] = Code { bits: code.bits | more << code.count, count: code.count + extra };
        over += 1;
    }
    codes
};

/// The fixed code of a literal, the end or a length (RFC 1951, 3.2.6).
const fn symbol(symbol: u32) -> Code {
    let (code, count) = match symbol {
        0..144 => (0b0011_0000 + symbol, 8),
        144..256 => (0b1_1001_0000 + symbol - 144, 9),
        256..280 => (symbol - 256, 7),
        _ => (0b1100_0000 + symbol - 280, 8),
    };
    Code { bits: code.reverse_bits() >> (32 - count), count }
}

#[inline]
fn distance_code(distance: usize) -> Code {
    let over = u32::try_from(distance - 1).unwrap_or(0);
    let (symbol, extra) = match over {
        0..4 => (over, 0),
        _ => {
            let extra = over.ilog2() - 1;
            (2 * (extra + 1) + ((over >> extra) & 1), extra)
        }
    };
    let more = over & ((1 << extra) - 1);
    Code { bits: symbol.reverse_bits() >> 27 | more << 5, count: 5 + extra }
}

struct Bits<'a> {
    out: &'a mut Vec<u8>,
    held: u64,
    /// Bits held, fewer than 32 between two calls.
    count: u32,
}

impl Bits<'_> {
    #[inline]
    fn push(&mut self, code: Code) {
        self.held |= u64::from(code.bits) << self.count;
        self.count += code.count;
        if self.count >= 32 {
            self.out.extend_from_slice(&self.held.to_le_bytes()[..4]);
            self.held >>= 32;
            self.count -= 32;
        }
    }

    fn finish(self) {
        let bytes = self.count.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.held.to_le_bytes()[..bytes]);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::{DeflateDecoder, DeflateEncoder};
    use proptest::prelude::*;

    use super::*;

    fn inflated(packed: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut decoder = DeflateDecoder::new(packed);
        decoder.read_to_end(&mut bytes).unwrap();
        assert_eq!(decoder.total_in(), packed.len() as u64, "nothing behind the stream");
        bytes
    }

    fn deflated(small: &mut SmallDeflate, bytes: &[u8]) -> Vec<u8> {
        let mut packed = b"before".to_vec();
        small.deflate(bytes, &mut packed);
        packed.split_off(6)
    }

    #[test]
    fn a8_every_length_and_distance_comes_back() {
        let mut small = SmallDeflate::new();
        let noise: Vec<u8> =
            (0..64_000u64).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect();
        for length in 0..600 {
            let repeated = [&noise[..length], b"#", &noise[..length]].concat();
            assert_eq!(inflated(&deflated(&mut small, &repeated)), repeated);
            let run = vec![b'x'; length];
            assert_eq!(inflated(&deflated(&mut small, &run)), run);
        }
        for distance in (1..60_000).step_by(37) {
            let far = [&noise[..distance], &noise[..40]].concat();
            assert_eq!(inflated(&deflated(&mut small, &far)), far, "{distance}");
        }
    }

    #[test]
    fn a8_places_that_are_used_up_begin_anew() {
        let mut small = SmallDeflate { base: u32::MAX - 10_000, ..SmallDeflate::new() };
        for n in 0..100u8 {
            let bytes: Vec<u8> = (0..999).map(|at| (at % 50) as u8 ^ n).collect();
            assert_eq!(inflated(&deflated(&mut small, &bytes)), bytes, "{n}");
        }
        assert!(small.base < 100_000, "{}", small.base);
    }

    /// Prose of made-up words, some of them said far more often than others.
    fn prose(bytes: usize) -> String {
        let mut random = fastrand::Rng::with_seed(1);
        let word =
            |random: &mut fastrand::Rng| (0..random.usize(2..10)).map(|_| random.lowercase()).collect();
        let words: Vec<String> = (0..4000).map(|_| word(&mut random)).collect();
        let mut text = String::from("<!DOCTYPE html><html><head><title>Prose</title></head><body><p>");
        while text.len() < bytes {
            let place = (0..3).map(|_| random.usize(0..words.len())).min().unwrap();
            text.push_str(&words[place]);
            text.push(' ');
        }
        text
    }

    #[test]
    fn a8_it_packs_about_as_well_as_zlib_at_its_fastest() {
        for bytes in [300, 2000, 8000, 16_000] {
            let text = prose(bytes);
            let mut zlib = Vec::new();
            let fastest = flate2::Compression::new(1);
            DeflateEncoder::new(text.as_bytes(), fastest).read_to_end(&mut zlib).unwrap();
            let packed = deflated(&mut SmallDeflate::new(), text.as_bytes());
            assert!(packed.len() * 100 <= zlib.len() * 103, "{bytes}: {} to {}", packed.len(), zlib.len());
        }
    }

    proptest! {
        #[test]
        fn a8_what_is_packed_comes_back(streams in prop::collection::vec(prop::collection::vec(prop_oneof![Just(b'a'), Just(b'b'), any::<u8>()], 0..3000), 1..5)) {
            let mut small = SmallDeflate::new();
            for bytes in streams {
                prop_assert_eq!(inflated(&deflated(&mut small, &bytes)), bytes);
            }
        }
    }
}
