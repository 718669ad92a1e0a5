//! The certificate of the FTP server. It is read again after its files have changed, so a renewed certificate needs no
//! restart.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::Context as _;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tillgate_os::text_file::read_text_file;

use super::tls::FtpTls;

/// Largest size of a file, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// Files in PEM: a certificate with those of its issuers, and its private key.
#[derive(Debug, Clone)]
pub struct CertificateFiles {
    /// The file of the certificates.
    pub certificate: PathBuf,
    /// The file of the key.
    pub key: PathBuf,
}

/// The latest readable certificate of two files.
#[derive(Debug)]
struct ReloadedCertificate {
    files: CertificateFiles,
    latest: Mutex<LoadedCertificate>,
}

#[derive(Debug)]
struct LoadedCertificate {
    certified: Arc<CertifiedKey>,
    /// The times of the files when they were last read, also if they could not be used.
    changed: [Option<SystemTime>; 2],
}

impl CertificateFiles {
    /// Loads the certificate, and returns TLS with it.
    ///
    /// # Errors
    /// If a file cannot be read, or the key is not that of the certificate.
    pub fn load_tls(&self) -> anyhow::Result<FtpTls> {
        let latest = LoadedCertificate { changed: self.read_times(), certified: self.load_key()? };
        let resolver = ReloadedCertificate { files: self.clone(), latest: Mutex::new(latest) };
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(resolver));
        Ok(FtpTls::new(config))
    }

    /// Reads both files.
    fn load_key(&self) -> anyhow::Result<Arc<CertifiedKey>> {
        let read_chain = || -> anyhow::Result<Vec<CertificateDer<'static>>> {
            let text = read_text_file(&self.certificate, MAX_FILE)?;
            Ok(CertificateDer::pem_slice_iter(text.as_bytes()).collect::<Result<_, _>>()?)
        };
        let read_key = || -> anyhow::Result<PrivateKeyDer<'static>> {
            Ok(PrivateKeyDer::from_pem_slice(read_text_file(&self.key, MAX_FILE)?.as_bytes())?)
        };
        let chain = read_chain().with_context(|| format!("reading the certificate {}", self.certificate.display()))?;
        let key = read_key().with_context(|| format!("reading the key {}", self.key.display()))?;
        let certified = CertifiedKey::from_der(chain, key, &ring::default_provider())
            .with_context(|| format!("using the certificate {}", self.certificate.display()))?;
        Ok(Arc::new(certified))
    }

    /// Returns the times at which the files were changed.
    fn read_times(&self) -> [Option<SystemTime>; 2] {
        [&self.certificate, &self.key].map(|file| file.metadata().and_then(|data| data.modified()).ok())
    }
}

impl ResolvesServerCert for ReloadedCertificate {
    /// Returns the certificate for a connection. Files that cannot be used are told in the log once, and the earlier
    /// certificate stays.
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = self.files.read_times();
        if changed != latest.changed {
            latest.changed = changed;
            match self.files.load_key() {
                Ok(certified) => {
                    latest.certified = certified;
                    tracing::info!("the FTP server uses the changed certificate");
                }
                Err(error) => {
                    tracing::warn!(error = format!("{error:#}"), "the FTP server keeps the earlier certificate");
                }
            }
        }
        Some(Arc::clone(&latest.certified))
    }
}
