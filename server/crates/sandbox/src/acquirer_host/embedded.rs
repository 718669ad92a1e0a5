//! The connector of a gateway without a configured acquirer: a host inside this process, on loopback, with its ledger
//! in the data folder. The host starts with the first request, so that a gateway that never uses it has neither its
//! files nor its threads.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;
use tillgate_connector::http::codes::not_executed_code;
use tillgate_connector::http::{self, Deadlines, HostAddress, HostClient, HttpConnector, SharedKey};
use tillgate_connector::{Capabilities, Connector, ConnectorOutcome, Inquiry, Modification, OrderRequest};
use tillgate_os::clock::SystemClock;
use tillgate_shared::result::codes;
use tokio::runtime::Handle;
use tokio::sync::OnceCell;

use super::{AcquirerHost, HostOptions};

/// Name of the key file in the host's folder. The key protects play money on loopback only.
const KEY_FILE: &str = "shared.key";

/// A connector to a host inside this process.
pub struct EmbeddedHost {
    /// The folder of the host's ledger and key.
    folder: PathBuf,
    deadlines: Deadlines,
    capabilities: Capabilities,
    /// The host and its connector, started by the first request. If the start fails, the next request tries again.
    started: OnceCell<(AcquirerHost, HttpConnector)>,
    /// The runtime of the host and of its connections. The first request may come from threads of low priority.
    runtime: Handle,
}

impl EmbeddedHost {
    /// Creates a connector whose host stores its files in `folder`, and runs in the current runtime.
    ///
    /// # Errors
    /// Outside of a runtime.
    pub fn new(folder: PathBuf, deadlines: Deadlines, capabilities: Capabilities) -> std::io::Result<Self> {
        let runtime = Handle::try_current().map_err(std::io::Error::other)?;
        Ok(Self { folder, deadlines, capabilities, started: OnceCell::new(), runtime })
    }

    /// Returns the connector to the host. The first call starts the host, and concurrent calls wait for it. Returns
    /// `None` and logs a warning if the start fails; the next call tries again.
    async fn ensure_started(&self) -> Option<&HttpConnector> {
        let start = || async {
            let starting = start_host(self.folder.clone(), self.deadlines, self.capabilities.clone());
            self.runtime.spawn(starting).await.context("the start was interrupted")?
        };
        match self.started.get_or_try_init(start).await {
            Ok((_, connector)) => Some(connector),
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(error, "the acquirer's host inside this process does not start");
                None
            }
        }
    }
}

/// Creates the folder and the shared key if they are missing, and starts a host on a free port of this machine with
/// a connector to it. Approvals have the result code of a test connector.
async fn start_host(
    folder: PathBuf,
    deadlines: Deadlines,
    capabilities: Capabilities,
) -> anyhow::Result<(AcquirerHost, HttpConnector)> {
    let creating = || format!("making {}", folder.display());
    std::fs::create_dir_all(&folder).with_context(creating)?;
    let key = SharedKey::read_or_create(&folder.join(KEY_FILE))?;
    let host = AcquirerHost::start(HostOptions::on_loopback(folder.clone(), key.clone())).await?;
    let address = HostAddress::parse(&format!("http://{}", host.address()))?;
    let client = HostClient::new(address, key, deadlines, Arc::new(SystemClock))?;
    let connector = HttpConnector::new(http::NAME, client, capabilities, codes::TEST_CONNECTOR);
    Ok((host, connector))
}

#[async_trait]
impl Connector for EmbeddedHost {
    fn name(&self) -> &str {
        http::NAME
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn authorize(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        match self.ensure_started().await {
            Some(connector) => connector.authorize(request).await,
            None => not_executed_code().into(),
        }
    }

    async fn credit(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        match self.ensure_started().await {
            Some(connector) => connector.credit(request).await,
            None => not_executed_code().into(),
        }
    }

    async fn verify(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        match self.ensure_started().await {
            Some(connector) => connector.verify(request).await,
            None => not_executed_code().into(),
        }
    }

    async fn capture(&self, modification: &Modification) -> ConnectorOutcome {
        match self.ensure_started().await {
            Some(connector) => connector.capture(modification).await,
            None => unsent_outcome(modification),
        }
    }

    async fn increment(&self, modification: &Modification) -> ConnectorOutcome {
        match self.ensure_started().await {
            Some(connector) => connector.increment(modification).await,
            None => unsent_outcome(modification),
        }
    }

    async fn refund(&self, modification: &Modification) -> ConnectorOutcome {
        match self.ensure_started().await {
            Some(connector) => connector.refund(modification).await,
            None => unsent_outcome(modification),
        }
    }

    async fn reverse(&self, modification: &Modification) -> ConnectorOutcome {
        match self.ensure_started().await {
            Some(connector) => connector.reverse(modification).await,
            None => unsent_outcome(modification),
        }
    }

    async fn inquire(&self, inquiry: &Inquiry) -> Option<ConnectorOutcome> {
        match self.ensure_started().await {
            Some(connector) => connector.inquire(inquiry).await,
            None => Some(ConnectorOutcome::Unknown),
        }
    }
}

/// Returns the outcome of a modification that could not be sent: a decline, or unknown if the modification may have
/// been sent before.
fn unsent_outcome(modification: &Modification) -> ConnectorOutcome {
    if modification.is_repeated { ConnectorOutcome::Unknown } else { not_executed_code().into() }
}
