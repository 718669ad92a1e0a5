//! Data connections. They are always passive: the client connects to a port of the server.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::tls::{SessionTls, is_resumed};

/// Maximum time for a client to open its data connection, and for its handshake.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Time for the right client to connect after another one.
const GRACE: Duration = Duration::from_secs(2);
/// Number of handshakes at once, of clients that try to be the right one.
const HANDSHAKES_AT_ONCE: usize = 8;
/// Maximum time for a client to receive [`PIECE`] bytes.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// Number of bytes that a client has to receive within [`SEND_TIMEOUT`].
const PIECE: usize = 64 * 1024;
/// Number of ports of a range that are tried.
const ATTEMPTS: u32 = 64;

/// A stream of a connection, plain or with TLS.
pub(super) trait DataStream: AsyncWrite + Send + Unpin {}

impl<S: AsyncWrite + Send + Unpin> DataStream for S {}

/// An open data connection.
pub(super) struct DataConnection(Box<dyn DataStream>);

/// Listens on a port for the next data connection, at the address to which the client has connected. The port is
/// selected at random, so that nobody knows where to connect before the client does.
///
/// # Errors
/// If no port is free.
pub(super) async fn listen_passive(address: IpAddr, ports: Option<&RangeInclusive<u16>>) -> io::Result<TcpListener> {
    let Some(ports) = ports else { return TcpListener::bind((address, 0)).await };
    let count = u32::from(ports.end().saturating_sub(*ports.start())) + 1;
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(|_| io::Error::other("no random bytes"))?;
    let first = u32::from_be_bytes(random) % count;
    for step in 0..count.min(ATTEMPTS) {
        let offset = u16::try_from((first + step) % count).unwrap_or_default();
        if let Ok(listener) = TcpListener::bind((address, ports.start().saturating_add(offset))).await {
            return Ok(listener);
        }
    }
    Err(io::Error::from(io::ErrorKind::AddrInUse))
}

/// TLS of a data connection.
pub(super) struct DataTls {
    /// The TLS of the session.
    pub(super) session: SessionTls,
    /// True if the data connection has to resume the TLS session of the control connection.
    pub(super) requires_resumption: bool,
}

/// Reason why there is no data connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum DataFault {
    /// The client does not connect in time, or the handshake fails.
    #[error(transparent)]
    Connection(#[from] io::Error),
    /// Connections have come whose TLS session is not that of the control connection.
    #[error("the data connection does not resume the TLS session of the control connection")]
    OtherTlsSession,
}

/// Accepts the data connection of a client, within 15 seconds, and encrypts it. Connections from other addresses, and
/// of clients with another TLS session if that is required, are closed.
///
/// # Errors
/// If the right client does not connect in time, or its handshake fails.
pub(super) async fn accept_data(
    listener: TcpListener,
    client: SocketAddr,
    tls: Option<&DataTls>,
) -> Result<DataConnection, DataFault> {
    let mut handshakes = JoinSet::new();
    let mut fault = DataFault::Connection(io::ErrorKind::TimedOut.into());
    let mut deadline = Instant::now() + CONNECT_TIMEOUT;
    loop {
        tokio::select! {
            accepted = listener.accept(), if handshakes.len() < HANDSHAKES_AT_ONCE => {
                let (stream, peer): (TcpStream, SocketAddr) = accepted?;
                if peer.ip() != client.ip() {
                    tracing::warn!(%peer, "an FTP data connection from another address was closed");
                    continue;
                }
                let Some(tls) = tls else { return Ok(DataConnection(Box::new(stream))) };
                // In a task of its own, because others may connect before this client.
                handshakes.spawn(accept_tls(stream, tls.session.acceptor(), tls.requires_resumption));
            }
            Some(ended) = handshakes.join_next() => {
                fault = match ended.map_err(io::Error::from) {
                    Ok(Ok(Some(stream))) => return Ok(DataConnection(Box::new(stream))),
                    Ok(Ok(None)) => DataFault::OtherTlsSession,
                    Ok(Err(error)) | Err(error) => DataFault::Connection(error),
                };
                // It was somebody else, or a client that cannot do better. A short wait is enough for the right one.
                deadline = deadline.min(Instant::now() + GRACE);
            }
            () = sleep_until(deadline) => return Err(fault),
        }
    }
}

/// Accepts TLS on a connection. Returns `None`, and ends the connection, if it has not resumed a required TLS session.
async fn accept_tls(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    requires_resumption: bool,
) -> io::Result<Option<TlsStream<TcpStream>>> {
    let mut stream = acceptor.accept(stream).await?;
    if !requires_resumption || is_resumed(stream.get_ref().1) {
        return Ok(Some(stream));
    }
    // Clients read the reply with the reason only after the end of the data.
    let _ = timeout(GRACE, stream.shutdown()).await;
    Ok(None)
}

impl DataConnection {
    /// Sends bytes.
    ///
    /// # Errors
    /// If the client has disconnected, or receives too slowly.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        for piece in bytes.chunks(PIECE) {
            let sent = timeout(SEND_TIMEOUT, self.0.write_all(piece)).await;
            sent.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
        }
        Ok(())
    }

    /// Ends the connection, with the end of TLS, by which a client knows that nothing is missing.
    ///
    /// # Errors
    /// Same as [`Self::send`].
    pub(super) async fn finish(mut self) -> io::Result<()> {
        let ended = async {
            self.0.flush().await?;
            self.0.shutdown().await
        };
        timeout(SEND_TIMEOUT, ended).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}
