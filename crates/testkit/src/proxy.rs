//! A little upstream proxy on loopback: HTTP by CONNECT, or SOCKS5. Whatever address it is asked to
//! connect to, it connects to one web, and keeps what it was asked. So the addresses of a test need
//! be nobody's, and nothing but the proxy leads to the web.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// Of what a client says before there is a tunnel.
const HEAD_BYTES_MAX: usize = 8 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaks {
    Http,
    Socks5,
}

/// What it does with who asks, once the credentials are right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Does {
    Connect,
    /// Answers this: a whole head, or a verdict of SOCKS5.
    Answer(Vec<u8>),
    /// Takes the connection and says nothing.
    Hang,
    /// Says this before the server has said anything.
    Interrupt(Vec<u8>),
}

#[derive(Clone, Debug)]
pub struct Setup {
    pub speaks: Speaks,
    /// The user and password it wants, as `user:password`.
    pub login: Option<String>,
    pub does: Does,
    /// The one place that it connects to.
    pub web: SocketAddr,
}

/// A running proxy. Everything ends when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    runtime: Option<Runtime>,
}

impl Proxy {
    /// Listens on a thread of its own, as if it were another machine.
    pub fn start(setup: Setup) -> io::Result<Proxy> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        // Also where somebody else's runtime is at work.
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        runtime.spawn(async move {
            let Ok(listener) = TcpListener::from_std(listener) else { return };
            while let Ok((stream, from)) = listener.accept().await {
                let (setup, log) = (setup.clone(), Arc::clone(&log));
                tokio::spawn(async move { serve(stream, from, &setup, &log).await });
            }
        });
        Ok(Proxy { address, asked, runtime: Some(runtime) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it was asked to connect to, by whom: `192.0.2.1:80 from 127.0.0.1`; or how it turned
    /// somebody away.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn serve(
    mut stream: TcpStream,
    from: SocketAddr,
    setup: &Setup,
    log: &Mutex<Vec<String>>,
) -> io::Result<()> {
    let target = match setup.speaks {
        Speaks::Http => connect_request(&mut stream, setup).await?,
        Speaks::Socks5 => socks_request(&mut stream, setup).await?,
    };
    let Some(target) = target else {
        log.lock().push("turned away".to_owned());
        return stream.shutdown().await;
    };
    log.lock().push(format!("{target} from {}", from.ip()));
    let yes: &[u8] = match setup.speaks {
        Speaks::Http => b"HTTP/1.1 200 Connection established\r\nVia: 1.1 little\r\n\r\n",
        Speaks::Socks5 => &[5, 0, 0, 1, 127, 0, 0, 1, 0, 80],
    };
    match &setup.does {
        Does::Answer(answer) => {
            stream.write_all(answer).await?;
            return stream.shutdown().await;
        }
        Does::Hang => return std::future::pending().await,
        Does::Interrupt(words) => stream.write_all(&[yes, words].concat()).await?,
        Does::Connect => stream.write_all(yes).await?,
    }
    let mut web = TcpStream::connect(setup.web).await?;
    copy_bidirectional(&mut stream, &mut web).await.map(drop)
}

/// Whom to connect to; none where it was turned away.
async fn connect_request(stream: &mut TcpStream, setup: &Setup) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < HEAD_BYTES_MAX {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.lines();
    let target = lines.next().and_then(|line| line.strip_prefix("CONNECT ")?.strip_suffix(" HTTP/1.1"));
    let login = lines.find_map(|line| line.strip_prefix("Proxy-Authorization: Basic ")).map(decoded);
    if target.is_none() || login != setup.login {
        stream.write_all(b"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n").await?;
        return Ok(None);
    }
    Ok(target.map(str::to_owned))
}

/// Base64, as far as a test needs it.
fn decoded(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut bytes) = (0_u32, 0, Vec::new());
    for value in text.bytes().filter_map(|b| DIGITS.iter().position(|digit| *digit == b)) {
        bits = bits << 6 | u32::try_from(value).unwrap_or_default();
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xFF).unwrap_or_default());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn socks_request(stream: &mut TcpStream, setup: &Setup) -> io::Result<Option<String>> {
    let _version = stream.read_u8().await?;
    let methods = read_counted(stream).await?;
    let method = if setup.login.is_some() { 2 } else { 0 };
    if !methods.contains(&method) {
        stream.write_all(&[5, 0xFF]).await?;
        return Ok(None);
    }
    stream.write_all(&[5, method]).await?;
    if let Some(login) = &setup.login {
        let _version = stream.read_u8().await?;
        let (user, password) = (read_counted(stream).await?, read_counted(stream).await?);
        let given = [&user[..], b":", &password[..]].concat();
        stream.write_all(&[1, u8::from(given != login.as_bytes())]).await?;
        if given != login.as_bytes() {
            return Ok(None);
        }
    }
    let mut request = [0; 4];
    stream.read_exact(&mut request).await?;
    let host = match request[3] {
        1 => IpAddr::from(stream.read_u32().await?.to_be_bytes()).to_string(),
        4 => IpAddr::from(Ipv6Addr::from(stream.read_u128().await?)).to_string(),
        _ => format!("the name {}", String::from_utf8_lossy(&read_counted(stream).await?)),
    };
    Ok(Some(format!("{host}:{}", stream.read_u16().await?)))
}

async fn read_counted(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::from(stream.read_u8().await?)];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}
