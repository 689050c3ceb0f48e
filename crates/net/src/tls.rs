//! TLS with whatever certificate there is (A4).
//!
//! An archive wants the page of a site whose certificate ran out last night. So by default a
//! certificate is judged like a browser would, but the verdict is only written down, with the
//! exchange. Where it must be good, the same verdict ends the connection.
//!
//! rustls on ring, with Mozilla's roots: TLS 1.2 and 1.3. Older versions are not spoken by it, and
//! end in an error. The verdict belongs to one connection, so each has a verifier of its own, and
//! sessions are not resumed: a resumed one shows no certificate.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::dns::Clock;
use crate::exchange::Tls;

/// What to do about a bad certificate: expired, self-signed, of another name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certificates {
    /// Go on, and note what is wrong with it.
    #[default]
    AcceptBad,
    RequireValid,
}

/// Why there is no encrypted connection, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsError(String);

/// Makes connections encrypted.
#[derive(Debug)]
pub struct Connector {
    config: ClientConfig,
    judge: Arc<WebPkiServerVerifier>,
    certificates: Certificates,
}

impl Connector {
    /// Judges certificates by Mozilla's roots and the given clock.
    pub fn new(certificates: Certificates, clock: Clock) -> Result<Connector, TlsError> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        Connector::with_roots(certificates, clock, roots)
    }

    fn with_roots(
        certificates: Certificates,
        clock: Clock,
        roots: RootCertStore,
    ) -> Result<Connector, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let judge = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        let judge = judge.build().map_err(|problem| TlsError(problem.to_string()))?;
        let mut config = ClientConfig::builder_with_details(provider, Arc::new(ByClock(clock)))
            .with_safe_default_protocol_versions()
            .map_err(|problem| TlsError(problem.to_string()))?
            .with_webpki_verifier(judge.clone())
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.resumption = Resumption::disabled();
        Ok(Connector { config, judge, certificates })
    }

    /// Shakes hands with `host`, as it stands in a URL.
    pub async fn connect<S>(&self, host: &str, stream: S) -> Result<(TlsStream<S>, Tls), TlsError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let name = server_name(host)?;
        let notes = Arc::new(Noting { judge: self.judge.clone(), complaint: Mutex::new(None) });
        let mut config = self.config.clone();
        if self.certificates == Certificates::AcceptBad {
            config.dangerous().set_certificate_verifier(notes.clone());
        }
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
        let stream = stream.map_err(|problem| TlsError(told(&problem)))?;
        let session = stream.get_ref().1;
        let tls = Tls {
            version: session.protocol_version().and_then(|v| v.as_str()).unwrap_or("unknown").to_owned(),
            cipher: session
                .negotiated_cipher_suite()
                .and_then(|suite| suite.suite().as_str())
                .unwrap_or("unknown")
                .to_owned(),
            complaint: notes.complaint.lock().take(),
        };
        Ok((stream, tls))
    }
}

fn server_name(host: &str) -> Result<ServerName<'static>, TlsError> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let bare = bare.strip_suffix('.').unwrap_or(bare);
    let name = ServerName::try_from(bare.to_owned());
    name.map_err(|_| TlsError(format!("`{host}` is no name that TLS could ask for")))
}

/// Certificates are valid or not by our clock.
struct ByClock(Clock);

impl TimeProvider for ByClock {
    fn current_time(&self) -> Option<UnixTime> {
        let ms = u64::try_from((self.0)().0).unwrap_or(0);
        Some(UnixTime::since_unix_epoch(Duration::from_millis(ms)))
    }
}

impl fmt::Debug for ByClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ByClock")
    }
}

/// Judges the certificate of one connection, writes down what is wrong with it, and accepts it.
#[derive(Debug)]
struct Noting {
    judge: Arc<WebPkiServerVerifier>,
    complaint: Mutex<Option<String>>,
}

impl Noting {
    /// The first complaint is about the certificate; one about the signature made with it says
    /// less.
    fn note(&self, problem: &Error) {
        self.complaint.lock().get_or_insert_with(|| sentence(problem));
    }

    fn noted(
        &self,
        verdict: Result<HandshakeSignatureValid, Error>,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(verdict.unwrap_or_else(|problem| {
            self.note(&problem);
            HandshakeSignatureValid::assertion()
        }))
    }
}

impl ServerCertVerifier for Noting {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verdict =
            self.judge.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        Ok(verdict.unwrap_or_else(|problem| {
            self.note(&problem);
            ServerCertVerified::assertion()
        }))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.noted(self.judge.verify_tls12_signature(message, cert, signature))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.noted(self.judge.verify_tls13_signature(message, cert, signature))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.judge.supported_verify_schemes()
    }
}

/// What a failed handshake is about.
fn told(problem: &io::Error) -> String {
    match problem.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(tls) => sentence(tls),
        None if problem.kind() == io::ErrorKind::UnexpectedEof => {
            "the server closed the connection in the middle of the TLS handshake".to_owned()
        }
        None => format!("the TLS handshake failed: {problem}"),
    }
}

fn sentence(problem: &Error) -> String {
    let Error::InvalidCertificate(bad) = problem else {
        return format!("the TLS handshake failed: {problem}");
    };
    match bad {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the certificate has expired".into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the certificate is not valid yet".into()
        }
        CertificateError::NotValidForName => "the certificate is for another name".into(),
        CertificateError::NotValidForNameContext { presented, .. } => {
            let names: Vec<_> = presented.iter().take(5).map(String::as_str).collect();
            format!("the certificate is for another name: {}", names.join(", "))
        }
        CertificateError::UnknownIssuer => "the certificate is self-signed or its issuer is not known".into(),
        CertificateError::BadSignature => "a signature of the certificate or the handshake is wrong".into(),
        other => format!("the certificate is bad: {other}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use policy::time::Time;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
    use rustls::ServerConfig;
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::version::{TLS12, TLS13};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_rustls::TlsAcceptor;

    use super::*;

    const IN_2025: Time = Time(1_750_000_000_000);
    const IN_2040: Time = Time(2_210_000_000_000);

    struct Server {
        roots: RootCertStore,
        config: ServerConfig,
    }

    /// A server for `a.test`, with a certificate of its own authority, valid from 2020 to 2030.
    fn server(versions: &[&'static rustls::SupportedProtocolVersion]) -> Server {
        let authority_key = KeyPair::generate().unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = authority.self_signed(&authority_key).unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2030, 1, 1);
        let certificate = params.signed_by(&key, &Issuer::new(authority, authority_key)).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(root.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
            )
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Server { roots, config }
    }

    async fn shake(connector: &Connector, server: &Server, host: &str) -> Result<Tls, TlsError> {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let acceptor = TlsAcceptor::from(Arc::new(server.config.clone()));
        let serving = tokio::spawn(async move {
            if let Ok(mut stream) = acceptor.accept(far).await {
                stream.write_all(b"hello").await.unwrap();
                stream.shutdown().await.unwrap();
            }
        });
        let (mut stream, tls) = connector.connect(host, near).await?;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "hello");
        serving.await.unwrap();
        Ok(tls)
    }

    #[tokio::test]
    async fn a4_a_bad_certificate_is_noted_or_refused_with_the_same_reason() {
        let server = server(&[&TLS13, &TLS12]);
        for (host, now, known_root, complaint) in [
            ("a.test", IN_2025, true, None),
            ("a.test.", IN_2025, true, None),
            ("a.test", IN_2025, false, Some("the certificate is self-signed or its issuer is not known")),
            ("a.test", IN_2040, true, Some("the certificate has expired")),
            ("a.test", Time(0), true, Some("the certificate is not valid yet")),
            ("b_b.test", IN_2025, true, Some("the certificate is for another name: DnsName(\"a.test\")")),
            ("127.0.0.1", IN_2025, true, Some("the certificate is for another name: DnsName(\"a.test\")")),
            ("[::1]", IN_2025, true, Some("the certificate is for another name: DnsName(\"a.test\")")),
        ] {
            let clock: Clock = Arc::new(move || now);
            let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
            if known_root {
                roots = server.roots.clone();
            }
            let lax = Connector::with_roots(Certificates::AcceptBad, clock.clone(), roots.clone()).unwrap();
            let tls = shake(&lax, &server, host).await.unwrap();
            assert_eq!(tls.complaint.as_deref(), complaint, "{host}");
            let strict = Connector::with_roots(Certificates::RequireValid, clock, roots).unwrap();
            let refused = shake(&strict, &server, host).await.err().map(|e| e.to_string());
            assert_eq!(refused.as_deref(), complaint, "{host}");
        }
    }

    #[tokio::test]
    async fn a4_both_versions_of_tls_are_spoken_and_named() {
        for (version, name) in [(&TLS12, "TLSv1_2"), (&TLS13, "TLSv1_3")] {
            let server = server(&[version]);
            let clock: Clock = Arc::new(|| IN_2025);
            let connector =
                Connector::with_roots(Certificates::AcceptBad, clock, server.roots.clone()).unwrap();
            let tls = shake(&connector, &server, "a.test").await.unwrap();
            assert_eq!((tls.version.as_str(), tls.complaint), (name, None));
            assert!(tls.cipher.starts_with("TLS"), "{}", tls.cipher);
        }
    }

    #[tokio::test]
    async fn a11_what_is_no_tls_is_told() {
        let connector = Connector::new(Certificates::AcceptBad, Arc::new(|| IN_2025)).unwrap();
        for (answer, expected) in [
            (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], "the TLS handshake failed: "),
            (b"", "the server closed the connection in the middle of the TLS handshake"),
        ] {
            let (near, mut far) = tokio::io::duplex(64 * 1024);
            far.write_all(answer).await.unwrap();
            far.shutdown().await.unwrap();
            let problem = connector.connect("a.test", near).await.unwrap_err().to_string();
            assert!(problem.starts_with(expected), "{problem}");
        }
        let (near, _far) = tokio::io::duplex(1024);
        assert!(connector.connect("a b", near).await.is_err());
    }
}
