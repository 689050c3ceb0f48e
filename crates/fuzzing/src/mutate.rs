//! From seeds to inputs that nobody has written, the same for the same number.

use fastrand::Rng;

/// Longer inputs are cut: more of the same finds no more.
const INPUT_BYTES_MAX: usize = 64 << 10;
/// Changes made to one seed.
const CHANGES_MAX: usize = 8;
/// Longest piece that is copied, removed or repeated.
const PIECE_BYTES_MAX: usize = 64;
/// How often a piece is repeated at most.
const REPEATS_MAX: usize = 200;

/// Numbers where something might overflow, and marks that begin something.
const WORDS: [&str; 22] = [
    "0",
    "-1",
    "1",
    "127",
    "128",
    "255",
    "256",
    "65535",
    "65536",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e999",
    "\r\n",
    "\n\n",
    "\0",
    "\u{feff}",
    "%00",
    "\u{2028}",
    "é",
];

/// Input number `seed`.
pub(crate) fn input(seeds: &[Vec<u8>], words: &[&str], seed: u64) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed);
    let mut bytes = rng.choice(seeds).cloned().unwrap_or_default();
    for _ in 0..rng.usize(1..=CHANGES_MAX) {
        change(&mut bytes, seeds, words, &mut rng);
        bytes.truncate(INPUT_BYTES_MAX);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[&str], rng: &mut Rng) {
    let at = rng.usize(0..=bytes.len());
    let piece = |rng: &mut Rng, from: &[u8]| -> Vec<u8> {
        let start = rng.usize(0..=from.len());
        let end = (start + rng.usize(0..=PIECE_BYTES_MAX)).min(from.len());
        from[start..end].to_vec()
    };
    match rng.u8(0..12) {
        // One bit, or one byte.
        0 | 1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = if rng.bool() { *byte ^ (1 << rng.u8(0..8)) } else { rng.u8(..) };
            }
        }
        2 => drop(bytes.drain(at..(at + rng.usize(0..=PIECE_BYTES_MAX)).min(bytes.len()))),
        3 => bytes.truncate(at),
        // A word, of this format or of all.
        4..=6 => {
            let own = rng.choice(words).copied().filter(|_| rng.u8(0..4) > 0);
            let word = own.or_else(|| rng.choice(WORDS)).unwrap_or_default();
            let replaced = if rng.bool() { word.len() } else { 0 };
            let end = (at + replaced).min(bytes.len());
            bytes.splice(at..end, word.bytes());
        }
        // A piece from elsewhere in it, or many of it.
        7 => {
            let piece = piece(rng, bytes);
            let many = piece.repeat(if rng.bool() { 1 } else { rng.usize(1..=REPEATS_MAX) });
            bytes.splice(at..at, many);
        }
        8 => {
            let piece = piece(rng, bytes);
            let end = (at + piece.len()).min(bytes.len());
            bytes.splice(at..end, piece);
        }
        // A piece of another seed, or all that follows there.
        9 => {
            let piece = rng.choice(seeds).map(|other| piece(rng, other)).unwrap_or_default();
            bytes.splice(at..at, piece);
        }
        10 => {
            if let Some(other) = rng.choice(seeds) {
                bytes.truncate(at);
                bytes.extend_from_slice(&other[rng.usize(0..=other.len())..]);
            }
        }
        // A number that stands there becomes another.
        _ => {
            let Some(from) = bytes[at..].iter().position(u8::is_ascii_digit).map(|found| at + found) else {
                return;
            };
            let end = bytes[from..].iter().position(|byte| !byte.is_ascii_digit());
            let end = end.map_or(bytes.len(), |found| from + found);
            let number = rng.choice(&WORDS[..15]).copied().unwrap_or_default();
            bytes.splice(from..end, number.bytes());
        }
    }
}
