//! SSH connections: key exchange, host key and login.

use std::borrow::Cow;
use std::io;
use std::net::Shutdown;
use std::sync::Arc;

use russh::client::{self, AuthResult, Handle, KeyboardInteractiveAuthResponse};
use russh::keys::ssh_key::Fingerprint;
use russh::keys::{Algorithm, EcdsaCurve, HashAlg, PrivateKeyWithHashAlg, PublicKeyOrCertificate, decode_secret_key};
use russh::{MethodKind, Preferred, SshId, kex};
use tillgate_domain::delivery::file_push::HostKeyFingerprint;
use tillgate_gateway::App;
use tokio::net::TcpStream;

use super::secret::PushSecret;
use super::{PushFault, PushServer, PushStep, STEP_LIMIT, clean_text, within_limit};

/// Number of channel messages that wait for this program. Small, because a server sends little.
const BUFFERED_MESSAGES: usize = 16;
/// Number of questions of a server in a login, some of which have no prompt.
const MAX_QUESTIONS: usize = 4;

/// Kinds of host keys, the preferred one first. RSA is left out with its crate, which has an advisory without a fixed
/// version (RUSTSEC-2023-0071).
const HOST_KEYS: [Algorithm; 4] = [
    Algorithm::Ed25519,
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 },
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP384 },
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP521 },
];

/// Key exchanges, the preferred one first. Those of the NIST curves are the only ones of some appliances, which follow
/// FIPS 140.
const KEY_EXCHANGES: [kex::Name; 14] = [
    kex::MLKEM768X25519_SHA256,
    kex::CURVE25519,
    kex::CURVE25519_PRE_RFC_8731,
    kex::ECDH_SHA2_NISTP256,
    kex::ECDH_SHA2_NISTP384,
    kex::ECDH_SHA2_NISTP521,
    kex::DH_GEX_SHA256,
    kex::DH_G18_SHA512,
    kex::DH_G17_SHA512,
    kex::DH_G16_SHA512,
    kex::DH_G15_SHA512,
    kex::DH_G14_SHA256,
    kex::EXTENSION_SUPPORT_AS_CLIENT,
    kex::EXTENSION_OPENSSH_STRICT_KEX_AS_CLIENT,
];

/// Checks the host key of a server, and refuses everything that a server requests.
pub(super) struct HostKeyCheck {
    expected: HostKeyFingerprint,
}

/// Reason why an SSH connection ends.
#[derive(Debug)]
pub(super) enum SshFault {
    /// The host key is another one, of this kind.
    HostKey(HostKeyFingerprint, Algorithm),
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
    pub(super) fn at(self, step: PushStep) -> PushFault {
        match self {
            Self::HostKey(found, _) => PushFault::HostKey(found),
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
        if found == self.expected { Ok(true) } else { Err(SshFault::HostKey(found, key.algorithm())) }
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
pub(super) struct ConnectionGuard(std::net::TcpStream);

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

/// Connects, exchanges keys, checks the host key, and logs in.
pub(super) async fn open_session(
    app: &App,
    server: &PushServer,
) -> Result<(Handle<HostKeyCheck>, ConnectionGuard), PushFault> {
    let (mut ssh, guard) = connect_to_expected_key(app, server).await?;
    match within_limit(PushStep::Login, log_in(&mut ssh, server)).await? {
        Ok(LoginResult::Accepted) => Ok((ssh, guard)),
        Ok(LoginResult::Refused) => Err(PushFault::Refused(PushStep::Login, "wrong user, password or key".to_owned())),
        Ok(LoginResult::Question) => {
            Err(PushFault::Refused(PushStep::Login, "a question besides the password".to_owned()))
        }
        Err(fault) => Err(fault.at(PushStep::Login)),
    }
}

/// Connects to a server and exchanges keys. A server with several host keys shows the one that is preferred, and a
/// fingerprint does not tell its kind. So after another key than the expected one, the server is asked again without
/// keys of that kind, until it shows the expected one or has no more.
async fn connect_to_expected_key(
    app: &App,
    server: &PushServer,
) -> Result<(Handle<HostKeyCheck>, ConnectionGuard), PushFault> {
    let mut kinds = HOST_KEYS.to_vec();
    let mut first_found = None;
    loop {
        let attempt = exchange_keys(app, server, &kinds).await?;
        match attempt {
            Ok(connected) => return Ok(connected),
            Err(SshFault::HostKey(found, kind)) if kinds.contains(&kind) => {
                kinds.retain(|other| *other != kind);
                let found = *first_found.get_or_insert(found);
                if kinds.is_empty() {
                    return Err(PushFault::HostKey(found));
                }
            }
            // The server has no key of the other kinds.
            Err(fault) => return Err(first_found.map_or_else(|| fault.at(PushStep::Greeting), PushFault::HostKey)),
        }
    }
}

/// Connects and exchanges keys, with a host key of these kinds.
async fn exchange_keys(
    app: &App,
    server: &PushServer,
    kinds: &[Algorithm],
) -> Result<Result<(Handle<HostKeyCheck>, ConnectionGuard), SshFault>, PushFault> {
    let address = &server.address;
    let stream = app.outgoing.connect(&address.host, address.port, address.protocol.usual_port()).await?;
    let guarded = ConnectionGuard::new(stream);
    let (stream, guard) = guarded.map_err(|error| PushFault::Connection(PushStep::Greeting, error.to_string()))?;
    let check = HostKeyCheck { expected: server.host_key.ok_or(PushFault::Settings)? };
    let preferred =
        Preferred { kex: Cow::Borrowed(&KEY_EXCHANGES), key: Cow::Owned(kinds.to_vec()), ..Preferred::DEFAULT };
    let config = client::Config {
        client_id: SshId::Standard(Cow::Borrowed("SSH-2.0-Tillgate")),
        preferred,
        inactivity_timeout: Some(STEP_LIMIT * 2),
        channel_buffer_size: BUFFERED_MESSAGES,
        ..client::Config::default()
    };
    let connected = within_limit(PushStep::Greeting, client::connect_stream(Arc::new(config), stream, check)).await?;
    Ok(connected.map(|ssh| (ssh, guard)))
}

/// Result of a login.
enum LoginResult {
    Accepted,
    /// The user, password or key is wrong.
    Refused,
    /// The server wants to know more than the password.
    Question,
}

impl From<AuthResult> for LoginResult {
    fn from(result: AuthResult) -> Self {
        if result.success() { Self::Accepted } else { Self::Refused }
    }
}

async fn log_in(ssh: &mut Handle<HostKeyCheck>, server: &PushServer) -> Result<LoginResult, SshFault> {
    let user = server.address.user.as_str();
    match &server.secret {
        PushSecret::Password(password) => log_in_with_password(ssh, user, password.as_str()).await,
        PushSecret::PrivateKey(key) => {
            let key = decode_secret_key(key, None).map_err(|_| SshFault::NoHostKey)?;
            let key = PrivateKeyWithHashAlg::new(Arc::new(key), None);
            Ok(ssh.authenticate_publickey(user, key).await?.into())
        }
    }
}

/// Logs in with a password, by the methods that the server offers.
async fn log_in_with_password(
    ssh: &mut Handle<HostKeyCheck>,
    user: &str,
    password: &str,
) -> Result<LoginResult, SshFault> {
    let AuthResult::Failure { remaining_methods, .. } = ssh.authenticate_none(user).await? else {
        return Ok(LoginResult::Accepted);
    };
    let takes_answers = remaining_methods.contains(&MethodKind::KeyboardInteractive);
    if remaining_methods.contains(&MethodKind::Password) || !takes_answers {
        let result = LoginResult::from(ssh.authenticate_password(user, password).await?);
        if matches!(result, LoginResult::Accepted) || !takes_answers {
            return Ok(result);
        }
    }
    answer_questions(ssh, user, password).await
}

/// Logs in by the method keyboard-interactive: the password answers the one prompt whose answer is hidden. Requests
/// without a prompt are answered with nothing, and everything else ends the login.
async fn answer_questions(ssh: &mut Handle<HostKeyCheck>, user: &str, password: &str) -> Result<LoginResult, SshFault> {
    let mut password = Some(password.to_owned());
    let mut response = ssh.authenticate_keyboard_interactive_start(user, None::<String>).await?;
    for _ in 0..MAX_QUESTIONS {
        let answers = match response {
            KeyboardInteractiveAuthResponse::Success => return Ok(LoginResult::Accepted),
            KeyboardInteractiveAuthResponse::Failure { .. } => return Ok(LoginResult::Refused),
            KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } => match prompts.as_slice() {
                [] => Vec::new(),
                [prompt] if !prompt.echo && password.is_some() => password.take().into_iter().collect(),
                _ => return Ok(LoginResult::Question),
            },
        };
        response = ssh.authenticate_keyboard_interactive_respond(answers).await?;
    }
    Ok(match response {
        KeyboardInteractiveAuthResponse::Success => LoginResult::Accepted,
        _ => LoginResult::Refused,
    })
}
