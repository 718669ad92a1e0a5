//! The FTP server: merchants fetch their reconciliation files with any FTP client, encrypted by TLS.
//!
//! A user sees one folder, with the complete files of its entity, and can only read. There are no files on the disk: a
//! path is compared with the names of files that exist, and the lines come from the store.
//!
//! It is written here and not taken from a library, because a server on the open internet needs limits that libraries
//! lack. libunftp 0.24 accepts connections itself and has no limit of their number in total or for each address, none
//! for the time of a TLS handshake and of a login, none for passwords that are checked at once, no shares of passive
//! ports, and does not tell whether a data connection belongs to the TLS session of its control connection. This server
//! speaks the commands of passive clients that read, and refuses all others.

pub mod certificate;
mod command;
mod data;
mod listing;
mod login;
mod pattern;
mod session;
pub mod tls;
mod transfer;

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use tillgate_gateway::App;
use tillgate_net::shares::Shares;
use tillgate_net::wrong_credentials::{WrongCredentials, counted_network};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use self::session::FtpSession;
use self::tls::FtpTls;

/// Pause after an error of `accept`, such as no free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Number of passwords that are checked at once. Each check takes 19 MiB and some time of a processor.
const CHECKS_AT_ONCE: usize = 2;
/// Number of ports that wait for a data connection at once if the system selects them.
const UNLIMITED_PORTS: usize = 1024;
/// Wrong passwords of an address in an hour, after which no password of the address is checked.
const WRONG_PASSWORDS: u32 = 30;

/// Options of the FTP server.
pub struct FtpOptions {
    /// TLS with the operator's certificate. `None` for plain FTP.
    pub tls: Option<FtpTls>,
    /// Ports of data connections. `None` for those that the system selects.
    pub passive_ports: Option<RangeInclusive<u16>>,
    /// The address that clients connect to for data, if a router translates addresses. `None` for the address to which
    /// the client has connected.
    pub public_address: Option<Ipv4Addr>,
    /// Maximum number of sessions.
    pub sessions: usize,
    /// Maximum number of sessions of one address (IPv6: of one /64).
    pub sessions_per_address: usize,
    /// Time without a command after which a session ends.
    pub idle_timeout: Duration,
}

/// State that all sessions share.
struct FtpServer {
    app: Arc<App>,
    options: FtpOptions,
    /// Sessions, by network of the client.
    sessions: Shares,
    /// Counts wrong passwords by address. Guards itself.
    wrong_passwords: WrongCredentials,
    /// Limits the number of passwords that are checked at once.
    checks: Semaphore,
    /// Ports that wait for a data connection, by entity of the user.
    waiting_ports: Shares,
}

/// Serves FTP until `stop` changes; sessions end then.
pub async fn serve_ftp(app: Arc<App>, listener: TcpListener, options: FtpOptions, mut stop: watch::Receiver<bool>) {
    let server = Arc::new(FtpServer {
        sessions: Shares::new(options.sessions, options.sessions_per_address),
        wrong_passwords: WrongCredentials::new(WRONG_PASSWORDS),
        checks: Semaphore::new(CHECKS_AT_ONCE),
        waiting_ports: share_ports(options.passive_ports.as_ref()),
        app,
        options,
    });
    let mut sessions = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            _ = stop.changed() => break,
            // Ended sessions are removed.
            Some(_) = sessions.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => start_session(&server, &mut sessions, stream, peer),
            Err(error) => {
                tracing::warn!(%error, "cannot accept FTP connections");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    sessions.shutdown().await;
}

/// Shares the passive ports among entities: the sessions of one wait on a quarter of them at most, so that they do not
/// take the last port from the others.
fn share_ports(ports: Option<&RangeInclusive<u16>>) -> Shares {
    let count = ports.map_or(UNLIMITED_PORTS, |ports| usize::from(ports.end().saturating_sub(*ports.start())) + 1);
    Shares::new(count, count.div_ceil(4))
}

/// Starts a session in a task of its own, or tells the client that there are too many.
fn start_session(server: &Arc<FtpServer>, sessions: &mut JoinSet<()>, stream: TcpStream, peer: SocketAddr) {
    match server.sessions.try_take(&counted_network(peer.ip()).to_string()) {
        Some(place) => {
            let session = FtpSession::new(Arc::clone(server), peer, place);
            sessions.spawn(session.run(stream));
        }
        None => {
            // The reply fits into the socket's empty buffer, so a client that does not read holds nothing.
            let _ = stream.try_write(b"421 Too many connections, try again later.\r\n");
        }
    }
}
