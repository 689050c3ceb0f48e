//! Certificates for whatever name a page asks for, so that its traffic can be recorded.
//!
//! One key for all of them, made anew by each process and kept nowhere: the browser is told its hash
//! ([`Certificates::key_hash`]) and trusts nothing else in its place, and no other program trusts it
//! at all. Pages stay secure contexts, so that service workers and the like run as they do elsewhere.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair, PublicKeyData};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Names whose certificates are kept; beyond, they are made anew.
const NAMES_MAX: usize = 1000;

#[derive(Debug, thiserror::Error)]
#[error("no certificate for {name:?}: {reason}")]
pub struct CertificateFailure {
    name: String,
    reason: String,
}

pub struct Certificates {
    key: KeyPair,
    made: Mutex<HashMap<String, Arc<ServerConfig>>>,
}

impl std::fmt::Debug for Certificates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Certificates").field("made", &self.made.lock().len()).finish_non_exhaustive()
    }
}

impl Certificates {
    pub fn new() -> Result<Certificates, CertificateFailure> {
        let key = KeyPair::generate().map_err(|problem| failure("the key", &problem))?;
        Ok(Certificates { key, made: Mutex::default() })
    }

    /// SHA-256 of the public key, as browsers are told it: in base 64.
    pub fn key_hash(&self) -> String {
        let hash = ring::digest::digest(&ring::digest::SHA256, &self.key.subject_public_key_info());
        data_encoding::BASE64.encode(hash.as_ref())
    }

    /// What TLS is spoken with in the name of this host.
    pub fn for_name(&self, name: &str) -> Result<Arc<ServerConfig>, CertificateFailure> {
        if let Some(config) = self.made.lock().get(name) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.make(name)?);
        let mut made = self.made.lock();
        if made.len() >= NAMES_MAX {
            made.clear();
        }
        made.insert(name.to_owned(), Arc::clone(&config));
        Ok(config)
    }

    fn make(&self, name: &str) -> Result<ServerConfig, CertificateFailure> {
        let bare = name.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
        let params = CertificateParams::new(vec![bare.to_owned()]);
        let mut params = params.map_err(|problem| failure(name, &problem))?;
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "skurd recording proxy");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.self_signed(&self.key).map_err(|problem| failure(name, &problem))?;
        let chain = vec![CertificateDer::from(certificate.der().to_vec())];
        let key = PrivateKeyDer::Pkcs8(self.key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|problem| failure(name, &problem))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|problem| failure(name, &problem))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

fn failure(name: &str, problem: &dyn std::fmt::Display) -> CertificateFailure {
    CertificateFailure { name: name.to_owned(), reason: problem.to_string() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn b4_every_name_a_page_may_ask_for_gets_a_certificate() {
        let certificates = Certificates::new().unwrap();
        for name in ["a.test", "xn--bl-wia.test", "127.0.0.1", "[::1]", "a.test.", "under_score.test"] {
            certificates.for_name(name).unwrap();
        }
        assert!(certificates.for_name("bl\u{e5}.test").is_err());
        let one = certificates.for_name("a.test").unwrap();
        for number in 0..NAMES_MAX {
            certificates.made.lock().insert(number.to_string(), Arc::clone(&one));
        }
        certificates.for_name("other.test").unwrap();
        assert_eq!(certificates.made.lock().len(), 1);
        assert_eq!(certificates.key_hash().len(), 44);
    }
}
