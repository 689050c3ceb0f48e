//! Processes, one after the other on the same data, and how each comes to its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::world::World;

/// Longer than anything takes: only a hang is that slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that lives.
pub(crate) struct Life {
    child: Child,
    /// Where it serves, once it says so.
    address: Receiver<SocketAddr>,
    /// What it says beside.
    said: Receiver<String>,
}

/// How one ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lived {
    pub(crate) begin: Instant,
    pub(crate) end: Option<Instant>,
    pub(crate) killed: bool,
}

impl Life {
    pub(crate) fn begin(world: &World, args: &[&str]) -> Life {
        let mut child = Command::new(env!("CARGO_BIN_EXE_skurd"))
            .current_dir(world.dir.path())
            .arg("serve")
            .args(args)
            .args(world.way())
            .args(["--json", "--listen", "127.0.0.1:0"])
            .env_remove("SKURD_TOKEN")
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (found, address) = sync_channel(1);
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let event: Value = serde_json::from_str(&line).unwrap_or_default();
                if event["event"] == "serving" {
                    let _ = found.try_send(event["address"].as_str().unwrap().parse().unwrap());
                }
            }
        });
        let (tell, said) = sync_channel(1);
        let mut err = child.stderr.take().unwrap();
        std::thread::spawn(move || {
            let mut text = String::new();
            let _ = err.read_to_string(&mut text);
            let _ = tell.send(text);
        });
        Life { child, address, said }
    }

    /// Where it serves; none if it ended before it did.
    pub(crate) fn address(&mut self, within: Duration) -> Option<SocketAddr> {
        self.address.recv_timeout(within).ok()
    }

    /// Where it serves, which it must.
    pub(crate) fn serves(&mut self) -> SocketAddr {
        match self.address(PATIENCE) {
            Some(address) => address,
            None => {
                let _ = self.child.kill();
                panic!("it does not serve: {:?}", self.said.recv_timeout(PATIENCE));
            }
        }
    }

    /// As the power going out would end it. False: it had ended by itself.
    pub(crate) fn kill(mut self) -> bool {
        let ended = self.child.try_wait().unwrap();
        self.child.kill().unwrap();
        let status = self.child.wait().unwrap();
        let said = self.said.recv_timeout(PATIENCE).unwrap_or_default();
        assert!(!said.contains("panicked") && !said.contains("error: "), "{said}");
        if let Some(ended) = ended {
            assert!(ended.success(), "{ended}: {said}");
        }
        !status.success()
    }

    /// Asks it to stop, as a service manager does.
    pub(crate) fn terminate(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    }

    /// Asks it to stop, and waits until it has.
    pub(crate) fn stop(mut self) {
        self.terminate();
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > deadline => panic!("it does not stop"),
                None => pause(Duration::from_millis(5)),
            }
        };
        let said = self.said.recv_timeout(PATIENCE).unwrap_or_default();
        assert!(status.success() && !said.contains("panicked"), "{status}: {said}");
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks the API; none where the process went before it had answered.
pub(crate) fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} /api/v1/{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, text) = answer.split_once("\r\n\r\n")?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    // Half an answer is none.
    if length.is_some_and(|length| text.len() < length) {
        return None;
    }
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let text = if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        dechunked(text)?
    } else {
        text.to_owned()
    };
    Some((status, serde_json::from_str(&text).unwrap_or_default()))
}

fn dechunked(mut text: &str) -> Option<String> {
    let mut whole = String::new();
    loop {
        let (size, rest) = text.split_once("\r\n")?;
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(whole);
        }
        whole.push_str(rest.get(..size)?);
        text = rest.get(size + 2..)?;
    }
}

/// The test is about moments: it has to let some pass.
pub(crate) fn pause(span: Duration) {
    let (_nobody, nothing) = sync_channel::<()>(0);
    assert_eq!(nothing.recv_timeout(span), Err(RecvTimeoutError::Timeout));
}
