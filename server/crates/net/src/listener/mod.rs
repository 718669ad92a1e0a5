//! The HTTP listener: accepts connections, limits their number, and closes those that are too slow. Hyper speaks HTTP;
//! it has no limits for a slow body, a slow reader, an idle connection, or the connections of one address.
//!
//! A client can hold a connection by sending a request slowly, by sending nothing, and by not reading its response.
//! Each has a time limit. [`ConnectionTable`] limits the number of connections, and closes the oldest idle one first.
//! A request costs a few atomic writes to its own connection here, and no lock.

mod connection;
mod deadline;
mod stream;
mod table;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use ipnet::IpNet;
use tokio::net::{TcpListener, TcpStream};
use tower::Service;

use self::table::ConnectionTable;

/// Pause after a persistent error of `accept`, such as no free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Limits of connections.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Time for the head of a request, from its first byte, or from the opening of the connection.
    pub head_timeout: Duration,
    /// Time that a connection may be idle between two requests.
    pub idle_timeout: Duration,
    /// Time in which a client has to receive a part of its response ([`deadline::MIN_PROGRESS`] bytes).
    pub send_timeout: Duration,
    /// Maximum number of connections.
    pub connections: usize,
    /// Maximum number of connections from one address (IPv6: one /64); 0 means no limit.
    pub connections_per_address: usize,
    /// Networks of proxies. Their connections are not limited per address, and are closed last.
    pub trusted_proxies: Vec<IpNet>,
}

/// Serves until `stop` completes, then accepts no more connections, waits until those that are open have answered their
/// requests in flight, and returns. Errors of accepting are logged; they close idle connections and pause for 50
/// milliseconds.
pub async fn serve_connections<S>(
    listener: TcpListener,
    service: S,
    limits: ConnectionLimits,
    stop: impl Future<Output = ()>,
) where
    S: Service<Request, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let table = Arc::new(ConnectionTable::new(limits));
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            // The stop is polled first, so that a flood of new connections cannot delay it.
            biased;
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => spawn_connection(&table, stream, peer, service.clone()),
            // The client disconnected before its connection was accepted.
            Err(error) if is_client_error(&error) => {}
            Err(error) => {
                // The usual cause is that no file descriptor is free. Closing idle connections frees some of them.
                tracing::warn!(%error, "cannot accept connections; idle ones are closed");
                table.evict_idle();
                tokio::select! {
                    () = &mut stop => break,
                    () = tokio::time::sleep(ACCEPT_PAUSE) => {}
                }
            }
        }
    }
    // The port is closed before the wait, so that new clients are refused instead of left without an answer.
    drop(listener);
    table.close_all().await;
}

/// Serves a connection in a task of its own, or closes it if the table cannot admit it.
fn spawn_connection<S>(table: &Arc<ConnectionTable>, stream: TcpStream, peer: SocketAddr, service: S)
where
    S: Service<Request, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    if let Some(entry) = table.admit(peer.ip()) {
        // Responses are small; waiting to fill a packet would only delay them.
        let _ = stream.set_nodelay(true);
        tokio::spawn(connection::serve_connection(stream, peer, entry, service));
    }
}

/// Returns true for errors that concern one client, after which the next connection can be accepted at once.
fn is_client_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
