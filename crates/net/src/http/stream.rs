//! A connection, encrypted or not.

use std::io::{self, Read};
use std::net::SocketAddr;
use std::sync::Arc;

use policy::way::Way;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::exchange::Tls;

/// An open connection and what is to be said of it.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: Stream,
    pub(super) remote: SocketAddr,
    pub(super) tls: Option<Tls>,
    pub(super) origin: Arc<str>,
    pub(super) way: Way,
    /// It has carried an exchange before, and may have been closed since.
    pub(super) reused: bool,
}

#[derive(Debug)]
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Appends what there is to read, as far as the buffer has room; 0 at the end of the
    /// connection. Who hangs up without ending TLS (close_notify) may not have been the server,
    /// so that is an error: whoever knows the length of the answer need not mind.
    pub(super) async fn read(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read_buf(into).await,
            Stream::Tls(stream) => stream.read_buf(into).await.map_err(|problem| match problem.kind() {
                kind @ io::ErrorKind::UnexpectedEof => {
                    io::Error::new(kind, "it was closed without ending TLS")
                }
                _ => problem,
            }),
        }
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.write_all(bytes).await,
            Stream::Tls(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
        }
    }

    /// Nothing came since the last answer: neither an end, nor bytes that would be taken for the
    /// next one.
    pub(super) fn is_quiet(&mut self) -> bool {
        let would_block =
            |read: io::Result<usize>| read.is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock);
        let mut byte = [0];
        match self {
            Stream::Plain(stream) => would_block(stream.try_read(&mut byte)),
            Stream::Tls(stream) => {
                let (tcp, session) = stream.get_mut();
                would_block(session.reader().read(&mut byte)) && would_block(tcp.try_read(&mut byte))
            }
        }
    }
}
