//! Which characters the bytes of a page are (A10: declared, sniffed).
//!
//! In order: the byte order mark, the HTTP header, what the page says of itself, and if nobody says
//! anything UTF-8 where it is that, else windows-1252, as browsers do. Text is decoded piece by
//! piece, only where it is wanted, since almost every encoding has ASCII where ASCII has it; the
//! few that have not are brought to UTF-8 as a stream first.
//!
//! A page of which nobody says anything may begin with 64 KiB of ASCII. Its encoding is then found
//! as it is read: it is UTF-8 as long as every piece is, and windows-1252 from the first that is
//! not.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, BufReader, Read};

use encoding_rs::{
    CoderResult, Decoder, Encoding, ISO_2022_JP, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252,
};

use super::prescan;
use super::window::Window;

/// Input taken at a time when bringing a page to UTF-8.
const INPUT_BYTES: usize = 8 << 10;

const CHARACTER_BYTES_MAX: u64 = 4;

/// The encoding of a page, as its pieces of text need it.
#[derive(Clone, Debug)]
pub(super) struct Charset {
    /// What the page is in, as far as that is known.
    declared: &'static Encoding,
    /// What the bytes we see are in.
    seen: &'static Encoding,
    found: Cell<Found>,
}

/// How sure the encoding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Sure,
    /// All ASCII so far, so it may be anything.
    Nothing,
    /// All UTF-8 so far.
    Utf8,
}

impl Charset {
    pub(super) fn new(declared: &'static Encoding) -> Charset {
        let seen = if is_ascii_like(declared) { declared } else { UTF_8 };
        Charset { declared, seen, found: Cell::new(Found::Sure) }
    }

    /// Of a page that gives no sign; it is in `fallback` if it is not UTF-8.
    fn to_be_found(fallback: &'static Encoding) -> Charset {
        Charset { found: Cell::new(Found::Nothing), ..Charset::new(fallback) }
    }

    /// What the page is in, by all that has been read of it; queries of its links are written in
    /// it.
    pub(super) fn encoding(&self) -> &'static Encoding {
        if self.found.get() == Found::Utf8 { UTF_8 } else { self.declared }
    }

    pub(super) fn text<'b>(&self, bytes: &'b [u8]) -> Cow<'b, str> {
        if self.is_utf8(bytes, |bytes| std::str::from_utf8(bytes).ok()) {
            return String::from_utf8_lossy(bytes);
        }
        self.seen.decode_without_bom_handling(bytes).0
    }

    /// The text of bytes that were cut off somewhere: without a last character that is not all
    /// there.
    pub(super) fn text_of_cut(&self, bytes: &[u8]) -> String {
        let encoding = if self.is_utf8(bytes, valid_head) { UTF_8 } else { self.seen };
        let mut decoder = encoding.new_decoder_without_bom_handling();
        let mut text = String::with_capacity(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(0));
        let _ = decoder.decode_to_string(bytes, &mut text, false);
        text
    }

    /// Whether to read this piece as UTF-8, where `valid` says whether it can be.
    fn is_utf8(&self, bytes: &[u8], valid: fn(&[u8]) -> Option<&str>) -> bool {
        if self.found.get() == Found::Sure {
            return self.seen == UTF_8;
        }
        if bytes.is_ascii() {
            return true;
        }
        let is_utf8 = valid(bytes).is_some();
        self.found.set(if is_utf8 { Found::Utf8 } else { Found::Sure });
        is_utf8
    }

    /// The whole page has to be brought to UTF-8 before it can be scanned.
    pub(super) fn needs_transcoding(&self) -> bool {
        self.seen != self.declared
    }
}

/// What a page is written in and how long its byte order mark is; `in_page` reads what it says of
/// itself.
pub(super) fn of(
    head: &[u8],
    http: Option<&str>,
    in_page: fn(&[u8]) -> Option<&'static Encoding>,
    fallback: &'static Encoding,
) -> (Charset, usize) {
    if let Some((encoding, mark)) = Encoding::for_bom(head) {
        return (Charset::new(encoding), mark);
    }
    let declared = http.and_then(label).or_else(|| in_page(head));
    let charset = match (declared, valid_head(head)) {
        (Some(declared), _) => Charset::new(declared),
        (None, Some(text)) if text.is_ascii() => Charset::to_be_found(fallback),
        (None, Some(_)) => Charset::new(UTF_8),
        (None, None) => Charset::new(fallback),
    };
    (charset, 0)
}

/// Of an HTML page.
pub(super) fn of_html(head: &[u8], http: Option<&str>) -> (Charset, usize) {
    of(head, http, prescan::html, WINDOWS_1252)
}

/// Of a feed or sitemap.
pub(super) fn of_xml(head: &[u8], http: Option<&str>) -> (Charset, usize) {
    of(head, http, prescan::xml, UTF_8)
}

/// Of a style sheet.
pub(super) fn of_css(head: &[u8], http: Option<&str>) -> (Charset, usize) {
    of(head, http, prescan::css, UTF_8)
}

/// The encoding of that name; one that only exists to forbid decoding is none.
pub(super) fn label(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.as_bytes()).filter(|encoding| *encoding != REPLACEMENT)
}

/// The text, if it is UTF-8 up to its end or to a last character that is not all there.
fn valid_head(bytes: &[u8]) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

/// Whether `<`, quotes and letters are the bytes they are in ASCII, and never part of another
/// character.
fn is_ascii_like(encoding: &'static Encoding) -> bool {
    ![UTF_16LE, UTF_16BE, ISO_2022_JP].contains(&encoding)
}

/// A page in UTF-8, whatever it was written in, without byte order mark; and what that was.
pub fn in_utf8<'a>(
    window: Window<'a>,
    http: Option<&str>,
    of: Written,
) -> (Box<dyn Read + 'a>, &'static Encoding) {
    let (charset, mark) = match of {
        Written::Html => of_html(window.bytes(), http),
        Written::Xml => of_xml(window.bytes(), http),
        Written::Css => of_css(window.bytes(), http),
    };
    let mut window = window;
    window.consume(mark);
    let encoding = charset.encoding();
    let reader = window.into_reader();
    let reader: Box<dyn Read> = match charset.found.get() {
        Found::Sure if encoding == UTF_8 => Box::new(reader),
        Found::Sure => Box::new(BufReader::new(Transcoded::new(reader, &charset))),
        Found::Nothing | Found::Utf8 => Box::new(Undeclared { source: Some(reader), rest: None, charset }),
    };
    (reader, encoding)
}

/// How a text says which encoding it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    Html,
    Xml,
    Css,
}

/// A stream that begins in ASCII: what it is in is seen when that ends.
struct Undeclared<'a, R> {
    source: Option<R>,
    rest: Option<Box<dyn Read + 'a>>,
    charset: Charset,
}

impl<'a, R: Read + 'a> Read for Undeclared<'a, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Some(rest) = &mut self.rest {
            return rest.read(into);
        }
        let Some(source) = &mut self.source else { return Ok(0) };
        let read = source.read(into)?;
        if into[..read].is_ascii() {
            return Ok(read);
        }
        let Some(mut source) = self.source.take() else { return Ok(0) };
        // A character that begins at the very end is all there then, or it is none.
        let mut head = into[..read].to_vec();
        let ended = source.by_ref().take(CHARACTER_BYTES_MAX).read_to_end(&mut head)? == 0;
        let is_utf8 = if ended { std::str::from_utf8(&head).is_ok() } else { valid_head(&head).is_some() };
        let whole = io::Cursor::new(head).chain(source);
        self.rest = Some(match is_utf8 {
            true => Box::new(whole),
            false => Box::new(BufReader::new(Transcoded::new(whole, &self.charset))),
        });
        self.read(into)
    }
}

/// A stream brought to UTF-8.
pub(super) struct Transcoded<R> {
    source: R,
    decoder: Decoder,
    input: Vec<u8>,
    /// No more input, and then no more output.
    ended: bool,
    finished: bool,
}

impl<R: Read> Transcoded<R> {
    pub(super) fn new(source: R, charset: &Charset) -> Transcoded<R> {
        let decoder = charset.declared.new_decoder_without_bom_handling();
        Transcoded { source, decoder, input: Vec::new(), ended: false, finished: false }
    }

    fn refill(&mut self) -> io::Result<()> {
        let read = self.source.by_ref().take(INPUT_BYTES as u64).read_to_end(&mut self.input)?;
        self.ended = read == 0;
        Ok(())
    }
}

impl<R: Read> Read for Transcoded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // The decoder needs room for a whole character; a smaller reader does not get one.
        while into.len() >= 4 && !self.finished {
            let (result, read, written, _) = self.decoder.decode_to_utf8(&self.input, into, self.ended);
            self.input.drain(..read);
            self.finished = self.ended && result == CoderResult::InputEmpty;
            if written > 0 {
                return Ok(written);
            }
            if !self.ended {
                self.refill()?;
            }
        }
        Ok(0)
    }
}
