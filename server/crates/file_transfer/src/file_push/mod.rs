//! Push of reconciliation files to the FTP, FTPS or SFTP servers of merchants.
//!
//! A file is sent under a temporary name and renamed when the server has all of it, so that a receiver sees complete
//! files only. Each step has a time limit. Servers may be hostile: connections go to checked addresses only, and faults
//! contain no replies of a server, which could repeat a password.

mod content;
mod ftp;
pub mod secret;
mod sftp;
mod short_key;
mod ssh;

use std::time::Duration;

use tillgate_domain::delivery::file_push::{HostKeyFingerprint, PushAddress, PushProtocol};
use tillgate_domain::settlement::reconciliation::file::FileName;
use tillgate_gateway::App;
use tillgate_gateway::settlement::reconciliation::has_files;
use tillgate_net::outgoing::OutgoingError;
use tillgate_store::StoreError;
use tillgate_store::delivery::file_delivery::ClaimedPush;
use tillgate_store::delivery::file_push::PushTarget;

use self::content::FileContent;
use self::secret::PushSecret;

pub use ftp::load_ca_certificates;

/// Time limit of a step: a reply, a handshake, or the transfer of a part of a file.
const STEP_LIMIT: Duration = Duration::from_secs(30);
/// Largest number of bytes that are sent within the time limit of a step.
const PART: usize = 64 * 1024;

/// Text in place of one that contains the password.
const WITHHELD: &str = "the reason contains the password";

/// Step of an attempt, for faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushStep {
    /// The server's greeting, or the key exchange of SSH.
    Greeting,
    /// The TLS handshake, and the encryption of data connections.
    Encryption,
    /// The login.
    Login,
    /// The change to the folder.
    Folder,
    /// The beginning of the file.
    Open,
    /// The transfer of the file.
    Transfer,
    /// The request for the size of the file that was sent.
    Size,
    /// The change to the final name.
    Rename,
}

impl std::fmt::Display for PushStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Greeting => "greeting",
            Self::Encryption => "encryption",
            Self::Login => "login",
            Self::Folder => "folder",
            Self::Open => "opening the file",
            Self::Transfer => "transfer",
            Self::Size => "size",
            Self::Rename => "renaming the file",
        })
    }
}

/// Reason why a file was not sent.
#[derive(Debug, thiserror::Error)]
pub enum PushFault {
    /// No connection was made.
    #[error(transparent)]
    Outgoing(#[from] OutgoingError),
    /// A step took too long.
    #[error("{0}: no answer within {limit} seconds", limit = STEP_LIMIT.as_secs())]
    Timeout(PushStep),
    /// The server refused a step, with the code of its reply.
    #[error("{0}: the server refused it with {1}")]
    Refused(PushStep, String),
    /// The connection broke.
    #[error("{0}: the connection failed: {1}")]
    Connection(PushStep, String),
    /// The server does not follow the protocol.
    #[error("{0}: the server's answer is not understood")]
    Protocol(PushStep),
    /// The server's certificate is not valid, or there is no common version of TLS.
    #[error("encryption: {0}")]
    Tls(String),
    /// The server has another host key.
    #[error("the server has the host key {0}, which is not the expected one")]
    HostKey(HostKeyFingerprint),
    /// The server has another number of bytes than were sent.
    #[error("size: the server has {0} of {1} bytes")]
    Size(u64, u64),
    /// The final name is that of another file, which the server does not replace.
    #[error("renaming the file: there is a file of another size with its name")]
    NameTaken,
    /// The stored address, host key or certificate cannot be read.
    #[error("the stored settings cannot be read")]
    Settings,
    /// The stored password or key cannot be opened.
    #[error("the stored password or key cannot be opened")]
    Secret,
    /// The entity is live, and the protocol is FTP without encryption.
    #[error("a live entity needs ftps or sftp")]
    PlainFtp,
    /// The entity has no files any more.
    #[error("the entity has no files")]
    NoFiles,
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Store(#[from] StoreError),
}

impl PushFault {
    /// Withholds a text of a library that contains the password. Such texts name algorithms and certificates of the
    /// server, which knows the password from an earlier attempt.
    fn without_password(self, secret: &PushSecret) -> Self {
        let PushSecret::Password(password) = secret else { return self };
        let withhold = |text: String| if text.contains(password.as_str()) { WITHHELD.to_owned() } else { text };
        match self {
            Self::Connection(step, text) => Self::Connection(step, withhold(text)),
            Self::Tls(text) => Self::Tls(withhold(text)),
            other => other,
        }
    }
}

/// A server with readable settings.
struct PushServer {
    address: PushAddress,
    secret: PushSecret,
    /// The expected host key. Always there for SFTP.
    host_key: Option<HostKeyFingerprint>,
    /// Certificates of issuers in PEM.
    ca: Option<String>,
}

impl PushServer {
    /// Reads the stored settings of a server, and opens the password or key.
    fn open(app: &App, target: &PushTarget) -> Result<Self, PushFault> {
        let address = PushAddress::parse(&target.url).map_err(|_| PushFault::Settings)?;
        let host_key = match &target.host_key {
            Some(text) => Some(HostKeyFingerprint::parse(text).ok_or(PushFault::Settings)?),
            None => None,
        };
        let PushTarget { entity, url, .. } = target;
        let record = PushTarget::record_name(entity, url, target.host_key.as_deref(), target.ca.as_deref());
        let bytes = app.gateway.vault.open(&record, &target.sealed).map_err(|_| PushFault::Secret)?;
        let secret = PushSecret::from_bytes(&bytes).ok_or(PushFault::Secret)?;
        Ok(Self { address, secret, host_key, ca: target.ca.clone() })
    }
}

/// Sends the file of a claimed delivery, and returns when the server has it under its final name. A file that is
/// already there is replaced.
///
/// # Errors
/// The reason why the server does not have the file. It contains no secret and no reply of the server.
pub async fn push_file(app: &App, claim: &ClaimedPush) -> Result<(), PushFault> {
    let entity = app.gateway.directory.find_entity(&claim.target.entity).ok_or(PushFault::NoFiles)?;
    if !has_files(entity.level) {
        return Err(PushFault::NoFiles);
    }
    let server = PushServer::open(app, &claim.target)?;
    // The entity may have become live since the address was set.
    if entity.live && server.address.protocol == PushProtocol::Ftp {
        return Err(PushFault::PlainFtp);
    }
    let name = FileName { entity: entity.id.clone(), day: claim.day };
    let file = app.gateway.store.load_file(&entity.id, claim.day)?.ok_or(PushFault::NoFiles)?;
    let mut content = FileContent::open(&app.gateway, &entity, &file)?;
    let uploaded = match server.address.protocol {
        PushProtocol::Ftp | PushProtocol::Ftps => ftp::upload_file(app, &server, &name, &mut content).await,
        PushProtocol::Sftp => sftp::upload_file(app, &server, &name, &mut content).await,
    };
    uploaded.map_err(|fault| fault.without_password(&server.secret))
}

/// Waits for a step, at most for its time limit.
async fn within_limit<T>(step: PushStep, work: impl Future<Output = T>) -> Result<T, PushFault> {
    tokio::time::timeout(STEP_LIMIT, work).await.map_err(|_| PushFault::Timeout(step))
}

/// Logs that the size of a sent file was not compared, because the server does not tell it.
fn warn_unknown_size(host: &str, fault: &PushFault) {
    tracing::warn!(host, %fault, "a server failed to report the size of a file, so the size was not compared");
}

/// Returns a text of a library for a log line: without control characters, and at most 200 characters.
fn clean_text(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_with_the_password_is_withheld() {
        let secret = PushSecret::parse_password("ovenfresh").unwrap();
        let text = || "theirs: [\"ovenfresh\"]".to_owned();
        for fault in [PushFault::Connection(PushStep::Greeting, text()), PushFault::Tls(text())] {
            let shown = fault.without_password(&secret).to_string();
            assert!(shown.ends_with(WITHHELD) && !shown.contains("ovenfresh"), "{shown}");
        }
        let other = PushFault::Tls("certificate not valid for name".to_owned()).without_password(&secret);
        assert_eq!(other.to_string(), "encryption: certificate not valid for name");
    }

    #[test]
    fn a_text_for_the_log_is_one_short_line() {
        assert_eq!(clean_text("one\r\ntwo\u{1b}"), "one  two ");
        assert_eq!(clean_text(&"é".repeat(1000)).chars().count(), 200);
    }
}
