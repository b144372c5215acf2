//! What the tests share: a certificate for `localhost`, and the two ends of TLS that trust each other by it; servers of
//! other projects, and PostgreSQL among them.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

mod postgres;
mod server;

pub use postgres::Postgres;
pub use server::{Directory, Server, command, free_port};

/// A certificate for `localhost` that nobody else trusts, made anew for each test.
pub struct Certificate {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
    /// The certificate and its key, as programs want them in files.
    pem: (String, String),
}

impl Certificate {
    /// Makes one, and sees to it that rustls has its cryptography.
    pub fn new() -> Self {
        // The second time it is there already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        Certificate {
            certificate: made.cert.der().clone(),
            key: made.signing_key.serialize_der(),
            pem: (made.cert.pem(), made.signing_key.serialize_pem()),
        }
    }

    /// What goes into the file of the certificate.
    pub fn pem(&self) -> &str {
        &self.pem.0
    }

    /// What goes into the file of its key.
    pub fn key_pem(&self) -> &str {
        &self.pem.1
    }

    pub fn der(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// For a server that speaks these protocols.
    pub fn server(&self, protocols: &[&str]) -> rustls::ServerConfig {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()));
        let config = rustls::ServerConfig::builder().with_no_client_auth();
        let mut config = config.with_single_cert(vec![self.certificate.clone()], key).unwrap();
        config.alpn_protocols = names(protocols);
        config
    }

    /// For a client that trusts this certificate and no other.
    pub fn client(&self, protocols: &[&str]) -> rustls::ClientConfig {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let mut config = rustls::ClientConfig::builder().with_root_certificates(Arc::new(roots)).with_no_client_auth();
        config.alpn_protocols = names(protocols);
        config
    }
}

impl Default for Certificate {
    fn default() -> Self {
        Self::new()
    }
}

fn names(protocols: &[&str]) -> Vec<Vec<u8>> {
    protocols.iter().map(|name| name.as_bytes().to_vec()).collect()
}
