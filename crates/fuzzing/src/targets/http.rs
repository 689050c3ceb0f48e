//! An answer on its way in, and the chunked coding (A4, A11): however the bytes arrive, the same is
//! made of them.

use std::io::Read;

use net::exchange::{Framing, Recording, Truncated};
use net::http::{Dechunk, FetchErrorKind, FetchLimits, Received, received};
use policy::time::Span;

use crate::{Seeds, Target, Trickle};

/// Small, so that inputs reach them.
const LIMITS: FetchLimits = FetchLimits {
    connect: Span::seconds(1),
    first_byte: Span::seconds(1),
    total: Span::seconds(1),
    bytes: 2000,
    header_bytes: 1000,
};

pub const HTTP: Target = Target {
    name: "http",
    run: http,
    seeds: http_seeds,
    words: &[
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 304 \r\n",
        "Content-Length: ",
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Connection: close\r\n",
        "\r\n\r\n",
        "\n\n",
        " folded",
        "\r\n5\r\nhello\r\n",
        "0\r\n\r\n",
        ";ext=\"a\"",
    ],
    runs: 8000,
};

pub const CHUNKED: Target = Target {
    name: "chunked",
    run: chunked,
    seeds: chunked_seeds,
    words: &[
        "0\r\n\r\n",
        "0\n\n",
        "\r\n",
        "5\r\n",
        "ffffffffffffffff\r\n",
        ";a=b",
        "10000000000000000",
        "T: v\r\n",
    ],
    runs: 8000,
};

fn http_seeds(seeds: &mut Seeds) {
    seeds.each(&[
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nT: v\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n<html>not chunked at all",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.0 404 Not Found\n\ngone",
        "\r\n\r\nHTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\nA: b\n c\nContent-Length: 3, 3\n\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcdef",
        "ICY 200 OK\r\n\r\n",
    ]);
}

/// What can be seen of an answer.
#[derive(Debug, PartialEq)]
struct Seen {
    head: net::exchange::Head,
    framing: Framing,
    truncated: Option<Truncated>,
    bytes: Vec<u8>,
}

fn seen(received: Result<Received, FetchErrorKind>) -> Result<Seen, FetchErrorKind> {
    let Received { head, framing, truncated, response } = received?;
    let mut bytes = Vec::new();
    response.reader(0).read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, response.len());
    Ok(Seen { head, framing, truncated, bytes })
}

fn in_pieces(input: &[u8], step: usize) -> Result<Seen, FetchErrorKind> {
    seen(received(input.chunks(step), &LIMITS, Recording::from_bytes(Vec::new())))
}

fn http(input: &[u8]) {
    let whole = seen(received([input], &LIMITS, Recording::from_bytes(Vec::new())));
    for step in [1, 3, 1000] {
        assert_eq!(in_pieces(input, step), whole, "in pieces of {step} bytes something else is made of it");
    }
    let seen = match whole {
        // Nothing that came from the web is a fault of ours (A12).
        Err(kind) => {
            return assert!(matches!(kind, FetchErrorKind::Broken | FetchErrorKind::Limit), "{kind:?}");
        }
        Ok(seen) => seen,
    };
    let Seen { head, framing, truncated, bytes } = seen;
    assert!((100..1000).contains(&head.status));
    assert!(head.bytes <= LIMITS.header_bytes as usize);
    assert!(bytes.len() - head.bytes <= usize::try_from(LIMITS.bytes).unwrap());
    assert!(input.windows(bytes.len()).any(|window| window == bytes), "recorded what did not come");
    // The head is read again from the recording, as whoever has the archive does.
    let again = net::http::head::parse(&bytes[..head.bytes]).expect("a head that was read is read again");
    assert_eq!(again.head, head);
    assert_eq!(net::http::head::end_of_head(&bytes, 0), Some(head.bytes));
    if framing == Framing::Chunked {
        let mut unwrapped = Vec::new();
        let mut dechunk = Dechunk::new(&bytes[head.bytes..]);
        dechunk.read_to_end(&mut unwrapped).unwrap();
        assert!(unwrapped.len() <= bytes.len() - head.bytes);
        assert!(dechunk.is_whole() || truncated.is_some(), "taken for whole, and is not");
    }
}

fn chunked_seeds(seeds: &mut Seeds) {
    seeds.each(&[
        "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nT: v\r\n\r\n",
        "5\nhello\n0\n\n",
        "5 \r\nhello\r\n0\r\n",
        "not chunked",
        "5\r\nhel",
        "ffffffffffffffff\r\nx",
        "",
    ]);
}

fn dechunked(input: &[u8], source_step: usize, read_bytes: usize) -> (Vec<u8>, bool) {
    let mut dechunk = Dechunk::new(Trickle::new(input, source_step));
    let mut data = Vec::new();
    let mut buffer = vec![0; read_bytes];
    loop {
        match dechunk.read(&mut buffer).unwrap() {
            0 => break,
            read => data.extend_from_slice(&buffer[..read]),
        }
    }
    assert_eq!(dechunk.read(&mut buffer).unwrap(), 0, "it ended once, and goes on");
    (data, dechunk.is_whole())
}

fn chunked(input: &[u8]) {
    let whole = dechunked(input, usize::MAX, 64 << 10);
    assert!(whole.0.len() <= input.len(), "more came out than was there");
    for (source, read) in [(1, 1), (1, 100), (7, 3), (20_000, 1)] {
        assert_eq!(dechunked(input, source, read), whole, "in pieces of {source} and {read} bytes");
    }
    // Whatever it is: wrapped, it comes out again, and whole.
    let mut wrapped = Vec::new();
    for (at, piece) in input.chunks(1 + input.len() / 3).enumerate() {
        wrapped.extend_from_slice(format!("{:x}{}\r\n", piece.len(), [";n=1", "", " "][at % 3]).as_bytes());
        wrapped.extend_from_slice(piece);
        wrapped.extend_from_slice(b"\r\n");
    }
    wrapped.extend_from_slice(b"0\r\nTrailer: x\r\n\r\n");
    assert_eq!(dechunked(&wrapped, 11, 13), (input.to_vec(), true));
}
