//! From what came over the wire to the records the archive takes.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use frontier::Capture;
use frontier::ports::Order;
use net::dns::DnsRecord;
use net::exchange::Exchange;
use net::extract::Extracted;
use net::warc::{
    self as warc, Compression, Digest, Fields, PackSettings, Packer, Prepared, Refers, Revisit, StoredRecord,
    digest,
};
use policy::model::LinkKind;
use policy::time::Time;

use super::MEMORY_BYTES_MAX;

/// Packers nobody is using.
pub(super) struct Packers {
    compression: Compression,
    spill_dir: PathBuf,
    idle: parking_lot::Mutex<Vec<Packer>>,
}

/// What one order brought, ready for the archive.
#[derive(Debug)]
pub enum PackedAnswer {
    Groups(Vec<Prepared>),
    /// It could not be kept so far, for reasons on this side.
    Failed(String),
}

/// The capture that a revisit refers to.
pub(super) struct Original {
    pub(super) url: String,
    pub(super) time: Time,
    pub(super) payload: Digest,
    pub(super) place: Place,
    /// A16: where the head lies that the URL gave with it, if it is the capture of another URL.
    pub(super) head: Option<Place>,
}

/// Where a record lies.
pub(super) struct Place {
    path: PathBuf,
    offset: u64,
    length: u64,
}

impl Place {
    pub(super) fn of(dir: &Path, capture: &Capture) -> Place {
        Place { path: dir.join(&capture.file), offset: capture.offset, length: capture.length }
    }

    pub(super) fn open(&self) -> io::Result<StoredRecord> {
        StoredRecord::open(warc::open_file(&self.path)?, self.offset, self.length)
    }
}

impl Original {
    /// None where it cannot be expected to be read: what cannot, is asked for as a whole.
    pub(super) fn new(dir: &Path, (time, capture): (Time, Capture)) -> Option<Original> {
        let digest::Parsed::Sum(payload) = Digest::parse(&capture.digest)? else { return None };
        let place = Place::of(dir, &capture);
        let len = warc::open_file(&place.path).and_then(|file| Ok(file.metadata()?.len())).ok()?;
        let is_there = len >= place.offset.saturating_add(place.length);
        is_there.then_some(Original { url: capture.url, time, payload, place, head: None })
    }

    fn refers(&self) -> Refers<'_> {
        Refers { url: &self.url, time: self.time, payload: self.payload }
    }
}

/// An answer and what is to be said about it.
pub(super) struct Answer<'a> {
    pub(super) order: &'a Order,
    pub(super) exchange: &'a Exchange,
    /// The look-ups that were made for it.
    pub(super) dns: &'a [DnsRecord],
    pub(super) payload: Digest,
    /// Where its payload is already, if it is.
    pub(super) original: Option<&'a Original>,
    pub(super) extracted: Option<&'a Extracted>,
    /// Of the page that was rendered from it.
    pub(super) page_id: Option<&'a str>,
}

/// Something that a page needed, as its browser asked for it (B16).
pub(super) struct Requisite<'a> {
    pub(super) exchange: &'a Exchange,
    pub(super) dns: Option<&'a DnsRecord>,
    pub(super) payload: Digest,
    pub(super) original: Option<&'a Original>,
    pub(super) page_id: &'a str,
    pub(super) kind: &'a str,
    pub(super) indexed_as: Option<&'a str>,
}

impl Packers {
    pub(super) fn new(compression: Compression, spill_dir: &Path) -> Packers {
        Packers { compression, spill_dir: spill_dir.to_owned(), idle: parking_lot::Mutex::default() }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Packer) -> io::Result<T>) -> io::Result<T> {
        let idle = self.idle.lock().pop();
        let mut packer = match idle {
            Some(packer) => packer,
            None => Packer::new(PackSettings {
                compression: self.compression,
                memory_bytes_max: MEMORY_BYTES_MAX,
                spill_dir: self.spill_dir.clone(),
            })?,
        };
        let done = work(&mut packer)?;
        self.idle.lock().push(packer);
        Ok(done)
    }

    pub(super) fn answer(&self, answer: &Answer<'_>) -> io::Result<Prepared> {
        self.with(|packer| {
            let mut group = packer.group(None);
            answer.dns.iter().try_for_each(|dns| add_dns(&mut group, dns))?;
            let metadata = metadata(answer);
            let revisit =
                answer.original.map(Original::refers).map(|refers| match answer.exchange.head.status {
                    304 => Revisit::NotModified(refers),
                    _ => Revisit::SamePayload(refers),
                });
            let page_id = answer.page_id.map(|id| ("WARC-Page-ID", id));
            let capture = warc::Capture {
                payload: Some(answer.payload),
                revisit,
                metadata: Some(&metadata),
                more: page_id.as_slice(),
                indexed_as: None,
            };
            group.exchange(answer.exchange, &capture)?;
            Ok(group.finish())
        })
    }

    /// With the id of its record.
    pub(super) fn requisite(&self, requisite: &Requisite<'_>) -> io::Result<(Prepared, String)> {
        self.with(|packer| {
            let mut group = packer.group(None);
            requisite.dns.map_or(Ok(()), |dns| add_dns(&mut group, dns))?;
            let revisit = requisite.original.map(Original::refers).map(Revisit::SamePayload);
            let more = [("WARC-Page-ID", requisite.page_id), ("WARC-Resource-Type", requisite.kind)];
            let capture = warc::Capture {
                payload: Some(requisite.payload),
                revisit,
                metadata: None,
                more: &more,
                indexed_as: requisite.indexed_as,
            };
            let id = group.exchange(requisite.exchange, &capture)?;
            Ok((group.finish(), id))
        })
    }

    /// Things that are no exchange: a name, a type and bytes each.
    pub(super) fn resources(&self, resources: &[(String, &str, &[u8])], at: Time) -> io::Result<Prepared> {
        self.with(|packer| {
            let mut group = packer.group(None);
            for (name, content_type, bytes) in resources {
                group.resource(name, at, content_type, bytes, None)?;
            }
            Ok(group.finish())
        })
    }

    /// Something fetched on the way, like robots.txt.
    pub(super) fn aside(&self, exchange: &Exchange, dns: Option<&DnsRecord>) -> io::Result<Prepared> {
        self.with(|packer| {
            let mut group = packer.group(None);
            dns.map_or(Ok(()), |dns| add_dns(&mut group, dns))?;
            group.exchange(exchange, &warc::Capture::default())?;
            Ok(group.finish())
        })
    }
}

fn add_dns(group: &mut warc::GroupBuilder<'_>, dns: &DnsRecord) -> io::Result<()> {
    group.resource(&format!("dns:{}", dns.host), dns.at, "text/dns", dns.text.as_bytes(), dns.server)
}

/// The head of a 304: its revisit record has none, so that replay takes that of the page.
fn head_lines(exchange: &Exchange) -> Vec<String> {
    let mut head = Vec::new();
    let mut bytes = exchange.response.reader(0).take(exchange.head.bytes as u64);
    // It is in memory, or in a file that was written a moment ago; if it cannot be read, the request is
    // still there.
    let _ = bytes.read_to_end(&mut head);
    let lines = head
        .split(|byte| *byte == b'\n')
        .map(|line| String::from_utf8_lossy(line.trim_ascii_end()).into_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

/// What the metadata record says: on whose behalf, how it was reached, how long it took, and where
/// it leads.
fn metadata(answer: &Answer<'_>) -> Fields {
    let Answer { order, exchange, extracted, .. } = answer;
    let mut fields = Fields::new();
    fields.add("seed", &order.seed);
    for profile in &order.plan.profiles {
        fields.add("profile", profile);
    }
    fields.add("collection", &order.collection);
    fields.add("depth", &order.position.depth.to_string());
    fields.add("hops", &order.position.hops.to_string());
    fields.add("due", &order.due.to_string());
    fields.add("fetchTimeMs", &exchange.total.0.to_string());
    fields.add("firstByteMs", &exchange.first_byte.0.to_string());
    if let Some(complaint) = exchange.tls.as_ref().and_then(|tls| tls.complaint.as_ref()) {
        fields.add("certificate", complaint);
    }
    if exchange.head.status == 304 {
        for line in head_lines(exchange) {
            fields.add("response", &line);
        }
    }
    let Some(extracted) = extracted else { return fields };
    if let Some(encoding) = extracted.encoding {
        fields.add("charsetForLinkExtraction", encoding);
    }
    if let Some(problem) = &extracted.problem {
        fields.add("problem", problem);
    }
    for link in &extracted.links {
        // The letters are Heritrix's hop types.
        let hop = match link.kind {
            LinkKind::Link => 'L',
            LinkKind::Requisite => 'E',
            LinkKind::Redirect => 'R',
        };
        fields.outlink(link.url.as_str(), hop, link.how);
    }
    fields
}
