//! An acquirer's host for tests and sandboxes: a process, or a part of one, that moves play money. It implements the
//! protocol of [`tillgate_connector::http`] and ISO 8583, and has its own ledger (`docs/acquirer-host.md`).

mod bookkeeping;
#[cfg(test)]
mod connector_tests;
pub mod embedded;
mod faults;
pub mod iso8583;
mod issuer;
mod page;
mod reply;
mod request;
mod routes;
mod server;
pub mod settlement_file;
mod stream;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tillgate_connector::http::SharedKey;
use tillgate_os::clock::{Clock, SystemClock};
use tillgate_store::acquirer_host::ledger::AcquirerLedger;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::faults::FaultPlan;
use self::iso8583::{IsoServer, IsoServerOptions};
use self::routes::HostState;

/// Settings of a host.
pub struct HostOptions {
    /// The address to listen on. Port 0 selects a free one.
    pub listen: SocketAddr,
    /// The folder of the ledger.
    pub data: PathBuf,
    /// The address under which shoppers' browsers reach the host. `None` if it is the address that the host listens on.
    pub public_url: Option<String>,
    /// The key shared with the gateway.
    pub key: SharedKey,
    /// True if the route that plans faults is open.
    pub control: bool,
    /// Delay of a slow response.
    pub slow_delay: Duration,
    /// Delay of a late booking.
    pub late_delay: Duration,
    /// The clock for the comparison with the dates of requests.
    pub clock: Arc<dyn Clock>,
    /// Listeners for ISO 8583.
    pub iso_servers: Vec<IsoServerOptions>,
}

impl HostOptions {
    /// Makes the options of a host on a free port of this machine, without the control route. A slow response takes 2
    /// seconds, a late booking 30.
    pub fn on_loopback(data: PathBuf, key: SharedKey) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            data,
            public_url: None,
            key,
            control: false,
            slow_delay: Duration::from_secs(2),
            late_delay: Duration::from_secs(30),
            clock: Arc::new(SystemClock),
            iso_servers: Vec::new(),
        }
    }
}

/// A running host. It stops when dropped; [`AcquirerHost::stop`] also waits for its end.
pub struct AcquirerHost {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    server_task: JoinHandle<()>,
    iso_servers: Vec<IsoServer>,
}

impl AcquirerHost {
    /// Opens the ledger, and serves requests in a task of this process. Returns when the host listens.
    ///
    /// # Errors
    /// If the ledger cannot be opened, an address is in use, or a dialect cannot be served.
    pub async fn start(options: HostOptions) -> anyhow::Result<Self> {
        let opening = || format!("opening the acquirer's ledger in {}", options.data.display());
        let ledger = AcquirerLedger::open(&options.data).with_context(opening)?;
        let listening = || format!("listening on {}", options.listen);
        let listener = TcpListener::bind(options.listen).await.with_context(listening)?;
        let address = listener.local_addr()?;
        let public_url = options.public_url.unwrap_or_else(|| format!("http://{address}"));
        let (stop, stopping) = watch::channel(false);
        let state = Arc::new(HostState {
            ledger,
            key: options.key,
            clock: options.clock,
            slow_delay: options.slow_delay,
            late_delay: options.late_delay,
            fault_plan: options.control.then(FaultPlan::default),
            page_base_url: format!("{}{}", public_url.trim_end_matches('/'), routes::PAGE_PATH),
            stopping: stopping.clone(),
        });
        let mut iso_servers = Vec::new();
        for options in options.iso_servers {
            iso_servers.push(IsoServer::start(options, Arc::clone(&state)).await?);
        }
        let server_task = tokio::spawn(server::accept_connections(listener, state, stopping));
        Ok(Self { address, stop, server_task, iso_servers })
    }

    /// Returns the address that the host listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the addresses of the listeners for ISO 8583, in the order of the options.
    pub fn iso_addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.iso_servers.iter().map(IsoServer::address)
    }

    /// Accepts no more connections, waits up to 5 seconds for the requests in flight, and stops.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.server_task.await;
        for server in self.iso_servers {
            server.join().await;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_connector::http::protocol::{AuthorizationRequest, EarlierRequest, HostOperation, HostOutcome};
    use tillgate_connector::http::{CallResult, Deadlines, HostAddress, HostClient};

    use super::*;

    /// Creates a client of a host with the default deadlines.
    fn create_client(host: &AcquirerHost, key: &SharedKey) -> HostClient {
        let address = HostAddress::parse(&format!("http://{}", host.address())).unwrap();
        HostClient::new(address, key.clone(), Deadlines::default(), Arc::new(SystemClock)).unwrap()
    }

    /// Returns the outcome of a verified response. Panics if there is none.
    fn host_outcome(result: CallResult) -> HostOutcome {
        let CallResult::Responded(response) = result else { panic!("{result:?}") };
        response.outcome
    }

    #[tokio::test]
    async fn a_host_inside_this_process_starts_stops_and_starts_again_with_its_ledger() {
        let folder = tempfile::tempdir().unwrap();
        let key = SharedKey::random().unwrap();
        let options = || HostOptions::on_loopback(folder.path().join("host"), key.clone());
        let request: AuthorizationRequest = serde_json::from_value(serde_json::json!({
            "merchantId": "m", "paymentId": "p", "amount": 9200, "currency": "EUR", "brand": "VISA", "shopperPresent": true,
            "account": {
                "type": "card", "number": "4200000000000000", "expiryMonth": "05", "expiryYear": "2034", "entry": "keyed"
            }
        }))
        .unwrap();
        let host = AcquirerHost::start(options()).await.unwrap();
        let authorized = create_client(&host, &key).authorize(HostOperation::Authorize, "p", &request).await;
        assert_eq!(host_outcome(authorized), HostOutcome::Approved);
        let before = host.address();
        host.stop().await;
        assert!(tokio::net::TcpStream::connect(before).await.is_err());
        let host = AcquirerHost::start(options()).await.unwrap();
        let inquiry = EarlierRequest { payment: request.payment.clone(), original_key: "p".to_owned() };
        assert_eq!(host_outcome(create_client(&host, &key).inquire("q", &inquiry).await), HostOutcome::Approved);
        host.stop().await;
    }
}
