//! An acquirer's host for tests and sandboxes: a process, or a part of one, that moves play money over the protocol of
//! [`crate::connector::http`], and keeps a ledger of its own (`docs/acquirer-host.md`).

mod books;
mod cards;
pub mod entry;
mod faults;
mod reply;
mod request;
mod routes;
mod server;
mod stream;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::faults::FaultPlan;
use self::routes::HostState;
use crate::clock::{Clock, SystemClock};
use crate::connector::http::SharedKey;
use crate::store::acquirer_ledger::AcquirerLedger;

/// Settings of a host.
pub struct HostOptions {
    /// The address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The folder of the ledger.
    pub data: PathBuf,
    /// The key that it shares with its gateway.
    pub key: SharedKey,
    /// True if there is a route that plans faults.
    pub control: bool,
    /// Delay of an answer that is slow on request.
    pub slow: Duration,
    /// Delay of a booking that is late on request.
    pub late: Duration,
    /// The clock that the dates of requests are compared with.
    pub clock: Arc<dyn Clock>,
}

impl HostOptions {
    /// A host on a free port of this machine, without a control route.
    pub fn on_loopback(data: PathBuf, key: SharedKey) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            data,
            key,
            control: false,
            slow: Duration::from_secs(2),
            late: Duration::from_secs(30),
            clock: Arc::new(SystemClock),
        }
    }
}

/// A running host. It stops when this is dropped; [`AcquirerHost::stop`] waits until it has.
pub struct AcquirerHost {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    served: JoinHandle<()>,
}

impl AcquirerHost {
    /// Starts a host inside this process.
    ///
    /// # Errors
    /// If the ledger cannot be opened, or the address is taken.
    pub async fn start(options: HostOptions) -> anyhow::Result<Self> {
        let opening = || format!("opening the acquirer's ledger in {}", options.data.display());
        let ledger = AcquirerLedger::open(&options.data).with_context(opening)?;
        let listening = || format!("listening on {}", options.listen);
        let listener = TcpListener::bind(options.listen).await.with_context(listening)?;
        let address = listener.local_addr()?;
        let (stop, stopping) = watch::channel(false);
        let state = HostState {
            ledger,
            key: options.key,
            clock: options.clock,
            slow: options.slow,
            late: options.late,
            plan: options.control.then(FaultPlan::default),
            stopping: stopping.clone(),
        };
        let served = tokio::spawn(server::serve(listener, Arc::new(state), stopping));
        Ok(Self { address, stop, served })
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, answers the requests in flight, and ends.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.served.await;
    }
}
