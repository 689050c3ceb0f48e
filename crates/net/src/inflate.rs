//! Deflated data in its three wrappings: gzip (one member or several), zlib, and none.
//!
//! The readers of flate2 give back an error instead of what they unpacked in the same call before
//! the data went wrong, which may be a whole page. Here everything that could be unpacked is
//! delivered first, and then the error, in whatever pieces it is read.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Of a name or comment in a gzip head.
const TEXT_BYTES_MAX: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapping {
    Gzip,
    Zlib,
    Bare,
}

/// Unpacks what it reads.
pub(crate) struct Inflated<R> {
    source: BufReader<R>,
    wrapping: Wrapping,
    inflate: Decompress,
    crc: Crc,
    stage: Stage,
    /// Why the source ended, which counts once everything it gave is unpacked.
    source_ended: Option<io::Error>,
}

enum Stage {
    Head,
    Data,
    Tail,
    /// Everything before this was delivered.
    Failed(io::Error),
    Over,
}

impl<R: Read> Inflated<R> {
    pub(crate) fn new(source: R, wrapping: Wrapping) -> Inflated<R> {
        let stage = if wrapping == Wrapping::Gzip { Stage::Head } else { Stage::Data };
        Inflated {
            source: BufReader::new(source),
            wrapping,
            inflate: Decompress::new(wrapping == Wrapping::Zlib),
            crc: Crc::new(),
            stage,
            source_ended: None,
        }
    }

    /// Unpacks some; 0 where a stage has ended.
    fn data(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let input = match &self.source_ended {
            Some(_) => &[],
            None => match self.source.fill_buf() {
                Ok(input) => input,
                Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                Err(error) => {
                    self.source_ended = Some(error);
                    &[]
                }
            },
        };
        let at_end = input.is_empty();
        let (taken, given) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self.inflate.decompress(input, into, FlushDecompress::None);
        let since = |before: u64, now: u64| usize::try_from(now - before).unwrap_or(0);
        let taken = since(taken, self.inflate.total_in());
        let given = since(given, self.inflate.total_out());
        self.source.consume(taken);
        if self.wrapping == Wrapping::Gzip {
            self.crc.update(&into[..given]);
        }
        match status {
            Ok(Status::StreamEnd) => self.stage = Stage::Tail,
            Err(_) | Ok(_) if given == 0 && at_end => {
                let why = self.source_ended.take();
                self.stage = Stage::Failed(why.unwrap_or_else(|| ErrorKind::UnexpectedEof.into()));
            }
            Ok(_) if given == 0 && taken == 0 => {
                self.stage = Stage::Failed(corrupt("corrupt deflate stream"));
            }
            Ok(_) => {}
            Err(_) => self.stage = Stage::Failed(corrupt("corrupt deflate stream")),
        }
        Ok(given)
    }

    /// What comes after the data; goes on with the next member, where there is one.
    fn tail(&mut self) -> io::Result<Stage> {
        if let Some(error) = self.source_ended.take() {
            return Err(error);
        }
        if self.wrapping != Wrapping::Gzip {
            // Whether what it was wrapped in ended well is known only from there.
            return self.source.fill_buf().map(|_| Stage::Over);
        }
        let mut tail = [0; 8];
        self.source.read_exact(&mut tail)?;
        let [a, b, c, d, e, f, g, h] = tail;
        let said = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        if said != (self.crc.sum(), self.crc.amount()) {
            return Err(corrupt("corrupt gzip stream does not have a matching checksum"));
        }
        if self.source.fill_buf()?.is_empty() {
            return Ok(Stage::Over);
        }
        self.inflate.reset(false);
        self.crc.reset();
        Ok(Stage::Head)
    }

    /// Everything before the deflated data: flags say which optional parts are there.
    fn head(&mut self) -> io::Result<()> {
        const CRC: u8 = 2;
        const EXTRA: u8 = 4;
        const TEXTS: [u8; 2] = [8, 16];
        let mut fixed = [0; 10];
        self.source.read_exact(&mut fixed)?;
        let [0x1f, 0x8b, 8, flags, ..] = fixed else { return Err(corrupt("invalid gzip header")) };
        if flags & EXTRA != 0 {
            let len = u16::from_le_bytes(self.bytes()?);
            io::copy(&mut self.source.by_ref().take(u64::from(len)), &mut io::sink())?;
        }
        for _ in TEXTS.iter().filter(|text| flags & **text != 0) {
            let mut len = 0;
            while self.bytes::<1>()? != [0] {
                len += 1;
                if len > TEXT_BYTES_MAX {
                    return Err(corrupt("invalid gzip header"));
                }
            }
        }
        if flags & CRC != 0 {
            self.bytes::<2>()?;
        }
        Ok(())
    }

    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.source.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl<R: Read> Read for Inflated<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Over => return Ok(0),
                Stage::Failed(error) => return Err(error),
                Stage::Head => {
                    self.head()?;
                    self.stage = Stage::Data;
                }
                Stage::Tail => self.stage = self.tail()?,
                Stage::Data => {
                    self.stage = Stage::Data;
                    match self.data(into) {
                        Ok(0) => {}
                        Err(error) if error.kind() != ErrorKind::Interrupted => {
                            self.stage = Stage::Over;
                            return Err(error);
                        }
                        done => return done,
                    }
                }
            }
        }
    }
}

fn corrupt(what: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}
