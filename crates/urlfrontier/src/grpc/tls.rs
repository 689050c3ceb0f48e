//! TLS before the service (G1): a certificate and its key, read once at the start.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::{Connected, TcpIncoming};

/// Files longer than this are not what they are taken for.
const FILE_BYTES_MAX: u64 = 1 << 20;
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);
/// After a connection that could not be taken: perhaps there are too many files open.
const AGAIN_AFTER: Duration = Duration::from_millis(50);
/// Handshakes under way.
const HANDSHAKES_MAX: usize = 256;

/// What the service proves itself with.
#[derive(Clone, Debug)]
pub struct Tls(Arc<ServerConfig>);

fn wrong(file: &Path, what: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", file.display()))
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
    if std::fs::metadata(file).map_err(told)?.len() > FILE_BYTES_MAX {
        return Err(wrong(file, "this is too long for a certificate or a key"));
    }
    std::fs::read(file).map_err(told)
}

impl Tls {
    /// Both in PEM; behind the certificate, those that lead to an authority.
    pub fn read(certificate: &Path, key: &Path) -> io::Result<Tls> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(certificate)?).collect();
        let chain = chain.map_err(|error| wrong(certificate, error))?;
        if chain.is_empty() {
            return Err(wrong(certificate, "there is no certificate in it"));
        }
        let secret = PrivateKeyDer::from_pem_slice(&read(key)?);
        let secret = secret.map_err(|_| wrong(key, "there is no private key in it"))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(io::Error::other)?.with_no_client_auth();
        let mut config = config.with_single_cert(chain, secret).map_err(|error| wrong(certificate, error))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Tls(Arc::new(config)))
    }
}

/// A connection over which hands were shaken.
pub(super) struct Secure(TlsStream<TcpStream>);

/// Connections as they come about; who takes long for a handshake keeps nobody else waiting.
pub(super) fn accept(mut incoming: TcpIncoming, tls: &Tls) -> ReceiverStream<io::Result<Secure>> {
    let acceptor = TlsAcceptor::from(Arc::clone(&tls.0));
    let room = Arc::new(Semaphore::new(HANDSHAKES_MAX));
    let (sent, accepted) = mpsc::channel(1);
    tokio::spawn(async move {
        while let Ok(place) = Arc::clone(&room).acquire_owned().await {
            let stream = tokio::select! {
                stream = incoming.next() => stream,
                () = sent.closed() => return,
            };
            let stream = match stream {
                Some(Ok(stream)) => stream,
                // As without TLS: one that was gone at once is nobody else's business.
                Some(Err(_)) => {
                    tokio::time::sleep(AGAIN_AFTER).await;
                    continue;
                }
                None => return,
            };
            let (acceptor, sent) = (acceptor.clone(), sent.clone());
            tokio::spawn(async move {
                let shaken = tokio::time::timeout(HANDSHAKE_WITHIN, acceptor.accept(stream)).await;
                drop(place);
                if let Ok(Ok(stream)) = shaken {
                    let _ = sent.send(Ok(Secure(stream))).await;
                }
            });
        }
    });
    ReceiverStream::new(accepted)
}

impl Connected for Secure {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Secure {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Secure {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
