//! New connections to a host: name resolution, TCP and TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tillgate_os::text_file::read_text_file;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::config::{LineAddress, LineConfig, LineConfigError, LineSecurity};

/// Maximum size of a CA file, in bytes.
const MAX_CA_FILE: u64 = 1024 * 1024;
/// Maximum number of a name's addresses that are tried. Each has an equal share of the time limit.
const MAX_ADDRESSES: usize = 8;

/// A connected stream, encrypted or not.
pub(super) trait HostStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> HostStream for T {}

/// Connects to the host of one line.
pub(super) struct LineConnector {
    address: LineAddress,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    limit: Duration,
}

impl LineConnector {
    /// Creates the connector of a line, and reads its CA file.
    ///
    /// # Errors
    /// If the CA file, the host name or the machine's certificates cannot be used.
    pub(super) fn new(config: &LineConfig) -> Result<Self, LineConfigError> {
        let address = config.address.clone();
        let tls = match &config.security {
            LineSecurity::Plain => None,
            LineSecurity::Tls { ca_file } => {
                let name = ServerName::try_from(address.host.clone())
                    .map_err(|_| LineConfigError::HostName(address.host.clone()))?;
                Some((build_tls(ca_file.as_deref())?, name))
            }
        };
        Ok(Self { address, tls, limit: config.limits.connect_timeout })
    }

    /// Returns true if written bytes pass through a buffer of TLS.
    pub(super) fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Connects to the host.
    ///
    /// # Errors
    /// The reason in plain words.
    pub(super) async fn connect(&self) -> Result<Box<dyn HostStream>, String> {
        let deadline = Instant::now() + self.limit;
        let host = &self.address;
        let late = |_| format!("connecting to {host} took longer than {} ms", self.limit.as_millis());
        let addresses = timeout_at(deadline, self.resolve_host()).await.map_err(late)??;
        let stream = self.connect_any(&addresses, deadline).await?;
        // Requests are short, and none may wait for the acknowledgement of an earlier one.
        let _ = stream.set_nodelay(true);
        let Some((connector, name)) = &self.tls else { return Ok(Box::new(stream)) };
        let handshake = timeout_at(deadline, connector.connect(name.clone(), stream)).await;
        match handshake.map_err(late)? {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(format!("the TLS handshake with {host} failed: {}", describe_tls_error(&error))),
        }
    }

    /// Resolves the host to at least one address.
    async fn resolve_host(&self) -> Result<Vec<SocketAddr>, String> {
        let LineAddress { host, port } = &self.address;
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, *port)]);
        }
        let found = tokio::net::lookup_host((host.as_str(), *port)).await;
        let found = found.map_err(|error| format!("the host name {host} cannot be resolved: {error}"))?;
        let addresses: Vec<SocketAddr> = found.take(MAX_ADDRESSES).collect();
        if addresses.is_empty() { Err(format!("the host name {host} has no address")) } else { Ok(addresses) }
    }

    /// Connects to the first address that answers.
    async fn connect_any(&self, addresses: &[SocketAddr], deadline: Instant) -> Result<TcpStream, String> {
        let mut fault = format!("the host name {} has no address", self.address.host);
        let mut left = u32::try_from(addresses.len()).unwrap_or(u32::MAX);
        for address in addresses {
            // A share of the time for each address, so that a silent one leaves time to the others.
            let now = Instant::now();
            let limit = deadline.saturating_duration_since(now) / left.max(1);
            left = left.saturating_sub(1);
            match timeout_at(now + limit, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => fault = format!("connecting to {address} failed: {error}"),
                Err(_) => fault = format!("connecting to {address} took longer than {} ms", limit.as_millis()),
            }
        }
        Err(fault)
    }
}

/// Builds a TLS connector that trusts the certificates of a file, or the machine's certificates.
fn build_tls(ca_file: Option<&Path>) -> Result<TlsConnector, LineConfigError> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?;
    let builder = match ca_file {
        Some(file) => builder.with_root_certificates(load_ca_file(file)?),
        None => builder.with_platform_verifier()?,
    };
    Ok(TlsConnector::from(Arc::new(builder.with_no_client_auth())))
}

/// Loads the trusted certificates of a file in PEM.
fn load_ca_file(file: &Path) -> Result<RootCertStore, LineConfigError> {
    let refuse = |reason: String| LineConfigError::CaFile { file: file.to_owned(), reason };
    let text = read_text_file(file, MAX_CA_FILE).map_err(|error| refuse(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
        let certificate = certificate.map_err(|error| refuse(error.to_string()))?;
        roots.add(certificate).map_err(|error| refuse(error.to_string()))?;
    }
    if roots.is_empty() { Err(refuse("the file has no certificate".to_owned())) } else { Ok(roots) }
}

/// Describes the error of a handshake so that an operator can see which setting to correct.
fn describe_tls_error(error: &io::Error) -> String {
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            "its certificate is from an issuer that is not trusted; check the CA file".to_owned()
        }
        Some(rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => "its certificate is for another host name".to_owned(),
        _ => error.to_string(),
    }
}
