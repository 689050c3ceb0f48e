//! What the browser is given of an answer: all of it, or slices (B6).

use std::io::{self, Read};

use net::exchange::{Exchange, Framing};
use net::http::{self, Method, body};
use net::proxy::{After, Client};

/// An answer as it was recorded.
pub(super) async fn pass_on(exchange: &Exchange, to: &mut Client) -> io::Result<After> {
    let mut reader = exchange.response.reader(0);
    let mut piece = vec![0; 64 << 10];
    loop {
        let read = reader.read(&mut piece)?;
        if read == 0 {
            return Ok(After::Close);
        }
        to.write(&piece[..read]).await?;
    }
}

/// What the browser was given so far.
#[derive(Default)]
pub(super) struct Passed {
    pub(super) bytes: u64,
    pub(super) hung_up: bool,
    pub(super) is_event_stream: bool,
}

impl Passed {
    pub(super) async fn piece(&mut self, piece: &[u8], to: &mut Client) {
        if self.bytes == 0
            && let Some(parsed) = http::head::parse(piece)
        {
            let kind = parsed.head.header("content-type").unwrap_or_default().to_ascii_lowercase();
            self.is_event_stream = kind.trim_start().starts_with("text/event-stream");
        }
        self.bytes += piece.len() as u64;
        self.hung_up = self.hung_up || to.write(piece).await.is_err();
    }
}

/// How long an answer is, by its own account.
pub(super) fn announced(first_piece: &[u8]) -> Option<u64> {
    http::head::parse(first_piece)?.head.header("content-length")?.trim().parse().ok()
}

/// Whether the browser's connection goes on.
pub(super) fn after(exchange: &Exchange, method: Method) -> After {
    let head = &exchange.head;
    let has_end = exchange.framing == Framing::Chunked
        || head.all("content-length").next().is_some()
        || matches!(head.status, 204 | 304)
        || method == Method::Head;
    let closes = head.all("connection").any(|value| value.eq_ignore_ascii_case(b"close"));
    if has_end && !closes && exchange.truncated.is_none() { After::Keep } else { After::Close }
}

/// B6: the part that is asked for, of a whole answer.
pub(super) async fn slice(whole: &Exchange, range: &str, to: &mut Client) -> io::Result<After> {
    if whole.head.status != 200 || whole.head.all("content-encoding").next().is_some() {
        let mut all = Vec::new();
        whole.response.reader(0).read_to_end(&mut all)?;
        to.write(&all).await?;
        return Ok(After::Close);
    }
    let mut length = 0;
    let mut piece = vec![0; 64 << 10];
    let mut counting = body(whole);
    loop {
        match counting.read(&mut piece)? {
            0 => break,
            read => length += read as u64,
        }
    }
    let Some((first, last)) = part(range, length) else {
        let head = format!(
            "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */{length}\r\nContent-Length: 0\r\n\r\n"
        );
        to.write(head.as_bytes()).await?;
        return Ok(After::Keep);
    };
    let mut head = format!(
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {first}-{last}/{length}\r\nContent-Length: {}\r\nAccept-Ranges: bytes\r\n",
        last - first + 1
    )
    .into_bytes();
    let of_framing = ["content-length", "content-range", "accept-ranges", "transfer-encoding", "connection"];
    for (name, value) in &whole.head.headers {
        if !of_framing.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            head.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
    }
    head.extend_from_slice(b"\r\n");
    to.write(&head).await?;
    let mut reader = body(whole);
    io::copy(&mut reader.by_ref().take(first), &mut io::sink())?;
    let mut left = reader.take(last - first + 1);
    loop {
        let read = left.read(&mut piece)?;
        if read == 0 {
            return Ok(After::Keep);
        }
        to.write(&piece[..read]).await?;
    }
}

/// First and last byte of a single range; of several, all of it.
fn part(range: &str, length: u64) -> Option<(u64, u64)> {
    let last = length.checked_sub(1)?;
    let Some((from, to)) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Some((0, last));
    };
    let (first, end) = match (from.trim().parse::<u64>(), to.trim().parse::<u64>()) {
        (Ok(first), Ok(end)) => (first, end.min(last)),
        (Ok(first), Err(_)) if to.trim().is_empty() => (first, last),
        (Err(_), Ok(0)) => return None,
        (Err(_), Ok(count)) if from.trim().is_empty() => (length.saturating_sub(count), last),
        _ => return Some((0, last)),
    };
    (first <= end).then_some((first, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b6_parts_of_a_whole_are_what_was_asked_for() {
        for (range, length, expected) in [
            ("bytes=0-", 10, Some((0, 9))),
            ("bytes=2-3", 10, Some((2, 3))),
            ("bytes=2-99", 10, Some((2, 9))),
            ("bytes=-3", 10, Some((7, 9))),
            ("bytes=-99", 10, Some((0, 9))),
            ("bytes=10-", 10, None),
            ("bytes=-0", 10, None),
            ("bytes=0-", 0, None),
            ("bytes=1-2,4-5", 10, Some((0, 9))),
            ("lines=1-2", 10, Some((0, 9))),
        ] {
            assert_eq!(part(range, length), expected, "{range} of {length}");
        }
    }
}
