//! A web that is harvested, as a process of its own: everybody who is measured pays for it alike.
//!
//! It is the bench's own binary, called with `--serve PORT`.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use testkit::web::{Answer, Ask, Setup};

use crate::Stopwatch;

/// Serves a site for as long as this process lives.
pub fn serve(address: SocketAddr, site: impl Fn(&Ask) -> Answer + Send + Sync + 'static) -> Result<()> {
    let _web = testkit::web::Web::start(address, Setup::fast(), site)?;
    loop {
        std::thread::park();
    }
}

#[derive(Debug)]
pub struct Web {
    child: Child,
    pub port: u16,
}

impl Web {
    pub fn start() -> Result<Web> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let child = Command::new(std::env::current_exe()?)
            .args(["--serve", &port.to_string()])
            .stdin(Stdio::null())
            .spawn()
            .context("cannot start the web")?;
        let web = Web { child, port };
        let watch = Stopwatch::start();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            anyhow::ensure!(watch.elapsed().as_secs() < 10, "the web does not come up");
            std::thread::yield_now();
        }
        Ok(web)
    }

    /// What it says at a path.
    pub fn ask(&self, path: &str) -> Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: control\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.split_once("\r\n\r\n").context("no answer from the web")?.1.to_owned())
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
