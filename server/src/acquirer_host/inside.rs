//! The connector of a gateway without a configured acquirer: a host inside this process, on loopback, with its ledger in the data
//! folder. It starts with the first request, so that a gateway which never needs it has neither its files nor its threads.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;
use tillgate_shared::result::codes;
use tokio::sync::OnceCell;

use super::{AcquirerHost, HostOptions};
use crate::clock::SystemClock;
use crate::connector::http::codes::not_executed;
use crate::connector::http::{self, Deadlines, HostAddress, HostClient, HttpConnector, SharedKey};
use crate::connector::{Capabilities, Connector, Inquiry, Modification, OrderRequest, Outcome};

/// The file of the key in the host's folder. It guards play money on loopback only.
const KEY_FILE: &str = "shared.key";

/// A connector to a host inside this process.
pub struct HostInside {
    /// The folder of the host's ledger and key.
    folder: PathBuf,
    deadlines: Deadlines,
    /// The host and the connector to it, from the first request on. One that does not start is tried again by the next request.
    started: OnceCell<(AcquirerHost, HttpConnector)>,
}

impl HostInside {
    /// A connector whose host keeps its files in a folder.
    pub fn new(folder: PathBuf, deadlines: Deadlines) -> Self {
        Self { folder, deadlines, started: OnceCell::new() }
    }

    /// Returns the connector to the host, which is started if it is not running. `None` if it does not start.
    async fn connector(&self) -> Option<&HttpConnector> {
        match self.started.get_or_try_init(|| self.start()).await {
            Ok((_, connector)) => Some(connector),
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(error, "the acquirer's host inside this process does not start");
                None
            }
        }
    }

    async fn start(&self) -> anyhow::Result<(AcquirerHost, HttpConnector)> {
        let make = || format!("making {}", self.folder.display());
        std::fs::create_dir_all(&self.folder).with_context(make)?;
        let key = SharedKey::read_or_make(&self.folder.join(KEY_FILE))?;
        let host = AcquirerHost::start(HostOptions::on_loopback(self.folder.clone(), key.clone())).await?;
        let address = HostAddress::parse(&format!("http://{}", host.address()))?;
        let client = HostClient::new(address, key, self.deadlines, Arc::new(SystemClock))?;
        let connector = HttpConnector::new(http::NAME, client, http::MERCHANT_ID, codes::TEST_CONNECTOR);
        Ok((host, connector))
    }
}

#[async_trait]
impl Connector for HostInside {
    fn name(&self) -> &str {
        http::NAME
    }

    fn capabilities(&self) -> &Capabilities {
        &http::CAPABILITIES
    }

    async fn authorize(&self, request: &OrderRequest<'_>) -> Outcome {
        match self.connector().await {
            Some(connector) => connector.authorize(request).await,
            None => not_executed().into(),
        }
    }

    async fn credit(&self, request: &OrderRequest<'_>) -> Outcome {
        match self.connector().await {
            Some(connector) => connector.credit(request).await,
            None => not_executed().into(),
        }
    }

    async fn verify(&self, request: &OrderRequest<'_>) -> Outcome {
        match self.connector().await {
            Some(connector) => connector.verify(request).await,
            None => not_executed().into(),
        }
    }

    async fn capture(&self, modification: &Modification) -> Outcome {
        match self.connector().await {
            Some(connector) => connector.capture(modification).await,
            None => not_sent(modification),
        }
    }

    async fn refund(&self, modification: &Modification) -> Outcome {
        match self.connector().await {
            Some(connector) => connector.refund(modification).await,
            None => not_sent(modification),
        }
    }

    async fn reverse(&self, modification: &Modification) -> Outcome {
        match self.connector().await {
            Some(connector) => connector.reverse(modification).await,
            None => not_sent(modification),
        }
    }

    async fn inquire(&self, inquiry: &Inquiry) -> Outcome {
        match self.connector().await {
            Some(connector) => connector.inquire(inquiry).await,
            None => Outcome::Unknown,
        }
    }
}

/// The outcome of a modification that was not sent, or not this time.
fn not_sent(modification: &Modification) -> Outcome {
    if modification.is_repeated { Outcome::Unknown } else { not_executed().into() }
}
