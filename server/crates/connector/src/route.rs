//! The route of a payment: who moves its money, and who authenticates its cardholder.

use std::sync::Arc;

use tillgate_domain::payment::mode::ProcessingMode;

use super::{Connector, ThreeDsAuthenticator};

/// The route of a payment: its mode, connector and authenticator.
#[derive(Clone)]
pub struct PaymentRoute {
    /// The mode.
    pub mode: ProcessingMode,
    /// The connector.
    pub connector: Arc<dyn Connector>,
    /// The authenticator of cardholders. `None` if cardholders are not authenticated.
    pub authenticator: Option<Arc<dyn ThreeDsAuthenticator>>,
}
