//! From a recorded exchange to the records that go into a file.
//!
//! A worker has one [`Packer`] and makes one group per harvest with it: look-ups first, then the
//! answer, the request and what is known about both. Order and references are Heritrix's: request
//! and metadata are concurrent to the answer. A record's head holds the digests of its block, so
//! the bytes are gone through twice, to sum and to compress; they are in memory unless they are
//! many.
//!
//! Which file a group goes to is not known yet, and with it neither which `warcinfo` record
//! describes it. A record without `WARC-Warcinfo-ID` belongs to the one at the head of its file,
//! which is always right; naming one is left to the caller.

use std::io::{self, Read as _};
use std::net::IpAddr;
use std::path::PathBuf;

use policy::time::Time;

use super::coder::{Coder, Compression, Matter};
use super::digest::{Digest, each_piece};
use super::fields::{self, Fields};
use super::plan::{Block, Plan, answer_fields, sums};
use super::{Kind, split};
use crate::exchange::{Exchange, Head, Recording};
use crate::surt;

const HTTP_RESPONSE: &str = "application/http; msgtype=response";
const HTTP_REQUEST: &str = "application/http; msgtype=request";
const RECORD_END: &[u8] = b"\r\n\r\n";
/// What an index knows a record by, where that is not its URL.
pub(crate) const INDEXED_AS: &str = "Skurd-Indexed-As";
pub(crate) const WARC_FIELDS: &str = "application/warc-fields";

/// How groups are made.
#[derive(Clone, Debug)]
pub struct PackSettings {
    pub compression: Compression,
    /// A group that is longer waits in a file without a name in `spill_dir`.
    pub memory_bytes_max: usize,
    pub spill_dir: PathBuf,
}

/// Makes groups of records; keeps what is costly to make anew.
#[derive(Debug)]
pub struct Packer {
    settings: PackSettings,
    coder: Coder,
    head: Vec<u8>,
    random: fastrand::Rng,
}

/// A group of records, ready to be appended, and what an index has to say about it.
#[derive(Debug)]
pub struct Prepared {
    pub bytes: Recording,
    pub entries: Vec<Entry>,
}

/// A capture for an index: there is one for each response, revisit and resource, and for nothing
/// else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: Kind,
    pub url: String,
    pub surt: String,
    pub time: Time,
    pub status: Option<u16>,
    pub mime: Option<String>,
    /// As in the record: `sha1:` and base 32.
    pub digest: String,
    /// From the start of the group.
    pub offset: u64,
    pub length: u64,
    /// Of a revisit: URL and time of what it refers to, as it says.
    pub refers: Option<(String, Time)>,
    /// Of an answer: not all of it is there.
    pub cut: bool,
}

/// What is to be said of an exchange beyond itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Capture<'a> {
    /// The sum of the payload, if it is known already (see [`super::digest::payload`]).
    pub payload: Option<Digest>,
    pub revisit: Option<Revisit<'a>>,
    /// Becomes the metadata record; none is written if there is nothing to say.
    pub metadata: Option<&'a Fields>,
    /// Said in the head of the answer's record, too.
    pub more: &'a [(&'a str, &'a str)],
    /// What an index knows it by instead of its URL: that of a POST says what was sent.
    pub indexed_as: Option<&'a str>,
}

/// Why the payload is not stored again.
#[derive(Clone, Copy, Debug)]
pub enum Revisit<'a> {
    SamePayload(Refers<'a>),
    NotModified(Refers<'a>),
}

/// The earlier capture that has the payload.
#[derive(Clone, Copy, Debug)]
pub struct Refers<'a> {
    pub url: &'a str,
    pub time: Time,
    pub payload: Digest,
}

impl Packer {
    pub fn new(settings: PackSettings) -> io::Result<Packer> {
        let coder = Coder::new(settings.compression)?;
        Ok(Packer { settings, coder, head: Vec::new(), random: fastrand::Rng::new() })
    }

    /// Begins a group; `warcinfo` is the id of the record that describes it, if that is known.
    pub fn group(&mut self, warcinfo: Option<&str>) -> GroupBuilder<'_> {
        let bytes = Recording::new(self.settings.memory_bytes_max, &self.settings.spill_dir);
        GroupBuilder { packer: self, warcinfo: warcinfo.map(str::to_owned), bytes, entries: Vec::new() }
    }

    fn new_id(&mut self) -> String {
        format!("<urn:uuid:{}>", uuid(&mut self.random))
    }
}

/// A random UUID (version 4).
pub fn uuid(random: &mut fastrand::Rng) -> String {
    let bits = random.u128(..) & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
    format!("{a}-{b}-{c}-{d}-{e}")
}

/// A group in the making.
#[derive(Debug)]
pub struct GroupBuilder<'a> {
    packer: &'a mut Packer,
    warcinfo: Option<String>,
    bytes: Recording,
    entries: Vec<Entry>,
}

impl GroupBuilder<'_> {
    /// Answer, request and metadata of one exchange; gives the id of the answer's record.
    pub fn exchange(&mut self, exchange: &Exchange, capture: &Capture<'_>) -> io::Result<String> {
        let url = fields::one_word(&exchange.url);
        let id = self.packer.new_id();
        self.answer(exchange, capture, &url, &id)?;
        let address = exchange.remote.ip().to_string();
        let more = [("WARC-IP-Address", address.as_str()), ("WARC-Concurrent-To", &id)];
        self.small(Kind::Request, exchange.at, Some(&url), &more, HTTP_REQUEST, &exchange.request)?;
        if let Some(metadata) = capture.metadata.filter(|fields| !fields.is_empty()) {
            let more = &more[1..];
            self.small(Kind::Metadata, exchange.at, Some(&url), more, WARC_FIELDS, metadata.as_bytes())?;
        }
        Ok(id)
    }

    /// Something that is no HTTP exchange. A look-up is `dns:` and the host, of type `text/dns`
    /// (RFC 4027).
    pub fn resource(
        &mut self,
        url: &str,
        at: Time,
        content_type: &str,
        block: &[u8],
        server: Option<IpAddr>,
    ) -> io::Result<()> {
        let url = fields::one_word(url);
        let digest = Digest::of(block).to_string();
        let address = server.map(|server| server.to_string());
        let mut more = vec![("WARC-Payload-Digest", digest.as_str())];
        more.extend(address.as_deref().map(|address| ("WARC-IP-Address", address)));
        let place = self.small(Kind::Resource, at, Some(&url), &more, content_type, block)?;
        if content_type != WARC_FIELDS {
            let mime = Some(split::mime(&fields::one_line(content_type)));
            self.note(Kind::Resource, &url, at, (None, mime), digest, place);
        }
        Ok(())
    }

    /// The head of a file; gives the id of the record.
    pub(super) fn warcinfo(&mut self, file: &str, time: Time, info: &Fields) -> io::Result<String> {
        let id = self.packer.new_id();
        self.record(&Plan {
            kind: Kind::Warcinfo,
            id: &id,
            time,
            url: None,
            more: &[("WARC-Filename", file)],
            content_type: WARC_FIELDS,
            block: Block::Bytes(info.as_bytes()),
            matter: Matter::Compressible,
            digest: Digest::of(info.as_bytes()),
        })?;
        Ok(id)
    }

    pub fn finish(self) -> Prepared {
        Prepared { bytes: self.bytes, entries: self.entries }
    }

    fn answer(&mut self, exchange: &Exchange, capture: &Capture<'_>, url: &str, id: &str) -> io::Result<()> {
        let mut http_head = Vec::new();
        exchange.response.reader(0).take(exchange.head.bytes as u64).read_to_end(&mut http_head)?;
        let http = split::Http::parse(&http_head);
        let (kind, mime) = match capture.revisit {
            Some(_) => (Kind::Revisit, Some("warc/revisit".to_owned())),
            None => (Kind::Response, http.mime()),
        };
        let (block, digest, payload) = match capture.revisit {
            Some(Revisit::SamePayload(refers)) => {
                (Block::Bytes(&http_head), Digest::of(&http_head), refers.payload)
            }
            // With the head of a 304 as its block, replay shows that head and not the page.
            Some(Revisit::NotModified(refers)) => (Block::Bytes(b""), Digest::of(b""), refers.payload),
            None => {
                let (block, payload) = sums(exchange, capture.payload)?;
                (Block::Recorded(&exchange.response), block, payload)
            }
        };
        let payload = payload.to_string();
        let more = answer_fields(exchange, capture.revisit, &http, &payload);
        let mut more: Vec<(&str, &str)> = more.iter().map(|(name, value)| (*name, value.as_str())).collect();
        more.extend_from_slice(capture.more);
        let indexed_as = capture.indexed_as.map(fields::one_word);
        more.extend(indexed_as.as_deref().map(|url| (INDEXED_AS, url)));
        let (time, content_type) = (exchange.at, HTTP_RESPONSE);
        let matter = match block {
            Block::Recorded(_) => matter(&exchange.head),
            Block::Bytes(_) => Matter::Compressible,
        };
        let plan = Plan { kind, id, time, url: Some(url), more: &more, content_type, block, matter, digest };
        let place = self.record(&plan)?;
        let url = indexed_as.as_deref().unwrap_or(url);
        let refers = capture.revisit.map(|revisit| {
            let (Revisit::SamePayload(refers) | Revisit::NotModified(refers)) = revisit;
            (fields::one_word(refers.url).into_owned(), refers.time)
        });
        self.note(kind, url, time, (Some(exchange.head.status), mime), payload, place);
        if let Some(entry) = self.entries.last_mut() {
            entry.cut = capture.revisit.is_none() && exchange.truncated.is_some();
            entry.refers = refers;
        }
        Ok(())
    }

    fn note(
        &mut self,
        kind: Kind,
        url: &str,
        time: Time,
        (status, mime): (Option<u16>, Option<String>),
        digest: String,
        (offset, length): (u64, u64),
    ) {
        let (url, surt) = (url.to_owned(), surt::key(url));
        let (refers, cut) = (None, false);
        self.entries.push(Entry { kind, url, surt, time, status, mime, digest, offset, length, refers, cut });
    }

    /// A record with an id of its own and a block in memory.
    fn small(
        &mut self,
        kind: Kind,
        time: Time,
        url: Option<&str>,
        more: &[(&str, &str)],
        content_type: &str,
        block: &[u8],
    ) -> io::Result<(u64, u64)> {
        let (id, digest) = (self.packer.new_id(), Digest::of(block));
        let (id, matter) = (id.as_str(), matter_of(content_type));
        let block = Block::Bytes(block);
        self.record(&Plan { kind, id, time, url, more, content_type, block, matter, digest })
    }

    /// Writes a record; gives where it begins and how long an index calls it.
    fn record(&mut self, plan: &Plan<'_>) -> io::Result<(u64, u64)> {
        let Packer { coder, head, settings, .. } = &mut *self.packer;
        let to = &mut self.bytes;
        let length = plan.block.len();
        plan.write_head(head, self.warcinfo.as_deref());
        let offset = to.len();
        coder.begin(head.len() as u64 + length + RECORD_END.len() as u64, plan.matter)?;
        coder.write(head, to)?;
        match plan.block {
            Block::Bytes(bytes) => coder.write(bytes, to)?,
            Block::Recorded(recording) => each_piece(recording, 0, length, |piece| coder.write(piece, to))?,
        }
        let block_end = to.len();
        coder.write(RECORD_END, to)?;
        coder.end(to)?;
        // The blank lines between plain records belong to none of them.
        let end = if settings.compression == Compression::None { block_end } else { to.len() };
        Ok((offset, end - offset))
    }
}

/// Whether an answer's body came compressed: by a coding, or because of what it is.
fn matter(head: &Head) -> Matter {
    let is_coding = |value: &[u8]| !value.trim_ascii().eq_ignore_ascii_case(b"identity") && !value.is_empty();
    if head.all("content-encoding").any(is_coding) {
        return Matter::Compressed;
    }
    matter_of(&head.content_type().essence)
}

/// By media type: formats that compress what they hold. Those that may or may not (PDF, TIFF, WAV)
/// are tried.
fn matter_of(essence: &str) -> Matter {
    const COMPRESSED: [&str; 28] = [
        "application/epub+zip",
        "application/gzip",
        "application/java-archive",
        "application/vnd.oasis.opendocument.",
        "application/vnd.openxmlformats-officedocument.",
        "application/x-7z-compressed",
        "application/x-bzip2",
        "application/x-gzip",
        "application/x-rar-compressed",
        "application/x-xz",
        "application/zip",
        "application/zstd",
        "audio/aac",
        "audio/flac",
        "audio/mp4",
        "audio/mpeg",
        "audio/ogg",
        "audio/webm",
        "font/woff",
        "image/avif",
        "image/gif",
        "image/heic",
        "image/jpeg",
        "image/jxl",
        "image/png",
        "image/webp",
        "video/mp4",
        "video/webm",
    ];
    let is_compressed = COMPRESSED.iter().any(|beginning| essence.starts_with(beginning));
    if is_compressed { Matter::Compressed } else { Matter::Compressible }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn a8_what_arrives_compressed_is_known() {
        let table = "
            Content-Type: text/html                              | no
            Content-Type: text/html, Content-Encoding: gzip      | yes
            Content-Type: text/html, Content-Encoding: BR        | yes
            Content-Type: text/html, Content-Encoding: Identity  | no
            Content-Type: text/html, Content-Encoding:           | no
            Content-Type: image/JPEG; q=1                        | yes
            Content-Type: image/svg+xml                          | no
            Content-Type: audio/wav                              | no
            Content-Type: application/pdf                        | no
            Content-Type: application/zip                        | yes
            X: image/jpeg                                        | no";
        for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (headers, expected) = line.split_once('|').unwrap();
            let headers = headers.split(',').map(|header| {
                let (name, value) = header.split_once(':').unwrap();
                (name.trim().to_owned(), value.trim().as_bytes().to_vec())
            });
            let head = Head { status: 200, headers: headers.collect(), bytes: 0 };
            assert_eq!(matter(&head) == Matter::Compressed, expected.trim() == "yes", "{line}");
        }
    }
}
