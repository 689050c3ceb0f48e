//! The smallest HTTP client: one request a connection, exactly the bytes that were asked for.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

/// A request in the making.
#[derive(Clone, Debug)]
pub struct Request {
    address: SocketAddr,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub fn new(address: SocketAddr, method: &str, path: &str) -> Request {
        Request {
            address,
            method: method.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Request {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn body(mut self, kind: &str, body: impl Into<Vec<u8>>) -> Request {
        self.body = body.into();
        self.header("Content-Type", kind)
    }

    pub fn json(self, body: &Value) -> Request {
        self.body("application/json", body.to_string())
    }

    /// Sends it; the head of the response has been read, its body is empty yet.
    pub fn open(&self) -> io::Result<(Response, BufReader<TcpStream>)> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut head = format!("{} {} HTTP/1.1\r\nConnection: close\r\n", self.method, self.path);
        if !self.headers.iter().any(|(name, _)| name == "Host") {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        stream.write_all(head.as_bytes())?;
        // A server that refuses the body may not read it to its end.
        let _ = stream.write_all(&self.body);
        let mut reader = BufReader::new(stream);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines[1..].iter().map(|line| line.split_once(':').unwrap());
        let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
        Ok((Response { status, headers, body: Vec::new() }, reader))
    }

    /// What comes back, whole or not.
    pub fn send(&self) -> Response {
        let (mut response, mut reader) = self.open().unwrap();
        let _ = reader.read_to_end(&mut response.body);
        if response.header("transfer-encoding") == Some("chunked") {
            response.body = dechunked(&response.body).expect("a chunk");
        }
        response
    }

    /// The same, or none where the server went before it had answered: half a response is none.
    pub fn try_send(&self) -> Option<Response> {
        let (mut response, mut reader) = self.open().ok()?;
        reader.read_to_end(&mut response.body).ok()?;
        let length = response.header("content-length").and_then(|length| length.parse::<usize>().ok());
        if length.is_some_and(|length| response.body.len() < length) {
            return None;
        }
        if response.header("transfer-encoding") == Some("chunked") {
            response.body = dechunked(&response.body)?;
        }
        Some(response)
    }
}

/// None if it ends before its last chunk.
fn dechunked(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
        let size = usize::from_str_radix(str::from_utf8(&bytes[..end]).ok()?, 16).ok()?;
        if size == 0 {
            return Some(whole);
        }
        whole.extend_from_slice(bytes.get(end + 2..end + 2 + size)?);
        bytes = bytes.get(end + 2 + size + 2..)?;
    }
}
