//! An acquirer's host for tests and sandboxes: a process, or a part of one, that moves play money over the protocol of
//! [`crate::connector::http`], and keeps a ledger of its own (`docs/acquirer-host.md`).

mod books;
mod cards;
pub mod entry;
mod faults;
pub mod inside;
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::connector::http::wire::{AuthorizationRequest, EarlierRequest, HostOperation, HostOutcome};
    use crate::connector::http::{CallResult, Deadlines, HostAddress, HostClient};

    fn client(host: &AcquirerHost, key: &SharedKey) -> HostClient {
        let address = HostAddress::parse(&format!("http://{}", host.address())).unwrap();
        HostClient::new(address, key.clone(), Deadlines::default(), Arc::new(SystemClock)).unwrap()
    }

    fn outcome(result: CallResult) -> HostOutcome {
        let CallResult::Answered(answer) = result else { panic!("{result:?}") };
        answer.outcome
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
        let authorized = client(&host, &key).authorize(HostOperation::Authorize, "p", &request).await;
        assert_eq!(outcome(authorized), HostOutcome::Approved);
        let before = host.address();
        host.stop().await;
        assert!(tokio::net::TcpStream::connect(before).await.is_err());
        let host = AcquirerHost::start(options()).await.unwrap();
        let about = EarlierRequest {
            merchant_id: "m".to_owned(),
            payment_id: "p".to_owned(),
            original_key: "p".to_owned(),
            amount: 9200,
            currency: "EUR".to_owned(),
        };
        assert_eq!(outcome(client(&host, &key).inquire("q", &about).await), HostOutcome::Approved);
        host.stop().await;
    }
}
