//! One record before it is written: the fields of its head, and the sums that go into them.

use std::io;

use policy::time::Time;
use sha1::{Digest as _, Sha1};

use super::coder::Matter;
use super::digest::{Digest, each_piece};
use super::pack::Revisit;
use super::{Kind, date, fields, split};
use crate::exchange::{Exchange, Recording, Tls};

/// One record, but for what every record has.
pub(super) struct Plan<'a> {
    pub(super) kind: Kind,
    pub(super) id: &'a str,
    pub(super) time: Time,
    pub(super) url: Option<&'a str>,
    pub(super) more: &'a [(&'a str, &'a str)],
    pub(super) content_type: &'a str,
    pub(super) block: Block<'a>,
    pub(super) matter: Matter,
    pub(super) digest: Digest,
}

#[derive(Clone, Copy)]
pub(super) enum Block<'a> {
    Bytes(&'a [u8]),
    Recorded(&'a Recording),
}

impl Block<'_> {
    pub(super) fn len(self) -> u64 {
        match self {
            Block::Bytes(bytes) => bytes.len() as u64,
            Block::Recorded(recording) => recording.len(),
        }
    }
}

impl Plan<'_> {
    pub(super) fn write_head(&self, head: &mut Vec<u8>, warcinfo: Option<&str>) {
        head.clear();
        head.extend_from_slice(b"WARC/1.1\r\n");
        fields::push(head, "WARC-Type", self.kind.as_str());
        fields::push(head, "WARC-Record-ID", self.id);
        fields::push(head, "WARC-Date", &date::iso(self.time));
        if let Some(url) = self.url {
            fields::push(head, "WARC-Target-URI", url);
        }
        for (name, value) in self.more {
            fields::push(head, name, value);
        }
        if let Some(id) = warcinfo {
            fields::push(head, "WARC-Warcinfo-ID", id);
        }
        fields::push(head, "WARC-Block-Digest", &self.digest.to_string());
        fields::push(head, "Content-Type", self.content_type);
        fields::push(head, "Content-Length", &self.block.len().to_string());
        head.extend_from_slice(b"\r\n");
    }
}

/// The sums of the whole block and of its payload.
pub(super) fn sums(exchange: &Exchange, payload: Option<Digest>) -> io::Result<(Digest, Digest)> {
    let head = exchange.head.bytes as u64;
    let (mut of_block, mut of_payload) = (Sha1::new(), Sha1::new());
    each_piece(&exchange.response, 0, head, |piece| {
        of_block.update(piece);
        Ok(())
    })?;
    each_piece(&exchange.response, head, u64::MAX, |piece| {
        of_block.update(piece);
        if payload.is_none() {
            of_payload.update(piece);
        }
        Ok(())
    })?;
    Ok((Digest::from_hash(of_block), payload.unwrap_or_else(|| Digest::from_hash(of_payload))))
}

/// What a response or revisit says beyond what every record does.
pub(super) fn answer_fields(
    exchange: &Exchange,
    revisit: Option<Revisit<'_>>,
    http: &split::Http,
    payload: &str,
) -> Vec<(&'static str, String)> {
    let mut more = vec![
        ("WARC-IP-Address", exchange.remote.ip().to_string()),
        ("WARC-Payload-Digest", payload.to_owned()),
    ];
    more.extend(http.protocol().map(|protocol| ("WARC-Protocol", protocol)));
    if let Some(Tls { version, cipher, .. }) = &exchange.tls {
        let number = version.trim_start_matches(|c: char| !c.is_ascii_digit()).replace('_', ".");
        more.push(("WARC-Protocol", format!("tls/{number}")));
        // The registered name, where the TLS library has its own.
        more.push(("WARC-Cipher-Suite", cipher.replacen("TLS13_", "TLS_", 1)));
    }
    let (profile, refers) = match revisit {
        None => {
            more.extend(exchange.truncated.map(|why| ("WARC-Truncated", why.as_str().to_owned())));
            return more;
        }
        Some(Revisit::SamePayload(refers)) => ("identical-payload-digest", refers),
        Some(Revisit::NotModified(refers)) => ("server-not-modified", refers),
    };
    more.push(("WARC-Profile", format!("http://netpreserve.org/warc/1.1/revisit/{profile}")));
    more.push(("WARC-Refers-To-Target-URI", fields::one_word(refers.url).into_owned()));
    more.push(("WARC-Refers-To-Date", date::iso(refers.time)));
    if matches!(revisit, Some(Revisit::SamePayload(_))) {
        more.push(("WARC-Truncated", "length".to_owned()));
    }
    more
}
