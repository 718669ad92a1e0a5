//! ISO 8583 over TCP: a listener for one dialect, whose requests are booked in the same ledger as JSON over HTTP.
//!
//! Each connection carries many requests. Each request is answered by its own task, so answers may overtake each other.

mod booking;
mod codes;
mod connection;
mod echo;
mod faults;
mod host;
mod listener;
mod original;
mod output;
mod payment;
mod request;
mod request_kind;
mod response;
mod service;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tillgate_connector::iso8583::{Dialect, MacKey};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use self::host::IsoHost;
pub(super) use self::request::trace_number_of_key;
use super::routes::HostState;

/// Settings of a listener for ISO 8583.
#[derive(Debug, Clone)]
pub struct IsoServerOptions {
    /// The address to listen on. Port 0 selects a free one.
    pub listen: SocketAddr,
    /// The dialect of all messages.
    pub dialect: Dialect,
    /// The key of the MACs. Needed if the dialect has MACs, refused otherwise.
    pub mac_key: Option<MacKey>,
    /// Time without a message of the client after which the host sends an echo.
    pub echo_after: Duration,
    /// Time limit for the answer to the host's echo. The connection then ends.
    pub echo_timeout: Duration,
    /// Time limit for writing a message. The connection then ends.
    pub write_timeout: Duration,
}

impl IsoServerOptions {
    /// Makes the options of a listener that sends an echo after a minute, and waits 10 seconds for its answer and for
    /// each write.
    pub fn new(listen: SocketAddr, dialect: Dialect, mac_key: Option<MacKey>) -> Self {
        Self {
            listen,
            dialect,
            mac_key,
            echo_after: Duration::from_secs(60),
            echo_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(10),
        }
    }
}

/// A running listener for ISO 8583. It stops with the host whose state it has.
pub(super) struct IsoServer {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl IsoServer {
    /// Listens, and serves connections in a task of this process.
    ///
    /// # Errors
    /// If the dialect has no payments, its responses cannot be written, it needs a MAC key or has no use for the given
    /// one, or the address is in use.
    pub(super) async fn start(options: IsoServerOptions, state: Arc<HostState>) -> anyhow::Result<Self> {
        let listen = options.listen;
        let name = options.dialect.name().to_owned();
        let host = IsoHost::new(options, state).with_context(|| format!("the dialect {name} cannot be served"))?;
        let listening = || format!("listening for ISO 8583 on {listen}");
        let listener = TcpListener::bind(listen).await.with_context(listening)?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(listener::accept_iso_connections(listener, Arc::new(host)));
        Ok(Self { address, task })
    }

    /// Returns the address that the listener has.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for the end of the connections after the host was asked to stop.
    pub(super) async fn join(self) {
        let _ = self.task.await;
    }
}
