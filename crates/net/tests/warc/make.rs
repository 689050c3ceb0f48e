//! Exchanges and groups made up for tests.

use std::io::Read;
use std::path::Path;

use net::exchange::{Exchange, Framing, Head, Recording, Tls};
use net::warc::{Compression, PackSettings, Packer, Prepared};
use policy::time::{Span, Time};

pub(crate) const NOON: Time = Time(1_709_210_096_789);

pub(crate) fn exchange(url: &str, head: &[u8], body: &[u8]) -> Exchange {
    recorded(url, head, Recording::from_bytes([head, body].concat()))
}

pub(crate) fn spilled(url: &str, head: &[u8], body: &[u8], dir: &Path) -> Exchange {
    let mut response = Recording::new(0, dir);
    response.push(head).unwrap();
    response.push(body).unwrap();
    recorded(url, head, response)
}

fn recorded(url: &str, head: &[u8], response: Recording) -> Exchange {
    let path = url.splitn(4, '/').nth(3).unwrap_or("");
    Exchange {
        url: url.to_owned(),
        at: NOON,
        remote: "192.0.2.7:443".parse().unwrap(),
        request: format!("GET /{path} HTTP/1.1\r\nHost: example.com\r\n\r\n").into_bytes(),
        response,
        head: Head { status: 200, headers: Vec::new(), bytes: head.len() },
        framing: Framing::Plain,
        truncated: None,
        tls: Some(Tls {
            version: "TLSv1_3".into(),
            cipher: "TLS13_AES_128_GCM_SHA256".into(),
            complaint: None,
        }),
        first_byte: Span(12),
        total: Span(34),
    }
}

pub(crate) const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nX-Odd: \xff\r\n\r\n";

pub(crate) const COMPRESSIONS: [Compression; 3] =
    [Compression::None, Compression::Gzip(1), Compression::Zstd(3)];

pub(crate) fn packer(compression: Compression, memory_bytes_max: usize, dir: &Path) -> Packer {
    Packer::new(PackSettings { compression, memory_bytes_max, spill_dir: dir.to_owned() }).unwrap()
}

pub(crate) fn bytes(prepared: &Prepared) -> Vec<u8> {
    let mut bytes = Vec::new();
    prepared.bytes.reader(0).read_to_end(&mut bytes).unwrap();
    bytes
}
