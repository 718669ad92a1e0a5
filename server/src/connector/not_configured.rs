//! The connector of payments that no connector takes: it declines everything with the code that says so.

use async_trait::async_trait;
use tillgate_shared::result::codes;

use super::{Capabilities, Connector, Inquiry, Modification, OrderRequest, Outcome};

/// A connector that declines everything with 600.200.201.
pub(super) struct NotConfigured;

const CAPABILITIES: Capabilities = Capabilities::EVERYTHING_IN_PROCESS;

#[async_trait]
impl Connector for NotConfigured {
    fn name(&self) -> &str {
        "none"
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    async fn authorize(&self, _: &OrderRequest<'_>) -> Outcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }

    async fn credit(&self, _: &OrderRequest<'_>) -> Outcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }

    async fn verify(&self, _: &OrderRequest<'_>) -> Outcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }

    async fn capture(&self, _: &Modification) -> Outcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }

    async fn refund(&self, _: &Modification) -> Outcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }

    async fn reverse(&self, _: &Modification) -> Outcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }

    async fn inquire(&self, _: &Inquiry) -> Outcome {
        codes::METHOD_NOT_CONFIGURED.into()
    }
}
