//! Upload by SFTP.

use std::borrow::Cow;
use std::io;
use std::net::Shutdown;
use std::sync::Arc;

use russh::client::{self, Handle};
use russh::keys::ssh_key::Fingerprint;
use russh::keys::{Algorithm, EcdsaCurve, HashAlg, PrivateKeyWithHashAlg, PublicKeyOrCertificate, decode_secret_key};
use russh::{Preferred, SshId};
use russh_sftp::client::error::Error as SftpError;
use russh_sftp::client::{Config as SftpConfig, SftpSession};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::content::FileContent;
use super::secret::PushSecret;
use super::{PushFault, PushServer, PushStep, STEP_LIMIT, clean_text, within_limit};
use crate::app::App;
use crate::domain::file_push::{HostKeyFingerprint, partial_name};
use crate::domain::reconciliation::file::FileName;

/// Number of channel messages that wait for this program. Small, because a server sends little.
const BUFFERED_MESSAGES: usize = 16;
/// Number of writes that wait for the server's confirmation.
const WRITES_AT_ONCE: usize = 16;

/// Kinds of host keys, the preferred one first. RSA is left out with its crate, which has an advisory without a fixed
/// version (RUSTSEC-2023-0071).
const HOST_KEYS: [Algorithm; 4] = [
    Algorithm::Ed25519,
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 },
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP384 },
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP521 },
];

/// Checks the host key of a server, and refuses everything that a server requests.
struct HostKeyCheck {
    expected: HostKeyFingerprint,
}

/// Reason why an SSH connection ends.
#[derive(Debug)]
enum SshFault {
    /// The host key is another one.
    HostKey(HostKeyFingerprint),
    /// The server has only a certificate, or its key has no fingerprint.
    NoHostKey,
    /// The library's error.
    Ssh(russh::Error),
}

impl From<russh::Error> for SshFault {
    fn from(error: russh::Error) -> Self {
        Self::Ssh(error)
    }
}

impl SshFault {
    /// Converts the fault of a step.
    fn at(self, step: PushStep) -> PushFault {
        match self {
            Self::HostKey(found) => PushFault::HostKey(found),
            Self::NoHostKey => PushFault::Protocol(step),
            Self::Ssh(error) => PushFault::Connection(step, clean_text(&error.to_string())),
        }
    }
}

/// Refuses a channel that the server wants to open. `reply` is dropped, which refuses it. Without this, the library
/// accepts any number of channels.
macro_rules! refuse_channels {
    ($($name:ident($($argument:ty),*)),* $(,)?) => {
        $(
            async fn $name(
                &mut self,
                _: russh::Channel<client::Msg>,
                $(_: $argument,)*
                _: client::ChannelOpenHandle,
                _: &mut client::Session,
            ) -> Result<(), SshFault> {
                Ok(())
            }
        )*
    };
}

impl client::Handler for HostKeyCheck {
    type Error = SshFault;

    async fn check_server_key(&mut self, key: &PublicKeyOrCertificate) -> Result<bool, SshFault> {
        let PublicKeyOrCertificate::PublicKey { key, .. } = key else { return Err(SshFault::NoHostKey) };
        let Fingerprint::Sha256(digest) = key.fingerprint(HashAlg::Sha256) else { return Err(SshFault::NoHostKey) };
        let found = HostKeyFingerprint::from(digest);
        if found == self.expected { Ok(true) } else { Err(SshFault::HostKey(found)) }
    }

    refuse_channels!(
        server_channel_open_forwarded_tcpip(&str, u32, &str, u32),
        server_channel_open_forwarded_streamlocal(&str),
        server_channel_open_agent_forward(),
        server_channel_open_session(),
        server_channel_open_direct_tcpip(&str, u32, &str, u32),
        server_channel_open_direct_streamlocal(&str),
        server_channel_open_x11(&str, u32),
    );
}

/// Shuts a connection down when it is dropped. The library's task would otherwise wait for a server that stalls.
struct ConnectionGuard(std::net::TcpStream);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        // A connection that has ended already is as good.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl ConnectionGuard {
    /// Guards a connection. Returns it with its guard.
    fn new(stream: TcpStream) -> io::Result<(TcpStream, Self)> {
        let stream = stream.into_std()?;
        let guard = Self(stream.try_clone()?);
        Ok((TcpStream::from_std(stream)?, guard))
    }
}

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
    let address = &server.address;
    let stream = app.outgoing.connect(&address.host, address.port, address.protocol.usual_port()).await?;
    let guarded = ConnectionGuard::new(stream);
    let (stream, _guard) = guarded.map_err(|error| PushFault::Connection(PushStep::Greeting, error.to_string()))?;
    let ssh = open_session(stream, server).await?;
    let sftp = open_sftp(&ssh).await?;
    let path = |name: &str| match address.folder.as_str() {
        "" => name.to_owned(),
        folder if folder.ends_with('/') => format!("{folder}{name}"),
        folder => format!("{folder}/{name}"),
    };
    let (name, partial) = (path(&name.to_string()), path(&partial_name(name)));
    store_file(&sftp, &partial, content).await?;
    let found = find_size(&sftp, PushStep::Size, &partial).await?;
    if found != content.size {
        return Err(PushFault::Size(found, content.size));
    }
    rename_file(&sftp, &partial, &name, content.size).await
}

/// Exchanges keys, checks the host key, and logs in.
async fn open_session(stream: TcpStream, server: &PushServer) -> Result<Handle<HostKeyCheck>, PushFault> {
    let check = HostKeyCheck { expected: server.host_key.ok_or(PushFault::Settings)? };
    let config = client::Config {
        client_id: SshId::Standard(Cow::Borrowed("SSH-2.0-Tillgate")),
        preferred: Preferred { key: Cow::Borrowed(&HOST_KEYS), ..Preferred::DEFAULT },
        inactivity_timeout: Some(STEP_LIMIT * 2),
        channel_buffer_size: BUFFERED_MESSAGES,
        ..client::Config::default()
    };
    let connected = within_limit(PushStep::Greeting, client::connect_stream(Arc::new(config), stream, check)).await?;
    let mut ssh = connected.map_err(|fault| fault.at(PushStep::Greeting))?;
    let user = server.address.user.as_str();
    let result = within_limit(PushStep::Login, async {
        match &server.secret {
            PushSecret::Password(password) => {
                ssh.authenticate_password(user, password.as_str()).await.map_err(SshFault::from)
            }
            PushSecret::PrivateKey(key) => {
                let key = decode_secret_key(key, None).map_err(|_| SshFault::NoHostKey)?;
                let key = PrivateKeyWithHashAlg::new(Arc::new(key), None);
                ssh.authenticate_publickey(user, key).await.map_err(SshFault::from)
            }
        }
    });
    match result.await?.map_err(|fault| fault.at(PushStep::Login))? {
        result if result.success() => Ok(ssh),
        _ => Err(PushFault::Refused(PushStep::Login, "wrong user, password or key".to_owned())),
    }
}

/// Starts the server's SFTP.
async fn open_sftp(ssh: &Handle<HostKeyCheck>) -> Result<SftpSession, PushFault> {
    let step = PushStep::Login;
    let opened = within_limit(step, async {
        let channel = ssh.channel_open_session().await?;
        channel.request_subsystem(true, "sftp").await?;
        Ok::<_, russh::Error>(channel)
    });
    let channel = opened.await?.map_err(|error| SshFault::Ssh(error).at(step))?;
    let config = SftpConfig {
        request_timeout_secs: STEP_LIMIT.as_secs(),
        max_concurrent_writes: WRITES_AT_ONCE,
        ..SftpConfig::default()
    };
    run_step(step, SftpSession::new_with_config(channel.into_stream(), config)).await
}

/// Sends the content under a name, part by part.
async fn store_file(sftp: &SftpSession, name: &str, content: &mut FileContent<'_>) -> Result<(), PushFault> {
    let mut file = run_step(PushStep::Open, sftp.create(name)).await?;
    // The library reports refused writes as errors of the connection, with the server's text.
    let refused = |_: io::Error| PushFault::Refused(PushStep::Transfer, "an error".to_owned());
    loop {
        let part = content.read_part().await?;
        if part.is_empty() {
            break;
        }
        within_limit(PushStep::Transfer, file.write_all(part)).await?.map_err(refused)?;
    }
    within_limit(PushStep::Transfer, file.close()).await?.map_err(refused)
}

/// Gives a file its final name. Servers may refuse to replace a file: then a file of the same size is deleted first,
/// which an attempt before has left.
async fn rename_file(sftp: &SftpSession, partial: &str, name: &str, size: u64) -> Result<(), PushFault> {
    let refused = match run_step(PushStep::Rename, sftp.rename(partial, name)).await {
        Err(fault @ PushFault::Refused(..)) => fault,
        renamed => return renamed,
    };
    match find_size(sftp, PushStep::Rename, name).await {
        Ok(found) if found == size => {
            run_step(PushStep::Rename, sftp.remove_file(name)).await?;
            run_step(PushStep::Rename, sftp.rename(partial, name)).await
        }
        Ok(_) => Err(PushFault::NameTaken),
        Err(_) => Err(refused),
    }
}

/// Returns the size of a file of the server.
async fn find_size(sftp: &SftpSession, step: PushStep, name: &str) -> Result<u64, PushFault> {
    let metadata = run_step(step, sftp.metadata(name)).await?;
    metadata.size.ok_or(PushFault::Protocol(step))
}

/// Waits for a step of the library, and converts its error.
async fn run_step<T>(step: PushStep, work: impl Future<Output = Result<T, SftpError>>) -> Result<T, PushFault> {
    within_limit(step, work).await?.map_err(|error| match error {
        // The text of the status is left out, because it may repeat the password.
        SftpError::Status(status) => PushFault::Refused(step, status.status_code.to_string()),
        SftpError::Timeout => PushFault::Timeout(step),
        SftpError::IO(text) => PushFault::Connection(step, clean_text(&text)),
        SftpError::Limited(_) | SftpError::UnexpectedPacket | SftpError::UnexpectedBehavior(_) => {
            PushFault::Protocol(step)
        }
    })
}
