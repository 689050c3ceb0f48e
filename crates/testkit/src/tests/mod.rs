//! The town as a harvester meets it: over the wire, link by link, and by the config that comes with
//! it.

mod config;
mod serving;
mod walk;
mod wire;

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

/// An answer as it came: its head taken apart, its body with all codings.
#[derive(Debug, PartialEq, Eq)]
struct Got {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Got {
    fn of(bytes: &[u8]) -> Got {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut response = httparse::Response::new(&mut headers);
        let parsed = response
            .parse(bytes)
            .unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(bytes)));
        let headers = response.headers.iter();
        Got {
            status: response.code.unwrap(),
            headers: headers
                .map(|header| (header.name.to_owned(), String::from_utf8(header.value.to_vec()).unwrap()))
                .collect(),
            body: bytes[parsed.unwrap()..].to_vec(),
        }
    }

    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(have, _)| have.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Sends bytes and reads until the other side hangs up.
async fn converse(demo: &Demo, bytes: &[u8]) -> Vec<u8> {
    let talk = async {
        let mut stream = TcpStream::connect(demo.address()).await.unwrap();
        // A server that refuses may hang up before it has read everything.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        answer
    };
    timeout(PATIENCE, talk).await.expect("an end of the answer")
}

/// One request on a connection of its own; `headers` are lines with their ends.
async fn bytes_of(demo: &Demo, host: &str, target: &str, headers: &str) -> Vec<u8> {
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n");
    converse(demo, request.as_bytes()).await
}

async fn get_with(demo: &Demo, host: &str, target: &str, headers: &str) -> Got {
    Got::of(&bytes_of(demo, host, target, headers).await)
}

async fn get(demo: &Demo, host: &str, target: &str) -> Got {
    get_with(demo, host, target, "").await
}
