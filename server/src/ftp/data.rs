//! Data connections. They are always passive: the client connects to a port of the server.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// Maximum time for a client to open its data connection, and for its handshake.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
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

/// Accepts the data connection of a client, within 15 seconds, and encrypts it. Connections from other addresses are
/// closed.
///
/// # Errors
/// If the client does not connect in time, or the handshake fails.
pub(super) async fn accept_data(
    listener: TcpListener,
    client: SocketAddr,
    tls: Option<&TlsAcceptor>,
) -> io::Result<DataConnection> {
    let accepted = async {
        let stream = loop {
            let (stream, peer): (TcpStream, SocketAddr) = listener.accept().await?;
            if peer.ip() == client.ip() {
                break stream;
            }
            tracing::warn!(%peer, "an FTP data connection from another address was closed");
        };
        drop(listener);
        Ok(match tls {
            Some(tls) => DataConnection(Box::new(tls.accept(stream).await?)),
            None => DataConnection(Box::new(stream)),
        })
    };
    timeout(CONNECT_TIMEOUT, accepted).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
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
