//! Reading archive files of anybody's making, record by record.
//!
//! [`Reader::next`] gives a record's head, [`Reader::piece`] its block piece by piece,
//! [`Reader::end`] says where the record was. What warcio puts up with is put up with here: LF for
//! CRLF, missing or additional blank lines, `<…>` around a URL, blanks in it, files compressed as a
//! whole, `warc/1.0` in small letters, folded lines. After a record that cannot be read the next
//! call goes on at the next one that can be found: the next member of a compressed file, the next
//! line `WARC/` of a plain one. Where data cannot be decoded any further, the file ends.

use std::io::{self, Read};

use super::fields;
use super::head::RecordHead;
use super::members::{Fault, Members};

/// Of a longer head nothing is believed.
const HEAD_BYTES_MAX: usize = 256 * 1024;

/// Goes through an archive file.
#[derive(Debug)]
pub struct Reader<R> {
    members: Members<R>,
    state: State,
    line: Vec<u8>,
    /// Where the line in hand, or the member it began in, begins.
    line_offset: u64,
    /// Whether nothing but blank lines came before it in its member.
    fresh: bool,
    first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between records; at the end of a member or before something that is not blank.
    Between,
    /// Before a record, with its first line in hand.
    Found,
    Block {
        offset: u64,
        left: u64,
        starts_member: bool,
    },
    /// Nothing more can be read.
    Over,
}

/// Where a record was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub offset: u64,
    /// The compressed member, or the record without the blank lines after it.
    pub length: u64,
    /// Whether the record can be read beginning at `offset`: in a file compressed as a whole it
    /// cannot.
    pub seekable: bool,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("reading the file")]
    Io(#[from] io::Error),
    #[error("not a WARC file: {0}")]
    NotWarc(String),
    #[error("record at {offset}: {reason}")]
    Broken { offset: u64, reason: String },
}

impl<R: Read> Reader<R> {
    pub fn new(inner: R) -> Result<Reader<R>, ReadError> {
        let members = Members::new(inner)?.map_err(|what| ReadError::NotWarc(what.to_owned()))?;
        Ok(Reader {
            members,
            state: State::Between,
            line: Vec::new(),
            line_offset: 0,
            fresh: false,
            first: true,
        })
    }

    /// Goes to the next record; none at the end of the file.
    #[allow(clippy::should_implement_trait, reason = "an error does not end it, and it lends out its block")]
    pub fn next(&mut self) -> Result<Option<RecordHead>, ReadError> {
        if let State::Block { .. } = self.state {
            self.end()?;
        }
        if self.state == State::Over {
            return Ok(None);
        }
        if self.state == State::Between && !self.find_line(|_| true)? {
            self.state = State::Over;
            return Ok(None);
        }
        let starts_member = std::mem::take(&mut self.fresh);
        let offset = self.line_offset;
        if !is_version(&self.line) {
            return Err(self.not_a_record(offset));
        }
        self.first = false;
        let head = self.head(offset)?;
        self.state = State::Block { offset, left: head.block_bytes, starts_member };
        Ok(Some(head))
    }

    /// The next bytes of the record's block; none at its end.
    pub fn piece(&mut self) -> Result<Option<&[u8]>, ReadError> {
        self.piece_of(u64::MAX)
    }

    fn piece_of(&mut self, bytes_max: u64) -> Result<Option<&[u8]>, ReadError> {
        let State::Block { offset, left, starts_member } = self.state else { return Ok(None) };
        let wanted = left.min(bytes_max);
        if wanted == 0 {
            return Ok(None);
        }
        let available = loop {
            match self.members.fill().map(<[u8]>::len) {
                Ok(0) if self.members.may_split_records() && self.go_on(offset)? => {}
                Ok(0) => return Err(self.lost(offset, &format!("its block ends {left} bytes too soon"))),
                Ok(available) => break available,
                Err(fault) => return Err(self.over(offset, fault)),
            }
        };
        let taken = available.min(usize::try_from(wanted).unwrap_or(usize::MAX));
        self.state = State::Block { offset, left: left - taken as u64, starts_member };
        Ok(Some(self.members.take(taken)))
    }

    /// Skips what is left of the record and the blank lines after it; says where it was.
    pub fn end(&mut self) -> Result<Extent, ReadError> {
        while self.piece()?.is_some() {}
        let State::Block { offset, starts_member, .. } = self.state else {
            return Err(ReadError::Io(io::Error::other("no record begun")));
        };
        let block_end = self.members.position();
        self.state = State::Between;
        let more = self.skip_blanks().map_err(|fault| self.over(offset, fault))?;
        let end = if self.members.is_plain() { block_end } else { self.members.position() };
        let seekable = self.members.is_plain() || (starts_member && !more);
        Ok(Extent { offset, length: end - offset, seekable })
    }

    /// After the end of a record: where the next one begins, if one follows.
    pub(super) fn position(&self) -> u64 {
        self.members.position()
    }

    /// Goes over line ends in the member; says whether anything else is left in it.
    fn skip_blanks(&mut self) -> Result<bool, Fault> {
        loop {
            let bytes = self.members.fill()?;
            let blanks = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if blanks < bytes.len() {
                self.members.consume(blanks);
                return Ok(true);
            }
            if blanks == 0 {
                return Ok(false);
            }
            self.members.consume(blanks);
        }
    }

    /// Takes lines up to one that is not blank and wanted; false at the end of the file.
    fn find_line(&mut self, wanted: impl Fn(&[u8]) -> bool) -> Result<bool, ReadError> {
        loop {
            let plain = self.members.is_plain();
            self.line_offset = if plain { self.members.position() } else { self.members.offset() };
            match self.read_line(HEAD_BYTES_MAX) {
                Err(fault) => return Err(self.over(self.members.offset(), fault)),
                Ok(true) if self.line.trim_ascii().is_empty() => {}
                Ok(true) if wanted(&self.line) => return Ok(true),
                Ok(true) => self.fresh = false,
                Ok(false) => match self.members.advance() {
                    Ok(true) => self.fresh = true,
                    Ok(false) => return Ok(false),
                    Err(fault) => return Err(self.over(self.members.position(), fault)),
                },
            }
        }
    }

    /// Takes one line of the member into `line`; false at the member's end.
    fn read_line(&mut self, bytes_max: usize) -> Result<bool, Fault> {
        self.line.clear();
        while self.line.len() < bytes_max {
            if self.members.fill()?.is_empty() {
                if self.line.is_empty() || !self.members.may_split_records() || !self.members.advance()? {
                    break;
                }
                continue;
            }
            let bytes = self.members.fill()?;
            let (len, ended) = memchr::memchr(b'\n', bytes).map_or((bytes.len(), false), |at| (at + 1, true));
            let len = len.min(bytes_max - self.line.len());
            self.line.extend_from_slice(&bytes[..len]);
            self.members.consume(len);
            if ended {
                break;
            }
        }
        Ok(!self.line.is_empty())
    }

    /// Reads the rest of a head, whose first line is in hand.
    fn head(&mut self, offset: u64) -> Result<RecordHead, ReadError> {
        let mut text = std::mem::take(&mut self.line);
        loop {
            match self.read_line(HEAD_BYTES_MAX) {
                Err(fault) => return Err(self.over(offset, fault)),
                Ok(false) if self.members.may_split_records() && self.go_on(offset)? => {}
                Ok(false) => return Err(self.lost(offset, "it ends inside its head")),
                Ok(true) if self.line.trim_ascii().is_empty() => break,
                Ok(true) => text.extend_from_slice(&self.line),
            }
            if text.len() > HEAD_BYTES_MAX {
                return Err(self.lost(offset, "its head is too long"));
            }
        }
        let parsed = fields::parse_record(&text);
        let length = parsed.get("Content-Length").map(|value| value.trim().parse());
        let Some(Ok(block_bytes)) = length else {
            return Err(self.lost(offset, "it has no Content-Length that is a number"));
        };
        Ok(RecordHead { offset, version: parsed.first, fields: parsed.fields, block_bytes })
    }

    fn go_on(&mut self, offset: u64) -> Result<bool, ReadError> {
        self.members.advance().map_err(|fault| self.over(offset, fault))
    }

    /// Something that is no record: the file is none of ours, or the next record has to be looked
    /// for.
    fn not_a_record(&mut self, offset: u64) -> ReadError {
        let shown: String = String::from_utf8_lossy(&self.line).trim_end().chars().take(60).collect();
        if self.first {
            self.state = State::Over;
            let arc = shown.starts_with("filedesc://");
            let what =
                if arc { "an ARC file, not WARC".to_owned() } else { format!("it begins with {shown:?}") };
            return ReadError::NotWarc(what);
        }
        self.lost(offset, &format!("no record where one should begin, but {shown:?}"))
    }

    /// A record that cannot be read: looks for the next one.
    fn lost(&mut self, offset: u64, reason: &str) -> ReadError {
        self.state = State::Found;
        // If the search ends in an error, that says no more than this one.
        if !self.find_line(is_version).unwrap_or(false) {
            self.state = State::Over;
        }
        ReadError::Broken { offset, reason: reason.to_owned() }
    }

    fn over(&mut self, offset: u64, fault: Fault) -> ReadError {
        self.state = State::Over;
        match fault {
            Fault::Io(error) => ReadError::Io(error),
            Fault::Broken(reason) => ReadError::Broken { offset, reason: reason.to_owned() },
        }
    }
}

/// The first line of a record, in letters of either case: there are files that say `warc/1.0`.
fn is_version(line: &[u8]) -> bool {
    line.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"WARC/"))
        && line.get(5).is_some_and(u8::is_ascii_digit)
}

/// The block of the record at hand.
impl<R: Read> Read for Reader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.piece_of(into.len() as u64) {
            Ok(Some(piece)) => {
                into[..piece.len()].copy_from_slice(piece);
                Ok(piece.len())
            }
            Ok(None) => Ok(0),
            Err(ReadError::Io(error)) => Err(error),
            Err(broken) => Err(io::Error::new(io::ErrorKind::InvalidData, broken)),
        }
    }
}
