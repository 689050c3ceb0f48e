//! Where the head of an HTTP message ends in a record's block, and what an index wants from it.

use super::fields;

/// Of a longer head an index sees this much.
const HTTP_HEAD_BYTES_MAX: usize = 256 * 1024;

/// Finds the payload of a block that comes in pieces: it begins after the first line that is blank.
#[derive(Debug, Default)]
pub(crate) struct HttpSplit {
    head: Vec<u8>,
    in_payload: bool,
    line_has_text: bool,
}

impl HttpSplit {
    /// Takes the next piece of the block; gives the part of it that is payload.
    pub(crate) fn feed<'a>(&mut self, piece: &'a [u8]) -> &'a [u8] {
        if self.in_payload {
            return piece;
        }
        for (at, byte) in piece.iter().enumerate() {
            match byte {
                b'\n' if !self.line_has_text => {
                    self.in_payload = true;
                    self.keep(&piece[..=at]);
                    return &piece[at + 1..];
                }
                b'\n' => self.line_has_text = false,
                _ => self.line_has_text |= !byte.is_ascii_whitespace() && !matches!(byte, 0x0b | 0x1c..=0x1f),
            }
        }
        self.keep(piece);
        &[]
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = HTTP_HEAD_BYTES_MAX.saturating_sub(self.head.len());
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    pub(crate) fn http(&self) -> Http {
        Http::parse(&self.head)
    }
}

/// The head of a response as cdxj-indexer sees it.
#[derive(Debug)]
pub(crate) struct Http(fields::Parsed);

impl Http {
    pub(crate) fn parse(head: &[u8]) -> Http {
        Http(fields::parse(head))
    }

    /// What stands after the protocol; none if there is no head at all.
    pub(crate) fn status(&self) -> Option<String> {
        let rest = self.0.first.split_once(' ').map_or("", |(_, rest)| rest.trim());
        let exists = !rest.is_empty() || !self.0.fields.is_empty();
        exists.then(|| rest.split(' ').next().unwrap_or_default().to_owned())
    }

    pub(crate) fn mime(&self) -> Option<String> {
        self.0.get("Content-Type").map(mime)
    }

    /// `http/1.1`.
    pub(crate) fn protocol(&self) -> Option<String> {
        let first = self.0.first.split(' ').next()?;
        let version = first.strip_prefix("HTTP/")?;
        version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.').then(|| format!("http/{version}"))
    }
}

/// As much of a media type as an index takes: twice what can be registered (RFC 6838).
const MIME_BYTES_MAX: usize = 256;

/// A media type without its parameters.
pub(crate) fn mime(value: &str) -> String {
    let end = |c: char| c == ';' || c.is_whitespace() || matches!(c, '\x1c'..='\x1f');
    let essence = value.split(end).next().unwrap_or_default();
    essence[..essence.floor_char_boundary(MIME_BYTES_MAX)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a11_the_payload_is_found_however_the_block_is_cut() {
        let cases: [(&[u8], &[u8]); 7] = [
            (b"HTTP/1.1 200 OK\r\nA: 1\r\n\r\nbody\r\n\r\nmore", b"body\r\n\r\nmore"),
            (b"HTTP/1.1 200 OK\nA: 1\n\nbody", b"body"),
            (b"HTTP/1.1 200 OK\r\n \t\r\nbody", b"body"),
            (b"\r\nbody", b"body"),
            (b"HTTP/1.1 200 OK\r\nA: 1", b""),
            (b"HTTP/1.1 200 OK\r\n\r\n", b""),
            (b"", b""),
        ];
        for (block, expected) in cases {
            for cut in 0..=block.len() {
                let mut split = HttpSplit::default();
                let payload = [split.feed(&block[..cut]), split.feed(&block[cut..])].concat();
                assert_eq!(payload, expected);
                assert_eq!([&split.head, expected].concat(), block);
            }
        }
    }
}
