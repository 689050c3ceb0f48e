//! WebDriver on the wire: JSON over HTTP, one request a connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Longer than any command takes: only a hang is that slow.
const PATIENCE: Duration = Duration::from_secs(90);

/// Sends a command, and gives its value; an error says what the driver said.
pub(crate) fn send(address: SocketAddr, method: &str, path: &str, body: &Value) -> Result<Value, String> {
    let body = if method == "GET" || method == "DELETE" { String::new() } else { body.to_string() };
    let mut stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body.as_bytes()))
        .map_err(|error| error.to_string())?;
    let mut reader = BufReader::new(stream);
    let (status, length) = head_of(&mut reader)?;
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    match status {
        200 => Ok(value["value"].clone()),
        _ => Err(format!("{}: {}", value["value"]["error"], value["value"]["message"])),
    }
}

fn head_of(reader: &mut BufReader<TcpStream>) -> Result<(u16, usize), String> {
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
            return Err("the driver hung up".to_owned());
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            return Ok((status, length));
        }
        if let Some(rest) = line.strip_prefix("http/1.1 ") {
            status = rest.split(' ').next().and_then(|code| code.parse().ok()).unwrap_or(0);
        }
        if let Some(rest) = line.strip_prefix("content-length:") {
            length = rest.trim().parse().unwrap_or(0);
        }
    }
}
