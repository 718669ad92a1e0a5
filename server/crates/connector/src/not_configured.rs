//! The connector of payments for which no connector is configured. It declines every request with 600.200.201.

use async_trait::async_trait;
use tillgate_shared::result::codes;

use super::{Capabilities, Connector, ConnectorOutcome, Inquiry, Modification, OrderRequest};

/// A connector that declines everything with 600.200.201.
pub struct NotConfigured;

static CAPABILITIES: Capabilities = Capabilities::without_limits(false);

#[async_trait]
impl Connector for NotConfigured {
    fn name(&self) -> &str {
        "none"
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    async fn authorize(&self, _: &OrderRequest<'_>) -> ConnectorOutcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }

    async fn credit(&self, _: &OrderRequest<'_>) -> ConnectorOutcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }

    async fn verify(&self, _: &OrderRequest<'_>) -> ConnectorOutcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }

    async fn capture(&self, _: &Modification) -> ConnectorOutcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }

    async fn increment(&self, _: &Modification) -> ConnectorOutcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }

    async fn refund(&self, _: &Modification) -> ConnectorOutcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }

    async fn reverse(&self, _: &Modification) -> ConnectorOutcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }

    async fn inquire(&self, _: &Inquiry) -> Option<ConnectorOutcome> {
        Some(codes::METHOD_NOT_CONFIGURED.into())
    }
}
