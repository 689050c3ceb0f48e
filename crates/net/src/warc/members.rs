//! The bytes of an archive file without their compression, member by member.
//!
//! A gzip file is a chain of members and a zstd file one of frames; in a well-made archive each
//! holds one record, and the place of the record is that of its member. A plain file counts as one
//! long member. Checksums are verified at the end of each member.

use std::io::{self, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::DParameter;

use super::input::Input;

const DECODED_BYTES: usize = 64 * 1024;
/// What the proposal for `.warc.zst` wants supported: 8 MiB.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
const GZIP_TEXT_BYTES_MAX: usize = 64 * 1024;

const FILE_ENDS: &str = "the file ends inside a compressed record";

pub(super) const GZIP: [u8; 2] = [0x1f, 0x8b];
pub(super) const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const ZSTD_DICTIONARY: [u8; 4] = [0x5d, 0x2a, 0x4d, 0x18];
const LZ4: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// Why decoding cannot go on.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Broken(&'static str),
}

pub(super) struct Members<R> {
    input: Input<R>,
    codec: Codec,
    decoded: Vec<u8>,
    at: usize,
    ended: bool,
    /// What is wrong behind the bytes that were decoded.
    wrong: Option<Fault>,
    offset: u64,
}

enum Codec {
    Plain,
    Gzip { inflate: Box<Decompress>, crc: Crc },
    Zstd(Decoder<'static>),
}

impl<R: Read> Members<R> {
    /// Looks at the first bytes to know how the file is compressed; a text says what it is if it
    /// can be no archive.
    pub(super) fn new(inner: R) -> io::Result<Result<Members<R>, &'static str>> {
        let mut input = Input::new(inner);
        let start = input.peek(4)?;
        let codec = match start {
            _ if start.starts_with(&GZIP) => {
                Codec::Gzip { inflate: Box::new(Decompress::new(false)), crc: Crc::new() }
            }
            _ if *start == ZSTD => Codec::Zstd(zstd_decoder()?),
            _ if *start == ZSTD_DICTIONARY => {
                return Ok(Err("a zstd file with a dictionary, which is not supported"));
            }
            _ if *start == LZ4 => return Ok(Err("an LZ4 file: only gzip and zstd are supported")),
            _ => Codec::Plain,
        };
        let decoded = Vec::with_capacity(DECODED_BYTES);
        Ok(Ok(Members { input, codec, decoded, at: 0, ended: true, wrong: None, offset: 0 }))
    }

    pub(super) fn is_plain(&self) -> bool {
        matches!(self.codec, Codec::Plain)
    }

    /// Only zstd lets a record go on in the next frame.
    pub(super) fn may_split_records(&self) -> bool {
        matches!(self.codec, Codec::Zstd(_))
    }

    /// Where the current member begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Plain: the place of the next byte. Compressed: that of the next byte to decode.
    pub(super) fn position(&self) -> u64 {
        self.input.position()
    }

    /// Goes to the next member; false at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool, Fault> {
        self.decoded.clear();
        self.at = 0;
        self.ended = false;
        self.wrong = None;
        if let Codec::Zstd(_) = self.codec {
            self.skip_extension_frames()?;
        }
        self.offset = self.input.position();
        if self.input.fill()?.is_empty() {
            self.ended = true;
            return Ok(false);
        }
        match &mut self.codec {
            Codec::Plain => {}
            Codec::Gzip { inflate, crc } => {
                inflate.reset(false);
                crc.reset();
                gzip_head(&mut self.input)?;
            }
            Codec::Zstd(decoder) => {
                decoder.reinit()?;
                if self.input.peek(4)? != ZSTD {
                    return Err(Fault::Broken("no zstd frame where one should begin"));
                }
            }
        }
        Ok(true)
    }

    /// Some bytes of the member that come next; none at its end.
    pub(super) fn fill(&mut self) -> Result<&[u8], Fault> {
        if self.is_plain() {
            return Ok(self.input.fill()?);
        }
        while self.at == self.decoded.len() && !self.ended {
            self.decode()?;
        }
        Ok(&self.decoded[self.at..])
    }

    pub(super) fn consume(&mut self, bytes: usize) {
        if self.is_plain() {
            self.input.consume(bytes);
        } else {
            self.at = (self.at + bytes).min(self.decoded.len());
        }
    }

    /// Goes on by that many of the bytes `fill` gave, and gives them.
    pub(super) fn take(&mut self, bytes: usize) -> &[u8] {
        if self.is_plain() {
            return self.input.take(bytes);
        }
        let from = self.at;
        self.consume(bytes);
        &self.decoded[from..self.at]
    }

    fn decode(&mut self) -> Result<(), Fault> {
        self.decoded.clear();
        self.at = 0;
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong);
        }
        let input = self.input.fill()?;
        let at_end = input.is_empty();
        let stuck = |broken| Fault::Broken(if at_end { FILE_ENDS } else { broken });
        match &mut self.codec {
            Codec::Plain => {}
            Codec::Gzip { inflate, crc } => {
                let before = inflate.total_in();
                let status = inflate.decompress_vec(input, &mut self.decoded, FlushDecompress::None);
                let taken = usize::try_from(inflate.total_in() - before).unwrap_or(0);
                if taken == 0 && self.decoded.is_empty() && !matches!(status, Ok(Status::StreamEnd)) {
                    return Err(stuck("broken gzip data"));
                }
                self.input.consume(taken);
                crc.update(&self.decoded);
                // What came before is given out first, in whatever pieces the file is read.
                match status {
                    Ok(Status::StreamEnd) => match gzip_tail(&mut self.input, crc) {
                        Ok(()) => self.ended = true,
                        Err(wrong) => self.wrong = Some(wrong),
                    },
                    Ok(_) => {}
                    Err(_) => self.wrong = Some(Fault::Broken("broken gzip data")),
                }
            }
            Codec::Zstd(decoder) => {
                let mut from = InBuffer::around(input);
                let left = decoder
                    .run(&mut from, &mut OutBuffer::around(&mut self.decoded))
                    .map_err(|_| Fault::Broken("broken zstd data"))?;
                let taken = from.pos();
                if taken == 0 && self.decoded.is_empty() && left != 0 {
                    return Err(stuck("broken zstd data"));
                }
                self.input.consume(taken);
                self.ended = left == 0;
            }
        }
        Ok(())
    }

    fn skip_extension_frames(&mut self) -> Result<(), Fault> {
        loop {
            let start = self.input.peek(8)?;
            let &[kind @ 0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d] = start else { return Ok(()) };
            if kind == ZSTD_DICTIONARY[0] {
                return Err(Fault::Broken("a zstd dictionary, which is not supported"));
            }
            let mut left = u64::from(u32::from_le_bytes([a, b, c, d])) + 8;
            while left > 0 {
                let here = self.input.fill()?.len();
                if here == 0 {
                    return Err(Fault::Broken("the file ends inside a zstd frame"));
                }
                let skipped = here.min(usize::try_from(left).unwrap_or(usize::MAX));
                self.input.consume(skipped);
                left -= skipped as u64;
            }
        }
    }
}

fn zstd_decoder() -> io::Result<Decoder<'static>> {
    let mut decoder = Decoder::new()?;
    decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX))?;
    Ok(decoder)
}

/// Everything before the deflated data: flags say which optional parts are there.
fn gzip_head(input: &mut Input<impl Read>) -> Result<(), Fault> {
    const CRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let mut fixed = [0; 10];
    for byte in &mut fixed {
        *byte = next(input)?;
    }
    let [0x1f, 0x8b, 8, flags, ..] = fixed else {
        return Err(Fault::Broken("no gzip member where one should begin"));
    };
    if flags & EXTRA != 0 {
        let len = u16::from_le_bytes([next(input)?, next(input)?]);
        for _ in 0..len {
            next(input)?;
        }
    }
    for text in [NAME, COMMENT] {
        let mut len = 0;
        while flags & text != 0 && next(input)? != 0 {
            len += 1;
            if len > GZIP_TEXT_BYTES_MAX {
                return Err(Fault::Broken("the name in a gzip head does not end"));
            }
        }
    }
    if flags & CRC != 0 {
        next(input)?;
        next(input)?;
    }
    Ok(())
}

fn gzip_tail(input: &mut Input<impl Read>, crc: &Crc) -> Result<(), Fault> {
    let mut tail = [0; 8];
    for byte in &mut tail {
        *byte = next(input)?;
    }
    let [a, b, c, d, e, f, g, h] = tail;
    let expected = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
    if expected == (crc.sum(), crc.amount()) {
        Ok(())
    } else {
        Err(Fault::Broken("gzip checksum does not match"))
    }
}

fn next(input: &mut Input<impl Read>) -> Result<u8, Fault> {
    input.byte()?.ok_or(Fault::Broken(FILE_ENDS))
}

impl<R> std::fmt::Debug for Members<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Members").field("offset", &self.offset).finish_non_exhaustive()
    }
}
