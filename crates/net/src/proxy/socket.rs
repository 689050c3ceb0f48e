//! Websockets on their way through (B7): passed on as they come, and counted by frame.

use std::io;

use tokio::sync::watch;

use super::Client;
use crate::http::Upgraded;

/// Frames and bytes, in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    pub sent: u64,
    pub received: u64,
    pub bytes: u64,
}

/// Passes everything on until one end hangs up, or it is told to stop.
pub async fn tunnel(
    client: &mut Client,
    mut server: Upgraded,
    stop: &mut watch::Receiver<bool>,
) -> io::Result<Counted> {
    let (mut up, mut down) = (Frames::default(), Frames::default());
    let mut counted = Counted::default();
    let mut from_server = std::mem::take(&mut server.surplus);
    loop {
        if !from_server.is_empty() {
            counted.received += down.count(&from_server);
            counted.bytes += from_server.len() as u64;
            client.write(&from_server).await?;
            from_server.clear();
        }
        if !client.buffer.is_empty() {
            counted.sent += up.count(&client.buffer);
            counted.bytes += client.buffer.len() as u64;
            server.write(&client.buffer).await?;
            client.buffer.clear();
        }
        let read = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return Ok(counted),
            read = server.read(&mut from_server) => read,
            read = client.read() => read,
        };
        if !matches!(read, Ok(1..)) {
            return Ok(counted);
        }
    }
}

/// Where in a stream of frames one is (RFC 6455, 5.2).
#[derive(Debug, Default)]
struct Frames {
    /// Of a head that is not whole yet.
    head: Vec<u8>,
    /// Of the payload, with the mask before it.
    left: u64,
}

impl Frames {
    /// How many frames begin in these bytes.
    fn count(&mut self, mut bytes: &[u8]) -> u64 {
        let mut begun = 0;
        while !bytes.is_empty() {
            if self.left > 0 {
                let taken = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
                self.left -= taken as u64;
                bytes = &bytes[taken..];
                continue;
            }
            if self.head.is_empty() {
                begun += 1;
            }
            self.head.push(bytes[0]);
            bytes = &bytes[1..];
            if let Some(left) = payload(&self.head) {
                self.left = left;
                self.head.clear();
            }
        }
        begun
    }
}

/// What follows a head, once it is whole.
fn payload(head: &[u8]) -> Option<u64> {
    let [_, second, more @ ..] = head else { return None };
    let mask = if second & 0x80 == 0 { 0 } else { 4 };
    let length = match (second & 0x7f, more) {
        (126, [a, b]) => u64::from(u16::from_be_bytes([*a, *b])),
        (127, [a, b, c, d, e, f, g, h]) => u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
        (126 | 127, _) => return None,
        (length, _) => u64::from(length),
    };
    Some(length.saturating_add(mask))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b7_frames_are_counted_however_they_are_cut() {
        let mut stream = Vec::new();
        stream.extend([0x81, 0x02, b'h', b'i']);
        stream.extend([0x82, 0x80, 1, 2, 3, 4]);
        stream.extend([0x81, 126, 0x01, 0x00]);
        stream.extend([b'x'; 256]);
        stream.extend([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
        stream.extend([b'y'; 65536]);
        stream.extend([0x88, 0x00]);
        for size in [1, 2, 3, 7, 100, 1 << 20] {
            let mut frames = Frames::default();
            let counted: u64 = stream.chunks(size).map(|piece| frames.count(piece)).sum();
            assert_eq!(counted, 5, "in pieces of {size}");
        }
    }
}
