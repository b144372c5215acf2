//! What the tests share: a certificate for `localhost`, and the two ends of TLS that trust each other by it; a
//! directory; servers of other projects, and PostgreSQL among them.

mod directory;
mod postgres;
mod server;

use std::sync::Arc;

pub use directory::Directory;
pub use postgres::Postgres;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
pub use server::{Server, command, free_port};

/// A certificate for `localhost` that nobody else trusts, made anew for each test.
pub struct Certificate {
    made: rcgen::CertifiedKey<rcgen::KeyPair>,
}

impl Certificate {
    /// Makes one, and sees to it that rustls has its cryptography.
    pub fn new() -> Self {
        // The second time it is there already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Certificate { made: rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap() }
    }

    pub fn der(&self) -> &CertificateDer<'static> {
        self.made.cert.der()
    }

    pub fn pem(&self) -> String {
        self.made.cert.pem()
    }

    /// The secret half.
    pub fn key_pem(&self) -> String {
        self.made.signing_key.serialize_pem()
    }

    /// For a server that speaks these protocols.
    pub fn server(&self, protocols: &[&str]) -> rustls::ServerConfig {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.made.signing_key.serialize_der()));
        let config = rustls::ServerConfig::builder().with_no_client_auth();
        let mut config = config.with_single_cert(vec![self.der().clone()], key).unwrap();
        config.alpn_protocols = names(protocols);
        config
    }

    /// For a client that trusts this certificate and no other.
    pub fn client(&self, protocols: &[&str]) -> rustls::ClientConfig {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.der().clone()).unwrap();
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
