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
pub mod server;
mod session;
pub mod tls;
mod transfer;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tillgate_gateway::App;
use tillgate_net::wrong_credentials::counted_network;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use self::server::{FtpOptions, FtpServer};
use self::session::FtpSession;

/// Pause after an error of `accept`, such as no free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves FTP until `stop` changes; sessions end then.
pub async fn serve_ftp(app: Arc<App>, listener: TcpListener, options: FtpOptions, mut stop: watch::Receiver<bool>) {
    let server = Arc::new(FtpServer::new(app, options));
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
