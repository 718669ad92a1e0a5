//! The HTTP listener: accepts connections, limits how many there are, and closes those that are too slow.
//!
//! A client can hold a connection by sending a request slowly, by sending nothing, and by not reading its answer. Each has a
//! time limit. [`ConnectionTable`] limits how many connections there are, and closes the oldest idle one first. A request
//! costs a few atomic writes to its own connection here, and no lock.

mod connection;
mod state;
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

/// Pause after an error of `accept` that does not end by itself, such as no free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Limits of connections.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Time for the head of a request, from its first byte, or from the opening of the connection.
    pub head_timeout: Duration,
    /// Time that a connection may be idle between two requests.
    pub idle_timeout: Duration,
    /// Time in which a client has to take a part of its answer ([`state::PART`] bytes).
    pub send_timeout: Duration,
    /// Maximum number of connections.
    pub connections: usize,
    /// Maximum number of connections from one address (IPv6: one /64); 0 is without a limit.
    pub connections_per_address: usize,
    /// Networks of proxies. Their connections are not limited per address, and are closed last.
    pub trusted_proxies: Vec<IpNet>,
}

/// Serves until `stop` completes, then answers the requests in flight and returns.
pub async fn serve<S>(listener: TcpListener, service: S, limits: ConnectionLimits, stop: impl Future<Output = ()>)
where
    S: Service<Request, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let table = Arc::new(ConnectionTable::new(limits));
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => admit(&table, stream, peer, service.clone()),
            // The client went away before it was accepted.
            Err(error) if is_of_client(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections; idle ones are closed");
                table.evict_idle();
                tokio::select! {
                    () = &mut stop => break,
                    () = tokio::time::sleep(ACCEPT_PAUSE) => {}
                }
            }
        }
    }
    drop(listener);
    table.stop().await;
}

/// Serves a connection in a task of its own, or closes it if there is no room for it.
fn admit<S>(table: &Arc<ConnectionTable>, stream: TcpStream, peer: SocketAddr, service: S)
where
    S: Service<Request, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    if let Some(entry) = table.admit(peer.ip()) {
        // Answers are small; waiting to fill a packet would only delay them.
        let _ = stream.set_nodelay(true);
        tokio::spawn(connection::serve(stream, peer, entry, service));
    }
}

fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
