//! A request of the browser, read whole.

use std::io;

use super::Client;

/// Of a longer head nothing is believed.
const HEAD_BYTES_MAX: usize = 256 << 10;
/// Of what a page may send.
const BODY_BYTES_MAX: usize = 32 << 20;

/// What a browser asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    pub method: String,
    /// Absolute.
    pub url: String,
    /// As they were sent, but for those that concern this connection alone.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The protocol it would rather speak.
    pub upgrade: Option<String>,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(have, _)| have.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

pub(super) enum Next {
    Request(Asked),
    Connect(String),
    Odd(String),
    Over,
}

/// Concern the connection to the proxy, or say where a message ends: whoever asks on says that anew.
const OF_THE_CONNECTION: [&str; 9] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "upgrade",
];

pub(super) async fn read_request(client: &mut Client, base: Option<&str>) -> io::Result<Next> {
    client.room.taken = None;
    let end = loop {
        let blank = client.buffer.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        client.buffer.drain(..blank);
        if let Some(end) = crate::http::head::end_of_head(&client.buffer, 0) {
            break end;
        }
        if client.buffer.len() > HEAD_BYTES_MAX {
            return Ok(Next::Odd("the head of a request is too long".to_owned()));
        }
        if client.read().await? == 0 {
            return Ok(Next::Over);
        }
    };
    let head: Vec<u8> = client.buffer.drain(..end).collect();
    let Some((mut asked, target)) = read_head(&head) else {
        return Ok(Next::Odd("no request".to_owned()));
    };
    if asked.method == "CONNECT" {
        return Ok(Next::Connect(target));
    }
    asked.url = match base {
        Some(base) if target.starts_with('/') => format!("{base}{target}"),
        _ => target,
    };
    if asked.header("transfer-encoding").is_some() {
        return Ok(Next::Odd("a request whose length is not known beforehand".to_owned()));
    }
    if asked.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-length")).count() > 1 {
        return Ok(Next::Odd("a request that says twice how long it is".to_owned()));
    }
    let length = match asked.header("content-length").map(str::parse::<usize>) {
        None => 0,
        Some(Ok(length)) if length <= BODY_BYTES_MAX => length,
        Some(_) => return Ok(Next::Odd("a request that sends too much".to_owned())),
    };
    client.room.take(length).await;
    while client.buffer.len() < length {
        if client.read().await? == 0 {
            return Ok(Next::Over);
        }
    }
    asked.body = client.buffer.drain(..length).collect();
    asked.upgrade = asked.header("upgrade").map(str::to_owned);
    asked.headers.retain(|(name, _)| !OF_THE_CONNECTION.iter().any(|own| own.eq_ignore_ascii_case(name)));
    Ok(Next::Request(asked))
}

/// The head, and what is asked for.
fn read_head(head: &[u8]) -> Option<(Asked, String)> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?, first.next()?);
    if !first.next()?.starts_with("HTTP/1.") || method.is_empty() || target.is_empty() {
        return None;
    }
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    let headers = lines.take_while(|line| !line.is_empty()).filter_map(header).collect();
    Some((Asked { method: method.to_owned(), headers, ..Asked::default() }, target.to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use proptest::prelude::*;

    use super::super::Room;
    use super::*;

    fn read(bytes: &[u8], base: Option<&str>) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut ours, theirs) = tokio::io::duplex(1 << 20);
            tokio::io::AsyncWriteExt::write_all(&mut ours, bytes).await.unwrap();
            drop(ours);
            let mut client = Client { stream: Box::new(theirs), buffer: Vec::new(), room: Room::new() };
            let mut said = Vec::new();
            loop {
                said.push(match read_request(&mut client, base).await.unwrap() {
                    Next::Over => return said,
                    Next::Odd(why) => {
                        said.push(format!("odd: {why}"));
                        return said;
                    }
                    Next::Connect(target) => format!("tunnel {target}"),
                    Next::Request(asked) => {
                        let headers: Vec<String> =
                            asked.headers.iter().map(|(n, v)| format!("{n}={v}")).collect();
                        let body = String::from_utf8_lossy(&asked.body).into_owned();
                        let upgrade = asked.upgrade.unwrap_or_default();
                        format!("{} {} [{}] {body}{upgrade}", asked.method, asked.url, headers.join("|"))
                    }
                });
            }
        })
    }

    #[test]
    fn b4_requests_are_read_as_browsers_send_them() {
        let own = Some("https://a.test");
        for (base, bytes, expected) in [
            (
                None,
                "GET http://a.test/x?y HTTP/1.1\r\nHost: a.test\r\nA: 1\r\nProxy-Connection: x\r\n\r\n",
                "GET http://a.test/x?y [A=1] ",
            ),
            (None, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n", "tunnel a.test:443"),
            (own, "GET /x HTTP/1.1\r\nB: 2\r\nB: 3\r\n\r\n", "GET https://a.test/x [B=2|B=3] "),
            (own, "POST /p HTTP/1.1\r\nContent-Length: 3\r\n\r\nx=1", "POST https://a.test/p [] x=1"),
            (
                own,
                "\r\nGET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n",
                "GET https://a.test/1 [] ; GET https://a.test/2 [] ",
            ),
            (
                own,
                "GET /s HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n",
                "GET https://a.test/s [Sec-WebSocket-Key=k] websocket",
            ),
            (
                own,
                "POST /p HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
                "odd: a request whose length is not known beforehand",
            ),
            (
                own,
                "POST /p HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /in HTTP/1.1\r\n\r\n",
                "odd: a request whose length is not known beforehand",
            ),
            (
                own,
                "POST /p HTTP/1.1\r\nContent-Length: 0\r\ncontent-length: 22\r\n\r\nGET /in HTTP/1.1\r\n\r\n",
                "odd: a request that says twice how long it is",
            ),
            (
                own,
                "POST /p HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
                "odd: a request that sends too much",
            ),
            (own, "POST /p HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "odd: a request that sends too much"),
            (own, "nonsense\r\n\r\n", "odd: no request"),
            (own, "GET / HTTP/1.1\r\nA:", ""),
        ] {
            assert_eq!(read(bytes.as_bytes(), base).join("; "), expected, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn b4_any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            read(&bytes, None);
            read(&[b"GET / HTTP/1.1\r\n", &bytes[..], b"\r\n\r\n"].concat(), Some("http://a.test"));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn b11_what_a_page_sends_at_once_is_bounded() {
        let post = format!("POST /p HTTP/1.1\r\nContent-Length: {BODY_BYTES_MAX}\r\n\r\n");
        let room = Room::new();
        let ask = |room: Room| {
            let (mut ours, theirs) = tokio::io::duplex(1 << 20);
            let head = post.clone();
            tokio::spawn(async move {
                let _ = tokio::io::AsyncWriteExt::write_all(&mut ours, head.as_bytes()).await;
                let body = vec![0; BODY_BYTES_MAX];
                let _ = tokio::io::AsyncWriteExt::write_all(&mut ours, &body).await;
            });
            Client { stream: Box::new(theirs), buffer: Vec::new(), room }
        };
        let mut clients: Vec<Client> = (0..3).map(|_| ask(room.shared())).collect();
        for client in &mut clients[..2] {
            assert!(matches!(read_request(client, Some("http://a.test")).await, Ok(Next::Request(_))));
        }
        let third = &mut clients[2];
        let wait = std::time::Duration::from_secs(60);
        assert!(tokio::time::timeout(wait, read_request(third, Some("http://a.test"))).await.is_err());
        assert!(third.buffer.len() < BODY_BYTES_MAX);
        // The connection of one that was answered is closed, or asks for something else.
        drop(clients.remove(0));
        assert_eq!(room.all.available_permits(), super::super::ROOM_UNITS / 2);
    }
}
