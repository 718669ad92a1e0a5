//! The host's HTTP server, with a limited number of connections and a time limit for a request's head.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tillgate_net::shares::Shares;
use tillgate_net::wrong_credentials::counted_network;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::routes::{HostState, handle_request};
use super::stream::SharedStream;

/// Maximum number of concurrent connections. Further connections wait for a free slot.
const MAX_CONNECTIONS: usize = 1024;
/// Maximum number of connections from one address (IPv6: one /64); further ones are closed. A gateway has at most 256
/// requests in flight. An attacker who sends half requests from one address leaves the gateway the other half of the
/// connections.
const ADDRESS_CONNECTIONS: usize = MAX_CONNECTIONS / 2;
/// Maximum time for the head of a request, and between two requests. Longer than a gateway keeps an idle connection.
const HEAD_TIME: Duration = Duration::from_secs(60);
/// Maximum size of a request's head in bytes.
const HEAD_LIMIT: usize = 16 * 1024;
/// Maximum time for requests in flight to finish when the host stops.
const GRACE: Duration = Duration::from_secs(5);
/// Pause after an error of `accept`, such as no free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves at most 1024 connections at a time, 512 from one address, until asked to stop. Then closes the listener, and
/// waits up to 5 seconds for the requests in flight; logs a warning if some are left, and aborts them.
pub(super) async fn accept_connections(
    listener: TcpListener,
    state: Arc<HostState>,
    mut stopping: watch::Receiver<bool>,
) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let addresses = Shares::new(MAX_CONNECTIONS, ADDRESS_CONNECTIONS);
    let mut connections = JoinSet::new();
    loop {
        let accepted = async {
            let slot = Arc::clone(&slots).acquire_owned().await;
            (slot, listener.accept().await)
        };
        let (slot, accepted) = tokio::select! {
            biased;
            _ = stopping.wait_for(|stopping| *stopping) => break,
            accepted = accepted => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let Some(place) = addresses.try_take(&counted_network(peer.ip()).to_string()) else { continue };
                let connection = serve_connection(stream, Arc::clone(&state), stopping.clone());
                connections.spawn(async move {
                    connection.await;
                    drop((slot, place));
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, ended).await.is_err() {
        tracing::warn!("the process stops before all requests have ended");
    }
}

/// Serves the requests of a connection until it ends. When the host stops, completes the request in flight and closes
/// the connection. Ignores errors: they concern this client only.
async fn serve_connection(stream: TcpStream, state: Arc<HostState>, mut stopping: watch::Receiver<bool>) {
    // Responses are small, so waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let stream = SharedStream::new(stream);
    let handle = {
        let stream = stream.clone();
        service_fn(move |request| handle_request(Arc::clone(&state), stream.clone(), request))
    };
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(HEAD_LIMIT);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), handle));
    let ended = tokio::select! {
        // An error of a connection concerns its client only, so it is ignored.
        ended = connection.as_mut() => Some(ended),
        _ = stopping.wait_for(|stopping| *stopping) => None,
    };
    if ended.is_none() {
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}
