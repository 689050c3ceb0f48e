//! The chunked transfer coding: where it ends, and what is in it.
//!
//! [`Chunks`] walks over a body piece by piece and says of each stretch of bytes whether it is data
//! or wrapping. The client uses it to know where an answer ends, [`Dechunk`] to unwrap a recorded
//! one. Forgiven are LF for CRLF, blanks after a size, and extensions; sizes, lines and trailers
//! are bounded. A body that says it is chunked but does not begin with a size is taken as it is:
//! that happens on the web, and more often in archives whose writers unwrapped the body and kept
//! the header.

use std::io::{self, Read};

/// Of a size line with its extensions, and of all trailers.
const LINE_BYTES_MAX: usize = 16 * 1024;

/// How far a chunked body has come.
#[derive(Clone, Debug)]
pub(super) struct Chunks {
    state: State,
    walked: u64,
    /// Where the last data ended, or the line after it: all sound up to there.
    sound: u64,
    line_bytes: usize,
    /// Whether this is about the very first size.
    first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Size { value: u64, digits: u8 },
    Extension { size: u64 },
    Data { left: u64 },
    AfterData { cr: bool },
    Trailer { line_is_empty: bool },
    End,
    Bad,
}

/// What the next bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stretch {
    /// So many bytes of sizes, line ends and trailers.
    Wrapping(usize),
    Data(usize),
    /// The body has ended; nothing was taken.
    End,
    /// The body makes no sense from here on; nothing was taken.
    Bad,
}

impl Chunks {
    pub(super) fn new() -> Chunks {
        let state = State::Size { value: 0, digits: 0 };
        Chunks { state, walked: 0, sound: 0, line_bytes: 0, first: true }
    }

    /// Takes the first stretch of `bytes`, which are not empty.
    pub(super) fn next(&mut self, bytes: &[u8]) -> Stretch {
        match self.state {
            State::End => Stretch::End,
            State::Bad => Stretch::Bad,
            State::Data { left } => {
                let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                let left = left - taken as u64;
                self.state = if left == 0 { State::AfterData { cr: false } } else { State::Data { left } };
                self.walked += taken as u64;
                self.sound = self.walked;
                Stretch::Data(taken)
            }
            _ => self.wrapping(bytes),
        }
    }

    fn wrapping(&mut self, bytes: &[u8]) -> Stretch {
        let mut taken = 0;
        for byte in bytes {
            if matches!(self.state, State::Data { .. } | State::End) {
                break;
            }
            self.line_bytes += 1;
            let next = if self.line_bytes > LINE_BYTES_MAX { State::Bad } else { after(self.state, *byte) };
            if next == State::Bad {
                self.state = State::Bad;
                break;
            }
            taken += 1;
            self.enter(next, self.walked + taken as u64);
        }
        self.walked += taken as u64;
        if taken == 0 { Stretch::Bad } else { Stretch::Wrapping(taken) }
    }

    fn enter(&mut self, next: State, at: u64) {
        match (self.state, next) {
            (State::AfterData { .. }, State::Size { .. }) => self.sound = at,
            (State::Size { .. } | State::Extension { .. }, State::Data { .. } | State::Trailer { .. }) => {
                self.first = false;
                self.line_bytes = 0;
            }
            _ => {}
        }
        self.state = next;
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state == State::End
    }

    /// Nothing is missing but the line that ends the trailers.
    pub(super) fn has_all_data(&self) -> bool {
        matches!(self.state, State::End | State::Trailer { line_is_empty: true })
    }

    /// The body does not begin with a size at all.
    pub(super) fn never_began(&self) -> bool {
        self.first && self.state == State::Bad
    }

    /// How much of the body made sense, without a size line that did not.
    pub(super) fn sound_bytes(&self) -> u64 {
        self.sound
    }
}

fn after(state: State, byte: u8) -> State {
    match (state, byte) {
        (State::Size { value, digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') if digits < 16 => {
            let digit = char::from(byte).to_digit(16).unwrap_or(0);
            State::Size { value: value << 4 | u64::from(digit), digits: digits + 1 }
        }
        (State::Size { value, digits: 1.. }, b'\n') | (State::Extension { size: value }, b'\n') => {
            match value {
                0 => State::Trailer { line_is_empty: true },
                left => State::Data { left },
            }
        }
        (State::Size { value, digits: 1.. }, b';' | b' ' | b'\t' | b'\r') => State::Extension { size: value },
        (State::Extension { .. }, _) => state,
        (State::AfterData { cr: false }, b'\r') => State::AfterData { cr: true },
        (State::AfterData { .. }, b'\n') => State::Size { value: 0, digits: 0 },
        (State::Trailer { line_is_empty: true }, b'\n') => State::End,
        (State::Trailer { .. }, b'\n') => State::Trailer { line_is_empty: true },
        (State::Trailer { line_is_empty }, b'\r') => State::Trailer { line_is_empty },
        (State::Trailer { .. }, _) => State::Trailer { line_is_empty: false },
        _ => State::Bad,
    }
}

/// Reads the data of a chunked body. One that is cut off or goes wrong ends where it does, without
/// an error.
#[derive(Debug)]
pub struct Dechunk<R> {
    source: R,
    buffer: Box<[u8]>,
    from: usize,
    to: usize,
    /// None if the body turned out not to be chunked.
    chunks: Option<Chunks>,
    begun: bool,
}

/// Enough for the longest size and what shows that it is one.
const SIZE_BYTES: usize = 18;

impl<R: Read> Dechunk<R> {
    pub fn new(source: R) -> Dechunk<R> {
        let buffer = vec![0; 8 * 1024].into();
        Dechunk { source, buffer, from: 0, to: 0, chunks: Some(Chunks::new()), begun: false }
    }

    /// Whether the end of the body was read, with all data before it.
    pub fn is_whole(&self) -> bool {
        self.chunks.as_ref().is_none_or(Chunks::has_all_data)
    }

    /// Has something in the buffer, unless the source is at its end.
    fn fill(&mut self) -> io::Result<()> {
        if self.from == self.to {
            self.from = 0;
            self.to = self.source.read(&mut self.buffer)?;
        }
        Ok(())
    }

    /// Looks at the first bytes before any are taken.
    fn begin(&mut self) -> io::Result<()> {
        while self.to < SIZE_BYTES {
            let read = self.source.read(&mut self.buffer[self.to..])?;
            if read == 0 {
                break;
            }
            self.to += read;
        }
        self.begun = true;
        let mut trial = Chunks::new();
        let mut rest = &self.buffer[..self.to.min(SIZE_BYTES)];
        while let ([_, ..], Stretch::Wrapping(taken)) = (rest, trial.next(rest)) {
            rest = &rest[taken..];
        }
        if trial.never_began() {
            self.chunks = None;
        }
        Ok(())
    }
}

impl<R: Read> Read for Dechunk<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if !self.begun {
            self.begin()?;
        }
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            self.fill()?;
            let held = &self.buffer[self.from..self.to];
            if held.is_empty() {
                return Ok(0);
            }
            let room = held.len().min(into.len());
            let data = match &mut self.chunks {
                None => room,
                Some(chunks) => match chunks.next(&held[..room]) {
                    Stretch::Data(taken) => taken,
                    Stretch::Wrapping(taken) => {
                        self.from += taken;
                        continue;
                    }
                    Stretch::End | Stretch::Bad => return Ok(0),
                },
            };
            into[..data].copy_from_slice(&held[..data]);
            self.from += data;
            return Ok(data);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use proptest::prelude::*;

    use super::*;

    /// Gives at most so many bytes at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let most = into.len().min(self.1);
            self.0.read(&mut into[..most])
        }
    }

    fn unwrapped(bytes: &[u8], at_a_time: usize) -> (String, bool) {
        let mut chunks = Dechunk::new(Trickle(bytes, at_a_time));
        let mut data = Vec::new();
        chunks.read_to_end(&mut data).unwrap();
        (String::from_utf8(data).unwrap(), chunks.is_whole())
    }

    #[test]
    fn a4_chunks_are_unwrapped_as_far_as_they_go() {
        for (coded, data, whole) in [
            ("5\r\nhello\r\n0\r\n\r\n", "hello", true),
            ("5;name=\"v;\"\r\nhello\r\n1 \r\n!\r\n00\r\nX: y\r\nZ: 1\r\n\r\nnext", "hello!", true),
            ("5\nhello\n0\n\n", "hello", true),
            ("A\r\n0123456789\r\n0\r\n", "0123456789", true),
            ("0\r\n\r\n", "", true),
            ("5\r\nhello\r\n", "hello", false),
            ("5\r\nhel", "hel", false),
            ("5", "", false),
            ("", "", false),
            ("5\r\nhelloX5\r\nworld\r\n", "hello", false),
            ("5\r\nhello\r\nfffffffffffffffff\r\nworld", "hello", false),
            ("5\r\nhello\r\n-1\r\nworld", "hello", false),
            ("ffffffffffffffff\r\nhello", "hello", false),
            ("<html>not chunked at all</html>", "<html>not chunked at all</html>", true),
            ("face it: not chunked", "", false),
            ("deed-not", "deed-not", true),
            ("11111111111111111\r\n", "11111111111111111\r\n", true),
        ] {
            for at_a_time in [1, 3, 100] {
                assert_eq!(unwrapped(coded.as_bytes(), at_a_time), (data.to_owned(), whole), "{coded:?}");
            }
        }
    }

    #[test]
    fn a11_endless_extensions_and_trailers_end() {
        for start in ["5;", "0\r\nX: "] {
            let endless = io::Read::chain(start.as_bytes(), io::repeat(b'x'));
            let mut chunks = Dechunk::new(endless);
            assert_eq!(io::copy(&mut chunks, &mut io::sink()).unwrap(), 0);
            assert!(!chunks.is_whole());
        }
    }

    proptest! {
        #[test]
        fn a4_what_was_chunked_comes_out_and_the_end_is_found(
            pieces in proptest::collection::vec(("[a-z]{1,40}", "(;[a-z=]{0,9})?"), 0..9),
            trailers in proptest::collection::vec("[A-Z][a-z]{0,9}: [a-z]{0,9}", 0..3),
            line_end in "\r?\n",
            at_a_time in 1usize..50,
        ) {
            let mut coded = String::new();
            for (data, extension) in &pieces {
                coded += &format!("{:x}{extension}{line_end}{data}{line_end}", data.len());
            }
            coded += &format!("0{line_end}");
            for trailer in trailers {
                coded += &format!("{trailer}{line_end}");
            }
            coded += &line_end;
            let data: String = pieces.into_iter().map(|(data, _)| data).collect();
            let with_more = format!("{coded}HTTP/1.1 200 OK");
            prop_assert_eq!(unwrapped(with_more.as_bytes(), at_a_time), (data, true));

            let mut chunks = Chunks::new();
            let mut walked = 0;
            for piece in with_more.as_bytes().chunks(at_a_time) {
                let mut rest = piece;
                while !rest.is_empty() {
                    match chunks.next(rest) {
                        Stretch::Data(n) | Stretch::Wrapping(n) => { walked += n; rest = &rest[n..]; }
                        other => { prop_assert_eq!(other, Stretch::End); break; }
                    }
                }
            }
            prop_assert_eq!(walked, coded.len());
        }

        #[test]
        fn a11_any_bytes_are_unwrapped_without_panic(bytes in "[0-9a-f;\r\nx]{0,60}", at_a_time in 1usize..9) {
            prop_assert!(unwrapped(bytes.as_bytes(), at_a_time).0.len() <= bytes.len());
        }
    }
}
