//! Accepts connections, a limited number at a time.

use std::sync::Arc;
use std::time::Duration;

use tillgate_net::shares::Shares;
use tillgate_net::wrong_credentials::counted_network;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::connection::serve_iso_connection;
use super::host::IsoHost;

/// Maximum number of connections at a time; further ones are closed. An acquirer has a few lines to each gateway.
const MAX_CONNECTIONS: usize = 256;
/// Maximum number of connections from one address (IPv6: one /64). One address cannot take all places.
const ADDRESS_CONNECTIONS: usize = MAX_CONNECTIONS / 2;
/// Maximum time for requests in flight to finish when the host stops.
const GRACE: Duration = Duration::from_secs(5);
/// Pause after an error of `accept`, such as no free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until the host is asked to stop. Then closes the listener, and waits up to 5 seconds for the
/// requests in flight; logs a warning if some are left, and aborts them.
pub(super) async fn accept_iso_connections(listener: TcpListener, host: Arc<IsoHost>) {
    let mut stopping = host.state.stopping.clone();
    let places = Shares::new(MAX_CONNECTIONS, ADDRESS_CONNECTIONS);
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stopping.wait_for(|stopping| *stopping) => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => match places.try_take(&counted_network(peer.ip()).to_string()) {
                Some(place) => {
                    let connection = serve_iso_connection(Arc::clone(&host), stream, peer);
                    connections.spawn(async move {
                        connection.await;
                        drop(place);
                    });
                }
                None => tracing::warn!(%peer, "accepting an ISO 8583 connection failed: too many are open"),
            },
            Err(error) => {
                tracing::warn!(%error, "accepting an ISO 8583 connection failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, ended).await.is_err() {
        tracing::warn!("ISO 8583 requests failed to end before the host stopped");
    }
}
