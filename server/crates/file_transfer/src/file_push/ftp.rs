//! Upload by FTP and FTPS, with data connections to the address of the control connection only.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use hyper_rustls::ConfigBuilderExt as _;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use suppaftp::tokio::{AsyncRustlsConnector, AsyncRustlsFtpStream};
use suppaftp::types::FileType;
use suppaftp::{FtpError, Mode};
use tillgate_domain::delivery::file_push::PushProtocol;
use tillgate_domain::delivery::file_push::partial_name;
use tillgate_domain::settlement::reconciliation::file::FileName;
use tillgate_gateway::App;
use tillgate_net::outgoing::Ports;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::content::FileContent;
use super::secret::PushSecret;
use super::{PushFault, PushServer, PushStep, clean_text, warn_unknown_size, within_limit};

/// Uploads a file under a temporary name, compares its size, and renames it.
///
/// # Errors
/// The reason why the server does not have the file.
pub(super) async fn upload_file(
    app: &App,
    server: &PushServer,
    name: &FileName,
    content: &mut FileContent<'_>,
) -> Result<(), PushFault> {
    let mut ftp = open_session(app, server).await?;
    log_in(&mut ftp, server).await?;
    let (name, partial) = (name.to_string(), partial_name(name));
    store_file(&mut ftp, &partial, content).await?;
    match run_step(PushStep::Size, ftp.size(&partial)).await {
        Ok(size) => check_size(size, content.size)?,
        // The size is an extension (RFC 3659). A server without it has confirmed the transfer.
        Err(fault @ PushFault::Refused(..)) => warn_unknown_size(&server.address.host, &fault),
        Err(fault) => return Err(fault),
    }
    rename_file(&mut ftp, &partial, &name, content.size).await?;
    // The file is there, so the server's answer does not matter.
    let _ = run_step(PushStep::Rename, ftp.quit()).await;
    Ok(())
}

/// Connects and encrypts.
async fn open_session(app: &App, server: &PushServer) -> Result<AsyncRustlsFtpStream, PushFault> {
    let address = &server.address;
    let stream = app.outgoing.connect(&address.host, address.port, address.protocol.usual_port()).await?;
    let peer = stream.peer_addr().map_err(|error| PushFault::Connection(PushStep::Greeting, error.to_string()))?.ip();
    let ports = app.outgoing.ports.clone();
    let greeting = AsyncRustlsFtpStream::connect_with_stream(stream);
    let mut ftp = run_step(PushStep::Greeting, greeting).await?;
    if address.protocol == PushProtocol::Ftps {
        let connector = AsyncRustlsConnector::from(build_connector(server.ca.as_deref())?);
        ftp = run_step(PushStep::Encryption, ftp.into_secure(connector, &address.host)).await?;
    }
    ftp.set_mode(if peer.to_canonical().is_ipv4() { Mode::Passive } else { Mode::ExtendedPassive });
    Ok(ftp.passive_stream_builder(move |announced| {
        let ports = ports.clone();
        Box::pin(async move { connect_data(peer, announced.port(), &ports).await })
    }))
}

/// Opens a data connection to the address of the control connection, whichever address the server announces.
async fn connect_data(peer: IpAddr, port: u16, ports: &Ports) -> Result<TcpStream, FtpError> {
    if !ports.allows(port) {
        return Err(FtpError::ConnectionError(io::Error::other(format!("port {port} is not allowed"))));
    }
    TcpStream::connect(SocketAddr::new(peer, port)).await.map_err(FtpError::ConnectionError)
}

/// Builds a connector that trusts these certificates in PEM, or the system's ones with `None`.
fn build_connector(ca: Option<&str>) -> Result<TlsConnector, PushFault> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| PushFault::Tls(error.to_string()))?;
    let builder = match ca {
        Some(ca) => builder.with_root_certificates(load_ca_certificates(ca).ok_or(PushFault::Settings)?),
        None => builder.try_with_platform_verifier().map_err(|error| PushFault::Tls(error.to_string()))?,
    };
    Ok(TlsConnector::from(Arc::new(builder.with_no_client_auth())))
}

/// Reads certificates in PEM as trusted ones. Returns `None` if there is none, or one is not valid.
pub fn load_ca_certificates(pem: &str) -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        roots.add(certificate.ok()?).ok()?;
    }
    (!roots.is_empty()).then_some(roots)
}

/// Logs in, and changes to the folder.
async fn log_in(ftp: &mut AsyncRustlsFtpStream, server: &PushServer) -> Result<(), PushFault> {
    let PushSecret::Password(password) = &server.secret else { return Err(PushFault::Settings) };
    run_step(PushStep::Login, ftp.login(server.address.user.as_str(), password.as_str())).await?;
    run_step(PushStep::Login, ftp.transfer_type(FileType::Binary)).await?;
    if !server.address.folder.is_empty() {
        run_step(PushStep::Folder, ftp.cwd(&server.address.folder)).await?;
    }
    Ok(())
}

/// Sends the content under a name, part by part.
async fn store_file(
    ftp: &mut AsyncRustlsFtpStream,
    name: &str,
    content: &mut FileContent<'_>,
) -> Result<(), PushFault> {
    let mut transfer = run_step(PushStep::Open, ftp.put_with_stream(name)).await?;
    loop {
        let part = content.read_part().await?;
        if part.is_empty() {
            break;
        }
        let written = within_limit(PushStep::Transfer, transfer.write_all(part)).await?;
        written.map_err(|error| PushFault::Connection(PushStep::Transfer, clean_text(&error.to_string())))?;
    }
    run_step(PushStep::Transfer, transfer.finish()).await
}

/// Gives a file its final name. Some servers replace no file: then a file of the same size is deleted first, which an
/// attempt before has left.
async fn rename_file(ftp: &mut AsyncRustlsFtpStream, partial: &str, name: &str, size: u64) -> Result<(), PushFault> {
    let refused = match run_step(PushStep::Rename, ftp.rename(partial, name)).await {
        Err(fault @ PushFault::Refused(..)) => fault,
        renamed => return renamed,
    };
    match run_step(PushStep::Rename, ftp.size(name)).await {
        Ok(found) if u64::try_from(found) == Ok(size) => {
            run_step(PushStep::Rename, ftp.rm(name)).await?;
            run_step(PushStep::Rename, ftp.rename(partial, name)).await
        }
        Ok(_) => Err(PushFault::NameTaken),
        Err(_) => Err(refused),
    }
}

fn check_size(found: usize, expected: u64) -> Result<(), PushFault> {
    let found = u64::try_from(found).unwrap_or(u64::MAX);
    if found == expected { Ok(()) } else { Err(PushFault::Size(found, expected)) }
}

/// Waits for a step of the library, and converts its error.
async fn run_step<T>(step: PushStep, work: impl Future<Output = Result<T, FtpError>>) -> Result<T, PushFault> {
    within_limit(step, work).await?.map_err(|error| match error {
        FtpError::ConnectionError(error) => PushFault::Connection(step, clean_text(&error.to_string())),
        FtpError::SecureError(text) => PushFault::Tls(clean_text(&text)),
        // The text of the reply is left out, because it may repeat the password.
        FtpError::UnexpectedResponse(reply) => PushFault::Refused(step, reply.status.code().to_string()),
        FtpError::BadResponse | FtpError::InvalidAddress(_) | FtpError::DataConnectionAlreadyOpen => {
            PushFault::Protocol(step)
        }
    })
}
