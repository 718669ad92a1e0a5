//! TLS of the FTP server. Each session has ticket keys of its own, so a data connection that resumes a TLS session has
//! resumed that of its control connection.

use std::sync::Arc;

use rustls::crypto::ring::Ticketer;
use rustls::server::{ServerConfig, ServerConnection, ServerSessionMemoryCache};
use rustls::{Error, HandshakeKind};
use tokio_rustls::TlsAcceptor;

/// Number of TLS sessions without tickets that a client of TLS 1.2 can resume in a session.
const CACHED_SESSIONS: usize = 4;

/// TLS with the operator's certificate.
pub struct FtpTls {
    config: ServerConfig,
}

/// TLS of one session of the FTP server.
#[derive(Clone)]
pub(super) struct SessionTls {
    acceptor: TlsAcceptor,
}

impl FtpTls {
    /// Creates TLS from a configuration with a certificate.
    pub fn new(config: ServerConfig) -> Self {
        Self { config }
    }

    /// Creates the TLS of a session, with keys that no other session has.
    pub(super) fn create_session(&self) -> Result<SessionTls, Error> {
        let mut config = self.config.clone();
        // A ticket can be used several times: clients resume the session of the control connection for each file.
        config.ticketer = Ticketer::new()?;
        config.session_storage = ServerSessionMemoryCache::new(CACHED_SESSIONS);
        Ok(SessionTls { acceptor: TlsAcceptor::from(Arc::new(config)) })
    }
}

impl SessionTls {
    /// Returns what accepts the connections of the session.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.clone()
    }
}

/// Returns true if a connection has resumed a TLS session, which only a client with the keys of that session can.
pub(super) fn is_resumed(connection: &ServerConnection) -> bool {
    connection.handshake_kind() == Some(HandshakeKind::Resumed)
}
