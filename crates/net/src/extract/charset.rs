//! Which characters the bytes of a page are (A10: declared, sniffed).
//!
//! In order: the byte order mark, the HTTP header, what the page says of itself, and if nobody says anything UTF-8 where it is that,
//! else windows-1252, as browsers do. Text is decoded piece by piece, only where it is wanted, since almost every encoding has ASCII
//! where ASCII has it; the few that have not are brought to UTF-8 as a stream first.

use std::borrow::Cow;
use std::io::{self, Read};

use encoding_rs::{
    CoderResult, Decoder, Encoding, ISO_2022_JP, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252,
};

use super::prescan;

/// Input taken at a time when bringing a page to UTF-8.
const INPUT_BYTES: usize = 8 << 10;

/// The encoding of a page, as its pieces of text need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Charset {
    /// What the page is in; queries of its links are written in it.
    pub(super) declared: &'static Encoding,
    /// What the bytes we see are in.
    seen: &'static Encoding,
}

impl Charset {
    pub(super) fn new(declared: &'static Encoding) -> Charset {
        let seen = if is_ascii_like(declared) { declared } else { UTF_8 };
        Charset { declared, seen }
    }

    pub(super) fn text<'b>(&self, bytes: &'b [u8]) -> Cow<'b, str> {
        if self.seen == UTF_8 {
            return String::from_utf8_lossy(bytes);
        }
        self.seen.decode_without_bom_handling(bytes).0
    }

    /// The whole page has to be brought to UTF-8 before it can be scanned.
    pub(super) fn needs_transcoding(&self) -> bool {
        self.seen != self.declared
    }
}

/// What a page is written in and how long its byte order mark is; `in_page` reads what it says of itself.
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
    (Charset::new(declared.unwrap_or_else(|| sniffed(head).unwrap_or(fallback))), 0)
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

/// The `charset` parameter of a Content-Type.
pub(super) fn parameter(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })
}

/// The encoding of that name; one that only exists to forbid decoding is none.
pub(super) fn label(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.as_bytes()).filter(|encoding| *encoding != REPLACEMENT)
}

fn sniffed(head: &[u8]) -> Option<&'static Encoding> {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    (!text.is_ascii()).then_some(UTF_8)
}

/// Whether `<`, quotes and letters are the bytes they are in ASCII, and never part of another character.
fn is_ascii_like(encoding: &'static Encoding) -> bool {
    ![UTF_16LE, UTF_16BE, ISO_2022_JP].contains(&encoding)
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
    pub(super) fn new(source: R, charset: Charset) -> Transcoded<R> {
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
